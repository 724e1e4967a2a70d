//! One run.

use serde::Serialize;

use super::{RunFigures, Value};
use crate::report::Report;

/// A run, or a part of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunPage {
    /// The document that `report --format json` writes.
    pub report: Report,
    /// `live`, `passed`, `failed`, `partial`, `imported`.
    #[cfg_attr(test, schemars(with = "crate::closed::Status"))]
    pub status: &'static str,
    /// How many windows there are, each a second.
    pub seconds: u32,
    /// The time range of the numbers.
    pub window: ShownWindow,
    /// The wall clock at t = 0, RFC 3339, UTC.
    pub zero: String,
    /// The wall clock at the end; null where it is unknown.
    pub ended: Option<String>,
    /// The scenarios.
    pub scenarios: Vec<ScenarioName>,
    /// Why there are no response times: no scenario has due times. Null where there are.
    pub no_response_time: Option<&'static str>,
    /// The metrics with samples.
    pub metrics: Vec<MetricName>,
    /// The command that ran it.
    pub command: String,
    /// The source texts.
    pub modules: Vec<ModuleHash>,
    /// How much other answers hold.
    pub counts: TabCounts,
    /// The headline.
    pub headline: Headline,
    /// The note written on the page.
    pub note: String,
    /// Whether runs of its script are compared with it.
    pub is_baseline: bool,
    /// How to see it again when this process is gone.
    pub reopen: String,
}

/// Windows `from` to `to`, which is not among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ShownWindow {
    /// The first.
    pub from: u32,
    /// The one after the last.
    pub to: u32,
    /// Whether they are all there are.
    pub is_whole: bool,
}

/// A scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScenarioName {
    /// Its name.
    pub name: String,
    /// Its executor.
    pub executor: String,
    /// Whether it starts iterations by plan.
    pub is_open: bool,
}

/// A metric.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MetricName {
    /// Its name.
    pub name: String,
    /// `counter`, `gauge`, `rate`, `trend`.
    #[serde(rename = "type")]
    #[cfg_attr(test, schemars(with = "crate::closed::MetricKind"))]
    pub kind: &'static str,
    /// `default`, `time` (milliseconds), `data` (bytes).
    #[cfg_attr(test, schemars(with = "crate::closed::Contains"))]
    pub contains: &'static str,
}

/// A source text of the test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ModuleHash {
    /// Its path or URL.
    pub path: String,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
}

/// How much other answers hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TabCounts {
    /// Endpoints.
    pub requests: u64,
    /// Distinct errors.
    pub errors: u64,
    /// Log lines of the whole run.
    pub logs: u64,
    /// Thresholds.
    pub thresholds: u64,
    /// Traces that were kept.
    pub traces: u64,
    /// Agents that made the load; none where one process did.
    pub agents: u64,
}

/// The headline: the validity of the measurement, the verdict, and the key figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Headline {
    /// `pass`, `fail`, `inconclusive`.
    #[cfg_attr(test, schemars(with = "crate::closed::Verdict"))]
    pub verdict: &'static str,
    /// Why, in a sentence.
    pub sentence: String,
    /// The validity grade; null where it is not judged yet.
    #[cfg_attr(test, schemars(with = "Option<crate::closed::Grade>"))]
    pub grade: Option<&'static str>,
    /// The measurements that decide the grade, the worst first.
    pub strip: Vec<StripItem>,
    /// Key figures.
    pub figures: RunFigures,
    /// Iterations.
    pub iterations: IterationCounts,
}

/// A measurement that the validity depends on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StripItem {
    /// `dropped`, `generator_cpu`, `run_delay` (waiting for a core), `lateness`, `timer_lag`, `sockets`, `network`, `recorded`,
    /// `steady`, `clock`, `throttled`, `steal`.
    pub key: &'static str,
    /// `ok`, `warn`, `fail`, `unknown`.
    #[cfg_attr(test, schemars(with = "crate::closed::CheckStatus"))]
    pub status: &'static str,
    /// The measured value; of those above the limit the worst.
    pub value: Value,
    /// The limit; null where it was not exceeded.
    pub limit: Option<Value>,
}

/// Iterations of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct IterationCounts {
    /// Due by plan: started and dropped.
    pub due: Value,
    /// Started.
    pub started: Value,
    /// Finished, in whichever way.
    pub finished: Value,
    /// Due and not started.
    pub dropped: Value,
}
