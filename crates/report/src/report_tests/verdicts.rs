//! The verdict, the limits of each format, and what is left out.

use std::time::Duration;

use super::fixture::{counter, failed, nothing, passed, threshold, trend};
use crate::document::{ErrorEntry, RunState, TimeRange, Verdict, Why};
use crate::summary::{MetricSummary, Statistic, Values};
use crate::{Lang, RunReport, github, headline, junit, markdown};
use model::capacity::LoadUnit;
use model::{Grade, Validity, ValueKind};

#[track_caller]
fn check(change: impl Fn(&mut RunReport), expect: (Verdict, Why)) {
    let mut report = passed();
    change(&mut report);
    assert_eq!(report.verdict(), expect);
    let text = markdown::render(&report, Lang::En);
    let mut paragraphs = text.split("\n\n").skip_while(|paragraph| paragraph.starts_with("**validity"));
    let mark = paragraphs.next().and_then(|verdict| verdict.chars().nth(3));
    let expect_mark = match expect.0 {
        Verdict::Pass => '✅',
        Verdict::Fail => '❌',
        Verdict::Inconclusive => '⚠',
    };
    assert_eq!(mark, Some(expect_mark), "the verdict comes right after the validity");
}

#[test]
fn a_run_passes_only_what_was_asked_and_measured() {
    let exit =
        |code| move |report: &mut RunReport| report.outcome.as_mut().expect("an outcome").exit_code = code;
    let set = |observed, ok| {
        move |report: &mut RunReport| {
            report.summary.metrics[0].thresholds = vec![threshold("p(95)<500", ok, "p(95)", observed)];
        }
    };
    check(|_| {}, (Verdict::Pass, Why::AllHeld(1)));
    let graded = |grade| {
        move |report: &mut RunReport| {
            report.summary.validity = Some(Validity { grade, ..Validity::default() })
        }
    };
    check(graded(Grade::Degraded), (Verdict::Pass, Why::AllHeld(1)));
    check(graded(Grade::Invalid), (Verdict::Inconclusive, Why::Invalid(1)));
    check(exit(107), (Verdict::Fail, Why::Exit(107)));
    check(set(Statistic::Failed, false), (Verdict::Fail, Why::Crossed(1, 1)));
    check(set(Statistic::NotApplicable("closed loop"), true), (Verdict::Inconclusive, Why::Unmeasured(1, 1)));
    check(|report| report.summary.metrics[0].thresholds.clear(), (Verdict::Inconclusive, Why::NoThresholds));
    check(|report| report.state = RunState::Partial, (Verdict::Inconclusive, Why::Partial));
    check(|report| report.state = RunState::Live, (Verdict::Inconclusive, Why::Live));
    let part = TimeRange { from: Duration::ZERO, to: Duration::from_secs(3) };
    check(|report| report.window = Some(part), (Verdict::Inconclusive, Why::PartOnly));
}

#[test]
fn a_violated_limit_does_not_look_like_the_value() {
    let sentence = |observed: f64, limit: &str| {
        let mut report = passed();
        let observed = Statistic::Number(observed);
        report.summary.metrics[0].thresholds = vec![threshold(limit, false, "p(95)", observed)];
        headline::sentence(&report, Lang::En, &str::to_owned, &str::to_owned)
    };
    let check = |observed: f64, expect: &str| {
        let sentence = sentence(observed, "p(95)<3000");
        assert!(sentence.contains(expect), "{sentence}");
    };
    check(3004.512, "p95 3005ms, limit 3s");
    check(3000.0, "p95 3s, limit 3s");
    check(3000.004, "p95 3000.004ms, limit 3s");
    check(3012.0, "p95 3.01s, limit 3s");
}

