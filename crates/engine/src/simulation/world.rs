//! The simulated world: time, the queue of what happens next, and the driver of the coordinator.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use model::{Clock, Instant, RunEvent, RunProgress, SimulatedClock};
use plan::Stripe;

use super::Fault;
use super::case::{Case, Request};
use super::random::Random;
use super::threads::Thread;
use super::trace::{Entry, Trace};
use crate::coordinator::{Coordinator, Input, Output, Settings, demands};
use crate::report::{Function, Order, Report};
use crate::roster::roster;
use crate::{AbortReason, RunConfig, RunControl};

/// A run that lasts longer than this in simulated time never ends.
const LONGEST: Duration = Duration::from_secs(120);

/// Something that happens at an instant.
pub(super) enum Action {
    Order(usize, Order),
    Report(usize, Report),
    Initialize(usize),
    /// A lane's schedule wants something.
    Follow(usize, usize),
    IterationEnd(usize, u64),
    /// A lane's graceful stop ends.
    HardEnd(usize, usize),
    FunctionEnd(usize, u64, bool),
    /// A thread stands still until then.
    Stall(usize, Instant),
    Request(Request),
}

impl Action {
    fn thread(&self) -> Option<usize> {
        match *self {
            Action::Order(thread, _)
            | Action::Report(thread, _)
            | Action::Initialize(thread)
            | Action::Follow(thread, _)
            | Action::IterationEnd(thread, _)
            | Action::HardEnd(thread, _)
            | Action::FunctionEnd(thread, ..) => Some(thread),
            Action::Stall(..) | Action::Request(_) => None,
        }
    }
}

/// The part of the world that threads act on.
pub(super) struct Bench {
    clock: SimulatedClock,
    pub(super) random: Random,
    pub(super) case: Case,
    pub(super) control: RunControl,
    pub(super) progress: Arc<RunProgress>,
    /// By scenario: iterations taken from the shared ones.
    pub(super) taken: Vec<u64>,
    pub(super) fault: Option<Fault>,
    queue: BTreeMap<(Instant, u64), Action>,
    /// Inputs that the coordinator has not read.
    inbox: Vec<Input>,
    entries: Vec<(Instant, Entry)>,
    numbers: u64,
    iterations: u64,
    /// The first reason to stop, while [`Fault::KeepLastReason`] holds it back.
    held_reason: Option<AbortReason>,
}

impl Bench {
    pub(super) fn now(&self) -> Instant {
        self.clock.now()
    }

    pub(super) fn after(&mut self, at: Instant, action: Action) {
        self.numbers += 1;
        self.queue.insert((at.max(self.now()), self.numbers), action);
    }

    pub(super) fn report(&mut self, report: Report) {
        let is_lost = match &report {
            Report::VuReady => self.fault == Some(Fault::LoseReadyVu),
            Report::VusClosed { .. } => self.fault == Some(Fault::LoseClosedVus),
            Report::Window { .. } => self.fault == Some(Fault::LoseWindowReport) && self.random.chance(50),
            _ => false,
        };
        if let (true, Report::Window { worker, .. }) = (is_lost, &report) {
            let (worker, series, notes) = (*worker, Vec::new(), tally::Notes::new(0).take(self.now()));
            self.inbox.push(Input::Report(Report::Window { worker, series, notes }));
        } else if !is_lost {
            self.inbox.push(Input::Report(report));
        }
    }

    pub(super) fn trace(&mut self, entry: Entry) {
        self.entries.push((self.now(), entry));
    }

    pub(super) fn next_iteration(&mut self) -> u64 {
        self.iterations += 1;
        self.iterations - 1
    }

