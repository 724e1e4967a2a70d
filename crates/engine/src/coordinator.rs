//! The run as a whole: its phases, its windows, its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use model::plan::{Plan, Scenario};
use model::{Instant, LogLevel, LogLine, RunEvent, Sample, SystemClock, TagSet};
use plan::Stripe;
use schedule::Quota;
use tally::Totals;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use vu::Workers;

use crate::report::{Order, Phase, Report};
use crate::roster::{Demand, Roster, roster};
use crate::shared::{RunShared, ScenarioShared};
use crate::windows::WindowBook;
use crate::{AbortReason, LifecycleError, Program, ProgramError, RunConfig, RunControl, RunOutcome, room};

/// Between the order to start and the start, so that every thread has heard of it when the first iteration is due.
const START_LEAD: Duration = Duration::from_millis(1);

/// How often thresholds are judged, as in k6.
const THRESHOLDS_EVERY: Duration = Duration::from_secs(2);

/// How often progress is brought up to date: of the initialisation, then of the scenarios.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// How long the VUs may take to let go of what they hold, once a thread has already been waited for in vain.
const CLOSE_PATIENCE: Duration = Duration::from_millis(200);

/// How long after everything should have ended the run waits for threads that a VU still holds.
const WORKER_PATIENCE: Duration = Duration::from_secs(5);

/// Runs a plan from the init of its VUs to the end of `teardown()`, on threads of its own.
///
/// The calling thread coordinates and calls `listener`; a listener that takes long delays windows and verdicts, never
/// iterations.
pub fn run(
    plan: Arc<Plan>,
    program: Arc<dyn Program>,
    config: RunConfig,
    listener: &mut dyn FnMut(RunEvent),
) -> RunOutcome {
    let (mut coordinator, queues, roster) = Coordinator::new(plan, program, config, listener);
    match Workers::start(queues.len()) {
        Ok(workers) => coordinator.run(workers, queues, roster),
        Err(error) => {
            let message = format!("start {} worker threads: {error}", queues.len());
            coordinator.init_error = Some(ProgramError::Exception(message));
        }
    }
    coordinator.finish()
}

struct Coordinator<'a> {
    run: Arc<RunShared>,
    reports: Receiver<Report>,
    listener: &'a mut dyn FnMut(RunEvent),
    windows: WindowBook,
    totals: Totals,
    began: Instant,
    ended: Option<Instant>,
    /// When the scenarios start, once that is known.
    started: Option<Instant>,
    next_thresholds: Instant,
    next_progress: Instant,
    vus_ready: u64,
    lanes_done: usize,
    vus_closed: Vec<bool>,
    lifecycle: Option<Result<Option<Arc<str>>, ProgramError>>,
    is_stop_passed_on: bool,
    has_warned_of_hogs: bool,
    /// Whether lanes were left behind, because a VU holds their thread.
    has_given_up: bool,
    setup_data: Option<Arc<str>>,
    /// Whether somebody saw to the setup while the run was paused.
    is_set_up: bool,
    init_error: Option<ProgramError>,
    setup_error: Option<LifecycleError>,
    teardown_error: Option<LifecycleError>,
}

