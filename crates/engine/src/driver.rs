//! The threads, channels and clock around the [`Coordinator`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};

use model::plan::{Plan, Scenario};
use model::{RunEvent, SystemClock};
use plan::Stripe;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use vu::Workers;

use crate::coordinator::{Coordinator, Input, Output, Settings, demands};
use crate::report::{Message, Order};
use crate::roster::{Roster, roster};
use crate::shared::{RunShared, ScenarioShared};
use crate::{LifecycleError, Program, ProgramError, RunConfig, RunOutcome, worker_thread};

/// Inputs per step at most, so that a flood of reports does not keep timers waiting.
const INPUTS_MAX: usize = 1024;

/// Runs a plan from the init of its VUs to the end of `teardown()`, on threads of its own.
///
/// The calling thread coordinates and calls `listener`; a slow listener delays windows and thresholds, never
/// iterations.
pub fn run(
    plan: Arc<Plan>,
    program: Arc<dyn Program>,
    config: RunConfig,
    listener: &mut dyn FnMut(RunEvent),
) -> RunOutcome {
    let roster = roster(&demands(&plan));
    let (mut driver, queues) = Driver::new(plan, program, config, roster.total, listener);
    match Workers::start(queues.len()) {
        Ok(workers) => driver.run(workers, queues, roster),
        Err(error) => {
            let message = format!(
                "start {} worker threads: {error}; raise the limit of threads (`ulimit -u`, or pids.max of the cgroup), \
                 or start fewer with --workers",
                queues.len()
            );
            driver.step(vec![Input::StartFailed(ProgramError::System(message))]);
        }
    }
    driver.finish()
}

/// Carries a coordinator's outputs out and feeds it its inputs.
struct Driver<'a> {
    run: Arc<RunShared>,
    messages: Receiver<Message>,
    listener: &'a mut dyn FnMut(RunEvent),
    coordinator: Coordinator,
    has_passed_stop: bool,
    has_passed_kill: bool,
    /// Where the result of the setup under way goes, if it was ordered from outside.
    setup_answer: Option<Sender<Result<Option<Arc<str>>, LifecycleError>>>,
}

impl<'a> Driver<'a> {
    fn new(
        plan: Arc<Plan>,
        program: Arc<dyn Program>,
        config: RunConfig,
        vus_planned: u64,
        listener: &'a mut dyn FnMut(RunEvent),
    ) -> (Driver<'a>, Vec<UnboundedReceiver<Order>>) {
        let workers = config.workers.max(1);
        let (orders, queues) = (0..workers).map(|_| unbounded_channel()).unzip();
        let (sender, messages) = channel();
        config.control.attach(sender.clone());
        config.control.steering().prepare(&plan);
        let settings = Settings {
            plan: plan.clone(),
            workers,
            vus_planned,
            vu_stripe: Stripe::new(&plan.segment),
            has_setup: program.has_setup(),
            has_teardown: program.has_teardown(),
        };
        let coordinator = Coordinator::new(SystemClock::now(), settings, &config);
        let run = Arc::new(RunShared {
            scenarios: plan.scenarios.iter().map(|scenario| share(scenario, &plan, workers)).collect(),
            orders,
            messages: sender,
            vu_stripe: Stripe::new(&plan.segment),
            vus_planned,
            next_vu_id: AtomicU64::new(vus_planned + 1),
            batches_in_flight: AtomicUsize::new(0),
            samples_lost: AtomicU64::new(0),
            plan,
            program,
            config,
        });
        let driver = Driver {
            run,
            messages,
            listener,
            coordinator,
            has_passed_stop: false,
            has_passed_kill: false,
            setup_answer: None,
        };
        (driver, queues)
    }

    fn run(&mut self, workers: Workers, queues: Vec<UnboundedReceiver<Order>>, roster: Roster) {
        let ids = Arc::new(roster.vus);
        for (index, queue) in queues.into_iter().enumerate() {
            let (run, ids) = (self.run.clone(), ids.clone());
            workers.spawn(index, move || worker_thread::run(index, run, queue, ids));
        }
        let mut inputs = vec![self.steered()];
        self.add_control(&mut inputs);
        self.step(inputs);
        while !self.coordinator.is_over() {
            let inputs = self.receive();
            self.step(inputs);
        }
        if self.coordinator.all_threads_end() {
            workers.join();
        } else {
            // Joining would wait for the code that blocks the thread; the end of the process ends it.
            std::mem::forget(workers);
        }
    }

