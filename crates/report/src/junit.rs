//! A run as JUnit XML: one suite about the run itself, one of its thresholds, one of its checks.
//!
//! There is no standard; the elements and attributes are those that Jenkins, GitLab and GitHub's reporters agree on. Suites and
//! cases have the same names in every language and run, so that a history of them can be kept.

use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

use model::Grade;

use crate::document::{Judged, RunState, Verdict, Why};
use crate::escape::{short, xml};
use crate::summary::{CheckSummary, share};
use crate::{Lang, RunReport, headline};

/// The run as JUnit XML.
pub fn render(report: &RunReport) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    match write(&mut writer, report) {
        Ok(()) => String::from_utf8_lossy(&writer.into_inner()).into_owned() + "\n",
        Err(error) => unreachable!("memory takes everything: {error}"),
    }
}

/// A case and what became of it.
struct Case {
    name: String,
    class: &'static str,
    result: Result,
}

enum Result {
    Held,
    Failed { message: String, details: String },
    Skipped { message: String },
}

type Xml = Writer<Vec<u8>>;

fn write(writer: &mut Xml, report: &RunReport) -> io::Result<()> {
    let thresholds: Vec<Case> = report.judged().iter().map(threshold).collect();
    let checks: Vec<Case> = report.summary.checks.iter().map(check).collect();
    let run: Vec<Case> = trusted(report).into_iter().chain([run(report)]).collect();
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let all = || run.iter().chain(&thresholds).chain(&checks);
    let (tests, failures, skipped) = (all().count(), count(all(), is_failed), count(all(), is_skipped));
    let seconds = format!("{:.3}", report.identity.elapsed.as_secs_f64());
    let mut root = BytesStart::new("testsuites");
    attributes(&mut root, &[("name", "plimsoll"), ("tests", &tests.to_string())]);
    attributes(&mut root, &[("failures", &failures.to_string()), ("skipped", &skipped.to_string())]);
    attributes(&mut root, &[("time", &seconds)]);
    writer.write_event(Event::Start(root))?;
    suite(writer, "run", &run, report, &properties(report))?;
    for (name, cases) in [("thresholds", &thresholds), ("checks", &checks)] {
        if !cases.is_empty() {
            suite(writer, name, cases, report, &[])?;
        }
    }
    writer.write_event(Event::End(BytesEnd::new("testsuites")))
}

fn suite(
    writer: &mut Xml,
    name: &str,
    cases: &[Case],
    report: &RunReport,
    properties: &[(&str, String)],
) -> io::Result<()> {
    let counts = [cases.len(), count(cases.iter(), is_failed), count(cases.iter(), is_skipped)];
    let [tests, failures, skipped] = counts.map(|count| count.to_string());
    let mut start = BytesStart::new("testsuite");
    attributes(&mut start, &[("name", name), ("tests", &tests), ("failures", &failures)]);
    attributes(&mut start, &[("errors", "0"), ("skipped", &skipped)]);
    attributes(&mut start, &[("timestamp", &api::rfc3339_s(report.identity.started_unix_ns))]);
    writer.write_event(Event::Start(start))?;
    if !properties.is_empty() {
        writer.write_event(Event::Start(BytesStart::new("properties")))?;
        for (name, value) in properties {
            let mut property = BytesStart::new("property");
            attributes(&mut property, &[("name", name), ("value", value)]);
            writer.write_event(Event::Empty(property))?;
        }
        writer.write_event(Event::End(BytesEnd::new("properties")))?;
    }
    cases.iter().try_for_each(|case| self::case(writer, case))?;
    writer.write_event(Event::End(BytesEnd::new("testsuite")))
}

fn case(writer: &mut Xml, case: &Case) -> io::Result<()> {
    let mut start = BytesStart::new("testcase");
    attributes(&mut start, &[("name", &case.name), ("classname", case.class)]);
    match &case.result {
        Result::Held => return writer.write_event(Event::Empty(start)),
        Result::Failed { message, details } => {
            writer.write_event(Event::Start(start))?;
            let mut failure = BytesStart::new("failure");
            attributes(&mut failure, &[("message", message)]);
            writer.write_event(Event::Start(failure))?;
            writer.write_event(Event::Text(BytesText::new(&xml(details))))?;
            writer.write_event(Event::End(BytesEnd::new("failure")))?;
        }
        Result::Skipped { message } => {
            writer.write_event(Event::Start(start))?;
            let mut skipped = BytesStart::new("skipped");
            attributes(&mut skipped, &[("message", message)]);
            writer.write_event(Event::Empty(skipped))?;
        }
    }
    writer.write_event(Event::End(BytesEnd::new("testcase")))
}