impl<'a> Coordinator<'a> {
    fn new(
        plan: Arc<Plan>,
        program: Arc<dyn Program>,
        config: RunConfig,
        listener: &'a mut dyn FnMut(RunEvent),
    ) -> (Coordinator<'a>, Vec<UnboundedReceiver<Order>>, Roster) {
        let workers = config.workers.max(1);
        let roster = roster(&demands(&plan));
        let (orders, queues) = (0..workers).map(|_| unbounded_channel()).unzip();
        let (sender, reports) = channel();
        config.control.attach(sender.clone());
        config.control.steering().prepare(&plan);
        let gauge_tags = plan.tags.iter().map(|(name, value)| (name.as_str().into(), value.as_str().into()));
        let gauge_tags = config.tags.intern(TagSet::new(gauge_tags));
        let began = SystemClock::now();
        let run = Arc::new(RunShared {
            scenarios: plan.scenarios.iter().map(|scenario| share(scenario, &plan, workers)).collect(),
            orders,
            reports: sender,
            vu_stripe: Stripe::new(&plan.segment),
            vus_planned: roster.total,
            next_vu_id: AtomicU64::new(roster.total + 1),
            batches_in_flight: AtomicUsize::new(0),
            samples_lost: AtomicU64::new(0),
            plan,
            program,
            config,
        });
        for (index, scenario) in run.plan.scenarios.iter().enumerate() {
            let (vus, _) = schedule::vus(&scenario.executor, &run.plan.segment);
            let planned = planned_iterations(run.scenarios[index].quota, vus);
            run.config.progress.scenarios[index].iterations_planned.store(planned, Ordering::Relaxed);
        }
        let (registry, tags) = (run.config.registry.clone(), run.config.tags.clone());
        let coordinator = Coordinator {
            windows: WindowBook::new(registry.clone(), gauge_tags, workers),
            totals: Totals::new(registry, tags, run.config.thresholds.clone()),
            run,
            reports,
            listener,
            began,
            ended: None,
            started: None,
            next_thresholds: Instant::MAX,
            next_progress: began,
            vus_ready: 0,
            lanes_done: 0,
            vus_closed: vec![false; workers],
            lifecycle: None,
            is_stop_passed_on: false,
            has_warned_of_hogs: false,
            has_given_up: false,
            setup_data: None,
            is_set_up: false,
            init_error: None,
            setup_error: None,
            teardown_error: None,
        };
        (coordinator, queues, roster)
    }

    fn run(&mut self, workers: Workers, queues: Vec<UnboundedReceiver<Order>>, roster: Roster) {
        let ids = Arc::new(roster.vus);
        for (index, queue) in queues.into_iter().enumerate() {
            let (run, ids) = (self.run.clone(), ids.clone());
            workers.spawn(index, move || room::run(index, run, queue, ids));
        }
        self.initialise();
        self.wait_for_resume();
        self.begin();
        let may_iterate = self.init_error.is_none() && self.set_up();
        if may_iterate {
            self.iterate();
        }
        self.close_vus();
        if may_iterate {
            self.tear_down();
        }
        self.ended = Some(SystemClock::now());
        self.last_window();
        self.run.orders.iter().for_each(|orders| {
            // A thread that is gone has ended already.
            let _ = orders.send(Order::End);
        });
        if self.workers_lost() == 0 {
            workers.join();
        } else {
            // Joining would wait for the VU that holds the thread; the end of the process ends it.
            std::mem::forget(workers);
        }
    }

    fn initialise(&mut self) {
        let planned = self.run.vus_planned;
        self.pump(Instant::MAX, |this| {
            this.vus_ready >= planned || this.init_error.is_some() || this.run.config.control.is_stopped()
        });
    }

    /// The test proper begins: its windows, and k6's "test run duration", count from here.
    fn begin(&mut self) {
        self.began = SystemClock::now();
        self.windows.begin(self.began);
        self.run.config.progress.began_ns.store(self.began.as_ns(), Ordering::Relaxed);
    }

    /// While a run that shall begin paused waits, others may run its `setup()`, or hand it the data of one that ran
    /// elsewhere: the instances of a test whose parts run on several machines.
    fn wait_for_resume(&mut self) {
        let control = self.run.config.control.clone();
        let is_over = |control: &RunControl| control.is_stopped() || !control.is_paused();
        while self.init_error.is_none() && !is_over(&control) {
            self.pump(Instant::MAX, |_| is_over(&control) || control.steering().has_setup_order());
            let Some(order) = control.steering().take_setup_order() else { continue };
            let answer = match order.data {
                Some(data) => {
                    self.setup_data = data;
                    Ok(self.setup_data.clone())
                }
                None => self.run_setup(),
            };
            self.is_set_up = answer.is_ok();
            // Who asked may have gone.
            let _ = order.answer.send(answer);
        }
        control.steering().close_setup();
    }

