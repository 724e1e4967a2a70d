//! One worker thread: its VUs, its lanes, and the orders it carries out.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use model::{Instant, ScenarioId, SystemClock};
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedReceiver;
use vu::Interrupter;

use crate::report::{Function, Order, Report};
use crate::scenario_lane::ScenarioLane;
use crate::shared::{RunShared, WorkerShared};
use crate::vu_task::{VuHandle, panic_text, start_vu};
use crate::{ProgramError, Seat, Start, lane_closed, lane_open};

/// One worker thread.
pub(crate) struct WorkerThread {
    run: Arc<RunShared>,
    worker: Rc<WorkerShared>,
    /// The planned VUs of this thread: number `id` at `(id - 1) / workers`.
    vus: RefCell<Vec<Rc<VuHandle>>>,
    /// VUs added while running.
    added: RefCell<Vec<Rc<VuHandle>>>,
    scenarios: RefCell<Vec<Rc<ScenarioLane>>>,
    /// The VU of `setup()` or `teardown()` while it runs, and which of the two.
    function: RefCell<Option<(Function, Interrupter)>>,
    stopped: Cell<bool>,
    stop: Notify,
}

/// Reason for the end of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitEnd {
    /// The time has come, or the scenario's VUs are all idle.
    Due,
    /// The run was stopped.
    Stopped,
}

/// Initialises a thread's VUs, then carries out orders until the end.
pub(crate) async fn run(
    index: usize,
    run: Arc<RunShared>,
    mut orders: UnboundedReceiver<Order>,
    roster: Arc<Vec<Vec<u64>>>,
) {
    let thread = Rc::new(WorkerThread {
        worker: Rc::new(WorkerShared::new(index, run.clone())),
        run,
        vus: RefCell::default(),
        added: RefCell::default(),
        scenarios: RefCell::default(),
        function: RefCell::default(),
        stopped: Cell::new(false),
        stop: Notify::new(),
    });
    tokio::task::spawn_local(thread.clone().initialise());
    while let Some(order) = orders.recv().await {
        match order {
            Order::Start { start, setup_data } => thread.start(&start, setup_data, &roster),
            Order::Run(function) => thread.run_function(function),
            Order::TakeWindow { end } => {
                let (series, notes) = (thread.worker.take_window(), thread.worker.take_notes(end));
                thread.run.report(Report::Window { worker: index, series, notes });
            }
            Order::Arrival(arrival) => {
                let scenario = thread.scenario(arrival.scenario);
                scenario.expect("a VU can be reserved only after the start").start(arrival);
            }
            Order::Grow { scenario, id } => match thread.scenario(scenario) {
                Some(scenario) => {
                    tokio::task::spawn_local(thread.clone().grow(scenario, id));
                }
                // Another thread was quicker to start: this one's own order to start is next in the queue.
                None => thread.run.order(index, Order::Grow { scenario, id }),
            },
            Order::Steer { scenario, target } => {
                let scenario = thread.scenario(scenario);
                scenario.expect("a scenario is steered only after the start").steer(target);
            }
            Order::Stop => thread.stop(),
            Order::Kill => thread.interrupt_function(),
            Order::CloseVus => {
                tokio::task::spawn_local(thread.clone().close_vus());
            }
            Order::End => return,
        }
    }
}

impl WorkerThread {
    /// Initialises one VU after the other, so that init code shares the machine with one VU per thread at most.
    async fn initialise(self: Rc<Self>) {
        let workers = self.run.orders.len() as u64;
        let mut id = self.worker.index() as u64 + 1;
        while id <= self.run.vus_planned && !self.run.config.control.is_stopped() {
            match start_vu(id, &self.run, &self.worker).await {
                Ok(vu) => {
                    self.vus.borrow_mut().push(vu);
                    self.run.report(Report::VuReady);
                }
                Err(error) => {
                    self.run.report(Report::VuFailed(error));
                    return;
                }
            }
            id += workers;
        }
    }

    fn start(self: &Rc<Self>, start: &Start, setup_data: Option<Arc<str>>, roster: &[Vec<u64>]) {
        let workers = self.run.orders.len() as u64;
        for (index, ids) in roster.iter().enumerate() {
            let id = ScenarioId(index as u16);
            let (run, worker) = (self.run.clone(), self.worker.clone());
            let scenario = Rc::new(ScenarioLane::new(id, run, worker, start, setup_data.clone()));
            let vus = self.vus.borrow();
            let own = (0..).zip(ids).filter(|(_, id)| self.run.worker_of(**id) == self.worker.index());
            let own = own.map(|(number, id)| (number, vus[((id - 1) / workers) as usize].clone()));
            scenario.vus.borrow_mut().extend(own);
            self.scenarios.borrow_mut().push(scenario.clone());
            if scenario.plan().executor.is_open() {
                tokio::task::spawn_local(lane_open::run(self.clone(), scenario));
            } else {
                tokio::task::spawn_local(lane_closed::run(self.clone(), scenario));
            }
        }
    }

    fn scenario(&self, id: ScenarioId) -> Option<Rc<ScenarioLane>> {
        self.scenarios.borrow().get(usize::from(id.0)).cloned()
    }

