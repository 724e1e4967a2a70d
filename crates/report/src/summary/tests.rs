//! Summaries against what k6 printed for the same numbers, and what Plimsoll adds.

use std::time::Duration;

use model::plan::{Compat, SummaryOptions, TimeUnit};
use model::{MetricKind, ValueKind};
use serde_json::{Value, json};

use super::*;

macro_rules! golden {
    ($name:literal) => {
        (
            include_str!(concat!("../../golden/", $name, ".json")),
            include_str!(concat!("../../golden/", $name, ".txt")),
        )
    };
}

/// The numbers k6 had, and what it printed.
type Golden = (&'static str, &'static str);

#[track_caller]
fn check(golden: Golden, layout: Layout, time_unit: Option<TimeUnit>) {
    check_styled(golden, layout, time_unit, Style::PLAIN);
}

#[track_caller]
fn check_styled(golden: Golden, layout: Layout, time_unit: Option<TimeUnit>, style: Style) {
    let json: Value = serde_json::from_str(golden.0).expect("a golden file is JSON");
    let options = Options { layout, style, time_unit, compat: Compat::Strict };
    let actual = render(&input(&json["input"]), &options);
    // k6 separates the summary from what follows on the terminal; how many blank lines are around it is no part of it.
    let lines =
        |text: &str| text.trim_start_matches('\n').trim_end().lines().map(str::to_owned).collect::<Vec<_>>();
    let (actual, expect) = (lines(&actual), lines(golden.1));
    for (number, (actual, expect)) in actual.iter().zip(&expect).enumerate() {
        assert_eq!(actual, expect, "line {}", number + 1);
    }
    assert_eq!(actual.len(), expect.len());
}

#[test]
fn compact_is_what_k6_prints() {
    check(golden!("compact_a"), Layout::Compact, None);
    check(golden!("compact_b"), Layout::Compact, None);
    check(golden!("compact_c"), Layout::Compact, Some(TimeUnit::Milliseconds));
    check(golden!("compact_nothing"), Layout::Compact, None);
}

#[test]
fn legacy_is_what_k6_printed() {
    check(golden!("legacy_a"), Layout::Legacy, None);
    check(golden!("legacy_b"), Layout::Legacy, None);
    check(golden!("legacy_c"), Layout::Legacy, Some(TimeUnit::Milliseconds));
    check(golden!("legacy_nothing"), Layout::Legacy, None);
}

#[test]
fn full_is_what_k6_prints() {
    check(golden!("full_a"), Layout::Full, None);
    check(golden!("full_b"), Layout::Full, None);
    check(golden!("full_c"), Layout::Full, None);
}

#[track_caller]
fn check_json(golden: Golden, time_unit: Option<TimeUnit>) {
    let json: Value = serde_json::from_str(golden.0).expect("a golden file is JSON");
    let mut input = input(&json["input"]);
    input.setup_data = json["data"].get("setup_data").cloned();
    let trend_stats = strings(&json["input"]["stats"]);
    let options = SummaryOptions { trend_stats, time_unit };
    let facts = RunFacts {
        options: &options,
        no_color: false,
        stdout_is_terminal: false,
        stderr_is_terminal: false,
        compat: Compat::Strict,
    };
    let data = serde_json::to_value(handle_summary_data(&input, &facts)).expect("a summary has a form");
    assert_same(&data, &json["data"], "data");
    let export = serde_json::to_value(export(&input, Compat::Strict)).expect("a summary has a form");
    assert_same(&export, &json["export"], "export");
}

/// Names the first place where two documents differ.
#[track_caller]
fn assert_same(actual: &Value, expect: &Value, place: &str) {
    let (Value::Object(ours), Value::Object(theirs)) = (actual, expect) else {
        assert_eq!(actual, expect, "{place}");
        return;
    };
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>(), "{place}");
    for (key, value) in ours {
        assert_same(value, &theirs[key], &format!("{place}.{key}"));
    }
}

#[test]
fn json_is_what_k6_writes() {
    check_json(golden!("compact_a"), None);
    check_json(golden!("compact_b"), None);
    check_json(golden!("compact_c"), Some(TimeUnit::Milliseconds));
    check_json(golden!("compact_nothing"), None);
}

