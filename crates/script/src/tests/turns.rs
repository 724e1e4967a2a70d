//! Neighbours of scripts that compute: they are served all the same.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::channel;

use super::*;

/// A neighbour is due this often.
const PERIOD: Duration = Duration::from_millis(7);

/// A script that would keep a thread for itself: code before its loop, and what the loop repeats.
struct Hog {
    name: &'static str,
    before: &'static str,
    repeat: &'static str,
}

const fn hog(name: &'static str, before: &'static str, repeat: &'static str) -> Hog {
    Hog { name, before, repeat }
}

/// A loop that repeats a piece of code for as long as the iteration may run.
const FOR_EVER: &str = "while (true) { REPEAT }";

const TEXT: &str = "const text = 'The quick brown fox jumps over the lazy dog. '.repeat(20000);";
const ROWS: &str = "const rows = Array.from({ length: 20000 }, (_, i) => ({ id: i, name: 'n' + i, tags: ['a', 'b'] })); const json = JSON.stringify(rows);";
const NUMBERS: &str = "const numbers = Array.from({ length: 200000 }, (_, i) => (i * 7919) % 200003);";
const HTML: &str =
    "const page = '<ul>' + '<li class=\"a\"><a href=\"/x\">x</a></li>'.repeat(20000) + '</ul>';";

