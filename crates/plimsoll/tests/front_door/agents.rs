//! One test on several agents: real processes against a server that counts.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use bytes::BytesMut;
use fleet::message::{Body, Frame, Hello};
use fleet::token::Token;
use model::SystemClock;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use testkit::reply::Reply;

use crate::harness::{Ran, Running, eventually, free_port, plimsoll, verb};
use crate::remote::{Files, trusting};

/// Every iteration has a path of its own, so that the server sees which ran, and how often.
pub(crate) const NUMBERED: &str = "
    import http from 'k6/http';
    import exec from 'k6/execution';
    export const options = { scenarios: { load: {
      executor: 'constant-arrival-rate', rate: 100, timeUnit: '1s', duration: __ENV.FOR || '2s',
      preAllocatedVUs: 24, maxVUs: 24 } } };
    export function setup() { http.get(`${__ENV.URL}/status/200?setup`); return { from: 'setup' }; }
    export default function (data) {
      if (data.from !== 'setup' || __ENV.SECRET_WORD !== 'x') throw new Error('the agent lacks data');
      http.get(`${__ENV.URL}/numbered/${exec.scenario.iterationInTest}`);
      http.get(`${__ENV.URL}/vu/${exec.vu.idInTest}`);
    }
    export function teardown(data) {
      http.get(`${__ENV.URL}/torn/down`);
      console.log(`torn down with ${data.from}`);
    }
    export function handleSummary(data) {
      return { 'own.json': JSON.stringify(data.metrics.iterations.values), 'summary.json': JSON.stringify({
        metrics: Object.fromEntries(Object.entries(data.metrics).map(([name, m]) => [name, m.values])) }) };
    }";

/// Numbers in the paths that the server saw below a prefix, with how often it saw each.
fn numbers(server: &testkit::Server, prefix: &str) -> Vec<(u64, u64)> {
    let rows = server.settled().rows;
    let number = |path: &str| path.strip_prefix(prefix)?.parse().ok();
    rows.iter().filter_map(|(row, count)| Some((number(&row.path)?, *count))).collect()
}

/// Requests on a path.
pub(crate) fn seen(server: &testkit::Server, path: &str) -> u64 {
    server.settled().rows.iter().filter(|(row, _)| row.path == path).map(|(_, count)| count).sum()
}

/// Whether a process exists, and is no zombie.
fn is_alive(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    test_kill_process(pid).is_ok() && state.is_some_and(|state| state != 'Z')
}

pub(crate) fn log_of(running: &Running) -> String {
    std::fs::read_to_string(running.folder().join("log.txt")).unwrap_or_default()
}

/// The sum of a run's stored windows, as its report states it.
fn report(ran: &Ran) -> serde_json::Value {
    let text = ran.and("report @last --format json").run().exits(0).out.clone();
    serde_json::from_str(&text).expect("a report is JSON")
}

#[test]
fn agents_together_are_one_machine() {
    let server = testkit::http::start();
    let ran = plimsoll(NUMBERED)
        .against(&server)
        .env("SECRET_WORD", "x")
        .flags("--agents 3 --log-output=file=log.txt")
        .run()
        .exits(0);
    let iterations = numbers(&server, "/numbered/");
    let expect: Vec<(u64, u64)> = (0..=200).map(|number| (number, 1)).collect();
    let mut sorted = iterations.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, expect, "each iteration of one machine's schedule, once");
    let vus: BTreeSet<u64> = numbers(&server, "/vu/").into_iter().map(|(number, _)| number).collect();
    assert_eq!(vus, (1..=24).collect(), "each VU of the test");
    let once = [seen(&server, "/status/200"), seen(&server, "/torn/down")];
    assert_eq!(once, [1, 1], "setup() and teardown()");
    let total = server.settled().total;
    assert_eq!(ran.count("http_reqs"), total, "sent = seen");
    assert_eq!(ran.count("iterations"), 201);
    assert!(ran.read("own.json").contains("201"), "handleSummary() has the merged data");
    let log = ran.read("log.txt");
    assert_eq!(log.matches("torn down with setup").count(), 1, "{log}");
    assert!(log.contains("3 agents started within"), "{log}");
    let stored = report(&ran);
    let requests =
        stored["metrics"].as_array().and_then(|all| all.iter().find(|metric| metric["name"] == "http_reqs"));
    let count = requests.map(|metric| metric["values"]["count"]["value"].as_f64());
    assert_eq!(count, Some(Some(total as f64)), "the run file has what the summary shows: {stored}");
}

