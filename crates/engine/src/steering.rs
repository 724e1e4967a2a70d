//! Changing a run while it runs, from any thread: paused, resumed, scaled, set up from outside.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::ScenarioId;
use model::plan::{Executor, Plan};

use crate::{LifecycleError, RunControl};

/// Why a run cannot be changed as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SteerError {
    /// It is paused already.
    #[error("pause the test: it is paused already")]
    AlreadyPaused,
    /// It is not paused.
    #[error("resume the test: it is not paused")]
    NotPaused,
    /// Its schedule would go on without it.
    #[error("pause the test: scenario {0} does not use the externally-controlled executor")]
    NotPausable(Arc<str>),
    /// No scenario takes its number of VUs from outside.
    #[error("change the VUs: no scenario uses the externally-controlled executor")]
    NotScalable,
    /// More VUs than were made ready.
    #[error("change the VUs to {vus}: the scenario's maxVUs are {vus_max}")]
    TooManyVus {
        /// Asked for.
        vus: u64,
        /// There are.
        vus_max: u64,
    },
    /// The run is past its setup, or about to be.
    #[error("set the test up: that is possible only while it waits to be started (--paused)")]
    NotWaiting,
    /// `setup()` failed.
    #[error("run setup(): {0}")]
    Setup(#[from] LifecycleError),
}

/// A wish about the setup of a run that waits.
pub(crate) struct SetupOrder {
    /// The data that another instance's `setup()` gave; where it is absent, `setup()` is run here.
    pub(crate) data: Option<Option<Arc<str>>>,
    pub(crate) answer: Sender<Result<Option<Arc<str>>, LifecycleError>>,
}

/// What was asked of a run.
#[derive(Debug, Default)]
pub(crate) struct Steering(Mutex<State>);

#[derive(Default)]
struct State {
    is_paused: bool,
    /// Whether the run waits for its resume before it begins, and so takes a setup from outside.
    is_waiting: bool,
    /// A scenario that would go on while the run is paused.
    unpausable: Option<Arc<str>>,
    /// The scenario whose VUs come from outside: the first of its kind.
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
    /// Starts no further iterations; those under way go on to their end. Before the start, and in tests all of whose
    /// scenarios take their VUs from outside.
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

    /// Goes on, or begins where the run waits for its start.
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

    /// From now on so many VUs of the whole test loop in the first externally-controlled scenario.
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

    /// VUs now asked for and VUs at most of the scenario that [`RunControl::scale`] changes.
    pub fn scalable_vus(&self) -> Option<(u64, u64)> {
        self.steering().state().scenario.map(|scenario| (scenario.vus, scenario.vus_max))
    }

    /// What `setup()` gave, as JSON, once it is known.
    pub fn setup_data(&self) -> Option<Arc<str>> {
        self.steering().state().setup_data.clone()
    }

    /// Runs `setup()` of a test that waits for its start, and waits for its end; it is not run again then.
    ///
    /// # Errors
    /// The test does not wait, or `setup()` failed.
    pub fn run_setup(&self) -> Result<Option<Arc<str>>, SteerError> {
        self.order_setup(None)
    }

    /// Gives a test that waits for its start the data of a `setup()` that ran elsewhere; its own is not run then.
    ///
    /// # Errors
    /// The test does not wait.
    pub fn set_setup_data(&self, data: Option<Arc<str>>) -> Result<(), SteerError> {
        self.order_setup(Some(data)).map(|_| ())
    }

    fn order_setup(&self, data: Option<Option<Arc<str>>>) -> Result<Option<Arc<str>>, SteerError> {
        let (answer, answers): (_, Receiver<_>) = channel();
        self.steer(|state| {
            // One after the other: there is room for one that waits.
            if !state.is_waiting || !state.is_paused || state.setup_order.is_some() {
                return Err(SteerError::NotWaiting);
            }
            state.setup_order = Some(SetupOrder { data, answer });
            Ok(())
        })?;
        // The run that ends drops the order, and with it the sender.
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
    /// What can be asked of this plan.
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
            unpausable,
            scenario,
            setup_order: None,
            setup_data: None,
        };
    }

    /// The scenario that is steered and how many VUs of the whole test shall loop in it now.
    pub(crate) fn target(&self) -> Option<(ScenarioId, u64)> {
        let state = self.state();
        let scenario = state.scenario?;
        Some((scenario.id, if state.is_paused { 0 } else { scenario.vus }))
    }

    pub(crate) fn take_setup_order(&self) -> Option<SetupOrder> {
        self.state().setup_order.take()
    }

    /// The run begins: what was asked too late is not answered any more.
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