const HOGS: &[Hog] = &[
    hog("empty loop", "", ""),
    hog("arithmetic", "let x = 0;", "x = (x * 31 + 7) % 1000003;"),
    hog(
        "straight line",
        "let x = 0;",
        "x += 1; x += 2; x += 3; x += 4; x += 5; x += 6; x += 7; x += 8; x += 9;",
    ),
    hog("function calls", "const f = (a) => a + 1; let x = 0;", "x = f(x);"),
    hog("recursion", "const fib = (n) => n < 2 ? n : fib(n - 1) + fib(n - 2);", "fib(25);"),
    hog("exceptions", "", "try { throw new Error('x') } catch (e) {}"),
    hog("caught interrupts", "", "try { while (true) {} } catch (e) { while (true) {} }"),
    hog("string building", "let s = '';", "s += 'x'; if (s.length > 100000) s = '';"),
    hog("array pushing", "let a = [];", "a.push(a.length); if (a.length > 100000) a = [];"),
    hog("object churn", "let o;", "o = { a: 1, b: { c: [1, 2, 3] } };"),
    hog("maps", "const m = new Map(); let i = 0;", "m.set(i++ % 1000, {});"),
    hog("closures", "let f = () => 0;", "const g = f; f = () => g; f = () => 0;"),
    hog("classes", "class A { #x = 1; get x() { return this.#x } }", "new A().x;"),
    hog("proxies", "const p = new Proxy({}, { get: () => 1 });", "p.x;"),
    hog(
        "destructuring",
        "let a = 1, b = 2;",
        "[a, b] = [b, a]; const { x, ...rest } = { x: 1, y: 2, z: 3 };",
    ),
    hog("dates", "", "new Date().toISOString();"),
    hog("compiling", "", "new Function('return 1 + 1')();"),
    hog("big integers", "let b = 1n;", "b = (b * 1234567891011n) % (2n ** 512n);"),
    hog("huge big integers", "const b = 3n ** 60000n;", "b * b;"),
    hog("generators", "function* all() { let i = 0; while (true) yield i++ }", "for (const i of all()) {}"),
    hog("regular expressions", "", "/(a+)+$/.test('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab');"),
    hog(
        "regular expressions, nested",
        "",
        "/^(([a-z])+.)+[A-Z]([a-z])+$/.test('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa');",
    ),
    hog("replacing by callback", TEXT, "text.replace(/o/g, () => '0');"),
    hog("splitting and joining", TEXT, "text.split(' ').join('_');"),
    hog("searching a text", TEXT, "text.indexOf('not there at all');"),
    hog("upper case", TEXT, "text.toUpperCase().toLowerCase();"),
    hog("repeat", "", "'abc'.repeat(300000);"),
    hog("URI encoding", TEXT, "encodeURIComponent(text);"),
    hog("normalizing", TEXT, "text.normalize('NFD');"),
    hog("sort", NUMBERS, "numbers.slice().sort();"),
    hog("sort with a comparison", NUMBERS, "numbers.slice().sort((a, b) => a - b);"),
    hog("sort of typed numbers", NUMBERS, "new Float64Array(numbers).sort();"),
    hog("sort of holes", "const holes = []; holes[4294967294] = 1;", "holes.sort();"),
    hog("reverse of holes", "const holes = []; holes[4294967294] = 1;", "holes.reverse();"),
    hog("search in holes", "const holes = []; holes[4294967294] = 1;", "holes.indexOf(2);"),
    hog("join of holes", "const holes = []; holes[4294967294] = 1;", "holes.join('');"),
    hog("calls for nothing", "", "[].forEach.call({ length: 2 ** 53 - 1 }, () => {});"),
    hog("a native iterator", "", "new Set([].values.call({ length: 2 ** 53 - 1 }));"),
    hog(
        "searching one long text in another",
        "const a = 'a'.repeat(1000000), b = 'a'.repeat(500000) + 'b';",
        "a.indexOf(b);",
    ),
    hog(
        "flattening",
        "let deep = []; for (let i = 0; i < 100; i++) deep = [deep, deep];",
        "deep.flat(Infinity);",
    ),
    hog("array search", NUMBERS, "numbers.indexOf(-1); numbers.includes(-1);"),
    hog("array copies", NUMBERS, "numbers.concat(numbers).reverse();"),
    hog("array fill", "", "new Array(300000).fill(0);"),
    hog("JSON.parse", ROWS, "JSON.parse(json);"),
    hog("JSON.stringify", ROWS, "JSON.stringify(rows);"),
    hog("small JSON", "", "JSON.parse(JSON.stringify({ a: [1, 2, { b: 'c' }] }));"),
    hog("base64", TEXT, "encoding.b64decode(encoding.b64encode(text), 'std', 's');"),
    hog("digests", TEXT, "crypto.sha256(text, 'hex');"),
    hog("small digests", "", "crypto.md5('abc', 'hex'); crypto.hmac('sha512', 'key', 'data', 'base64');"),
    hog("random bytes", "", "crypto.randomBytes(1000000);"),
    hog("HTML", HTML, "parseHTML(page).find('li.a a').size();"),
    hog("text encoding", TEXT, "new TextDecoder().decode(new TextEncoder().encode(text));"),
    hog("metrics", "", "counter.add(1); check(1, { ok: (v) => v === 1 });"),
    hog("groups", "", "group('g', () => counter.add(1, { a: 'b' }));"),
    hog("no sleep", "", "sleep(0);"),
    hog("failing requests", "", "http.get('http://[bad/');"),
    hog("await", "", "await 0;"),
    hog("promise chains", "", "await Promise.all(Array.from({ length: 1000 }, async () => { await null }));"),
    hog(
        "endless promises",
        "(function go() { Promise.resolve().then(go) })();",
        "await new Promise(() => {});",
    ),
    hog(
        "async generators",
        "async function* all() { let i = 0; while (true) yield i++ }",
        "for await (const i of all()) {}",
    ),
    hog("timers of no time", "(function go() { setTimeout(go, 0) })();", "await new Promise(() => {});"),
    hog(
        "intervals",
        "for (let i = 0; i < 100; i++) setInterval(() => { for (let k = 0; k < 1000; k++); }, 0);",
        "await new Promise(() => {});",
    ),
    hog(
        "key derivation",
        "const key = await webcrypto.subtle.importKey('raw', new Uint8Array(16), 'PBKDF2', false, ['deriveBits']);",
        "await webcrypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt: new Uint8Array(16), iterations: 100000 }, key, 256);",
    ),
    hog(
        "web digests",
        "const bytes = new Uint8Array(1000000);",
        "await webcrypto.subtle.digest('SHA-512', bytes);",
    ),
];

impl Hog {
    fn source(&self) -> String {
        let modules = "import crypto from 'k6/crypto'; import encoding from 'k6/encoding'; import http from 'k6/http';
            import { Counter } from 'k6/metrics'; import { check, group, sleep } from 'k6'; import { parseHTML } from 'k6/html';
            const webcrypto = globalThis.crypto; const counter = new Counter('counted');";
        let body = FOR_EVER.replace("REPEAT", self.repeat);
        let (asyncness, before) = if body.contains("await") || self.before.contains("await") {
            ("async ", self.before)
        } else {
            ("", self.before)
        };
        format!("{modules} export default {asyncness}function () {{ {before} {body} }}")
    }
}

