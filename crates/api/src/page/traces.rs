//! Traces: what servers say they did for single requests.

use serde::Serialize;

use super::{Fact, Value};
use crate::Number;

/// Traces that were kept, as a search found them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Traces {
    /// All that were kept.
    pub total: u64,
    /// Those that were found.
    pub matching: u64,
    /// Traces that are not listed individually: the shortest.
    pub left_out: u64,
    /// How those that were kept were chosen.
    pub sample: TraceSample,
    /// Services that appear in any of them.
    pub services: Vec<String>,
    /// Operations at their roots.
    pub operations: Vec<String>,
    /// Those that stand for others.
    pub exemplars: Vec<TraceExemplar>,
    /// Those that were found, the longest first.
    pub traces: Vec<TraceRow>,
    /// Whose the time was, on average; of the unbiased sample where it has any of those that were found.
    pub parts: Vec<TracePart>,
    /// How many traces `parts` and `stages` are of.
    pub averaged: u64,
    /// Whether these are all that were found, of which slow ones and failures are more than their share.
    pub is_biased: bool,
    /// The same for work that went through queues, stage by stage; empty where there is none.
    pub stages: Vec<StageRow>,
    /// How long they took on average; null without traces.
    pub mean: Option<Value>,
    /// Operations in which slow traces take longer than fast ones; null for few traces.
    pub difference: Option<SpeedDifference>,
}

/// How traces were chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TraceSample {
    /// The share of all traces that is in the unbiased sample; null without one.
    pub share: Option<Value>,
    /// Traces of the unbiased sample.
    pub sampled: u64,
    /// Traces that were kept because something in them failed.
    pub errors: u64,
    /// Traces that were kept because they are among the slowest.
    pub slowest: u64,
    /// Traces that were kept for a bucket of the histogram of what they begin with.
    pub buckets: u64,
    /// Traces that a store of traces had: neither all of them nor an unbiased sample.
    pub found: u64,
}

/// A trace that stands for others.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TraceExemplar {
    /// `fastest`, `typical` (the median), `slowest`.
    #[cfg_attr(test, schemars(with = "crate::closed::TraceExemplarName"))]
    pub name: &'static str,
    /// Its number.
    pub id: String,
    /// How long it took.
    pub duration: Value,
}

/// A trace in a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TraceRow {
    /// Its number, 32 hexadecimal digits.
    pub id: String,
    /// When it began.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub t: Number,
    /// It by the wall clock.
    pub at: String,
    /// The service of its root.
    pub service: String,
    /// The operation of its root.
    pub operation: String,
    /// From its begin until the last of its work was over.
    pub duration: Value,
    /// How long what it begins with took.
    pub answer: Value,
    /// The share of all runs of what it begins with that took no longer; null where they were not counted.
    pub place: Option<Value>,
    /// Spans that failed.
    pub errors: u32,
    /// How many spans there are.
    pub spans: u32,
    /// Why it was kept: `sample`, `error`, `slowest`, `bucket`, `found`.
    #[cfg_attr(test, schemars(with = "crate::closed::TraceKept"))]
    pub kept: &'static str,
    /// Shares of its time: network, target, database, external, queue, unseen, poll, connecting.
    #[cfg_attr(test, schemars(with = "Vec<Option<f64>>"))]
    pub parts: Vec<Number>,
}

/// Whose a part of the time was.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TracePart {
    /// `network`, `target`, `database`, `external`, `queue`, `unseen`, `poll`, `connecting`.
    #[cfg_attr(test, schemars(with = "crate::closed::PartName"))]
    pub name: &'static str,
    /// How long it was.
    pub duration: Value,
    /// Of the whole.
    pub share: Value,
    /// Spans that it is of; queues for `queue`.
    pub count: u64,
}

/// A stage of queued work.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StageRow {
    /// `queue`, `work`, `between`, `submit` (the client submits it), `poll` (it is done, and the client has yet to poll).
    #[cfg_attr(test, schemars(with = "crate::closed::StageKind"))]
    pub kind: &'static str,
    /// The queue; without one, what is done.
    pub name: String,
    /// Traces that have it.
    pub traces: u64,
    /// The mean over all traces; the means add up to that of the whole.
    pub mean: Value,
    /// The 95th percentile of those that have it.
    pub p95: Value,
    /// Of the whole.
    pub share: Value,
}

/// The slow traces of an operation against its fast ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SpeedDifference {
    /// The operation at their roots.
    pub operation: String,
    /// Traces that took no longer than the median.
    pub fast: u64,
    /// Traces that took no less than the 95th percentile.
    pub slow: u64,
    /// The longest of the fast ones.
    pub fast_max: Value,
    /// The shortest of the slow ones.
    pub slow_min: Value,
    /// Operations, the largest difference first.
    pub rows: Vec<SpeedRow>,
}