#[test]
fn every_closed_executor_is_split_exactly() {
    let script = "
        import http from 'k6/http';
        import exec from 'k6/execution';
        const each = (more) => ({ gracefulStop: '5s', ...more });
        export const options = { scenarios: {
          shared: each({ executor: 'shared-iterations', exec: 'shared', vus: 7, iterations: 50 }),
          each: each({ executor: 'per-vu-iterations', exec: 'each', vus: 5, iterations: 6 }),
        } };
        export function shared() { http.get(`${__ENV.URL}/shared/${exec.scenario.iterationInTest}`); }
        export function each_() { http.get(`${__ENV.URL}/each/${exec.vu.idInTest}`); }
        export { each_ as each };";
    let script = script
        .replace("const each = (more)", "const with_grace = (more)")
        .replace(": each({", ": with_grace({");
    let server = testkit::http::start();
    let ran = plimsoll(&script).against(&server).flags("--agents 4").run().exits(0);
    let mut shared = numbers(&server, "/shared/");
    shared.sort_unstable();
    assert_eq!(shared, (0..50).map(|number| (number, 1)).collect::<Vec<_>>());
    let each = numbers(&server, "/each/");
    assert_eq!((each.len(), each.iter().all(|(_, count)| *count == 6)), (5, true), "{each:?}");
    assert_eq!(ran.count("http_reqs"), server.settled().total);
}

#[test]
fn raw_samples_reach_the_hubs_exports() {
    let server = testkit::http::start();
    let script = "import http from 'k6/http'; export default () => { http.get(`${__ENV.URL}/json`); };";
    let ran = plimsoll(script)
        .against(&server)
        .flags("--agents 2 -u 4 -i 60 --out json=points.json --out csv=points.csv")
        .run()
        .exits(0);
    let points = ran.read("points.json");
    let requests = points.lines().filter(|line| line.contains("\"Point\"") && line.contains("\"http_reqs\""));
    assert_eq!((requests.count(), ran.count("http_reqs")), (60, 60));
    assert_eq!(ran.read("points.csv").lines().filter(|line| line.starts_with("http_reqs,")).count(), 60);
}