/// How a neighbour on the thread of a script fared: how often it was due, and how often it was served before it was due again.
#[derive(Clone, Copy, Debug, Default)]
struct Ticks {
    due: u32,
    served: u32,
    late_ms_max: u128,
}

/// VUs on one thread, each in a single iteration that lasts until all are called off.
struct Thread {
    workers: vu::Workers,
    base: String,
    deadline: Arc<AtomicU64>,
    ended: Vec<std::sync::mpsc::Receiver<Option<IterationEnd>>>,
}

impl Thread {
    fn new(base: &str) -> Thread {
        Thread {
            workers: vu::Workers::start(1).unwrap(),
            base: base.to_owned(),
            deadline: Arc::new(AtomicU64::new(u64::MAX)),
            ended: Vec::new(),
        }
    }

    /// Starts a VU whose samples go to `durations`.
    fn start(&mut self, source: &str, durations: &Durations) {
        let heard = Arc::new(Heard::default());
        let bundle = load(source, &heard, &Arc::default(), &self.base);
        let bundle = bundle.unwrap_or_else(|error| panic!("{error}: {source}"));
        let id = self.ended.len() as u64 + 1;
        let (ends, ended) = channel();
        self.ended.push(ended);
        let (run, deadline, durations) = (context(&heard, 1), self.deadline.clone(), durations.clone());
        self.workers.spawn(0, move || async move {
            let until = deadline.clone();
            let vu = vu::coroutine(STACK_BYTES, move || {
                let binding = VuBinding {
                    id_in_test: id,
                    id_in_instance: id,
                    sink: Rc::new(durations),
                    notes: Rc::new(notes::Noting::default()),
                    deadline: Rc::new(Later(until)),
                    run,
                };
                let mut vu = bundle.instantiate(binding).unwrap_or_else(|error| panic!("{error}"));
                vu.iterate(&FIRST, None).0
            });
            let interrupter = vu.interrupter();
            let interrupt = tokio::task::spawn_local(async move {
                while deadline.load(Relaxed) == u64::MAX {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                interrupter.interrupt();
            });
            let _ = ends.send(vu.await.ok());
            interrupt.abort();
        });
    }

    /// How a neighbour that ticks fares for so long.
    fn tick(&self, lasts: Duration) -> Ticks {
        let (sender, ticks) = channel();
        self.workers.spawn(0, move || async move {
            vu::timer::sleep_until(SystemClock::now() + Duration::from_millis(100)).await;
            let _ = sender.send(tick(lasts).await);
        });
        ticks.recv_timeout(Duration::from_secs(120)).expect("the neighbour ends")
    }

    /// Calls all VUs off and waits for them.
    fn end(self) -> Vec<Option<IterationEnd>> {
        self.deadline.store(SystemClock::now().as_ns(), Relaxed);
        let limit = Duration::from_secs(60);
        let ends = self.ended.iter().map(|ended| ended.recv_timeout(limit).expect("the script ends"));
        let ends = ends.collect();
        self.workers.join();
        ends
    }
}

const FIRST: Call = Call {
    scenario: ScenarioId(0),
    vu_iteration: 0,
    iteration_in_scenario: 0,
    iteration_in_instance: 0,
    iteration_in_test: 0,
    due: None,
};

/// Ticks beside VUs that run these scripts, all on one thread.
fn ticks_beside(sources: &[String], base: &str, lasts: Duration) -> (Ticks, Vec<Option<IterationEnd>>) {
    let mut thread = Thread::new(base);
    for source in sources {
        thread.start(source, &Durations::default());
    }
    (thread.tick(lasts), thread.end())
}

async fn tick(lasts: Duration) -> Ticks {
    let mut ticks = Ticks::default();
    let started = SystemClock::now();
    let mut due = started;
    while due.since(started) < lasts {
        vu::timer::sleep_until(due).await;
        due = ticks.serve(due, SystemClock::now());
    }
    ticks
}

/// The same of a thread that always computes and always looks at the clock: late only while it has no core.
fn tick_alone(lasts: Duration) -> Ticks {
    let mut ticks = Ticks::default();
    let started = SystemClock::now();
    let mut due = started;
    while due.since(started) < lasts {
        let now = SystemClock::now();
        if now >= due {
            due = ticks.serve(due, now);
        }
    }
    ticks
}

impl Ticks {
    /// Serves the tick that was due, and returns when the next one is.
    fn serve(&mut self, due: Instant, now: Instant) -> Instant {
        let late = now.since(due);
        self.late_ms_max = self.late_ms_max.max(late.as_millis());
        self.served += u32::from(late < PERIOD);
        // Those that were missed meanwhile were due all the same.
        let passed = 1 + (late.as_nanos() / PERIOD.as_nanos()) as u32;
        self.due += passed;
        due + PERIOD * passed
    }
}

/// Durations of requests, in milliseconds.
#[derive(Clone, Default)]
struct Durations(Arc<Mutex<Vec<f64>>>);

impl Sink for Durations {
    fn record(&self, metric: MetricId, _: TagSetId, value: f64, _: Mark, _: Instant, _: Option<&Metadata>) {
        if metric == model::metric::builtin::HTTP_REQ_DURATION {
            self.0.lock().unwrap().push(value);
        }
    }
}

impl Durations {
    /// The median and the percentiles 95 and 99.
    fn percentiles(&self) -> [f64; 3] {
        let mut durations = std::mem::take(&mut *self.0.lock().unwrap());
        durations.sort_by(f64::total_cmp);
        [0.5, 0.95, 0.99].map(|share| durations[(durations.len() as f64 * share) as usize])
    }
}

struct Later(Arc<AtomicU64>);

impl InterruptDeadline for Later {
    fn has_passed(&self, now: Instant) -> bool {
        now.as_ns() >= self.0.load(Relaxed)
    }
}

/// Tries until a neighbour is served often enough: others on the machine may take one core and leave the other.
const TRIES: usize = 10;

/// A neighbour must be served a third as often as a thread of its own that computes meanwhile. On an idle machine both have all
/// their ticks; where others compute, both lose some. A neighbour of a script that keeps the thread has one in twenty, each time.
#[track_caller]
fn check_beside(sources: &[String], base: &str) -> Vec<Option<IterationEnd>> {
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let control = std::thread::spawn(|| tick_alone(SHORT));
        let (ticks, ends) = ticks_beside(sources, base, SHORT);
        let control = control.join().unwrap();
        if ticks.served * 3 > control.served {
            return ends;
        }
        seen.push((ticks, control));
    }
    panic!("beside the scripts, and a thread of its own: {seen:?}");
}

