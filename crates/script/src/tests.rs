//! Scripts against a server that counts: what they see, what is sampled, how they end.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use model::plan::{Executor, HttpOptions, Lifecycle};
use model::{
    Epoch, Instant, IterationEnd, LogLine, Mark, Metadata, MetricId, MetricRegistry, Plan, RunProgress,
    Scenario, ScenarioId, SystemClock, TagInterner, TagSetId,
};

use crate::{
    Bundle, Call, Control, Entry, InterruptDeadline, Log, Notes, RunContext, STACK_BYTES, ScriptError,
    Settings, Sink, VuBinding,
};

mod amqp;
mod ceilings;
mod code;
mod declarations;
mod dns;
mod exec;
mod faker;
mod flow;
mod groups;
mod grpc;
mod mistakes;
mod mqtt;
mod mysql;
mod notation;
mod notes;
mod redis;
mod rows;
mod shared;
mod sql;
mod streaming;
mod turns;
mod web;
mod webcrypto;
mod websocket;

/// Results of a script's run.
#[derive(Debug, Default)]
struct Left {
    ends: Vec<IterationEnd>,
    logs: Vec<String>,
    /// Metric, tags as text, value, mark.
    samples: Vec<(String, String, f64, Mark)>,
    noted: notes::Seen,
    setup: Option<String>,
    aborted: Option<String>,
    failed: bool,
}

impl Left {
    fn count(&self, metric: &str) -> usize {
        self.samples.iter().filter(|sample| sample.0 == metric).count()
    }

    fn noted_under_way(&self) -> i64 {
        self.noted.under_way()
    }

    fn noted_finished(&self) -> usize {
        self.noted.finished()
    }

    fn noted_errors(&self) -> usize {
        self.noted.errors()
    }

    fn tags(&self, metric: &str) -> Vec<&str> {
        self.samples.iter().filter(|sample| sample.0 == metric).map(|sample| sample.1.as_str()).collect()
    }
}

#[derive(Default)]
struct Heard(Mutex<(Vec<String>, Option<String>, bool)>);

impl Log for Heard {
    fn log(&self, line: LogLine) {
        self.0.lock().unwrap().0.push(line.message);
    }
}

impl Control for Heard {
    fn abort(&self, reason: &str) {
        self.0.lock().unwrap().1 = Some(reason.to_owned());
    }
    fn fail(&self, _reason: &str) {
        self.0.lock().unwrap().2 = true;
    }
}

type Recorded = Rc<RefCell<Vec<(MetricId, TagSetId, f64, Mark)>>>;

struct Recorder(Recorded);

impl Sink for Recorder {
    fn record(
        &self,
        metric: MetricId,
        tags: TagSetId,
        value: f64,
        mark: Mark,
        _at: Instant,
        _metadata: Option<&Metadata>,
    ) {
        self.0.borrow_mut().push((metric, tags, value, mark));
    }
}

struct Until(Instant);

impl InterruptDeadline for Until {
    fn has_passed(&self, now: Instant) -> bool {
        now >= self.0
    }
}

fn load(
    source: &str,
    heard: &Arc<Heard>,
    metrics: &Arc<MetricRegistry>,
    base: &str,
) -> Result<Bundle, ScriptError> {
    load_within(crate::MemoryLimits::resolve(None, None, None), source, heard, metrics, base)
}

fn load_within(
    memory: crate::MemoryLimits,
    source: &str,
    heard: &Arc<Heard>,
    metrics: &Arc<MetricRegistry>,
    base: &str,
) -> Result<Bundle, ScriptError> {
    let env = BTreeMap::from([("BASE".to_owned(), base.to_owned())]);
    let secrets = Arc::new(
        crate::Secrets::read(
            &["mock=token=abc123".to_owned()],
            &BTreeMap::new(),
            Arc::new(crate::NoSecretServer),
            &redact::Redactor::default(),
        )
        .unwrap(),
    );
    let (metrics, log) = (metrics.clone(), heard.clone());
    let settings = Settings {
        env,
        metrics,
        log,
        secrets,
        outside: Default::default(),
        memory,
        allows_exec: true,
        compat: Default::default(),
    };
    Bundle::load(Entry { path: "/scripts/test.js".into(), text: source.to_owned() }, settings)
}

