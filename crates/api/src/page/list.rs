//! The list of runs.

use serde::Serialize;

use super::{Fact, Value};
use crate::Number;

/// Runs, the newest first.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunList {
    /// Where they are kept, in words.
    pub place: String,
    /// The runs.
    pub runs: Vec<RunRow>,
    /// The value of `before` for older ones; null where there are none.
    pub before: Option<String>,
    /// Files that cannot be read.
    pub unreadable: Vec<Unreadable>,
}

/// A file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Unreadable {
    /// Its name.
    pub file: String,
    /// Why, as a sentence.
    pub why: String,
}

/// The study that a run is a level of.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunStudy {
    /// Its name.
    pub name: String,
    /// `sweep`, `capacity`.
    pub kind: String,
    /// When its first level began, seconds since 1970: studies of one name differ in it.
    pub started: i64,
    /// The load of the level.
    pub load: Value,
    /// The study's objective that the level violates, otherwise the one nearest to its limit; null where none was measured.
    pub objective: Option<RunObjective>,
}

/// A run in a line. Texts that are not known are empty.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunRow {
    /// Its id.
    pub id: String,
    /// The name its owner gave it.
    pub name: String,
    /// The script as it was named.
    pub script: String,
    /// The start, RFC 3339, UTC; null where the source of an imported run does not say.
    pub started: Option<String>,
    /// `live`, `passed`, `failed`, `partial`, `imported`.
    #[cfg_attr(test, schemars(with = "crate::closed::Status"))]
    pub status: &'static str,
    /// `complete`, `partial`, `live`.
    #[cfg_attr(test, schemars(with = "crate::closed::State"))]
    pub state: &'static str,
    /// The process's exit code; null where it is unknown.
    pub exit_code: Option<i32>,
    /// The format that another tool's run was read from.
    pub imported: Option<String>,
    /// The version of what was tested.
    pub target_version: String,
    /// The run's own tags.
    pub tags: Vec<Fact>,
    /// How long it was, milliseconds.
    pub elapsed: Value,
    /// `valid`, `unmeasured`, `degraded`, `invalid`; null while the run goes on.
    #[cfg_attr(test, schemars(with = "Option<crate::closed::Grade>"))]
    pub grade: Option<&'static str>,
    /// `pass`, `fail`, `inconclusive`.
    #[cfg_attr(test, schemars(with = "crate::closed::Verdict"))]
    pub verdict: &'static str,
    /// How many thresholds there are, and how many held.
    pub thresholds: ThresholdCount,
    /// The threshold that the verdict names; null where none is near its limit, and where there are none.
    pub objective: Option<RunObjective>,
    /// Its key figures.
    pub figures: RunFigures,
    /// The study that it is a level of.
    pub study: Option<RunStudy>,
    /// The note written on the page.
    pub note: String,
    /// Whether runs of its script are compared with it.
    pub is_baseline: bool,
    /// The size of its file.
    pub bytes: u64,
    /// Requests per second in up to 40 equal parts of the run; null where a part was lost.
    #[cfg_attr(test, schemars(with = "Vec<Option<f64>>"))]
    pub shape: Vec<Option<Number>>,
}

/// A threshold in a line, in texts as the terminal shows them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunObjective {
    /// The metric and its statistic: `checkout_time p95`.
    pub name: String,
    /// The observed value.
    pub observed: String,
    /// The limit.
    pub limit: String,
    /// Whether it held.
    pub ok: bool,
}

/// How many thresholds there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ThresholdCount {
    /// Those that held.
    pub held: u64,
    /// All of them.
    pub total: u64,
}

/// Key figures of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunFigures {
    /// Requests.
    pub requests: Value,
    /// Requests per second.
    pub rate: Value,
    /// The share of failed requests.
    pub failed: Value,
    /// The median of `http_req_duration`, milliseconds.
    pub p50: Value,
    /// Its 95th percentile.
    pub p95: Value,
    /// Its 99th percentile.
    pub p99: Value,
}
