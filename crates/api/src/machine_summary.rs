//! The document of `--new-machine-readable-summary`.

use serde::Serialize;

use crate::{Number, Ordered};

/// The file, and the argument of `handleSummary` under that flag.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MachineSummary {
    /// How the run was set up.
    pub config: MachineConfig,
    /// The program that wrote it, and when.
    pub metadata: MachineMetadata,
    /// The results.
    pub results: MachineResults,
    /// Of the shape.
    pub version: &'static str,
}

impl MachineSummary {
    /// The version of the shape that k6 v2.2 writes.
    pub const VERSION: &'static str = "1.0.0";
}

/// How the run was set up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MachineConfig {
    /// From the start to the end of the run, seconds.
    pub duration: Number,
    /// `local`.
    pub execution: &'static str,
    /// The script's whole text.
    pub script: String,
}

/// The program that wrote it, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MachineMetadata {
    /// RFC 3339 with nanoseconds, UTC.
    pub generated_at: String,
    /// The k6 version whose shape this is.
    pub k6_version: &'static str,
}

/// The results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MachineResults {
    /// All checks; absent where there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checks: Option<MachineChecks>,
    /// Metrics and sub-metrics.
    pub metrics: Vec<MachineMetric>,
}

/// All checks, whichever group they are in.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MachineChecks {
    /// `checks_total`, `checks_failed`, `checks_succeeded`.
    pub metrics: Vec<MachineMetric>,
    /// Each check.
    pub results: Vec<MachineCheck>,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MachineCheck {
    /// How often it did not hold.
    pub fails: u64,
    /// Its name.
    pub name: String,
    /// How often it held.
    pub passes: u64,
}

/// One metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MachineMetric {
    /// `default`, `time` (milliseconds), `data` (bytes).
    pub contains: &'static str,
    /// Its name.
    pub name: String,
    /// `counter`, `gauge`, `rate`, `trend`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Counter `count`; gauge `value`, `min`, `max`; rate `matches`, `rate`, `total`; trend `avg`, `max`, `med`,
    /// `min`, `p90`, `p95`, and further ones that were asked for. `None` is a statistic that was not asked for, or one that
    /// lands among failures without a time.
    pub values: Ordered<Option<Number>>,
    /// The statistics whose number is a bound or missing, in words. Not in k6.
    #[serde(skip_serializing_if = "Ordered::is_empty")]
    pub censored: Ordered<String>,
}