fn attributes(element: &mut BytesStart<'_>, attributes: &[(&str, &str)]) {
    for (name, value) in attributes {
        element.push_attribute((*name, xml(value).as_str()));
    }
}

fn count<'a>(cases: impl Iterator<Item = &'a Case>, is_counted: fn(&Result) -> bool) -> usize {
    cases.filter(|case| is_counted(&case.result)).count()
}

fn is_failed(result: &Result) -> bool {
    matches!(result, Result::Failed { .. })
}

fn is_skipped(result: &Result) -> bool {
    matches!(result, Result::Skipped { .. })
}

/// Whether the numbers can be trusted. It fails no build, as it changes no exit code unless that was asked for: what cannot
/// be trusted has not been judged.
fn trusted(report: &RunReport) -> Option<Case> {
    let validity = report.summary.validity.as_ref()?;
    let result = match validity.grade {
        Grade::Valid => Result::Held,
        _ => Result::Skipped { message: crate::validity::line(validity, Lang::En) },
    };
    Some(Case { name: "the measurement is valid".into(), class: "plimsoll.run", result })
}

/// The run itself: failed thresholds are in their own suite, and a run without thresholds and checks is skipped, not passed.
fn run(report: &RunReport) -> Case {
    let sentence = headline::sentence(report, Lang::En, &str::to_owned, &short);
    let has_checks = !report.summary.checks.is_empty();
    let result = match report.verdict() {
        // Whether the run can be trusted is a case of its own.
        (Verdict::Pass, _) | (_, Why::Crossed(..) | Why::Invalid(_)) => Result::Held,
        (Verdict::Fail, _) => Result::Failed { message: sentence.clone(), details: sentence },
        (_, Why::NoThresholds) if has_checks => Result::Held,
        (_, Why::NoThresholds) => Result::Skipped { message: "the run has no thresholds or checks".into() },
        (Verdict::Inconclusive, _) => Result::Skipped { message: sentence },
    };
    Case { name: "the run ended as planned".into(), class: "plimsoll.run", result }
}

fn threshold(judged: &Judged<'_>) -> Case {
    let (metric, source) = (&judged.metric.name, &judged.threshold.source);
    let (statistic, observed) = (&judged.threshold.observed.0, judged.observed_text());
    let message = format!("{statistic}={observed}, limit {}", judged.limit_text());
    let result = match (judged.threshold.ok, judged.is_unmeasured()) {
        (true, false) => Result::Held,
        (true, true) => Result::Skipped { message },
        (false, _) => Result::Failed { details: format!("{metric}: {source}: {message}"), message },
    };
    Case { name: format!("{metric}: {source}"), class: "plimsoll.thresholds", result }
}

fn check(check: &CheckSummary) -> Case {
    let total = check.passes.saturating_add(check.fails);
    let message = format!("passed {} of the time: {} of {total}", share(check.passes, total), check.passes);
    let result = match check.fails {
        0 => Result::Held,
        _ => Result::Failed { details: format!("{}: {message}", check.name), message },
    };
    Case { name: check.name.clone(), class: "plimsoll.checks", result }
}

fn properties(report: &RunReport) -> Vec<(&'static str, String)> {
    let identity = &report.identity;
    let state = match report.state {
        RunState::Complete => "complete",
        RunState::Partial => "partial",
        RunState::Live => "live",
    };
    let part = |part: crate::document::TimeRange| format!("{:?} to {:?}", part.from, part.to);
    let validity = report.summary.validity.as_ref().map(|one| crate::validity::line(one, Lang::En));
    let all = [
        ("run_id", identity.id.clone()),
        ("name", identity.name.clone()),
        ("script", identity.script.clone()),
        ("state", state.to_owned()),
        ("window", report.window.map(part).unwrap_or_default()),
        ("validity", validity.unwrap_or_default()),
        ("verdict", report.verdict().0.as_str().to_owned()),
        ("exit_code", report.outcome.as_ref().map(|one| one.exit_code.to_string()).unwrap_or_default()),
        ("commit", identity.commit.clone()),
        ("target_version", identity.target_version.clone()),
        ("plimsoll_version", identity.plimsoll_version.clone()),
    ];
    let tags = identity.tags.iter().map(|(key, value)| ("tag", format!("{key}={value}")));
    all.into_iter().chain(tags).filter(|(_, value)| !value.is_empty()).collect()
}
