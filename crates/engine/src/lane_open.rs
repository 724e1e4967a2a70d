//! Arrival-rate executors on one thread: iterations start when they are due, on any idle VU.

use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use model::{Arrival, DropCause, Instant, SystemClock};
use schedule::{Lane, Next, Schedule};

use crate::report::Order;
use crate::scenario_lane::{ScenarioLane, skip_before};
use crate::vu_task::{VuHandle, VuState, Work};
use crate::worker_thread::{WaitEnd, WorkerThread};

/// Overdue arrivals handled at once. Then the VUs run, so that those that have finished become idle.
const BURST_MAX: u32 = 64;

/// Overdue arrivals of one thread that are offered to VUs one by one while none is idle. Older ones are dropped together: at a
/// rate that no thread can offer, a run would go on for long after its end. A thread offers so many in a few milliseconds.
const BACKLOG_MAX: u64 = 10_000;

/// Time after the end during which overdue arrivals may still start. Then the rest is dropped together.
const CATCH_UP_MAX: Duration = Duration::from_secs(1);

/// Time after the end during which other threads may still reserve idle VUs of this one: an arrival due exactly at the end
/// may reach its own thread a moment later.
const LANE_SKEW: Duration = Duration::from_millis(5);

/// Drives an arrival-rate scenario's lane of this thread from its start to its hard end.
pub(crate) async fn run(thread: Rc<WorkerThread>, scenario: Rc<ScenarioLane>) {
    let lane = Lane { index: scenario.worker.index() as u32, of: scenario.run.orders.len() as u32 };
    let segment = &scenario.run.plan.segment;
    let mut schedule = schedule::schedule(scenario.id, scenario.plan(), segment, lane, scenario.start);
    skip_before(scenario.from, &mut *schedule);
    scenario.open_idle();
    follow(&thread, &scenario, &mut *schedule).await;
    if !thread.is_stopped() {
        vu::timer::sleep_until(scenario.end + LANE_SKEW).await;
    }
    scenario.close_idle();
    thread.wind_down(&scenario).await;
    thread.leave();
}

async fn follow(thread: &Rc<WorkerThread>, scenario: &Rc<ScenarioLane>, schedule: &mut dyn Schedule) {
    let mut burst = 0;
    loop {
        let now = SystemClock::now();
        match schedule.next(now) {
            Next::Arrival(_) if now > scenario.end + CATCH_UP_MAX => {
                scenario.drop_rest(schedule.skip_overdue(now, 0).saturating_add(1), now);
            }
            Next::Arrival(arrival) => {
                thread.mark_started(scenario, arrival.due);
                if thread.is_stopped() {
                    return;
                }
                if let Some(cause) = scenario.offer(arrival) {
                    let count = schedule.skip_overdue(now, BACKLOG_MAX);
                    scenario.drop_iterations(count, cause, now);
                }
                burst += 1;
                if burst == BURST_MAX {
                    burst = 0;
                    tokio::task::yield_now().await;
                }
            }
            Next::Wait(until) => {
                burst = 0;
                if thread.wait_until(until).await == WaitEnd::Stopped {
                    return;
                }
            }
            Next::Vus { .. } | Next::Done { .. } => return,
        }
    }
}

impl ScenarioLane {
    /// Makes this thread's VUs idle for arrivals.
    fn open_idle(&self) {
        let vus = self.vus.borrow();
        let mut idle = self.idle.borrow_mut();
        // One that another thread has had added meanwhile is counted already.
        let before = idle.len();
        idle.extend(vus.iter().filter(|(_, vu)| !vu.is_left_behind()).map(|(_, vu)| vu.clone()));
        self.shared().add_idle(self.worker.index(), (idle.len() - before) as u32);
    }

    /// Accepts no further arrivals, except those for which other threads have already reserved a VU.
    fn close_idle(&self) {
        self.is_closed.set(true);
        let unreserved = self.shared().close_idle(self.worker.index()) as usize;
        let mut idle = self.idle.borrow_mut();
        let keep = idle.len().saturating_sub(unreserved);
        idle.truncate(keep);
    }

