//! Changes a run while it runs, from any thread: pause, resume, scale, setup from outside.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::plan::{Executor, Plan};
use model::{Instant, ScenarioId};

use crate::{LifecycleError, RunControl};

/// Reason why a run cannot be changed as requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SteerError {
    /// It is paused already.
    #[error("pause the test: it is paused already")]
    AlreadyPaused,
    /// It is not paused.
    #[error("resume the test: it is not paused")]
    NotPaused,
    /// A scenario's schedule would go on without it.
    #[error("pause the test: scenario {0} does not use the externally-controlled executor")]
    NotPausable(Arc<str>),
    /// No scenario takes its number of VUs from outside.
    #[error("change the VUs: no scenario uses the externally-controlled executor")]
    NotScalable,
    /// More VUs than are initialised.
    #[error("change the VUs to {vus}: the scenario's maxVUs are {vus_max}")]
    TooManyVus {
        /// The number requested.
        vus: u64,
        /// The maximum.
        vus_max: u64,
    },
    /// The run is past its setup, or about to be.
    #[error("set the test up: that is possible only while it waits to be started (--paused)")]
    NotWaiting,
    /// `setup()` failed.
    #[error("run setup(): {0}")]
    Setup(#[from] LifecycleError),
}

/// The beginning of a run whose schedule other processes share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Start of the scenarios, which may have passed.
    pub scenarios: Instant,
    /// The first instant at which this run starts iterations; its first window begins here.
    pub from: Instant,
    /// By scenario: iterations of VUs that loop which another process may have numbered already. Arrivals are numbered by the schedule.
    pub numbers: Arc<[u64]>,
}

/// A request for the setup of a run that waits.
pub(crate) struct SetupOrder {
    /// The data of another instance's `setup()`; where it is absent, `setup()` runs here.
    pub(crate) data: Option<Option<Arc<str>>>,
    pub(crate) answer: Sender<Result<Option<Arc<str>>, LifecycleError>>,
}

/// The requests to a run so far.
#[derive(Debug, Default)]
pub(crate) struct Steering(Mutex<State>);

#[derive(Default)]
struct State {
    is_paused: bool,
    /// Whether the run waits for its resume before it begins, and so accepts a setup from outside.
    is_waiting: bool,
    /// How a run that waits begins, if other processes run other parts of the test.
    start_at: Option<Start>,
    /// A scenario that would go on while the run is paused.
    unpausable: Option<Arc<str>>,
    /// The first scenario whose VUs come from outside.
    scenario: Option<Scalable>,
    setup_order: Option<SetupOrder>,
    setup_data: Option<Arc<str>>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("is_paused", &self.is_paused).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug)]
struct Scalable {
    id: ScenarioId,
    vus: u64,
    vus_max: u64,
}

impl RunControl {
    /// Starts no further iterations; running ones continue to their end. Possible before the start, and in tests all of
    /// whose scenarios take their VUs from outside.
    ///
    /// # Errors
    /// The test cannot be paused now.
    pub fn pause(&self) -> Result<(), SteerError> {
        self.steer(|state| {
            if state.is_paused {
                return Err(SteerError::AlreadyPaused);
            }
            if let Some(name) = &state.unpausable {
                return Err(SteerError::NotPausable(name.clone()));
            }
            state.is_paused = true;
            Ok(())
        })
    }

    /// Continues the test, or begins it where it waits for its start.
    ///
    /// # Errors
    /// The test is not paused.
    pub fn resume(&self) -> Result<(), SteerError> {
        self.steer(|state| {
            if !std::mem::replace(&mut state.is_paused, false) {
                return Err(SteerError::NotPaused);
            }
            Ok(())
        })
    }

    /// Begins a test that waits for its start, with its scenarios and its first window at this instant: other processes run other
    /// segments of the same test from then on.
    ///
    /// # Errors
    /// The test does not wait.
    pub fn start_at(&self, at: Instant) -> Result<(), SteerError> {
        self.begin(Start { scenarios: at, from: at, numbers: Arc::default() })
    }

    /// Begins a test that waits for its start at an instant of a schedule that others began: nothing that was due before is started.
    ///
    /// # Errors
    /// The test does not wait.
    pub fn join_at(&self, start: Start) -> Result<(), SteerError> {
        self.begin(start)
    }

    fn begin(&self, start: Start) -> Result<(), SteerError> {
        self.steer(|state| {
            if !state.is_waiting || !std::mem::replace(&mut state.is_paused, false) {
                return Err(SteerError::NotWaiting);
            }
            state.start_at = Some(start);
            Ok(())
        })
    }

    /// Prepares for requests to a run that other processes execute: pause, resume and scale.
    pub fn prepare_for(&self, plan: &Plan) {
        self.steering().prepare(plan);
        self.steering().close_setup();
    }

