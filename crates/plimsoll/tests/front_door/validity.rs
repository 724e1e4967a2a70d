//! Validity of a run: shown first, the same everywhere, and required by a flag.

use serde_json::Value;

use crate::harness::{Plimsoll, Ran, plimsoll};

/// Starts requests at a planned rate, long enough to be judged.
fn paced(server: &testkit::Server) -> Plimsoll {
    let script = "import http from 'k6/http';
        export const options = { scenarios: { paced: { executor: 'constant-arrival-rate', rate: 20,
            timeUnit: '1s', duration: '3s', preAllocatedVUs: 5 } } };
        export default () => http.get(`${__ENV.URL}/get`);";
    plimsoll(script).against(server)
}

fn first_line(ran: &Ran) -> String {
    let first = ran.out.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    first.trim().strip_prefix("validity: ").unwrap_or_else(|| panic!("no validity: {}", ran.out)).to_owned()
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.out))
}

#[test]
fn every_surface_says_the_same_first() {
    let server = testkit::http::start();
    let ran = paced(&server).run().exits(0);
    let line = first_line(&ran);
    assert!(!line.starts_with("NOT MEASURED"), "the kernel reports all readings: {line}");
    assert_eq!(first_line(&ran.and("show @last").run().exits(0)), line);
    let markdown = ran.and("report @last --format md").run().exits(0).out.clone();
    assert!(markdown.starts_with(&format!("**validity: {line}**")), "{markdown}");
    let korean = ran.and("report @last --format md --lang ko").run().exits(0).out.clone();
    assert!(korean.starts_with("**유효성: "), "{korean}");
    let report = json(&ran.and("report @last --format json").run().exits(0));
    assert_eq!(report["validity"]["line"], line.as_str());
    let junit = ran.and("report @last --format junit").run().exits(0).out.clone();
    assert!(junit.contains("the measurement is valid"), "{junit}");
}

#[test]
fn what_is_too_short_was_not_measured() {
    let server = testkit::http::start();
    let script = "import http from 'k6/http'; export default () => http.get(`${__ENV.URL}/get`);";
    let ran = plimsoll(script).against(&server).run().exits(0);
    assert!(first_line(&ran).starts_with("NOT MEASURED"), "{}", ran.out);
    let ran = plimsoll(script).against(&server).flags("--require-valid").run().exits(120);
    assert!(ran.err.contains("the measurement is not valid: NOT MEASURED"), "{}", ran.err);
    let report = json(&ran.and("report @last --format json").run().exits(0));
    assert_eq!(report["outcome"]["exitCode"], 120);
}

#[test]
fn k6s_summary_has_no_such_line() {
    let server = testkit::http::start();
    let script = "import http from 'k6/http'; export default () => http.get(`${__ENV.URL}/get`);";
    let ran = plimsoll(script).against(&server).flags("--compat strict").run().exits(0);
    assert!(!ran.out.contains("validity"), "{}", ran.out);
}

/// A VU without think time keeps its thread busy all the time.
#[test]
fn a_generator_at_its_limit_is_reported() {
    let script = "export const options = { vus: 1, duration: '3s' };
        export default () => { const until = Date.now() + 5; while (Date.now() < until); };";
    let ran = plimsoll(script).flags("--require-valid").run().exits(120);
    let line = first_line(&ran);
    // On a crowded machine the thread waits for a core instead of using it.
    let is_named = line.contains("worker thread used") || line.contains("waited for a core");
    assert!(line.starts_with("INVALID") && is_named, "{line}");
}

#[test]
fn a_part_is_judged_by_itself() {
    let server = testkit::http::start();
    let ran = paced(&server).run().exits(0);
    let report = ran.and("show @last --window 1s..").run().exits(0);
    assert!(report.out.contains("validity: "), "{}", report.out);
}
