//! Runs of closure programs: the iterations that each executor starts, drops, interrupts and counts.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use model::metric::builtin::{
    DROPPED_ITERATIONS, ITERATION_DURATION, ITERATION_FAILED, ITERATION_LATENESS, ITERATION_RESPONSE_TIME,
    ITERATIONS, VUS, VUS_MAX,
};
use model::plan::{Compat, Executor, Plan, Scenario, Stage, ThresholdSpec};
use model::{Aggregate, Instant, IterationEnd, MetricId, RunEvent, SystemClock, SystemTag};

use crate::{
    AbortReason, DropCounts, IterationCall, LifecycleError, Program, ProgramError, RunConfig, RunOutcome,
    Seat, Vu, run,
};

mod executors;
mod failures;
mod lifecycle;
mod notes;
mod steering;

const MS: Duration = Duration::from_millis(1);

/// A function of a seat.
type OnSeat<T> = dyn Fn(&Seat) -> Result<T, ProgramError> + Send + Sync;

type Body = dyn Fn(&Seat, &IterationCall) -> IterationEnd + Send + Sync;

/// A program of closures.
struct Script {
    body: Arc<Body>,
    setup: Option<Box<OnSeat<Option<Arc<str>>>>>,
    teardowns: Option<Arc<AtomicU64>>,
    teardown: Box<OnSeat<()>>,
    spends: bool,
    init: Box<OnSeat<()>>,
}

impl Script {
    fn new(body: impl Fn(&Seat, &IterationCall) -> IterationEnd + Send + Sync + 'static) -> Script {
        Script {
            body: Arc::new(body),
            setup: None,
            teardowns: None,
            teardown: Box::new(|_| Ok(())),
            spends: false,
            init: Box::new(|_| Ok(())),
        }
    }

    /// Iterations that wait for this long.
    fn sleeping(ms: u32) -> Script {
        Script::new(move |_, _| sleep(MS * ms))
    }
}

/// A VU, and whether it has spent itself: on its iteration 1, if the script wants that.
struct ScriptVu(Seat, Arc<Body>, Option<bool>);

impl Vu for ScriptVu {
    fn iterate(&mut self, call: &IterationCall) -> (IterationEnd, Instant) {
        self.2 = self.2.map(|_| call.vu_iteration == 1);
        ((self.1)(&self.0, call), SystemClock::now())
    }

    fn is_spent(&self) -> bool {
        self.2 == Some(true)
    }
}

impl Program for Script {
    fn create_vu(&self, seat: Seat) -> Result<Box<dyn Vu>, ProgramError> {
        (self.init)(&seat)?;
        Ok(Box::new(ScriptVu(seat, self.body.clone(), self.spends.then_some(false))))
    }

    fn has_setup(&self) -> bool {
        self.setup.is_some()
    }

    fn setup(&self, seat: Seat) -> Result<Option<Arc<str>>, ProgramError> {
        self.setup.as_ref().map_or(Ok(None), |setup| setup(&seat))
    }

    fn has_teardown(&self) -> bool {
        self.teardowns.is_some()
    }

    fn teardown(&self, seat: Seat, _data: Option<&Arc<str>>) -> Result<(), ProgramError> {
        if let Some(teardowns) = &self.teardowns {
            teardowns.fetch_add(1, Ordering::SeqCst);
        }
        (self.teardown)(&seat)
    }
}

fn sleep(duration: Duration) -> IterationEnd {
    match vu::block_on(vu::timer::sleep_until(SystemClock::now() + duration)) {
        Ok(()) => IterationEnd::Completed,
        Err(vu::Interrupted) => IterationEnd::Interrupted,
    }
}

fn scenario(name: &str, executor: Executor) -> Scenario {
    Scenario {
        name: name.into(),
        exec: "default".into(),
        executor,
        start_time: Duration::ZERO,
        graceful_stop: MS * 2000,
        env: BTreeMap::new(),
        tags: BTreeMap::new(),
    }
}

fn plan(scenarios: Vec<Scenario>) -> Plan {
    Plan { scenarios, ..Plan::default() }
}

/// A run that is over, with its events.
struct Ran {
    outcome: RunOutcome,
    events: Vec<RunEvent>,
    config: RunConfig,
}

fn run_plan(workers: usize, plan: Plan, script: Script) -> Ran {
    let config = RunConfig { workers, stack_bytes: 64 * 1024, ..RunConfig::new(plan.scenarios.len()) };
    run_with(config, plan, script)
}

/// An assertion inside a script is a panic that the engine survives, so this looks for it.
fn run_with(config: RunConfig, plan: Plan, script: Script) -> Ran {
    let ran = run_unchecked(config, plan, script);
    assert!(!ran.logged("panicked"), "{:?}", ran.events);
    ran
}

fn run_unchecked(config: RunConfig, plan: Plan, script: Script) -> Ran {
    let mut events = Vec::new();
    let outcome = run(Arc::new(plan), Arc::new(script), config.clone(), &mut |event| events.push(event));
    Ran { outcome, events, config }
}

/// One scenario on two threads.
fn run_one(executor: Executor, script: Script) -> Ran {
    run_plan(2, plan(vec![scenario("s", executor)]), script)
}

impl Ran {
    fn counter(&self, metric: MetricId) -> f64 {
        match self.outcome.totals.metric(metric) {
            Some(Aggregate::Counter(counter)) => counter.sum.value(),
            None => 0.0,
            other => panic!("not a counter: {other:?}"),
        }
    }

    fn iterations(&self) -> u64 {
        self.counter(ITERATIONS) as u64
    }

    fn dropped(&self) -> u64 {
        self.counter(DROPPED_ITERATIONS) as u64
    }

    fn interrupted(&self) -> u64 {
        self.config.progress.iterations_interrupted.load(Ordering::Relaxed)
    }

    fn trend(&self, metric: MetricId) -> &model::Trend {
        match self.outcome.totals.metric(metric) {
            Some(Aggregate::Trend(trend)) => trend,
            other => panic!("no trend: {other:?}"),
        }
    }

    fn logged(&self, part: &str) -> bool {
        self.events.iter().any(|event| matches!(event, RunEvent::Log(line) if line.message.contains(part)))
    }
}
