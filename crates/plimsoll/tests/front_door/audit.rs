//! The auditor on tables and runs.

use serde_json::Value;

use crate::harness::{plimsoll, verb};

const TABLE: &str = "resource,usage,limit\npod,1.84 cores,1 core\n";

#[test]
fn a_table_is_audited() {
    let ran = verb("audit t.csv").file("t.csv", TABLE).run().exits(0);
    assert!(ran.out.contains("usage of 1.84 cores exceeds its limit of 1 cores"), "{}", ran.out);
    assert!(ran.out.contains("Impact:") && ran.out.contains("Remedy:"), "{}", ran.out);
    verb("audit t.csv --fail-on error").file("t.csv", TABLE).run().exits(122);
    let clean = TABLE.replace("1.84", "0.92");
    let ran = verb("audit t.csv --fail-on note").file("t.csv", &clean).run().exits(0);
    assert!(ran.out.contains("no findings in 1 source"), "{}", ran.out);
}

#[test]
fn the_same_findings_in_every_format() {
    let markdown = "| resource | usage | limit |\n|---|---|---|\n| pod | 1.84 cores | 1 core |\n";
    let ran = verb("audit t.md --format json").file("t.md", markdown).run().exits(0);
    let json: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(json["findings"][0]["rule"], "usage-above-limit");
    let ran = verb("audit t.md --lang ko").file("t.md", markdown).run().exits(0);
    let ran = ran.prints("오류 1건").prints("사용량 1.84 cores가 한도 1 cores보다 큽니다");
    assert!(!ran.out.contains("Impact"), "{}", ran.out);
    let ran = verb("audit t.md --format md -o out.md").file("t.md", markdown).run().exits(0);
    assert!(ran.read("out.md").contains("### error: usage-above-limit"), "{}", ran.read("out.md"));
}

#[test]
fn what_cannot_be_read_is_told() {
    verb("audit nowhere.csv").run().exits(255);
    verb("audit").run().exits(255);
    verb("audit t.json").file("t.json", &"[".repeat(100_000)).run().exits(255);
    // An audit without input must not look like one without findings.
    let table = "colour\n\u{1b}[31mred\n";
    let ran = verb("audit t.csv").file("t.csv", table).run().exits(255).says("no known table");
    let ran = ran.says("no kind of table has these columns").says("plimsoll audit --columns");
    assert!(ran.out.is_empty() && !ran.err.contains("\u{1b}[31m"), "{}{}", ran.out, ran.err);
    verb("audit t.md").file("t.md", "# nothing\n").run().exits(255).says("no table found");
    // Beside a valid table it is a remark.
    let both = verb("audit t.csv u.csv").file("t.csv", table).file("u.csv", TABLE).run().exits(0);
    let both =
        both.prints("no kind of table has these columns").prints("usage of 1.84 cores exceeds its limit");
    assert!(!both.out.contains('\u{1b}'), "{}", both.out);
    let ran = verb("audit --columns").run().exits(0);
    assert!(ran.out.contains("### `usages`"), "{}", ran.out);
}

/// A check that always fails while every request succeeds, a threshold without values, and one on a quantile that ten
/// requests cannot support.
#[test]
fn a_run_is_audited() {
    let server = testkit::http::start();
    let script = |thresholds: &str, check: &str| {
        format!(
            "import http from 'k6/http'; import {{ check }} from 'k6'; import {{ Trend }} from 'k6/metrics';
            const unused = new Trend('unused');
            export const options = {{ iterations: 10, thresholds: {{ {thresholds} }} }};
            export default () => check(http.get(`${{__ENV.URL}}/json`), {{ arrived: (r) => {check} }});"
        )
    };
    let rules = |script: &str| {
        let ran = plimsoll(script).against(&server).run();
        let ran = ran.and("audit @last --format json").run().exits(0);
        let json: Value = serde_json::from_str(&ran.out).expect("JSON");
        let findings = json["findings"].as_array().expect("findings").clone();
        findings
            .iter()
            .map(|finding| finding["rule"].as_str().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    let clean = script("http_req_duration: ['avg<60000']", "r.status === 200");
    assert_eq!(rules(&clean), [""; 0]);
    let thresholds = "http_req_duration: ['p(95)<60000'], unused: ['avg<1']";
    let mut found = rules(&script(thresholds, "false"));
    found.sort();
    assert_eq!(found, ["business-zero", "unmeasured-criterion", "unsupported-quantile"]);
}

/// Facts of a run besides thresholds: the closed loop, the requested statistics, and the versions of several runs.
#[test]
fn runs_are_held_to_more_than_their_thresholds() {
    let server = testkit::http::start();
    let script = "import http from 'k6/http'; import { sleep } from 'k6';
        export const options = { vus: 2, duration: '5s', summaryTrendStats: ['avg', 'p(99.9)'],
            thresholds: { http_reqs: ['rate>0'], http_req_duration: ['avg<60000'] } };
        export default () => { http.get(`${__ENV.URL}/json`); sleep(0.1); };";
    let ran = plimsoll(script).against(&server).run().exits(0);
    let audited = ran.and("audit @last").run().exits(0);
    let audited =
        audited.prints("  closed-loop  ").prints("  unsupported-quantile  ").prints("summaryTrendStats");
    assert!(!audited.out.contains("  sources-disagree  ") && !audited.out.contains("  usage-above-limit  "));
    let audited = audited
        .prints("Input: run ")
        .prints("sources-disagree (")
        .prints("Rules without input: wrong-window");
    drop(audited);

    let paced = "import http from 'k6/http';
        export const options = { scenarios: { s: { executor: 'constant-arrival-rate', rate: Number(__ENV.RATE), timeUnit: '1s',
            duration: '1s', preAllocatedVUs: 5 } } };
        export default () => { http.get(`${__ENV.URL}/json`); };";
    let first = plimsoll(paced).against(&server).flags("-e RATE=10 --target-version 1.4").run().exits(0);
    let url = server.url("");
    let again = |flags: &str| {
        let run = first.and("run script.js").env("URL", url.trim_end_matches('/'));
        run.flags(flags).run().exits(0);
    };
    again("-e RATE=40 --target-version 1.4");
    let sweep = first.and("audit @prev @last").run().exits(0);
    assert!(!sweep.out.contains("  unequal-load  "), "loads of one version are to differ: {}", sweep.out);
    again("-e RATE=10 --target-version 1.5");
    first.and("audit @prev @last").run().exits(0).prints("  unequal-load  ").prints("1.5: p95");
}
