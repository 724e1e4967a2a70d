//! The run as a value: its phases, windows, thresholds and progress.
//!
//! [`Coordinator::step`] takes the time and the inputs since the last step, and gives outputs for the driver to carry
//! out. It starts no thread, waits for nothing and reads no clock, so the tests drive it through simulated runs.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use model::plan::{Plan, Scenario};
use model::{Instant, LogLevel, LogLine, Metadata, RunEvent, RunProgress, Sample, ScenarioId, TagSet};
use plan::Stripe;
use schedule::Quota;
use tally::{Evaluation, Totals};

use crate::report::{Function, Order, Report};
use crate::roster::Demand;
use crate::windows::{self, WindowBook};
use crate::{AbortReason, LifecycleError, ProgramError, RunConfig, Start};

/// Time between the order to start and the start, so that every thread has the order when the first iteration is due.
const START_LEAD: Duration = Duration::from_millis(1);

/// Time between the order to start and an instant that was agreed with other processes.
const AGREED_LEAD: Duration = Duration::from_millis(20);

/// Interval between evaluations of the thresholds, as in k6.
const THRESHOLDS_EVERY: Duration = Duration::from_secs(2);

/// Interval between updates of the progress: of the initialisation, then of the scenarios.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Time limit for closing the VUs once the run has already waited in vain for a thread.
const CLOSE_PATIENCE: Duration = Duration::from_millis(200);

/// Time after the planned end during which the run waits for threads that a VU still blocks.
pub(crate) const WORKER_PATIENCE: Duration = Duration::from_secs(5);

/// One thing that has happened outside of the coordinator. A step without inputs is a timer.
pub(crate) enum Input {
    /// A worker thread reports.
    Report(Report),
    /// Iterations were cancelled.
    Stop,
    /// Everything was cancelled, `teardown()` too.
    Kill,
    /// The run was paused, resumed or scaled.
    Steer {
        /// Whether it is paused.
        is_paused: bool,
        /// How a run that waited begins; `None` for at once.
        start_at: Option<Start>,
        /// The scenario that takes its VUs from outside, and how many of the whole test loop in it.
        target: Option<(ScenarioId, u64)>,
    },
    /// A paused run gets its setup: data from another instance, or the order to run `setup()` here.
    SetUp(Option<Option<Arc<str>>>),
    /// The worker threads could not be started.
    StartFailed(ProgramError),
}

/// One thing for the driver to do. Outputs other than events and samples never block, so the driver does them first.
pub(crate) enum Output {
    /// Sends an order to a worker thread.
    Order(usize, Order),
    /// Passes an event to the listener.
    Event(RunEvent),
    /// Passes a batch of a worker's raw samples to the listener.
    Samples(Vec<(Sample, Option<Metadata>)>),
    /// Stops the run for this reason.
    Stop(AbortReason),
    /// Answers the [`Input::SetUp`].
    SetUp(Result<Option<Arc<str>>, LifecycleError>),
    /// Accepts no further setup from outside.
    CloseSetup,
    /// Publishes the data of `setup()`.
    SetupData(Option<Arc<str>>),
}

/// The facts about a run that do not change.
pub(crate) struct Settings {
    pub(crate) plan: Arc<Plan>,
    pub(crate) workers: usize,
    pub(crate) vus_planned: u64,
    /// The instance's stripe of VU numbers.
    pub(crate) vu_stripe: Stripe,
    pub(crate) has_setup: bool,
    pub(crate) has_teardown: bool,
}

/// The state of a run.
pub(crate) struct Coordinator {
    settings: Settings,
    phase: Phase,
    outputs: Vec<Output>,
    /// Counters that the VUs and the display share.
    progress: Arc<RunProgress>,
    wants_samples: bool,
    windows: WindowBook,
    totals: Totals,
    timers: Timers,
    control: Control,
    threads: Threads,
    setup: Setup,
    init_error: Option<ProgramError>,
    teardown_error: Option<LifecycleError>,
}

