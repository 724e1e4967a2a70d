//! The auditor, on tables and on runs.

use serde_json::Value;

use crate::harness::{plimsoll, verb};

const TABLE: &str = "resource,usage,limit\npod,1.84 cores,1 core\n";

#[test]
fn a_table_is_audited() {
    let ran = verb("audit t.csv").file("t.csv", TABLE).run().exits(0);
    assert!(ran.out.contains("1.84 cores is used of a limit of 1 cores"), "{}", ran.out);
    assert!(ran.out.contains("Implies:") && ran.out.contains("Mend:"), "{}", ran.out);
    verb("audit t.csv --fail-on error").file("t.csv", TABLE).run().exits(122);
    let clean = TABLE.replace("1.84", "0.92");
    let ran = verb("audit t.csv --fail-on note").file("t.csv", &clean).run().exits(0);
    assert!(ran.out.contains("nothing found in 1 source"), "{}", ran.out);
}

#[test]
fn the_same_findings_in_every_format() {
    let markdown = "| resource | usage | limit |\n|---|---|---|\n| pod | 1.84 cores | 1 core |\n";
    let ran = verb("audit t.md --format json").file("t.md", markdown).run().exits(0);
    let json: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(json["findings"][0]["rule"], "usage-above-limit");
    let ran = verb("audit t.md --format md -o out.md").file("t.md", markdown).run().exits(0);
    assert!(ran.read("out.md").contains("### error: usage-above-limit"), "{}", ran.read("out.md"));
}

#[test]
fn what_cannot_be_read_is_told() {
    verb("audit nowhere.csv").run().exits(255);
    verb("audit").run().exits(255);
    verb("audit t.json").file("t.json", &"[".repeat(100_000)).run().exits(255);
    let ran = verb("audit t.csv").file("t.csv", "colour\n\u{1b}[31mred\n").run().exits(0);
    assert!(
        ran.out.contains("no kind of table has these columns") && !ran.out.contains('\u{1b}'),
        "{}",
        ran.out
    );
    let ran = verb("audit --columns").run().exits(0);
    assert!(ran.out.contains("### `usages`"), "{}", ran.out);
}

/// A check that never holds while every request succeeds, a threshold that never had a value, and one on a quantile that ten
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