    /// Runs `setup()`; whether the scenarios may begin.
    fn set_up(&mut self) -> bool {
        let control = self.run.config.control.clone();
        let is_wanted = !self.run.plan.lifecycle.no_setup && !self.is_set_up;
        if is_wanted
            && !control.is_stopped()
            && let Err(error) = self.run_setup()
        {
            self.setup_error = Some(error);
        }
        control.steering().set_setup_data(self.setup_data.clone());
        self.setup_error.is_none() && !control.is_stopped()
    }

    fn run_setup(&mut self) -> Result<Option<Arc<str>>, LifecycleError> {
        if !self.run.program.has_setup() {
            return Ok(None);
        }
        (self.listener)(RunEvent::SetupStarted);
        let timeout = self.run.plan.lifecycle.setup_timeout;
        let until = SystemClock::now() + timeout;
        self.setup_data = self.run_lifecycle(Phase::Setup { until }, until, timeout)?;
        Ok(self.setup_data.clone())
    }

    fn tear_down(&mut self) {
        let control = self.run.config.control.clone();
        if !self.run.program.has_teardown() || self.run.plan.lifecycle.no_teardown || control.is_killed() {
            return;
        }
        (self.listener)(RunEvent::TeardownStarted);
        let timeout = self.run.plan.lifecycle.teardown_timeout;
        let until = SystemClock::now() + timeout;
        let phase = Phase::Teardown { until, data: self.setup_data.clone() };
        self.teardown_error = self.run_lifecycle(phase, until, timeout).err();
    }

    fn run_lifecycle(
        &mut self,
        phase: Phase,
        until: Instant,
        timeout: Duration,
    ) -> Result<Option<Arc<str>>, LifecycleError> {
        let Some(worker) = self.free_worker() else {
            return Err(ProgramError::Interrupted.into());
        };
        self.lifecycle = None;
        self.run.order(worker, Order::Lifecycle(phase));
        self.pump(until + WORKER_PATIENCE, |this| this.lifecycle.is_some());
        match self.lifecycle.take() {
            Some(Ok(data)) => Ok(data),
            Some(Err(error)) if SystemClock::now() < until => Err(error.into()),
            Some(Err(_)) | None => Err(LifecycleError::TimedOut(timeout)),
        }
    }

    /// A thread that no VU holds, as far as is known.
    fn free_worker(&self) -> Option<usize> {
        if self.started.is_none() {
            return Some(0);
        }
        self.vus_closed.iter().position(|&closed| closed)
    }

    fn iterate(&mut self) {
        let at = SystemClock::now() + START_LEAD;
        self.started = Some(at);
        self.next_thresholds = at + THRESHOLDS_EVERY;
        self.next_progress = at;
        self.run.config.progress.started_ns.store(at.as_ns(), Ordering::Relaxed);
        (self.listener)(RunEvent::ScenariosStarted { at });
        for worker in 0..self.run.orders.len() {
            self.run.order(worker, Order::Start { at, setup_data: self.setup_data.clone() });
        }
        self.pass_on_steering();
        let lanes = self.run.orders.len() * self.run.plan.scenarios.len();
        let hard_end = at + self.longest();
        let mut give_up = hard_end + WORKER_PATIENCE;
        let mut is_stopped = false;
        while self.lanes_done < lanes && SystemClock::now() < give_up {
            self.pump(give_up, |this| {
                this.lanes_done >= lanes || (this.run.config.control.is_stopped() && !is_stopped)
            });
            if self.run.config.control.is_stopped() && !is_stopped {
                is_stopped = true;
                give_up = give_up.min(SystemClock::now() + WORKER_PATIENCE);
            }
        }
        self.has_given_up = self.lanes_done < lanes;
        self.update_progress();
        self.next_thresholds = Instant::MAX;
        self.next_progress = Instant::MAX;
        (self.listener)(RunEvent::ScenariosEnded { at: SystemClock::now() });
    }

    /// From the start of the scenarios to the hard end of the last.
    fn longest(&self) -> Duration {
        demands(&self.run.plan).iter().map(|demand| demand.end).max().unwrap_or_default()
    }