fn sources(names: &[&str]) -> Vec<String> {
    let find = |name: &&str| HOGS.iter().find(|hog| hog.name == *name).expect(name).source();
    names.iter().map(find).collect()
}

const SHORT: Duration = Duration::from_millis(400);

#[test]
fn neighbours_of_computing_scripts_are_served() {
    let names = ["empty loop", "generators", "regular expressions", "caught interrupts"];
    let ends = check_beside(&sources(&names), "");
    assert_eq!(ends, [Some(IterationEnd::Interrupted); 4]);
}

#[test]
fn neighbours_of_promises_and_timers_without_end_are_served() {
    let names = ["await", "endless promises", "timers of no time", "intervals"];
    let ends = check_beside(&sources(&names), "");
    assert_eq!(ends, [Some(IterationEnd::Interrupted); 4]);
}

#[test]
fn neighbours_of_native_calls_are_served() {
    let names = ["small JSON", "small digests", "metrics", "failing requests"];
    let ends = check_beside(&sources(&names), "");
    assert_eq!(ends, [Some(IterationEnd::Interrupted); 4]);
}

/// Streams of tiny events that come as fast as they can, read by handlers, by loops and not at all.
#[test]
fn neighbours_of_endless_streams_are_served() {
    let server = testkit::http::start();
    let script = |body: &str| {
        format!(
            "import sse from 'k6/x/sse'; import stream from 'plimsoll/stream'; import {{ sleep }} from 'k6';
             const URL = __ENV.BASE + '/events?count=1000000000'; export default function () {{ {body} }}"
        )
    };
    let ends = check_beside(
        &[
            script("sse.open(URL, (client) => client.on('event', () => {}));"),
            script("for (const event of stream.get(URL));"),
            script("stream.get(URL, { responseType: 'none' }).drain();"),
            script("stream.get(URL); sleep(60);"),
        ],
        server.url("").trim_end_matches('/'),
    );
    assert_eq!(ends, [Some(IterationEnd::Interrupted); 4]);
}

