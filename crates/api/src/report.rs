//! The document of `report --format json`: one run as a whole.
//!
//! The shape is published as `docs/format/report.schema.json`, which a test writes from these types. Keys may be added
//! within a major version; a key that changes its meaning or goes away makes a new one.

use serde::Serialize;

use crate::capacity::CapacityStudy;
use crate::comparison::Comparison;
use crate::diagnosis::DiagnosisReport;
use crate::page::Evidence;
use crate::{Number, Ordered};

/// The version of the shape.
pub const SCHEMA_VERSION: &str = "1.3.0";

/// Everything that is known of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The version of this shape: major, minor, patch.
    pub schema_version: &'static str,
    /// The validity of the measurement; null where it was not judged.
    pub validity: Option<ReportValidity>,
    /// The verdict on the target.
    pub verdict: ReportVerdict,
    /// Which run it is.
    pub run: ReportRun,
    /// The exit code and its meaning; null where it is unknown.
    pub outcome: Option<ReportOutcome>,
    /// Every threshold, by metric, in the order of the script.
    pub thresholds: Vec<ReportThreshold>,
    /// Metrics and sub-metrics (`metric{tag:value}`) of the whole run, by name.
    pub metrics: Vec<ReportMetric>,
    /// All checks over all groups, one per name.
    pub checks: Vec<ReportCheck>,
    /// Each scenario.
    pub scenarios: Vec<ReportPart>,
    /// The groups of the whole run.
    pub groups: Vec<ReportPart>,
    /// Requests by the tags `method` and `name`.
    pub endpoints: Vec<ReportEndpoint>,
    /// Distinct errors, the most frequent first.
    pub errors: Vec<ReportError>,
    /// Errors that are in no entry, because there were too many distinct ones.
    pub errors_beyond: u64,
    /// Single requests that stand for others.
    pub exemplars: Vec<ReportExemplar>,
    /// The state of the load generator.
    pub generator: ReportGenerator,
    /// Host and environment.
    pub environment: Vec<ReportFact>,
    /// The consolidated options, with k6's keys.
    #[cfg_attr(test, schemars(with = "Option<std::collections::BTreeMap<String, serde_json::Value>>"))]
    pub options: Option<serde_json::Value>,
    /// The last lines of the log.
    pub log: ReportLog,
    /// Server-side evidence; absent where none was collected, and on the page, which requests it separately.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Evidence"))]
    pub evidence: Option<Evidence>,
    /// The diagnosis; absent where there is none, and on the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "DiagnosisReport"))]
    pub diagnosis: Option<DiagnosisReport>,
    /// The study of capacity that the run is a step of; absent where it is of none, and on the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "CapacityStudy"))]
    pub capacity: Option<CapacityStudy>,
    /// The comparison with the previous run of the same script; absent where there is none, and on the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Comparison"))]
    pub previous: Option<Comparison>,
}

/// Whether the numbers can be trusted: what is said about the generator and the data before the target.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportValidity {
    /// `valid`, `unmeasured`, `degraded`, `invalid`.
    #[cfg_attr(test, schemars(with = "crate::closed::Grade"))]
    pub grade: &'static str,
    /// The same with its reasons, as the terminal shows it.
    pub line: String,
    /// Every reason, the worst first.
    pub reasons: Vec<ReportReason>,
    /// Faults that were not measured.
    pub unmeasured: Vec<&'static str>,
    /// How many seconds were judged, by grade.
    pub seconds: ReportSeconds,
}

/// Something that is wrong with a measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportReason {
    /// The fault: `start_lag`, `worker_cpu`, ….
    pub fault: &'static str,
    /// How bad it is for the run; `valid` is a remark.
    #[cfg_attr(test, schemars(with = "crate::closed::Grade"))]
    pub grade: &'static str,
    /// The worst value measured.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub observed: Number,
    /// The limit.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub limit: Number,
    /// The unit of both: `1` for shares, `ms`, or none for a number of things.
    pub unit: &'static str,
    /// Seconds from the start in which it was so, as first and last; empty where it is of the run as a whole.
    pub seconds: Vec<[u32; 2]>,
}

/// Judged seconds by grade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportSeconds {
    /// Nothing is wrong with them.
    pub valid: u64,
    /// Too little was measured.
    pub unmeasured: u64,
    /// To be used with care.
    pub degraded: u64,
    /// To be left out.
    pub invalid: u64,
}

