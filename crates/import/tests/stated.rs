//! Summaries give the figures that stand in them.

use import::{Stated, read_summary, read_text};
use model::{MetricKind, ValueKind};
use serde_json::Value;

const EXPORT: &str = include_str!("../fixtures/k6-export.json");
const HANDLE: &str = include_str!("../fixtures/k6-handle.json");
const MACHINE: &str = include_str!("../fixtures/k6-machine.json");
const COMPACT: &str = include_str!("../fixtures/k6-compact.txt");
const FULL: &str = include_str!("../fixtures/k6-full.txt");
const UNIT: &str = include_str!("../fixtures/k6-unit.txt");
const LEGACY: &str = include_str!("../fixtures/k6-legacy.txt");

fn summary(text: &str) -> Stated {
    read_summary(text).unwrap_or_else(|error| panic!("failed to {error}"))
}

fn text(text: &str) -> Vec<Stated> {
    read_text(text).unwrap_or_else(|error| panic!("failed to {error}"))
}

fn value(stated: &Stated, metric: &str, stat: &str) -> Option<f64> {
    stated.metrics.iter().find(|one| one.name == metric)?.value(stat)
}

fn thresholds(stated: &Stated) -> Vec<String> {
    let of = |metric: &import::StatedMetric| {
        let name = metric.name.clone();
        let one = move |one: &import::StatedThreshold| {
            format!(
                "{name} {} {} {}",
                one.source,
                if one.ok { "held" } else { "crossed" },
                one.observed.is_some()
            )
        };
        metric.thresholds.iter().map(one).collect::<Vec<_>>()
    };
    let mut all: Vec<String> = stated.metrics.iter().flat_map(of).collect();
    all.sort();
    all
}

const THRESHOLDS: [&str; 5] = [
    "checks rate>0.5 held true",
    "http_req_duration avg<200 held true",
    "http_req_duration p(95)<500 held true",
    "http_req_duration{name:index} max<900 held true",
    "won rate>0.9 crossed true",
];

fn checks(stated: &Stated) -> Vec<String> {
    stated
        .checks
        .iter()
        .map(|one| format!("{}::{} {}/{}", one.group, one.name, one.passes, one.fails))
        .collect()
}

#[test]
fn every_shape_of_json_is_read() {
    let groups = [
        "::shop::always 60/0",
        "::shop::cart, \"quoted\"::never 21/39",
        "::shop::cart, \"quoted\"::status is 200 60/0",
    ];
    for json in [EXPORT, HANDLE] {
        let stated = summary(json);
        let mut found = checks(&stated);
        found.sort();
        assert_eq!(found, groups);
        assert_eq!(thresholds(&stated), THRESHOLDS);
        assert_eq!(value(&stated, "checks", "passes"), Some(141.0));
        assert_eq!(value(&stated, "stock", "min"), Some(81.0));
        assert_eq!(stated.metrics.len(), 22, "{:?}", stated.metrics);
    }
    let document: Value = serde_json::from_str(HANDLE).expect("JSON");
    let ms = document["state"]["testRunDurationMs"].as_f64().expect("a length");
    let elapsed = |json: &str| summary(json).elapsed.expect("a length").as_secs_f64() * 1e3;
    assert!((elapsed(HANDLE) - ms).abs() < 1e-3);
    let worked_out = 67.0 / value(&summary(EXPORT), "http_reqs", "rate").expect("a rate") * 1e3;
    assert!((elapsed(EXPORT) - worked_out).abs() < 1e-3);
    let machine = summary(MACHINE);
    assert_eq!(checks(&machine), ["::status is 200 60/0", "::never 21/39", "::always 60/0"]);
    assert_eq!(value(&machine, "page_size", "p(95)"), Some(24.049999999999997));
    assert_eq!(value(&machine, "checks", "total"), Some(180.0));
    assert!((value(&machine, "http_reqs", "rate").expect("a rate") - 67.0 / 0.471283447).abs() < 1e-9);
}