#[test]
fn neighbours_of_calls_that_the_engine_counts_as_one_are_served() {
    // The engine asks once in 10,000 operations, and each of these takes longer than the simplest ones by far.
    for name in ["huge big integers", "searching a text", "repeat"] {
        let ends = check_beside(&sources(&[name]), "");
        assert_eq!(ends, [Some(IterationEnd::Interrupted)], "{name}");
    }
}

#[test]
fn neighbours_of_long_native_calls_are_served() {
    for name in [
        "sort",
        "sort of typed numbers",
        "normalizing",
        "array copies",
        "base64",
        "HTML",
        "JSON.parse",
        "JSON.stringify",
    ] {
        let ends = check_beside(&sources(&[name]), "");
        assert_eq!(ends, [Some(IterationEnd::Interrupted)], "{name}");
    }
}

#[test]
fn neighbours_of_native_calls_that_never_end_are_served() {
    for name in [
        "sort of holes",
        "reverse of holes",
        "join of holes",
        "flattening",
        "searching one long text in another",
    ] {
        let ends = check_beside(&sources(&[name]), "");
        assert_eq!(ends, [None], "{name}: it was left behind");
    }
}

/// Long calls of the engine and what another engine gives for them. Texts count by each 997th of their units.
const CALLS: &str = r"
    const base = Array.from({ length: 120000 }, (_, i) => (i * 7919) % 200003);
    const rows = Array.from({ length: 8000 }, (_, i) => ({ id: i, name: 'n' + i, tags: ['a', { b: i }] }));
    const text = 'The quick brown fox jumps over the lazy dog. \u00e9\u0301 '.repeat(8000);
    const hash = (s) => { let h = 0; for (let i = 0; i < s.length; i += 997) h = (h * 31 + s.charCodeAt(i)) | 0; return h };
    const calls = [
        [-1501404072, () => hash(base.slice().sort().join())],
        [-2029494758, () => hash(new Float64Array(base).sort().join())],
        [-1405575364, () => hash(base.concat(base).reverse().join())],
        [-577422965, () => hash(JSON.stringify(JSON.parse(JSON.stringify(rows))))],
        [-1943522690, () => hash(text.split(' ').join('_').toUpperCase())],
        [-2913055399, () => hash(text.normalize('NFD')) + hash(text.normalize('NFKC'))],
        [1430740219, () => hash((3n ** 20000n * 7n ** 20000n).toString(16))],
        [-2, () => 'a'.repeat(60000).indexOf('a'.repeat(30000) + 'b') + text.lastIndexOf('zzz')],
        [300002, () => { const holes = []; holes[300000] = 1; holes.reverse(); return holes[0] + holes.length }],
        [240000, () => new Map(base.map((v, i) => [v, i])).size + new Set(base.concat(base)).size],
        [328000, () => text.replace(/[aeiou]/g, '').length + text.match(/o\w+/g).length],
    ];
    export default function () {
        for (const [expected, call] of calls) if (call() !== expected) throw new Error(`${call}`);
    }";

#[test]
fn calls_that_took_turns_give_what_they_should() {
    let mut thread = Thread::new("");
    for _ in 0..4 {
        thread.start(CALLS, &Durations::default());
    }
    for ended in &thread.ended {
        assert_eq!(ended.recv_timeout(Duration::from_secs(60)), Ok(Some(IterationEnd::Completed)));
    }
    thread.workers.join();
}

