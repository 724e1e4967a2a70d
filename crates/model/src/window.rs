//! One second of a run: its series, its load, and the single cases worth remembering.

use std::sync::Arc;

use crate::{Aggregate, Instant, Mark, Metadata, MetricId, ScenarioId, SeriesKey, TagSetId};

/// One second of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Window {
    /// Which second of the run, from 0.
    pub index: u32,
    /// Its first instant.
    pub start: Instant,
    /// The instant after its last; a run's last window may be shorter than a second.
    pub end: Instant,
    /// The series that had samples, in order of their keys.
    pub series: Vec<(SeriesKey, Aggregate)>,
    /// The load that was on, by scenario and kind of work; only of scenarios that had any.
    pub load: Vec<Load>,
    /// Requests worth looking at one by one.
    pub exemplars: Vec<Exemplar>,
    /// Errors, each distinct one once.
    pub errors: Vec<ErrorCount>,
    /// Numbers of the shared iterations that ended, where another process hands them out; not stored.
    pub leased: Vec<(ScenarioId, u64)>,
}

/// Counts of iterations started and finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Work {
    /// Iterations of a scenario.
    Iterations,
    /// HTTP requests, redirects counted one by one.
    Requests,
}

/// Work that was started and finished in a window, and how much of it was under way.
///
/// By Little's law the integral over the window's length is the mean number under way, whatever the arrivals look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Whose; `None` for `setup()` and `teardown()`.
    pub scenario: Option<ScenarioId>,
    /// Of what.
    pub work: Work,
    /// How many were started.
    pub started: u64,
    /// How many were finished, in whichever way.
    pub finished: u64,
    /// The number under way, integrated over the window: nanoseconds × number.
    pub in_flight_ns: u64,
}

/// Why an exemplar was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ExemplarKind {
    /// Among the slowest of its window.
    Slowest,
    /// It failed.
    Failed,
    /// The first of its bucket (a power of two milliseconds) in its window.
    Bucket,
}

/// One request that stands for others.
#[derive(Clone, Debug, PartialEq)]
pub struct Exemplar {
    /// Why it was kept.
    pub kind: ExemplarKind,
    /// The metric of its value.
    pub metric: MetricId,
    /// Its tags.
    pub tags: TagSetId,
    /// When it ended.
    pub at: Instant,
    /// Its duration, in the metric's unit.
    pub value: f64,
    /// The quality mark of the value.
    pub mark: Mark,
    /// The trace it belongs to (16 bytes, big-endian), if its request carried a `traceparent`.
    pub trace_id: Option<u128>,
    /// Further facts: `vu`, `iter`, `url`, `error`.
    pub metadata: Option<Metadata>,
}

/// A finished request that may become an [`Exemplar`] of its window.
#[derive(Clone, Debug)]
pub struct ExemplarCandidate {
    /// The tags of its samples.
    pub tags: TagSetId,
    /// When it ended.
    pub at: Instant,
    /// Its duration (k6's `http_req_duration`); a lower bound where it did not end by itself.
    pub duration_ns: u64,
    /// The quality mark of the duration.
    pub mark: Mark,
    /// The trace it belongs to.
    pub trace_id: Option<u128>,
    /// The VU's number in the test.
    pub vu: u64,
    /// The VU's iteration; none in `setup()` and `teardown()`.
    pub iteration: Option<u64>,
    /// Its URL, without user information.
    pub url: String,
    /// The reason of its failure, if it failed.
    pub error: Option<String>,
}

/// Distinct errors kept per window; further ones are counted together under an empty message.
pub const ERRORS_PER_WINDOW_MAX: usize = 256;

/// One distinct error and how often it happened.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorCount {
    /// k6's error code; 0 for exceptions of the script.
    pub code: u16,
    /// The message, without what differs each time (ports, ids) as far as that is known.
    pub message: Arc<str>,
    /// The tags of the first one.
    pub tags: TagSetId,
    /// How many there were.
    pub count: u64,
    /// The first one in full: URL or stack.
    pub example: Arc<str>,
}
