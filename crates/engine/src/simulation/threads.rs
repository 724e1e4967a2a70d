//! The simulated worker threads: lanes, VUs and iterations, as orders and the real schedules drive them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use model::metric::builtin::ITERATIONS;
use model::{Instant, Mark, RunProgress, ScenarioId, TagSetId, Work};
use schedule::{Lane, Next, Quota, Schedule};
use tally::{Notes, Recorder};

use super::Fault;
use super::trace::Entry;
use super::world::{Action, Bench};
use crate::ProgramError;
use crate::report::{Function, Order, Report};
use crate::roster::Roster;

/// One simulated worker thread.
pub(super) struct Thread {
    index: usize,
    recorder: Recorder,
    notes: Notes,
    lanes: Vec<LaneState>,
    /// By scenario: the numbers of this thread's VUs in it.
    vus: Vec<usize>,
    vus_to_initialize: u64,
    running: BTreeMap<u64, Running>,
    /// The function that runs, by number: an end for another number is late.
    function: Option<(u64, Function)>,
    is_stopped: bool,
}

struct LaneState {
    id: ScenarioId,
    schedule: Box<dyn Schedule>,
    end: Instant,
    hard_end: Instant,
    quota: Quota,
    is_open: bool,
    has_begun: bool,
    /// Whether no further iteration starts.
    is_over: bool,
    /// Whether the thread has reported its end.
    is_done: bool,
    /// Number of VUs that loop.
    target: usize,
    /// By VU: the iterations it has started.
    started: Vec<u64>,
    idle: VecDeque<usize>,
}

struct Running {
    lane: usize,
    vu: usize,
}

impl Thread {
    pub(super) fn new(index: usize, workers: usize, roster: &Roster) -> Thread {
        let is_own = |id: &&u64| (**id - 1) % workers as u64 == index as u64;
        let vus = roster.vus.iter().map(|ids| ids.iter().filter(is_own).count()).collect();
        Thread {
            index,
            recorder: Recorder::new(Arc::default()),
            notes: Notes::new(roster.vus.len()),
            lanes: Vec::new(),
            vus,
            vus_to_initialize: (1..=roster.total).filter(|id| is_own(&id)).count() as u64,
            running: BTreeMap::new(),
            function: None,
            is_stopped: false,
        }
    }

    /// Initialises the next VU.
    pub(super) fn initialize(&mut self, bench: &mut Bench) {
        if self.vus_to_initialize == 0 || bench.control.is_stopped() {
            return;
        }
        self.vus_to_initialize -= 1;
        if bench.case.init_fails && self.vus_to_initialize == 0 {
            return bench.report(Report::VuFailed(ProgramError::Exception("init".into())));
        }
        bench.progress.vus_initialized.fetch_add(1, Ordering::Relaxed);
        bench.report(Report::VuReady);
        let next = bench.now() + bench.random.ms(0, 20);
        bench.after(next, Action::Initialize(self.index));
    }

    pub(super) fn carry_out(&mut self, order: Order, bench: &mut Bench) {
        match order {
            Order::Start { start, .. } => self.start(start.scenarios, bench),
            Order::Run(function) => self.run_function(function, bench),
            Order::TakeWindow { end } => {
                let (series, notes) = (self.recorder.take_window(), self.notes.take(end));
                bench.report(Report::Window { worker: self.index, series, notes });
            }
            Order::Stop => self.stop(bench),
            Order::Kill => self.interrupt_function(bench),
            Order::CloseVus => {
                let at = bench.now() + bench.random.ms(0, 5);
                bench.after(at, Action::Report(self.index, Report::VusClosed { worker: self.index }));
            }
            Order::Arrival(_) | Order::Grow { .. } | Order::Steer { .. } | Order::End => {}
        }
    }

