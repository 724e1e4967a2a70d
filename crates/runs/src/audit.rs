//! A stored run as the facts that the auditor checks.

mod generator;
mod twice;

use std::time::Duration;

use analysis::audit::{ClosedLoopFact, RunFacts, ThresholdFact, Version};
use model::metric::builtin::{HTTP_REQ_DURATION, HTTP_REQ_FAILED, HTTP_REQS, ITERATION_DURATION, ITERATIONS};
use model::{Aggregate, ErrorCount, Quantile, RateTotal, ThresholdResult, Trend};
use runfile::Reader;
use tally::{MetricView, Totals, View};

use super::failed;
use super::offered::Offered;
use super::read::{totals_of, whole};
use crate::Failure;

/// Quantiles of every summary: they are defaults, so showing them is no claim of precision.
const USUAL_QUANTILES: [f64; 2] = [90.0, 95.0];

/// Closed-loop executors with a constant number of VUs.
const CLOSED_CONSTANT: [&str; 3] = ["constant-vus", "per-vu-iterations", "shared-iterations"];

/// k6's error code of a request timeout.
const REQUEST_TIMEOUT: u16 = 1050;

/// Response-time metrics that the auditor checks: built-in ones, and their successes.
const TIMES: &[&str] =
    &["http_req_duration", "http_req_duration{expected_response:true}", "http_req_connecting"];

/// Collects the facts of a run.
///
/// # Errors
/// The file is damaged.
pub fn audit_facts(reader: &Reader) -> Result<RunFacts, Failure> {
    let (window, elapsed) = whole(reader)?;
    let totals = totals_of(reader, &window, elapsed)?;
    let view = totals.view(elapsed);
    let rate = match totals.metric(HTTP_REQ_FAILED) {
        Some(Aggregate::Rate(rate)) => rate.clone(),
        _ => RateTotal::default(),
    };
    let checks = view.checks.iter().map(|check| {
        (check.name.clone(), RateTotal { passes: check.passes, total: check.passes + check.fails })
    });
    Ok(RunFacts {
        name: format!("run {}", reader.header().run_id),
        thresholds: view.metrics.iter().flat_map(|metric| thresholds(reader, metric)).collect(),
        times: TIMES.iter().filter_map(|name| Some(((*name).to_owned(), times(&view, name)?))).collect(),
        requests: rate.total,
        failed: rate.passes,
        timeouts: timeouts(&window.errors),
        checks: checks.collect(),
        records: records(reader, &totals)?,
        asked_quantiles: asked_quantiles(reader),
        usages: generator::usages(reader)?,
        twice: twice::facts(reader, &window, &totals)?,
        closed_loop: closed_loop(reader, &totals, elapsed),
    })
}

/// Returns a run as one of several versions of its target; `None` unless the version and the planned rate are known.
///
/// # Errors
/// The file is damaged.
pub fn audit_version(reader: &Reader) -> Result<Option<Version>, Failure> {
    let header = reader.header();
    let Some(version) = header.target_version.clone() else { return Ok(None) };
    let offered = Offered::from_header(header).and_then(|offered| {
        let planned_s = offered.planned_s().filter(|planned_s| *planned_s > 0.0)?;
        Some(offered.due_between(0.0, planned_s)? / planned_s)
    });
    let Some(offered) = offered else { return Ok(None) };
    let (window, elapsed) = whole(reader)?;
    let totals = totals_of(reader, &window, elapsed)?;
    let p95 = match totals.metric(HTTP_REQ_DURATION) {
        Some(Aggregate::Trend(trend)) => match trend.quantile(0.95) {
            Quantile::Value(ms) => Some(ms / 1e3),
            _ => None,
        },
        _ => None,
    };
    let place = format!("run {}", header.run_id);
    Ok(Some(Version { place, version, offered, p95, ..Version::default() }))
}

/// Returns the quantiles in `summaryTrendStats` besides the usual ones, in percent.
fn asked_quantiles(reader: &Reader) -> Vec<f64> {
    let number = |text: &String| -> Option<f64> { text.strip_prefix("p(")?.strip_suffix(')')?.parse().ok() };
    let asked = reader.header().report.trend_stats.iter().filter_map(number);
    asked.filter(|quantile| !USUAL_QUANTILES.contains(quantile)).collect()
}

