//! One scenario on one worker thread.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use model::metric::builtin::{DROPPED_ITERATIONS, ITERATION_RESPONSE_TIME};
use model::plan::{Plan, Scenario};
use model::{
    DropCause, Instant, Mark, Sample, ScenarioId, ScenarioProgress, SystemTag, TagInterner, TagSet, TagSetId,
};
use schedule::{Lane, Schedule};
use tokio::sync::Notify;

use crate::shared::{RunShared, ScenarioShared, WorkerShared};
use crate::vu_task::VuHandle;
use crate::{Pile, Start};

/// One scenario on one worker thread: its instants, tags and VUs.
pub(crate) struct ScenarioLane {
    pub(crate) id: ScenarioId,
    pub(crate) run: Arc<RunShared>,
    pub(crate) worker: Rc<WorkerShared>,
    /// Start of the scenario.
    pub(crate) start: Instant,
    /// Nothing that is due before starts here.
    pub(crate) from: Instant,
    /// This instance's iterations that are numbered already.
    pub(crate) numbered: u64,
    /// Latest start of an iteration.
    pub(crate) end: Instant,
    /// Latest end of an iteration.
    pub(crate) hard_end: Instant,
    /// Tags of iteration samples.
    pub(crate) tags: TagSetId,
    /// Tags of drops, which happen outside of any group.
    drop_tags: TagSetId,
    pub(crate) setup_data: Option<Arc<str>>,
    /// This thread's VUs of the scenario, with their numbers in it, in ascending order.
    pub(crate) vus: RefCell<Vec<(u32, Rc<VuHandle>)>>,
    /// Those without work, longest idle first (arrival-rate only).
    pub(crate) idle: RefCell<VecDeque<Rc<VuHandle>>>,
    /// Whether its first iterations were due.
    pub(crate) has_started: Cell<bool>,
    /// Whether VUs that become idle may no longer be reserved.
    pub(crate) is_closed: Cell<bool>,
    /// Number of looping VUs requested from outside, until the lane takes it.
    steered: Cell<Option<u32>>,
    /// Number of VUs with work.
    running: Cell<u32>,
    /// Notified when `running` becomes zero, and of a request from outside.
    pub(crate) quiet: Notify,
}

impl ScenarioLane {
    pub(crate) fn new(
        id: ScenarioId,
        run: Arc<RunShared>,
        worker: Rc<WorkerShared>,
        run_start: &Start,
        setup_data: Option<Arc<str>>,
    ) -> ScenarioLane {
        let scenario = &run.plan.scenarios[usize::from(id.0)];
        let start = run_start.scenarios + scenario.start_time;
        let from = run_start.from.max(start);
        let numbered = if scenario.executor.is_open() {
            skip_before(from, &mut *schedule::schedule(id, scenario, &run.plan.segment, Lane::ONLY, start))
        } else {
            run_start.numbers.get(usize::from(id.0)).copied().unwrap_or(0)
        };
        let end = start + schedule::duration(&scenario.executor);
        let hard_end = end + scenario.graceful_stop;
        let (tags, drop_tags) = scenario_tags(&run.plan, scenario, &run.config.tags);
        ScenarioLane {
            id,
            worker,
            start,
            from,
            numbered,
            end,
            hard_end,
            tags,
            drop_tags,
            setup_data,
            vus: RefCell::default(),
            idle: RefCell::default(),
            has_started: Cell::new(false),
            is_closed: Cell::new(false),
            steered: Cell::new(None),
            running: Cell::new(0),
            quiet: Notify::new(),
            run,
        }
    }

    pub(crate) fn plan(&self) -> &Scenario {
        &self.run.plan.scenarios[usize::from(self.id.0)]
    }

    pub(crate) fn shared(&self) -> &ScenarioShared {
        &self.run.scenarios[usize::from(self.id.0)]
    }

    /// The shared iterations that another process hands out; `None` where this process has its own.
    pub(crate) fn pile(&self) -> Option<&Pile> {
        self.run.config.piles.get(usize::from(self.id.0))?.as_deref()
    }

    pub(crate) fn progress(&self) -> &ScenarioProgress {
        &self.run.config.progress.scenarios[usize::from(self.id.0)]
    }

    /// Counts a VU that gets work.
    pub(crate) fn enter(&self) {
        self.running.set(self.running.get() + 1);
    }

    /// Counts a VU that has finished its work.
    pub(crate) fn leave(&self) {
        self.running.set(self.running.get() - 1);
        if self.running.get() == 0 {
            self.quiet.notify_waiters();
        }
    }

    pub(crate) fn running(&self) -> u32 {
        self.running.get()
    }

    /// Passes a request from outside to the lane.
    pub(crate) fn steer(&self, target: u32) {
        self.steered.set(Some(target));
        self.quiet.notify_waiters();
    }

    /// Takes the last request from outside.
    pub(crate) fn take_steered(&self) -> Option<u32> {
        self.steered.take()
    }

    /// Interrupts every VU that still works for this scenario.
    pub(crate) fn interrupt(&self) {
        for (_, vu) in &*self.vus.borrow() {
            if vu.serves() == Some(self.id) {
                vu.interrupt();
            }
        }
    }

    /// Counts iterations that were due and never started.
    pub(crate) fn drop_iterations(&self, count: u64, cause: DropCause, at: Instant) {
        if count == 0 {
            return;
        }
        self.shared().count_drops(cause, count);
        self.run.config.progress.iterations_dropped.fetch_add(count, Ordering::Relaxed);
        let (metric, tags, value) = (DROPPED_ITERATIONS, self.drop_tags, count as f64);
        // The cause is metadata and not a tag: the series stays the same as k6's.
        let is_wanted = self.worker.wants_samples() && self.run.is_honest();
        let cause = is_wanted.then(|| [("cause".into(), cause.as_str().into())].into());
        self.worker.record_with(Sample { metric, tags, value, at, mark: Mark::Measured }, cause.as_ref());
        if self.run.is_honest() && self.plan().executor.is_open() {
            self.worker.record_dropped(ITERATION_RESPONSE_TIME, self.tags, count, at);
        }
    }
}

/// Leaves out what a schedule had due before `from`, and returns how many arrivals that were.
pub(crate) fn skip_before(from: Instant, schedule: &mut dyn Schedule) -> u64 {
    schedule.skip_overdue(Instant::from_ns(from.as_ns().saturating_sub(1)), 0)
}

/// The tag sets of a scenario's iterations and of its drops.
pub fn scenario_tags(plan: &Plan, scenario: &Scenario, interner: &TagInterner) -> (TagSetId, TagSetId) {
    let system_tags = plan.system_tags;
    let own = plan.tags.iter().chain(&scenario.tags);
    let mut tags: Vec<(Arc<str>, Arc<str>)> =
        own.map(|(name, value)| (name.as_str().into(), value.as_str().into())).collect();
    if system_tags.has(SystemTag::Scenario) {
        tags.push((SystemTag::Scenario.as_str().into(), scenario.name.clone()));
    }
    let drop_tags = interner.intern(TagSet::new(tags.iter().cloned()));
    if system_tags.has(SystemTag::Group) {
        tags.push((SystemTag::Group.as_str().into(), "".into()));
    }
    (interner.intern(TagSet::new(tags)), drop_tags)
}
