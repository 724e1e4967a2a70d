use analysis::compare::{
    Comparability, EvidenceRow, Fact, Facts, LoadSecond, Options, PlannedLoad, Reading, Run, Series, compare,
    compare_with_baseline,
};
use model::{Mark, Trend};

use super::*;
use crate::{Lang, Style};

const SCHEMA_OF_SEVERAL: &str = include_str!("../../../../docs/format/comparisons.schema.json");
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

/// Evidence that both sides have, and some of one side alone.
fn observed() -> EvidenceComparison {
    let row = |subject: &str, fact, a: Option<(f64, Option<f64>)>, b: Option<(f64, Option<f64>)>| {
        let reading = |(value, limit)| Reading { value, limit };
        EvidenceRow { subject: subject.to_owned(), fact, a: a.map(reading), b: b.map(reading) }
    };
    let rows = vec![
        row("catalog", Fact::PoolInUse, Some((5.0, Some(5.0))), Some((8.0, Some(20.0)))),
        row("catalog", Fact::PoolWait, Some((71.0, None)), Some((0.2, None))),
        row("checkout", Fact::CpuTime, None, Some((1.5, None))),
        row("checkout", Fact::TracedQueries, Some((11.0, None)), Some((1.0, None))),
        row("checkout", Fact::Spans, Some((12.0, None)), None),
        row("db", Fact::Queries, Some((0.0, None)), Some((7.72, None))),
    ];
    EvidenceComparison { rows, left_out: 3, ..EvidenceComparison::default() }
}

#[test]
fn evidence_is_shown_as_facts() {
    let report = ComparisonReport { evidence: observed(), ..slower() };
    let text = text(&report, Lang::En, Style::PLAIN);
    let part =
        text.split("Evidence (").nth(1).and_then(|rest| rest.split("Comparability").next()).expect("a part");
    let lines: Vec<String> =
        part.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for expect in [
        "connections in use 5 of 5 8 of 20 ×1.600",
        "connection wait per request, sampled 71ms 200µs ×0.003",
        "CPU time per request – 1.5ms only in B",
        "database calls per request, by traces 11 1 ×0.091",
        "spans per request 12 – only in A",
        "queries per request 0 7.72 –",
        "Services, databases and pools not shown: 3.",
    ] {
        assert!(lines.iter().any(|line| line == expect), "{expect:?} is not in {lines:#?}");
    }
    assert!(!part.contains("improved") && !part.contains("regressed"), "facts have no verdict: {part}");
    assert!(markdown(&report, Lang::Ko).contains("요청당 CPU 시간"));
    let document = json::document(&report);
    assert_eq!((document.evidence.per, document.evidence.rows.len()), ("request", 6));
    crate::report_tests::follows(SCHEMA, &json::render(&report));
    assert_eq!(words(&report, Lang::En).evidence[0].change, "×1.600");
    let none = super::text(&slower(), Lang::En, Style::PLAIN) + &markdown(&slower(), Lang::En);
    assert!(!none.contains("Evidence"), "no evidence on either side: {none}");
}

/// Sides compared with a first one: one that is as fast, one that is slower, and one at another load.
fn several(count: usize) -> Vec<ComparisonReport> {
    let side = |number: usize| match number % 3 {
        0 => run("same", "GET /", 100.0, 40.0),
        1 => run("slow", "GET /", 150.0, 40.0),
        _ => run("busy", "GET /", 100.0, 80.0),
    };
    let (baseline, options) = ([run("a", "GET /", 100.0, 40.0)], Options::default());
    let others: Vec<[Run; 1]> = (0..count).map(|number| [side(number)]).collect();
    let sides: Vec<&[Run]> = others.iter().map(|side| side.as_slice()).collect();
    let comparisons = compare_with_baseline(&baseline, &sides, &options);
    let reports = comparisons.into_iter().zip(&others).zip("BCDEFGH".chars());
    let report = |((comparison, other), letter_b): ((Comparison, &[Run; 1]), char)| ComparisonReport {
        letter_b,
        comparison,
        evidence: observed(),
        ..report(baseline.to_vec(), other.to_vec(), options.clone())
    };
    reports.map(report).collect()
}

#[test]
fn several_runs_have_a_column_each() {
    let text = many_text(&several(3), Lang::En, Style::PLAIN);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("B (same same): "), "{text}");
    assert!(lines[1].starts_with("C (slow slow): Regressed: "), "{text}");
    assert!(lines[2].starts_with("D (busy busy): Not comparable: planned rates differ"), "{text}");
    let mean = lines.iter().find(|line| line.trim_start().starts_with("mean")).expect("a row");
    assert!(mean.contains("×1.5") && mean.contains('✗'), "{text}");
    // The run at another load has its raw value, and no change.
    assert!(mean.split_whitespace().rev().take(2).eq(["–", "99.98ms"]), "{text}");
    assert!(text.contains("Verdicts hold over all 3 comparisons together."), "{text}");
    assert!(text.contains("(D)") && !text.contains("run busy (B)"), "findings name the side: {text}");
}

