use stats::{Random, Sheet};

use super::*;
use crate::steady::Unsteady;

/// A run of so many seconds around a median in milliseconds; the level wanders by 10 %, lag-1 correlation 0.5.
fn run(seed: u64, seconds: usize, median_ms: f64, share_failed: f64) -> Run {
    let mut random = Random::new(seed);
    let mut level = random.normal();
    let mut sheet = Sheet::new();
    let mut load = Vec::new();
    for _ in 0..seconds {
        level = 0.5 * level + 0.75f64.sqrt() * random.normal();
        let (mut histogram, mut sum, mut failed) = (histo::Histogram::default(), 0.0, 0);
        for _ in 0..20 {
            if random.unit() < share_failed {
                failed += 1;
                continue;
            }
            let value = median_ms * (0.1 * level + 0.3 * random.normal()).exp();
            histogram.record(value);
            sum += value;
        }
        sheet.push(&histogram, sum, failed);
        load.push(LoadSecond { started: 20, finished: 20, offered: Some(20.0) });
    }
    let series = vec![Series { name: "GET /".into(), sheet }];
    Run { facts: Facts { name: format!("run {seed}"), ..Facts::default() }, load, series }
}

fn row(comparison: &Comparison, measure: Measure) -> Row {
    comparison.rows.iter().find(|row| row.measure == measure).expect("the row").clone()
}

#[test]
fn a_slower_side_regressed_and_the_same_did_not() {
    let options = Options::default();
    let slower = compare(&[run(1, 300, 100.0, 0.0)], &[run(2, 300, 120.0, 0.0)], &options);
    assert_eq!(row(&slower, Measure::Mean).verdict, Verdict::Regressed);
    assert_eq!(row(&slower, Measure::Quantile(0.95)).verdict, Verdict::Regressed);
    assert!(slower.has_regressed() && slower.within_run_only);
    let faster = compare(&[run(2, 300, 120.0, 0.0)], &[run(1, 300, 100.0, 0.0)], &options);
    assert_eq!(row(&faster, Measure::Quantile(0.5)).verdict, Verdict::Improved);
    let same = compare(&[run(1, 900, 100.0, 0.0)], &[run(3, 900, 100.0, 0.0)], &options);
    assert_eq!(row(&same, Measure::Mean).verdict, Verdict::Equivalent);
    assert_eq!(row(&same, Measure::Throughput).verdict, Verdict::Equivalent);
    assert_eq!(row(&same, Measure::ErrorShare).verdict, Verdict::Equivalent);
    assert!(!same.has_regressed() && same.findings.is_empty(), "{:?}", same.findings);
}

#[test]
fn short_runs_are_inconclusive_and_say_how_much_more() {
    let short = compare(&[run(1, 60, 100.0, 0.0)], &[run(2, 60, 100.0, 0.0)], &Options::default());
    let Verdict::Inconclusive(Some(More::Minutes(minutes))) = row(&short, Measure::Quantile(0.95)).verdict
    else {
        panic!("{:?}", row(&short, Measure::Quantile(0.95)))
    };
    assert!((0.1..60.0).contains(&minutes), "{minutes}");
    let far = row(&short, Measure::Quantile(0.999)).verdict;
    assert!(matches!(far, Verdict::NotAvailable(Why::Unsupported { needed: 2995, .. })), "{far:?}");
}

#[test]
fn errors_are_a_row_of_their_own_and_censor_the_tail() {
    let failing = compare(&[run(1, 300, 100.0, 0.0)], &[run(2, 300, 100.0, 0.07)], &Options::default());
    assert_eq!(row(&failing, Measure::ErrorShare).verdict, Verdict::Regressed);
    assert_eq!(row(&failing, Measure::Quantile(0.95)).verdict, Verdict::NotAvailable(Why::Censored));
    assert_eq!(row(&failing, Measure::Goodput).verdict, Verdict::Regressed);
}

#[test]
fn unequal_load_refuses_a_verdict_on_latency() {
    let mut busier = run(2, 300, 150.0, 0.0);
    busier.load.iter_mut().for_each(|second| second.offered = Some(30.0));
    let (a, b) = ([run(1, 300, 100.0, 0.0)], [busier]);
    let refused = compare(&a, &b, &Options::default());
    assert_eq!(refused.findings[0], Comparability::UnequalRate { a: 20.0, b: 30.0 });
    assert_eq!(row(&refused, Measure::Mean).verdict, Verdict::NotAvailable(Why::UnequalLoad));
    assert!(row(&refused, Measure::Mean).a.is_some());
    let options = Options { despite_unequal_load: true, ..Options::default() };
    assert_eq!(row(&compare(&a, &b, &options), Measure::Mean).verdict, Verdict::Regressed);
}