#[test]
fn the_machine_readable_form_is_k6s() {
    let json: Value = serde_json::from_str(include_str!("../../golden/machine.json")).expect("JSON");
    let results = &json["results"];
    let mut metrics: Vec<MetricSummary> =
        results["metrics"].as_array().expect("metrics").iter().map(machine_metric).collect();
    let passes = 26;
    metrics.push(metric("checks", ValueKind::Default, Values::Rate { passes, total: 34 }));
    let checks = results["checks"]["results"].as_array().expect("checks").iter().map(check_of).collect();
    let run_duration = Duration::from_secs_f64(json["config"]["duration"].as_f64().expect("seconds"));
    let input = SummaryInput { run_duration, metrics, checks, ..SummaryInput::default() };
    let generated_at = json["metadata"]["generated_at"].as_str().expect("a time").to_owned();
    let actual = machine_summary(&input, Layout::Full, Compat::Strict, "the script", generated_at);
    assert_same(&serde_json::to_value(actual).expect("a summary has a form"), &json, "machine");
}

fn machine_metric(json: &Value) -> MetricSummary {
    let mut json = json.clone();
    let renamed = |(key, value): (&String, &Value)| {
        let key =
            if key.starts_with('p') && key != "passes" { format!("p({})", &key[1..]) } else { key.clone() };
        (key, value.clone())
    };
    json["values"] = json["values"].as_object().expect("values").iter().map(renamed).collect();
    if json["type"] == "rate" {
        let (matches, total) = (json["values"]["matches"].as_u64(), json["values"]["total"].as_u64());
        json["values"] =
            json!({"passes": matches, "fails": total.zip(matches).map(|(total, passes)| total - passes)});
    }
    let stats = ["avg", "max", "med", "min", "p(90)", "p(95)"].map(String::from);
    metric_of(&json, &stats)
}

/// A summary of one trend that failed in part, a closed trend, and the generator's own delay.
fn honest() -> SummaryInput {
    let trend = |stats: &[(&str, Statistic)], exact| Values::Trend {
        stats: stats.iter().map(|(name, statistic)| ((*name).to_owned(), *statistic)).collect(),
        exact: Some(exact),
        untimed: 0,
    };
    let cut = Statistic::AtLeast(1234.5, "dropped");
    let mut duration = metric(
        "http_req_duration",
        ValueKind::Time,
        trend(
            &[
                ("med", Statistic::Number(12.5)),
                ("p(90)", cut),
                ("p(95)", Statistic::AtLeast(60_000.0, "timeout")),
                ("max", Statistic::Failed),
            ],
            false,
        ),
    );
    duration.thresholds = vec![ThresholdSummary {
        source: "p(95)<500".into(),
        ok: false,
        observed: ("p(95)".into(), Statistic::AtLeast(60_000.0, "timeout")),
    }];
    let metrics = vec![
        duration,
        metric("http_req_response_time", ValueKind::Time, Values::NotApplicable("closed loop")),
        metric(
            "iteration_lateness",
            ValueKind::Time,
            trend(
                &[
                    ("med", Statistic::Number(0.2)),
                    ("p(90)", Statistic::Number(0.3)),
                    ("p(95)", Statistic::Number(0.4)),
                    ("max", Statistic::Number(0.5)),
                ],
                true,
            ),
        ),
        metric("http_req_looking_up", ValueKind::Time, trend(&[("med", Statistic::Number(1.0))], true)),
    ];
    SummaryInput { run_duration: Duration::from_secs(2), metrics, ..SummaryInput::default() }
}

#[test]
fn failures_are_said_in_words() {
    let expect = r"
  █ THRESHOLDS 

    http_req_duration
    ✗ 'p(95)<500' p(95)=≥ 60 s (timeout)


  █ TOTAL RESULTS 

    HTTP
    http_req_duration........: med=12.5ms p(90)=≥ 1.23 s (dropped) p(95)=≥ 60 s (timeout) max=failed ±0.1 %
    http_req_response_time...: n/a: closed loop

    EXECUTION
    iteration_lateness.......: med=200µs  p(90)=300µs p(95)=400µs max=500µs  exact

";
    assert_eq!(render(&honest(), &Options::default()), expect);
}

#[test]
fn strict_has_k6s_rows_alone() {
    let strict = render(&honest(), &Options { compat: Compat::Strict, ..Options::default() });
    for own in ["response_time", "lateness", "looking_up", "exact", "±"] {
        assert!(!strict.contains(own), "{own}");
    }
    assert!(strict.contains("http_req_duration"));
}