/// The phases of a run, in order. Each ends on reports or when its time is up.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// The planned VUs run their init code.
    Initializing,
    /// The run starts paused and waits for its resume.
    Paused,
    /// `setup()` runs; `while_paused` by an order from outside.
    SettingUp { until: Instant, limit: Duration, while_paused: bool },
    /// The scenarios run. At `give_up` the run goes on without the lanes that are left.
    Iterating { give_up: Instant },
    /// The VUs close.
    Closing { until: Instant, tears_down: bool },
    /// `teardown()` runs.
    TearingDown { until: Instant, limit: Duration },
    /// Requests for earlier windows are answered.
    Draining { until: Instant },
    /// The last window is collected.
    LastWindow { until: Instant },
    /// Nothing is left to do.
    Over,
}

/// Instants of the run.
struct Timers {
    /// Start of setup; before that, of initialisation.
    began: Instant,
    /// Start of the scenarios, once it is known.
    started: Option<Instant>,
    /// End of teardown.
    ended: Option<Instant>,
    next_thresholds: Instant,
    next_progress: Instant,
}

/// The requests from outside so far.
#[derive(Default)]
struct Control {
    is_stopped: bool,
    is_killed: bool,
    is_paused: bool,
    start_at: Option<Start>,
    target: Option<(ScenarioId, u64)>,
}

/// The reports of the worker threads so far.
struct Threads {
    vus_ready: u64,
    lanes_done: usize,
    vus_closed: Vec<bool>,
    /// The result of `setup()` or `teardown()`, until its phase takes it.
    function: Option<Result<Option<Arc<str>>, ProgramError>>,
    has_warned_of_stall: bool,
    /// Whether lanes or a function were left running, because they block their thread.
    has_given_up: bool,
    /// Whether `setup()` or `teardown()` never ended: it computes in a call that cannot be interrupted.
    has_stuck_function: bool,
}

/// The setup so far.
#[derive(Default)]
struct Setup {
    data: Option<Arc<str>>,
    /// Whether it was done while the run was paused.
    is_done: bool,
    error: Option<LifecycleError>,
    /// A setup from outside that waits for its turn.
    ordered: Option<Option<Option<Arc<str>>>>,
}

/// The results of a run that is over.
pub(crate) struct Ending {
    pub(crate) init_error: Option<ProgramError>,
    pub(crate) setup_error: Option<LifecycleError>,
    pub(crate) teardown_error: Option<LifecycleError>,
    pub(crate) setup_data: Option<Arc<str>>,
    pub(crate) totals: Totals,
    pub(crate) thresholds: Evaluation,
    pub(crate) workers_lost: usize,
    pub(crate) elapsed: Duration,
    /// The last events, for the listener.
    pub(crate) events: Vec<RunEvent>,
}

impl Coordinator {
    pub(crate) fn new(now: Instant, settings: Settings, config: &RunConfig) -> Coordinator {
        let tags = settings.plan.tags.iter();
        let tags = tags.map(|(name, value)| (name.as_str().into(), value.as_str().into()));
        let gauge_tags = config.tags.intern(TagSet::new(tags));
        let coordinator = Coordinator {
            phase: Phase::Initializing,
            outputs: Vec::new(),
            progress: config.progress.clone(),
            wants_samples: config.wants_samples,
            windows: WindowBook::new(config.registry.clone(), gauge_tags, settings.workers),
            totals: Totals::new(config.registry.clone(), config.tags.clone(), config.thresholds.clone()),
            timers: Timers {
                began: now,
                started: None,
                ended: None,
                next_thresholds: Instant::MAX,
                next_progress: now,
            },
            control: Control::default(),
            threads: Threads {
                vus_ready: 0,
                lanes_done: 0,
                vus_closed: vec![false; settings.workers],
                function: None,
                has_warned_of_stall: false,
                has_given_up: false,
                has_stuck_function: false,
            },
            setup: Setup::default(),
            init_error: None,
            teardown_error: None,
            settings,
        };
        plan_progress(&coordinator.settings.plan, &coordinator.progress);
        coordinator
    }