#[test]
fn a_run_that_never_settles_is_not_judged() {
    let mut halves = run(1, 300, 100.0, 0.0);
    let slow = run(5, 300, 400.0, 0.0);
    halves.series[0].sheet = Sheet::new();
    let mut histogram = histo::Histogram::default();
    histogram.record(100.0);
    (0..200).for_each(|_| halves.series[0].sheet.push(&histogram, 100.0, 0));
    histogram.record(900.0);
    (0..100).for_each(|_| halves.series[0].sheet.push(&histogram, 1000.0, 0));
    let comparison = compare(&[halves.clone()], std::slice::from_ref(&slow), &Options::default());
    assert!(matches!(
        comparison.findings.as_slice(),
        [Comparability::NoSteadyPart { side: SideName::A, why: Unsteady::LevelShift { at_s: 200, .. }, .. }]
    ));
    assert!(comparison.rows.iter().all(|row| row.verdict == Verdict::NotAvailable(Why::NoSteadyPart)));
    assert!(row(&comparison, Measure::Mean).a.is_some(), "figures are shown without a verdict");
    let options = Options { despite_no_steady_part: true, ..Options::default() };
    assert!(row(&compare(&[halves], &[slow], &options), Measure::Mean).ratio.is_some());
}

#[test]
fn facts_that_differ_are_named() {
    let (mut a, mut b) = (run(1, 60, 100.0, 0.0), run(2, 60, 100.0, 0.0));
    a.facts = Facts { script_hash: Some("x".into()), planned_s: Some(60.0), ..a.facts };
    b.facts = Facts {
        script_hash: Some("y".into()),
        planned_s: Some(600.0),
        grade: model::Grade::Invalid,
        ..b.facts
    };
    b.series[0].name = "POST /".into();
    b.load.iter_mut().for_each(|second| second.offered = None);
    let found = compare(&[a], &[b], &Options::default()).findings;
    let expect = [
        Comparability::LoadUnknown,
        Comparability::Untrusted {
            side: SideName::B,
            run: "run 2".into(),
            grade: model::Grade::Invalid,
            faults: Vec::new(),
        },
        Comparability::DifferentScripts { a: "x".into(), b: "y".into() },
        Comparability::DifferentDurations { shortest_s: 60.0, longest_s: 600.0 },
        Comparability::OnlyOn { side: SideName::A, series: "GET /".into() },
        Comparability::OnlyOn { side: SideName::B, series: "POST /".into() },
    ];
    assert_eq!(found, expect);
}

/// A run of a single request has no second of its own, so that nothing of it is known; that does not make its endpoints others.
#[test]
fn a_run_too_short_for_figures_has_no_endpoints_of_its_own() {
    let (long, mut short) = (run(1, 60, 100.0, 0.0), run(2, 1, 100.0, 0.0));
    short.series.clear();
    let comparison = compare(&[long], &[short], &Options::default());
    assert_eq!(comparison.answer(), Answer::NotJudged(Why::TooShort));
    let is_alone = |finding: &Comparability| matches!(finding, Comparability::OnlyOn { .. });
    assert!(!comparison.findings.iter().any(is_alone), "{:?}", comparison.findings);
}

#[test]
fn nothing_is_compared_with_nothing() {
    let comparison = compare(&[], &[], &Options::default());
    assert!(comparison.rows.len() == 1 && comparison.findings[0] == Comparability::NoRun(SideName::A));
    let empty = compare(&[Run::default()], &[Run::default()], &Options::default());
    assert!(empty.rows.iter().all(|row| matches!(row.verdict, Verdict::NotAvailable(_))));
}

#[test]
fn three_runs_a_side_are_more_than_one_run() {
    let side = |seed: u64, median: f64| [0, 1, 2].map(|at| run(seed + at, 300, median, 0.0));
    let comparison = compare(&side(1, 100.0), &side(11, 110.0), &Options::default());
    assert!(!comparison.within_run_only);
    assert_eq!(row(&comparison, Measure::Quantile(0.95)).verdict, Verdict::Regressed);
}

