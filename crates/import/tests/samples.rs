//! Files of samples give the numbers that k6 printed for the same run.

use std::sync::Arc;
use std::time::Duration;

use import::{ImportError, Kind, LATE_SECONDS_MAX, Samples, Survey};
use model::{Aggregate, MetricRegistry, Quantile, TagInterner, Window};
use serde_json::Value;
use tally::{Stat, Thresholds, Totals, View};

const JSON: &[u8] = include_bytes!("../fixtures/k6.json");
const CSV: &[u8] = include_bytes!("../fixtures/k6.csv");
const EXPORT: &str = include_str!("../fixtures/k6-export.json");

struct Imported {
    survey: Survey,
    windows: Vec<Window>,
    registry: Arc<MetricRegistry>,
    tags: Arc<TagInterner>,
}

fn import(kind: Kind, bytes: &[u8]) -> Result<Imported, ImportError> {
    let (registry, tags) = (Arc::<MetricRegistry>::default(), Arc::<TagInterner>::default());
    // A small buffer puts its seams everywhere.
    let reader = || std::io::BufReader::with_capacity(61, bytes);
    let survey = Survey::read(kind, &mut reader(), &registry)?;
    let mut second = reader();
    let windows: Result<Vec<Window>, _> =
        Samples::new(kind, &mut second, &survey, registry.clone(), tags.clone())?.collect();
    Ok(Imported { windows: windows?, survey, registry, tags })
}

fn imported(kind: Kind, bytes: &[u8]) -> Imported {
    import(kind, bytes).unwrap_or_else(|error| panic!("failed to {error}"))
}

impl Imported {
    fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.survey.ended_unix_ns.abs_diff(self.survey.started_unix_ns))
    }

    fn view(&self) -> View {
        let thresholds =
            Thresholds::parse(&self.survey.thresholds, &self.registry).expect("k6 accepted them");
        let mut totals = Totals::new(self.registry.clone(), self.tags.clone(), thresholds);
        self.windows.iter().for_each(|window| totals.absorb(window));
        totals.evaluate_at_end(self.elapsed());
        totals.view(self.elapsed())
    }

    fn gap(&self, part: &str) -> bool {
        self.survey.gaps.iter().any(|gap| gap.contains(part))
    }
}

fn number(aggregate: &Aggregate, stat: &str, elapsed: Duration) -> Option<f64> {
    match Stat::parse(stat)?.read(aggregate, elapsed)? {
        Quantile::Value(value) => Some(value),
        _ => None,
    }
}

/// Every figure of every metric of k6's own summary of the run.
#[track_caller]
fn check_against_export(run: &Imported, is_custom_known: bool) {
    let export: Value = serde_json::from_str(EXPORT).expect("JSON");
    let (view, elapsed) = (run.view(), run.elapsed());
    let mut compared = 0;
    for (name, expect) in export["metrics"].as_object().expect("metrics") {
        let parent = name.split('{').next().expect("a name");
        if name.contains("{name:")
            || !is_custom_known && ["orders", "stock", "won", "think_time"].contains(&parent)
        {
            continue;
        }
        let metric = view.metric(parent).unwrap_or_else(|| panic!("{name} is missing"));
        let aggregate = match metric.sub_metrics.iter().find(|sub| &sub.name == name) {
            Some(sub) => &sub.aggregate,
            None => &metric.aggregate,
        };
        for (stat, expect) in expect.as_object().expect("statistics") {
            let Some(expect) = expect.as_f64() else { continue };
            let (actual, tolerance) = match (aggregate, stat.as_str()) {
                (Aggregate::Rate(rate), "passes") => (rate.passes as f64, 0.0),
                (Aggregate::Rate(rate), "fails") => ((rate.total - rate.passes) as f64, 0.0),
                (Aggregate::Rate(rate), "value") => (rate.rate().unwrap_or(0.0), 0.0),
                // k6 does not write the duration of the run, and its CSV has whole seconds.
                (Aggregate::Counter(_), "rate") if !is_custom_known => continue,
                (Aggregate::Counter(_), "rate") => (number(aggregate, stat, elapsed).unwrap_or(-1.0), 0.05),
                _ => (number(aggregate, stat, elapsed).unwrap_or(f64::NAN), 1e-13),
            };
            assert!(
                (actual - expect).abs() <= tolerance * expect.abs(),
                "{name} {stat}: {actual}, not {expect}"
            );
            compared += 1;
        }
    }
    assert!(compared > 70, "only {compared} figures were compared");
}