    /// Takes the inputs since the last step, does what is due at `now`, and gives the outputs in order.
    ///
    /// All inputs count before any time limit does: a listener that took long has kept the driver from reading reports
    /// that came in time.
    pub(crate) fn step(&mut self, now: Instant, inputs: impl IntoIterator<Item = Input>) -> Vec<Output> {
        for input in inputs {
            self.handle(now, input);
        }
        self.do_due(now);
        while self.advance(now) {
            self.do_due(now);
        }
        std::mem::take(&mut self.outputs)
    }

    /// When to step at the latest, whether or not there is an input.
    pub(crate) fn deadline(&self) -> Instant {
        let phase = match self.phase {
            Phase::Paused => self.agreed_early(),
            Phase::Initializing => Instant::MAX,
            Phase::SettingUp { until, .. } | Phase::TearingDown { until, .. } => until + WORKER_PATIENCE,
            Phase::Iterating { give_up } => give_up,
            Phase::Closing { until, .. } | Phase::Draining { until } | Phase::LastWindow { until } => until,
            Phase::Over => Instant::ZERO,
        };
        let timers = self.timers.next_thresholds.min(self.timers.next_progress);
        self.windows.next_instant().min(timers).min(phase)
    }

    /// Whether the run waits for its resume, and so accepts [`Input::SetUp`].
    pub(crate) fn is_paused(&self) -> bool {
        matches!(self.phase, Phase::Paused) && self.setup.ordered.is_none()
    }

    /// Whether the run is over.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    /// Worker threads with VUs that have not closed.
    pub(crate) fn workers_lost(&self) -> usize {
        self.threads.vus_closed.iter().filter(|&&closed| !closed).count()
    }

    /// Whether every worker thread will end: no VU and no function blocks one.
    pub(crate) fn all_threads_end(&self) -> bool {
        self.workers_lost() == 0 && !self.threads.has_stuck_function
    }

    /// Evaluates the thresholds for the last time and gives the results of the run.
    pub(crate) fn finish(mut self, now: Instant) -> Ending {
        let ended = self.timers.ended.unwrap_or(now);
        let elapsed = ended.since(self.timers.began);
        let thresholds = self.totals.evaluate_at_end(elapsed);
        let mut events = Vec::new();
        if !thresholds.results.is_empty() {
            let results = Arc::new(thresholds.results.clone());
            events.push(RunEvent::Thresholds { at: ended, results });
        }
        events.push(RunEvent::Ended);
        Ending {
            workers_lost: if self.timers.ended.is_some() { self.workers_lost() } else { 0 },
            init_error: self.init_error,
            setup_error: self.setup.error,
            teardown_error: self.teardown_error,
            setup_data: self.setup.data,
            totals: self.totals,
            thresholds,
            elapsed,
            events,
        }
    }

    fn handle(&mut self, now: Instant, input: Input) {
        match input {
            Input::Report(report) => self.handle_report(now, report),
            Input::Stop => self.stop(now),
            Input::Kill => {
                self.control.is_killed = true;
                self.order_all(|| Order::Kill);
            }
            Input::Steer { is_paused, start_at, target } => {
                (self.control.is_paused, self.control.start_at, self.control.target) =
                    (is_paused, start_at, target);
                self.steer();
            }
            Input::SetUp(data) => self.setup.ordered = Some(data),
            Input::StartFailed(error) => {
                self.init_error = Some(error);
                self.phase = Phase::Over;
            }
        }
    }

