//! Calibration of the generator: against a minimal server, and against itself in two processes.

use serde_json::Value;

use crate::harness::{Ran, verb};

const SCRIPT: &str = "import http from 'k6/http';
    export default () => http.get(`${__ENV.URL}/json`);";

/// Number of attempts: other tests may occupy all cores for seconds, but not for so many attempts.
const TRIES: usize = 10;

/// The rate is low, so that every machine sustains it and cores stay free for other tests.
#[test]
fn what_a_machine_can_send_is_kept_with_its_runs() {
    let calibrate =
        || verb("calibrate --time 1s --rate-max 20 --workers 1 --json").file("script.js", SCRIPT).run();
    let is_too_busy = |ran: &Ran| ran.err.contains("find a sustainable rate");
    let mut tries = std::iter::repeat_with(calibrate).take(TRIES);
    let ran =
        tries.find(|ran| !is_too_busy(ran)).expect("twenty iterations a second can start in time").exits(0);
    let found: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(found["workers"], 1, "{found}");
    let rate = found["ratePerSecond"].as_u64().expect("a rate");
    assert!((1..=21).contains(&rate), "{found}");
    // A busy machine sustains less, and then knows its maximum.
    assert!(rate >= 19 || found["isLowerBound"] == false, "{found}");
    assert!(
        found["cpuPerRequestNs"].as_u64().is_some_and(|ns| ns > 0),
        "the kernel reports CPU time: {found}"
    );

    let server = testkit::http::start();
    let environment = |flags: &str| {
        let run = ran.and("run script.js -i 3").against(&server);
        run.flags(flags).run().exits(0);
        let report: Value =
            serde_json::from_str(&ran.and("report @last --format json").run().exits(0).out).expect("JSON");
        report["environment"].to_string()
    };
    let same = environment("--workers 1");
    assert!(same.contains("generator capacity") && same.contains(" requests/s on schedule"), "{same}");
    let other = environment("--workers 2");
    assert!(!other.contains("generator capacity"), "another number of workers is another generator: {other}");
}

#[test]
fn what_cannot_be_measured_is_told() {
    verb("calibrate --time 1h").run().exits(255).says("failed to read --time");
    verb("calibrate --rate-max 0").run().exits(255).says("--rate-max");
}

/// Every round runs the whole test twice: in one process and in two.
#[test]
fn a_split_test_makes_the_same_load_in_one_process_and_in_two() {
    let server = testkit::http::start();
    let ran = verb("split-test --rounds 2 script.js -u 2 -i 20").file("script.js", SCRIPT).against(&server);
    // These variables of the user's environment must be ignored: without files there is nothing to compare, and both halves would
    // use one port.
    let ran = ran.env("K6_NO_STORE", "true").env("K6_ADDRESS", "localhost:0").run().exits(0);
    assert_eq!(server.settled().for_path("/json"), 80, "{}", ran.out);
    let ran = ran.prints("round 1: p50 from one process").prints("round 2: p95 from one process");
    let verdicts = ["the load generator is not the bottleneck", "the load generator is the bottleneck: "];
    assert!(verdicts.iter().any(|verdict| ran.out.contains(verdict)), "{}", ran.out);
    let left = ran.and("runs --json").run().exits(0);
    assert_eq!(left.out.trim(), "[]", "its runs are thrown away");
}

#[test]
fn a_split_test_that_fails_says_so() {
    let ran = verb("split-test --rounds 2 -- -i 2 script.js").file("script.js", "throw new Error('boom')");
    ran.run().exits(255).says("boom").says("failed to make a part of the test");
    let ran = verb("split-test nowhere.js").run().exits(255);
    ran.says("nowhere.js");
    let ran = verb("split-test script.js").file("script.js", "import http from 'k6/http';");
    ran.run().exits(255);
}