    async fn grow(self: Rc<Self>, scenario: Rc<ScenarioLane>, id: u64) {
        match start_vu(id, &self.run, &self.worker).await {
            Ok(vu) => {
                self.added.borrow_mut().push(vu.clone());
                if !scenario.is_closed.get() {
                    scenario.vus.borrow_mut().push((u32::MAX, vu.clone()));
                    scenario.make_idle(vu);
                }
            }
            Err(error) => {
                let message = format!("failed to add VU {id}: {error}");
                self.worker.error(SystemClock::now(), message);
            }
        }
        scenario.shared().end_growth();
    }

    /// Closes all VUs; each leaves its own stack.
    async fn close_vus(self: Rc<Self>) {
        let vus: Vec<_> = self.vus.take().into_iter().chain(self.added.take()).collect();
        vus.iter().for_each(|vu| vu.mailbox.close());
        for vu in vus {
            vu.ended().await;
        }
        self.run.report(Report::VusClosed { worker: self.worker.index() });
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.get()
    }

    fn stop(&self) {
        self.stopped.set(true);
        for vu in self.vus.borrow().iter().chain(&*self.added.borrow()) {
            if vu.serves().is_some() {
                vu.interrupt();
            }
        }
        if matches!(*self.function.borrow(), Some((Function::Setup { .. }, _))) {
            self.interrupt_function();
        }
        self.stop.notify_waiters();
    }

    fn interrupt_function(&self) {
        if let Some((_, interrupter)) = &*self.function.borrow() {
            interrupter.interrupt();
        }
    }

    /// Waits until `until`, until the scenario's VUs are all idle, or until the run is stopped.
    pub(crate) async fn wait(&self, until: Instant, scenario: &ScenarioLane) -> WaitEnd {
        if !self.stopped.get() {
            tokio::select! {
                () = self.stop.notified() => {}
                () = scenario.quiet.notified() => {}
                () = vu::timer::sleep_until(until) => {}
            }
        }
        if self.stopped.get() { WaitEnd::Stopped } else { WaitEnd::Due }
    }

    /// Waits until `until` or until the run is stopped. VUs becoming idle is no event for a lane that waits for a time.
    pub(crate) async fn wait_until(&self, until: Instant) -> WaitEnd {
        if !self.stopped.get() {
            tokio::select! {
                () = self.stop.notified() => {}
                () = vu::timer::sleep_until(until) => {}
            }
        }
        if self.stopped.get() { WaitEnd::Stopped } else { WaitEnd::Due }
    }

    /// Waits until the scenario's VUs are idle, and interrupts the others at the hard end.
    pub(crate) async fn wind_down(&self, scenario: &ScenarioLane) {
        while scenario.running() > 0 || scenario.is_awaiting() {
            let now = SystemClock::now();
            if self.stopped.get() || now >= scenario.hard_end {
                break;
            }
            self.wait(scenario.hard_end, scenario).await;
        }
        while scenario.running() > 0 {
            scenario.interrupt();
            scenario.quiet.notified().await;
        }
    }

    /// Publishes the start of the scenario.
    pub(crate) fn mark_started(&self, scenario: &ScenarioLane, due: Instant) {
        if scenario.has_started.replace(true) {
            return;
        }
        let due = due.max(scenario.from);
        let late_ns = SystemClock::now().as_ns().saturating_sub(due.as_ns());
        scenario.progress().started_ns.store(scenario.start.as_ns(), Ordering::Relaxed);
        scenario.progress().started_late_ns.fetch_max(late_ns.saturating_add(1), Ordering::Relaxed);
    }

    /// Reports that this thread's lane of a scenario is over.
    pub(crate) fn leave(&self) {
        self.run.report(Report::LaneDone);
    }

    /// Runs `setup()` or `teardown()` in a VU of its own.
    fn run_function(self: &Rc<Self>, function: Function) {
        let control = &self.run.config.control;
        let (deadline, until) = match &function {
            Function::Setup { until } => (control.iteration_deadline(), *until),
            Function::Teardown { until, .. } => (control.teardown_deadline(), *until),
        };
        deadline.set(until);
        let seat = Seat {
            vu_id: 0,
            id_in_instance: 0,
            worker: self.worker.clone(),
            progress: self.run.config.progress.clone(),
            control: control.clone(),
            deadline,
        };
        let (program, work) = (self.run.program.clone(), function.clone());
        let coroutine = vu::coroutine(self.run.config.stack_bytes, move || match work {
            Function::Setup { .. } => program.setup(seat),
            Function::Teardown { data, .. } => program.teardown(seat, data.as_ref()).map(|()| None),
        });
        let interrupter = coroutine.interrupter();
        *self.function.borrow_mut() = Some((function, interrupter.clone()));
        let watch = tokio::task::spawn_local(async move {
            vu::timer::sleep_until(until).await;
            interrupter.interrupt();
        });
        let thread = self.clone();
        tokio::task::spawn_local(async move {
            let result = coroutine.await;
            watch.abort();
            *thread.function.borrow_mut() = None;
            let result = result.unwrap_or_else(|payload| {
                let is_left_behind = payload.is::<vu::LeftBehind>();
                Err(if is_left_behind {
                    ProgramError::Interrupted
                } else {
                    ProgramError::Panicked(panic_text(&*payload))
                })
            });
            thread.run.report(Report::FunctionDone(result));
        });
    }
}
