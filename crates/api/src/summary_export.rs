//! The document of `--summary-export`: k6's older flat form.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{Check, Number, Ordered};

/// The file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SummaryExport {
    /// Groups and checks.
    pub root_group: ExportGroup,
    /// Metrics and sub-metrics by name.
    pub metrics: BTreeMap<String, ExportMetric>,
    /// The result of `setup()`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup_data: Option<serde_json::Value>,
}

/// A group, its members by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ExportGroup {
    /// Its name; empty for the root.
    pub name: String,
    /// The names from the root, each after `::`.
    pub path: String,
    /// See [`crate::path_id`].
    pub id: String,
    /// Groups in it.
    pub groups: BTreeMap<String, ExportGroup>,
    /// Checks in it.
    pub checks: BTreeMap<String, Check>,
}

/// One metric: its values lie flat beside its thresholds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExportMetric {
    /// Counter `count`, `rate`; gauge `value`, `min`, `max`; rate `value`, `passes`, `fails`; trend the statistics asked
    /// for. `None` is a quantile that lands among failures without a time.
    #[serde(flatten)]
    pub values: Ordered<Option<Number>>,
    /// Thresholds by expression; `true` says that it was *crossed*.
    #[serde(skip_serializing_if = "Ordered::is_empty")]
    pub thresholds: Ordered<bool>,
    /// The statistics whose number is a bound or missing, in words. Not in k6.
    #[serde(skip_serializing_if = "Ordered::is_empty")]
    pub censored: Ordered<String>,
}