#[test]
fn json_gives_k6s_figures() {
    let run = imported(Kind::K6Json, JSON);
    check_against_export(&run, true);
    assert_eq!(run.survey.flaws.count(), 0);
    assert_eq!(run.survey.scenarios, ["default"]);
    assert!(run.gap("http_req_duration{name:index}"), "{:?}", run.survey.gaps);
    let view = run.view();
    let verdicts: Vec<(String, bool)> = view
        .metrics
        .iter()
        .flat_map(|metric| &metric.thresholds)
        .map(|result| (format!("{} {}", result.selector, result.source), result.ok))
        .collect();
    let expect = [
        ("checks rate>0.5", true),
        ("http_req_duration p(95)<500", true),
        ("http_req_duration avg<200", true),
        ("won rate>0.9", false),
    ];
    assert_eq!(verdicts, expect.map(|(text, ok)| (text.to_owned(), ok)));
}

#[test]
fn csv_gives_k6s_figures() {
    let run = imported(Kind::K6Csv, CSV);
    check_against_export(&run, false);
    assert!(run.gap("`orders`") && run.gap("whole seconds"), "{:?}", run.survey.gaps);
    // What is no metric of k6's own is kept whole, whatever it was.
    let orders = run.view().metric("orders").and_then(|metric| metric.stat("avg"));
    assert_eq!(orders, Some(Quantile::Value(2.5)));
}

#[test]
fn groups_checks_and_errors_are_there() {
    for (kind, bytes) in [(Kind::K6Json, JSON), (Kind::K6Csv, CSV)] {
        let run = imported(kind, bytes);
        let view = run.view();
        let checks: Vec<String> = view
            .checks
            .iter()
            .map(|check| format!("{} {}/{}", check.path, check.passes, check.fails))
            .collect();
        let expect = [
            "::shop::cart, \"quoted\"::status is 200 60/0",
            "::shop::cart, \"quoted\"::never 21/39",
            "::shop::always 60/0",
        ];
        assert_eq!(checks, expect, "{kind}");
        let errors: Vec<_> = run.windows.iter().flat_map(|window| &window.errors).collect();
        assert_eq!(errors.iter().map(|error| error.count).sum::<u64>(), 6, "{kind}");
        assert_eq!((errors[0].code, &*errors[0].message), (1212, "dial: connection refused"));
        assert_eq!(&*errors[0].example, "http://127.0.0.1:1/refused");
        let odd = (0..run.tags.len() as u32)
            .filter(|id| run.tags.get(model::TagSetId(*id)).get("odd") == Some("a,b=c & \"d\""));
        assert!(odd.count() > 0, "{kind}");
    }
}

fn point(second: i64, value: &str) -> String {
    let time = format!("2026-11-21T19:{:02}:{:02}Z", second / 60, second % 60);
    format!(
        r#"{{"metric":"http_reqs","type":"Point","data":{{"time":"{time}","value":{value},"tags":{{}}}}}}"#
    )
}

fn counts(run: &Imported) -> Vec<(u32, u64)> {
    let count = |window: &Window| match &window.series[..] {
        [(_, Aggregate::Counter(counter))] => counter.count,
        other => panic!("one counter, not {other:?}"),
    };
    run.windows.iter().map(|window| (window.index, count(window))).collect()
}