#[test]
fn sockets_are_no_metrics_of_our_own() {
    let mut input = honest();
    let sessions = Values::Counter { count: 2.0, rate: 1.0 };
    input.metrics.push(metric("ws_sessions", ValueKind::Default, sessions));
    assert!(
        render(&input, &Options { compat: Compat::Strict, ..Options::default() }).contains("ws_sessions")
    );
}

#[test]
fn name_resolution_is_shown_where_a_threshold_asks_for_it() {
    let mut input = honest();
    assert!(!render(&input, &Options::default()).contains("http_req_looking_up"));
    input.metrics[3].thresholds = vec![ThresholdSummary {
        source: "med<5".into(),
        ok: true,
        observed: ("med".into(), Statistic::Number(1.0)),
    }];
    assert!(render(&input, &Options::default()).contains("http_req_looking_up......: med=1ms"));
}

#[test]
fn bounds_stay_numbers_in_json_with_words_beside() {
    let export = serde_json::to_value(export(&honest(), Compat::Honest)).expect("a summary has a form");
    let expect = json!({
        "med": 12.5, "p(90)": 1234.5, "p(95)": 60000, "max": null,
        "thresholds": {"p(95)<500": true},
        "censored": {"p(90)": "≥ 1.23 s (dropped)", "p(95)": "≥ 60 s (timeout)", "max": "failed"},
    });
    assert_same(&export["metrics"]["http_req_duration"], &expect, "http_req_duration");
    assert_eq!(export["metrics"].get("http_req_response_time"), None);
}

#[test]
fn what_cannot_be_measured_is_said_where_a_threshold_asks_for_it() {
    let mut input = honest();
    input.metrics[1].thresholds = vec![ThresholdSummary {
        source: "p(95)<500".into(),
        ok: false,
        observed: ("p(95)".into(), Statistic::NotApplicable("closed loop")),
    }];
    let text = render(&input, &Options::default());
    assert!(text.contains("    ✗ 'p(95)<500' p(95)=n/a: closed loop\n"), "{text}");
    let export = serde_json::to_value(export(&input, Compat::Honest)).expect("a summary has a form");
    let expect = json!({"thresholds": {"p(95)<500": true}});
    assert_same(&export["metrics"]["http_req_response_time"], &expect, "http_req_response_time");
}

#[test]
fn a_mean_says_what_it_leaves_out() {
    let row = |avg| {
        let stats = vec![("avg".to_owned(), avg), ("max".to_owned(), Statistic::Failed)];
        let values = Values::Trend { stats, exact: Some(true), untimed: 3 };
        let metrics = vec![metric("http_req_duration", ValueKind::Time, values)];
        let text = render(&SummaryInput { metrics, ..SummaryInput::default() }, &Options::default());
        text.lines().find(|line| line.contains("http_req")).map(str::trim).map(str::to_owned)
    };
    let expect = |row: &str| Some(format!("http_req_duration...: {row}"));
    assert_eq!(row(Statistic::Number(5.0)), expect("avg=5ms max=failed exact, avg without 3 failed"));
    assert_eq!(row(Statistic::Failed), expect("avg=failed max=failed exact"));
}

#[test]
fn failed_iterations_have_a_row_where_there_were_some() {
    #[track_caller]
    fn check(passes: u64, has_threshold: bool, expect: bool) {
        let mut failed = metric("iteration_failed", ValueKind::Default, Values::Rate { passes, total: 9 });
        let observed = ("rate".into(), Statistic::Number(0.0));
        let threshold = ThresholdSummary { source: "rate<1".into(), ok: true, observed };
        failed.thresholds = if has_threshold { vec![threshold] } else { vec![] };
        let input = SummaryInput { metrics: vec![failed], ..SummaryInput::default() };
        for layout in [Layout::Compact, Layout::Full, Layout::Legacy] {
            let text = render(&input, &Options { layout, ..Options::default() });
            assert_eq!(text.contains("iteration_failed..."), expect, "{layout:?}: {text}");
        }
        let machine = machine_summary(&input, Layout::Compact, Compat::Honest, "", String::new());
        assert_eq!(machine.results.metrics.len(), 1, "machines get the same keys every time");
    }
    check(0, false, false);
    check(1, false, true);
    check(0, true, true);
}

