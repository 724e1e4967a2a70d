//! How values are spread.

use serde::Serialize;

use super::Value;
use crate::Number;

/// How the values of a trend are spread.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Distribution {
    /// The metric.
    pub metric: String,
    /// `default`, `time` (milliseconds), `data` (bytes).
    #[cfg_attr(test, schemars(with = "crate::closed::Contains"))]
    pub contains: &'static str,
    /// The tags that were asked for.
    pub tags: String,
    /// Everything that was tried.
    pub population: u64,
    /// Requests with a time.
    pub timed: u64,
    /// Requests that failed without one.
    pub untimed: u64,
    /// `exact` or `histogram`.
    #[cfg_attr(test, schemars(with = "crate::closed::Precision"))]
    pub precision: &'static str,
    /// The relative error that a histogram's quantiles have at most.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub relative_error_max: Number,
    /// Measured values, by size.
    pub histogram: Histogram,
    /// Values by quantile: this metric's, and then that of the other way to count the time of requests.
    pub curves: Vec<Curve>,
    /// Quantiles that people name.
    pub marks: Vec<QuantileMark>,
    /// The histogram over time.
    pub heat: Heat,
}

/// Counts between bounds: `bounds[i] < x <= bounds[i + 1]`. Bounds grow by one factor; a first bound of 0 takes everything
/// below the second.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Histogram {
    /// One more than counts; none without values.
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub bounds: Vec<Number>,
    /// How many.
    pub counts: Vec<u64>,
}

/// Values by quantile.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Curve {
    /// The metric.
    pub metric: String,
    /// Quantiles with at least ten samples beyond them.
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub q: Vec<Number>,
    /// The values there; null among failures without a time.
    #[cfg_attr(test, schemars(with = "Vec<Option<f64>>"))]
    pub values: Vec<Option<Number>>,
    /// From this place on values are lower bounds; null where none is.
    pub at_least_from: Option<u32>,
}

/// A quantile that people name.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct QuantileMark {
    /// As a share of 1.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub q: Number,
    /// `p50`, `max`, ….
    pub label: &'static str,
    /// The value; null without support.
    pub value: Value,
    /// Whether at least ten samples are beyond it.
    pub is_supported: bool,
    /// How many samples it takes.
    pub needs: u64,
}

/// A histogram for each point of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Heat {
    /// Seconds of a point.
    pub step: u32,
    /// The start of each point, seconds.
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub t: Vec<Number>,
    /// As of [`Histogram`].
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub bounds: Vec<Number>,
    /// For each point, how many there are between the bounds.
    pub counts: Vec<Vec<u64>>,
    /// The largest count.
    pub count_max: u64,
}
