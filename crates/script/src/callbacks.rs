//! The interfaces that the host needs from its embedder.

use model::{ExemplarCandidate, Instant, LogLine, Mark, Metadata, MetricId, ScenarioId, Span, TagSetId};

/// Takes the samples of one worker thread.
pub trait Sink {
    /// Takes one sample.
    fn record(
        &self,
        metric: MetricId,
        tags: TagSetId,
        value: f64,
        mark: Mark,
        at: Instant,
        metadata: Option<&Metadata>,
    );

    /// Takes several measured samples of one tag set at once.
    fn record_many(
        &self,
        tags: TagSetId,
        samples: &[(MetricId, f64)],
        at: Instant,
        metadata: Option<&Metadata>,
    ) {
        for &(metric, value) in samples {
            self.record(metric, tags, value, Mark::Measured, at, metadata);
        }
    }
}

/// How a request ended.
#[derive(Clone, Copy, Debug)]
pub struct Finished {
    /// Its duration; a lower bound where it did not end by itself.
    pub duration_ns: u64,
    /// Mark of the duration: measured, or a bound.
    pub mark: Mark,
    /// Whether it failed.
    pub failed: bool,
}

/// Receives the events of one worker thread that are not samples; every method defaults to ignoring its event. The scenario
/// is none in `setup()` and `teardown()`.
pub trait Notes {
    /// An HTTP request begins.
    fn request_started(&self, _scenario: Option<ScenarioId>, _at: Instant) {}

    /// An HTTP request that has begun is over, in whichever way. Returns whether it should be passed to
    /// [`Notes::remember`].
    fn request_finished(&self, _scenario: Option<ScenarioId>, _at: Instant, _how: Finished) -> bool {
        false
    }

    /// Receives a request that may become an exemplar.
    fn remember(&self, _candidate: ExemplarCandidate) {}

    /// Counts an error: k6's code (0 for exceptions) and its message; `example` is made where it is the first.
    fn error(&self, _code: u16, _message: &str, _tags: TagSetId, _example: &dyn Fn() -> String) {}
}

/// Takes spans that the run itself makes, from any thread. It must not wait.
pub trait Spans: Send + Sync {
    /// Takes one span of a trace.
    fn add(&self, trace: u128, span: Span);
}

/// Takes log lines, from any thread.
pub trait Log: Send + Sync {
    /// Takes one line.
    fn log(&self, line: LogLine);
}

/// The share of one instance of a test that several run together.
pub trait Share: Send + Sync {
    /// The number in the whole test of this instance's thing number `index_in_instance`, both from 0. No two instances have
    /// the same, and together they have all.
    fn index_in_test(&self, index_in_instance: u64) -> u64;

    /// Whether this instance is the whole test.
    fn is_whole(&self) -> bool;
}

/// Steers the run from inside a script.
pub trait Control: Send + Sync {
    /// `test.abort(reason)`: ends the run early.
    fn abort(&self, reason: &str);
    /// `test.fail(reason)`: the run goes on and counts as failed.
    fn fail(&self, reason: &str);
}

/// The deadline at which a VU's script is interrupted; checked now and then while the script computes.
pub trait InterruptDeadline {
    /// Whether what the VU does now should have ended by `now`.
    fn has_passed(&self, now: Instant) -> bool;
}