/// The course of the load of a test that goes up, holds, goes up, holds and goes down, in seconds.
const STAGES: [(usize, f64); 5] = [(3, 30.0), (7, 30.0), (5, 120.0), (10, 120.0), (3, 0.0)];

/// A run of a plan with stages, in a closed loop: a target that serves so many requests per second queues the others.
fn staged(seed: u64, served_per_second: f64) -> Run {
    let mut random = Random::new(seed);
    let (mut vus, mut stages, mut seconds) = (1.0, Vec::new(), Vec::new());
    for (length, target) in STAGES {
        stages.push(seconds.len());
        let step = (target - vus) / length as f64;
        seconds.extend((1..=length).map(|at| vus + step * at as f64));
        vus = target;
    }
    let mut run = Run { series: vec![Series::new("POST checkout")], ..Run::default() };
    for vus in seconds {
        let alone = vus / 0.22;
        let rate = alone.min(served_per_second);
        let ms = 20.0 + 1000.0 * (vus / rate - 0.22).max(0.0);
        let (mut histogram, mut sum) = (histo::Histogram::default(), 0.0);
        let count = (rate / 3.0).round() as u64;
        for _ in 0..count {
            let value = ms * (0.02 * random.normal()).exp();
            histogram.record(value);
            sum += value;
        }
        run.series[0].sheet.push(&histogram, sum, 0);
        let finished = rate.round() as u64;
        run.load.push(LoadSecond { started: finished, finished, offered: None });
    }
    let plan = PlannedLoad { text: "stages".into(), stages, is_constant: false };
    run.facts =
        Facts { name: format!("run {seed}"), closed_vus: Some(120), plan: Some(plan), ..Facts::default() };
    run
}

#[test]
fn a_remedy_is_seen_on_a_ramp() {
    let comparison = compare(&[staged(1, 300.0)], &[staged(2, 3000.0)], &Options::default());
    assert_eq!(comparison.paired_s, Some(28));
    for measure in [Measure::Mean, Measure::Quantile(0.95), Measure::Throughput] {
        let row = row(&comparison, measure);
        assert_eq!(row.verdict, Verdict::Improved, "{row:?}");
        let interval = row.ratio.expect("a ratio").interval;
        assert!(interval.upper / interval.lower < 4.0, "{row:?}");
    }
    let Answer::Changed { regressed, improved } = comparison.answer() else { panic!("a change") };
    assert!(regressed.is_empty() && improved.throughput.is_some() && improved.lead.is_some());
}

#[test]
fn equal_ramps_have_not_changed() {
    let has_changed = |seed: &u64| {
        let (a, b) = (staged(100 + seed, 300.0), staged(200 + seed, 300.0));
        let rows = compare(&[a], &[b], &Options::default()).rows;
        rows.iter().any(|row| matches!(row.verdict, Verdict::Improved | Verdict::Regressed))
    };
    let changed = (0..20).filter(has_changed).count();
    assert!(changed <= 2, "{changed} of 20 pairs that do not differ; one is expected at 5 %");
}

#[test]
fn plans_of_another_course_are_not_compared() {
    let mut other = staged(2, 300.0);
    if let Some(plan) = &mut other.facts.plan {
        plan.text = "a spike".into();
    }
    let comparison = compare(&[staged(1, 300.0)], &[other], &Options::default());
    assert_eq!(comparison.findings[0], Comparability::UnequalPlan);
    assert!(matches!(comparison.answer(), Answer::NotComparable(0)));
    assert!(comparison.rows.iter().all(|row| row.verdict != Verdict::Equivalent), "{:?}", comparison.rows);
    assert!(row(&comparison, Measure::Mean).a.is_some(), "figures are shown without a verdict");
}

/// A run of nearly fixed times, a hundred each second, whose rate and level wander by little.
fn fixed(seed: u64, seconds: usize, ms: f64) -> Run {
    let mut random = Random::new(seed);
    let mut run = Run { series: vec![Series::new("GET /")], ..Run::default() };
    let mut drift = 0.0;
    for _ in 0..seconds {
        drift = 0.95 * drift + 0.003 * random.normal();
        let (mut histogram, mut sum) = (histo::Histogram::default(), 0.0);
        for _ in 0..100 {
            let value = ms * (drift + 0.01 * random.normal().abs()).exp();
            histogram.record(value);
            sum += value;
        }
        run.series[0].sheet.push(&histogram, sum, 0);
        run.load.push(LoadSecond { started: 100, finished: 100, offered: Some(100.0) });
    }
    run
}