#[test]
fn neighbours_of_what_never_ends_are_served() {
    let server = testkit::http::start();
    let body = "http.get(`${__ENV.BASE}/big?bytes=1000000000000`, { responseType: 'none' });";
    let messages = "ws.connect(__ENV.BASE.replace('http', 'ws') + '/ws/say?count=1000000000', {}, (s) => s.on('message', () => {}));";
    let message =
        "ws.connect(__ENV.BASE.replace('http', 'ws') + '/ws/endless', {}, (s) => s.on('message', () => {}));";
    for code in [body, messages, message] {
        let source = format!(
            "import http from 'k6/http'; import ws from 'k6/ws'; export default function () {{ while (true) {{ {code} }} }}"
        );
        check_beside(&[source.clone(), source], &server.url(""));
    }
}

/// A VU that measures a server which answers after 5 ms.
const ASKING: &str = "import http from 'k6/http'; export default function () { while (true) http.get(`${__ENV.BASE}/delay/5`); }";

/// Computes for 50 ms per iteration.
const BURNING: &str = "import { sleep } from 'k6'; export default function () {
    while (true) { const end = Date.now() + 50; while (Date.now() < end) {} sleep(0.005); } }";

/// Percentiles beside a VU that computes, and at the same time without.
fn durations_beside(computing: &[String], server: &testkit::Server, lasts: Duration) -> [[f64; 3]; 2] {
    let durations = [Durations::default(), Durations::default()];
    let mut threads = [Thread::new(&server.url("")), Thread::new(&server.url(""))];
    for (thread, durations) in threads.iter_mut().zip(&durations) {
        for _ in 0..5 {
            thread.start(ASKING, durations);
        }
    }
    for source in computing {
        threads[0].start(source, &Durations::default());
    }
    std::thread::sleep(lasts);
    for thread in threads {
        thread.end();
    }
    durations.map(|durations| durations.percentiles())
}

#[test]
fn a_neighbours_computing_is_not_the_servers_time() {
    let server = testkit::http::start();
    let [beside, alone] = durations_beside(&[BURNING.to_owned()], &server, Duration::from_millis(800));
    // A thread that is kept errs by 50 ms, and one that looks at its sockets between two slices by 2 ms. The bound is for a
    // machine on which others compute, where only the median is steady.
    assert!(beside[0] - alone[0] < 1.0 && beside[1] - alone[1] < 10.0, "{beside:?} {alone:?}");
}

/// Keeps the thread for tens of milliseconds at a time, in a call that the host makes in one piece.
const KEEPING: &str =
    "import { sleep } from 'k6'; import crypto from 'k6/crypto'; export default function () {
    while (true) { crypto.randomBytes(8000000); sleep(0.005); } }";

#[test]
fn a_thread_that_is_kept_is_not_the_servers_time() {
    let server = testkit::http::start();
    let [beside, alone] = durations_beside(&[KEEPING.to_owned()], &server, Duration::from_millis(800));
    // Without the kernel's times of arrival, most responses seem to have come when the call ended.
    assert!(beside[0] - alone[0] < 3.0, "{beside:?} {alone:?}");
}

/// `cargo test -p script durations_beside_one -- --ignored --nocapture`
#[test]
#[ignore = "ten seconds each, for an idle machine"]
fn durations_beside_one_that_computes() {
    let server = testkit::http::start();
    for (name, computing) in [
        ("50 ms", BURNING.to_owned()),
        ("always", HOGS[0].source()),
        ("1 ms", BURNING.replace("+ 50", "+ 1")),
    ] {
        let [beside, alone] = durations_beside(&[computing], &server, Duration::from_secs(10));
        println!("{name}: p50, p95, p99 beside it {beside:.2?} ms, without {alone:.2?} ms");
    }
}

/// The whole measurement: `cargo test -p script beside_each_hog -- --ignored --nocapture`.
#[test]
#[ignore = "ten seconds beside each of the hogs, for an idle machine"]
fn beside_each_hog() {
    let seconds = std::env::var("TICK_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(10);
    let only = std::env::var("HOG").unwrap_or_default();
    for hog in HOGS.iter().filter(|hog| hog.name.contains(&only)) {
        let (ticks, ends) = ticks_beside(&[hog.source()], "", Duration::from_secs(seconds));
        println!(
            "{:32} {:5} of {:5} ticks, latest {:4} ms, {:?}",
            hog.name, ticks.served, ticks.due, ticks.late_ms_max, ends[0]
        );
    }
}