/// Each agent asks the server of secrets by itself. The hub hides them in what it writes.
#[test]
fn agents_ask_the_server_of_secrets() {
    let files =
        Files::default().reply("/secrets/token", Reply::new(200, &[], br#"{"v":"very-hidden-word"}"#));
    let secrets = files.start();
    let server = testkit::http::start();
    let script = "import http from 'k6/http'; import secrets from 'k6/secrets';
        export const options = { vus: 2, iterations: 4 };
        export default async () => {
            const token = await secrets.get('token');
            http.get(`${__ENV.URL}/json?word=${token}`, { tags: { word: token } });
            console.log(`a word of ${token.length}: ${token}`);
        }";
    let source = format!("--secret-source=url=urlTemplate={},responsePath=v", secrets.url("/secrets/{key}"));
    let ran = trusting(plimsoll(script).against(&server).flags("--agents 2").word(&source), &secrets);
    let ran = ran.flags("--log-output=file=log.txt --out json=points.json").run().exits(0);
    let log = ran.read("log.txt");
    assert_eq!(log.matches("a word of 16: ***SECRET_REDACTED***").count(), 4, "{log}");
    let asked = server.settled().rows.iter().filter(|(row, _)| row.path.starts_with("/json")).count();
    assert!(asked > 0);
    let run = ran.and("report @last --format json").run().exits(0).out.clone();
    for (name, text) in [("log", log), ("points", ran.read("points.json")), ("run", run)] {
        assert!(!text.contains("very-hidden-word"), "{name}: {text}");
    }
}

#[test]
fn thresholds_and_aborts_act_on_the_whole() {
    let server = testkit::http::start();
    let script = "
        import http from 'k6/http';
        export const options = { vus: 4, duration: '60s',
          thresholds: { http_reqs: [{ threshold: 'count<40', abortOnFail: true }] } };
        export default () => { http.get(`${__ENV.URL}/delay/50`); };";
    let ran = plimsoll(script).against(&server).flags("--agents 2").run().exits(99);
    assert!(ran.elapsed < Duration::from_secs(30), "{:?}", ran.elapsed);
    let script = "
        import exec from 'k6/execution';
        import { sleep } from 'k6';
        export const options = { vus: 4, duration: '60s' };
        export default () => { sleep(0.2); if (exec.vu.idInTest === 3 && __ITER === 2) exec.test.abort('enough'); };";
    let ran = plimsoll(script).flags("--agents 2").run().exits(108);
    assert!(ran.err.contains("enough") && ran.elapsed < Duration::from_secs(30), "{}", ran.err);
}

#[test]
fn a_signal_ends_all_agents_and_shows_the_results() {
    let server = testkit::http::start();
    let script = "import http from 'k6/http'; import { sleep } from 'k6';
        export default () => { http.get(`${__ENV.URL}/json`); sleep(0.05); };
        export function teardown() { http.get(`${__ENV.URL}/torn/down`); }";
    let running = plimsoll(script).against(&server).flags("--agents 2 -u 4 -d 60s").start();
    eventually("load", || server.seen().total > 20);
    let agents = running.children();
    running.signal(Signal::INT);
    let ran = running.wait().exits(105);
    assert!(agents.len() == 2 && !agents.iter().any(|pid| is_alive(*pid)), "{agents:?}");
    assert_eq!((ran.count("http_reqs"), seen(&server, "/torn/down")), (server.settled().total, 1));
}

/// Starts four agents for some seconds, and waits for the load.
fn start_four(server: &testkit::Server, flags: &str) -> Running {
    let running = plimsoll(NUMBERED)
        .against(server)
        .env("SECRET_WORD", "x")
        .env("FOR", "5s")
        .flags("--agents 4 --log-output=file=log.txt")
        .flags(flags)
        .start();
    eventually("load", || server.seen().total > 100);
    running
}

#[test]
fn the_load_of_a_killed_agent_is_counted_as_missing() {
    let server = testkit::http::start();
    let running = start_four(&server, "");
    kill_process(running.children()[1], Signal::KILL).expect("it runs");
    let ran = running.wait().exits(0);
    let log = ran.read("log.txt");
    assert!(log.contains("was lost: its process ended"), "{log}");
    assert_eq!(seen(&server, "/torn/down"), 1);
    // What the killed agent sent after its last window is missing, and nothing else.
    let (sent, counted) = (server.settled().total, ran.count("http_reqs"));
    assert!(counted <= sent && sent - counted < 120, "{counted} of {sent}");
    let (iterations, dropped) = (ran.count("iterations"), ran.count("dropped_iterations"));
    assert!(dropped > 50, "{dropped} dropped");
    assert_eq!(iterations + dropped, 501, "every iteration of the plan is accounted for");
    let stored = report(&ran);
    let drops = stored["generator"]["drops"].to_string() + &stored["drops"].to_string();
    assert!(drops.contains("agent_lost"), "{stored}");
    let reasons = stored["validity"]["reasons"].to_string();
    assert!(reasons.contains(r#""agents_lost","grade":"degraded","#), "{reasons}");
}

/// The others continue the load of a killed agent from a named instant on; only what lay between is missing, and nothing runs twice.
#[test]
fn the_load_of_a_killed_agent_is_continued_by_the_others() {
    let server = testkit::http::start();
    let running = plimsoll(NUMBERED)
        .against(&server)
        .env("SECRET_WORD", "x")
        .env("FOR", "9s")
        .flags("--agents 3 --on-agent-loss rebalance --log-output=file=log.txt")
        .start();
    eventually("load", || server.seen().total > 100);
    kill_process(running.children()[1], Signal::KILL).expect("it runs");
    let ran = running.wait().exits(0);
    let log = ran.read("log.txt");
    assert!(log.contains("the others continue its load"), "{log}");
    assert_eq!(log.matches(" continues 1/2 of ").count(), 2, "{log}");
    let (iterations, dropped) = (ran.count("iterations"), ran.count("dropped_iterations"));
    assert_eq!(iterations + dropped, 901, "every iteration of the plan is accounted for");
    let seen = numbers(&server, "/numbered/");
    assert!(seen.iter().all(|(_, count)| *count == 1), "nothing runs twice: {seen:?}");
    // A third of the rate is missing for a while. From some second on it is whole, to the end.
    let last = (700..=900).filter(|number| seen.iter().any(|(it, _)| it == number)).count();
    assert_eq!(last, 201, "the rate is whole again; {dropped} dropped");
    assert!(dropped > 0, "what lay between is missing");
    let reasons = report(&ran)["validity"]["reasons"].to_string();
    assert!(reasons.contains(r#""agents_lost","grade":"degraded","#), "{reasons}");
}

/// Shared iterations are handed out in blocks. What a killed agent has not ended is run by the others, or missing.
#[test]
fn shared_iterations_of_a_killed_agent_go_to_the_others() {
    let script = "import http from 'k6/http'; import exec from 'k6/execution'; import { sleep } from 'k6';
        export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 6, iterations: 400 } } };
        export default () => { http.get(`${__ENV.URL}/numbered/${exec.scenario.iterationInTest}`); sleep(0.05); };";
    let check = |on_loss: &str| {
        let server = testkit::http::start();
        let flags = format!("--agents 3 --on-agent-loss {on_loss}");
        let running = plimsoll(script).against(&server).flags(&flags).start();
        eventually("load", || server.seen().total > 150);
        kill_process(running.children()[1], Signal::KILL).expect("it runs");
        let ran = running.wait().exits(0);
        (ran.count("iterations"), ran.count("dropped_iterations"), numbers(&server, "/numbered/"))
    };
    let (iterations, dropped, seen) = check("rebalance");
    assert_eq!((iterations, dropped, seen.len()), (400, 0, 400), "each counts once");
    let twice = seen.iter().filter(|(_, count)| *count > 1).count();
    assert!(twice <= 60, "only what the killed agent ran after its last window: {twice}");
    let (iterations, dropped, seen) = check("continue");
    assert_eq!(iterations + dropped, 400);
    assert!(dropped > 0 && seen.iter().all(|(_, count)| *count == 1), "{dropped} dropped");
}

#[test]
fn the_loss_of_an_agent_can_end_the_run() {
    let server = testkit::http::start();
    let running = start_four(&server, "--on-agent-loss abort");
    kill_process(running.children()[0], Signal::KILL).expect("it runs");
    let ran = running.wait().exits(255);
    assert!(ran.read("log.txt").contains("--on-agent-loss abort"));
    assert!(ran.elapsed < Duration::from_secs(10), "{:?}", ran.elapsed);
}

#[test]
fn the_loss_of_every_agent_is_no_result() {
    let server = testkit::http::start();
    let running = start_four(&server, "");
    for agent in running.children() {
        kill_process(agent, Signal::KILL).expect("it runs");
    }
    let ran = running.wait().exits(255);
    assert!(ran.read("log.txt").contains("every agent was lost"), "{}", ran.read("log.txt"));
}

/// Each agent hands over what it has and leaves. Nothing is lost, and yet it is not the whole test.
#[test]
fn agents_that_all_leave_are_no_result() {
    let server = testkit::http::start();
    let running = start_four(&server, "");
    for pid in running.children() {
        kill_process(pid, Signal::TERM).expect("it runs");
    }
    let ran = running.wait().exits(255);
    let log = ran.read("log.txt");
    assert!(log.contains("every agent left before the end of the test"), "{log}");
    assert_eq!((ran.count("http_reqs"), seen(&server, "/torn/down")), (server.settled().total, 1));
}

/// An agent that stands still is suspect, and its windows count once it goes on.
#[test]
fn an_agent_that_stood_still_hands_over_what_it_has() {
    let server = testkit::http::start();
    let running = plimsoll(NUMBERED)
        .against(&server)
        .env("SECRET_WORD", "x")
        .env("FOR", "9s")
        .flags("--agents 3 --log-output=file=log.txt")
        .start();
    eventually("load", || server.seen().total > 100);
    let agent = running.children()[2];
    kill_process(agent, Signal::STOP).expect("it runs");
    eventually("a suspect", || log_of(&running).contains("has not been heard"));
    kill_process(agent, Signal::CONT).expect("it runs");
    let ran = running.wait().exits(0);
    assert!(ran.read("log.txt").contains("is heard again"), "{}", ran.read("log.txt"));
    assert_eq!(ran.count("http_reqs"), server.settled().total, "sent = seen");
    assert_eq!(ran.count("iterations") + ran.count("dropped_iterations"), 901);
}

/// A load test never runs without someone who could end it.
#[test]
fn agents_of_a_dead_hub_stop() {
    let server = testkit::http::start();
    let running = plimsoll(NUMBERED)
        .against(&server)
        .env("SECRET_WORD", "x")
        .env("FOR", "60s")
        .flags("--agents 2")
        .start();
    eventually("load", || server.seen().total > 100);
    let agents = running.children();
    assert_eq!(agents.len(), 2);
    running.signal(Signal::KILL);
    let died = SystemClock::now();
    let mut last = (server.seen().total, died);
    while SystemClock::now().since(died) < Duration::from_secs(12) {
        std::thread::sleep(Duration::from_millis(100));
        let total = server.seen().total;
        if total != last.0 {
            last = (total, SystemClock::now());
        }
    }
    let load = last.1.since(died);
    assert!(load < Duration::from_secs(10), "load went on for {load:?}");
    let ran = running.wait();
    // The run file holds what the hub had, as an interrupted run.
    let list = ran.and("runs --json").run().exits(0).out.clone();
    assert!(list.contains("partial") || list.contains("live"), "{list}");
    eventually("the agents exit", || !agents.iter().any(|pid| is_alive(*pid)));
}

#[test]
fn agents_join_from_elsewhere_over_tls() {
    let server = testkit::http::start();
    let port = free_port();
    let running = plimsoll(NUMBERED)
        .against(&server)
        .env("SECRET_WORD", "x")
        .flags("--agents 2 --token-file token --log-output=file=log.txt")
        .flags(&format!("--agents-listen 127.0.0.1:{port}"))
        .start();
    let token = running.folder().join("token");
    eventually("a token file", || std::fs::read_to_string(&token).is_ok_and(|text| text.ends_with('\n')));
    let text = std::fs::read_to_string(&token).expect("written");
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&token).expect("a file").permissions());
    assert_eq!(mode & 0o777, 0o600, "for its owner alone");
    let join = format!("agent --hub 127.0.0.1:{port} --token-file");
    // The token of another run, and another certificate.
    let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    words[1] = "0".repeat(64);
    std::fs::write(running.folder().join("wrong"), words.join(" ")).expect("written");
    let refused = running.and(&format!("{join} wrong")).run();
    assert_ne!(refused.code, Some(0));
    assert!(refused.err.contains("the token is not this run's"), "{}", refused.err);
    let agents: Vec<Running> =
        ["a", "b"].map(|name| running.and(&format!("{join} token --name {name}")).start()).into();
    for agent in agents {
        agent.wait().exits(0);
    }
    let ran = running.wait().exits(0);
    assert_eq!((ran.count("iterations"), ran.count("http_reqs")), (201, server.settled().total));
    assert!(!token.exists(), "the token file is gone");
}

#[test]
fn mistakes_are_refused_with_the_next_step() {
    let script = "export const options = { vus: 3, duration: '1s' }; export default () => {};";
    let check = |flags: &str, code: i32, says: &str| {
        plimsoll(script).flags(flags).run().exits(code).says(says);
    };
    check("--agents 4", 104, "use --agents 3 or more VUs");
    check("--agents 2 --execution-segment 0:1/2", 104, "--agents splits the test itself");
    check("--agents 2 --agents-min 3", 104, "invalid --agents-min 3");
    check("--agents 2 --allow-host 127.0.0.1", 104, "agents do not have these limits");
    check("--agents 2 --arm-timeout soon", 104, "failed to read --arm-timeout");
    check("--agents 2 --agents-listen here --token-file t", 104, "expected IP:PORT");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("bound");
    let flags = format!("--agents 2 --agents-listen {address} --token-file t");
    check(&flags, 106, "another hub or program listens there");
    let flags = format!("--agents 2 --agents-listen 127.0.0.1:{} --token-file script.js", free_port());
    check(&flags, 104, "the file exists and is something else");
    let flags = format!(
        "--agents 2 --agents-min 1 --arm-timeout 1s --agents-listen 127.0.0.1:{} --token-file t",
        free_port()
    );
    check(&flags, 255, "0 of 2 agents were ready after 1 s");
    verb("agent --hub https://secret@h:1 --token-file t")
        .run()
        .exits(104)
        .says("a token belongs in --token-file");
    verb("agent --hub 127.0.0.1:1").run().exits(104).says("no token");
    verb("agent --hub 127.0.0.1:1 --token-file t")
        .file("t", "x")
        .run()
        .exits(104)
        .says("it is no token file");
}

/// An exception in the init code of VUs, which only agents run with a VU number.
#[test]
fn a_test_that_cannot_begin_says_why() {
    let script =
        "if (__VU > 0) throw new Error('not here'); export const options = { vus: 2, iterations: 2 };
        export default () => {};";
    let ran = plimsoll(script).flags("--agents 2").run().exits(107);
    assert!(ran.err.contains("not here"), "{}", ran.err);
}

/// A process of this machine that ends before the start is not waited for.
#[test]
fn an_agent_that_ends_before_the_start_ends_the_run() {
    let script = "import { sleep } from 'k6'; export const options = { vus: 2, iterations: 2 };
        export function setup() { sleep(60); } export default () => {};";
    let running = plimsoll(script).flags("--agents 2").start();
    eventually("agents", || running.children().len() == 2);
    std::thread::sleep(Duration::from_secs(1));
    for agent in running.children() {
        kill_process(agent, Signal::KILL).expect("it runs");
    }
    let ran = running.wait();
    assert!(ran.code != Some(0) && ran.elapsed < Duration::from_secs(20), "{:?}: {}", ran.elapsed, ran.err);
    assert!(ran.err.contains("its process ended"), "{}", ran.err);
}

/// The address and the token of a hub whose agents run on this machine, as its first agent got them.
fn hub_of(running: &Running) -> (String, Token) {
    eventually("an agent", || !running.children().is_empty());
    let pid = running.children()[0].as_raw_nonzero();
    let words = |file: &str| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
        text.split('\0').map(str::to_owned).collect::<Vec<String>>()
    };
    let of_variable = |words: Vec<String>| {
        words.into_iter().find_map(|word| word.strip_prefix("PLIMSOLL_AGENT_TOKEN=").map(str::to_owned))
    };
    let of_flag = |words: Vec<String>| {
        let at = words.iter().position(|word| word == "--hub")?;
        words.get(at + 1).cloned()
    };
    // The process is a copy of the hub's until it has begun.
    eventually("its arguments", || {
        of_flag(words("cmdline")).is_some() && of_variable(words("environ")).is_some()
    });
    let token = of_variable(words("environ")).expect("a token");
    (of_flag(words("cmdline")).expect("an address"), Token::parse(&token).expect("a token"))
}

