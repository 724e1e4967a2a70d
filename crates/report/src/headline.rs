//! The verdict of a run in one sentence: the load, the objective that decides, its value and its limit.
//!
//! Every surface begins with it: the page, reports, JUnit and GitHub summaries.

use std::borrow::Cow;

use model::Unit;
use words::Lang;

use crate::capacity::sentences;
use crate::document::{Judged, Verdict, Why};
use crate::summary::{Statistic, Values};
use crate::{RunReport, number};

/// Metrics that the sentence reads.
const VUS: &str = "vus";
const ITERATIONS: &str = "iterations";
const DROPPED: &str = "dropped_iterations";
const LATENESS: &str = "iteration_lateness";
const FAILED: &str = "http_req_failed";

/// Makes foreign words harmless.
pub type Shown<'a> = &'a dyn Fn(&str) -> String;

/// Returns the verdict in a sentence; `shown` is for messages, `named` for names of metrics.
pub fn sentence(report: &RunReport, lang: Lang, shown: Shown<'_>, named: Shown<'_>) -> String {
    let (verdict, why) = report.verdict();
    if let Some((value, unit)) = report.step_of_study() {
        let step = sentences::load(value, unit, lang);
        let failed = failed_share(report).map(|share| lang.requests_failed(number::percent(share)));
        return std::iter::once(lang.step_at(step)).chain(failed).collect::<Vec<_>>().join("; ");
    }
    let load = load(report, lang);
    let verdict = match (verdict, load) {
        (Verdict::Pass, Some(load)) => lang.ok_at(load),
        (Verdict::Pass, None) => lang.ok().to_owned(),
        (Verdict::Fail, Some(load)) => lang.not_ok_at(load),
        (Verdict::Fail, None) => lang.not_ok().to_owned(),
        (Verdict::Inconclusive, _) => lang.inconclusive().to_owned(),
    };
    format!("{verdict}: {}", reasons(report, why, lang, (shown, named)).join("; "))
}

/// Returns the parts of the reason, the most important first.
fn reasons(report: &RunReport, why: Why, lang: Lang, (shown, named): (Shown<'_>, Shown<'_>)) -> Vec<String> {
    let message = report.outcome.as_ref().map_or("", |outcome| outcome.message.as_str());
    let number = |count: usize| count.to_string();
    let judged = report.judged();
    let failed = || failed_share(report).map(|share| lang.requests_failed(number::percent(share)));
    match why {
        Why::AllHeld(total) => {
            let closest = closest(&judged).map(|one| lang.closest(objective(one, lang, named)));
            std::iter::once(lang.all_passed(number(total))).chain(failed()).chain(closest).collect()
        }
        Why::Crossed(crossed, total) => {
            let worst = worst(&judged).map(|one| objective(one, lang, named));
            worst.into_iter().chain(failed()).chain([lang.crossed(number(crossed), number(total))]).collect()
        }
        Why::Exit(code) if message.is_empty() => vec![lang.exit_code(code)],
        Why::Exit(code) => vec![lang.exit_message(code, shown(message))],
        Why::Unmeasured(unmeasured, total) => vec![lang.unmeasured(number(unmeasured), number(total))],
        Why::Invalid(total) => vec![lang.passed_invalidly(number(total))],
        Why::NoThresholds => std::iter::once(lang.no_thresholds().to_owned()).chain(failed()).collect(),
        Why::PartOnly => vec![lang.partial_range().to_owned()],
        Why::Partial => vec![lang.partial().to_owned()],
        Why::Live => vec![lang.live().to_owned()],
    }
}

/// Returns a threshold with its value and its limit: `checkout_time p95 150ms, limit 100ms`.
pub(crate) fn objective(judged: &Judged<'_>, lang: Lang, named: Shown<'_>) -> String {
    let name = judged.name(|name| named(&clipped(name)));
    lang.objective(name, judged.observed_text(), judged.limit_text())
}

/// A longer name hides the value, and its middle is left out.
const NAME_CHARS_MAX: usize = 64;

/// Characters at the end of a clipped name, where names often differ.
const TAIL_CHARS: usize = 20;

fn clipped(name: &str) -> Cow<'_, str> {
    let chars = name.chars().count();
    if chars <= NAME_CHARS_MAX {
        return Cow::Borrowed(name);
    }
    let head: String = name.chars().take(NAME_CHARS_MAX - TAIL_CHARS - 1).collect();
    let tail: String = name.chars().skip(chars - TAIL_CHARS).collect();
    Cow::Owned(format!("{head}…{tail}"))
}

