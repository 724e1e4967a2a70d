//! The contract between a run and the code of its VUs.

use std::rc::Rc;
use std::sync::Arc;

use model::{Instant, IterationEnd, RunProgress, ScenarioId, TagSetId};

use crate::{Deadline, RunControl, WorkerShared};

/// The code of a test. The binary adapts the script host to it; tests use closures.
///
/// Every call happens inside a coroutine on a worker thread, so the code may wait with [`vu::block_on`].
pub trait Program: Send + Sync {
    /// Creates one VU; init code runs here.
    ///
    /// # Errors
    /// Init code failed. Before the start this ends the run; for a VU added later it is logged.
    fn create_vu(&self, seat: Seat) -> Result<Box<dyn Vu>, ProgramError>;

    /// Whether there is a `setup()`.
    fn has_setup(&self) -> bool {
        false
    }

    /// Runs `setup()` in a VU of its own, number 0, and returns its data as JSON.
    ///
    /// # Errors
    /// It threw, or was cancelled; then no iteration starts and `teardown()` does not run.
    fn setup(&self, _seat: Seat) -> Result<Option<Arc<str>>, ProgramError> {
        Ok(None)
    }

    /// Whether there is a `teardown()`.
    fn has_teardown(&self) -> bool {
        false
    }

    /// Runs `teardown()` in a VU of its own, number 0, with the data of `setup()`.
    ///
    /// # Errors
    /// It threw, or was cancelled.
    fn teardown(&self, _seat: Seat, _data: Option<&Arc<str>>) -> Result<(), ProgramError> {
        Ok(())
    }
}

/// One VU, alive from its init to the end of the run.
pub trait Vu {
    /// Runs one iteration to its end. It ends soon after the seat's deadline: the engine interrupts a wait, and code that
    /// computes without waiting checks [`Seat::deadline`] now and then.
    ///
    /// Returns the instant of the end: the last samples of the code and those of the engine then carry one time, read once.
    fn iterate(&mut self, call: &IterationCall) -> (IterationEnd, Instant);

    /// Whether the iteration that has just ended has left the VU unusable: the engine replaces it by a new one.
    fn is_spent(&self) -> bool {
        false
    }

    /// The tags of the samples of the iteration that has just ended, where the code changes them; otherwise they are the
    /// scenario's.
    fn tags(&self) -> Option<TagSetId> {
        None
    }
}

/// A VU's place in the run: its numbers, its thread, and its access to the run.
#[derive(Clone)]
pub struct Seat {
    /// Its number in the whole test, from 1; 0 for `setup()` and `teardown()`.
    pub vu_id: u64,
    /// Its number in this instance, from 1; 0 for `setup()` and `teardown()`.
    pub id_in_instance: u64,
    /// State shared by the VUs of its thread.
    pub worker: Rc<WorkerShared>,
    /// Counters of the run.
    pub progress: Arc<RunProgress>,
    /// Ends the run (`test.abort()`, `test.fail()`).
    pub control: RunControl,
    /// Deadline of its current work.
    pub deadline: Arc<Deadline>,
}

/// One call of a scenario's function.
#[derive(Clone, Debug)]
pub struct IterationCall {
    /// Its scenario.
    pub scenario: ScenarioId,
    /// This VU's iterations in this scenario before this one (`exec.vu.iterationInScenario`).
    pub iteration_in_scenario: u64,
    /// The scenario's iterations started in this instance before this one (`exec.scenario.iterationInInstance`).
    pub iteration_in_instance: u64,
    /// Its index in the whole test, unique over all instances (`exec.scenario.iterationInTest`).
    pub iteration_in_test: u64,
    /// This VU's iterations before this one, in all scenarios (`__ITER`).
    pub vu_iteration: u64,
    /// Due time; `None` in closed scenarios.
    pub due: Option<Instant>,
    /// Start.
    pub started: Instant,
    /// Whether the VU has just come (back) to the scenario: tags and environment are reset.
    pub first_in_activation: bool,
    /// The JSON that `setup()` returned.
    pub setup_data: Option<Arc<str>>,
}

/// Failure of code outside of iterations; the text follows "failed to".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// The script threw; the text includes its stack.
    #[error("{0}")]
    Exception(String),
    /// Its result cannot be passed on.
    #[error("{0}")]
    Data(String),
    /// The system refuses something that the run needs, such as a thread.
    #[error("{0}")]
    System(String),
    /// It was cancelled: a deadline passed or the run was stopped.
    #[error("run to its end: it was interrupted")]
    Interrupted,
    /// The script called `test.abort()`.
    #[error("run to its end: the test was aborted")]
    Aborted,
    /// It panicked: a bug of ours.
    #[error("run: it panicked: {0}")]
    Panicked(String),
}