    pub(super) fn next_function(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    pub(super) fn stop(&mut self, reason: AbortReason) {
        self.trace(Entry::Stop(reason.clone()));
        if self.fault == Some(Fault::KeepLastReason) && self.held_reason.is_none() {
            self.held_reason = Some(reason);
            return;
        }
        self.control.stop_at(self.now(), reason);
        if let Some(held) = self.held_reason.clone() {
            self.control.stop_at(self.now(), held);
        }
    }
}

/// The whole world.
struct World {
    bench: Bench,
    threads: Vec<Thread>,
    stalled_until: Vec<Instant>,
    /// When the last order to each thread arrives: orders do not overtake.
    last_order: Vec<Instant>,
    coordinator: Coordinator,
    /// When the listener lets the driver go on.
    free_at: Instant,
    has_passed_stop: bool,
    has_passed_kill: bool,
    /// The request for a setup that waits for its answer: whether it ran elsewhere.
    setup_order: Option<bool>,
    /// Events that a fault holds back.
    held: Vec<RunEvent>,
    windows: u64,
}

/// Runs the case of a seed; an error says that the run never ends.
pub(super) fn simulate(seed: u64, fault: Option<Fault>) -> Result<Trace, String> {
    let mut random = Random::new(seed);
    let case = Case::new(&mut random);
    let clock = SimulatedClock::default();
    clock.advance(Duration::from_secs(1));
    let roster = roster(&demands(&case.plan));
    let scenarios = case.plan.scenarios.len();
    let mut config = RunConfig { wants_samples: case.wants_samples, ..RunConfig::new(scenarios) };
    config.thresholds =
        tally::Thresholds::parse(&case.plan.thresholds, &config.registry).expect("well-formed");
    let settings = Settings {
        plan: Arc::new(case.plan.clone()),
        workers: case.workers,
        vus_planned: roster.total,
        vu_stripe: Stripe::new(&case.plan.segment),
        has_setup: case.has_setup,
        has_teardown: case.has_teardown,
    };
    let mut world = World {
        threads: (0..case.workers).map(|index| Thread::new(index, case.workers, &roster)).collect(),
        stalled_until: vec![Instant::ZERO; case.workers],
        last_order: vec![Instant::ZERO; case.workers],
        coordinator: Coordinator::new(clock.now(), settings, &config),
        free_at: Instant::ZERO,
        has_passed_stop: false,
        has_passed_kill: false,
        setup_order: None,
        held: Vec::new(),
        windows: 0,
        bench: Bench {
            clock,
            random,
            control: config.control,
            progress: config.progress,
            taken: vec![0; scenarios],
            fault,
            queue: BTreeMap::new(),
            inbox: vec![Input::Steer { is_paused: case.plan.lifecycle.paused, start_at: None, target: None }],
            entries: Vec::new(),
            numbers: 0,
            iterations: 0,
            held_reason: None,
            case,
        },
    };
    world.prepare();
    world.run()?;
    Ok(world.finish())
}

impl World {
    fn prepare(&mut self) {
        let bench = &mut self.bench;
        let now = bench.now();
        for (after, request) in bench.case.requests.clone() {
            bench.after(now + after, Action::Request(request));
        }
        for thread in 0..self.threads.len() {
            bench.after(now, Action::Initialize(thread));
            for _ in 0..if bench.case.stall.is_zero() { 0 } else { 2 } {
                let at = now + bench.random.ms(0, 6000);
                let longest_ms = bench.case.stall.as_millis() as u64;
                let until = at + bench.random.ms(1, longest_ms);
                bench.after(at, Action::Stall(thread, until));
            }
        }
    }

    fn run(&mut self) -> Result<(), String> {
        let give_up = self.bench.now() + LONGEST;
        while !self.coordinator.is_over() {
            let now = self.bench.now();
            let wake = if self.bench.inbox.is_empty() && !self.has_news() {
                self.coordinator.deadline()
            } else {
                now
            };
            let wake = wake.max(self.free_at).max(now);
            let next = self.bench.queue.first_key_value().map_or(Instant::MAX, |((at, _), _)| *at);
            let at = wake.min(next);
            if at > give_up {
                return Err("the run never ends".into());
            }
            self.bench.clock.advance(at.since(now));
            if next <= wake { self.happen() } else { self.step() }
        }
        Ok(())
    }

