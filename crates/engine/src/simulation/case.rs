//! Random cases: a plan, and the delays and faults of the world that runs it.

use std::collections::BTreeMap;
use std::time::Duration;

use model::plan::{Executor, Lifecycle, Plan, Scenario, Stage, ThresholdCondition, ThresholdSpec};

use super::random::Random;
use crate::AbortReason;

/// A plan and its world.
pub(super) struct Case {
    pub(super) plan: Plan,
    pub(super) workers: usize,
    pub(super) wants_samples: bool,
    pub(super) has_setup: bool,
    pub(super) has_teardown: bool,
    /// Longest time for an order to reach its thread.
    pub(super) order_delay: Duration,
    /// Longest time for which a thread stands still; each does so twice at most.
    pub(super) stall: Duration,
    /// Longest time for which the listener blocks the driver.
    pub(super) listener_delay: Duration,
    /// Longest regular iteration.
    pub(super) iteration: Duration,
    /// Share of iterations that last until they are interrupted, in percent.
    pub(super) endless: u64,
    /// Requests from outside, with their time from the beginning.
    pub(super) requests: Vec<(Duration, Request)>,
    /// The thread that a VU blocks for good, and when after the start of the scenarios.
    pub(super) blocked: Option<(usize, Duration)>,
    /// Whether the init code of a VU fails.
    pub(super) init_fails: bool,
    /// Whether `setup()` fails.
    pub(super) setup_fails: bool,
    /// The iteration that calls `test.abort()`.
    pub(super) aborting_iteration: Option<u64>,
}

/// A request from outside of the run.
#[derive(Clone, Debug)]
pub(super) enum Request {
    Stop(AbortReason),
    Kill(AbortReason),
    Resume,
    /// `setup()` while the run is paused, here or on another instance.
    SetUp {
        is_elsewhere: bool,
    },
}

impl Case {
    pub(super) fn new(random: &mut Random) -> Case {
        let scenarios: Vec<Scenario> =
            (0..random.between(1, 3)).map(|index| scenario(random, index)).collect();
        let has_stalls = random.chance(25);
        let has_slow_listener = random.chance(25);
        let lifecycle = Lifecycle {
            no_setup: random.chance(10),
            no_teardown: random.chance(10),
            setup_timeout: random.ms(50, 2000),
            teardown_timeout: random.ms(50, 2000),
            paused: random.chance(15),
            ..Lifecycle::default()
        };
        let requests = requests(random, lifecycle.paused);
        let workers = random.between(1, 3) as usize;
        Case {
            plan: Plan { scenarios, lifecycle, thresholds: thresholds(random), ..Plan::default() },
            workers,
            wants_samples: random.chance(20),
            has_setup: random.chance(50),
            has_teardown: random.chance(60),
            order_delay: if random.chance(20) { random.ms(1, 300) } else { Duration::from_micros(200) },
            stall: if has_stalls { random.ms(50, 2000) } else { Duration::ZERO },
            listener_delay: if has_slow_listener { random.ms(10, 8000) } else { Duration::ZERO },
            iteration: random.ms(20, 600),
            endless: if random.chance(30) { random.between(1, 30) } else { 0 },
            requests,
            blocked: random
                .chance(8)
                .then(|| (random.between(0, workers as u64 - 1) as usize, random.ms(0, 3000))),
            init_fails: random.chance(4),
            setup_fails: random.chance(10),
            aborting_iteration: random.chance(10).then(|| random.between(0, 60)),
        }
    }
}

fn requests(random: &mut Random, is_paused: bool) -> Vec<(Duration, Request)> {
    let mut requests = Vec::new();
    if is_paused {
        for _ in 0..random.between(0, 2) {
            requests.push((random.ms(0, 800), Request::SetUp { is_elsewhere: random.chance(50) }));
        }
        requests.push((random.ms(100, 1500), Request::Resume));
    }
    if random.chance(25) {
        let first = random.ms(0, 5000);
        requests.push((first, Request::Stop(AbortReason::Signal)));
        if random.chance(50) {
            requests.push((first + random.ms(0, 1500), Request::Kill(AbortReason::Signal)));
        }
    }
    if random.chance(15) {
        requests.push((random.ms(0, 5000), Request::Stop(AbortReason::Remote)));
    }
    if random.chance(10) {
        requests.push((random.ms(0, 5000), Request::Stop(AbortReason::Listener("disk full".into()))));
    }
    requests
}

fn scenario(random: &mut Random, index: u64) -> Scenario {
    Scenario {
        name: format!("s{index}").into(),
        exec: "default".into(),
        executor: executor(random),
        start_time: if random.chance(30) { random.ms(0, 1500) } else { Duration::ZERO },
        graceful_stop: if random.chance(20) { Duration::ZERO } else { random.ms(0, 1000) },
        env: BTreeMap::new(),
        tags: BTreeMap::new(),
    }
}

fn executor(random: &mut Random) -> Executor {
    let vus = random.between(1, 4);
    let duration = random.ms(50, 3500);
    let time_unit = Duration::from_secs(1);
    let rate = random.between(1, 20);
    let mut stages = |most| {
        (0..random.between(1, 3)).map(|_| stage(random.ms(0, 1200), random.between(0, most))).collect()
    };
    match vus + rate % 6 {
        n if n % 6 == 0 => Executor::SharedIterations { vus, iterations: rate, max_duration: duration },
        n if n % 6 == 1 => {
            Executor::PerVuIterations { vus, iterations: rate / 2 + 1, max_duration: duration }
        }
        n if n % 6 == 2 => Executor::ConstantVus { vus, duration },
        n if n % 6 == 3 => {
            let graceful_ramp_down = Duration::from_millis(300);
            Executor::RampingVus { start_vus: vus, stages: stages(4), graceful_ramp_down }
        }
        n if n % 6 == 4 => {
            Executor::ConstantArrivalRate { rate, time_unit, duration, pre_allocated_vus: vus, max_vus: vus }
        }
        _ => {
            let stages = stages(20);
            Executor::RampingArrivalRate {
                start_rate: rate,
                time_unit,
                stages,
                pre_allocated_vus: vus,
                max_vus: vus,
            }
        }
    }
}

fn stage(duration: Duration, target: u64) -> Stage {
    Stage { duration, target }
}

fn thresholds(random: &mut Random) -> Vec<ThresholdSpec> {
    if random.chance(30) {
        return Vec::new();
    }
    let condition = ThresholdCondition {
        source: format!("count<{}", random.between(1, 200)),
        abort_on_fail: random.chance(60),
        delay_abort_eval: if random.chance(50) { Duration::ZERO } else { random.ms(0, 4000) },
    };
    vec![ThresholdSpec { selector: "iterations".into(), conditions: vec![condition] }]
}