    fn handle_report(&mut self, now: Instant, report: Report) {
        match report {
            Report::VuReady => {
                self.threads.vus_ready += 1;
                let (ready, planned) = (self.threads.vus_ready, self.settings.vus_planned);
                if now >= self.timers.next_progress || ready == planned {
                    self.timers.next_progress = now + PROGRESS_EVERY;
                    self.event(RunEvent::Initializing { ready: ready as u32, planned: planned as u32 });
                }
            }
            Report::VuFailed(error) => {
                self.init_error.get_or_insert(error);
            }
            Report::Window { worker, series, notes } => self.windows.add(worker, series, notes),
            Report::LaneDone => self.threads.lanes_done += 1,
            Report::FunctionDone(result) => self.threads.function = Some(result),
            Report::VusClosed { worker } => self.threads.vus_closed[worker] = true,
            Report::Samples(batch) => self.outputs.push(Output::Samples(batch)),
            Report::Log(line) => self.event(RunEvent::Log(line)),
        }
    }

    /// Stops the iterations, once.
    fn stop(&mut self, now: Instant) {
        if std::mem::replace(&mut self.control.is_stopped, true) {
            return;
        }
        self.order_all(|| Order::Stop);
        if let Phase::Iterating { give_up } = &mut self.phase {
            *give_up = (*give_up).min(now + WORKER_PATIENCE);
        }
    }

    /// Sends the number of looping VUs to every thread. A repeated order changes nothing.
    fn steer(&mut self) {
        let Some((scenario, vus)) = self.control.target else { return };
        if self.timers.started.is_some() {
            let target = u32::try_from(self.settings.vu_stripe.scale(vus)).unwrap_or(u32::MAX);
            self.order_all(|| Order::Steer { scenario, target });
        }
    }

    /// Goes on to the next phase if the current one is over.
    fn advance(&mut self, now: Instant) -> bool {
        match self.phase {
            Phase::Initializing => {
                let is_over = self.threads.vus_ready >= self.settings.vus_planned
                    || self.init_error.is_some()
                    || self.control.is_stopped;
                if is_over {
                    self.phase = Phase::Paused;
                }
                is_over
            }
            Phase::Paused => self.leave_pause(now),
            Phase::SettingUp { until, limit, while_paused } => {
                let Some(result) = self.function_result(now, until, limit) else { return false };
                if let Ok(data) = &result {
                    self.setup.data.clone_from(data);
                }
                self.end_setup(now, result, while_paused);
                true
            }
            Phase::Iterating { give_up } => {
                let is_over = self.threads.lanes_done >= self.lanes() || now >= give_up;
                if is_over {
                    self.end_iterations(now);
                }
                is_over
            }
            Phase::Closing { until, tears_down } => {
                let lost = self.workers_lost();
                if lost > 0 && now < until {
                    return false;
                }
                if lost > 0 {
                    let message = format!(
                        "{lost} worker threads are blocked by VUs that do not end; going on without them"
                    );
                    self.log(now, LogLevel::Error, message);
                }
                if tears_down {
                    self.tear_down(now)
                } else {
                    self.drain(now)
                }
                true
            }
            Phase::TearingDown { until, limit } => {
                let Some(result) = self.function_result(now, until, limit) else { return false };
                self.teardown_error = result.err();
                self.drain(now);
                true
            }
            Phase::Draining { until } => {
                // An answer under way belongs to an earlier request: the samples after it need a request of their own.
                let is_over = !self.windows.is_waiting() || !self.all_threads_end() || now >= until;
                if is_over {
                    // A blocked thread answers no more, and a listener may have taken the time of the others.
                    let least = now + windows::PATIENCE;
                    let until = if self.all_threads_end() { until.max(least) } else { least };
                    let workers = self.windows.finish(now, until);
                    self.take_windows(now, workers);
                    self.phase = Phase::LastWindow { until };
                }
                is_over
            }
            Phase::LastWindow { until } => {
                let is_over = !self.windows.is_open() || now >= until;
                if is_over {
                    self.order_all(|| Order::End);
                    self.phase = Phase::Over;
                }
                is_over
            }
            Phase::Over => false,
        }
    }