#[test]
fn columns_of_several_runs_stand_below_each_other() {
    for (count, lang) in [(3, Lang::En), (7, Lang::En), (7, Lang::Ko)] {
        let text = many_text(&several(count), lang, Style::PLAIN);
        let widths: Vec<usize> = text
            .lines()
            .skip_while(|line| !line.contains(&format!("A {}", lang.comparison_baseline())))
            .take_while(|line| !line.is_empty() && !line.starts_with('✓'))
            .filter(|line| line.starts_with("  "))
            .map(crate::style::width)
            .collect();
        let head = widths.first().copied().unwrap_or(0);
        assert!(widths.iter().all(|width| *width <= head + 2), "{widths:?}: {text}");
        assert!(widths.iter().all(|width| *width < 140), "too wide for a terminal: {text}");
        assert_eq!(
            text.matches(&format!("A {}", lang.comparison_baseline())).count(),
            2 * count.div_ceil(4),
            "{text}"
        );
        assert!(!text.contains("{}"), "{text}");
    }
}

#[test]
fn several_runs_are_markdown_and_json_too() {
    let [pair] = several(1).try_into().expect("one");
    assert_eq!(many_json(std::slice::from_ref(&pair)), json::render(&pair), "one has the shape of a pair");
    for count in [2, 3, 7] {
        let reports = several(count);
        crate::report_tests::follows(SCHEMA_OF_SEVERAL, &many_json(&reports));
        for lang in Lang::ALL {
            let markdown = many_markdown(&reports, lang);
            assert!(
                markdown.len() <= crate::markdown::BYTES_MAX && markdown.contains("catalog"),
                "{markdown}"
            );
        }
    }
    let document: serde_json::Value = serde_json::from_str(&many_json(&several(3))).expect("JSON");
    assert_eq!(document["verdict"], "regressed");
    assert_eq!(document["comparisons"].as_array().map(Vec::len), Some(3));
    assert_eq!(many_text(&[], Lang::En, Style::PLAIN), "");
}

#[test]
fn long_names_keep_lines_readable() {
    let long = "n".repeat(500);
    let pair = report(
        vec![run(&long, &long, 100.0, 40.0)],
        vec![run(&long, &long, 150.0, 40.0)],
        Options::default(),
    );
    let mut evidence = observed();
    evidence.rows.iter_mut().for_each(|row| row.subject = long.clone());
    let pair = ComparisonReport { evidence, ..pair };
    for lang in Lang::ALL {
        let pair = std::slice::from_ref(&pair);
        let tables = [text(&pair[0], lang, Style::PLAIN), many_text(pair, lang, Style::PLAIN)];
        for line in tables.iter().flat_map(|text| text.lines()).filter(|line| line.starts_with("  ")) {
            assert!(crate::style::width(line) < 600, "{} columns: {line}", crate::style::width(line));
        }
        let rows = tables.iter().flat_map(|text| text.lines()).filter(|line| line.contains("×1.5"));
        assert!(rows.into_iter().all(|line| crate::style::width(line) < 120), "{tables:?}");
    }
}

#[test]
fn bad_input_has_a_true_sentence() {
    let mut failed = run("b", "GET /", 100.0, 40.0);
    failed.series = vec![Series::new("GET /")];
    (0..60).for_each(|_| failed.series[0].sheet.push(&Trend::default().values.to_histogram(), 0.0, 40));
    let plain = || run("a", "GET /", 100.0, 40.0);
    let mut second = plain();
    second.series = vec![Series::new("GET /")];
    second.series[0].sheet.push(&Trend::default().values.to_histogram(), 0.0, 1);
    second.load.truncate(1);
    let check = |a: &Run, b: &Run, expect: &str| {
        let one = report(vec![a.clone()], vec![b.clone()], Options::default());
        let sentence = json::document(&one).sentence;
        assert!(sentence.contains(expect), "{expect:?} is not in {sentence:?}");
        let several = many_text(std::slice::from_ref(&one), Lang::En, Style::PLAIN);
        assert!(several.lines().next().is_some_and(|line| line.contains(expect)), "{several}");
    };
    check(&failed, &failed, "every request failed on both sides");
    check(&plain(), &failed, "error rate 0.");
    check(&plain(), &run("b", "GET /other", 100.0, 40.0), "no endpoint in common");
    check(&second, &second, "every request failed on both sides");
    check(&plain(), &second, "error rate 0.125 % → 100.000 % at GET /");
    check(&Run::default(), &Run::default(), "Nothing could be judged");
}
