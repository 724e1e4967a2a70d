//! Results of other tools: imported, and shown with their caveats.

use std::io::Write;

use serde_json::Value;

use crate::harness::{Ran, plimsoll, verb};

const JSON: &str = include_str!("../../../import/fixtures/k6.json");
const CSV: &str = include_str!("../../../import/fixtures/k6.csv");
const EXPORT: &str = include_str!("../../../import/fixtures/k6-export.json");
const LEGACY: &str = include_str!("../../../import/fixtures/k6-legacy.txt");
const PODS: [&str; 2] = [
    include_str!("../../../import/fixtures/ngrinder-pods-1.csv"),
    include_str!("../../../import/fixtures/ngrinder-pods-2.csv"),
];

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.out))
}

fn reports(ran: &Ran, run: &str) -> Value {
    json(&ran.and("report --format json").word(run).run().exits(0))
}

#[test]
fn samples_become_a_run_that_says_where_it_is_from() {
    for (name, text, kind) in [("k6.json", JSON, "k6-json"), ("k6.csv", CSV, "k6-csv")] {
        let ran = verb("import --name before").word(name).file(name, text).run().exits(0);
        let ran = ran.says(&format!("taken for {kind}")).says("plimsoll show ");
        let shown = ran.and("show @last").run().exits(0);
        let shown = shown.prints(&format!("IMPORTED from {kind} ({name})"));
        let shown = shown.prints("avg=2.07ms").prints("max=12.53ms").prints("p(95)=4ms").prints(" exact");
        assert!(!shown.out.contains("closed loop"), "it is unknown: {}", shown.out);

        let report = reports(&ran, "@last");
        assert_eq!(report["run"]["imported"]["source"], kind);
        assert_eq!(report["run"]["imported"]["isStartKnown"], true);
        assert_eq!(report["outcome"], Value::Null, "its process was not seen");
        assert_eq!(report["environment"], Value::Array(vec![]));
        let endpoints = report["endpoints"].as_array().expect("a list");
        let refused = endpoints.iter().find(|one| one["name"] == "http://127.0.0.1:1/refused");
        assert_eq!(refused.map(|one| &one["failed"]), Some(&6.into()));
        assert_eq!(report["errors"][0]["code"], 1212);

        let markdown = ran.and("report @last --format md").run().exits(0);
        let markdown = markdown.prints(&format!("Imported from `{kind}` (`{name}`)"));
        assert!(!markdown.out.contains("Nothing was lost"), "{}", markdown.out);
        ran.and("report @last --format md --lang ko").run().exits(0).prints("가져온 결과입니다");
        ran.and("report @last --format junit").run().exits(0);

        let listed = json(&ran.and("runs --json").run().exits(0));
        assert_eq!((&listed[0]["status"], &listed[0]["imported"]), (&"imported".into(), &kind.into()));
        assert_eq!(listed[0].get("exit_code"), None);
        assert!(
            listed[0]["started"].as_str().is_some_and(|at| at.starts_with("2026-11-21T19:05:4")),
            "{listed}"
        );
        let rows = ran.and("export @last --format csv").run().exits(0).out.clone();
        assert!(rows.lines().count() > 10, "{rows}");
        ran.and("merge @last @last").run().exits(255).says("was imported");
    }
}

#[test]
fn thresholds_that_k6_wrote_are_judged_again() {
    let ran = verb("import k6-json k6.json -o run.plimsoll").file("k6.json", JSON).run().exits(0);
    let report = reports(&ran, "run.plimsoll");
    assert_eq!(report["verdict"]["verdict"], "fail");
    let of = |metric: &str| {
        report["thresholds"].as_array().expect("a list").iter().filter(|one| one["metric"] == metric).count()
    };
    assert_eq!((of("won"), of("http_req_duration"), of("checks")), (1, 2, 1));
    // An existing file is never overwritten, and its run stays complete.
    ran.and("import k6-json k6.json -o run.plimsoll").run().exits(255).says("it exists already");
    ran.and("show run.plimsoll").run().exits(0);
}

#[test]
fn our_own_samples_come_back_as_the_run_that_made_them() {
    let script = "import { Trend, Counter } from 'k6/metrics';
        const [size, hits] = [new Trend('size'), new Counter('hits')];
        export default () => { for (let i = 0; i < 2000; i++) { size.add(i * i / 7 + __ITER); hits.add(2); } }";
    let ran = plimsoll(script).flags("-i 3 --out json=all.json").run().exits(0);
    let row = |ran: &Ran, name: &str| {
        let line = ran.out.lines().find(|line| line.trim().starts_with(&format!("{name}.")));
        line.map(|line| line.split_once(": ").expect("a colon").1.trim().to_owned())
    };
    ran.and("import all.json").run().exits(0);
    let shown = ran.and("show @last").run().exits(0);
    assert!(row(&ran, "size").is_some_and(|row| row.contains("±0.1 %")), "{}", ran.out);
    assert_eq!(row(&shown, "size"), row(&ran, "size"));
    assert_eq!(
        row(&shown, "hits").map(|row| row.split(' ').next().map(str::to_owned)),
        row(&ran, "hits").map(|row| row.split(' ').next().map(str::to_owned))
    );
}