/// The time of an operation on the critical path.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SpeedRow {
    /// The service.
    pub service: String,
    /// The operation.
    pub operation: String,
    /// `work`, `queue`, `between`.
    #[cfg_attr(test, schemars(with = "crate::closed::StageKind"))]
    pub kind: &'static str,
    /// The mean in fast traces.
    pub fast: Value,
    /// The mean in slow traces.
    pub slow: Value,
    /// How much longer it is in slow ones.
    pub more: Value,
}

/// A trace, as it is drawn. Times are milliseconds from its start.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TracePage {
    /// Its number, 32 hexadecimal digits.
    pub id: String,
    /// When it began.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub t: Number,
    /// It by the wall clock.
    pub at: String,
    /// Why it was kept.
    #[cfg_attr(test, schemars(with = "crate::closed::TraceKept"))]
    pub kept: &'static str,
    /// The service of its root.
    pub service: String,
    /// The operation of its root.
    pub operation: String,
    /// From its start until the last of its work was over.
    pub duration: Value,
    /// How long what it begins with took.
    pub answer: Value,
    /// How many spans there are.
    pub spans: u32,
    /// Spans that failed.
    pub errors: u32,
    /// Services that appear in it.
    pub services: Vec<String>,
    /// Spans, waits and folded repeats, from top to bottom.
    pub rows: Vec<SpanRow>,
    /// Spans that are in no row: those that would come last.
    pub left_out: u64,
    /// Rows whose attributes are not here: there were too many.
    pub bare: u64,
    /// The critical path in order of time, without holes.
    pub path: Vec<PathPiece>,
    /// Its time in parts, without holes; long waits are drawn shorter.
    pub stretches: Vec<TraceStretch>,
    /// Whose the time of the critical path was; the parts add up to the duration.
    pub parts: Vec<TracePart>,
    /// Statements that ran again and again.
    pub repeats: Vec<RepeatRow>,
    /// Faults of the trace that were repaired.
    pub flaws: Vec<TraceFlaw>,
}

/// A row of a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SpanRow {
    /// `span`; `wait`: a message is in its queue, or no traced service works until the next row; `fold`: the rows
    /// below it are alike.
    #[cfg_attr(test, schemars(with = "crate::closed::SpanRowKind"))]
    pub kind: &'static str,
    /// The span's number, 16 hexadecimal digits; that of the next row's for a wait, of the first for a fold.
    pub id: String,
    /// The row that it is below.
    pub parent: Option<u32>,
    /// How many are above it.
    pub depth: u32,
    /// The service.
    pub service: String,
    /// The operation; the queue of a wait, empty where it is in none.
    pub operation: String,
    /// `internal`, `server`, `client`, `producer`, `consumer`.
    #[cfg_attr(test, schemars(with = "crate::closed::SpanKind"))]
    pub side: &'static str,
    /// The database, queue or host that it works with; empty without.
    pub peer: String,
    /// Whose its own time is; see `TracePart`.
    #[cfg_attr(test, schemars(with = "crate::closed::PartName"))]
    pub part: &'static str,
    /// When it begins.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub start: Number,
    /// How long it takes; of a fold, from the first to the last.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub length: Number,
    /// The same as a text; of a fold, all of them together.
    pub duration: Value,
    /// The part that no row below it covers.
    pub own: Value,
    /// How much of it is on the critical path itself.
    pub on_path: Value,
    /// Whether it failed, or one of a fold.
    pub is_error: bool,
    /// How many spans: of a fold all of them.
    pub count: u32,
    /// Of a fold: whether they are one statement again and again.
    pub is_repeated: bool,
    /// The database statement.
    pub statement: Option<String>,
    /// Further attributes.
    pub attributes: Vec<Fact>,
}

/// A part of a critical path.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PathPiece {
    /// Its row; null where that is left out.
    pub row: Option<u32>,
    /// `work`, `queue`, `between`.
    #[cfg_attr(test, schemars(with = "crate::closed::StageKind"))]
    pub kind: &'static str,
    /// Whose it is; see `TracePart`.
    #[cfg_attr(test, schemars(with = "crate::closed::PartName"))]
    pub part: &'static str,
    /// When it begins.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub start: Number,
    /// When it ends.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub end: Number,
}

/// A part of a trace's time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TraceStretch {
    /// When it begins.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub start: Number,
    /// When it ends.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub end: Number,
    /// How long it is.
    pub duration: Value,
    /// Whether it is one long wait.
    pub is_wait: bool,
}

/// A statement that ran again and again.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RepeatRow {
    /// Its fold; null where that is left out.
    pub row: Option<u32>,
    /// It without what differs.
    pub statement: String,
    /// The resource that it ran in.
    pub parent: String,
    /// How often.
    pub count: u64,
    /// How long all together took.
    pub total: Value,
    /// The mean.
    pub mean: Value,
    /// Of the critical path.
    pub share: Value,
    /// How long the trace would be without what is on the critical path.
    pub without: Value,
}

/// A fault of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TraceFlaw {
    /// `orphans`, `circles`, `twins`, `cut`, `moved`, `adopted`.
    #[cfg_attr(test, schemars(with = "crate::closed::TraceFlawName"))]
    pub name: &'static str,
    /// How many spans.
    pub count: u64,
}
