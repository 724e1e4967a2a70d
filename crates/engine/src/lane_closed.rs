//! Closed executors on one thread: VUs that loop, each starting its next iteration when the last one has ended.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use model::plan::Executor;
use model::{DropCause, Instant, IterationEnd, SystemClock};
use schedule::{Lane, Next, Quota, Schedule};

use crate::iteration::sleep_until;
use crate::pile::Taken;
use crate::scenario_lane::ScenarioLane;
use crate::vu_task::{VuHandle, VuState, Work};
use crate::worker_thread::{WaitEnd, WorkerThread};

/// Interval at which a VU without an iteration looks for more that another process hands out.
const PILE_POLL: Duration = Duration::from_millis(20);

/// One VU in one closed scenario: the lane's orders and the VU's state.
pub(crate) struct VuLoop {
    scenario: Rc<ScenarioLane>,
    /// Whether it may start iterations.
    is_active: Cell<bool>,
    /// Whether it has work: from the order to start until it has stopped.
    has_work: Cell<bool>,
    /// Deadline of its last iteration.
    hard_end: Cell<Instant>,
    /// Iterations it has started.
    started: Cell<u64>,
}

impl VuLoop {
    /// Runs the VU's loop, on its coroutine.
    pub(crate) fn run(&self, state: &mut VuState, handle: &VuHandle) {
        let scenario = &self.scenario;
        handle.begin(scenario, None);
        handle.deadline.set(self.hard_end.get());
        let progress = &scenario.run.config.progress;
        progress.vus_active.fetch_add(1, Ordering::Relaxed);
        scenario.progress().vus_active.fetch_add(1, Ordering::Relaxed);
        let mut is_first = true;
        while let Some((started, leased)) = self.may_start(state) {
            // Left over from an order to stop that was withdrawn.
            vu::clear_interrupt();
            self.started.set(self.started.get() + 1);
            let suspensions = vu::suspensions();
            let end = scenario.run_iteration(state, None, started, is_first, leased);
            is_first = false;
            if end == IterationEnd::Aborted {
                break;
            }
            // Iterations that never wait would otherwise keep the thread for themselves.
            if vu::suspensions() == suspensions {
                vu::yield_now();
            }
        }
        progress.vus_active.fetch_sub(1, Ordering::Relaxed);
        scenario.progress().vus_active.fetch_sub(1, Ordering::Relaxed);
        self.has_work.set(false);
        scenario.leave();
    }

    /// Start of the next iteration, which is now, if it may start, and its number where another process gives it.
    fn may_start(&self, state: &VuState) -> Option<(Instant, Option<u64>)> {
        loop {
            let now = SystemClock::now();
            if !self.is_active.get() || now >= self.scenario.end || !state.may_continue(now) {
                return None;
            }
            let Some(pile) = self.scenario.pile() else {
                let is_due = match self.scenario.shared().quota {
                    Quota::Unlimited => true,
                    Quota::PerVu(iterations) => self.started.get() < iterations,
                    Quota::Shared(iterations) => self.scenario.shared().take_shared_iteration(iterations),
                };
                return is_due.then_some((now, None));
            };
            match pile.take() {
                Taken::Number(number) => return Some((now, Some(number))),
                Taken::Never => return None,
                // Another process may hand out what a third one has left.
                Taken::Later => sleep_until(now + PILE_POLL).ok()?,
            }
        }
    }
}

/// Drives a closed scenario's VUs of this thread from its start to its hard end.
pub(crate) async fn run(thread: Rc<WorkerThread>, scenario: Rc<ScenarioLane>) {
    let plan = scenario.plan();
    let mut schedule =
        schedule::schedule(scenario.id, plan, &scenario.run.plan.segment, Lane::ONLY, scenario.start);
    let lane = ClosedLane::new(scenario.clone());
    // A segment without VUs has nothing to wait for.
    let has_vus = schedule::vus(&plan.executor, &scenario.run.plan.segment).0 > 0;
    if has_vus && thread.wait_until(scenario.from).await == WaitEnd::Due {
        lane.follow(&thread, &mut *schedule).await;
    }
    thread.wind_down(&scenario).await;
    lane.drop_rest(scenario.shared().leave_lane());
    thread.leave();
}

struct ClosedLane {
    scenario: Rc<ScenarioLane>,
    /// With the VU's number in the scenario, in ascending order.
    loops: Vec<(u32, Rc<VuHandle>, Rc<VuLoop>)>,
}