    /// Begins the test proper unless it still waits for its resume: meanwhile `setup()` may be run or replaced by the
    /// data of another instance of the same test.
    fn leave_pause(&mut self, now: Instant) -> bool {
        let is_early = self.control.start_at.is_some() && now < self.agreed_early();
        let waits = self.control.is_paused || is_early;
        if waits && self.init_error.is_none() && !self.control.is_stopped {
            let Some(order) = self.setup.ordered.take() else { return false };
            match order {
                Some(data) => {
                    self.setup.data.clone_from(&data);
                    self.end_setup(now, Ok(data), true);
                }
                None => self.run_setup(now, true),
            }
            return true;
        }
        self.outputs.push(Output::CloseSetup);
        // Windows, and k6's "test run duration", count from here.
        let began = self.control.start_at.as_ref().map_or(now, |start| start.from);
        self.timers.began = began;
        self.windows.begin(began);
        self.progress.began_ns.store(began.as_ns(), Ordering::Relaxed);
        if self.init_error.is_some() {
            self.close_vus(now, false);
        } else if self.settings.plan.lifecycle.no_setup || self.setup.is_done || self.control.is_stopped {
            self.begin_iterations(now);
        } else {
            self.run_setup(now, false);
        }
        true
    }

    fn run_setup(&mut self, now: Instant, while_paused: bool) {
        if !self.settings.has_setup {
            return self.end_setup(now, Ok(None), while_paused);
        }
        let limit = self.settings.plan.lifecycle.setup_timeout;
        let until = now + limit;
        self.run_function(now, Function::Setup { until });
        self.event(RunEvent::SetupStarted);
        self.phase = Phase::SettingUp { until, limit, while_paused };
    }

    fn end_setup(
        &mut self,
        now: Instant,
        result: Result<Option<Arc<str>>, LifecycleError>,
        while_paused: bool,
    ) {
        if while_paused {
            self.setup.is_done = result.is_ok();
            self.outputs.push(Output::SetUp(result));
            self.phase = Phase::Paused;
            return;
        }
        self.setup.error = result.err();
        self.begin_iterations(now);
    }

    /// Starts the scenarios, unless the setup failed or the run was stopped.
    fn begin_iterations(&mut self, now: Instant) {
        self.outputs.push(Output::SetupData(self.setup.data.clone()));
        if self.setup.error.is_some() || self.control.is_stopped {
            return self.close_vus(now, false);
        }
        // An agreed instant that has passed stays what it is: iterations that were due since then are late, and counted so.
        let start = self.control.start_at.clone().unwrap_or_else(|| {
            let at = now + START_LEAD;
            Start { scenarios: at, from: at, numbers: Arc::default() }
        });
        let at = start.scenarios;
        self.timers.started = Some(at);
        self.timers.next_thresholds = at + THRESHOLDS_EVERY;
        self.timers.next_progress = at;
        self.progress.started_ns.store(at.as_ns(), Ordering::Relaxed);
        let setup_data = self.setup.data.clone();
        self.order_all(|| Order::Start { start: start.clone(), setup_data: setup_data.clone() });
        self.steer();
        self.event(RunEvent::ScenariosStarted { at });
        let longest = demands(&self.settings.plan).iter().map(|demand| demand.end).max().unwrap_or_default();
        self.phase = Phase::Iterating { give_up: at + longest + WORKER_PATIENCE };
    }

    /// When a run with an agreed start gives its threads their orders.
    fn agreed_early(&self) -> Instant {
        self.control.start_at.as_ref().map_or(Instant::MAX, |start| before(start.from, AGREED_LEAD))
    }

    /// Lanes of all scenarios on all threads.
    fn lanes(&self) -> usize {
        self.settings.workers * self.settings.plan.scenarios.len()
    }

    fn end_iterations(&mut self, now: Instant) {
        self.threads.has_given_up |= self.threads.lanes_done < self.lanes();
        self.update_progress(now);
        self.timers.next_thresholds = Instant::MAX;
        self.timers.next_progress = Instant::MAX;
        self.event(RunEvent::ScenariosEnded { at: now });
        self.close_vus(now, true);
    }

