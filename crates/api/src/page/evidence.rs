//! Server-side evidence.
//!
//! One answer holds the lanes and the tables that belong to them: a zoom moves all of it at once, and a queue's peak is the
//! same number in the lane, in the table and in the sentence.

use serde::Serialize;

use super::{Fact, StageRow, Value};
use crate::Number;

/// Server-side evidence of the requested time range.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// When the part begins, RFC 3339, UTC.
    pub start: String,
    /// When it ends.
    pub end: String,
    /// The sources.
    pub sources: Vec<EvidenceSource>,
    /// Numbers over time, in the order to show.
    pub lanes: Vec<Lane>,
    /// Lanes that are left out, because there were too many.
    pub lanes_beyond: u64,
    /// Events, in order of time.
    pub happenings: Vec<Happening>,
    /// Happenings that are left out, because there were too many.
    pub happenings_beyond: u64,
    /// Events as sentences, in order.
    pub story: Vec<StoryLine>,
    /// The ways of work through queues, those of which most traces are first.
    pub ways: Vec<WayRow>,
    /// The queues.
    pub queues: Vec<QueueRow>,
    /// Statements of databases, what took most of the time first.
    pub statements: Vec<StatementRow>,
    /// Activities and waits of database sessions, the most frequent first.
    pub waits: Vec<WaitRow>,
    /// Kinds of tasks.
    pub tasks: Vec<TaskRow>,
    /// Profiles, each as a flame graph.
    pub profiles: Vec<Profile>,
    /// The configuration.
    pub configuration: Vec<Subject>,
    /// Warnings from metrics sources.
    pub warnings: Vec<Subject>,
    /// Rows of tables that are left out, because there were too many.
    pub rows_beyond: u64,
    /// Evidence that did not fit into the run's file.
    pub lost: u64,
}

/// A source of evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct EvidenceSource {
    /// Its name in the settings.
    pub name: String,
    /// Its kind; empty where it is unknown.
    pub kind: String,
    /// Its address; empty where it is unknown.
    pub address: String,
    /// `ok`, `gaps` (data is missing), `silent` (no data in the requested time range).
    #[cfg_attr(test, schemars(with = "crate::closed::Health"))]
    pub health: &'static str,
    /// The number of its answers over the whole run; null where they were not counted.
    pub answers: Option<u64>,
    /// How often it did not.
    pub failures: Option<u64>,
    /// Why it failed last; null where its last answer was one.
    pub trouble: Option<String>,
    /// The number of its points.
    pub points: u64,
    /// The first of them, seconds; null where there is none.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub first: Option<Number>,
    /// The last of them.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub last: Option<Number>,
    /// Its gaps.
    pub gaps: Vec<LaneGap>,
    /// Further facts.
    pub facts: Vec<Fact>,
}

/// A time of which nothing is known.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LaneGap {
    /// From when, seconds.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub from: Number,
    /// Until when.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub to: Number,
    /// Why.
    pub reason: String,
}

/// Series of one source in one unit, drawn above each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Lane {
    /// Its name in addresses: stays the same while the sources are the same.
    pub key: String,
    /// `queues`, `workers`, `database`, `cache`, `proxy`, `runtime`, `nodes`, `host`, `other`.
    #[cfg_attr(test, schemars(with = "crate::closed::LaneGroup"))]
    pub group: &'static str,
    /// Its title.
    pub title: String,
    /// The signals that are drawn.
    pub signals: Vec<String>,
    /// Whether series of several labels are added up to those that are drawn.
    pub is_summed: bool,
    /// The unit of axes: `default`, `share`, `time` (milliseconds), `seconds`, `data` (bytes), `data_per_second`,
    /// `per_second`.
    #[cfg_attr(test, schemars(with = "crate::closed::LaneScale"))]
    pub scale: &'static str,
    /// The unit in UCUM, as the source has it.
    pub unit: String,
    /// Whether a value holds until the next.
    pub is_stepped: bool,
    /// Whether the highest points are to be named.
    pub names_peaks: bool,
    /// The source.
    pub source: String,
    /// Milliseconds between points; zero where they come when something happens.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub step_ms: Number,
    /// The query.
    pub queries: Vec<String>,
    /// Queries that are left out, because there were too many.
    pub queries_beyond: u64,
    /// The series, in the order of their labels.
    pub series: Vec<LaneSeries>,
    /// Series that are left out, those with the lowest peaks.
    pub series_beyond: u64,
    /// The limit.
    pub limits: Vec<LaneLimit>,
    /// When nothing is known.
    pub gaps: Vec<LaneGap>,
}

