//! The executors: their fields, what is required of them, and what they default to. One entry in [`ALL`] each.
//!
//! The words of the problems are k6's, so that they can be looked up.

use std::time::Duration;

use model::plan::{ENDLESS, Executor};

use crate::scenario::{ScenarioConfig, Stages};
use crate::{GoDuration, VUS_MAX};

/// The most stages that one scenario may have.
pub const STAGES_MAX: usize = 10_000;

const DURATION_MIN: GoDuration = GoDuration::from_secs(1);
pub(crate) const MAX_DURATION_DEFAULT: GoDuration = GoDuration::from_secs(600);
const GRACEFUL_RAMP_DOWN_DEFAULT: GoDuration = GoDuration::from_secs(30);
const TIME_UNIT_DEFAULT: GoDuration = GoDuration::from_secs(1);

/// The options of one executor.
#[derive(Debug)]
pub(crate) struct ExecutorSpec {
    /// k6's name for it.
    pub(crate) name: &'static str,
    /// Its own fields, in the order in which k6 prints them.
    pub(crate) fields: &'static [&'static str],
    /// Says everything that is wrong.
    pub(crate) check: fn(&ScenarioConfig, &mut Vec<String>),
    /// The executor with its defaults, once nothing is wrong.
    pub(crate) resolve: fn(&ScenarioConfig) -> Executor,
}

impl ExecutorSpec {
    /// Whether k6 v2 has it, too.
    pub(crate) fn is_of_k6(&self) -> bool {
        *self != EXTERNALLY_CONTROLLED
    }
}

impl PartialEq for ExecutorSpec {
    fn eq(&self, other: &ExecutorSpec) -> bool {
        self.name == other.name
    }
}

/// All executors.
pub(crate) static ALL: [ExecutorSpec; 7] = [
    SHARED_ITERATIONS,
    PER_VU_ITERATIONS,
    CONSTANT_VUS,
    RAMPING_VUS,
    CONSTANT_ARRIVAL_RATE,
    RAMPING_ARRIVAL_RATE,
    EXTERNALLY_CONTROLLED,
];

/// The executor of this name.
pub(crate) fn find(name: &str) -> Option<&'static ExecutorSpec> {
    ALL.iter().find(|spec| spec.name == name)
}

/// The names for a message.
pub(crate) fn names() -> String {
    format!("the executors are {}", ALL.iter().map(|spec| spec.name).collect::<Vec<_>>().join(", "))
}

const SHARED_ITERATIONS: ExecutorSpec = ExecutorSpec {
    name: "shared-iterations",
    fields: &["vus", "iterations", "maxDuration"],
    check: |config, wrong| {
        let (vus, iterations) = (config.vus.unwrap_or(1), config.iterations.unwrap_or(1));
        check_vus(vus, wrong);
        if iterations < vus {
            wrong.push(format!(
                "the number of iterations ({iterations}) can't be less than the number of VUs ({vus})"
            ));
        }
        check_max_duration(config, wrong);
    },
    resolve: |config| Executor::SharedIterations {
        vus: count(config.vus, 1),
        iterations: count(config.iterations, 1),
        max_duration: config.max_duration.unwrap_or(MAX_DURATION_DEFAULT).to_std(),
    },
};

const PER_VU_ITERATIONS: ExecutorSpec = ExecutorSpec {
    name: "per-vu-iterations",
    fields: &["vus", "iterations", "maxDuration"],
    check: |config, wrong| {
        check_vus(config.vus.unwrap_or(1), wrong);
        if config.iterations.unwrap_or(1) <= 0 {
            wrong.push("the number of iterations must be more than 0".to_owned());
        }
        check_max_duration(config, wrong);
    },
    resolve: |config| Executor::PerVuIterations {
        vus: count(config.vus, 1),
        iterations: count(config.iterations, 1),
        max_duration: config.max_duration.unwrap_or(MAX_DURATION_DEFAULT).to_std(),
    },
};

const CONSTANT_VUS: ExecutorSpec = ExecutorSpec {
    name: "constant-vus",
    fields: &["vus", "duration"],
    check: |config, wrong| {
        check_vus(config.vus.unwrap_or(1), wrong);
        check_duration(config, wrong);
    },
    resolve: |config| Executor::ConstantVus { vus: count(config.vus, 1), duration: length(config.duration) },
};

