//! The configuration and the outcome of a run.

use std::sync::Arc;
use std::time::Duration;

use model::{DropCause, MetricRegistry, RunProgress, TagInterner};
use tally::{Evaluation, Thresholds, Totals};

use crate::{AbortReason, Pile, ProgramError, RunControl};

/// Bytes of a VU's stack. Pages that are never touched cost nothing.
const STACK_BYTES: usize = 1 << 20;

/// Configuration of a run, beside its plan and its program.
#[derive(Clone)]
pub struct RunConfig {
    /// Worker threads; at least 1.
    pub workers: usize,
    /// Bytes of each VU's stack.
    pub stack_bytes: usize,
    /// The metrics, as declared by the script's init.
    pub registry: Arc<MetricRegistry>,
    /// The tag sets.
    pub tags: Arc<TagInterner>,
    /// The counters that the VUs and the display read.
    pub progress: Arc<RunProgress>,
    /// Ends the run early.
    pub control: RunControl,
    /// The plan's thresholds, parsed once the script's own metrics are declared.
    pub thresholds: Thresholds,
    /// Whether a listener wants raw samples.
    pub wants_samples: bool,
    /// By scenario: its shared iterations, where another process hands them out. Others have them in this process.
    pub piles: Vec<Option<Arc<Pile>>>,
}

impl RunConfig {
    /// Creates a configuration for this many scenarios, with a worker per core and everything else empty.
    pub fn new(scenarios: usize) -> RunConfig {
        RunConfig {
            workers: std::thread::available_parallelism().map_or(1, usize::from),
            stack_bytes: STACK_BYTES,
            registry: Arc::default(),
            tags: Arc::default(),
            progress: Arc::new(RunProgress::new(scenarios)),
            control: RunControl::default(),
            thresholds: Thresholds::default(),
            wants_samples: false,
            piles: Vec::new(),
        }
    }
}

/// Outcome of a run. Exit codes are chosen elsewhere.
#[derive(Debug)]
pub struct RunOutcome {
    /// Reason why it ended before its plan did.
    pub aborted: Option<AbortReason>,
    /// Whether the script called `test.fail()`.
    pub marked_failed: bool,
    /// The run never began: a VU's init code failed, or the system has no threads left.
    pub init_error: Option<ProgramError>,
    /// `setup()` failed.
    pub setup_error: Option<LifecycleError>,
    /// `teardown()` failed.
    pub teardown_error: Option<LifecycleError>,
    /// The JSON that `setup()` returned.
    pub setup_data: Option<Arc<str>>,
    /// Sums of all windows.
    pub totals: Totals,
    /// Final evaluation of the thresholds.
    pub thresholds: Evaluation,
    /// Dropped iterations of each scenario, by cause.
    pub drops: Vec<DropCounts>,
    /// Number of raw samples that the listeners did not get.
    pub samples_lost: u64,
    /// Number of worker threads that a VU blocked so long that the run ended without them; their last samples are lost.
    pub workers_lost: usize,
    /// Number of agents that were lost while the scenarios ran; their load is missing from then on.
    pub agents_lost: usize,
    /// Time from the start of setup to the end of teardown.
    pub elapsed: Duration,
}

/// Failure of `setup()` or `teardown()`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LifecycleError {
    /// It exceeded its time limit.
    #[error("end within {0:?}")]
    TimedOut(Duration),
    /// It failed by itself.
    #[error(transparent)]
    Failed(#[from] ProgramError),
}

/// Dropped iterations by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DropCounts {
    /// Every VU was busy and `maxVUs` reached.
    pub vus_exhausted: u64,
    /// Every VU was busy and a further one was being initialised.
    pub vu_starting: u64,
    /// The scenario ended before its iterations were used up.
    pub time_up: u64,
    /// The agent that was to start them was lost.
    pub agent_lost: u64,
}

impl DropCounts {
    /// Total of all causes.
    pub fn total(&self) -> u64 {
        self.vus_exhausted + self.vu_starting + self.time_up + self.agent_lost
    }

    /// Number for one cause.
    pub fn count(&self, cause: DropCause) -> u64 {
        match cause {
            DropCause::VusExhausted => self.vus_exhausted,
            DropCause::VuStarting => self.vu_starting,
            DropCause::TimeUp => self.time_up,
            DropCause::AgentLost => self.agent_lost,
        }
    }
}
