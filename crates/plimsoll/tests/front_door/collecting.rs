//! Evidence without a load: a time range becomes a run that every report shows.

use std::time::Duration;

use serde_json::Value;

use crate::harness::{Plimsoll, eventually, verb};
use crate::lab::get;

/// Long enough for several scrapes by Prometheus.
const SCRAPED: Duration = Duration::from_secs(3);

fn collect(words: &str, address: &str) -> Plimsoll {
    let project = format!("[evidence.prometheus]\naddress = \"{address}\"\nquery.targets_up = \"up\"\n");
    verb(&format!("collect {words}")).file("plimsoll.toml", &project)
}

#[test]
fn a_time_becomes_a_run_without_requests() {
    let server = lab::PROMETHEUS;
    if !server.is_installed() {
        assert!(std::env::var_os("PLIMSOLL_TESTS").is_none(), "{} is not installed", server.name());
        eprintln!("skipped: {} is not installed, so nothing is collected", server.name());
        return;
    }
    let lab = lab::Alone::start(&[server]).unwrap_or_else(|error| panic!("failed to {error}"));
    let address = lab.url("prometheus");
    eventually("a scrape", || get(&format!("{address}/api/v1/query?query=up")).1.contains("__name__"));
    std::thread::sleep(SCRAPED);
    let ran = collect("--from -10s --name quiet", &address).run().exits(0);
    let ran = ran.says("prometheus: ").says("run: ").says("plimsoll report");

    let listed: Vec<Value> =
        serde_json::from_str(&ran.and("runs --json").run().exits(0).out).expect("a list of runs");
    let [run] = &listed[..] else { panic!("one run: {listed:?}") };
    assert_eq!((&run["imported"], &run["name"]), (&"evidence".into(), &"quiet".into()), "{run}");

    ran.and("show @last").run().exits(0).prints("IMPORTED from evidence (prometheus)");
    let markdown = ran.and("report @last --format md").run().exits(0);
    let markdown = markdown.prints("Imported from `evidence` (`prometheus`)").prints("no load was made");
    assert!(markdown.out.contains("<pre>up [start="), "{}", markdown.out);
    ran.and("report @last --format md --lang ko").run().exits(0).prints("가져온 결과입니다");
    let html = ran.and("report @last --format html").run().exits(0).out.clone();
    let (_, data) = html.split_once("id=\"plimsoll-data\">").expect("the data");
    let (data, _) = data.split_once("</script>").expect("its end");
    let data: Value = serde_json::from_str(data).expect("JSON");
    let answers = data["answers"].as_object().expect("answers");
    let (_, evidence) = answers.iter().find(|(path, _)| path.ends_with("/evidence")).expect("its answer");
    assert_eq!(evidence["lanes"][0]["signals"][0], "targets_up", "{evidence}");
    let source = &evidence["sources"][0];
    assert_eq!((&source["kind"], &source["health"]), (&"prometheus".into(), &"ok".into()), "{source}");

    // Evidence can be added to such a run, as to any other.
    ran.and("collect @last").run().exits(0).says("prometheus: ");
}

#[test]
fn what_cannot_be_collected_is_told_and_leaves_no_run() {
    for (words, code, expect) in [
        ("--from -10s", 255, "no source answered"),
        ("--from yesterday", 104, "2026-11-21T19:05:46Z, or -15m"),
        ("--from 2099-01-01T00:00:00Z", 104, "is shorter than a second"),
        ("--from -10s --to 2099-01-01T00:00:00Z", 104, "--to is in the future"),
        ("--from -25h", 104, "longer than 24 hours"),
        ("@last --from -10s", 255, "cannot be used with"),
        ("--to -10s", 255, "--from"),
        ("", 255, "RUN"),
    ] {
        let ran = collect(words, "http://127.0.0.1:9").run().exits(code).says(expect);
        let listed = ran.and("runs --json").run().exits(0).out.clone();
        assert_eq!(listed.trim(), "[]", "{words}");
    }
    verb("collect --from -10s").run().exits(104).says("no source is named");
}
