//! Results of a run: summary, files, exports.

use crate::harness::{Plimsoll, plimsoll};

fn one_request(server: &testkit::Server) -> Plimsoll {
    let script = "import http from 'k6/http'; import { check } from 'k6';
        export default () => check(http.get(`${__ENV.URL}/json`), { ok: (r) => r.status === 200 });";
    plimsoll(script).against(server)
}

#[test]
fn the_summary_has_the_layout_asked_for() {
    let server = testkit::http::start();
    one_request(&server).run().exits(0).prints("TOTAL RESULTS").prints("✓ ok").prints("http_reqs");
    one_request(&server)
        .flags("--summary-mode full")
        .run()
        .exits(0)
        .prints("TOTAL RESULTS")
        .prints("http_req_waiting");
    one_request(&server)
        .flags("--summary-mode legacy")
        .run()
        .exits(0)
        .prints("✓ ok")
        .prints("http_req_waiting");
    for flags in ["--summary-mode disabled", "--no-summary"] {
        assert_eq!(one_request(&server).flags(flags).run().exits(0).out, "");
    }
    let ran = one_request(&server).env("K6_SUMMARY_MODE", "disabled").run().exits(0);
    assert_eq!(ran.out, "");
}

#[test]
fn the_banner_says_what_will_run() {
    let server = testkit::http::start();
    let ran = one_request(&server).flags("-q=false -u 2 -i 2 --out json=points.json").run().exits(0);
    let ran = ran.prints("script: script.js").prints("output: json (points.json)");
    ran.prints("2 iterations shared among 2 VUs").says("2 complete and 0 interrupted iterations");
}

#[test]
fn the_ending_of_a_reports_file_decides_its_format() {
    let ran = plimsoll("export default () => {};").run().exits(0);
    let written = |flags: &str, name: &str| {
        ran.and(&format!("report @last {flags} -o {name}")).run().exits(0).read(name)
    };
    assert!(written("", "r.html").starts_with("<!doctype html>"));
    assert!(written("", "r.json").starts_with('{'));
    assert!(written("", "r.xml").contains("<testsuite"));
    assert!(written("", "r.txt").contains("validity"));
    assert!(written("--format json", "r.html").starts_with('{'));
}

#[test]
fn strict_summaries_have_the_rows_of_k6_alone() {
    let server = testkit::http::start();
    let ran = one_request(&server).flags("--compat strict").run().exits(0).prints("http_req_duration");
    for own in ["iteration_failed", "response_time", "exact"] {
        assert!(!ran.out.contains(own), "{own} is not in k6: {}", ran.out);
    }
}

#[test]
fn points_are_exported_and_none_is_lost() {
    let server = testkit::http::start();
    let ran = one_request(&server)
        .flags("-u 20 -i 3000 --out json=points.json --out csv=points.csv")
        .run()
        .exits(0);
    let lines = ran.read("points.json");
    let counted =
        lines.lines().filter(|line| line.contains("\"http_reqs\"") && line.contains("\"Point\"")).count();
    assert_eq!(counted, 3000);
    let lines = ran.read("points.csv");
    assert_eq!(lines.lines().filter(|line| line.starts_with("http_reqs,")).count(), 3000);
    assert!(!ran.err.contains("missing"), "{}", ran.err);
}

#[track_caller]
fn handle_summary(body: &str) -> crate::harness::Ran {
    let script = format!("export default () => {{}}; export function handleSummary(data) {{ {body} }}");
    plimsoll(&script).run().exits(0)
}

#[test]
fn scripts_write_their_own_summary() {
    let ran = handle_summary(
        "return { stdout: `n=${data.metrics.iterations.values.count}\\n`, stderr: 'E\\n', 'own.txt': 'file' };",
    );
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("n=1\n", "E\n"));
    assert_eq!(ran.read("own.txt"), "file");
    assert_eq!(handle_summary("return {};").out, "");
    handle_summary("").prints("TOTAL RESULTS");
    handle_summary("throw new Error('mine')").prints("TOTAL RESULTS").says("Error: mine");
    handle_summary("return { 'no/such/folder/x': 'y' };")
        .says("failed to write the summary to no/such/folder/x");
}

#[test]
fn a_summary_that_takes_too_long_falls_back() {
    let script = "import { sleep } from 'k6'; export const options = { handleSummaryTimeout: '300ms' };
        export default () => {}; export function handleSummary() {";
    for body in ["sleep(50)", "for (;;) {}"] {
        let ran = plimsoll(&format!("{script} {body} }}")).run().exits(0).prints("TOTAL RESULTS");
        ran.says("handleSummary() execution timed out after 0.3 seconds");
    }
}

#[test]
fn the_newer_shape_of_json() {
    let server = testkit::http::start();
    let ran = one_request(&server).flags("--new-machine-readable-summary").run().exits(0);
    let summary: serde_json::Value = serde_json::from_str(&ran.read("summary.json")).expect("JSON");
    assert_eq!(summary["version"], "1.0.0");
    assert_eq!(summary["results"]["checks"]["results"][0]["name"], "ok");
}