#[test]
fn every_surface_says_that_a_run_is_not_whole() {
    let partial = nothing();
    let live = RunReport { state: RunState::Live, ..passed() };
    for (report, english, korean, word) in [
        (&partial, "Incomplete run", "불완전한 실행", "partial"),
        (&live, "Run in progress", "실행 중", "live"),
    ] {
        assert!(markdown::render(report, Lang::En).contains(english));
        assert!(markdown::render(report, Lang::Ko).contains(korean));
        assert!(junit::render(report).contains(&format!(r#"name="state" value="{word}""#)));
        assert!(crate::json::render(report).contains(&format!(r#""state": "{word}""#)));
        assert!(github::annotations(report, Lang::En).starts_with("::warning "));
        assert!(github::outputs(report).contains("inconclusive"));
    }
}

#[test]
fn margins_say_how_far_the_limit_was() {
    let margin = |source: &str, observed| {
        let mut report = passed();
        report.summary.metrics = vec![trend("http_req_duration", [observed, observed], true)];
        report.summary.metrics[0].thresholds = vec![threshold(source, true, "avg", observed)];
        report.judged()[0].margin_text()
    };
    assert_eq!(margin("avg<500", Statistic::Number(375.0)), Some("+25.00%".into()));
    assert_eq!(margin("avg<500", Statistic::Number(812.0)), Some("−62.40%".into()));
    assert_eq!(margin("avg>=100", Statistic::Number(150.0)), Some("+50.00%".into()));
    assert_eq!(margin("avg>0", Statistic::Number(150.0)), Some("+150ms".into()));
    assert_eq!(margin("avg==1", Statistic::Number(1.0)), None);
    assert_eq!(margin("avg<500", Statistic::AtLeast(600.0, "timeout")), None);
    assert_eq!(margin("nonsense", Statistic::Number(1.0)), None);
}

#[test]
fn long_reports_say_what_they_leave_out() {
    let mut report = failed();
    let message = |index: usize| format!("error {index} {}", "|<x>".repeat(1_000));
    report.errors.distinct = (0..5_000)
        .map(|index| ErrorEntry { message: message(index), count: 1, ..ErrorEntry::default() })
        .collect();
    report.log.lines = vec!["<".repeat(100_000); 1_000];
    report.identity.notes = vec!["|".repeat(1 << 20); 500];
    report.identity.tags = vec![("<".repeat(1 << 20), "|".repeat(1 << 10)); 500];
    for scenario in &mut report.summary.scenarios {
        scenario.checks = vec![scenario.checks[0].clone(); 10_000];
    }
    for lang in Lang::ALL {
        let text = markdown::render(&report, lang);
        assert!(text.len() <= markdown::BYTES_MAX, "{}", text.len());
        assert!(text.contains("plimsoll report ab12cd34 --format json"), "{lang:?}");
        assert!(github::step_summary(&report, lang).len() <= github::SUMMARY_BYTES_MAX);
    }
    assert!(markdown::render(&report, Lang::En).contains("… and "));
}

#[test]
fn annotations_are_few_and_count_the_rest() {
    let crossed = |count: usize| {
        let mut report = passed();
        let threshold =
            |index| threshold(&format!("p(95)<{index}"), false, "p(95)", Statistic::Number(48.25));
        report.summary.metrics[0].thresholds = (0..count).map(threshold).collect();
        github::annotations(&report, Lang::En)
    };
    assert_eq!(crossed(0), "");
    assert_eq!(crossed(8).lines().count(), 8);
    let many = crossed(20);
    assert_eq!(many.lines().count(), github::ANNOTATIONS_MAX);
    assert!(many.lines().last().is_some_and(|line| line.contains("::13 more thresholds")), "{many}");
}

#[test]
fn the_first_sentence_names_the_load_the_objective_its_value_and_its_limit() {
    let sentence =
        |report: &RunReport, lang| headline::sentence(report, lang, &str::to_owned, &str::to_owned);
    let vus = |min, max| MetricSummary {
        name: "vus".into(),
        contains: ValueKind::Default,
        values: Values::Gauge { value: max, min, max },
        thresholds: vec![],
    };
    let mut report = passed();
    // A task takes long while its requests are quick.
    let mut tasks = trend("flow_duration", [Statistic::Number(2.0), Statistic::Number(11_000.0)], true);
    tasks.thresholds = vec![threshold("p(95)<3000", false, "p(95)", Statistic::Number(11_000.0))];
    report.summary.metrics.retain(|metric| metric.name != "vus" && metric.name != "http_req_failed");
    report.summary.metrics.extend([tasks, vus(500.0, 500.0)]);
    assert_eq!(
        sentence(&report, Lang::En),
        "Not OK at 500 VUs: flow_duration p95 11s, limit 3s; 1 of 2 thresholds failed"
    );
    assert_eq!(
        sentence(&report, Lang::Ko),
        "VU 500개에서 기준 미달: flow_duration p95 11s, 기준 3s; 임계값 2개 중 1개를 위반했습니다"
    );
    assert!(junit::render(&report).contains("flow_duration"));
    // A long name leaves its value in sight.
    report.summary.metrics.iter_mut().filter(|metric| metric.name == "flow_duration").for_each(|metric| {
        metric.name = format!("flow_duration{{name:{}-last}}", "x".repeat(400));
    });
    let long = sentence(&report, Lang::En);
    assert!(
        long.contains("x…xxx") && long.contains("-last} p95 11s, limit 3s") && long.len() < 150,
        "{long}"
    );

    // A value among failures is beyond its limit by more than any number.
    let hung = Statistic::AtLeast(9_100.0, "failed");
    let mut tasks = trend("hung_task", [Statistic::Number(2.0), hung], true);
    tasks.thresholds = vec![threshold("p(95)<9000", false, "p(95)", hung)];
    report.summary.metrics.push(tasks);
    let text = sentence(&report, Lang::En);
    assert!(text.starts_with("Not OK at 500 VUs: hung_task p95 ≥ 9.1 s (failed), limit 9s; "), "{text}");

    // Thresholds that hold do not hide requests that failed.
    let mut report = passed();
    report.summary.metrics.retain(|metric| metric.name != "vus" && metric.name != "http_req_failed");
    report.summary.metrics.push(vus(1.0, 120.0));
    report.summary.metrics.push(MetricSummary {
        name: "http_req_failed".into(),
        contains: ValueKind::Default,
        values: Values::Rate { passes: 546, total: 1000 },
        thresholds: vec![],
    });
    let text = sentence(&report, Lang::En);
    assert!(
        text.starts_with("OK at up to 120 VUs: all thresholds passed (1); 54.60% of requests failed"),
        "{text}"
    );
    report.summary.metrics.iter_mut().for_each(|metric| metric.thresholds.clear());
    assert_eq!(
        sentence(&report, Lang::En),
        "Inconclusive: the run has no thresholds; 54.60% of requests failed"
    );
    report.identity.step = Some((164.0, LoadUnit::Vus));
    assert_eq!(
        sentence(&report, Lang::En),
        "Step of a study at 164 VUs, judged by the SLOs of the study; 54.60% of requests failed"
    );
    let korean = sentence(&report, Lang::Ko);
    assert!(korean.starts_with("스터디의 VU 164개 단계입니다."), "{korean}");
    assert!(
        markdown::render(&report, Lang::En).contains("## Step of a study"),
        "a step has no sign of a verdict"
    );
}

#[test]
fn names_of_any_length_and_runs_of_any_kind_have_a_sentence() {
    let sentence = |report: &RunReport| crate::json::document_in(report, Lang::En).verdict.sentence;
    let mut report = passed();
    let mut long = trend(&"x".repeat(500), [Statistic::Number(1.0), Statistic::Failed], true);
    long.thresholds = vec![threshold("p(95)<1", false, "p(95)", Statistic::Failed)];
    report.summary.metrics.push(long);
    let text = sentence(&report);
    assert!(text.chars().count() < 300 && text.contains("p95 failed, limit 1ms"), "{text}");
    // Times are named before shares and counts, whose limits are often zero.
    let mut counted = counter("dropped_iterations", 2588.0, 8.6);
    counted.thresholds = vec![threshold("count<1", false, "count", Statistic::Number(2588.0))];
    let mut slow = trend("http_req_waiting", [Statistic::Number(1.0), Statistic::Number(900.0)], true);
    slow.thresholds = vec![threshold("p(95)<800", false, "p(95)", Statistic::Number(900.0))];
    let mut report = passed();
    report.summary.metrics.extend([counted, slow]);
    assert!(
        sentence(&report).starts_with("Not OK: http_req_waiting p95 900ms, limit 800ms"),
        "{}",
        sentence(&report)
    );
    assert_eq!(sentence(&nothing()), "Inconclusive: the run's record is incomplete");
}

/// The first page names what to do next, whatever the diagnosis found.
#[test]
fn the_next_step_follows_from_the_diagnosis() {
    let summary = |outcome: &'static str| {
        let mut report = super::verdicts_fixture::known("scan");
        report.diagnosis.as_mut().expect("a diagnosis").outcome = outcome;
        let text = markdown::render(&report, Lang::En);
        let lines = text.lines().filter(|line| line.starts_with("* **"));
        lines.map(str::to_owned).collect::<Vec<_>>().join("\n")
    };
    let [limited, unlimited, generator] = ["limited", "no_server_bottleneck", "generator"].map(summary);
    assert!(limited.contains("**Next step**") && !limited.contains("**Largest cost**"), "{limited}");
    assert!(
        unlimited.contains("**Largest cost**") && unlimited.contains("**Predicted effect**"),
        "{unlimited}"
    );
    assert!(generator.contains("**Next step**: Give the load generator more CPU"), "{generator}");
    assert!(!generator.contains("**Predicted effect**"), "{generator}");
}

/// A statement is cut in its table, and can be read below it; the table of short ones has nothing below.
#[test]
fn statements_that_a_table_cuts_are_below_it_in_full() {
    let statement = format!("SELECT {} FROM scans WHERE id = $1", "some_column, ".repeat(60));
    let mut report = super::verdicts_fixture::known("scan");
    let is_update = |record: &&mut model::Record| record.subject.starts_with("UPDATE scans");
    let all = std::sync::Arc::make_mut(&mut report.evidence.all);
    let record = all.records.iter_mut().find(is_update).expect("a statement");
    record.subject.clone_from(&statement);
    let text = markdown::render(&report, Lang::En);
    assert!(text.contains(&format!("<pre>{statement}</pre>")), "{text}");
    assert!(text.contains("SELECT some_column") && text.contains("…` |"), "it is cut in the table");
    let short = markdown::render(&super::verdicts_fixture::known("scan"), Lang::En);
    assert!(!short.contains("<pre>UPDATE scans"), "{short}");
}