/// Runs a script that logs the result of each call by its function `show`, and compares what it logged.
#[track_caller]
fn check_calls(calls: &[(&str, &str)], run: impl FnOnce(&str) -> Left) {
    let body: String = calls.iter().map(|(call, _)| format!("show(() => {call});\n")).collect();
    let left = run(&body);
    for (index, (call, expect)) in calls.iter().enumerate() {
        assert_eq!(left.logs.get(index).map(String::as_str), Some(*expect), "{call}");
    }
    assert_eq!(left.ends, [IterationEnd::Completed]);
}

thread_local! {
    /// Maximum computing time of scripts that this thread runs, and half of their waiting time. It is enough on a busy machine.
    static TIME_MAX: Cell<Duration> = const { Cell::new(Duration::from_secs(20)) };
}

/// Runs an endless script and cuts it after a second of computing, or two of waiting.
fn cut<T>(run: impl FnOnce() -> T) -> T {
    let before = TIME_MAX.replace(Duration::from_secs(1));
    let left = run();
    TIME_MAX.set(before);
    left
}

/// Runs `iterations` of a script's default function (after its `setup`, if any).
fn run_against(base: &str, iterations: u64, source: &str) -> Left {
    run_late(base, iterations, None, source)
}

/// The same in iterations that were due so long before they start.
fn run_late(base: &str, iterations: u64, late: Option<Duration>, source: &str) -> Left {
    run_within(crate::MemoryLimits::resolve(None, None, None), base, iterations, late, source)
}

/// The same with memory limits.
fn run_within(
    memory: crate::MemoryLimits,
    base: &str,
    iterations: u64,
    late: Option<Duration>,
    source: &str,
) -> Left {
    run_in(memory, base, iterations, late, source, |_| {})
}

/// The same in a run that differs.
fn run_in(
    memory: crate::MemoryLimits,
    base: &str,
    iterations: u64,
    late: Option<Duration>,
    source: &str,
    change: impl FnOnce(&mut RunContext),
) -> Left {
    let heard = Arc::new(Heard::default());
    let metrics = Arc::new(MetricRegistry::default());
    let bundle =
        load_within(memory, source, &heard, &metrics, base).unwrap_or_else(|error| panic!("{error}"));
    let mut run = context(&heard, iterations);
    change(Arc::get_mut(&mut run).expect("a context of its own"));
    let tags = run.tags.clone();
    let time_max = TIME_MAX.get();
    let workers = vu::Workers::start(1).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    workers.spawn(0, move || async move {
        let coroutine = vu::coroutine(STACK_BYTES, move || iterate(&bundle, run, iterations, late, time_max));
        let interrupter = coroutine.interrupter();
        tokio::task::spawn_local(async move {
            tokio::time::sleep(2 * time_max).await;
            interrupter.interrupt();
        });
        sender.send(coroutine.await).unwrap();
    });
    let ended = receiver.recv_timeout(Duration::from_secs(60)).expect("no hang").expect("no panic");
    let (ends, samples, noted, setup) = ended;
    workers.join();
    let named = samples.into_iter().map(|(metric, set, value, mark)| {
        let set = tags.get(set);
        let text: Vec<String> = set.iter().map(|(name, value)| format!("{name}={value}")).collect();
        (metrics.get(metric).name.to_string(), text.join(" "), value, mark)
    });
    let samples = named.collect();
    let (logs, aborted, failed) = std::mem::take(&mut *heard.0.lock().unwrap());
    Left { ends, logs, samples, noted, setup, aborted, failed }
}

/// An instance that is the whole test.
struct Whole;

impl crate::Share for Whole {
    fn index_in_test(&self, index_in_instance: u64) -> u64 {
        index_in_instance
    }

    fn is_whole(&self) -> bool {
        true
    }
}

