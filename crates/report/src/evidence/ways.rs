//! The stages of work through queues, and whether two independent estimates of the queueing time agree.
//!
//! Traces record how long each message waited and was processed. Little's law gives the mean wait from the queue alone: messages in
//! the queue divided by messages per second. Messages that are delivered but not yet started are no longer ready, although they
//! wait. The law is therefore applied twice: to ready messages, and to all messages.

use std::collections::BTreeMap;

use analysis::laws::little;
use analysis::traces::{Stage, StageKind, Way};
use api::page::{QueueLaw, StageRow, WayMeasured, WayRow};
use model::signal::label;
use model::{Signal, SignalId};

use super::{EvidenceView, units};

/// Ways listed at most.
const WAYS_MAX: usize = 20;

/// A percentile needs so many values beyond it, or it is the largest by another name.
const BEYOND_MIN: f64 = 10.0;

/// The numbers of a queue's messages over time.
struct Queue {
    ready: f64,
    unacked: Option<f64>,
    rate_per_s: f64,
}

/// All ways, those of which most traces are first.
pub(super) fn collect(view: &EvidenceView, beyond: &mut u64) -> Vec<WayRow> {
    *beyond += view.ways.len().saturating_sub(WAYS_MAX) as u64;
    view.ways.iter().take(WAYS_MAX).map(|way| row(view, way)).collect()
}

fn row(view: &EvidenceView, way: &Way) -> WayRow {
    let table = &way.table;
    let sum_ns: f64 = table.stages.iter().map(|stage| stage.mean_ns).sum();
    let measured = view.measured.get(&*way.operation).filter(|_| way.is_task);
    WayRow {
        service: way.service.to_string(),
        operation: way.operation.to_string(),
        is_task: way.is_task,
        is_biased: way.is_biased,
        traces: table.traces as u64,
        mean: units::value(table.mean_ns / 1e6, "time"),
        p95: p95(table.traces, table.p95_ns),
        parts: table.stages.iter().map(part).collect(),
        sum: units::value(sum_ns / 1e6, "time"),
        sum_off: off(Some(sum_ns), table.mean_ns),
        measured: measured.map(|measured| WayMeasured {
            count: measured.count,
            mean: units::value(measured.mean_ms, "time"),
            off: off(Some(sum_ns / 1e6), measured.mean_ms),
        }),
        laws: table.stages.iter().filter_map(|stage| law(view, &table.stages, stage)).collect(),
    }
}

fn part(stage: &Stage) -> StageRow {
    StageRow {
        kind: stage.kind.as_str(),
        name: stage.name.clone(),
        traces: stage.traces as u64,
        mean: units::value(stage.mean_ns / 1e6, "time"),
        p95: p95(stage.traces, stage.p95_ns),
        share: units::value(stage.share, "share"),
    }
}

fn p95(count: usize, ns: u64) -> api::page::Value {
    let is_supported = count as f64 * 0.05 >= BEYOND_MIN;
    units::optional(is_supported.then_some(ns as f64 / 1e6), "time")
}

/// How far a figure is from another, as a share of that.
fn off(of: Option<f64>, from: f64) -> api::page::Value {
    units::optional(of.filter(|_| from > 0.0).map(|of| of / from - 1.0), "share")
}

/// Little's law applied to a queue that traces wait in.
fn law(view: &EvidenceView, stages: &[Stage], stage: &Stage) -> Option<QueueLaw> {
    if stage.kind != StageKind::Queue {
        return None;
    }
    let queue = queue(view, &stage.name)?;
    let work = stages.iter().find(|other| other.kind == StageKind::Work && other.name == stage.name);
    let wait_ms = stage.mean_ns / 1e6;
    let stay_ms = work.map(|work| wait_ms + work.mean_ns / 1e6);
    let by_law = |messages: f64| little::time_s(messages, queue.rate_per_s).map(|seconds| seconds * 1e3);
    let wait_by_law = by_law(queue.ready);
    let stay_by_law = queue.unacked.and_then(|unacked| by_law(queue.ready + unacked));
    let time = |ms: Option<f64>| units::optional(ms, "time");
    Some(QueueLaw {
        queue: stage.name.clone(),
        rate: units::value(queue.rate_per_s, "per_second"),
        ready: units::value(queue.ready, "default"),
        unacked: units::optional(queue.unacked, "default"),
        wait: time(Some(wait_ms)),
        wait_by_law: time(wait_by_law),
        wait_off: off(wait_by_law, wait_ms),
        stay: time(stay_ms),
        stay_by_law: time(stay_by_law),
        stay_off: off(stay_by_law, stay_ms.unwrap_or(0.0)),
    })
}

/// Returns the queue of this name if exactly one source reports all terms of Little's law. A source that only scrapes a broker's
/// metrics counts the messages as well, but reports no rates.
fn queue(view: &EvidenceView, name: &str) -> Option<Queue> {
    let is_it = |signal: &&Signal| signal.labels.get(label::QUEUE).is_some_and(|queue| queue == name);
    let mut queues_of_sources: BTreeMap<(&str, &BTreeMap<String, String>), Vec<&Signal>> = BTreeMap::new();
    for signal in view.all.signals.iter().filter(is_it) {
        queues_of_sources.entry((&signal.source, &signal.labels)).or_default().push(signal);
    }
    let mut queues = queues_of_sources.into_values().filter_map(|signals| queue_of(view, &signals));
    queues.next().filter(|_| queues.next().is_none())
}

fn queue_of(view: &EvidenceView, signals: &[&Signal]) -> Option<Queue> {
    let mean = |id: SignalId| {
        let signal = signals.iter().find(|signal| signal.name == id)?;
        mean_over_time(&view.clipped(signal))
    };
    let rate_per_s = mean(SignalId::QueueAcked).or_else(|| mean(SignalId::QueueDelivered))?;
    Some(Queue { ready: mean(SignalId::QueueReady)?, unacked: mean(SignalId::QueueUnacked), rate_per_s })
}

/// The time-weighted mean: each value counts for the time since the one before it.
fn mean_over_time(points: &[(f64, f64)]) -> Option<f64> {
    let (first, last) = (points.first()?, points.last()?);
    let area: f64 = points.windows(2).map(|pair| pair[1].1 * (pair[1].0 - pair[0].0)).sum();
    Some(if last.0 > first.0 { area / (last.0 - first.0) } else { last.1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_over_time_weighs_by_it() {
        assert_eq!(mean_over_time(&[(0.0, 9.0), (1.0, 2.0), (4.0, 6.0)]), Some(5.0));
        assert_eq!(mean_over_time(&[(3.0, 7.0)]), Some(7.0));
        assert_eq!(mean_over_time(&[]), None);
    }
}
