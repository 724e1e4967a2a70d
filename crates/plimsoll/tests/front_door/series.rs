//! Several runs of one test: repeats, and two alternating sides.

use rustix::process::Signal;
use serde_json::Value;

use crate::harness::{Plimsoll, Ran, eventually, verb};

/// Ten requests to a path from `--env`.
const SHORT: &str = "import http from 'k6/http';
    export const options = { vus: 2, iterations: 10, thresholds: { http_reqs: ['count<11'] } };
    export default () => { if (__ENV.BOOM) throw new Error('boom'); http.get(`${__ENV.URL}${__ENV.AT || '/json'}`); };";

fn run(words: &str, script: &str, server: &testkit::Server) -> Plimsoll {
    verb(&format!("-q run {words}")).file("script.js", script).against(server)
}

/// Returns the stored runs with a tag of this series, the oldest first.
fn runs(ran: &Ran, series: &str) -> Vec<Value> {
    let ran = ran.and(&format!("runs --json --tag series={series}")).run().exits(0);
    let Ok(Value::Array(mut runs)) = serde_json::from_str(&ran.out) else { panic!("{}", ran.out) };
    runs.reverse();
    runs
}

#[test]
fn repeats_are_runs_of_their_own_and_judged_together() {
    let server = testkit::http::start();
    let ran = run("--repeat 3 --series nightly script.js", SHORT, &server).run().exits(0);
    for part in ["run 1 of 3: p50 ", "run 3 of 3: p50 ", "Variance over 3 runs", "p95"] {
        assert!(ran.out.contains(part), "{part} is not in {}", ran.out);
    }
    assert_eq!(server.settled().total, 30);
    let rounds: Vec<String> =
        runs(&ran, "nightly").iter().map(|run| run["tags"]["round"].to_string()).collect();
    assert_eq!(rounds, ["\"1\"", "\"2\"", "\"3\""]);
    // Two more runs; the three existing ones are not repeated.
    let more = ran.and("run --repeat 5 --series nightly script.js").against(&server).run().exits(0);
    more.prints("run 2 of 5").prints("Variance over 5 runs");
    assert_eq!(server.settled().total, 50);
    assert_eq!(runs(&ran, "nightly").len(), 5);
}

#[test]
fn the_worst_run_decides_the_exit_code() {
    let server = testkit::http::start();
    let ran = run("--repeat 2 -i 11 script.js", SHORT, &server).run().exits(99);
    assert_eq!(server.settled().total, 22, "a crossed threshold is no reason not to go on: {}", ran.out);
    ran.prints("Variance over 2 runs");
    let ran = run("--interleave BOOM=1 --repeat 2 --series s script.js", SHORT, &server).run().exits(107);
    let ran = ran.says("run 2 of 4 is the last").says("the next would, too").says("nothing to compare");
    assert_eq!(runs(&ran, "s").len(), 2);
    let wrong = "export const options = { vus: -1 }; export default () => {};";
    run("--repeat 2 script.js", wrong, &server).run().exits(104);
}

/// Each side is long enough for a known median, and the difference exceeds any noise.
#[test]
fn two_sides_take_turns_and_are_compared() {
    let server = testkit::http::start();
    let script = "import http from 'k6/http';
        export const options = { scenarios: { s: { executor: 'constant-arrival-rate', rate: 20, timeUnit: '1s',
            duration: '6s', preAllocatedVUs: 20 } } };
        export default () => http.get(`${__ENV.URL}/delay/${__ENV.MS}`, { tags: { name: '/delay' } });";
    let flags = "-e MS=20 --repeat 2 --quantiles p50 --despite-no-steady-part --series ab";
    let worse = run(&format!("{flags} --interleave MS=200 --fail-on regressed script.js"), script, &server);
    let worse = worse.run().exits(121).prints("regressed").prints("run 4 of 4 (A): ");
    let sides: Vec<String> = runs(&worse, "ab").iter().map(|run| run["tags"]["side"].to_string()).collect();
    assert_eq!(sides, ["\"A\"", "\"B\"", "\"B\"", "\"A\""]);
    // The same runs, judged again: no new runs, and `--fail-on` is not set.
    let total = server.settled().total;
    let words = format!("run {flags} --interleave MS=200 script.js");
    let again = worse.and(&words).against(&server).run().exits(0);
    again.prints("regressed");
    assert_eq!(server.settled().total, total);
}