    fn start(&mut self, at: Instant, bench: &mut Bench) {
        for (index, scenario) in bench.case.plan.scenarios.iter().enumerate() {
            let id = ScenarioId(index as u16);
            let start = at + scenario.start_time;
            let is_open = scenario.executor.is_open();
            let lane = match is_open {
                true => Lane { index: self.index as u32, of: bench.case.workers as u32 },
                false => Lane::ONLY,
            };
            let segment = &bench.case.plan.segment;
            let schedule = schedule::schedule(id, scenario, segment, lane, start);
            let end = start + schedule::duration(&scenario.executor);
            self.lanes.push(LaneState {
                id,
                schedule,
                end,
                hard_end: end + scenario.graceful_stop,
                quota: schedule::quota(&scenario.executor, segment),
                is_open,
                has_begun: false,
                is_over: false,
                is_done: false,
                target: 0,
                started: vec![0; self.vus[index]],
                idle: (0..self.vus[index]).collect(),
            });
        }
        for lane in 0..self.lanes.len() {
            bench.after(self.lanes[lane].hard_end, Action::HardEnd(self.index, lane));
            self.follow(lane, bench);
        }
    }

    /// Does what the lane's schedule wants now.
    pub(super) fn follow(&mut self, lane: usize, bench: &mut Bench) {
        while !self.lanes[lane].is_over {
            match self.lanes[lane].schedule.next(bench.now()) {
                Next::Vus { target, .. } => {
                    // The VUs of all threads share the target in turn.
                    let (workers, own) = (bench.case.workers, self.index);
                    self.lanes[lane].target =
                        (0..target as usize).filter(|number| number % workers == own).count();
                    self.lanes[lane].has_begun = true;
                    self.fill(lane, bench);
                }
                Next::Arrival(_) => match self.lanes[lane].idle.pop_front() {
                    Some(vu) if !self.is_stopped => self.begin_iteration(lane, vu, bench),
                    _ => {
                        bench.progress.iterations_dropped.fetch_add(1, Ordering::Relaxed);
                    }
                },
                Next::Wait(until) => {
                    bench.after(until, Action::Follow(self.index, lane));
                    break;
                }
                Next::Done { .. } => self.lanes[lane].is_over = true,
            }
        }
        self.check_end(lane, bench);
    }

    /// Starts the next iteration on every VU that shall loop and is idle.
    fn fill(&mut self, lane: usize, bench: &mut Bench) {
        for _ in 0..self.lanes[lane].idle.len() {
            let Some(vu) = self.lanes[lane].idle.pop_front() else { break };
            if self.may_loop(lane, vu, bench) {
                self.begin_iteration(lane, vu, bench);
            } else {
                self.lanes[lane].idle.push_back(vu);
            }
        }
    }

    fn may_loop(&mut self, lane: usize, vu: usize, bench: &mut Bench) -> bool {
        let state = &self.lanes[lane];
        if self.is_stopped || state.is_over || vu >= state.target || bench.now() >= state.end {
            return false;
        }
        match state.quota {
            Quota::Unlimited => true,
            Quota::PerVu(iterations) => state.started[vu] < iterations,
            Quota::Shared(iterations) => {
                let taken = &mut bench.taken[lane];
                *taken += u64::from(*taken < iterations);
                *taken < iterations || state.started.iter().sum::<u64>() == 0
            }
        }
    }

    fn begin_iteration(&mut self, lane: usize, vu: usize, bench: &mut Bench) {
        let (now, id) = (bench.now(), bench.next_iteration());
        let scenario = self.lanes[lane].id;
        self.lanes[lane].started[vu] += 1;
        self.running.insert(id, Running { lane, vu });
        self.notes.load.start(Some(scenario), Work::Iterations, now);
        bench.progress.vus_active.fetch_add(1, Ordering::Relaxed);
        bench.trace(Entry::Iteration { id, worker: self.index, scenario });
        if !bench.random.chance(bench.case.endless) {
            let most_ms = bench.case.iteration.as_millis() as u64;
            let end = now + bench.random.ms(5, most_ms.max(5));
            bench.after(end, Action::IterationEnd(self.index, id));
        }
    }