/// One series of a lane.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LaneSeries {
    /// Its label among those of its lane.
    pub label: String,
    /// All of its labels.
    pub labels: Vec<Fact>,
    /// When, seconds, rising.
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub t: Vec<Number>,
    /// The values: of many, the smallest and the largest of neighbours. Null where the line breaks.
    #[cfg_attr(test, schemars(with = "Vec<Option<f64>>"))]
    pub values: Vec<Option<Number>>,
    /// The highest point.
    pub peak: Peak,
    /// The first value.
    pub start: Value,
    /// The last one.
    pub end: Value,
    /// Its own limit; null where there is none.
    pub limit: Option<Value>,
}

/// The highest point of a series.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Peak {
    /// When, seconds: the first time that it was so high.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub t: Number,
    /// How high.
    pub value: Value,
}

/// A limit as a line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LaneLimit {
    /// Where.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub value: Number,
    /// It in words.
    pub text: String,
}

/// Something that happened once.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Happening {
    /// When, seconds.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub t: Number,
    /// The source.
    pub source: String,
    /// The subject.
    pub subject: String,
    /// The event.
    pub text: String,
}

/// A sentence of what happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoryLine {
    /// When, seconds.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub t: Number,
    /// Until when; null where it is a moment.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub to: Option<Number>,
    /// When, as a clock: `0:38–2:08`.
    pub clock: String,
    /// The value.
    pub text: String,
    /// The lane that it is read from; null where it is from none.
    pub lane: Option<String>,
}

/// The way of work through queues, from its submission to its answer, in the part that is looked at.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WayRow {
    /// The service of the root.
    pub service: String,
    /// The operation of the root.
    pub operation: String,
    /// Whether it is a task of `plimsoll/flow`, so that its length is the time that the client waited.
    pub is_task: bool,
    /// Whether its traces were kept for what is remarkable about them, and stand for no others.
    pub is_biased: bool,
    /// How many traces it is the mean of.
    pub traces: u64,
    /// How long it took.
    pub mean: Value,
    /// The 95th percentile.
    pub p95: Value,
    /// Its parts, in the order in which they begin on average.
    pub parts: Vec<StageRow>,
    /// The parts' means added up.
    pub sum: Value,
    /// How far that is from `mean`, as a share of it.
    pub sum_off: Value,
    /// The time of all such tasks as the client measured it; null where it did not.
    pub measured: Option<WayMeasured>,
    /// Little's law on its queues.
    pub laws: Vec<QueueLaw>,
}

/// The time of tasks, as the client measured it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WayMeasured {
    /// How many were finished.
    pub count: u64,
    /// How long they took on average.
    pub mean: Value,
    /// How far the sum of the parts is from that, as a share of it.
    pub off: Value,
}

/// A queue by its traces and by Little's law: messages ÷ rate = time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct QueueLaw {
    /// Its name.
    pub queue: String,
    /// Messages per second that came through.
    pub rate: Value,
    /// Messages that were ready, on average.
    pub ready: Value,
    /// Messages that consumers had taken and not acknowledged, on average.
    pub unacked: Value,
    /// The time from a message's publication to the start of its processing, by traces.
    pub wait: Value,
    /// `ready` ÷ `rate`.
    pub wait_by_law: Value,
    /// How far the law is from the traces, as a share of these.
    pub wait_off: Value,
    /// How long messages waited and were worked on, by traces.
    pub stay: Value,
    /// (`ready` + `unacked`) ÷ `rate`.
    pub stay_by_law: Value,
    /// How far the law is from the traces, as a share of these.
    pub stay_off: Value,
}