    fn close_vus(&mut self) {
        for worker in 0..self.run.orders.len() {
            self.run.order(worker, Order::CloseVus);
        }
        let patience = if self.has_given_up { CLOSE_PATIENCE } else { WORKER_PATIENCE };
        self.pump(SystemClock::now() + patience, |this| this.workers_lost() == 0);
        let lost = self.workers_lost();
        if lost > 0 {
            let message =
                format!("{lost} worker threads are held by VUs that do not end; going on without them");
            self.log(LogLine::new(SystemClock::now(), LogLevel::Error, message));
        }
    }

    fn workers_lost(&self) -> usize {
        self.vus_closed.iter().filter(|&&closed| !closed).count()
    }

    fn last_window(&mut self) {
        // An answer still on its way belongs to an earlier request: what came after it has to be asked for again.
        let until = SystemClock::now() + WORKER_PATIENCE;
        self.pump(until, |this| !this.windows.is_waiting() || this.workers_lost() > 0);
        self.ask_for_windows(SystemClock::now(), None);
        self.pump(until, |this| !this.windows.is_open());
    }

    fn finish(mut self) -> RunOutcome {
        let ended = self.ended.unwrap_or_else(SystemClock::now);
        let elapsed = ended.since(self.began);
        let thresholds = self.totals.evaluate_at_end(elapsed);
        if !thresholds.results.is_empty() {
            let results = Arc::new(thresholds.results.clone());
            (self.listener)(RunEvent::Thresholds { at: ended, results });
        }
        (self.listener)(RunEvent::Ended);
        let control = &self.run.config.control;
        RunOutcome {
            aborted: control.reason(),
            marked_failed: control.is_marked_failed(),
            workers_lost: if self.ended.is_some() { self.workers_lost() } else { 0 },
            drops: self.run.scenarios.iter().map(ScenarioShared::drops).collect(),
            samples_lost: self.run.samples_lost.load(Ordering::Relaxed),
            init_error: self.init_error,
            setup_error: self.setup_error,
            teardown_error: self.teardown_error,
            setup_data: self.setup_data,
            totals: self.totals,
            thresholds,
            elapsed,
        }
    }