#[test]
fn machines_get_the_metrics_of_the_layout_and_six_statistics() {
    let trend = |name: &str| {
        let stats = ["p(99.9)", "p(95)"].map(|stat| (stat.to_owned(), Statistic::Number(1.0))).to_vec();
        metric(name, ValueKind::Time, Values::Trend { stats, exact: Some(true), untimed: 0 })
    };
    let metrics = ["http_req_duration", "http_req_waiting", "group_duration", "own"].map(trend).to_vec();
    let input = SummaryInput { metrics, ..SummaryInput::default() };
    let of = |layout, compat| machine_summary(&input, layout, compat, "", String::new()).results.metrics;
    let names = |layout| of(layout, Compat::Strict).into_iter().map(|one| one.name).collect::<Vec<_>>();
    assert_eq!(names(Layout::Compact), ["http_req_duration", "own"]);
    assert_eq!(names(Layout::Full), ["http_req_duration", "http_req_waiting", "own"]);
    let values = |compat| serde_json::to_value(&of(Layout::Compact, compat)[0].values).expect("numbers");
    let mut expect = json!({"avg": null, "max": null, "med": null, "min": null, "p90": null, "p95": 1});
    assert_same(&values(Compat::Strict), &expect, "strict");
    expect["p99.9"] = json!(1);
    assert_same(&values(Compat::Honest), &expect, "honest");
}

#[test]
fn one_empty_line_stands_before_and_after() {
    for layout in [Layout::Compact, Layout::Full, Layout::Legacy] {
        let text = render(&honest(), &Options { layout, ..Options::default() });
        let inner = text.strip_prefix('\n').and_then(|text| text.strip_suffix("\n\n")).expect("empty lines");
        assert!(!inner.starts_with('\n') && !inner.ends_with('\n'), "{layout:?}: {text:?}");
    }
}

#[test]
fn colours_are_k6s() {
    let style = Style { colour: true, unicode: true };
    check_styled(golden!("colour_compact"), Layout::Compact, None, style);
    check_styled(golden!("colour_legacy"), Layout::Legacy, None, style);
}

#[test]
fn an_empty_group_is_a_title_alone() {
    let group = |name: &str, groups| GroupSummary { name: name.into(), groups, ..GroupSummary::default() };
    let groups_outside = vec![group("a", vec![group("b", vec![])]), group("c", vec![])];
    let input = SummaryInput { groups_outside, ..SummaryInput::default() };
    let text = render(&input, &Options { layout: Layout::Full, ..Options::default() });
    let expect = "\n\n\n  █ GROUP: a \n\n    ↳ GROUP: b \n\n\n  █ GROUP: c \n\n";
    assert!(text.ends_with(expect), "{text:?}");
}

#[test]
fn hostile_names_neither_steer_nor_overflow() {
    let mut group = GroupSummary { name: "\x1b[2J".into(), ..GroupSummary::default() };
    for _ in 0..200 {
        group = GroupSummary { name: "g\n".into(), groups: vec![group], ..GroupSummary::default() };
    }
    let name = "\u{7}bell\nline".to_owned();
    group.checks.push(CheckSummary { name, passes: u64::MAX / 2, fails: u64::MAX / 2 });
    let checks = group.checks.clone();
    let groups_outside = vec![group.clone()];
    let root_group = GroupSummary { groups: vec![group], ..GroupSummary::default() };
    let input = SummaryInput { checks, root_group, groups_outside, ..SummaryInput::default() };
    for layout in [Layout::Compact, Layout::Full, Layout::Legacy] {
        let text = render(&input, &Options { layout, ..Options::default() });
        assert!(!text.contains(['\x1b', '\u{7}']), "{layout:?}");
        assert!(text.contains("✗ \\u{7}bell\\nline\n"), "{layout:?}");
    }
}

#[test]
fn a_long_name_pushes_no_value_out_of_sight() {
    let count = || Values::Counter { count: 1.0, rate: 1.0 };
    let long = format!("m{}", "x".repeat(400));
    let metrics =
        vec![metric("own", ValueKind::Default, count()), metric(&long, ValueKind::Default, count())];
    let input = SummaryInput { metrics, ..SummaryInput::default() };
    for layout in [Layout::Compact, Layout::Legacy] {
        let text = render(&input, &Options { layout, ..Options::default() });
        let own = text.lines().find(|line| line.trim_start().starts_with("own")).expect("its row");
        assert!(own.len() < 120 && text.contains(&long), "{layout:?}: {text}");
    }
}