/// The context of a run of one scenario, shared by its VUs.
fn context(heard: &Arc<Heard>, iterations: u64) -> Arc<RunContext> {
    let plan = Plan {
        scenarios: vec![Scenario {
            name: "default".into(),
            exec: "default".into(),
            executor: Executor::PerVuIterations { vus: 1, iterations, max_duration: Duration::from_secs(9) },
            start_time: Duration::ZERO,
            graceful_stop: Duration::ZERO,
            env: BTreeMap::default(),
            tags: BTreeMap::default(),
        }],
        lifecycle: Lifecycle::default(),
        http: HttpOptions { user_agent: Some("test".into()), ..HttpOptions::default() },
        options_json: r#"{"vus":null}"#.into(),
        ..Plan::default()
    };
    let network = wire::Shared::new(&plan.http, &plan.network, &plan.tls).unwrap();
    Arc::new(RunContext {
        progress: Arc::new(RunProgress::new(1)),
        epoch: Epoch::anchor(&SystemClock),
        network: Arc::new(network),
        rate: None,
        traces: None,
        spans: None,
        share: Arc::new(Whole),
        exported_options_json: "{}".into(),
        control: heard.clone(),
        tags: Arc::new(TagInterner::default()),
        plan: Arc::new(plan),
    })
}

type Ended = (Vec<IterationEnd>, Vec<(MetricId, TagSetId, f64, Mark)>, notes::Seen, Option<String>);

fn iterate(
    bundle: &Bundle,
    run: Arc<RunContext>,
    iterations: u64,
    late: Option<Duration>,
    time_max: Duration,
) -> Ended {
    let recorded = Recorded::default();
    let noted = Rc::new(notes::Noting::default());
    let binding = |id: u64| VuBinding {
        notes: noted.clone(),
        ..binding(id, &recorded, &run, SystemClock::now() + time_max)
    };
    let mut setup_data = None;
    if bundle.has("setup") {
        let mut vu = bundle.instantiate(binding(0)).unwrap_or_else(|error| panic!("{error}"));
        setup_data = vu.setup().unwrap_or_else(|error| panic!("{error}"));
    }
    let mut vu = bundle.instantiate(binding(1)).unwrap_or_else(|error| panic!("{error}"));
    let ends = (0..iterations).map(|index| {
        let call = Call {
            scenario: ScenarioId(0),
            vu_iteration: index,
            iteration_in_scenario: index,
            iteration_in_instance: index,
            iteration_in_test: index,
            due: late.map(due_and_late),
        };
        let (end, _) = vu.iterate(&call, setup_data.as_ref());
        if vu.is_spent() {
            vu = bundle.instantiate(binding(1)).unwrap_or_else(|error| panic!("{error}"));
        }
        end
    });
    let ends = ends.collect();
    drop(vu);
    let samples = recorded.take();
    (ends, samples, noted.take(), setup_data.map(|data| data.to_string()))
}

/// The binding of a VU to its run until the deadline.
fn binding(id: u64, recorded: &Recorded, run: &Arc<RunContext>, deadline: Instant) -> VuBinding {
    VuBinding {
        id_in_test: id,
        id_in_instance: id,
        sink: Rc::new(Recorder(recorded.clone())),
        notes: Rc::new(notes::Noting::default()),
        deadline: Rc::new(Until(deadline)),
        run: run.clone(),
    }
}

/// When something was due that comes so much later.
fn due_and_late(late: Duration) -> Instant {
    let due = SystemClock::now();
    std::thread::sleep(late);
    due
}

fn run(source: &str) -> Left {
    run_against("http://127.0.0.1:1", 1, source)
}

/// Runs a script that logs; what it logged.
fn logged(source: &str) -> Vec<String> {
    let left = run(source);
    assert_eq!(left.ends, [IterationEnd::Completed], "{:?}", left.logs);
    left.logs
}

fn check_log(body: &str, expect: &str) {
    let source = format!(
        "import exec from 'k6/execution'; import encoding from 'k6/encoding';\nexport default function () {{ {body} }}"
    );
    assert_eq!(logged(&source), [expect], "{body}");
}

/// Runs a body with imports of its own and checks what it logs.
#[track_caller]
fn check_log_with(imports: &str, body: &str, expect: &str) {
    assert_eq!(logged(&format!("{imports}\nexport default function () {{ {body} }}")), [expect], "{body}");
}

