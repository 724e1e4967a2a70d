//! A VU's task on its coroutine: init, then one piece of work after the other.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use model::{Arrival, Instant, ScenarioId, SystemClock};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use vu::Interrupter;

use crate::lane_closed::VuLoop;
use crate::mailbox::Mailbox;
use crate::scenario_lane::ScenarioLane;
use crate::shared::{RunShared, WorkerShared};
use crate::{Deadline, ProgramError, Seat, Vu};

/// A VU, for its thread.
pub(crate) struct VuHandle {
    pub(crate) mailbox: Mailbox<Work>,
    pub(crate) deadline: Arc<Deadline>,
    /// The scenario that it works for now, and when its iteration was due.
    serves: RefCell<Option<(Rc<ScenarioLane>, Option<Instant>)>>,
    /// Whether it does no more work: a call of its engine does not end.
    is_left_behind: Cell<bool>,
    coroutine: RefCell<Option<(Interrupter, JoinHandle<()>)>>,
}

/// One piece of work for a VU.
pub(crate) enum Work {
    /// Loop until the lane ends it.
    Loop(Rc<VuLoop>),
    /// Run one iteration.
    Arrival(Rc<ScenarioLane>, Arrival),
}

impl VuHandle {
    /// Begins a piece of work for a scenario.
    pub(crate) fn begin(&self, lane: &Rc<ScenarioLane>, due: Option<Instant>) {
        *self.serves.borrow_mut() = Some((lane.clone(), due));
    }

    /// The scenario that it works for now.
    pub(crate) fn serves(&self) -> Option<ScenarioId> {
        self.serves.borrow().as_ref().map(|(lane, _)| lane.id)
    }

    /// Whether it can do no more work.
    pub(crate) fn is_left_behind(&self) -> bool {
        self.is_left_behind.get()
    }

    /// Ends the iteration of a VU whose stack was left behind in the middle of it.
    fn leave_behind(&self, id: u64) {
        self.is_left_behind.set(true);
        let work = self.serves.take();
        if let Some((lane, due)) = work {
            lane.leave_iteration_behind(id, due);
        }
    }

    /// The next piece of work, for the VU itself; suspends it until there is some.
    // Not inlined, like others here: the future of the wait would have a place on the VU's stack while its script runs.
    #[inline(never)]
    fn receive(&self) -> Option<Work> {
        vu::block_on_always(self.mailbox.receive())
    }

    /// Interrupts the VU's current work.
    pub(crate) fn interrupt(&self) {
        if let Some((interrupter, _)) = &*self.coroutine.borrow() {
            interrupter.interrupt();
        }
    }

    /// Waits until the VU is closed.
    pub(crate) async fn ended(&self) {
        let coroutine = self.coroutine.take();
        if let Some((_, task)) = coroutine {
            // It never panics.
            let _ = task.await;
        }
    }
}

/// Creates a VU and waits until its init code has run.
pub(crate) async fn start_vu(
    id: u64,
    run: &Arc<RunShared>,
    worker: &Rc<WorkerShared>,
) -> Result<Rc<VuHandle>, ProgramError> {
    let deadline = run.config.control.iteration_deadline();
    let handle = Rc::new(VuHandle {
        mailbox: Mailbox::default(),
        deadline: deadline.clone(),
        serves: RefCell::default(),
        is_left_behind: Cell::new(false),
        coroutine: RefCell::default(),
    });
    let seat = Seat {
        vu_id: run.vu_stripe.global_index(id - 1).saturating_add(1),
        id_in_instance: id,
        worker: worker.clone(),
        progress: run.config.progress.clone(),
        control: run.config.control.clone(),
        deadline,
    };
    let (ready, is_ready) = oneshot::channel();
    let task = VuTask { handle: handle.clone(), seat, run: run.clone() };
    let coroutine = vu::coroutine(run.config.stack_bytes, move || task.run(ready));
    let interrupter = coroutine.interrupter();
    let of_task = handle.clone();
    let task = tokio::task::spawn_local(async move {
        // A panic was reported where it happened.
        if coroutine.await.is_err_and(|payload| payload.is::<vu::LeftBehind>()) {
            of_task.leave_behind(id);
        }
    });
    *handle.coroutine.borrow_mut() = Some((interrupter, task));
    match is_ready.await {
        Ok(Ok(())) => Ok(handle),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(ProgramError::Panicked("while it was initialised".into())),
    }
}

/// The contents of a VU's coroutine.
struct VuTask {
    handle: Rc<VuHandle>,
    seat: Seat,
    run: Arc<RunShared>,
}

/// State of a VU between its pieces of work.
pub(crate) struct VuState {
    pub(crate) seat: Seat,
    pub(crate) vu: Box<dyn Vu>,
    /// Iterations in all scenarios.
    pub(crate) iterations: u64,
    /// Iterations by scenario; a VU serves only a few.
    pub(crate) iterations_of: Vec<(ScenarioId, u64)>,
    /// The scenario of the last iteration.
    pub(crate) last_scenario: Option<ScenarioId>,
    /// Whether its code panicked and could not be created again: it does no more work.
    pub(crate) is_broken: bool,
}

impl VuTask {
    fn run(self, ready: oneshot::Sender<Result<(), ProgramError>>) {
        let vu = match create(&self.run, &self.seat) {
            Ok(vu) => vu,
            Err(error) => {
                // The receiver is gone when the run has been given up.
                let _ = ready.send(Err(error));
                return;
            }
        };
        let _ = ready.send(Ok(()));
        self.run.config.progress.vus_initialized.fetch_add(1, Ordering::Relaxed);
        let mut state = VuState {
            seat: self.seat,
            vu,
            iterations: 0,
            iterations_of: Vec::new(),
            last_scenario: None,
            is_broken: false,
        };
        while let Some(work) = self.handle.receive() {
            vu::clear_interrupt();
            match work {
                Work::Loop(vu_loop) => vu_loop.run(&mut state, &self.handle),
                Work::Arrival(lane, arrival) => lane.run_arrival(arrival, &mut state, &self.handle),
            }
            self.handle.serves.take();
        }
    }
}

#[inline(never)]
fn create(run: &RunShared, seat: &Seat) -> Result<Box<dyn Vu>, ProgramError> {
    catch_unwind(AssertUnwindSafe(|| run.program.create_vu(seat.clone())))
        .unwrap_or_else(|payload| Err(ProgramError::Panicked(panic_text(&*payload))))
}

/// The text of a panic.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().map(str::to_owned);
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a text".into())
}

impl VuState {
    /// Replaces the code of a VU that has panicked or is spent: its state can no longer be trusted.
    #[cold]
    #[inline(never)]
    pub(crate) fn recreate(&mut self, run: &RunShared) {
        match create(run, &self.seat) {
            Ok(vu) => self.vu = vu,
            // The time is up. A spent VU is replaced before its next iteration, if it gets one.
            Err(ProgramError::Interrupted) if self.vu.is_spent() => {}
            Err(error) => {
                self.is_broken = true;
                let message = format!("failed to restart VU {}: {error}", self.seat.id_in_instance);
                self.seat.worker.error(SystemClock::now(), message);
            }
        }
    }

    /// Whether work may continue: the deadline is ahead, and the VU is not broken.
    pub(crate) fn may_continue(&self, now: Instant) -> bool {
        !self.is_broken && !self.seat.deadline.has_passed(now)
    }
}