/// The verdict on the target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportVerdict {
    /// `pass`, `fail`, `inconclusive`.
    #[cfg_attr(test, schemars(with = "crate::closed::Verdict"))]
    pub verdict: &'static str,
    /// Why, in an English sentence.
    pub sentence: String,
}

/// Which run it is. Texts that are not known are empty.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportRun {
    /// The run's id.
    pub id: String,
    /// The name its owner gave it.
    pub name: String,
    /// The script as it was named.
    pub script: String,
    /// `complete`, `partial` (it ended without an ending on record), `live` (still going).
    #[cfg_attr(test, schemars(with = "crate::closed::State"))]
    pub state: &'static str,
    /// The start by the wall clock, RFC 3339, UTC.
    pub started: String,
    /// From the start to the end, or as far as is known, milliseconds.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub elapsed_ms: Number,
    /// The part of the run that all numbers are of; absent for the whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "ReportWindow"))]
    pub window: Option<ReportWindow>,
    /// The version of Plimsoll that ran it.
    pub plimsoll_version: String,
    /// The commit that the script was in.
    pub commit: String,
    /// Whether there were changes on top of that commit.
    pub dirty: bool,
    /// The version of what was tested.
    pub target_version: String,
    /// The run's own tags.
    pub tags: Vec<ReportFact>,
    /// Notes.
    pub notes: Vec<String>,
    /// Where the run comes from, if another tool made it; absent for runs of Plimsoll.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "ReportImport"))]
    pub imported: Option<ReportImport>,
}

/// Where a run of another tool comes from, and what is not known of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportImport {
    /// The format: `k6-json`, `k6-csv`, `k6-summary`, `k6-text`, `ngrinder`.
    pub source: String,
    /// The name of the file that was read.
    pub file: String,
    /// Whether `started` is the source's; if not, it is the time of the import.
    pub is_start_known: bool,
    /// Facts that the source lacks, a sentence each.
    pub gaps: Vec<String>,
    /// Figures as the source stated them, or as they follow from its rows.
    pub figures: Vec<ReportFigure>,
}

/// One figure of a source.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportFigure {
    /// Its kind.
    pub name: String,
    /// Its value.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub value: Number,
    /// `ms`, `%`, `/s`; empty for a plain count.
    pub unit: String,
    /// How to read it; empty where the name says all.
    pub note: String,
}

/// A part of a run, from its start.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportWindow {
    /// Where it begins, milliseconds.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub from_ms: Number,
    /// Where it ends, milliseconds.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub to_ms: Number,
}

/// How the process ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportOutcome {
    /// Its exit code.
    pub exit_code: u8,
    /// The meaning of the code; empty with code 0.
    pub message: String,
}

/// A number and its precision.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportValue {
    /// The number in the metric's unit (times in milliseconds, data in bytes, rates as shares of 1); with `censored`, a
    /// lower bound of it. Null where there is none.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub value: Option<Number>,
    /// As the terminal shows it.
    pub text: String,
    /// Why the value is only a bound or missing: `timeout`, `cut`, `dropped`, `failed`, or `n/a: …`; absent for a number
    /// that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub censored: Option<String>,
}

/// A threshold and how it ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportThreshold {
    /// The metric or sub-metric.
    pub metric: String,
    /// The condition as written.
    pub condition: String,
    /// Whether it held.
    pub ok: bool,
    /// The statistic that was compared.
    pub statistic: String,
    /// The observed value.
    pub observed: ReportValue,
    /// The limit, in the metric's unit.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub limit: Option<Number>,
    /// The same as the terminal shows it.
    pub limit_text: String,
    /// How far the observed value was from the limit, in the metric's unit: positive is head-room. Null where the observed
    /// value is a bound or missing, and for `==` and `!=`.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub margin: Option<Number>,
    /// The same as a share of the limit.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub margin_share: Option<Number>,
}