impl ClosedLane {
    fn new(scenario: Rc<ScenarioLane>) -> ClosedLane {
        let vu_loop = |(number, vu): &(u32, Rc<VuHandle>)| {
            let vu_loop = Rc::new(VuLoop {
                scenario: scenario.clone(),
                is_active: Cell::new(false),
                has_work: Cell::new(false),
                hard_end: Cell::new(scenario.hard_end),
                started: Cell::new(0),
            });
            (*number, vu.clone(), vu_loop)
        };
        let loops = scenario.vus.borrow().iter().map(vu_loop).collect();
        ClosedLane { scenario, loops }
    }

    async fn follow(&self, thread: &Rc<WorkerThread>, schedule: &mut dyn Schedule) {
        let mut has_begun = false;
        loop {
            let until = match schedule.next(SystemClock::now()) {
                Next::Vus { at, target } => {
                    thread.mark_started(&self.scenario, at);
                    self.set_target(at, target);
                    has_begun = true;
                    continue;
                }
                Next::Wait(until) => until,
                Next::Arrival(_) | Next::Done { .. } => break,
            };
            // Before its start a scenario has no VUs to change, and begins with the number last requested.
            if has_begun && let Some(target) = self.scenario.take_steered() {
                self.set_target(SystemClock::now(), target);
            }
            // With a quota the VUs stop by themselves, perhaps long before the end.
            let is_finite = self.scenario.shared().quota != Quota::Unlimited;
            if is_finite && has_begun && self.scenario.running() == 0 {
                break;
            }
            if thread.wait(until, &self.scenario).await == WaitEnd::Stopped {
                break;
            }
        }
        for (_, _, vu_loop) in &self.loops {
            vu_loop.is_active.set(false);
        }
    }

    fn set_target(&self, at: Instant, target: u32) {
        for (number, vu, vu_loop) in &self.loops {
            let is_active = *number < target;
            if is_active == vu_loop.is_active.get() {
                continue;
            }
            if is_active { self.begin(vu, vu_loop) } else { self.retire(at, vu, vu_loop) }
        }
    }

    /// Makes a VU loop; one that still runs its last iteration continues after it.
    fn begin(&self, vu: &Rc<VuHandle>, vu_loop: &Rc<VuLoop>) {
        if vu.is_left_behind() {
            return;
        }
        vu_loop.is_active.set(true);
        vu_loop.hard_end.set(self.scenario.hard_end);
        if vu_loop.has_work.replace(true) {
            vu.deadline.set(self.scenario.hard_end);
            return;
        }
        self.scenario.enter();
        vu.mailbox.push(Work::Loop(vu_loop.clone()));
    }

    /// Stops a VU after its iteration, within `gracefulRampDown` where there is one.
    fn retire(&self, at: Instant, vu: &Rc<VuHandle>, vu_loop: &Rc<VuLoop>) {
        let Executor::RampingVus { graceful_ramp_down, .. } = self.scenario.plan().executor else {
            vu_loop.is_active.set(false);
            return;
        };
        let hard_end = (at + graceful_ramp_down).min(self.scenario.hard_end);
        vu_loop.is_active.set(false);
        vu_loop.hard_end.set(hard_end);
        if !vu_loop.has_work.get() {
            return;
        }
        vu.deadline.set(hard_end);
        let (vu, vu_loop) = (vu.clone(), vu_loop.clone());
        tokio::task::spawn_local(async move {
            vu::timer::sleep_until(hard_end).await;
            let is_current = !vu_loop.is_active.get() && vu_loop.hard_end.get() == hard_end;
            if is_current && vu_loop.has_work.get() {
                vu.interrupt();
            }
        });
    }

    /// Counts the iterations for which there was no time; shared ones are counted once, by the last lane.
    fn drop_rest(&self, is_last_lane: bool) {
        // A test that was ended early dropped nothing: its plan was cancelled.
        if self.scenario.run.config.control.is_stopped() {
            return;
        }
        let shared = self.scenario.shared();
        let left = match (shared.quota, self.scenario.pile()) {
            (Quota::PerVu(iterations), _) => self
                .loops
                .iter()
                .map(|(_, _, vu_loop)| iterations.saturating_sub(vu_loop.started.get()))
                .sum(),
            (Quota::Shared(_), Some(pile)) if is_last_lane => pile.level().0,
            (Quota::Shared(iterations), None) if is_last_lane => shared.shared_iterations_left(iterations),
            (Quota::Shared(_) | Quota::Unlimited, _) => 0,
        };
        if left > 0 {
            self.scenario.drop_iterations(left, DropCause::TimeUp, SystemClock::now());
        }
    }
}