    /// Whether a VU is reserved for an arrival that is still on its way.
    pub(crate) fn is_awaiting(&self) -> bool {
        self.is_closed.get() && !self.idle.borrow().is_empty()
    }

    /// Starts an iteration on an idle VU of this thread, else of another one; without an idle VU it is dropped, and the cause
    /// returned.
    fn offer(self: &Rc<Self>, arrival: Arrival) -> Option<DropCause> {
        let own = self.worker.index();
        if self.shared().reserve(own) {
            self.start(arrival);
        } else if let Some(worker) = self.shared().reserve_elsewhere(own) {
            self.run.order(worker, Order::Arrival(arrival));
        } else {
            return Some(self.lose(arrival));
        }
        None
    }

    /// Drops what is still overdue so long after the end.
    fn drop_rest(&self, count: u64, now: Instant) {
        self.drop_iterations(count, DropCause::TimeUp, now);
        let name = &self.plan().name;
        self.worker.warn(
            now,
            format!(
                "scenario {name}: {count} iterations of worker thread {} were overdue {} s after the scenario's end and are \
                 dropped (counted in dropped_iterations); the load generator cannot reach this rate: reduce it, or spread \
                 the load over more machines with --execution-segment",
                self.worker.index(),
                CATCH_UP_MAX.as_secs()
            ),
        );
    }

    /// Starts an iteration on a VU of this thread that has been reserved for it.
    pub(crate) fn start(self: &Rc<Self>, arrival: Arrival) {
        // The one that has been idle for longest, so that all VUs take turns, as in k6.
        let vu = self.idle.borrow_mut().pop_front().expect("a reserved VU is in the queue of idle ones");
        self.enter();
        vu.mailbox.push(Work::Arrival(self.clone(), arrival));
    }

    /// Counts a drop and returns its cause, and adds a VU if the plan allows it.
    fn lose(&self, arrival: Arrival) -> DropCause {
        let shared = self.shared();
        let now = SystemClock::now();
        let begins_growth = shared.begin_growth();
        let cause = if begins_growth || shared.is_growing() {
            DropCause::VuStarting
        } else {
            DropCause::VusExhausted
        };
        self.drop_iterations(1, cause, now);
        if begins_growth {
            let id = self.run.next_vu_id.fetch_add(1, Ordering::Relaxed);
            self.run.order(self.run.worker_of(id), Order::Grow { scenario: arrival.scenario, id });
        } else if cause == DropCause::VusExhausted && !shared.has_warned.swap(true, Ordering::Relaxed) {
            let name = &self.plan().name;
            self.worker.warn(
                now,
                format!(
                    "scenario {name}: every VU was busy and maxVUs is reached, so iterations are dropped \
                     (counted in dropped_iterations)"
                ),
            );
        }
        cause
    }

    /// Runs one iteration on the VU's coroutine.
    pub(crate) fn run_arrival(self: &Rc<Self>, arrival: Arrival, state: &mut VuState, vu: &Rc<VuHandle>) {
        vu.begin(self, Some(arrival.due));
        vu.deadline.set(self.hard_end);
        let progress = &self.run.config.progress;
        let now = SystemClock::now();
        if state.may_continue(now) {
            progress.vus_active.fetch_add(1, Ordering::Relaxed);
            self.progress().vus_active.fetch_add(1, Ordering::Relaxed);
            let is_first = state.last_scenario != Some(self.id);
            self.run_iteration(state, Some(arrival.due), now, is_first, None);
            progress.vus_active.fetch_sub(1, Ordering::Relaxed);
            self.progress().vus_active.fetch_sub(1, Ordering::Relaxed);
        } else {
            // Cancelled before its first instruction: due at the very end and without graceful stop, for example.
            progress.iterations_interrupted.fetch_add(1, Ordering::Relaxed);
        }
        if !self.is_closed.get() && !state.is_broken {
            self.make_idle(vu.clone());
        }
        self.leave();
    }

    /// Makes a VU of this thread available for arrivals.
    pub(crate) fn make_idle(&self, vu: Rc<VuHandle>) {
        self.idle.borrow_mut().push_back(vu);
        self.shared().add_idle(self.worker.index(), 1);
    }
}
