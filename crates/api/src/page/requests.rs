//! Requests as a tree.

use serde::Serialize;

use super::Value;

/// Requests by scenario, group and endpoint.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Requests {
    /// The metric of the times.
    pub metric: String,
    /// All of them; null without requests.
    pub total: Option<RequestNode>,
    /// The scenarios.
    pub nodes: Vec<RequestNode>,
    /// Endpoints that are not listed individually: those with the fewest requests.
    pub left_out: u64,
    /// All statuses, in order; `0` is no response.
    pub statuses: Vec<String>,
}

/// A scenario, a group or an endpoint.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RequestNode {
    /// `total`, `scenario`, `group`, `request`.
    #[cfg_attr(test, schemars(with = "crate::closed::NodeKind"))]
    pub kind: &'static str,
    /// Its unique key.
    pub key: String,
    /// The scenario, the group, or the tag `name`.
    pub name: String,
    /// The tag `method`; empty for what is no endpoint.
    pub method: String,
    /// The value of `tags` that selects it in other answers.
    pub tags: String,
    /// Requests.
    pub count: Value,
    /// Requests per second.
    pub rate: Value,
    /// Failed ones.
    pub failed: Value,
    /// The share of failed ones.
    pub failed_share: Value,
    /// How long they took, milliseconds.
    pub stats: RequestStats,
    /// The share of the time of all requests.
    pub share: Value,
    /// The phases of the duration, in order.
    pub phases: Vec<Phase>,
    /// How many there were of each status and error code.
    pub statuses: Vec<StatusCount>,
    /// Its children.
    pub children: Vec<RequestNode>,
}

/// Statistics of a duration. A quantile with fewer than ten samples beyond it is null and says so.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RequestStats {
    /// The mean.
    pub avg: Value,
    /// The smallest.
    pub min: Value,
    /// The median.
    pub p50: Value,
    /// The 90th percentile.
    pub p90: Value,
    /// The 95th percentile.
    pub p95: Value,
    /// The 99th percentile.
    pub p99: Value,
    /// The largest.
    pub max: Value,
}

/// One phase of requests.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Phase {
    /// `blocked`, `lookingUp` (a part of `blocked`), `connecting`, `tls`, `sending`, `waiting`, `receiving`.
    #[cfg_attr(test, schemars(with = "crate::closed::PhaseName"))]
    pub name: &'static str,
    /// The mean, milliseconds.
    pub mean: Value,
    /// The 95th percentile.
    pub p95: Value,
}

/// Requests with one status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StatusCount {
    /// The tag `status`; `0` is no response.
    pub status: String,
    /// The tag `error_code`; empty without.
    pub error_code: String,
    /// How many.
    pub count: u64,
    /// How many of them failed.
    pub failed: u64,
}
