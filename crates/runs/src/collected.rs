//! Server-side evidence that was collected with a stored run.

use std::collections::BTreeMap;
use std::sync::Arc;

use analysis::traces::ways;
use histo::Values;
use model::{Aggregate, Datum, Epoch, Instant, OperationLoad, Record, RecordKind, SpanKind, Trace, Window};
use report::evidence::{Collected, EvidenceView, Measured};
use runfile::Reader;

use super::failed;
use crate::Failure;

/// The source of data derived from traces.
const TRACES: &str = "otlp";

/// The duration metric of `plimsoll/flow` tasks.
const TASK_DURATION: &str = "flow_duration";

/// The tag with the script's name for a task.
const TASK_NAME: &str = "flow";

/// Returns all evidence that was collected with a run.
///
/// # Errors
/// The file is damaged.
pub fn collected(reader: &Reader) -> Result<Collected, Failure> {
    let mut records = reader.records().map_err(|error| failed(&error))?;
    records.extend(tasks(reader.operations().map_err(|error| failed(&error))?));
    Ok(Collected {
        signals: reader.signals().map_err(|error| failed(&error))?,
        records,
        gaps: reader.gaps().map_err(|error| failed(&error))?,
        lost: reader.ending().map_or(0, |ending| ending.evidence_lost),
    })
}

/// Returns the evidence of the part of the run that `window` sums up; `zero` is the start of its first second, and `traces` began
/// in that part.
pub fn collected_in(
    reader: &Reader,
    all: Arc<Collected>,
    traces: &[&Trace],
    zero: Instant,
    window: &Window,
) -> EvidenceView {
    let header = reader.header();
    let epoch = Epoch { at: Instant::from_ns(header.started_ns), wall_unix_ns: header.started_wall_ns };
    let seconds = |at: Instant| at.since(zero).as_secs_f64();
    EvidenceView {
        all,
        ways: ways(traces.iter().copied()),
        measured: measured(reader, window),
        zero,
        zero_unix_ns: epoch.wall_unix_ns(zero),
        // Also for the whole run: servers work before and after it.
        part_s: seconds(window.start)..seconds(window.end),
    }
}

/// Returns the traces that began between two instants.
pub fn between(traces: &[Trace], from: Instant, to: Instant) -> Vec<&Trace> {
    let began = |trace: &Trace| {
        let first = trace.spans.first()?;
        u64::try_from(first.start_ns).ok().map(Instant::from_ns)
    };
    traces.iter().filter(|trace| began(trace).is_some_and(|began| from <= began && began < to)).collect()
}

/// Returns how long workers processed messages of each kind, from all received spans.
fn tasks(loads: Vec<OperationLoad>) -> Vec<Record> {
    let mut all: BTreeMap<Arc<str>, Values> = BTreeMap::new();
    for load in loads.into_iter().filter(|load| load.kind == SpanKind::Consumer) {
        all.entry(load.operation).or_default().merge(&load.durations);
    }
    let record = |(operation, durations): (Arc<str>, Values)| {
        let count = durations.count();
        let mean_ms = (count > 0).then(|| durations.sum().value() / count as f64);
        let fields = [
            ("count", Some(count as f64)),
            ("min_ms", durations.min()),
            ("avg_ms", mean_ms),
            ("p95_ms", durations.quantile(0.95)),
            ("max_ms", durations.max()),
        ];
        let fields = fields.into_iter();
        let fields = fields.filter_map(|(name, value)| Some((name.to_owned(), Datum::Number(value?))));
        Record {
            source: TRACES.to_owned(),
            kind: RecordKind::Task,
            at: Instant::ZERO,
            subject: operation.to_string(),
            fields: fields.collect(),
        }
    };
    all.into_iter().map(record).collect()
}

/// Returns the durations of completed tasks, by the root operation of their traces.
fn measured(reader: &Reader, window: &Window) -> BTreeMap<String, Measured> {
    let Some(metric) = reader.registry().find(TASK_DURATION) else { return BTreeMap::new() };
    let mut all: BTreeMap<String, Values> = BTreeMap::new();
    for (key, aggregate) in &window.series {
        let Aggregate::Trend(trend) = aggregate else { continue };
        if key.metric == metric.id {
            let name = reader.tags().get(key.tags).get(TASK_NAME).map(|name| format!("task {name}"));
            all.entry(name.unwrap_or_else(|| "task".to_owned())).or_default().merge(&trend.values);
        }
    }
    let measured = |values: &Values| Measured {
        count: values.count(),
        mean_ms: values.sum().value() / values.count().max(1) as f64,
    };
    let some = all.iter().filter(|(_, values)| values.count() > 0);
    some.map(|(name, values)| (name.clone(), measured(values))).collect()
}
