//! The closed sets of words in the published shapes. A field that holds one of them has the set in its schema, so that programs
//! in other languages check it when they are compiled.
//!
//! The types exist for the schemas alone: answers hold the word itself.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

macro_rules! closed {
    ($($(#[doc = $doc:literal])+ $name:ident = $($word:literal)|+;)*) => {$(
        $(#[doc = $doc])+
        pub(crate) enum $name {}

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "description": concat!($($doc, "\n"),+).trim(), "type": "string", "enum": [$($word),+] })
            }
        }
    )*};
}

closed! {
    /// Grade of a measurement: whether its numbers can be trusted.
    Grade = "valid" | "unmeasured" | "degraded" | "invalid";
    /// Place of an agent in a run.
    AgentState = "joining" | "running" | "suspect" | "ended" | "lost";
    /// Verdict of a run against its thresholds.
    Verdict = "pass" | "fail" | "inconclusive";
    /// State of a run's record: `partial` has no end on record.
    State = "complete" | "partial" | "live";
    /// Status of a run in lists.
    Status = "live" | "passed" | "failed" | "partial" | "imported";
    /// Server of the page: all runs, the live page of one run, or an exported report.
    Mode = "serve" | "run" | "report";
    /// Type of a metric.
    MetricKind = "counter" | "gauge" | "rate" | "trend";
    /// Unit of a metric's values: `time` is milliseconds, `data` is bytes.
    Contains = "default" | "time" | "data";
    /// Source of a trend's statistics: every value, or a histogram.
    Precision = "exact" | "histogram";
    /// Result of one validity check.
    CheckStatus = "ok" | "warn" | "fail" | "unknown";
    /// Reason for keeping an example request: `bucket` is the first in its power of two of milliseconds.
    ExemplarKind = "slowest" | "failed" | "bucket";
    /// Part of the time of a request or trace.
    PartName = "network" | "target" | "database" | "external" | "queue" | "unseen" | "poll" | "connecting";
    /// Reason for a dropped iteration.
    DropCause = "vus_exhausted" | "vu_starting" | "time_up" | "agent_lost";
    /// Level of a row in the request tree.
    NodeKind = "scenario" | "group" | "request" | "total";
    /// Phase of a request. `lookingUp` is part of `blocked`.
    PhaseName = "blocked" | "lookingUp" | "connecting" | "tls" | "sending" | "waiting" | "receiving";
    /// Style of a piece of text in a report.
    SpanStyle = "plain" | "code" | "strong" | "emphasis";
    /// Level of a log line.
    LogLevel = "debug" | "info" | "warning" | "error";
    /// Severity of an audit finding.
    Severity = "note" | "warning" | "error";
    /// Kind of reasoning that supports a finding.
    Strength = "arithmetic" | "limit" | "statistics" | "pattern";
    /// Trace that represents others: `typical` is the median.
    TraceExemplarName = "fastest" | "typical" | "slowest";
    /// Reason for keeping a trace.
    TraceKept = "sample" | "error" | "slowest" | "bucket" | "found";
    /// Stage of queued work: `submit` is the submission, `poll` the time between completion and the next poll.
    StageKind = "queue" | "work" | "between" | "submit" | "poll";
    /// Row of a trace: `wait` is queueing or time without a span, `fold` stands for the similar rows below it.
    SpanRowKind = "span" | "wait" | "fold";
    /// OpenTelemetry kind of a span.
    SpanKind = "internal" | "server" | "client" | "producer" | "consumer";
    /// Defect of a trace: `circles` are parent cycles, `twins` are duplicate span IDs.
    TraceFlawName = "orphans" | "circles" | "twins" | "cut" | "moved" | "adopted";
    /// Kind of a node of the service map: `outside` is the sender of the requests.
    MapNodeKind = "outside" | "service" | "queue" | "database" | "external";
    /// Health of a metrics source.
    Health = "ok" | "gaps" | "silent";
    /// Group of lanes.
    LaneGroup = "queues" | "workers" | "database" | "cache" | "proxy" | "runtime" | "nodes" | "host" | "other";
    /// Scale of a lane's axis.
    LaneScale = "default" | "share" | "time" | "seconds" | "data" | "data_per_second" | "per_second";
    /// Verdict of a whole comparison.
    ComparisonVerdict = "regressed" | "improved" | "equivalent" | "inconclusive";
    /// Verdict of one row of a comparison.
    RowVerdict = "improved" | "regressed" | "equivalent" | "inconclusive" | "not_available";
    /// Unit of a compared figure: `share` is of 1.
    ComparedUnit = "ms" | "share" | "per_second";
    /// Work that figures of server evidence are per.
    WorkUnit = "request" | "task";
    /// Figure of server evidence.
    EvidenceFigure = "cpu_time" | "queries" | "traced_queries" | "spans" | "pool_in_use" | "pool_wait";
    /// Unit of a figure of server evidence.
    EvidenceUnit = "ms" | "count";
    /// Figure of a run's history.
    HistoryFigureName = "p50" | "p95" | "p99" | "error_share" | "requests_per_second";
    /// Direction of a change.
    Direction = "improved" | "regressed";
    /// Kind of a capacity study: loads from the command line, loads from a search, or rows of a table.
    StudyKind = "sweep" | "capacity" | "table";
    /// Unit of offered load.
    LoadUnit = "vus" | "per_second";
    /// Outcome of a capacity study.
    CapacityVerdict = "confirmed" | "found" | "broke" | "above_all" | "below_all" | "unknown";
    /// Position of the maximum load relative to the measured steps.
    LinePlace = "inside" | "above_all" | "below_all";
    /// Verdict of one load step.
    LevelVerdict =
        "baseline" | "normal" | "knee" | "past_knee" | "saturated" | "slo_exceeded" | "collapse" | "unknown";
    /// Outcome of a diagnosis.
    Outcome = "limited" | "no_server_bottleneck" | "generator" | "cannot_tell";
    /// Activity during a part of the time: queueing, service, network, or not attributed.
    Activity = "waits" | "works" | "travels" | "unseen";
    /// Method of measuring where the time goes.
    TimeMethod = "traces" | "little" | "logs";
    /// Role of a finding.
    Role = "limits" | "contributes" | "outcome";
    /// Cost class of a remedy, the cheapest first.
    CostClass = "logic" | "setting" | "cache" | "resource" | "architecture";
    /// Kind of an example.
    DiagnosisExemplarKind = "trace" | "statement" | "line";
    /// Phase of a live run.
    LivePhase = "initializing" | "setup" | "running" | "teardown" | "ended";
    /// Whether a live run keeps its planned pace.
    LivePaceKind = "saturated" | "losing" | "keeping" | "closed";
}
