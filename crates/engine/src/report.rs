//! What the coordinator and the worker threads tell each other.

use std::sync::Arc;

use model::{Aggregate, Arrival, Instant, LogLine, Metadata, Sample, ScenarioId, SeriesKey};

use tally::Noted;

use crate::ProgramError;

/// Batches of raw samples on their way to the listeners, at most; what exceeds them is lost and counted.
pub const SAMPLE_BATCHES_IN_FLIGHT_MAX: usize = 256;

/// From a worker thread (or [`crate::RunControl`]) to the coordinator.
pub(crate) enum Report {
    /// A planned VU is initialised.
    VuReady,
    /// A planned VU could not be initialised.
    VuFailed(ProgramError),
    /// What a worker recorded since it was last asked.
    Window { worker: usize, series: Vec<(SeriesKey, Aggregate)>, notes: Noted },
    /// A lane of a scenario is over; its VUs are idle.
    LaneDone,
    /// `setup()` or `teardown()` is over.
    Lifecycle(Result<Option<Arc<str>>, ProgramError>),
    /// A worker's VUs are gone.
    VusClosed { worker: usize },
    /// Raw samples.
    Samples(Vec<(Sample, Option<Metadata>)>),
    /// Something to say.
    Log(LogLine),
    /// The run was paused, resumed or scaled, or is asked for its setup.
    Steered,
    /// Iterations were called off.
    Stop,
    /// Everything was called off.
    Kill,
}

/// From the coordinator, or from another worker, to a worker thread.
pub(crate) enum Order {
    /// Begin the scenarios at this instant.
    Start { at: Instant, setup_data: Option<Arc<str>> },
    /// Run `setup()` or `teardown()`.
    Lifecycle(Phase),
    /// Hand over what was recorded, for a window that ends then.
    TakeWindow { end: Instant },
    /// Start this iteration on an idle VU that the sender has reserved.
    Arrival(Arrival),
    /// Add a VU to a scenario.
    Grow { scenario: ScenarioId, id: u64 },
    /// From now on so many VUs of this instance loop in a scenario.
    Steer { scenario: ScenarioId, target: u32 },
    /// Call iterations off.
    Stop,
    /// Call `setup()` or `teardown()` off too.
    Kill,
    /// Let the VUs go.
    CloseVus,
    /// End.
    End,
}

/// Which of the two.
#[derive(Clone)]
pub(crate) enum Phase {
    Setup { until: Instant },
    Teardown { until: Instant, data: Option<Arc<str>> },
}