/// Says hello to a hub, and returns its answer.
fn greet(address: &str, hello: Hello) -> Option<Body> {
    let frame = Frame { number: 0, received: 0, body: Some(Body::Hello(hello)) };
    let mut stream = std::net::TcpStream::connect(address).expect("a hub");
    stream.set_read_timeout(Some(Duration::from_secs(5))).expect("a socket");
    stream.write_all(&fleet::codec::encode(&frame).expect("a frame")).expect("sent");
    let mut bytes = BytesMut::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some(frame) = fleet::codec::decode(&mut bytes).expect("frames") {
            return frame.body;
        }
        match stream.read(&mut buffer) {
            Ok(count) if count > 0 => bytes.extend_from_slice(&buffer[..count]),
            _ => return None,
        }
    }
}

#[test]
fn an_agent_of_another_version_or_without_a_place_is_refused() {
    let script = "import { sleep } from 'k6'; export const options = { vus: 2, duration: '4s' };
        export default () => sleep(0.1);";
    let running = plimsoll(script).flags("--agents 2 --log-output=file=log.txt").start();
    let (address, token) = hub_of(&running);
    let hello = |version: &str, secret: &[u8]| Hello {
        protocol: fleet::message::PROTOCOL,
        version: version.to_owned(),
        token: secret.to_vec().into(),
        session: 7,
        received: 0,
        name: "stranger".to_owned(),
        cores: 1,
        ticket: 0,
    };
    let own = env!("CARGO_PKG_VERSION");
    let check = |hello: Hello, says: &[&str]| {
        let Some(Body::Refused(why)) = greet(&address, hello) else { panic!("it is not refused") };
        assert!(says.iter().all(|says| why.contains(says)), "{why}");
    };
    check(hello("9.9.9", &token.secret), &["9.9.9", own, "install the same version on both"]);
    check(hello("9.9.9", b"guess"), &["the token is not this run's"]);
    let old = Hello { protocol: 1, ..hello(own, &token.secret) };
    check(old, &["protocol 1", &format!("protocol {}", fleet::message::PROTOCOL)]);
    eventually("the start", || log_of(&running).contains("2 agents started within"));
    check(hello(own, &token.secret), &["no load is without an agent"]);
    running.wait().exits(0);
}

