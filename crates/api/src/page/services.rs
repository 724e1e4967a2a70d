//! Services, and who calls whom.

use serde::Serialize;

use super::{ShownWindow, TraceSample, Value};

/// Services, databases, queues and hosts, and what goes between them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Services {
    /// Requests per second that the load generator sent, traced or not.
    pub requests: Value,
    /// The time range of the numbers: whole tens of seconds around the requested range.
    pub window: ShownWindow,
    /// How the traces were chosen that the ways are read from.
    pub sample: TraceSample,
    /// Everything that calls or is called.
    pub places: Vec<ServicesPlace>,
    /// Ways from one to another.
    pub edges: Vec<ServicesEdge>,
    /// Calls on connections that are not listed individually.
    pub left_out: u64,
    /// Operations of services, of all spans received, the most frequent first.
    pub operations: Vec<OperationRow>,
    /// Operations that are not listed individually: the least frequent.
    pub operations_left_out: u64,
}

/// Something that calls or is called.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ServicesPlace {
    /// Its unique key.
    pub key: String,
    /// `outside` (the sender of the requests), `service`, `queue`, `database`, `external`.
    #[cfg_attr(test, schemars(with = "crate::closed::MapNodeKind"))]
    pub kind: &'static str,
    /// Its name; empty for what is outside.
    pub name: String,
    /// Of a service: what it answered or took from queues, per second, of all spans. Of others: of the sample, scaled up.
    pub rate: Value,
    /// The share that failed.
    pub failed: Value,
    /// How long it took; of a queue, how long messages waited.
    pub p50: Value,
    /// How long it took; of a queue, how long messages waited.
    pub p95: Value,
}

/// A way from one place to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ServicesEdge {
    /// The key of who calls, or of the queue that is taken from.
    pub from: String,
    /// The key of who is called.
    pub to: String,
    /// Calls in the traces that were kept.
    pub count: Value,
    /// Calls per second, from the unbiased sample and its share.
    pub rate: Value,
    /// The share that failed in it.
    pub failed: Value,
    /// How long calls took in it; from a queue, how long messages waited.
    pub p50: Value,
    /// How long calls took in it; from a queue, how long messages waited.
    pub p95: Value,
}

/// An operation of a service.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OperationRow {
    /// The service.
    pub service: String,
    /// The operation.
    pub operation: String,
    /// `internal`, `server`, `client`, `producer`, `consumer`.
    #[cfg_attr(test, schemars(with = "crate::closed::SpanKind"))]
    pub side: &'static str,
    /// How often.
    pub count: Value,
    /// How often per second.
    pub rate: Value,
    /// How often it failed.
    pub failed: Value,
    /// The share that failed.
    pub failed_share: Value,
    /// The median.
    pub p50: Value,
    /// The 95th percentile.
    pub p95: Value,
    /// The 99th percentile.
    pub p99: Value,
    /// The longest.
    pub max: Value,
}
