//! The rows of a run's file that are no windows.

use model::{Instant, LogLevel, Quantile, ScenarioId, Work};

/// Both clocks at one moment: where the wall clock was stepped, it shows here and nowhere else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The monotonic clock.
    pub at: Instant,
    /// The wall clock, nanoseconds since the Unix epoch.
    pub wall_unix_ns: i64,
}

/// The load of one kind of work in one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadRow {
    /// The window's index.
    pub window: u32,
    /// Whose; `None` for `setup()` and `teardown()`.
    pub scenario: Option<ScenarioId>,
    /// Of what.
    pub work: Work,
    /// How many were started.
    pub started: u64,
    /// How many were finished.
    pub finished: u64,
    /// Nanoseconds × number under way.
    pub in_flight_ns: u64,
}

/// A note on a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// When, nanoseconds since the Unix epoch.
    pub wall_unix_ns: i64,
    /// The text.
    pub text: String,
}

/// Something that happened once in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunMark {
    /// When.
    pub at: Instant,
    /// `setup_started`, `scenarios_started`, `scenarios_ended`, `teardown_started`, `ended`, `samples_lost`.
    pub kind: String,
    /// More about it.
    pub text: String,
}

/// One line of log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLog {
    /// When.
    pub at: Instant,
    /// How important.
    pub level: LogLevel,
    /// `console`, `stacktrace`, or empty for the runner itself.
    pub source: String,
    /// The text, secrets hidden and its end cut if it was very long.
    pub message: String,
    /// Further fields.
    pub fields: Vec<(String, String)>,
}

/// How one condition stood at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdPoint {
    /// When it was judged.
    pub at: Instant,
    /// The name of the metric or sub-metric, as k6 shows it.
    pub selector: String,
    /// The condition as written.
    pub source: String,
    /// Whether it held.
    pub ok: bool,
    /// The value that was compared.
    pub observed: Quantile,
    /// The value that it was compared with.
    pub limit: f64,
}