/// A function that only init code may call fails on agents as it does without them.
#[test]
fn open_at_run_time_fails_as_on_one_machine() {
    let script = "export const options = { vus: 2, iterations: 2 }; export default () => { open('x.txt'); };";
    let codes = ["--log-output=stderr", "--agents 2 --log-output=stderr"].map(|flags| {
        let ran = plimsoll(script).flags(flags).run();
        let says = "function is only available in the init stage";
        assert_eq!(ran.err.matches(says).count(), 2, "{flags}: {}", ran.err);
        assert!(ran.err.contains("all 2 iterations ended in an exception"), "{flags}: {}", ran.err);
        ran.code
    });
    assert!(codes[0] == codes[1] && codes[0] != Some(0), "{codes:?}");
}

/// The agents that the file of a run holds.
fn stored_agents(ran: &Ran, run: &str) -> Vec<runfile::AgentRow> {
    let name = run.replace('@', "at-");
    ran.and(&format!("export {run} --format plimsoll -o {name}.plimsoll")).run().exits(0);
    let reader = runfile::Reader::open(&ran.folder().join(format!("{name}.plimsoll"))).expect("a run");
    reader.header().agents.clone()
}

/// The work of each agent, and the state of its machine, are in the run's file, its report and its page.
#[test]
fn the_file_of_a_run_names_its_agents() {
    let server = testkit::http::start();
    let ran = plimsoll(NUMBERED)
        .against(&server)
        .env("SECRET_WORD", "x")
        .env("FOR", "3s")
        .flags("--agents 3")
        .run()
        .exits(0);
    let agents = stored_agents(&ran, "@last");
    let sum = |of: fn(&runfile::AgentRow) -> u64| agents.iter().map(of).sum::<u64>();
    assert_eq!((agents.len(), sum(|it| it.due), sum(|it| it.finished)), (3, 301, 301), "{agents:?}");
    let parts: BTreeSet<u32> = agents.iter().map(|agent| agent.part).collect();
    assert_eq!(parts, (0..3).collect());
    for agent in &agents {
        assert_eq!((agent.state.as_str(), agent.parts, agent.lost_ns), ("ended", 3, None), "{agent:?}");
        let known = [
            agent.late_ns.is_some(),
            agent.offset_ns.is_some(),
            agent.uncertainty_ns.is_some_and(|ns| ns > 0),
            agent.lateness_p99_ms.is_some(),
            agent.cpu_max.is_some_and(|cpu| cpu > 0.0),
            agent.requests > 190,
        ];
        assert_eq!(known, [true; 6], "{agent:?}");
    }
    let text = ran.and("report @last --format md").run().exits(0).out.clone();
    assert!(text.contains("local-2") && text.contains("33.33"), "{text}");
}