const RAMPING_VUS: ExecutorSpec = ExecutorSpec {
    name: "ramping-vus",
    fields: &["startVUs", "stages", "gracefulRampDown"],
    check: |config, wrong| {
        let start_vus = config.start_vus.unwrap_or(1);
        if start_vus < 0 {
            wrong.push("the number of start VUs can't be negative".to_owned());
        }
        check_vus_max("startVUs", start_vus, wrong);
        let stages = config.stages.as_ref().map_or(&[][..], |stages| &stages.0);
        let targets = || stages.iter().filter_map(|stage| stage.target);
        if !stages.is_empty() && start_vus <= 0 && targets().all(|target| target <= 0) {
            let reason = "either startVUs or one of the stages' target values must be greater than 0";
            wrong.push(reason.to_owned());
        }
        check_stages(config.stages.as_ref(), wrong);
        check_vus_max("a stage's target", targets().max().unwrap_or(0), wrong);
        check_not_negative("gracefulRampDown timeout", config.graceful_ramp_down, wrong);
    },
    resolve: |config| Executor::RampingVus {
        start_vus: count(config.start_vus, 1),
        stages: config.stages.as_ref().map(Stages::resolve).unwrap_or_default(),
        graceful_ramp_down: config.graceful_ramp_down.unwrap_or(GRACEFUL_RAMP_DOWN_DEFAULT).to_std(),
    },
};

const CONSTANT_ARRIVAL_RATE: ExecutorSpec = ExecutorSpec {
    name: "constant-arrival-rate",
    fields: &["rate", "timeUnit", "duration", "preAllocatedVUs", "maxVUs"],
    check: |config, wrong| {
        match config.rate {
            None => wrong.push("the iteration rate isn't specified".to_owned()),
            Some(rate) if rate <= 0 => wrong.push("the iteration rate must be more than 0".to_owned()),
            Some(_) => {}
        }
        check_time_unit(config, wrong);
        check_duration(config, wrong);
        check_arrival_vus(config, wrong);
    },
    resolve: |config| Executor::ConstantArrivalRate {
        rate: count(config.rate, 0),
        time_unit: config.time_unit.unwrap_or(TIME_UNIT_DEFAULT).to_std(),
        duration: length(config.duration),
        pre_allocated_vus: count(config.pre_allocated_vus, 0),
        max_vus: count(config.max_vus.or(config.pre_allocated_vus), 0),
    },
};

const RAMPING_ARRIVAL_RATE: ExecutorSpec = ExecutorSpec {
    name: "ramping-arrival-rate",
    fields: &["startRate", "timeUnit", "stages", "preAllocatedVUs", "maxVUs"],
    check: |config, wrong| {
        if config.start_rate.unwrap_or(0) < 0 {
            wrong.push("the startRate value can't be negative".to_owned());
        }
        check_time_unit(config, wrong);
        check_stages(config.stages.as_ref(), wrong);
        check_arrival_vus(config, wrong);
    },
    resolve: |config| Executor::RampingArrivalRate {
        start_rate: count(config.start_rate, 0),
        time_unit: config.time_unit.unwrap_or(TIME_UNIT_DEFAULT).to_std(),
        stages: config.stages.as_ref().map(Stages::resolve).unwrap_or_default(),
        pre_allocated_vus: count(config.pre_allocated_vus, 0),
        max_vus: count(config.max_vus.or(config.pre_allocated_vus), 0),
    },
};

/// k6 had it until version 2. Its number of VUs is changed through the REST API, up to `maxVUs`.
const EXTERNALLY_CONTROLLED: ExecutorSpec = ExecutorSpec {
    name: "externally-controlled",
    fields: &["vus", "duration", "maxVUs"],
    check: |config, wrong| {
        let (vus, max_vus) = (config.vus.unwrap_or(0), max_vus(config));
        if vus < 0 {
            wrong.push("the number of VUs can't be negative".to_owned());
        }
        if max_vus < vus {
            wrong.push(format!(
                "the number of maxVUs ({max_vus}) can't be less than the number of VUs ({vus})"
            ));
        }
        if max_vus <= 0 {
            wrong.push("the number of maxVUs must be more than 0".to_owned());
        }
        check_vus_max("maxVUs", max_vus, wrong);
        check_not_negative("duration", config.duration, wrong);
    },
    resolve: |config| Executor::ExternallyControlled {
        vus: count(config.vus, 0),
        max_vus: count(Some(max_vus(config)), 0),
        duration: config.duration.map(|it| it.to_std()).filter(|it| !it.is_zero()).unwrap_or(ENDLESS),
    },
};