    /// Whether the control has changed since the last step.
    fn has_news(&self) -> bool {
        let control = &self.bench.control;
        (control.is_stopped() && !self.has_passed_stop) || (control.is_killed() && !self.has_passed_kill)
    }

    fn happen(&mut self) {
        let Some((_, action)) = self.bench.queue.pop_first() else { return };
        if let Some(thread) = action.thread()
            && self.stalled_until[thread] > self.bench.now()
        {
            let until = self.stalled_until[thread];
            // A thread that is blocked for good forgets everything.
            if until < Instant::MAX {
                self.bench.after(until, action);
            }
            return;
        }
        let bench = &mut self.bench;
        match action {
            Action::Order(thread, order) => self.threads[thread].carry_out(order, bench),
            Action::Report(_, report) => bench.report(report),
            Action::Initialize(thread) => self.threads[thread].initialize(bench),
            Action::Follow(thread, lane) => self.threads[thread].follow(lane, bench),
            Action::IterationEnd(thread, id) => self.threads[thread].end_iteration(id, bench),
            Action::HardEnd(thread, lane) => self.threads[thread].end_lane(lane, bench),
            Action::FunctionEnd(thread, number, in_time) => {
                self.threads[thread].end_function(number, in_time, bench);
            }
            Action::Stall(thread, until) => {
                self.stalled_until[thread] = self.stalled_until[thread].max(until);
            }
            Action::Request(request) => self.answer(request),
        }
    }

    fn answer(&mut self, request: Request) {
        let bench = &mut self.bench;
        match request {
            Request::Stop(reason) => bench.stop(reason),
            Request::Kill(reason) => {
                bench.stop(reason.clone());
                bench.trace(Entry::Kill);
                let now = bench.now();
                bench.control.kill_at(now, reason);
            }
            Request::Resume => {
                bench.inbox.push(Input::Steer { is_paused: false, start_at: None, target: None })
            }
            Request::SetUp { is_elsewhere } => {
                // One at a time, as the control takes them.
                if self.coordinator.is_paused() && self.setup_order.is_none() {
                    self.setup_order = Some(is_elsewhere);
                    if !is_elsewhere {
                        bench.trace(Entry::SetupOrder { is_elsewhere });
                    }
                    bench.inbox.push(Input::SetUp(is_elsewhere.then_some(None)));
                }
            }
        }
    }

    /// One step of the driver.
    fn step(&mut self) {
        let control = &self.bench.control;
        let mut inputs = Vec::new();
        if control.is_stopped() && !std::mem::replace(&mut self.has_passed_stop, true) {
            inputs.push(Input::Stop);
        }
        let ignores_kill = self.bench.fault == Some(Fault::IgnoreKill);
        if control.is_killed() && !std::mem::replace(&mut self.has_passed_kill, true) && !ignores_kill {
            inputs.push(Input::Kill);
        }
        inputs.append(&mut self.bench.inbox);
        for input in &inputs {
            if let Input::Report(Report::Window { worker, .. }) = input {
                self.bench.trace(Entry::WindowAnswer { worker: *worker });
            }
        }
        let outputs = self.coordinator.step(self.bench.now(), inputs);
        let (for_listener, others): (Vec<_>, Vec<_>) =
            outputs.into_iter().partition(|output| matches!(output, Output::Event(_) | Output::Samples(_)));
        others.into_iter().chain(for_listener).for_each(|output| self.carry_out(output));
    }

    fn carry_out(&mut self, output: Output) {
        match output {
            Output::Order(thread, order) => self.send(thread, order),
            Output::Event(event) => self.listen(event),
            Output::Samples(batch) => self.listen(RunEvent::Samples(Arc::new(batch))),
            Output::Stop(reason) => self.bench.stop(reason),
            Output::SetUp(_) => {
                if self.setup_order.take() == Some(true) {
                    self.bench.trace(Entry::SetupOrder { is_elsewhere: true });
                }
            }
            Output::CloseSetup => self.setup_order = None,
            Output::SetupData(_) => {}
        }
    }