#[test]
fn times_that_do_not_overlap_are_decided() {
    for (seconds, seed) in [(15, 1), (24, 3), (24, 5), (60, 7)] {
        let comparison =
            compare(&[fixed(seed, seconds, 20.0)], &[fixed(seed + 1, seconds, 28.0)], &Options::default());
        for measure in
            [Measure::Mean, Measure::Quantile(0.5), Measure::Quantile(0.9), Measure::Quantile(0.95)]
        {
            let row = row(&comparison, measure);
            assert_eq!(row.verdict, Verdict::Regressed, "{seconds} s: {row:?}");
            let interval = row.ratio.expect("a ratio").interval;
            assert!(interval.lower > 1.2 && interval.upper < 1.6, "{seconds} s: {row:?}");
        }
    }
}

#[test]
fn runs_too_short_to_judge_show_their_figures() {
    let comparison = compare(&[run(1, 15, 100.0, 0.0)], &[run(2, 15, 100.0, 0.0)], &Options::default());
    let mean = row(&comparison, Measure::Mean);
    assert!(mean.a.is_some() && mean.b.is_some() && mean.verdict == Verdict::NotAvailable(Why::TooShort));
    assert!(!comparison.is_judged());
    assert_eq!(comparison.answer(), Answer::NotJudged(Why::TooShort));
}

#[test]
fn figures_below_the_margin_are_not_judged() {
    let comparison = compare(&[run(1, 300, 0.1, 0.0)], &[run(2, 300, 0.2, 0.0)], &Options::default());
    assert_eq!(row(&comparison, Measure::Mean).verdict, Verdict::NotAvailable(Why::BelowMargin));
    let near = compare(&[run(1, 300, 5.0, 0.0)], &[run(2, 300, 5.5, 0.0)], &Options::default());
    let mean = row(&near, Measure::Mean);
    assert_eq!((mean.verdict, mean.method), (Verdict::Equivalent, Method::MarginMs), "{mean:?}");
}

#[test]
fn one_second_and_one_request_are_compared_with_care() {
    let comparison = compare(&[run(1, 1, 100.0, 0.0)], &[run(2, 1, 300.0, 0.0)], &Options::default());
    assert_eq!(comparison.answer(), Answer::NotJudged(Why::TooShort));
    let failed = compare(&[run(1, 300, 100.0, 1.0)], &[run(2, 300, 100.0, 1.0)], &Options::default());
    assert_eq!(failed.answer(), Answer::AllFailed);
}

/// A series of one request, in the second that is given.
fn once(name: &str, seconds: usize, at: usize, ms: f64) -> Series {
    let mut series = Series::new(name);
    for second in 0..seconds {
        let mut histogram = histo::Histogram::default();
        if second == at {
            histogram.record(ms);
        }
        series.sheet.push(&histogram, if second == at { ms } else { 0.0 }, 0);
    }
    series
}

#[test]
fn one_request_proves_no_change() {
    let with_one = |seed, ms| {
        let mut run = staged(seed, 300.0);
        run.series.push(once("GET about", 28, 0, ms));
        run
    };
    let comparison = compare(&[with_one(1, 10.0)], &[with_one(2, 2.0)], &Options::default());
    let rows: Vec<&Row> = comparison.rows.iter().filter(|row| row.series == "GET about").collect();
    let of = |measure| rows.iter().find(|row| row.measure == measure).expect("a row");
    assert_eq!(of(Measure::Mean).verdict, Verdict::NotAvailable(Why::Unsupported { needed: 5, have: 1 }));
    assert_eq!(of(Measure::Mean).a, Some(10.0), "the figure is shown without a verdict");
    assert!(
        rows.iter().all(|row| !matches!(row.verdict, Verdict::Improved | Verdict::Regressed)),
        "{rows:?}"
    );
    assert!(!matches!(comparison.answer(), Answer::Changed { .. }), "{:?}", comparison.answer());
}

#[test]
fn a_run_of_one_request_is_not_judged() {
    let alone = |seed, ms| Run { series: vec![once("GET /", 60, 0, ms)], ..run(seed, 60, 100.0, 0.0) };
    let comparison = compare(&[alone(1, 10.0)], &[alone(2, 500.0)], &Options::default());
    let latency = comparison.rows.iter().filter(|row| row.series == "GET /");
    let changed = latency.filter(|row| matches!(row.verdict, Verdict::Improved | Verdict::Regressed)).count();
    assert_eq!(changed, 0, "{:?}", comparison.rows);
}

