//! The answers of `/api/v1`, which the page reads.
//!
//! The shapes are published as `docs/format/page.openapi.json`, which a test writes from these types; the types of the page
//! (`ui/src/api/contract.ts`) are generated from that file. Every answer keeps these rules:
//!
//! * Keys are camelCase. Times `t` are seconds from the run's first window and may have a fraction; keys that end in `Ms` are
//!   milliseconds; wall-clock times are RFC 3339 in UTC. Shares are of 1, data is in bytes.
//! * `null` means that there is no value; a key beside it gives the reason.
//! * The page computes no statistics. A number that is shown has its text, the same as in the terminal; numbers for charts come
//!   without text, in columns, and the page formats them by the rules of `crates/report/src/number.rs`, which the vectors in
//!   `crates/report/golden` test.
//! * Strings from scripts and servers are untrusted: the page inserts them as text nodes only.
//! * `lang=en|ko` (default `en`) changes sentences, never keys or numbers.
//! * `from` and `to` (whole seconds, `to` exclusive) restrict an answer about a run to these windows.
//! * Errors are [`ApiError`] with a status of 4xx or 5xx. Answers to GET have an ETag; `If-None-Match` returns 304.

mod distribution;
mod document;
mod evidence;
mod fleet;
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
pub use document::{
    ReportBlock, ReportChapter, ReportColumn, ReportDocument, ReportObjective, ReportSection, ReportSpan,
};
pub use evidence::{
    Evidence, EvidenceSource, Frame, FunctionRow, Happening, Lane, LaneGap, LaneLimit, LaneSeries, Peak,
    Profile, QueueLaw, QueueRow, StatementRow, StoryLine, Subject, TaskRow, WaitRow, WayMeasured, WayRow,
};
pub use fleet::{FleetAgent, FleetPage};
pub use list::{RunFigures, RunList, RunObjective, RunRow, RunStudy, ThresholdCount, Unreadable};
pub use live::{Ended, LiveError, LivePace, LiveState, LiveThresholds, Reset, Tick};
pub use other::{
    ComparePage, ComparedSide, ComparedSides, ComparisonText, ErrorRow, Errors, EvidenceText, Generator,
    GradeRange, LogRow, Logs, NoteAnswer, SidesCell, SidesFinding, SidesRow, ThresholdOverTime, Thresholds,
    Unmeasured, ValidityPage, ValidityReason, VitalSeries,
};
pub use requests::{Phase, RequestNode, RequestStats, Requests, StatusCount};
pub use run::{
    Headline, IterationCounts, MetricName, ModuleHash, RunPage, ScenarioName, ShownWindow, StripItem,
    TabCounts,
};
pub use series::{
    ChosenSeries, Column, ErrorSeries, Latency, LimitLine, Mark, Note, NoteKind, Series, StatusSeries,
};
pub use services::{OperationRow, Services, ServicesEdge, ServicesPlace};
pub use traces::{
    PathPiece, RepeatRow, SpanRow, SpeedDifference, SpeedRow, StageRow, TraceExemplar, TraceFlaw, TracePage,
    TracePart, TraceRow, TraceSample, TraceStretch, Traces,
};

/// The version, the scope and the rights of the page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct About {
    /// The version of Plimsoll.
    pub version: String,
    /// `serve`, `run` (the live page of a run) or `report` (a file).
    #[cfg_attr(test, schemars(with = "crate::closed::Mode"))]
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
    /// The error.
    pub error: ApiErrorDetail,
}

/// An error.
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
