use analysis::compare::{Comparability, Facts, LoadSecond, Options, PlannedLoad, Run, Series, compare};
use model::{Mark, Trend};

use super::*;
use crate::{Lang, Style};

const SCHEMA: &str = include_str!("../../../../docs/format/comparison.schema.json");

/// A run of a minute, 40 requests per second that take about so long.
fn run(name: &str, series: &str, ms: f64, rate: f64) -> Run {
    let mut durations = Series::new(series);
    for second in 0..60u64 {
        let mut trend = Trend::default();
        for request in 0..40u64 {
            let wobble = ((second * 40 + request) * 7919 % 1000) as f64 / 1000.0;
            trend.record(ms * (0.8 + 0.4 * wobble), Mark::Measured);
        }
        let timed_out = u64::from(second % 20 == 0);
        let values = &trend.values;
        durations.sheet.push(&values.to_histogram(), values.sum().value(), timed_out);
    }
    let facts = Facts {
        name: name.to_owned(),
        script_hash: Some(format!("{series}{name}")),
        planned_s: Some(60.0),
        grade: model::Grade::Degraded,
        faults: vec![model::Fault::StartLag, model::Fault::Dropped],
        plan: None,
        target_version: Some(series.to_owned()),
        closed_vus: None,
    };
    let load = vec![LoadSecond { started: 40, finished: 40, offered: Some(rate) }; 60];
    Run { facts, load, series: vec![durations] }
}

fn report(a: Vec<Run>, b: Vec<Run>, options: Options) -> ComparisonReport {
    let identity = |run: &Run| ComparedRun {
        id: run.facts.name.clone(),
        name: run.facts.name.clone(),
        script: run.facts.name.clone(),
        target_version: run.facts.target_version.clone().unwrap_or_default(),
        seconds: run.load.len(),
        ..ComparedRun::default()
    };
    ComparisonReport {
        a: a.iter().map(identity).collect(),
        b: b.iter().map(identity).collect(),
        letter_b: 'B',
        comparison: compare(&a, &b, &options),
        evidence: EvidenceComparison::default(),
        options,
        endpoints_left_out: 2,
    }
}

pub(crate) fn slower() -> ComparisonReport {
    report(vec![run("a", "GET /", 100.0, 40.0)], vec![run("b", "GET /", 150.0, 40.0)], Options::default())
}

/// A comparison for each thing that can be said.
fn all() -> Vec<ComparisonReport> {
    let same = || run("a", "GET /", 100.0, 40.0);
    let mut closed = run("c", "GET /", 100.0, 40.0);
    closed.facts.closed_vus = Some(5);
    closed.load.iter_mut().for_each(|second| second.offered = None);
    let mut more = closed.clone();
    more.facts.closed_vus = Some(6);
    let mut short = same();
    short.series = vec![Series::new("GET /")];
    short.facts.planned_s = Some(5.0);
    let one = |a: &Run, b: &Run| report(vec![a.clone()], vec![b.clone()], Options::default());
    vec![
        slower(),
        report(vec![same(), same(), same()], vec![same(), same(), same()], Options::default()),
        one(&same(), &run("b", "GET /", 100.0, 80.0)),
        one(&same(), &run("b", "GET /other", 100.0, 40.0)),
        one(&same(), &closed),
        one(&closed, &closed),
        one(&closed, &more),
        one(&same(), &short),
        report(vec![], vec![same()], Options::default()),
        courses(same()),
    ]
}

/// Loads of another course on another host.
fn courses(run: Run) -> ComparisonReport {
    let of = |text: &str| {
        let plan = PlannedLoad { text: text.to_owned(), stages: vec![0], is_constant: false };
        Run { facts: Facts { plan: Some(plan), ..run.facts.clone() }, ..run.clone() }
    };
    let mut report = report(vec![of("a ramp")], vec![of("a spike")], Options::default());
    let (a, b) = ("http://old".to_owned(), "http://new".to_owned());
    report.comparison.findings.push(Comparability::Hosts { a, b });
    report
}

#[test]
fn a_slower_side_is_told_in_every_format() {
    let report = slower();
    let text = text(&report, Lang::En, Style::PLAIN);
    for expect in
        ["regressed", "×1.5", "Within-run only", "Largest regression: GET /", "seconds 0 to 60 of 60"]
    {
        assert!(text.contains(expect), "{expect:?} is not in: {text}");
    }
    assert!(markdown(&report, Lang::En).starts_with("## ❌"), "{}", markdown(&report, Lang::En));
    assert!(markdown(&report, Lang::Ko).contains("악화"));
    assert_eq!(json::document(&report).verdict, "regressed");
}