    fn step(&mut self, inputs: Vec<Input>) {
        let outputs = self.coordinator.step(SystemClock::now(), inputs);
        // The listener may take long, and the threads must not wait for it.
        let (for_listener, others): (Vec<_>, Vec<_>) =
            outputs.into_iter().partition(|output| matches!(output, Output::Event(_) | Output::Samples(_)));
        others.into_iter().chain(for_listener).for_each(|output| self.carry_out(output));
    }

    fn carry_out(&mut self, output: Output) {
        let control = &self.run.config.control;
        match output {
            Output::Order(worker, order) => self.run.order(worker, order),
            Output::Event(event) => (self.listener)(event),
            Output::Samples(batch) => {
                self.run.batches_in_flight.fetch_sub(1, Ordering::Relaxed);
                (self.listener)(RunEvent::Samples(Arc::new(batch)));
            }
            Output::Stop(reason) => control.stop(reason),
            Output::SetUp(result) => {
                if let Some(answer) = self.setup_answer.take() {
                    // The caller may have gone.
                    let _ = answer.send(result);
                }
            }
            Output::CloseSetup => {
                control.steering().close_setup();
                self.setup_answer = None;
            }
            Output::SetupData(data) => control.steering().set_setup_data(data),
        }
    }

    /// Waits for messages until the coordinator's deadline.
    fn receive(&mut self) -> Vec<Input> {
        let mut inputs = Vec::new();
        self.add_control(&mut inputs);
        if !inputs.is_empty() {
            return inputs;
        }
        let wait = self.coordinator.deadline().since(SystemClock::now());
        match self.messages.recv_timeout(wait) {
            Ok(message) => {
                let further = std::iter::from_fn(|| self.messages.try_recv().ok());
                let messages: Vec<Message> =
                    std::iter::once(message).chain(further.take(INPUTS_MAX - 1)).collect();
                self.add_control(&mut inputs);
                inputs.extend(messages.into_iter().map(|message| match message {
                    Message::Report(report) => Input::Report(report),
                    Message::ControlChanged => self.steered(),
                }));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => unreachable!("the driver holds a sender itself"),
        }
        inputs
    }

    /// Adds the requests from outside that the coordinator does not know of yet.
    fn add_control(&mut self, inputs: &mut Vec<Input>) {
        let control = &self.run.config.control;
        if control.is_stopped() && !std::mem::replace(&mut self.has_passed_stop, true) {
            inputs.push(Input::Stop);
        }
        if control.is_killed() && !std::mem::replace(&mut self.has_passed_kill, true) {
            inputs.push(Input::Kill);
        }
        if self.coordinator.is_paused()
            && let Some(order) = control.steering().take_setup_order()
        {
            self.setup_answer = Some(order.answer);
            inputs.push(Input::SetUp(order.data));
        }
    }

    fn steered(&self) -> Input {
        let control = &self.run.config.control;
        let steering = control.steering();
        Input::Steer {
            is_paused: control.is_paused(),
            start_at: steering.start_instant(),
            target: steering.target(),
        }
    }

    fn finish(self) -> RunOutcome {
        let ending = self.coordinator.finish(SystemClock::now());
        ending.events.into_iter().for_each(|event| (self.listener)(event));
        let control = &self.run.config.control;
        RunOutcome {
            aborted: control.reason(),
            marked_failed: control.is_marked_failed(),
            drops: self.run.scenarios.iter().map(ScenarioShared::drops).collect(),
            samples_lost: self.run.samples_lost.load(Ordering::Relaxed),
            workers_lost: ending.workers_lost,
            agents_lost: 0,
            init_error: ending.init_error,
            setup_error: ending.setup_error,
            teardown_error: ending.teardown_error,
            setup_data: ending.setup_data,
            totals: ending.totals,
            thresholds: ending.thresholds,
            elapsed: ending.elapsed,
        }
    }
}

fn share(scenario: &Scenario, plan: &Plan, workers: usize) -> ScenarioShared {
    let quota = schedule::quota(&scenario.executor, &plan.segment);
    let stripe = schedule::iteration_stripe(&scenario.executor, &plan.segment);
    let (_, spare) = schedule::vus(&scenario.executor, &plan.segment);
    ScenarioShared::new(quota, stripe, spare, workers)
}