    fn close_vus(&mut self, now: Instant, tears_down: bool) {
        self.order_all(|| Order::CloseVus);
        let patience = if self.threads.has_given_up { CLOSE_PATIENCE } else { WORKER_PATIENCE };
        self.phase = Phase::Closing { until: now + patience, tears_down };
    }

    fn tear_down(&mut self, now: Instant) {
        let lifecycle = &self.settings.plan.lifecycle;
        if !self.settings.has_teardown || lifecycle.no_teardown || self.control.is_killed {
            return self.drain(now);
        }
        let limit = lifecycle.teardown_timeout;
        let until = now + limit;
        self.run_function(now, Function::Teardown { until, data: self.setup.data.clone() });
        self.event(RunEvent::TeardownStarted);
        self.phase = Phase::TearingDown { until, limit };
    }

    /// Runs `setup()` or `teardown()` on a thread that no VU blocks, as far as is known.
    fn run_function(&mut self, now: Instant, function: Function) {
        self.threads.function = None;
        let is_before_iterations = self.timers.started.is_none();
        let free = if is_before_iterations {
            Some(0)
        } else {
            self.threads.vus_closed.iter().position(|&closed| closed)
        };
        match free {
            Some(worker) => {
                // The function may block its thread for good, and these samples are not its own.
                let asked = self.windows.ask_early(worker);
                self.take_windows(now, asked.into_iter().collect());
                self.outputs.push(Output::Order(worker, Order::Run(function)));
            }
            None => self.threads.function = Some(Err(ProgramError::Interrupted)),
        }
    }

    /// The result of the function that runs, once it has ended or a VU has blocked its thread for too long.
    fn function_result(
        &mut self,
        now: Instant,
        until: Instant,
        limit: Duration,
    ) -> Option<Result<Option<Arc<str>>, LifecycleError>> {
        match self.threads.function.take() {
            Some(Ok(data)) => Some(Ok(data)),
            Some(Err(error)) if now < until => Some(Err(error.into())),
            Some(Err(_)) => Some(Err(LifecycleError::TimedOut(limit))),
            None if now >= until + WORKER_PATIENCE => {
                self.threads.has_stuck_function = true;
                self.threads.has_given_up = true;
                Some(Err(LifecycleError::TimedOut(limit)))
            }
            None => None,
        }
    }

    fn drain(&mut self, now: Instant) {
        self.timers.ended = Some(now);
        self.windows.end_seconds();
        self.phase = Phase::Draining { until: now + WORKER_PATIENCE };
    }

    fn do_due(&mut self, now: Instant) {
        if self.windows.is_due(now) {
            let vus = self.progress.vus_active.load(Ordering::Relaxed);
            let vus_max = self.progress.vus_initialized.load(Ordering::Relaxed);
            let gauges = self.windows.gauges(now, vus, vus_max);
            if self.wants_samples {
                let samples = gauges.map(|gauge| (gauge, None)).to_vec();
                self.event(RunEvent::Samples(Arc::new(samples)));
            }
            let workers = self.windows.tick(now, &gauges);
            self.take_windows(now, workers);
        }
        if let Some(window) = self.windows.close(now) {
            self.warn_of_stall(now);
            self.totals.absorb(&window);
            self.event(RunEvent::Window(Arc::new(window)));
        }
        if now >= self.timers.next_thresholds {
            self.timers.next_thresholds = now + THRESHOLDS_EVERY;
            self.evaluate(now);
        }
        if now >= self.timers.next_progress {
            self.timers.next_progress = now + PROGRESS_EVERY;
            self.update_progress(now);
        }
    }

