//! The argument of `handleSummary(data)`, in k6's default shape.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{Group, Number, Ordered};

/// The argument of `handleSummary`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SummaryData {
    /// Groups and checks.
    pub root_group: Group,
    /// How the summary was asked for.
    pub options: SummaryDataOptions,
    /// Where the run was shown, and how long it took.
    pub state: SummaryState,
    /// Metrics and sub-metrics by name.
    pub metrics: BTreeMap<String, MetricData>,
    /// The result of `setup()`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup_data: Option<serde_json::Value>,
}

/// How the summary was asked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SummaryDataOptions {
    /// Statistics of trends, as written.
    pub summary_trend_stats: Vec<String>,
    /// `s`, `ms`, `us`, or empty.
    pub summary_time_unit: String,
    /// Whether colour was refused.
    pub no_color: bool,
}

/// Where the run was shown, and how long it took.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SummaryState {
    /// Standard output is a terminal.
    #[serde(rename = "isStdOutTTY")]
    pub is_std_out_tty: bool,
    /// Standard error is a terminal.
    #[serde(rename = "isStdErrTTY")]
    pub is_std_err_tty: bool,
    /// From the start to the end of the run, milliseconds.
    #[serde(rename = "testRunDurationMs")]
    pub test_run_duration_ms: Number,
}

/// One metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricData {
    /// `counter`, `gauge`, `rate`, `trend`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// `default`, `time` (milliseconds), `data` (bytes).
    pub contains: &'static str,
    /// Counter `count`, `rate`; gauge `value`, `min`, `max`; rate `rate`, `passes`, `fails`; trend the statistics asked
    /// for. `None` is a quantile that lands among failures without a time.
    pub values: Ordered<Option<Number>>,
    /// Thresholds by expression.
    #[serde(skip_serializing_if = "Ordered::is_empty")]
    pub thresholds: Ordered<ThresholdData>,
    /// The statistics whose number is a bound or missing, in words: `≥ 60 s (timeout)`, `failed`. Not in k6.
    #[serde(skip_serializing_if = "Ordered::is_empty")]
    pub censored: Ordered<String>,
}

/// Whether a threshold held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ThresholdData {
    /// It held.
    pub ok: bool,
}