#[test]
fn one_side_that_failed_whole_has_regressed() {
    let failed = compare(&[run(1, 300, 100.0, 0.0)], &[run(2, 300, 100.0, 1.0)], &Options::default());
    let Answer::Changed { regressed, .. } = failed.answer() else { panic!("{:?}", failed.answer()) };
    let lead = &failed.rows[regressed.lead.expect("a figure")];
    assert_eq!((lead.measure, lead.a, lead.b), (Measure::ErrorShare, Some(0.0), Some(1.0)));
}

#[test]
fn sides_with_nothing_in_common_say_so() {
    let mut other = run(2, 300, 100.0, 0.0);
    other.series[0].name = "POST /".into();
    let apart = compare(&[run(1, 300, 100.0, 0.0)], &[other], &Options::default());
    assert_eq!(apart.answer(), Answer::NothingInCommon);
    assert!(compare(&[run(1, 300, 100.0, 0.0)], &[], &Options::default()).rows.len() <= 1 + 8);
}

/// A run of so many endpoints, each with one request per second.
fn wide(endpoints: usize) -> Run {
    let mut histogram = histo::Histogram::default();
    histogram.record(10.0);
    let series = |number: usize| {
        let mut series = Series::new(format!("GET /{number}"));
        (0..30).for_each(|_| series.sheet.push(&histogram, 10.0, 0));
        series
    };
    Run { series: (0..endpoints).map(series).collect(), ..run(1, 30, 10.0, 0.0) }
}

#[test]
fn ten_thousand_endpoints_take_time_in_proportion() {
    let options = Options { quantiles: vec![0.95], ..Options::default() };
    let rows_per_series = compare(&[wide(1)], &[wide(1)], &options).rows.len() - 1;
    let compared = |endpoints: usize| {
        let (a, b) = ([wide(endpoints)], [wide(endpoints)]);
        let before = model::SystemClock::now();
        let comparison = compare(&a, &b, &options);
        let answer = comparison.answer();
        let important = comparison.important_rows();
        assert!(!matches!(answer, Answer::Changed { .. }), "{answer:?}");
        assert!(important.len() < 100, "{} rows are shown", important.len());
        assert_eq!(comparison.rows.len(), 1 + endpoints * rows_per_series);
        model::SystemClock::now().ms_since(before)
    };
    let (few, many) = (compared(1_000), compared(10_000));
    assert!(many < few * 40.0, "ten times as many endpoints take {:.0} times as long", many / few);
}

/// A baseline with sides that are as fast: the more there are, the more chances for a false change.
#[test]
fn false_changes_are_held_over_all_sides() {
    let has_changed = |comparison: &Comparison| {
        comparison.rows.iter().any(|row| matches!(row.verdict, Verdict::Improved | Verdict::Regressed))
    };
    let changed = |seed: u64| {
        let baseline = [run(seed * 100, 120, 100.0, 0.0)];
        let others: Vec<[Run; 1]> = (1..8).map(|other| [run(seed * 100 + other, 120, 100.0, 0.0)]).collect();
        let sides: Vec<&[Run]> = others.iter().map(|side| side.as_slice()).collect();
        compare_with_baseline(&baseline, &sides, &Options::default()).iter().any(has_changed)
    };
    let studies = (1..=20).filter(|seed| changed(*seed)).count();
    assert!(studies <= 3, "{studies} of 20 studies of equal sides have a change; one is expected at 5 %");
}

#[test]
fn a_regression_among_several_sides_is_its_own() {
    let side = |seed, ms| [run(seed, 300, ms, 0.0)];
    let (a, same, slow) = (side(1, 100.0), side(2, 100.0), side(3, 130.0));
    let found = compare_with_baseline(&a, &[&same, &slow], &Options::default());
    assert!(!found[0].has_regressed() && found[1].has_regressed());
    let alone = compare(&a, &slow, &Options::default());
    let p95 = |comparison: &Comparison| row(comparison, Measure::Quantile(0.95));
    assert_eq!(p95(&alone).ratio.map(|it| it.ratio), p95(&found[1]).ratio.map(|it| it.ratio));
    // An equal side is a comparison more, in which to find something by chance.
    assert!(
        p95(&found[1]).q_value > p95(&alone).q_value,
        "{:?}",
        (p95(&found[1]).q_value, p95(&alone).q_value)
    );
}