    fn send(&mut self, thread: usize, order: Order) {
        let copies = match (&order, self.bench.fault) {
            (Order::Stop, Some(Fault::LoseStop)) => return,
            (Order::Run(function @ Function::Setup { .. }), Some(Fault::RepeatSetup))
            | (Order::Run(function @ Function::Teardown { .. }), Some(Fault::RepeatTeardown)) => {
                vec![Order::Run(function.clone()), order]
            }
            (Order::TakeWindow { .. }, Some(Fault::SkipThread)) if thread == 0 => return,
            (Order::TakeWindow { end }, Some(Fault::RepeatWindowRequest)) => {
                vec![Order::TakeWindow { end: *end }, order]
            }
            _ => vec![order],
        };
        for order in copies {
            let bench = &mut self.bench;
            if let Order::TakeWindow { end } = order {
                bench.trace(Entry::WindowRequest { worker: thread, end });
            }
            if let (Order::Start { start, .. }, Some((blocked, after))) = (&order, bench.case.blocked)
                && blocked == thread
            {
                bench.after(start.scenarios + after, Action::Stall(thread, Instant::MAX));
            }
            let longest_us = bench.case.order_delay.as_micros() as u64;
            let at = bench.now() + Duration::from_micros(bench.random.between(0, longest_us));
            self.last_order[thread] = self.last_order[thread].max(at);
            bench.after(self.last_order[thread], Action::Order(thread, order));
        }
    }

    fn listen(&mut self, event: RunEvent) {
        let is_window = matches!(event, RunEvent::Window(_));
        self.windows += u64::from(is_window);
        match (self.bench.fault, &event) {
            (Some(Fault::LoseWindow), RunEvent::Window(_)) if self.windows == 2 => return,
            (Some(Fault::HoldWindows), RunEvent::Window(_)) => return self.held.push(event),
            (Some(Fault::AbortEarly), RunEvent::ScenariosStarted { .. }) => {
                self.bench.stop(AbortReason::Threshold)
            }
            (Some(Fault::SwapPhases), RunEvent::ScenariosEnded { .. }) => return self.held.push(event),
            _ => {}
        }
        let releases = match self.bench.fault {
            Some(Fault::HoldWindows) => matches!(event, RunEvent::Thresholds { .. } | RunEvent::Ended),
            Some(Fault::SwapPhases) => matches!(event, RunEvent::TeardownStarted | RunEvent::Ended),
            _ => false,
        };
        self.show(event);
        if releases {
            let held = std::mem::take(&mut self.held);
            held.into_iter().for_each(|event| self.show(event));
        }
    }

    fn show(&mut self, event: RunEvent) {
        let bench = &mut self.bench;
        bench.trace(Entry::Event(event));
        let longest_us = bench.case.listener_delay.as_micros() as u64;
        if longest_us > 0 && bench.random.chance(20) {
            let delay = Duration::from_micros(bench.random.between(0, longest_us));
            self.free_at = self.free_at.max(bench.now() + delay);
        }
    }

    fn finish(mut self) -> Trace {
        let now = self.bench.now();
        let ending = self.coordinator.finish(now);
        for event in ending.events {
            self.bench.trace(Entry::Event(event));
        }
        if self.bench.fault == Some(Fault::SpeakAfterEnd) {
            self.bench.trace(Entry::Event(RunEvent::SamplesLost { count: 1 }));
        }
        let stalled = self.stalled_until.iter().enumerate();
        Trace {
            blocked: stalled.filter(|(_, until)| **until == Instant::MAX).map(|(thread, _)| thread).collect(),
            aborted: self.bench.control.reason(),
            entries: self.bench.entries,
            case: self.bench.case,
            workers_lost: ending.workers_lost,
        }
    }
}