/// The text is rounded; what it says must be what the JSON of the same run says.
#[test]
fn text_says_what_the_json_of_the_same_run_says() {
    let (printed, exact) = (text(COMPACT), summary(EXPORT));
    let [printed] = &printed[..] else { panic!("one summary, not {}", printed.len()) };
    assert_eq!(printed.script, "t.js");
    assert_eq!(printed.elapsed.map(|elapsed| elapsed.as_millis()), Some(500));
    assert_eq!(thresholds(printed), THRESHOLDS);
    assert_eq!(checks(printed), ["::never 21/39"], "the others have no counts");
    let held: Vec<&str> = printed.figures.iter().map(|figure| figure.name.as_str()).collect();
    assert_eq!(
        held,
        ["complete iterations", "interrupted iterations", "check: status is 200", "check: always"]
    );
    let mut compared = 0;
    for metric in &printed.metrics {
        let other = exact.metrics.iter().find(|other| other.name == metric.name).expect("the same metrics");
        assert_eq!(metric.kind, other.kind, "{}", metric.name);
        for (stat, value) in &metric.values {
            let expect = other.value(stat).expect("the same statistics");
            let tolerance = if metric.contains == ValueKind::Data { 0.05 } else { 0.006 };
            assert!(
                (value - expect).abs() <= tolerance * expect,
                "{} {stat}: {value}, {expect}",
                metric.name
            );
            compared += 1;
        }
    }
    assert!(compared > 50, "only {compared} figures were compared");
}

#[test]
fn other_layouts_of_v2_are_read() {
    let full = text(FULL);
    assert_eq!((full.len(), full[0].metrics.len()), (1, 21));
    assert_eq!(value(&full[0], "http_req_blocked", "avg"), Some(0.32543));
    assert_eq!(value(&full[0], "http_reqs", "count"), Some(67.0));
    assert!(full[0].gaps.iter().any(|gap| gap.contains("single scenarios and groups")), "{:?}", full[0].gaps);
    let unit = &text(UNIT)[0];
    assert_eq!(value(unit, "http_req_duration", "p(99.9)"), Some(22.18));
    assert_eq!(value(unit, "think_time", "count"), Some(60.0));
}

#[test]
fn three_summaries_of_the_layout_before_are_read() {
    let all = text(LEGACY);
    let check = |number: usize, metric: &str, stat: &str, expect: f64| {
        assert_eq!(value(&all[number], metric, stat), Some(expect), "{metric} {stat} of {number}");
    };
    assert_eq!(all.len(), 3);
    assert_eq!(all.iter().map(|one| one.script.as_str()).collect::<Vec<_>>(), ["load.js", "stress.js", ""]);
    let seconds: Vec<f64> = all.iter().map(|one| one.elapsed.expect("a length").as_secs_f64()).collect();
    assert_eq!(seconds, [603.4, 785.4, 404.4]);
    check(0, "data_received", "count", 682e6);
    check(0, "http_req_duration", "p(95)", 136.51);
    check(0, "http_req_duration{expected_response:true}", "max", 652.76);
    check(0, "http_req_failed", "total", 132_197.0);
    check(0, "http_reqs", "rate", 219.098265);
    check(1, "http_req_blocked", "avg", 0.2032);
    check(1, "vus_max", "value", 1200.0);
    check(2, "http_req_failed", "passes", 5852.0);
    check(2, "http_req_failed", "total", 137_723.0);
    check(2, "http_req_duration", "max", 60_000.0);
    check(2, "iteration_duration", "max", 111_000.0);
    let figure = |number: usize, place: usize| {
        (all[number].figures[place].name.as_str(), all[number].figures[place].value)
    };
    assert_eq!(
        (figure(2, 0), figure(2, 1)),
        (("complete iterations", 37_396.0), ("interrupted iterations", 264.0))
    );
    for one in &all {
        assert_eq!(one.metrics.len(), 16, "{:?}", one.metrics);
        assert!(one.gaps[0].contains("no seconds, no histograms"), "{:?}", one.gaps);
    }
}

