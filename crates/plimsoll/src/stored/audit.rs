//! A stored run as the facts that the auditor looks at.

use analysis::audit::{RunFacts, ThresholdFact};
use model::metric::builtin::{HTTP_REQ_DURATION, HTTP_REQ_FAILED, HTTP_REQS};
use model::{Aggregate, ErrorCount, RateTotal, ThresholdResult, Trend};
use runfile::Reader;
use tally::{MetricView, View};

use super::failed;
use super::read::{totals_of, whole};
use crate::failure::Failure;

/// k6's number of a request that was given up after its timeout.
const REQUEST_TIMEOUT: u16 = 1050;

/// Times that the auditor looks at: built-in metrics, and the successes among them.
const TIMES: &[&str] =
    &["http_req_duration", "http_req_duration{expected_response:true}", "http_req_connecting"];

/// Everything that the auditor looks at in a run.
///
/// # Errors
/// The file is damaged.
pub(crate) fn audit_facts(reader: &Reader) -> Result<RunFacts, Failure> {
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

/// The distribution of a metric or sub-metric, if it has samples.
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

/// What has to be complete: each second of the run, each worker thread, a time for each request.
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