/// Runs a command of several runs with two agents, each of which has them in its file.
#[track_caller]
fn runs_on_two_agents(words: &str, least: usize) -> Ran {
    let server = testkit::http::start();
    let script = "import http from 'k6/http'; import { sleep } from 'k6';
        export const options = { vus: 4, duration: '1s' };
        export default () => { http.get(`${__ENV.URL}/json`); sleep(0.05); };";
    let ran = verb(words).file("script.js", script).against(&server).run();
    let list = ran.and("runs --json").run().exits(0).out.clone();
    let list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
    let ids = list.as_array().into_iter().flatten().filter_map(|run| Some(run["id"].as_str()?.to_owned()));
    let ids: Vec<String> = ids.collect();
    assert!(ids.len() >= least, "{words}: {ids:?} {}", ran.err);
    for id in ids.iter().take(least) {
        assert_eq!(stored_agents(&ran, id).len(), 2, "{words}");
    }
    ran
}

#[test]
fn repeated_runs_use_agents() {
    runs_on_two_agents("run --agents 2 --repeat 2 --despite-no-steady-part script.js", 2);
}

#[test]
fn alternating_runs_use_agents() {
    let words = "run --agents 2 --interleave A=1 --repeat 1 --despite-no-steady-part --series ab script.js";
    runs_on_two_agents(words, 2).prints("run 2 of 2 (B): ");
}

