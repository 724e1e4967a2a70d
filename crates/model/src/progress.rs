//! Live counters of a running test, readable from any thread at any time.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Counters of the whole run. `k6/execution`, the live display and the `vus` gauges read them.
#[derive(Debug, Default)]
pub struct RunProgress {
    /// When the scenarios started, nanoseconds on the monotonic clock; 0 before.
    pub started_ns: AtomicU64,
    /// When setup began, nanoseconds on the monotonic clock; 0 before.
    pub began_ns: AtomicU64,
    /// Full iterations.
    pub iterations_completed: AtomicU64,
    /// Iterations cut short by the end of the run.
    pub iterations_interrupted: AtomicU64,
    /// Iterations that ended in an exception (they count as completed too).
    pub iterations_failed: AtomicU64,
    /// Iterations that were due but never started.
    pub iterations_dropped: AtomicU64,
    /// VUs running an iteration's scenario now.
    pub vus_active: AtomicU32,
    /// VUs initialised.
    pub vus_initialized: AtomicU32,
    /// Each scenario, by [`crate::ScenarioId`].
    pub scenarios: Vec<ScenarioProgress>,
}

impl RunProgress {
    /// All zero, for this many scenarios.
    pub fn new(scenarios: usize) -> RunProgress {
        RunProgress {
            scenarios: (0..scenarios).map(|_| ScenarioProgress::default()).collect(),
            ..Default::default()
        }
    }
}

/// Counters of one scenario.
#[derive(Debug, Default)]
pub struct ScenarioProgress {
    /// When it started, nanoseconds on the monotonic clock; 0 before.
    pub started_ns: AtomicU64,
    /// How late the first iterations of its worker threads were, at most, nanoseconds plus one; 0 before.
    pub started_late_ns: AtomicU64,
    /// Iterations started in this instance so far; the next one's `iterationInInstance`.
    pub iterations_started: AtomicU64,
    /// Iterations it will start in all, where that is known; 0 otherwise.
    pub iterations_planned: AtomicU64,
    /// Full iterations.
    pub iterations_completed: AtomicU64,
    /// VUs active in it now.
    pub vus_active: AtomicU32,
    /// Progress from 0 to 1, in millionths.
    pub progress_ppm: AtomicU32,
}

impl ScenarioProgress {
    /// Progress from 0 to 1.
    pub fn fraction(&self) -> f64 {
        f64::from(self.progress_ppm.load(Ordering::Relaxed)) / 1e6
    }

    /// Sets the progress; values outside 0..=1 are clamped.
    pub fn set_fraction(&self, fraction: f64) {
        self.progress_ppm.store((fraction.clamp(0.0, 1.0) * 1e6) as u32, Ordering::Relaxed);
    }
}
