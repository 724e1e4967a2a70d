//! What the page reads: the answers of `/api/v1`.
//!
//! Numbers that are shown come with their text, so that the page says what the terminal says; numbers that are drawn come
//! bare, in columns. Times `t` are seconds from the run's first window. A null has its reason beside it. The shapes are
//! published as `docs/format/page.openapi.json`, which a test writes from these types.

mod distribution;
mod evidence;
mod list;
mod live;
mod other;
mod requests;
mod run;
mod series;
mod services;
mod traces;

#[cfg(test)]
mod openapi;

use serde::Serialize;

pub use crate::capacity::CapacityPage;
pub use crate::report::{ReportFact as Fact, ReportValue as Value};
pub use distribution::{Curve, Distribution, Heat, Histogram, QuantileMark};
pub use evidence::{
    Evidence, EvidenceSource, Happening, Lane, LaneGap, LaneLimit, LaneSeries, Peak, QueueRow, StatementRow,
    StoryLine, Subject, TaskRow, WaitRow,
};
pub use list::{RunFigures, RunList, RunRow, ThresholdCount, Unreadable};
pub use live::{Ended, LiveError, LiveState, LiveThresholds, Reset, Tick};
pub use other::{
    ComparePage, ComparisonText, ErrorRow, Errors, Generator, GradeRange, LogRow, Logs, NoteAnswer,
    ThresholdOverTime, Thresholds, Unmeasured, ValidityPage, ValidityReason, VitalSeries,
};
pub use requests::{Phase, RequestNode, RequestStats, Requests, StatusCount};
pub use run::{
    Headline, IterationCounts, MetricName, ModuleHash, RunPage, ScenarioName, ShownWindow, StripItem,
    TabCounts,
};
pub use series::{Column, ErrorSeries, Latency, LimitLine, Mark, Note, NoteKind, Series};
pub use services::{OperationRow, Services, ServicesEdge, ServicesPlace};
pub use traces::{
    PathPiece, RepeatRow, SpanRow, SpeedDifference, SpeedRow, StageRow, TraceExemplar, TraceFlaw, TracePage,
    TracePart, TraceRow, TraceSample, TraceStretch, Traces,
};

/// What answers, and what it can do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct About {
    /// The version of Plimsoll.
    pub version: String,
    /// `serve`, `run` (the live page of a run) or `report` (a file).
    pub mode: &'static str,
    /// Where runs are kept, in words.
    pub place: String,
    /// The run that this process runs, or that the report is of.
    pub run: Option<String>,
    /// Whether notes, baselines and stopping are possible.
    pub can_write: bool,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ApiError {
    /// What went wrong.
    pub error: ApiErrorDetail,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ApiErrorDetail {
    /// The HTTP status.
    pub status: u16,
    /// It in a few words.
    pub title: String,
    /// It in a sentence.
    pub detail: String,
}