    /// Warns once that a thread did not answer in time.
    fn warn_of_stall(&mut self, now: Instant) {
        let late = self.windows.late();
        if late.is_empty() || std::mem::replace(&mut self.threads.has_warned_of_stall, true) {
            return;
        }
        let message = format!(
            "worker thread {} did not answer in time: a VU computes without waiting, so iterations of its thread \
             are late and their samples appear in a later second",
            late[0]
        );
        self.log(now, LogLevel::Warn, message);
    }

    fn take_windows(&mut self, end: Instant, workers: Vec<usize>) {
        let orders = workers.into_iter().map(|worker| Output::Order(worker, Order::TakeWindow { end }));
        self.outputs.extend(orders);
    }

    /// Evaluates the thresholds on the windows so far; one with `abortOnFail` may stop the run.
    fn evaluate(&mut self, now: Instant) {
        let Some(started) = self.timers.started else { return };
        let evaluation = self.totals.evaluate(now.since(started));
        if evaluation.abort.is_some() {
            self.outputs.push(Output::Stop(AbortReason::Threshold));
        }
        if !evaluation.results.is_empty() {
            self.event(RunEvent::Thresholds { at: now, results: Arc::new(evaluation.results) });
        }
    }

    fn update_progress(&self, now: Instant) {
        if let Some(started) = self.timers.started {
            update_progress(&self.settings.plan, &self.progress, started, now);
        }
    }

    fn order_all(&mut self, order: impl Fn() -> Order) {
        self.outputs.extend((0..self.settings.workers).map(|worker| Output::Order(worker, order())));
    }

    fn event(&mut self, event: RunEvent) {
        self.outputs.push(Output::Event(event));
    }

    fn log(&mut self, now: Instant, level: LogLevel, message: String) {
        self.event(RunEvent::Log(LogLine::new(now, level, message)));
    }
}

/// The demand of each scenario for VUs.
pub(crate) fn demands(plan: &Plan) -> Vec<Demand> {
    let demand = |scenario: &Scenario| {
        let regular_end = scenario.start_time.saturating_add(schedule::duration(&scenario.executor));
        Demand {
            start: scenario.start_time,
            end: regular_end.saturating_add(scenario.graceful_stop),
            vus: schedule::vus(&scenario.executor, &plan.segment).0,
        }
    };
    plan.scenarios.iter().map(demand).collect()
}

/// This long before an instant.
fn before(at: Instant, lead: Duration) -> Instant {
    Instant::from_ns(at.as_ns().saturating_sub(lead.as_nanos() as u64))
}

/// Sets how many iterations the plan has, where that is known.
pub fn plan_progress(plan: &Plan, progress: &RunProgress) {
    for (scenario, progress) in plan.scenarios.iter().zip(&progress.scenarios) {
        progress.iterations_planned.store(planned_iterations(scenario, plan), Ordering::Relaxed);
    }
}

/// Sets how far each scenario is at `now`, in a run whose scenarios started at `started`.
pub fn update_progress(plan: &Plan, progress: &RunProgress, started: Instant, now: Instant) {
    for (scenario, progress) in plan.scenarios.iter().zip(&progress.scenarios) {
        let planned = progress.iterations_planned.load(Ordering::Relaxed);
        let fraction = if planned > 0 {
            progress.iterations_completed.load(Ordering::Relaxed) as f64 / planned as f64
        } else {
            let passed = now.since(started + scenario.start_time);
            passed.as_secs_f64() / schedule::duration(&scenario.executor).as_secs_f64().max(1e-9)
        };
        progress.set_fraction(fraction);
    }
}

/// Iterations that a scenario will start in all; 0 where that is not known.
fn planned_iterations(scenario: &Scenario, plan: &Plan) -> u64 {
    let (vus, _) = schedule::vus(&scenario.executor, &plan.segment);
    match schedule::quota(&scenario.executor, &plan.segment) {
        Quota::Unlimited => 0,
        Quota::PerVu(iterations) => iterations.saturating_mul(u64::from(vus)),
        Quota::Shared(iterations) => iterations,
    }
}
