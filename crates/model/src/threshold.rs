//! How a condition on a metric stands.

use crate::{MetricId, Quantile};

/// How one condition stands.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdResult {
    /// The name of the metric or sub-metric, as k6 shows it.
    pub selector: String,
    /// Its metric.
    pub metric: MetricId,
    /// The condition as written.
    pub source: String,
    /// Whether it holds.
    pub ok: bool,
    /// The observed value; [`Quantile::None`] without samples.
    pub observed: Quantile,
    /// The value that it was compared with.
    pub limit: f64,
}