    /// Handles reports and what is due until `is_over`, or until the time is up.
    fn pump(&mut self, until: Instant, is_over: impl Fn(&Coordinator<'_>) -> bool) {
        loop {
            let now = SystemClock::now();
            self.do_due(now);
            if is_over(self) || now >= until {
                return;
            }
            let next =
                self.windows.next_instant().min(self.next_thresholds).min(self.next_progress).min(until);
            match self.reports.recv_timeout(next.since(SystemClock::now())) {
                Ok(report) => self.handle(report),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("the coordinator holds a sender itself"),
            }
        }
    }

    fn handle(&mut self, report: Report) {
        match report {
            Report::VuReady => {
                self.vus_ready += 1;
                let now = SystemClock::now();
                if now >= self.next_progress || self.vus_ready == self.run.vus_planned {
                    self.next_progress = now + PROGRESS_EVERY;
                    let (ready, planned) = (self.vus_ready as u32, self.run.vus_planned as u32);
                    (self.listener)(RunEvent::Initializing { ready, planned });
                }
            }
            Report::VuFailed(error) => {
                self.init_error.get_or_insert(error);
            }
            Report::Window { worker, series, notes } => self.windows.add(worker, series, notes),
            Report::LaneDone => self.lanes_done += 1,
            Report::Lifecycle(result) => self.lifecycle = Some(result),
            Report::VusClosed { worker } => self.vus_closed[worker] = true,
            Report::Samples(batch) => {
                self.run.batches_in_flight.fetch_sub(1, Ordering::Relaxed);
                (self.listener)(RunEvent::Samples(Arc::new(batch)));
            }
            Report::Log(line) => self.log(line),
            Report::Steered => self.pass_on_steering(),
            Report::Stop => self.pass_on_stop(),
            Report::Kill => {
                for worker in 0..self.run.orders.len() {
                    self.run.order(worker, Order::Kill);
                }
            }
        }
    }

    fn log(&mut self, line: LogLine) {
        (self.listener)(RunEvent::Log(line));
    }

    /// Tells every thread how many VUs are wanted. It may have heard it already: then nothing changes.
    fn pass_on_steering(&mut self) {
        if self.started.is_none() {
            return;
        }
        let Some((scenario, vus)) = self.run.config.control.steering().target() else { return };
        let target = u32::try_from(self.run.vu_stripe.scale(vus)).unwrap_or(u32::MAX);
        for worker in 0..self.run.orders.len() {
            self.run.order(worker, Order::Steer { scenario, target });
        }
    }

    fn pass_on_stop(&mut self) {
        if std::mem::replace(&mut self.is_stop_passed_on, true) {
            return;
        }
        for worker in 0..self.run.orders.len() {
            self.run.order(worker, Order::Stop);
        }
    }

    fn do_due(&mut self, now: Instant) {
        if self.windows.is_due(now) {
            let progress = &self.run.config.progress;
            let vus = progress.vus_active.load(Ordering::Relaxed);
            let vus_max = progress.vus_initialized.load(Ordering::Relaxed);
            let gauges = self.windows.gauges(now, vus, vus_max);
            if self.run.config.wants_samples {
                (self.listener)(RunEvent::Samples(Arc::new(gauges.map(|gauge| (gauge, None)).to_vec())));
            }
            self.ask_for_windows(now, Some(gauges));
        }
        if let Some(window) = self.windows.close(now) {
            self.warn_of_hogs(now);
            self.totals.absorb(&window);
            (self.listener)(RunEvent::Window(Arc::new(window)));
        }
        if now >= self.next_thresholds {
            self.next_thresholds = now + THRESHOLDS_EVERY;
            self.judge(now);
        }
        if now >= self.next_progress {
            self.next_progress = now + PROGRESS_EVERY;
            self.update_progress();
        }
    }

    /// Says once that a thread could not hand over its second in time.
    fn warn_of_hogs(&mut self, now: Instant) {
        let late = self.windows.late();
        if late.is_empty() || std::mem::replace(&mut self.has_warned_of_hogs, true) {
            return;
        }
        let message = format!(
            "worker thread {} did not answer in time: a VU computes without waiting, so iterations of its thread \
             are late and their samples appear in a later second",
            late[0]
        );
        self.log(LogLine::new(now, LogLevel::Warn, message));
    }

    fn ask_for_windows(&mut self, now: Instant, gauges: Option<[Sample; 2]>) {
        let workers = match gauges {
            Some(gauges) => self.windows.tick(now, &gauges),
            None => self.windows.ask(now),
        };
        for worker in workers {
            self.run.order(worker, Order::TakeWindow { end: now });
        }
    }

    fn judge(&mut self, now: Instant) {
        let Some(started) = self.started else { return };
        let evaluation = self.totals.evaluate(now.since(started));
        if evaluation.abort.is_some() {
            self.run.config.control.stop(AbortReason::Threshold);
        }
        if !evaluation.results.is_empty() {
            (self.listener)(RunEvent::Thresholds { at: now, results: Arc::new(evaluation.results) });
        }
    }

    fn update_progress(&self) {
        let Some(started) = self.started else { return };
        let now = SystemClock::now();
        for (index, scenario) in self.run.plan.scenarios.iter().enumerate() {
            let progress = &self.run.config.progress.scenarios[index];
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
}

fn demands(plan: &Plan) -> Vec<Demand> {
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

fn share(scenario: &Scenario, plan: &Plan, workers: usize) -> ScenarioShared {
    let quota = schedule::quota(&scenario.executor, &plan.segment);
    let stripe = schedule::iteration_stripe(&scenario.executor, &plan.segment);
    let (_, spare) = schedule::vus(&scenario.executor, &plan.segment);
    ScenarioShared::new(quota, stripe, spare, workers)
}

/// How many iterations a scenario will start in all, where that is known; 0 otherwise.
fn planned_iterations(quota: Quota, vus: u32) -> u64 {
    match quota {
        Quota::Unlimited => 0,
        Quota::PerVu(iterations) => iterations.saturating_mul(u64::from(vus)),
        Quota::Shared(iterations) => iterations,
    }
}