/// Returns the closed loop, if all scenarios are closed and keep their number of VUs.
fn closed_loop(reader: &Reader, totals: &Totals, elapsed: Duration) -> Option<ClosedLoopFact> {
    let header = reader.header();
    let is_constant =
        |scenario: &runfile::ScenarioFacts| CLOSED_CONSTANT.contains(&scenario.executor.as_str());
    if header.report.scenarios.is_empty() || !header.report.scenarios.iter().all(is_constant) {
        return None;
    }
    let vus = Offered::from_header(header)?.closed_vus()?;
    let (Some(Aggregate::Counter(count)), Some(Aggregate::Trend(times))) =
        (totals.metric(ITERATIONS), totals.metric(ITERATION_DURATION))
    else {
        return None;
    };
    Some(ClosedLoopFact {
        vus: vus as f64,
        iterations_per_s: count.count as f64 / elapsed.as_secs_f64().max(f64::MIN_POSITIVE),
        iteration_s: times.avg()? / 1e3,
    })
}

fn thresholds(reader: &Reader, view: &MetricView) -> Vec<ThresholdFact> {
    let own = view.thresholds.iter().map(|result| fact(reader, view, &view.aggregate, result));
    let below = view
        .sub_metrics
        .iter()
        .flat_map(|sub| sub.thresholds.iter().map(|result| fact(reader, view, &sub.aggregate, result)));
    own.chain(below).collect()
}

fn fact(
    reader: &Reader,
    view: &MetricView,
    aggregate: &Aggregate,
    result: &ThresholdResult,
) -> ThresholdFact {
    let facts = reader.header().thresholds.iter().filter(|facts| facts.selector == result.selector);
    let mut conditions = facts.flat_map(|facts| &facts.conditions);
    ThresholdFact {
        selector: result.selector.clone(),
        kind: view.metric.kind,
        contains: view.metric.contains,
        condition: result.source.clone(),
        limit: result.limit,
        observed: result.observed,
        is_aborting: conditions.any(|condition| condition.source == result.source && condition.abort_on_fail),
        samples: match aggregate {
            Aggregate::Trend(trend) => trend.population(),
            Aggregate::Counter(_) | Aggregate::Gauge(_) | Aggregate::Rate(_) => 0,
        },
    }
}

/// Returns the distribution of a metric or sub-metric, if it has samples.
fn times(view: &View, name: &str) -> Option<Trend> {
    let aggregate = match name.split_once('{') {
        None => &view.metric(name)?.aggregate,
        Some((metric, _)) => &view.metric(metric)?.sub_metrics.iter().find(|sub| sub.name == name)?.aggregate,
    };
    match aggregate {
        Aggregate::Trend(trend) if trend.population() > 0 => Some(trend.clone()),
        _ => None,
    }
}

fn timeouts(errors: &[ErrorCount]) -> u64 {
    errors.iter().filter(|error| error.code == REQUEST_TIMEOUT).map(|error| error.count).sum()
}

/// Returns records that must be complete, with found and expected counts: seconds, worker threads, and a time per request.
fn records(reader: &Reader, totals: &tally::Totals) -> Result<Vec<(String, u64, u64)>, Failure> {
    let mut records = Vec::new();
    let counts = (totals.metric(HTTP_REQS), totals.metric(HTTP_REQ_DURATION));
    if let (Some(Aggregate::Counter(sent)), Some(Aggregate::Trend(timed))) = counts {
        records.push(("requests with a time".to_owned(), sent.count, timed.population()));
    }
    if let Some(ending) = reader.ending() {
        let range = reader.range().map_err(|error| failed(&error))?;
        let seconds = u64::from(range.end - range.start);
        let stored = seconds.saturating_sub(ending.windows_lost);
        records.push(("seconds of the run".to_owned(), seconds, stored));
        let workers = u64::from(reader.header().host.workers);
        records.push(("worker threads".to_owned(), workers, workers.saturating_sub(ending.workers_lost)));
    }
    Ok(records)
}