/// A queue.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct QueueRow {
    /// The sources, the preferred one first.
    pub sources: Vec<String>,
    /// Its name.
    pub queue: String,
    /// Messages that were ready at first. Those that consumers had taken are apart.
    pub start: Value,
    /// The most that were ready.
    pub peak: Value,
    /// The time in seconds; null where it is unknown.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub peak_t: Option<Number>,
    /// When, as a clock.
    pub peak_clock: String,
    /// How many were ready at last.
    pub end: Value,
    /// The most that consumers had taken and not acknowledged.
    pub unacked_peak: Value,
    /// The fewest consumers.
    pub consumers_min: Value,
    /// The most.
    pub consumers_max: Value,
    /// As many as there were for most of the time.
    pub consumers_steady: Value,
    /// How many messages a consumer may take at once.
    pub prefetch: Value,
    /// The share of time in which the queue could hand over at once, on average.
    pub utilisation: Value,
}

/// A statement of a database.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StatementRow {
    /// The source.
    pub source: String,
    /// Its text, without its parameters.
    pub text: String,
    /// How often it was called.
    pub calls: Value,
    /// How long all calls took.
    pub total: Value,
    /// How long one took, on average.
    pub mean: Value,
    /// The share of the time of all statements; of the listed ones, where the source has no total.
    pub share: Value,
    /// Blocks that were found in memory.
    pub blocks_hit: Value,
    /// Blocks that were read.
    pub blocks_read: Value,
    /// Further facts.
    pub facts: Vec<Fact>,
}

/// Activities and waits of sessions.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WaitRow {
    /// The source.
    pub source: String,
    /// The kind of wait.
    pub kind: String,
    /// For what.
    pub event: String,
    /// How many sessions at a time, on average.
    pub mean: Value,
    /// The most at a time.
    pub peak: Value,
    /// Of all that were active.
    pub share: Value,
}

/// A kind of task.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TaskRow {
    /// The source.
    pub source: String,
    /// Its name.
    pub task: String,
    /// How many.
    pub count: Value,
    /// The shortest.
    pub min: Value,
    /// The mean.
    pub avg: Value,
    /// The 95th percentile.
    pub p95: Value,
    /// The longest.
    pub max: Value,
}

/// Facts about a subject.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Subject {
    /// When, seconds.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub t: Number,
    /// The source.
    pub source: String,
    /// The subject.
    pub subject: String,
    /// The facts.
    pub facts: Vec<Fact>,
}

/// A profile of a program, by call stack.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Profile {
    /// The source.
    pub source: String,
    /// The profile type: `cpu`.
    pub subject: String,
    /// From when on, seconds.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub t: Number,
    /// The same as a clock.
    pub clock: String,
    /// How long it was.
    pub length: Value,
    /// How much was done.
    pub total: Value,
    /// The query.
    pub query: String,
    /// The widest frames, those that each calls behind it.
    pub frames: Vec<Frame>,
    /// Frames that are left out, because there were too many.
    pub frames_left_out: u64,
    /// The functions that did most by themselves.
    pub functions: Vec<FunctionRow>,
}

/// A call in a flame graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Frame {
    /// How many calls are around it.
    pub depth: u32,
    /// Where it begins, a share of the whole width.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub from: Number,
    /// How wide it is.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub width: Number,
    /// The function.
    pub name: String,
    /// Its total, with its callees.
    pub text: String,
}

/// A function of a profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FunctionRow {
    /// Its name.
    pub name: String,
    /// Its own share, without callees.
    pub own: Value,
    /// The share of that.
    pub share: Value,
}