fn max_vus(config: &ScenarioConfig) -> i64 {
    config.max_vus.or(config.vus).unwrap_or(0)
}

fn check_vus(vus: i64, wrong: &mut Vec<String>) {
    if vus <= 0 {
        wrong.push("the number of VUs must be more than 0".to_owned());
    }
    check_vus_max("the number of VUs", vus, wrong);
}

fn check_vus_max(name: &str, vus: i64, wrong: &mut Vec<String>) {
    if u64::try_from(vus).is_ok_and(|vus| vus > VUS_MAX) {
        wrong.push(format!("{name} must be at most {VUS_MAX}, but is {vus}"));
    }
}

fn check_max_duration(config: &ScenarioConfig, wrong: &mut Vec<String>) {
    let max_duration = config.max_duration.unwrap_or(MAX_DURATION_DEFAULT);
    if max_duration < DURATION_MIN {
        wrong.push(format!("the maxDuration must be at least {DURATION_MIN}, but is {max_duration}"));
    }
}

fn check_duration(config: &ScenarioConfig, wrong: &mut Vec<String>) {
    match config.duration {
        None => wrong.push("the duration is unspecified".to_owned()),
        Some(duration) if duration < DURATION_MIN => {
            wrong.push(format!(
                "the duration must be at least {DURATION_MIN}, but is {duration}{}",
                unit_hint(duration)
            ));
        }
        Some(_) => {}
    }
}

/// The hint for a duration that was probably written without a unit, as `-d 5` for five seconds.
fn unit_hint(duration: GoDuration) -> String {
    const NS_PER_MS: i64 = 1_000_000;
    let ms = duration.ns / NS_PER_MS;
    match ms > 0 && duration.ns % NS_PER_MS == 0 {
        true => format!(" (a number without a unit is in milliseconds; for seconds write {ms}s)"),
        false => String::new(),
    }
}

fn check_time_unit(config: &ScenarioConfig, wrong: &mut Vec<String>) {
    if config.time_unit.is_some_and(|unit| unit.ns <= 0) {
        wrong.push("the timeUnit must be more than 0".to_owned());
    }
}

fn check_arrival_vus(config: &ScenarioConfig, wrong: &mut Vec<String>) {
    match config.pre_allocated_vus {
        None => wrong.push("the number of preAllocatedVUs isn't specified".to_owned()),
        Some(vus) if vus < 0 => wrong.push("the number of preAllocatedVUs can't be negative".to_owned()),
        Some(vus) => check_vus_max("the number of preAllocatedVUs", vus, wrong),
    }
    if let (Some(pre_allocated), Some(max)) = (config.pre_allocated_vus, config.max_vus) {
        if max < pre_allocated {
            wrong.push("maxVUs can't be less than preAllocatedVUs".to_owned());
        }
        check_vus_max("maxVUs", max, wrong);
    }
}

fn check_stages(stages: Option<&Stages>, wrong: &mut Vec<String>) {
    let stages = stages.map_or(&[][..], |stages| &stages.0);
    if stages.is_empty() {
        wrong.push("at least one stage has to be specified".to_owned());
    }
    if stages.len() > STAGES_MAX {
        wrong.push(format!("there must be at most {STAGES_MAX} stages, but there are {}", stages.len()));
        return;
    }
    for (number, stage) in (1..).zip(stages) {
        match stage.duration {
            None => wrong.push(format!("stage {number} doesn't have a duration")),
            Some(duration) if duration.ns < 0 => {
                wrong.push(format!("the duration for stage {number} can't be negative"));
            }
            Some(_) => {}
        }
        match stage.target {
            None => wrong.push(format!("stage {number} doesn't have a target")),
            Some(target) if target < 0 => {
                wrong.push(format!("the target for stage {number} can't be negative"));
            }
            Some(_) => {}
        }
    }
}

/// A time that may be zero and not less.
pub(crate) fn check_not_negative(name: &str, value: Option<GoDuration>, wrong: &mut Vec<String>) {
    if value.is_some_and(|value| value.ns < 0) {
        wrong.push(format!("the {name} can't be negative"));
    }
}

fn count(value: Option<i64>, default: u64) -> u64 {
    value.map_or(default, |value| u64::try_from(value).unwrap_or(0))
}

fn length(value: Option<GoDuration>) -> Duration {
    value.unwrap_or_default().to_std()
}
