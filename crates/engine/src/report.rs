//! The messages between the coordinator and the worker threads.

use std::sync::Arc;

use model::{Aggregate, Arrival, Instant, LogLine, Metadata, Sample, ScenarioId, SeriesKey};

use tally::Noted;

use crate::{ProgramError, Start};

/// Maximum number of batches of raw samples on their way to the listeners; further ones are lost and counted.
pub const SAMPLE_BATCHES_IN_FLIGHT_MAX: usize = 256;

/// A message to the driver of the coordinator.
pub(crate) enum Message {
    /// From a worker thread.
    Report(Report),
    /// The state of [`crate::RunControl`] has changed.
    ControlChanged,
}

/// A report from a worker thread to the coordinator.
pub(crate) enum Report {
    /// A planned VU is initialised.
    VuReady,
    /// A planned VU could not be initialised.
    VuFailed(ProgramError),
    /// The samples and notes of a worker since its last report of this kind.
    Window { worker: usize, series: Vec<(SeriesKey, Aggregate)>, notes: Noted },
    /// A lane of a scenario is over; its VUs are idle.
    LaneDone,
    /// `setup()` or `teardown()` has ended.
    FunctionDone(Result<Option<Arc<str>>, ProgramError>),
    /// The VUs of a worker are closed.
    VusClosed { worker: usize },
    /// Raw samples.
    Samples(Vec<(Sample, Option<Metadata>)>),
    /// A log line.
    Log(LogLine),
}

/// An order to a worker thread, from the coordinator or from another worker.
pub(crate) enum Order {
    /// Start the scenarios.
    Start { start: Start, setup_data: Option<Arc<str>> },
    /// Run `setup()` or `teardown()`.
    Run(Function),
    /// Report the samples and notes since the last order of this kind, for a window that ends then.
    TakeWindow { end: Instant },
    /// Start this iteration on an idle VU that the sender has reserved.
    Arrival(Arrival),
    /// Add a VU to a scenario.
    Grow { scenario: ScenarioId, id: u64 },
    /// Change the number of this instance's VUs that loop in a scenario.
    Steer { scenario: ScenarioId, target: u32 },
    /// Cancel all iterations.
    Stop,
    /// Cancel `setup()` or `teardown()` too.
    Kill,
    /// Close the VUs.
    CloseVus,
    /// End the thread.
    End,
}

/// A function that runs once per test, and when it is interrupted.
#[derive(Clone)]
pub(crate) enum Function {
    /// `setup()`.
    Setup { until: Instant },
    /// `teardown()`, with the data of `setup()`.
    Teardown { until: Instant, data: Option<Arc<str>> },
}
