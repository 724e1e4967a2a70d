//! A run as the REST API of [`server`] inspects and controls it.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use api::rest::{Metric, MetricAttributes, Phase, Resource, Status, StatusChange};
use api::{Group, Number};
use engine::{AbortReason, RunConfig, RunControl};
use model::plan::{Executor, Plan};
use model::{Instant, LogLevel, MetricKind, Quantile, RunEvent, RunProgress, SystemClock, ThresholdResult};
use report::summary::{SummaryFacts, SummaryInput, group};
use runs::{Exit, Failure};
use script::{Bundle, RunContext};
use server::{Live, Refusal, Server};
use tally::Totals;

use crate::Context;
use crate::detached;
use crate::listener::{Listener, Records};
use crate::program::full_text;
use crate::signals::Running;
use crate::test::Test;

/// Settings of a run's REST API.
pub struct LiveSettings {
    /// The address, for example `localhost:6565`.
    address: String,
    /// Whether the run must fail if the API cannot be served.
    is_required: bool,
    /// Whether the API is served until the user ends it.
    pub lingers: bool,
    is_paused: bool,
}

impl LiveSettings {
    /// Returns the settings if there is an address or a flag that needs one. As in k6, nothing listens otherwise.
    pub fn resolve(plan: &Plan, context: &Context, lingers: bool) -> Option<LiveSettings> {
        let is_paused = plan.lifecycle.paused;
        let is_steered =
            plan.scenarios.iter().any(|it| matches!(it.executor, Executor::ExternallyControlled { .. }));
        let address = context.address();
        let is_wanted = address.is_some() || is_paused || is_steered || lingers;
        is_wanted.then(|| LiveSettings {
            address: address.unwrap_or(server::ADDRESS_DEFAULT).to_owned(),
            is_required: address.is_some() || is_paused,
            lingers,
            is_paused,
        })
    }

    /// Serves the run. If the address is only the default and is in use, the run continues without the API.
    ///
    /// # Errors
    /// An address that was set cannot be served, or the run is paused and could never be resumed.
    pub(crate) fn serve(&self, run: &Arc<LiveRun>, context: &Context) -> Result<Option<Server>, Failure> {
        match Server::start(&self.address, context.api_token(), run.clone()) {
            Ok(server) => {
                let at = server.address();
                let text = match self.is_paused {
                    true => format!("the test is paused; start it with `plimsoll resume --address {at}`"),
                    false => format!("the REST API is at http://{at}/v1/status"),
                };
                context.logger.say(if self.is_paused { LogLevel::Info } else { LogLevel::Debug }, text);
                Ok(Some(server))
            }
            Err(error) if self.is_required => {
                Err(Failure::new(Exit::CannotServe, format!("failed to {error}")))
            }
            Err(error) => {
                let text = format!("failed to {error}; the test continues without the REST API");
                context.logger.say(LogLevel::Warn, text);
                Ok(None)
            }
        }
    }

    /// Returns the message shown while the run lingers.
    pub(crate) fn farewell(&self, server: Option<&Server>) -> String {
        let at = server.map(|server| format!(" and its REST API stays at {}", server.address()));
        format!("the test has ended{}; press Ctrl-C to exit (--linger)", at.unwrap_or_default())
    }
}

/// The state of the run for the server. Metrics are summed up here from the published windows, because the engine's sum is private
/// to it.
pub(crate) struct LiveRun {
    control: RunControl,
    running: Running,
    progress: Arc<RunProgress>,
    facts: SummaryFacts,
    bundle: Arc<Bundle>,
    run: Arc<RunContext>,
    teardown_timeout: Duration,
    state: Mutex<State>,
}

struct State {
    phase: Phase,
    totals: Totals,
    is_tainted: bool,
    ended: Option<Instant>,
}

impl LiveRun {
    /// Returns the state of a run that is about to begin.
    pub(crate) fn new(
        test: &Test,
        config: &RunConfig,
        run: &Arc<RunContext>,
        running: &Running,
    ) -> Arc<LiveRun> {
        let totals = Totals::new(config.registry.clone(), config.tags.clone(), config.thresholds.clone());
        Arc::new(LiveRun {
            control: config.control.clone(),
            running: running.clone(),
            progress: config.progress.clone(),
            facts: SummaryFacts::new(&test.plan),
            bundle: test.script.bundle.clone(),
            run: run.clone(),
            teardown_timeout: test.plan.lifecycle.teardown_timeout,
            state: Mutex::new(State { phase: Phase::Created, totals, is_tainted: false, ended: None }),
        })
    }

    /// Processes an event of the run.
    pub(crate) fn on_event(&self, event: &RunEvent) {
        let mut state = self.state();
        match event {
            RunEvent::Initializing { .. } => state.phase = Phase::InitVus,
            RunEvent::SetupStarted => state.phase = Phase::Setup,
            RunEvent::ScenariosStarted { .. } => state.phase = Phase::Running,
            RunEvent::TeardownStarted => state.phase = Phase::Teardown,
            RunEvent::Ended => (state.phase, state.ended) = (Phase::Ended, Some(SystemClock::now())),
            RunEvent::Window(window) => state.totals.absorb(window),
            RunEvent::Thresholds { results, .. } => state.is_tainted = results.iter().any(|it| !it.ok),
            RunEvent::Samples(_)
            | RunEvent::SamplesLost { .. }
            | RunEvent::AgentReading { .. }
            | RunEvent::Agents(_)
            | RunEvent::Log(_)
            | RunEvent::ScenariosEnded { .. } => {}
        }
    }

    /// Returns k6's number for the phase of the run.
    fn phase(&self) -> Phase {
        let phase = self.state().phase;
        let waits = self.progress.started_ns.load(Relaxed) == 0 && self.control.is_paused();
        if waits && phase != Phase::Created { Phase::PausedBeforeRun } else { phase }
    }