#[test]
fn a_vu_that_is_made_after_the_end_is_interrupted_and_not_broken() {
    let heard = Arc::<Heard>::default();
    let bundle = load("export default function () {}", &heard, &Arc::default(), "").unwrap();
    let run = context(&heard, 1);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let made = vu::coroutine(STACK_BYTES, move || {
        let binding = binding(1, &Recorded::default(), &run, SystemClock::now());
        bundle.instantiate(binding).map(drop)
    });
    let made = runtime.block_on(made).unwrap();
    assert!(matches!(made, Err(ScriptError::Interrupted)), "{made:?}");
}

#[test]
fn names_that_a_script_works_out_are_there() {
    check_log("const name = 'BA' + 'SE'; console.log(typeof __ENV[name])", "string");
    check_log("const { BASE: base } = __ENV; console.log(typeof base)", "string");
    check_log(
        "console.log(eval('typeof __EN' + 'V.BA' + 'SE'), new Function('return typeof Map')())",
        "string function",
    );
    check_log("console.log(typeof __ENV['BA' + 'SE'], Object.keys(__ENV).includes('BASE'))", "string true");
    check_log_with(
        "import * as http from 'k6/http'; import whole from 'k6/http'; import { head } from 'k6/http'",
        "const name = 'p' + 'ut'; console.log(typeof http[name], typeof whole['pat' + 'ch'], typeof head)",
        "function function function",
    );
}

#[test]
fn long_json_is_parsed_whole_and_its_errors_are_the_engines() {
    check_log(
        "const rows = Array.from({ length: 20000 }, (_, at) => ({ at, name: 'n' + at }));
        const text = JSON.stringify(rows);
        const same = JSON.stringify(JSON.parse(text)) === text;
        let problem; try { JSON.parse(text + ',') } catch (error) { problem = error.name }
        console.log(text.length > 500000, same, problem);",
        "true true SyntaxError",
    );
}