#[test]
fn seconds_are_told_apart_and_late_samples_are_not_lost() {
    let lines = |seconds: &[i64]| seconds.iter().map(|second| point(*second, "1") + "\n").collect::<String>();
    let run = imported(Kind::K6Json, lines(&[0, 0, 2, 1, 5, 2]).as_bytes());
    assert_eq!(counts(&run), [(0, 2), (1, 1), (2, 2), (5, 1)]);
    assert!(!run.gap("younger"));
    assert!(run.windows.iter().all(|window| window.end > window.start));

    let run = imported(Kind::K6Json, lines(&[0, 30, 3, 31]).as_bytes());
    assert_eq!(counts(&run), [(0, 1), (30 - LATE_SECONDS_MAX as u32, 1), (30, 1), (31, 1)]);
    assert!(run.gap("1 sample came more than 10 s after younger ones"), "{:?}", run.survey.gaps);
}

/// Good lines around a bad one: the good ones count, and the bad one is named.
#[track_caller]
fn check_flaw(bad: &str, expect: &str) {
    let text = format!("\u{feff}{}\r\n\r\n{bad}\r\n{}\r\n", point(0, "1"), point(1, "2"));
    let run = imported(Kind::K6Json, text.as_bytes());
    assert_eq!(counts(&run), [(0, 1), (1, 1)], "{expect}");
    let first = run.survey.flaws.first().unwrap_or_default();
    assert!(first.starts_with("line 3: ") && first.contains(expect), "{first} does not say {expect}");
    assert_eq!(run.survey.flaws.count(), 1);
}

#[test]
fn broken_lines_are_named() {
    check_flaw("nonsense", "not a line of k6's JSON output");
    check_flaw(&point(0, "1")[..40], "it ends in the middle");
    check_flaw(&point(0, "NaN"), "not a line of k6's JSON output");
    check_flaw(&point(0, "1e999"), "not a line of k6's JSON output");
    check_flaw(&point(0, "-1"), "less than nothing");
    check_flaw(&point(0, "1").replace("2026", "1970"), "more than a month");
    check_flaw(&point(0, "1").replace("2026", "20260"), "its time is none");
    check_flaw(&point(0, "1").replace("Point", "Pint"), "neither a metric nor a sample");
    check_flaw(&format!("{}{}", point(0, "1"), "x".repeat(2 << 20)), "longer than 1 MiB");
    check_flaw(&format!("{}1", "[".repeat(100_000)), "not a line of k6's JSON output");
    let odd = r#"{"type":"Metric","data":{"type":"sum","contains":"x"},"metric":"m"}"#;
    check_flaw(odd, "unknown kind");
}

#[test]
fn a_metric_that_is_something_else_here_is_left_out() {
    let declared = r#"{"type":"Metric","data":{"name":"iteration_failed","type":"counter","contains":"default"},"metric":"iteration_failed"}"#;
    let sample = point(0, "1").replace("http_reqs", "iteration_failed");
    let run = imported(Kind::K6Json, format!("{declared}\n{}\n{sample}\n", point(0, "1")).as_bytes());
    assert_eq!(counts(&run), [(0, 1)]);
    assert!(run.gap("`iteration_failed`") && run.survey.flaws.count() == 1, "{:?}", run.survey.gaps);
}

#[test]
fn nothing_is_not_imported() {
    for (kind, text) in [
        (Kind::K6Json, ""),
        (Kind::K6Json, "{}\n{}\n"),
        (Kind::K6Json, "metric_name,timestamp,metric_value\n"),
        (Kind::K6Csv, ""),
        (Kind::K6Csv, "metric_name,timestamp,metric_value\n"),
        (Kind::K6Csv, "metric_name,timestamp,metric_value\nx,never,1\n"),
    ] {
        let error = import(kind, text.as_bytes()).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.starts_with("find anything of k6-"), "{error:?} of {text:?}");
    }
}

/// Cutting a file anywhere leaves what was whole, and never panics.
#[test]
fn files_may_end_anywhere() {
    for (kind, bytes) in [(Kind::K6Json, &JSON[..6000]), (Kind::K6Csv, &CSV[..3000])] {
        let whole = import(kind, bytes).map_or(0, |run| run.survey.samples);
        for end in (0..bytes.len()).step_by(7) {
            if let Ok(run) = import(kind, &bytes[..end]) {
                assert!(run.survey.samples <= whole && run.survey.flaws.count() <= 1);
            }
        }
    }
}