/// Side A has no traces, whatever variables say; side B has. CPU is compared, too.
#[test]
fn the_cost_of_tracing_is_measured_in_turn() {
    let server = testkit::http::start();
    let script = "import http from 'k6/http'; import { sleep } from 'k6';
        export const options = { vus: 2, duration: '3s' };
        export default () => { http.get(`${__ENV.URL}/json`); sleep(0.05); };";
    let flags =
        "--observer-effect --repeat 1 --despite-no-steady-part --series cost --evidence host=local script.js";
    let ran = run(flags, script, &server).env("PLIMSOLL_TRACE_SAMPLE", "100%").run().exits(0);
    let ran = ran.prints("run 2 of 2 (B): ").prints("Server CPU").prints("host cpu");
    let stored = runs(&ran, "cost");
    let traced: Vec<bool> = stored
        .iter()
        .map(|run| {
            let id = run["id"].as_str().expect("an id");
            ran.and(&format!("export {id} --format plimsoll -o {id}.plimsoll")).run().exits(0);
            let path = ran.folder().join(format!("{id}.plimsoll"));
            let reader = runfile::Reader::open(&path).expect("a run");
            let exemplars = reader.exemplars(0..u32::MAX).expect("exemplars");
            assert!(!exemplars.is_empty());
            exemplars.iter().any(|exemplar| exemplar.trace_id.is_some())
        })
        .collect();
    assert_eq!(traced, [false, true]);
    let none = run("--observer-effect --trace-sample 0 script.js", script, &server).run().exits(104);
    none.says("selects no requests");
}

#[test]
fn another_script_is_a_side_too() {
    let server = testkit::http::start();
    let other = SHORT.replace("/json", "/bytes/7");
    let ran = run("--interleave other.js --repeat 1 --series s script.js", SHORT, &server);
    let ran = ran.file("other.js", &other).run().exits(0).prints("scripts differ");
    let seen = server.settled();
    assert_eq!((seen.for_path("/json"), seen.for_path("/bytes/7")), (10, 10));
    let scripts: Vec<String> = runs(&ran, "s").iter().map(|run| run["script"].to_string()).collect();
    assert_eq!(scripts, ["\"script.js\"", "\"other.js\""]);
}

/// The first signal ends the current run, prevents the next, and compares the completed ones.
#[test]
fn a_signal_ends_the_series_and_not_what_it_measured() {
    let server = testkit::http::start();
    let script = "import http from 'k6/http'; import { sleep } from 'k6';
        export const options = { vus: 1, duration: '2s' };
        export default () => { http.get(`${__ENV.URL}/json`); sleep(0.1); };";
    let words = "--interleave AT=/get --repeat 20 --series s script.js";
    let running = run(words, script, &server).start();
    let under_way = || {
        let listed = running.and("runs --json --tag series=s").run();
        let runs: Vec<Value> = serde_json::from_str(&listed.out).unwrap_or_default();
        runs.len() == 3 && runs.iter().any(|run| run["status"] == "live")
    };
    eventually("the third run", under_way);
    running.signal(Signal::INT);
    let ran = running.wait().exits(105).says("run 3 of 40 is the last").says("it was interrupted");
    let ran = ran.prints("run 2 of 40 (B): ").prints("Within-run only");
    assert_eq!(runs(&ran, "s").len(), 3, "the one that was ended is stored, too");
}

#[test]
fn what_makes_no_sense_for_several_runs_is_refused() {
    let server = testkit::http::start();
    for (words, expect) in [
        ("--repeat 2 --no-store script.js", "--no-store"),
        ("--repeat 2 --summary-export s.json script.js", "would overwrite"),
        ("--repeat 2 --report md=r.md script.js", "would overwrite"),
        ("--repeat 2 --out json=o.json script.js", "would overwrite"),
        ("--repeat 2 --linger script.js", "would never begin"),
        ("--repeat 2 -", "can be read only once"),
        ("--repeat 2 --fail-on regressed script.js", "needs --interleave"),
        ("--interleave a.js --interleave b.js script.js", "the second script"),
        ("--interleave A=1 --margin x script.js", "failed to read --margin"),
    ] {
        let ran = run(words, SHORT, &server).run();
        assert!(matches!(ran.code, Some(104 | 255)), "{words}: {:?}", ran.code);
        ran.says(expect);
    }
    run("--repeat 0 script.js", SHORT, &server).run().exits(255);
    assert_eq!(server.settled().total, 0, "nothing was run");
}
