//! A second of a series, for tables.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Number;

/// One series over one second of a run. Values that a kind of metric does not have are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WindowRow {
    /// Which second of the run, from 0.
    pub second: u32,
    /// Its start by the wall clock, RFC 3339 in UTC.
    pub time: String,
    /// Its length in seconds; the last one is shorter.
    pub seconds: Number,
    /// The metric.
    pub metric: String,
    /// `counter`, `gauge`, `rate` or `trend`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The quantity of the values: `default`, `time` (milliseconds) or `data` (bytes).
    pub contains: &'static str,
    /// Samples; of a trend also those that have no value.
    pub count: u64,
    /// The sum of a counter's or a trend's values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum: Option<Number>,
    /// A gauge's last value, a rate's share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Number>,
    /// A rate's values that were not zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes: Option<u64>,
    /// A trend's samples that were not measured to their end: timeouts, cut responses, drops, failures.
    pub unmeasured: u64,
    /// A trend's mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub avg: Option<Number>,
    /// The smallest value of a gauge or trend.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Number>,
    /// A trend's median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub med: Option<Number>,
    /// A trend's 90th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p90: Option<Number>,
    /// A trend's 95th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p95: Option<Number>,
    /// A trend's 99th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99: Option<Number>,
    /// The largest value of a gauge or trend.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Number>,
    /// Names of values that are only lower bounds, or absent because they lie among failures without a time.
    pub censored: Vec<String>,
    /// The series' tags.
    pub tags: BTreeMap<String, String>,
}