/// Returns the threshold that the sentence names: the worst one that failed, else the time that is closest to its limit.
pub fn decisive<'a, 'b>(judged: &'a [Judged<'b>]) -> Option<&'a Judged<'b>> {
    worst(judged).or_else(|| closest(judged))
}

/// Returns the failed threshold to name.
fn worst<'a, 'b>(judged: &'a [Judged<'b>]) -> Option<&'a Judged<'b>> {
    let failed = judged.iter().filter(|one| !one.threshold.ok);
    // Of equal ones the first in the order of the script.
    failed.rev().max_by(|a, b| importance(a, b))
}

/// Orders failed thresholds, the most important last: times after shares and counts, whose limits are often zero or one, and of
/// those the one that is farthest beyond its limit.
pub(crate) fn importance(a: &Judged<'_>, b: &Judged<'_>) -> std::cmp::Ordering {
    let rank = |one: &Judged<'_>| match one.metric.values {
        Values::Trend { .. } => 2,
        Values::Rate { .. } => 1,
        _ => 0,
    };
    rank(a).cmp(&rank(b)).then_with(|| excess(a).total_cmp(&excess(b)))
}

/// Returns the metric of the objective on a time that the sentence names, or would name if no other failed.
pub(crate) fn timed(report: &RunReport) -> Option<String> {
    let judged: Vec<Judged<'_>> = report.judged();
    let is_time = |one: &&Judged<'_>| matches!(one.metric.values, Values::Trend { .. });
    let one = worst(&judged).filter(is_time).or_else(|| closest(&judged))?;
    Some(one.metric.name.clone())
}

/// Returns how far a value is beyond its limit, as a share of the limit.
fn excess(judged: &Judged<'_>) -> f64 {
    let Some(limit) = judged.limit else { return 0.0 };
    let observed = match judged.threshold.observed.1 {
        Statistic::Number(value) => value,
        // A value among failures ranks above every number.
        Statistic::AtLeast(..) | Statistic::Failed => f64::INFINITY,
        Statistic::NotApplicable(_) => return 0.0,
    };
    let share = (observed - limit).abs() / limit.abs();
    if share.is_nan() { 0.0 } else { share }
}

/// Returns the threshold on a time with the smallest margin; a share of 100 % has none left to show.
fn closest<'a, 'b>(judged: &'a [Judged<'b>]) -> Option<&'a Judged<'b>> {
    let share = |one: &&Judged<'_>| one.margin.and_then(|margin| margin.share);
    let is_time = |one: &&Judged<'_>| matches!(one.metric.values, Values::Trend { .. });
    let known = judged.iter().filter(|one| is_time(one) && share(one).is_some());
    known.min_by(|a, b| share(a).unwrap_or(f64::MAX).total_cmp(&share(b).unwrap_or(f64::MAX)))
}

/// Returns the share of failed requests, if there are any.
fn failed_share(report: &RunReport) -> Option<f64> {
    match values(report, FAILED)? {
        Values::Rate { passes, total } if *passes > 0 => Some(*passes as f64 / *total as f64),
        _ => None,
    }
}

/// Returns the load: arrivals per second where the plan has a rate, else VUs.
pub(crate) fn load(report: &RunReport, lang: Lang) -> Option<String> {
    let rate = |name: &str| match values(report, name) {
        Some(Values::Counter { rate, .. }) => *rate,
        _ => 0.0,
    };
    // Only scenarios with an arrival rate have due times that a start can be late for.
    let is_open = matches!(values(report, LATENESS), Some(Values::Trend { exact: Some(_), .. }));
    if is_open {
        let rate = rate(ITERATIONS) + rate(DROPPED);
        return (rate > 0.0).then(|| lang.load_rate(words::diagnosis::number(rate, Unit::Count)));
    }
    match values(report, VUS)? {
        Values::Gauge { min, max, .. } if min == max => Some(lang.load_vus(number::plain(*max))),
        Values::Gauge { max, .. } if *max > 0.0 => Some(lang.load_vus_up_to(number::plain(*max))),
        _ => None,
    }
}

fn values<'a>(report: &'a RunReport, name: &str) -> Option<&'a Values> {
    report.summary.metrics.iter().find(|metric| metric.name == name).map(|metric| &metric.values)
}