#[test]
fn the_answer_comes_first() {
    let text = text(&slower(), Lang::En, Style::PLAIN);
    let first = text.lines().next().unwrap_or_default();
    assert!(first.starts_with("Regressed: ") && first.contains(" at GET /; nothing improved."), "{text}");
    assert!(words(&slower(), Lang::Ko).answer.starts_with("악화: GET /의 "), "{text}");
    let unequal = all().swap_remove(2);
    assert_ne!(json::document(&unequal).verdict, "equivalent");
    assert!(
        json::document(&unequal)
            .sentence
            .starts_with("Not comparable: planned rates differ: 40.00/s and 80.00/s")
    );
}

#[test]
fn a_degraded_run_names_what_is_affected() {
    let sentence = &json::document(&slower()).findings[0].sentence;
    assert!(
        sentence.contains("degraded") && sentence.contains("latencies and rates may be affected"),
        "{sentence}"
    );
}

#[test]
fn equal_sides_are_equivalent() {
    let runs = || (0..3).map(|_| run("a", "GET /", 100.0, 40.0)).collect::<Vec<_>>();
    let report = report(runs(), runs(), Options::default());
    let document = json::document(&report);
    assert!(["equivalent", "inconclusive"].contains(&document.verdict), "{document:?}");
    assert!(!text(&report, Lang::En, Style::PLAIN).contains("Within-run only"));
}

#[test]
fn every_finding_is_told() {
    let mut kinds: Vec<&str> = Vec::new();
    for report in all() {
        let document = json::document(&report);
        kinds.extend(document.findings.iter().map(|finding| finding.kind));
        for lang in Lang::ALL {
            let all = text(&report, lang, Style::PLAIN) + &markdown(&report, lang);
            assert!(!all.contains("{}"), "{all}");
        }
    }
    let expect = [
        "no_run",
        "unequal_rate",
        "unequal_vus",
        "unequal_plan",
        "open_and_closed",
        "hosts",
        "untrusted",
        "no_steady_part",
        "different_scripts",
        "different_durations",
        "closed_loop",
        "target_versions",
        "only_on",
        "load_unknown",
    ];
    for kind in expect {
        assert!(kinds.contains(&kind), "{kind} is not among {kinds:?}");
    }
}

#[test]
fn json_follows_its_schema() {
    for report in all() {
        crate::report_tests::follows(SCHEMA, &json::render(&report));
    }
}

#[test]
fn hostile_names_are_harmless() {
    let name = "\u{1b}[2J</script><script>|`x` @all\n::error::\u{202e}";
    let long = "x".repeat(1 << 20);
    for name in [name, &long] {
        let (a, b) = (run(name, name, 100.0, 40.0), run(name, name, 150.0, 90.0));
        let report = report(vec![a], vec![b], Options { despite_unequal_load: true, ..Options::default() });
        for lang in Lang::ALL {
            let (text, markdown) = (text(&report, lang, Style::PLAIN), markdown(&report, lang));
            assert!(markdown.len() <= crate::markdown::BYTES_MAX && text.len() < 1 << 16);
            assert!(!markdown.contains("<script"), "{markdown}");
            for shown in [&text, &markdown] {
                let raw =
                    shown.chars().find(|glyph| glyph.is_control() && *glyph != '\n' || *glyph == '\u{202e}');
                assert_eq!(raw, None, "{shown}");
                assert!(shown.lines().all(|line| !line.starts_with("::error")), "{shown}");
            }
        }
        assert!(!json::render(&report).contains(['\u{1b}', '\u{202e}']));
    }
}

#[test]
fn many_rows_leave_the_changes() {
    let series = |ms: f64| {
        let one =
            |number: usize| run("a", &format!("GET /{number}"), if number == 7 { ms } else { 100.0 }, 40.0);
        let all = (0..60).flat_map(|number| one(number).series);
        Run { series: all.collect(), ..one(0) }
    };
    let report = report(vec![series(100.0)], vec![series(300.0)], Options::default());
    let text = text(&report, Lang::En, Style::PLAIN);
    assert!(text.contains("GET /7") && !text.contains("GET /8"), "{text}");
    assert!(text.contains("Rows not shown: "), "{text}");
}