    fn elapsed(&self, ended: Option<Instant>) -> Duration {
        match self.progress.began_ns.load(Relaxed) {
            0 => Duration::ZERO,
            began => ended.unwrap_or_else(SystemClock::now).since(Instant::from_ns(began)),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for Arc<LiveRun> {
    fn on_event(&mut self, event: &RunEvent, _: &mut Records) {
        LiveRun::on_event(self, event);
    }
}

impl Live for LiveRun {
    fn status(&self) -> Status {
        let phase = self.phase();
        Status {
            status: phase as u8,
            paused: self.control.is_paused(),
            vus: self.progress.vus_active.load(Relaxed).into(),
            vus_max: self.progress.vus_initialized.load(Relaxed).into(),
            stopped: self.control.is_stopped(),
            running: (Phase::Started as u8..=Phase::Teardown as u8).contains(&(phase as u8)),
            tainted: self.state().is_tainted,
        }
    }

    fn change(&self, change: &StatusChange) -> Result<(), Refusal> {
        if let Some(vus_max) = change.vus_max {
            self.check_vus_max(vus_max)?;
        }
        if let Some(vus) = change.vus {
            let vus = u64::try_from(vus).map_err(|_| Refusal("have fewer than no VUs".into()))?;
            self.control.scale(vus).map_err(refusal)?;
        }
        match change.paused {
            Some(true) => self.control.pause().map_err(refusal)?,
            Some(false) => self.control.resume().map_err(refusal)?,
            None => {}
        }
        if change.stopped == Some(true) {
            self.control.stop(AbortReason::Remote);
            self.running.release();
        }
        Ok(())
    }

    fn metrics(&self) -> Vec<Metric> {
        let mut state = self.state();
        let elapsed = self.elapsed(state.ended);
        // Only for the results of thresholds in the answer.
        state.totals.evaluate(elapsed);
        let view = state.totals.view(elapsed);
        drop(state);
        let metrics = view.metrics.iter().flat_map(|it| {
            let metric = &it.metric;
            let kind = (metric.kind, metric.contains.as_str());
            let whole = resource(&metric.name, kind, &it.thresholds, |name| it.stat(name));
            let parts = it
                .sub_metrics
                .iter()
                .map(move |sub| resource(&sub.name, kind, &sub.thresholds, |name| sub.stat(name)));
            std::iter::once(whole).chain(parts)
        });
        metrics.collect()
    }

    fn root_group(&self) -> Group {
        let state = self.state();
        let view = state.totals.view(self.elapsed(state.ended));
        drop(state);
        group(&SummaryInput::from_view(&view, &self.facts, None).root_group)
    }

    fn setup_data(&self) -> Option<String> {
        self.control.setup_data().map(|data| data.to_string())
    }

    fn set_setup_data(&self, json: Option<String>) -> Result<(), Refusal> {
        self.control.set_setup_data(json.map(Into::into)).map_err(refusal)
    }

    fn run_setup(&self) -> Result<Option<String>, Refusal> {
        let data = self.control.run_setup().map_err(refusal)?;
        Ok(data.map(|data| data.to_string()))
    }

    fn run_teardown(&self) -> Result<(), Refusal> {
        if self.phase() != Phase::Ended {
            return Err(Refusal("run teardown(): the test is not over".into()));
        }
        if !self.bundle.has("teardown") {
            return Ok(());
        }
        let data = self.control.setup_data();
        detached::call(&self.bundle, &self.run, self.teardown_timeout, move |mut vu| {
            vu.teardown(data.as_ref())
        })
        .map_err(|error| Refusal(format!("run teardown(): {}", full_text(&error))))
    }
}

impl LiveRun {
    /// VUs are initialised before the start, so `maxVUs` may be repeated but not changed.
    fn check_vus_max(&self, wanted: i64) -> Result<(), Refusal> {
        match self.control.scalable_vus() {
            None => Err(refusal(engine::SteerError::NotScalable)),
            Some((_, vus_max)) if u64::try_from(wanted) == Ok(vus_max) => Ok(()),
            Some((_, vus_max)) => Err(Refusal(format!(
                "change the most VUs to {wanted}: VUs are made ready before the start, and the scenario's maxVUs are {vus_max}"
            ))),
        }
    }
}

fn refusal(error: engine::SteerError) -> Refusal {
    Refusal(error.to_string())
}

fn resource(
    name: &str,
    (kind, contains): (MetricKind, &str),
    thresholds: &[ThresholdResult],
    read: impl Fn(&str) -> Option<Quantile>,
) -> Metric {
    let names: &[&str] = match kind {
        MetricKind::Counter => &["count", "rate"],
        MetricKind::Gauge => &["value"],
        MetricKind::Rate => &["rate"],
        MetricKind::Trend => &["avg", "max", "med", "min", "p(90)", "p(95)"],
    };
    let value = |name: &&str| Some(((*name).to_owned(), number(read(name)?)));
    let sample: BTreeMap<String, Option<Number>> = names.iter().filter_map(value).collect();
    let tainted = (!thresholds.is_empty()).then(|| thresholds.iter().any(|it| !it.ok));
    let attributes =
        MetricAttributes { kind: kind.as_str().to_owned(), contains: contains.to_owned(), tainted, sample };
    Resource::new("metrics", name, attributes)
}

fn number(quantile: Quantile) -> Option<Number> {
    match quantile {
        Quantile::None => Some(Number(0.0)),
        Quantile::Value(value) | Quantile::AtLeast { bound: value, .. } => Some(Number(value)),
        Quantile::Failed => None,
    }
}