/// A metric or sub-metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportMetric {
    /// `metric` or `metric{tag:value,…}`.
    pub name: String,
    /// `counter`, `gauge`, `rate`, `trend`.
    #[serde(rename = "type")]
    #[cfg_attr(test, schemars(with = "crate::closed::MetricKind"))]
    pub kind: &'static str,
    /// `default`, `time` (milliseconds), `data` (bytes).
    #[cfg_attr(test, schemars(with = "crate::closed::Contains"))]
    pub contains: &'static str,
    /// Counter `count`, `rate` (per second); gauge `value`, `min`, `max`; rate `rate`, `passes`, `fails`; trend the
    /// statistics that were asked for.
    #[cfg_attr(test, schemars(with = "std::collections::BTreeMap<String, ReportValue>"))]
    pub values: Ordered<ReportValue>,
    /// Of a trend, whether it was computed from every value (`exact`) or from a histogram (`histogram`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "crate::closed::Precision"))]
    pub precision: Option<&'static str>,
    /// The relative error that a histogram's quantiles have at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "f64"))]
    pub relative_error_max: Option<Number>,
    /// Values that failed without a time, of which `avg` knows nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "u64"))]
    pub untimed: Option<u64>,
    /// Why it cannot have values in this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "&'static str"))]
    pub not_applicable: Option<&'static str>,
}

/// A check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportCheck {
    /// Its name.
    pub name: String,
    /// How often it held.
    pub passes: u64,
    /// How often it did not.
    pub fails: u64,
}

/// A scenario or group.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportPart {
    /// Its name.
    pub name: String,
    /// A group's names from the root, each after `::`; empty for a scenario.
    pub path: String,
    /// Its checks.
    pub checks: Vec<ReportCheck>,
    /// Metrics of its samples.
    pub metrics: Vec<ReportMetric>,
    /// Groups in it.
    pub groups: Vec<ReportPart>,
}

/// The requests of one endpoint.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportEndpoint {
    /// The tag `method`.
    pub method: String,
    /// The tag `name`.
    pub name: String,
    /// How many.
    pub requests: u64,
    /// How many of them failed.
    pub failed: u64,
    /// Their `http_req_duration`.
    pub duration: ReportMetric,
}

/// A distinct error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportError {
    /// k6's error code; 0 for exceptions of the script.
    pub code: u16,
    /// The message.
    pub message: String,
    /// How often.
    pub count: u64,
    /// The first one in full.
    pub example: String,
}

/// A request that stands for others.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportExemplar {
    /// `slowest`, `failed`, `bucket` (the first of its power of two milliseconds).
    #[cfg_attr(test, schemars(with = "crate::closed::ExemplarKind"))]
    pub kind: &'static str,
    /// When it ended, milliseconds from the start of the run.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub at_ms: Number,
    /// Its `http_req_duration`, milliseconds.
    pub duration: ReportValue,
    /// The tag `method`.
    pub method: String,
    /// Its URL, or the tag `name`.
    pub url: String,
    /// The tag `status`.
    pub status: String,
    /// The trace it belongs to, 32 hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub trace_id: Option<String>,
    /// Whether that trace is in the run's file.
    pub is_trace_kept: bool,
    /// Whose its time was, from connecting to the last byte; empty where no trace says so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<ReportExemplarPart>,
    /// The error; empty where there is none.
    pub error: String,
}

/// A part of the time of a request.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportExemplarPart {
    /// `network`, `target`, `database`, `external`, `queue`, `unseen`, `poll`, `connecting`.
    #[cfg_attr(test, schemars(with = "crate::closed::PartName"))]
    pub name: &'static str,
    /// How long it was.
    pub duration: ReportValue,
}

/// The state of the load generator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportGenerator {
    /// Threads that made load; 0 where that is not known.
    pub workers: u32,
    /// Threads that stopped answering.
    pub workers_lost: u32,
    /// Samples that did not fit into a queue to an export.
    pub samples_lost: u64,
    /// Windows that did not reach the run file.
    pub windows_lost: u64,
    /// Iterations that were due and not started.
    pub drops: Vec<ReportDrop>,
}

/// Iterations that were due and not started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportDrop {
    /// The scenario.
    pub scenario: String,
    /// `vus_exhausted`, `vu_starting`, `time_up`, `agent_lost`.
    #[cfg_attr(test, schemars(with = "crate::closed::DropCause"))]
    pub cause: &'static str,
    /// How many.
    pub count: u64,
}

/// A name and a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportFact {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
}

/// The last lines of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportLog {
    /// Lines before them.
    pub before: u64,
    /// The lines, the oldest first.
    pub lines: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `UPDATE_EXPECT=1 cargo test -p api` writes the file anew.
    #[test]
    fn the_published_schema_is_that_of_the_types() {
        let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<Report>();
        let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
        expect_test::expect_file!["../../../docs/format/report.schema.json"].assert_eq(&text);
    }
}