    /// Ends an iteration that came to its own end.
    pub(super) fn end_iteration(&mut self, id: u64, bench: &mut Bench) {
        let Some(Running { lane, vu }) = self.end(id, true, bench) else { return };
        if bench.case.aborting_iteration == Some(id) {
            bench.stop(crate::AbortReason::Script(Some("enough".into())));
        }
        self.lanes[lane].idle.push_back(vu);
        if !self.lanes[lane].is_open {
            self.fill(lane, bench);
        }
        self.check_end(lane, bench);
    }

    fn end(&mut self, id: u64, is_full: bool, bench: &mut Bench) -> Option<Running> {
        let running = self.running.remove(&id)?;
        if bench.fault == Some(Fault::LoseInterrupted) && !is_full {
            return Some(running);
        }
        let (now, scenario) = (bench.now(), self.lanes[running.lane].id);
        self.notes.load.finish(Some(scenario), Work::Iterations, now);
        bench.trace(Entry::IterationEnd { id, is_full });
        let progress: &RunProgress = &bench.progress;
        progress.vus_active.fetch_sub(1, Ordering::Relaxed);
        if is_full {
            self.recorder.record(ITERATIONS, TagSetId(0), 1.0, Mark::Measured, now);
            progress.iterations_completed.fetch_add(1, Ordering::Relaxed);
            progress.scenarios[running.lane].iterations_completed.fetch_add(1, Ordering::Relaxed);
        } else {
            progress.iterations_interrupted.fetch_add(1, Ordering::Relaxed);
        }
        Some(running)
    }

    /// Interrupts what still runs at the end of the lane's graceful stop.
    pub(super) fn end_lane(&mut self, lane: usize, bench: &mut Bench) {
        if bench.fault == Some(Fault::ForgetGracefulStop) {
            return;
        }
        self.lanes[lane].is_over = true;
        let late = self.running.iter().filter(|(_, running)| running.lane == lane);
        let late: Vec<u64> = late.map(|(id, _)| *id).collect();
        for id in late {
            self.end(id, false, bench);
        }
        self.check_end(lane, bench);
    }

    fn check_end(&mut self, lane: usize, bench: &mut Bench) {
        let is_idle = !self.running.values().any(|running| running.lane == lane);
        let state = &mut self.lanes[lane];
        let has_quota = state.quota != Quota::Unlimited && state.has_begun;
        if is_idle && (state.is_over || has_quota) && !std::mem::replace(&mut state.is_done, true) {
            state.is_over = true;
            bench.report(Report::LaneDone);
        }
    }

    fn stop(&mut self, bench: &mut Bench) {
        self.is_stopped = true;
        for lane in 0..self.lanes.len() {
            self.end_lane(lane, bench);
        }
        if matches!(self.function, Some((_, Function::Setup { .. }))) {
            self.interrupt_function(bench);
        }
    }

    fn run_function(&mut self, function: Function, bench: &mut Bench) {
        let (entry, until) = match &function {
            Function::Setup { until } => (Entry::Setup, *until),
            Function::Teardown { until, .. } => (Entry::Teardown, *until),
        };
        bench.trace(entry);
        let number = bench.next_function();
        self.function = Some((number, function));
        let end = bench.now() + bench.random.ms(1, 1500);
        bench.after(end.min(until), Action::FunctionEnd(self.index, number, end < until));
    }

    /// Ends the function of this number, in time or interrupted.
    pub(super) fn end_function(&mut self, number: u64, is_in_time: bool, bench: &mut Bench) {
        let is_running = self.function.as_ref().is_some_and(|(running, _)| *running == number);
        if !is_running {
            return;
        }
        let is_setup = matches!(self.function.take(), Some((_, Function::Setup { .. })));
        let result = match is_in_time {
            true if is_setup && bench.case.setup_fails => Err(ProgramError::Exception("setup".into())),
            true => Ok(is_setup.then(|| "{}".into())),
            false => Err(ProgramError::Interrupted),
        };
        if is_setup {
            bench.trace(Entry::SetupEnd { is_ok: result.is_ok() });
        }
        bench.report(Report::FunctionDone(result));
    }

    fn interrupt_function(&mut self, bench: &mut Bench) {
        if let Some((number, _)) = &self.function {
            self.end_function(*number, false, bench);
        }
    }
}