#[test]
fn a_sweep_uses_agents_of_this_machine() {
    let slo = "--slo http_req_duration:avg<5000";
    runs_on_two_agents(&format!("sweep script.js --agents 2 --vus 4 --hold 1s --warm-up 1s {slo}"), 1);
    let words =
        "sweep script.js --agents 2 --agents-listen 127.0.0.1:7000 --token-file t --vus 4 --slo a:p(95)<1";
    verb(words)
        .file("script.js", "export default () => {};")
        .run()
        .exits(104)
        .says("leave at the end of each step");
}

#[test]
fn a_search_for_capacity_uses_agents() {
    let words = "capacity script.js --agents 2 --from 4 --to 4 --warm-up 1s --step-min 1s --step-max 1s --hold 0s \
                 --budget 10s --slo http_req_duration:avg<5000";
    runs_on_two_agents(words, 1);
}

/// CPU time of a process so far, seconds; `None` once it has ended.
fn cpu_s(pid: u32) -> Option<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    // Fields 14 and 15 of proc(5), in clock ticks, which are hundredths of a second on Linux.
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

#[test]
#[ignore = "prints figures: cargo test -p plimsoll --test front_door fifty_agents -- --ignored --nocapture"]
fn fifty_agents_print_their_figures() {
    let script = "
        import http from 'k6/http'; import { Counter } from 'k6/metrics';
        const own = new Counter('own');
        export const options = { scenarios: { load: { executor: 'constant-arrival-rate', rate: 500, timeUnit: '1s',
          duration: '15s', preAllocatedVUs: 100, maxVUs: 100 } } };
        let at = 0;
        export default () => {
          at += 1;
          own.add(1, { n: `${(__VU * 7 + at) % 400}` });
          http.get(`${__ENV.URL}/numbered/${(__VU + at) % 25}`);
        };";
    let server = testkit::http::start();
    let running = plimsoll(script).against(&server).flags("--agents 50 --log-output=file=log.txt").start();
    eventually("load", || server.seen().total > 100);
    let children = running.children();
    let of_first = |field: &str| {
        let status = format!("/proc/{}/status", children[0].as_raw_nonzero());
        let text = std::fs::read_to_string(status).unwrap_or_default();
        text.lines().find_map(|line| line.strip_prefix(field)?.trim().parse::<u32>().ok())
    };
    let hub = of_first("PPid:").expect("it has a parent");
    let (from, before) = (SystemClock::now(), cpu_s(hub).expect("it runs"));
    let watch = std::thread::spawn(move || {
        let mut last = (from, before);
        while let Some(cpu_s) =
            cpu_s(hub).filter(|_| SystemClock::now().since(from) < Duration::from_secs(13))
        {
            last = (SystemClock::now(), cpu_s);
            std::thread::sleep(Duration::from_millis(200));
        }
        last
    });
    let ran = running.wait_for(Duration::from_secs(120)).exits(0);
    let (until, after) = watch.join().expect("no panic");
    let cores = (after - before) / until.since(from).as_secs_f64();
    let agents = stored_agents(&ran, "@last");
    let mut late: Vec<i64> = agents.iter().filter_map(|agent| agent.late_ns).collect();
    late.sort_unstable();
    let sent: u64 = agents.iter().map(|agent| agent.requests).sum();
    let uncertainty_ns = agents.iter().filter_map(|agent| agent.uncertainty_ns).max();
    println!(
        "{} agents: sent {sent}, seen {}, counted {}; started after their due time {:?} ns (median), {:?} ns (p99); largest error \
         of a clock {uncertainty_ns:?} ns; hub {cores:.3} of a core, {:?} KiB",
        agents.len(),
        server.settled().total,
        ran.count("http_reqs"),
        late.get(late.len() / 2),
        late.get(late.len() * 99 / 100),
        ran.resident_max_kib
    );
    assert_eq!((sent, ran.count("http_reqs")), (server.settled().total, server.settled().total));
}
