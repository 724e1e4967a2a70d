//! A sample: one value of one series at one instant.

use std::sync::Arc;

use crate::{Instant, MetricId, TagSetId};

/// The quality mark of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mark {
    /// It was measured.
    #[default]
    Measured,
    /// The request timed out: the true value is at least this one.
    TimedOut,
    /// The response was cut: the true value is at least this one.
    Cut,
    /// The iteration was dropped: there is no value, only the knowledge that it would have been worse.
    Dropped,
    /// It failed and has no value at all (refused, no such host, TLS failure): it ranks above every success.
    Failed,
}

/// One value of one series at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Of which metric.
    pub metric: MetricId,
    /// With which tags.
    pub tags: TagSetId,
    /// The value, in the metric's unit; meaningless when `mark` is [`Mark::Failed`] or [`Mark::Dropped`].
    pub value: f64,
    /// When it was taken.
    pub at: Instant,
    /// The quality mark of the value.
    pub mark: Mark,
}

/// High-cardinality facts that go along with samples into exports and never into series (`vu`, `iter`, …).
pub type Metadata = Arc<[(Arc<str>, Arc<str>)]>;