#[test]
fn checks_groups_and_marks_of_the_layout_before_are_read() {
    const TEXT: &str = "
     ✗ is up
      ↳  50% — ✓ 5 / ✗ 5

     █ shop

       ✓ has a cart

       █ till

         ✗ takes cards
          ↳  90% — ✓ 9 / ✗ 1

     checks.........................: 80.00% ✓ 24       ✗ 6
   ✗ http_req_duration..............: avg=25.73ms p(95)=136.51ms
     ✓ { expected_response:true }...: avg=20ms p(95)=100ms
     http_reqs......................: 10 1/s
";
    let coloured = TEXT.replace("avg=", "\u{1b}[36mavg=\u{1b}[0m");
    for text_ in [TEXT.to_owned(), TEXT.replace('\n', "\r\n"), coloured] {
        let all = text(&text_);
        let [stated] = &all[..] else { panic!("one summary, not {}", all.len()) };
        assert_eq!(
            checks(stated),
            ["::is up 5/5", "::shop::till::takes cards 9/1", "::shop::has a cart 10/0"]
        );
        assert_eq!(
            thresholds(stated),
            [
                "http_req_duration (conditions are not in the source) crossed false",
                "http_req_duration{expected_response:true} (conditions are not in the source) held false"
            ]
        );
        assert_eq!(stated.elapsed.map(|elapsed| elapsed.as_secs()), Some(10));
    }
}

#[test]
fn impossible_figures_are_left_out_and_named() {
    let json = r#"{"metrics": {"http_reqs": {"count": -5, "rate": 1}, "iterations": {"count": 6, "rate": 2},
        "won": {"passes": 1, "fails": -3, "value": 1}, "odd": [1], "empty": {}, "words": {"avg": "1"},
        "x": {"avg": null, "min": 1}},
        "root_group": {"checks": {"a": {"name": "a", "passes": 18446744073709551615, "fails": 1}}}}"#;
    let stated = summary(json);
    let names: Vec<&str> = stated.metrics.iter().map(|metric| metric.name.as_str()).collect();
    assert_eq!((names, checks(&stated).len()), (vec!["iterations", "x"], 0));
    let gaps = stated.gaps.join("\n");
    assert!(gaps.contains("`http_reqs` is left out") && gaps.contains("`won` is left out"), "{gaps}");
    assert!(gaps.contains("4 metrics or checks could not be read"), "{gaps}");
    assert_eq!(stated.metrics[1].kind, MetricKind::Trend);
    assert_eq!(stated.elapsed.map(|elapsed| elapsed.as_secs()), Some(3));
}

#[test]
fn what_is_no_summary_is_refused() {
    for json in [
        "",
        "[]",
        "{}",
        "1",
        "{\"metrics\": {}}",
        "{\"metrics\": 1}",
        "{\"version\": 1, \"results\": {}}",
        &"[".repeat(100_000)[..],
    ] {
        assert!(read_summary(json).is_err(), "{}", &json[..json.len().min(40)]);
    }
    for words in ["", "hello", "http_reqs: 5", "✓ only a check", "\u{1b}[", "█", "...: 1 1/s"] {
        assert!(read_text(words).is_err(), "{words}");
    }
}

/// Cutting a text anywhere, or a byte out of it, never panics.
#[test]
fn texts_may_end_anywhere() {
    for whole in [COMPACT, FULL, LEGACY] {
        for (end, _) in whole.char_indices().step_by(13) {
            let _ = read_text(&whole[..end]);
            let _ = read_text(&whole[end..]);
        }
    }
    for (end, _) in HANDLE.char_indices().step_by(101) {
        assert!(read_summary(&HANDLE[..end]).is_err());
    }
}