#[test]
fn compressed_files_are_read_and_cut_ones_told() {
    let ran = verb("version").run().exits(0);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(JSON.as_bytes()).expect("memory takes everything");
    let bytes = encoder.finish().expect("memory takes everything");
    std::fs::write(ran.folder().join("whole.gz"), &bytes).expect("a file for the test");
    std::fs::write(ran.folder().join("cut.gz"), &bytes[..bytes.len() / 2]).expect("a file for the test");
    ran.and("import whole.gz").run().exits(0).says("taken for k6-json");
    ran.and("show @last").run().exits(0).prints("max=12.53ms");
    // Both began at the same moment, so neither is the latest.
    let cut = ran.and("import cut.gz -o cut.plimsoll").run().exits(0);
    cut.says("the file ends in the middle of its compressed data");
    ran.and("show cut.plimsoll").run().exits(0).prints("the file ends in the middle of its compressed data");
}

#[test]
fn a_summary_has_no_seconds_and_says_so() {
    let ran = verb("import s.json").file("s.json", EXPORT).run().exits(0).says("taken for k6-summary");
    let shown = ran.and("show").run().exits(0);
    let shown = shown.prints("no seconds, no histograms").prints("✓ 'p(95)<500' p(95)=4ms").prints("won");
    assert!(!shown.out.contains(" exact"), "it is unknown: {}", shown.out);
    let report = reports(&ran, "@last");
    assert_eq!(report["run"]["imported"]["isStartKnown"], false);
    let export: Value = serde_json::from_str(EXPORT).expect("JSON");
    let metrics = report["metrics"].as_array().expect("a list");
    let duration = metrics.iter().find(|metric| metric["name"] == "http_req_duration").expect("it is there");
    assert_eq!(duration["values"]["p(95)"]["value"], export["metrics"]["http_req_duration"]["p(95)"]);
    let listed = json(&ran.and("runs --json").run().exits(0));
    assert_eq!(listed[0].get("started"), None);
    ran.and("runs").run().exits(0).prints("unknown");
    let exported = ran.and("export @last --format csv").run().exits(0).says("it has no one-second data");
    assert!(exported.out.lines().count() <= 1, "{}", exported.out);
    ran.and("show @last --window 0s..5s").run().exits(255).says("it has 0 seconds");

    ran.and("import s.json --started 2026-01-02T03:04:05Z").run().exits(0);
    let listed = json(&ran.and("runs --json").run().exits(0));
    let started: Vec<&str> =
        listed.as_array().expect("a list").iter().filter_map(|run| run["started"].as_str()).collect();
    assert_eq!(started, ["2026-01-02T03:04:05Z"]);
}

#[test]
fn each_summary_of_a_text_is_a_run() {
    let ran = verb("import page.txt").file("page.txt", LEGACY).run().exits(0).says("taken for k6-text");
    let listed = json(&ran.and("runs --json").run().exits(0));
    let mut scripts: Vec<&str> =
        listed.as_array().expect("a list").iter().filter_map(|run| run["script"].as_str()).collect();
    scripts.sort_unstable();
    assert_eq!(scripts, ["", "load.js", "stress.js"]);
    let spike =
        listed.as_array().expect("a list").iter().find(|run| run["script"] == "").expect("it is there");
    let shown =
        ran.and("show --summary-mode full").word(spike["id"].as_str().expect("a text")).run().exits(0);
    let shown = shown
        .prints("http_req_failed")
        .prints("4.24%")
        .prints("5852 out of 137723")
        .prints("interrupted iterations");
    shown.prints("max=1m0s").prints("rounded as k6 printed them");
    ran.and("import page.txt -o one.plimsoll").run().exits(255).says("leave --output out");
}

#[test]
fn rows_of_means_are_called_that() {
    let import = verb("import ngrinder one.csv two.csv").file("one.csv", PODS[0]).file("two.csv", PODS[1]);
    let ran = import
        .run()
        .exits(0)
        .prints("MTTFB p95")
        .prints("1322.11 ms")
        .prints("-27.49 % better")
        .prints("-61.62 % worse");
    let shown = ran.and("show @last").run().exits(0);
    let shown = shown.prints("percentiles are of 1s means, not of requests").prints("ngrinder_mttfb_mean_1s");
    shown.prints("reached or exceeded in 95 % of the intervals");
    let figures = reports(&ran, "@last")["run"]["imported"]["figures"].clone();
    assert!(figures.as_array().is_some_and(|all| all.len() == 16), "{figures}");
    ran.and("report @last").run().exits(0).prints("Source figures");
}

#[test]
fn what_cannot_be_imported_is_told_and_leaves_nothing() {
    let ran = verb("import odd.txt").file("odd.txt", "hello\n").run().exits(255).says("specify one of");
    ran.and("import k6-json odd.txt").run().exits(255).says("find anything of k6-json");
    ran.and("import k6-csv odd.txt").run().exits(255).says("metric_name");
    ran.and("import k6-summary odd.txt").run().exits(255).says("JSON");
    ran.and("import ngrinder odd.txt").run().exits(255).says("DateTime");
    ran.and("import k6-text odd.txt").run().exits(255).says("no line of it");
    ran.and("import nowhere.json").run().exits(255).says("nowhere.json");
    ran.and("import k6-json").run().exits(255).says("no file given");
    ran.and("import .").run().exits(255).says("directory");
    assert_eq!(json(&ran.and("runs --json").run().exits(0)), Value::Array(vec![]));
}