    /// Whether the test is paused, and how many VUs of the whole test loop in the scenario that takes them from outside.
    pub fn steered(&self) -> (bool, Option<u64>) {
        let state = self.steering().state();
        (state.is_paused, state.scenario.map(|scenario| scenario.vus))
    }

    /// Publishes the data of a `setup()` that ran elsewhere.
    pub fn publish_setup_data(&self, data: Option<Arc<str>>) {
        self.steering().set_setup_data(data);
    }

    /// Sets the number of VUs of the whole test that loop in the first externally-controlled scenario.
    ///
    /// # Errors
    /// There is no such scenario, or the VUs are more than its `maxVUs`.
    pub fn scale(&self, vus: u64) -> Result<(), SteerError> {
        self.steer(|state| {
            let scenario = state.scenario.as_mut().ok_or(SteerError::NotScalable)?;
            if vus > scenario.vus_max {
                return Err(SteerError::TooManyVus { vus, vus_max: scenario.vus_max });
            }
            scenario.vus = vus;
            Ok(())
        })
    }

    /// Whether the test is paused.
    pub fn is_paused(&self) -> bool {
        self.steering().state().is_paused
    }

    /// Current and maximum number of VUs of the scenario that [`RunControl::scale`] changes.
    pub fn scalable_vus(&self) -> Option<(u64, u64)> {
        self.steering().state().scenario.map(|scenario| (scenario.vus, scenario.vus_max))
    }

    /// The JSON that `setup()` returned, once it is known.
    pub fn setup_data(&self) -> Option<Arc<str>> {
        self.steering().state().setup_data.clone()
    }

    /// Runs `setup()` of a test that waits for its start, and waits for its end; the start does not run it again.
    ///
    /// # Errors
    /// The test does not wait, or `setup()` failed.
    pub fn run_setup(&self) -> Result<Option<Arc<str>>, SteerError> {
        self.order_setup(None)
    }

    /// Sets the data of a `setup()` that ran elsewhere, in a test that waits for its start; its own does not run.
    ///
    /// # Errors
    /// The test does not wait.
    pub fn set_setup_data(&self, data: Option<Arc<str>>) -> Result<(), SteerError> {
        self.order_setup(Some(data)).map(|_| ())
    }

    fn order_setup(&self, data: Option<Option<Arc<str>>>) -> Result<Option<Arc<str>>, SteerError> {
        let (answer, answers): (_, Receiver<_>) = channel();
        self.steer(|state| {
            // One after the other: the queue holds one request.
            if !state.is_waiting || !state.is_paused || state.setup_order.is_some() {
                return Err(SteerError::NotWaiting);
            }
            state.setup_order = Some(SetupOrder { data, answer });
            Ok(())
        })?;
        // The run that ends drops the request, and with it the sender.
        let data = answers.recv().map_err(|_| SteerError::NotWaiting)??;
        self.steering().set_setup_data(data.clone());
        Ok(data)
    }

    fn steer(&self, change: impl FnOnce(&mut State) -> Result<(), SteerError>) -> Result<(), SteerError> {
        change(&mut self.steering().state())?;
        self.notify();
        Ok(())
    }
}

impl Steering {
    /// Prepares for the requests that are possible with this plan.
    pub(crate) fn prepare(&self, plan: &Plan) {
        let mut state = self.state();
        let (mut unpausable, mut scenario) = (None, None);
        for (index, it) in plan.scenarios.iter().enumerate() {
            match it.executor {
                Executor::ExternallyControlled { vus, max_vus, .. } => {
                    let id = ScenarioId(index as u16);
                    scenario.get_or_insert(Scalable { id, vus, vus_max: max_vus });
                }
                _ => unpausable = unpausable.or_else(|| Some(it.name.clone())),
            }
        }
        *state = State {
            is_paused: state.is_paused || plan.lifecycle.paused,
            is_waiting: state.is_paused || plan.lifecycle.paused,
            start_at: None,
            unpausable,
            scenario,
            setup_order: None,
            setup_data: None,
        };
    }

    /// The scenario that takes its VUs from outside and how many of the whole test loop in it now.
    pub(crate) fn target(&self) -> Option<(ScenarioId, u64)> {
        let state = self.state();
        let scenario = state.scenario?;
        Some((scenario.id, if state.is_paused { 0 } else { scenario.vus }))
    }

    /// How a run that waited begins; `None` for at once.
    pub(crate) fn start_instant(&self) -> Option<Start> {
        self.state().start_at.clone()
    }

    pub(crate) fn take_setup_order(&self) -> Option<SetupOrder> {
        self.state().setup_order.take()
    }

    /// Rejects further requests for the setup: the run begins.
    pub(crate) fn close_setup(&self) {
        let mut state = self.state();
        (state.is_waiting, state.setup_order) = (false, None);
    }

    pub(crate) fn set_setup_data(&self, data: Option<Arc<str>>) {
        self.state().setup_data = data;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