fn input(json: &Value) -> SummaryInput {
    let stats = strings(&json["stats"]);
    let ms = json["duration_ms"].as_f64().expect("a duration");
    let group = group_of(&json["root_group"], &stats);
    SummaryInput {
        run_duration: Duration::from_nanos((ms * 1e6).round() as u64),
        metrics: metrics_of(&json["metrics"], &stats),
        checks: list(&json["checks"]).map(check_of).collect(),
        groups_outside: group.groups.clone(),
        root_group: group,
        scenarios: list(&json["scenarios"]).map(|scenario| scenario_of(scenario, &stats)).collect(),
        setup_data: None,
        validity: None,
    }
}

fn scenario_of(json: &Value, stats: &[String]) -> ScenarioSummary {
    let group = group_of(json, stats);
    ScenarioSummary { name: group.name, checks: group.checks, metrics: group.metrics, groups: group.groups }
}

fn group_of(json: &Value, stats: &[String]) -> GroupSummary {
    GroupSummary {
        name: string(&json["name"]),
        path: string(&json["path"]),
        groups: list(&json["groups"]).map(|inner| group_of(inner, stats)).collect(),
        checks: list(&json["checks"]).map(check_of).collect(),
        metrics: metrics_of(&json["metrics"], stats),
    }
}

fn check_of(json: &Value) -> CheckSummary {
    let count = |key: &str| json[key].as_u64().expect("a count");
    CheckSummary { name: string(&json["name"]), passes: count("passes"), fails: count("fails") }
}

fn metrics_of(json: &Value, stats: &[String]) -> Vec<MetricSummary> {
    list(json).map(|json| metric_of(json, stats)).collect()
}

fn metric_of(json: &Value, stats: &[String]) -> MetricSummary {
    let values = &json["values"];
    let number = |key: &str| values[key].as_f64().unwrap_or_default();
    let count = |key: &str| values[key].as_u64().unwrap_or_default();
    let statistic = |name: &String| (name.clone(), Statistic::Number(number(name)));
    let kinds = [MetricKind::Counter, MetricKind::Gauge, MetricKind::Rate, MetricKind::Trend];
    let kind = kinds.into_iter().find(|kind| json["type"] == kind.as_str()).expect("a kind");
    let contains = [ValueKind::Default, ValueKind::Time, ValueKind::Data];
    let contains = contains.into_iter().find(|kind| json["contains"] == kind.as_str()).expect("a unit");
    let summary = match kind {
        MetricKind::Counter => Values::Counter { count: number("count"), rate: number("rate") },
        MetricKind::Gauge => Values::Gauge { value: number("value"), min: number("min"), max: number("max") },
        MetricKind::Rate => Values::Rate { passes: count("passes"), total: count("passes") + count("fails") },
        MetricKind::Trend => {
            Values::Trend { stats: stats.iter().map(statistic).collect(), exact: None, untimed: 0 }
        }
    };
    let threshold = |json: &Value| {
        let stat = string(&json["stat"]);
        let observed = match kind {
            MetricKind::Rate => count("passes") as f64 / (count("passes") + count("fails")).max(1) as f64,
            _ => number(&stat),
        };
        let ok = json["ok"].as_bool().expect("a verdict");
        ThresholdSummary {
            source: string(&json["source"]),
            ok,
            observed: (stat, Statistic::Number(observed)),
        }
    };
    MetricSummary {
        thresholds: list(&json["thresholds"]).map(threshold).collect(),
        ..metric(json["name"].as_str().expect("a name"), contains, summary)
    }
}

fn metric(name: &str, contains: ValueKind, values: Values) -> MetricSummary {
    MetricSummary { name: name.into(), contains, values, thresholds: vec![] }
}

fn list(json: &Value) -> impl Iterator<Item = &Value> {
    json.as_array().into_iter().flatten()
}

fn string(json: &Value) -> String {
    json.as_str().expect("a text").to_owned()
}

fn strings(json: &Value) -> Vec<String> {
    list(json).map(string).collect()
}