fn load_error(source: &str) -> String {
    match load(source, &Arc::default(), &Arc::default(), "") {
        Ok(_) => panic!("loaded: {source}"),
        Err(error @ ScriptError::Exception { .. }) => {
            let ScriptError::Exception { message, excerpt, hint } = &error else { unreachable!() };
            [Some(message), excerpt.as_ref(), hint.as_ref()]
                .into_iter()
                .flatten()
                .cloned()
                .collect::<Vec<_>>()
                .join("\n")
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn values_are_printed_as_k6_prints_them() {
    check_log("console.log('a', 1, true, null, undefined)", "a 1 true null undefined");
    check_log("console.log({ a: 1, b: [1, 'x', { c: null }] })", "{ a: 1, b: [ 1, \"x\", { c: null } ] }");
    check_log("const x = {}; x.x = x; console.log(x)", "{ x: [Circular] }");
    check_log("console.log([], {}, () => 1)", "[] {} [object Function]");
    check_log("console.log(new Error('no'))", "Error: no");
    check_log("console.log(new Date(0), { a: undefined })", "\"1970-01-01T00:00:00.000Z\" { a: null }");
}

#[test]
fn encoding_and_execution() {
    check_log("console.log(encoding.b64encode('hello?>', 'url'))", "aGVsbG8_Pg==");
    check_log("console.log(encoding.b64encode('hello?>', 'rawurl'))", "aGVsbG8_Pg");
    check_log("console.log(encoding.b64decode('aGk=', 'std', 's'))", "hi");
    check_log(
        "console.log(exec.scenario.name, exec.scenario.executor, exec.vu.idInTest)",
        "default per-vu-iterations 1",
    );
    check_log(
        "exec.vu.tags.a = 7; console.log(exec.vu.tags.a, Object.keys(exec.vu.tags).join())",
        "7 a,scenario,group",
    );
    check_log("console.log(JSON.stringify(exec.test.options))", "{\"vus\":null}");
    check_log("console.log(__VU, __ITER, typeof __ENV.BASE)", "1 0 string");
}

#[test]
fn the_event_loop_ends_when_nothing_is_left() {
    let source = "export default async function () {
        setTimeout(() => console.log('third'), 3);
        setTimeout((x) => console.log(x), 1, 'second');
        Promise.resolve().then(() => console.log('first'));
        const id = setInterval(() => { console.log('tick'); clearInterval(id) }, 5);
        await new Promise((resolve) => setTimeout(resolve, 2));
    }";
    assert_eq!(logged(source), ["first", "second", "third", "tick"]);
}

#[test]
fn an_exception_fails_the_iteration_and_shows_the_place() {
    let left = run_against("", 2, "export default function () {\n  nothing.here();\n}");
    assert_eq!(left.ends, [IterationEnd::Failed, IterationEnd::Failed]);
    assert!(left.logs[0].starts_with("ReferenceError: nothing is not defined"), "{:?}", left.logs);
    assert!(left.logs[0].contains("file:///scripts/test.js:2:"), "{:?}", left.logs);
    assert!(left.logs[0].contains("2 |   nothing.here();"), "{:?}", left.logs);
    let left = run("export default async function () { throw new TypeError('later') }");
    assert_eq!(left.ends, [IterationEnd::Failed]);
    assert!(left.logs[0].starts_with("Uncaught (in promise) TypeError: later"), "{:?}", left.logs);
}

#[test]
fn runaway_scripts_are_stopped() {
    for body in ["while (true) {}", "try { while (true) {} } catch (e) { while (true) {} }"] {
        let left = cut(|| run(&format!("export default function () {{ {body} }}")));
        assert_eq!(left.ends, [IterationEnd::Interrupted], "{body}");
    }
    let left = run("export default function () { (function f() { f() })() }");
    assert_eq!(left.ends, [IterationEnd::Failed]);
    assert!(
        left.logs[0].contains("RangeError") || left.logs[0].contains("stack overflow"),
        "{:?}",
        left.logs
    );
}

#[test]
fn init_errors_say_where_and_what() {
    let check = |source: &str, expect: &str| {
        let text = load_error(source);
        assert!(text.contains(expect), "{text}\n  should contain {expect}");
    };
    check("export default function () {\n  let a = ;\n}", "SyntaxError");
    check("export default function () {\n  let a = ;\n}", "2 |   let a = ;");
    check("import x from './missing.js'; export default function () {}", "missing.js\" couldn't be found");
    check("import x from 'lodash'; export default function () {}", "./lodash");
    check("import http from 'k6/http'; http.get('http://x'); export default function () {}", "init context");
    check("throw new Error('at init'); export default function () {}", "at init");
}

#[test]
fn checks_groups_and_metrics_become_samples() {
    let left = run("import { check, group } from 'k6'; import { Trend, Counter } from 'k6/metrics';
        const trend = new Trend('my_trend', true); const counter = new Counter('my_counter');
        export default function () {
            group('outer', () => group('inner', () => check(5, { 'is five': (v) => v === 5, 'is six': (v) => v === 6 })));
            trend.add(7, { kind: 'x' }); counter.add(2); counter.add(-1);
        }");
    assert_eq!(left.ends, [IterationEnd::Completed], "{:?}", left.logs);
    assert_eq!(
        left.tags("checks"),
        [
            "check=is five group=::outer::inner scenario=default",
            "check=is six group=::outer::inner scenario=default"
        ]
    );
    assert_eq!(
        left.tags("group_duration"),
        ["group=::outer::inner scenario=default", "group=::outer scenario=default"]
    );
    assert_eq!(left.tags("my_trend"), ["group= kind=x scenario=default"]);
    assert_eq!(left.count("my_counter"), 1, "a negative value is refused");
    assert!(left.logs[0].contains("a counter only goes up"), "{:?}", left.logs);
}

#[test]
fn requests_are_counted_by_both_sides() {
    let server = testkit::http::start();
    let left = run_against(&server.url(""), 3, "import http from 'k6/http'; import { check } from 'k6';
        export default function () {
            const res = http.get(`${__ENV.BASE}/json`);
            check(res, { ok: (r) => r.status === 200 && r.json() !== null && r.timings.duration > 0 });
            http.post(`${__ENV.BASE}/post`, { a: 1, b: ['x', 'y'] });
            http.get(`${__ENV.BASE}/redirect/2`);
            http.batch([`${__ENV.BASE}/`, ['GET', `${__ENV.BASE}/`], { method: 'GET', url: `${__ENV.BASE}/` }]);
        }");
    assert_eq!(left.ends, [IterationEnd::Completed; 3], "{:?}", left.logs);
    assert_eq!(left.count("http_reqs"), 3 * (1 + 1 + 3 + 3));
    assert_eq!(server.seen().total, 3 * (1 + 1 + 3 + 3));
    assert!(left.samples.iter().filter(|sample| sample.0 == "checks").all(|sample| sample.2 == 1.0));
    let (sent, received) = (server.seen().bytes_in, server.seen().bytes_out);
    let sum = |metric: &str| left.samples.iter().filter(|s| s.0 == metric).map(|s| s.2).sum::<f64>() as u64;
    assert_eq!((sum("data_sent"), sum("data_received")), (sent, received));
}

#[test]
fn a_request_that_is_cut_off_is_counted() {
    let server = testkit::http::start();
    let source = "import http from 'k6/http'; export default function () { http.get(`${__ENV.BASE}/hang`) }";
    let left = cut(|| run_against(&server.url(""), 1, source));
    assert_eq!(left.ends, [IterationEnd::Interrupted]);
    assert_eq!((left.count("http_reqs"), left.count("http_req_failed")), (1, 1));
    assert_eq!(
        left.samples.iter().find(|sample| sample.0 == "http_req_duration").map(|s| s.3),
        Some(Mark::Cut)
    );
    assert_eq!(server.seen().total, 1);
}

#[test]
fn large_bodies_arrive_as_they_were_when_they_were_sent() {
    let server = testkit::http::start();
    let left = run_against(
        &server.url(""),
        3,
        "import http from 'k6/http';
        const x = 'x'.repeat(50000), y = 'y'.repeat(50000), bytes = new Uint8Array(50000).fill(122);
        const sent = (body) => { const { data } = http.post(`${__ENV.BASE}/post`, body).json(); return data.length + data[0] + data[49999]; };
        export default function () {
            const z = 'z'.repeat(49999) + __ITER;
            console.log([x, x, x, y, x, z, z, z, x + 'é', bytes.buffer, bytes].map(sent).join());
            bytes[0] = 65 + __ITER;
            console.log([bytes.buffer, bytes, x, x].map(sent).join());
        }",
    );
    let line = |first: char, iteration: u32| {
        format!(
            "50000xx,50000xx,50000xx,50000yy,50000xx,{0},{0},{0},50001xx,50000{first}z,50000{first}z",
            format!("50000z{iteration}")
        )
    };
    let changed = |first: char| format!("50000{first}z,50000{first}z,50000xx,50000xx");
    assert_eq!(
        left.logs,
        [line('z', 0), changed('A'), line('A', 1), changed('B'), line('B', 2), changed('C')]
    );
}

#[test]
fn responses_look_like_k6s() {
    let server = testkit::http::start();
    let left = run_against(
        &server.url(""),
        1,
        "import http from 'k6/http';
        export default function () {
            const res = http.get(`${__ENV.BASE}/json`);
            console.log(Object.keys(res).join());
            console.log(res.status_text, res.proto, res.error_code, res.headers['Content-Type']);
            res.extra = 1; console.log(res.extra, 'status' in res, 'nothing' in res, res.nothing);
            console.log(JSON.stringify(Object.keys(JSON.parse(JSON.stringify(res))).length));
            console.log(http.get(`${__ENV.BASE}/status/404`).error_code);
            const binary = http.get(`${__ENV.BASE}/bytes/5`, { responseType: 'binary' });
            console.log(binary.body.byteLength, http.get(`${__ENV.BASE}/`, { responseType: 'none' }).body);
        }",
    );
    assert_eq!(left.ends, [IterationEnd::Completed], "{:?}", left.logs);
    assert_eq!(
        left.logs,
        [
            "remote_ip,remote_port,url,status,status_text,proto,headers,cookies,body,timings,tls_version,tls_cipher_suite,ocsp,error,error_code,request,json,html,submitForm,clickLink",
            "200 OK HTTP/1.1 0 application/json",
            "1 true false undefined",
            "17",
            "1404",
            "5 null",
        ]
    );
}

#[test]
fn failures_are_honest() {
    let left = run("import http from 'k6/http';
        export default function () {
            const res = http.get('http://127.0.0.1:1/');
            console.log(res.status, res.body, res.error_code, res.error !== '');
            console.log(http.get('http://no-such-host.invalid/').error_code, http.get('http://[bad/').error_code);
        }");
    assert_eq!(left.ends, [IterationEnd::Completed], "{:?}", left.logs);
    let console: Vec<_> = left.logs.iter().filter(|line| !line.starts_with("Request Failed")).collect();
    assert_eq!(console, ["0 null 1212 true", "1101 1020"]);
    let marks: Vec<Mark> = left.samples.iter().filter(|s| s.0 == "http_req_duration").map(|s| s.3).collect();
    assert_eq!(marks, [Mark::Failed, Mark::Failed]);
    assert_eq!(left.count("http_reqs"), 2);
    assert_eq!(left.count("http_req_waiting"), 0);
}

#[test]
fn setup_data_reaches_the_iterations_with_k6s_cookie_names() {
    let server = testkit::http::start();
    let left = run_against(&server.url(""), 1, "import http from 'k6/http';
        export function setup() { return http.get(`${__ENV.BASE}/cookies/set?a=b`, { redirects: 0 }).cookies; }
        export default function (data) {
            const cookie = data.a[0];
            console.log(cookie.Name, cookie.Value, cookie.HTTPOnly, cookie.name);
            http.cookieJar().set(__ENV.BASE, cookie.Name, cookie.Value);
            console.log(JSON.stringify(http.cookieJar().cookiesForURL(__ENV.BASE)));
            console.log(http.get(`${__ENV.BASE}/cookies`).json('cookies.a') || http.get(`${__ENV.BASE}/cookies`).body);
        }");
    assert_eq!(left.ends, [IterationEnd::Completed], "{:?}", left.logs);
    assert_eq!(left.logs[..2], ["a b false undefined", "{\"a\":[\"b\"]}"], "{:?}", left.setup);
    assert!(left.logs[2].contains('b'), "{:?}", left.logs);
}

#[test]
fn test_abort_and_fail_reach_the_control() {
    let left = run(
        "import exec from 'k6/execution'; export default function () { exec.test.fail('x'); try { exec.test.abort('enough') } catch (e) { console.log('caught') } }",
    );
    assert_eq!((left.ends.as_slice(), left.failed), (&[IterationEnd::Aborted][..], true));
    assert_eq!(left.aborted.as_deref(), Some("test aborted: enough"));
    assert!(left.logs.is_empty(), "{:?}", left.logs);
}

#[test]
fn common_js_scripts_run_too() {
    let left = run("const http = require('k6/http'); const { check } = require('k6');
        module.exports.default = function () { console.log(typeof http.get, typeof check) };
        module.exports.options = { vus: 3 };");
    assert_eq!(left.logs, ["function function"]);
}

#[test]
fn shared_arrays_are_made_once_and_read_like_arrays() {
    let source = "import { SharedArray } from 'k6/data';
        const data = new SharedArray('d', () => { console.log('made'); return [{ a: 1 }, { a: 2 }] });
        export default function () {
            console.log(data.length, data[1].a, data.map((x) => x.a).join(), [...data].length, data[5], JSON.stringify(data));
            try { data[0] = 1 } catch (e) { console.log(e.name) }
        }";
    assert_eq!(logged(source), ["made", "2 2 1,2 2 undefined [{\"a\":1},{\"a\":2}]", "TypeError"]);
}

#[test]
fn a_lazy_global_is_a_plain_one_once_it_is_read_or_written() {
    let left = run_against(
        "",
        1,
        r#"
        export default function () {
            const isOwn = (name) => Object.hasOwn(globalThis, name);
            const before = isOwn("TextEncoder");
            const same = TextEncoder === globalThis.TextEncoder;
            TextDecoder = 7;
            console.log(before, same, isOwn("TextDecoder"), TextDecoder, typeof NoSuchGlobal);
        }"#,
    );
    assert_eq!(left.logs, ["false true true 7 undefined"]);
}

/// A server that runs for one test; `None` if it is not installed.
fn start_server(server: &'static dyn lab::Server) -> Option<lab::Alone> {
    if !server.is_installed() {
        assert!(std::env::var_os("PLIMSOLL_TESTS").is_none(), "{} is not installed", server.name());
        eprintln!("skipped: {} is not installed", server.name());
        return None;
    }
    Some(lab::Alone::start(&[server]).unwrap_or_else(|error| panic!("failed to {error}")))
}
