//! Limits that a user sets for scripts of others: a plan beyond them is refused.

use std::time::Duration;

use model::plan::{Executor, Plan, Scenario};

use crate::demand::vu_demand;
use crate::executors::MAX_DURATION_DEFAULT;

/// How much longer than its limit a test may take: running iterations may finish. k6's default of `gracefulStop`.
const GRACE: Duration = Duration::from_secs(30);

/// How long `setup()` and `teardown()` may take each under a limit of the duration: k6's defaults.
const LIFECYCLE_MAX: Duration = Duration::from_secs(60);

/// Limits of a test; `None` is no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadLimits {
    /// VUs at once.
    pub vus_max: Option<u64>,
    /// Length of the scenarios, without graceful stops.
    pub duration_max: Option<Duration>,
    /// Iterations that arrival rates start per second, and HTTP requests per second over all VUs.
    pub rate_max: Option<u32>,
    /// Hosts that may be connected to: names, `*.name`, addresses and networks.
    pub hosts: Option<Vec<String>>,
}

/// A limit that a plan exceeds. Reads after "failed to".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("keep the test within {flag} {limit}: it {excess}; {remedy}")]
pub struct LimitExceeded {
    /// The flag that set the limit.
    pub flag: &'static str,
    /// The limit.
    pub limit: String,
    /// The plan's need, with its verb.
    pub excess: String,
    /// The next step.
    pub remedy: &'static str,
}

impl LoadLimits {
    /// Checks the plan, and makes it keep the limits that only a run can show: the rate of requests and the hosts.
    ///
    /// # Errors
    /// The first limit that the plan exceeds.
    pub fn apply(&self, plan: &mut Plan) -> Result<(), LimitExceeded> {
        if let Some(limit) = self.duration_max {
            plan.scenarios.iter_mut().for_each(|scenario| end_by(scenario, limit));
        }
        self.check_vus(plan)?;
        self.check_duration(plan)?;
        if let Some(rate_max) = self.rate_max {
            check_rate(plan, rate_max)?;
            plan.rps = Some(plan.rps.map_or(rate_max, |rps| rps.min(rate_max)));
        }
        plan.network.allowed_hosts.clone_from(&self.hosts);
        Ok(())
    }

    fn check_vus(&self, plan: &Plan) -> Result<(), LimitExceeded> {
        let Some(limit) = self.vus_max else { return Ok(()) };
        let vus_max = vu_demand(plan).vus_max;
        if vus_max <= limit {
            return Ok(());
        }
        let (limit, excess) = (limit.to_string(), format!("needs up to {vus_max} VUs"));
        Err(LimitExceeded { flag: "--limit-vus", limit, excess, remedy: "lower vus, stages or maxVUs" })
    }

    fn check_duration(&self, plan: &Plan) -> Result<(), LimitExceeded> {
        let Some(limit) = self.duration_max else { return Ok(()) };
        let refuse = |excess: String, remedy| {
            let limit = format!("{limit:?}");
            Err(LimitExceeded { flag: "--limit-duration", limit, excess, remedy })
        };
        let planned = plan.scenarios.iter().map(end).max().unwrap_or_default();
        if planned > limit {
            let text = format!("takes up to {planned:?}");
            return refuse(text, "lower duration, maxDuration, stages or startTime");
        }
        let whole = vu_demand(plan).duration_max;
        if whole > limit + GRACE {
            let text = format!("takes up to {whole:?} with gracefulStop, which may add {GRACE:?}");
            return refuse(text, "lower gracefulStop or gracefulRampDown");
        }
        let lifecycle = &plan.lifecycle;
        let longest = lifecycle.setup_timeout.max(lifecycle.teardown_timeout);
        if longest > LIFECYCLE_MAX {
            let text =
                format!("has setup() or teardown() of up to {longest:?}, which may take {LIFECYCLE_MAX:?}");
            return refuse(text, "lower setupTimeout and teardownTimeout");
        }
        Ok(())
    }
}

/// Ends a scenario of a number of iterations at the limit, if nothing says how long it may take: few take as long as the default.
fn end_by(scenario: &mut Scenario, limit: Duration) {
    let left = limit.saturating_sub(scenario.start_time);
    if let Executor::SharedIterations { max_duration, .. } | Executor::PerVuIterations { max_duration, .. } =
        &mut scenario.executor
        && *max_duration == MAX_DURATION_DEFAULT.to_std()
    {
        *max_duration = left.min(*max_duration);
    }
}

/// Refuses a plan that starts more iterations per second at any time.
fn check_rate(plan: &Plan, limit: u32) -> Result<(), LimitExceeded> {
    // The sum changes where a scenario begins, and only its beginnings can raise it.
    let at = |time: Duration| {
        let running = plan.scenarios.iter().filter(move |one| one.start_time <= time && time < end(one));
        running.map(rate_peak).sum::<f64>()
    };
    let peak = plan.scenarios.iter().map(|scenario| at(scenario.start_time)).fold(0.0, f64::max);
    if peak <= f64::from(limit) {
        return Ok(());
    }
    let (limit, excess) = (format!("{limit}/s"), format!("starts up to {peak} iterations per second"));
    Err(LimitExceeded { flag: "--limit-rate", limit, excess, remedy: "lower rate, startRate or stages" })
}

/// The planned end of a scenario, from the start of the scenarios, without its graceful stop.
fn end(scenario: &Scenario) -> Duration {
    let length = match &scenario.executor {
        Executor::SharedIterations { max_duration, .. } | Executor::PerVuIterations { max_duration, .. } => {
            *max_duration
        }
        Executor::ConstantVus { duration, .. }
        | Executor::ConstantArrivalRate { duration, .. }
        | Executor::ExternallyControlled { duration, .. } => *duration,
        Executor::RampingVus { stages, .. } | Executor::RampingArrivalRate { stages, .. } => {
            stages.iter().map(|stage| stage.duration).fold(Duration::ZERO, Duration::saturating_add)
        }
    };
    scenario.start_time.saturating_add(length)
}

/// The most iterations that a scenario starts by plan, per second; 0 for those that start them when others end.
fn rate_peak(scenario: &Scenario) -> f64 {
    let (peak, unit) = match &scenario.executor {
        Executor::ConstantArrivalRate { rate, time_unit, .. } => (*rate, time_unit),
        Executor::RampingArrivalRate { start_rate, time_unit, stages, .. } => {
            let targets = stages.iter().map(|stage| stage.target);
            (targets.fold(*start_rate, u64::max), time_unit)
        }
        _ => return 0.0,
    };
    peak as f64 / unit.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::plan::{Lifecycle, Stage};

    use super::*;

    const S: Duration = Duration::from_secs(1);

    fn scenario(executor: Executor, start_s: u32, graceful_s: u32) -> Scenario {
        Scenario {
            name: "a".into(),
            exec: "default".into(),
            executor,
            start_time: S * start_s,
            graceful_stop: S * graceful_s,
            env: BTreeMap::new(),
            tags: BTreeMap::new(),
        }
    }

    fn rate(rate: u64, unit_s: u32, start_s: u32) -> Scenario {
        let executor = Executor::ConstantArrivalRate {
            rate,
            time_unit: S * unit_s,
            duration: S * 10,
            pre_allocated_vus: 1,
            max_vus: 4,
        };
        scenario(executor, start_s, 30)
    }

    fn vus(vus: u64, duration_s: u32, graceful_s: u32) -> Scenario {
        scenario(Executor::ConstantVus { vus, duration: S * duration_s }, 0, graceful_s)
    }

    #[track_caller]
    fn check(limits: (u64, u32, u32), scenarios: Vec<Scenario>, expect: Option<&str>) {
        let mut plan = Plan { scenarios, ..Plan::default() };
        let (vus, seconds, rate) = limits;
        let limits = LoadLimits {
            vus_max: Some(vus),
            duration_max: Some(S * seconds),
            rate_max: Some(rate),
            hosts: Some(vec!["a.test".into()]),
        };
        let applied = limits.apply(&mut plan);
        match expect {
            None => {
                assert_eq!(applied, Ok(()));
                assert_eq!((plan.rps, plan.network.allowed_hosts), (Some(rate), limits.hosts));
            }
            Some(text) => {
                let error = applied.expect_err(text).to_string();
                assert!(error.contains(text), "{error}");
            }
        }
    }

    #[test]
    fn plans_within_the_limits_are_kept_to_them() {
        check((4, 10, 5), vec![rate(5, 1, 0)], None);
        check((4, 10, 5), vec![vus(4, 10, 30)], None);
        // They start one after the other.
        check((8, 20, 5), vec![rate(5, 1, 0), rate(5, 1, 10)], None);
        check((4, 10, 1), vec![rate(60, 60, 0)], None);
    }

    #[test]
    fn plans_beyond_a_limit_are_refused_by_its_name() {
        check((4, 10, 5), vec![vus(5, 10, 30)], Some("within --limit-vus 4: it needs up to 5 VUs"));
        check(
            (4, 10, 5),
            vec![vus(4, 11, 0)],
            Some("within --limit-duration 10s: it takes up to 11s; lower"),
        );
        check((4, 10, 5), vec![vus(4, 10, 31)], Some("up to 41s with gracefulStop"));
        check((4, 10, 5), vec![rate(6, 1, 0)], Some("within --limit-rate 5/s: it starts up to 6 iterations"));
        check((8, 20, 5), vec![rate(3, 1, 0), rate(3, 1, 9)], Some("--limit-rate"));
        let stages = vec![Stage { duration: S, target: 9 }, Stage { duration: S, target: 0 }];
        let ramp = Executor::RampingArrivalRate {
            start_rate: 0,
            time_unit: S,
            stages,
            pre_allocated_vus: 1,
            max_vus: 1,
        };
        check((4, 10, 5), vec![scenario(ramp, 0, 0)], Some("starts up to 9 iterations per second"));
    }

    #[test]
    fn iterations_of_any_length_end_at_the_limit() {
        let iterations = |max_duration| {
            let executor = Executor::SharedIterations { vus: 1, iterations: 1, max_duration };
            scenario(executor, 2, 30)
        };
        let limits = LoadLimits { duration_max: Some(S * 10), ..LoadLimits::default() };
        let mut plan = Plan { scenarios: vec![iterations(MAX_DURATION_DEFAULT.to_std())], ..Plan::default() };
        assert_eq!(limits.apply(&mut plan), Ok(()));
        assert_eq!(end(&plan.scenarios[0]), S * 10);
        let mut plan = Plan { scenarios: vec![iterations(S * 9)], ..Plan::default() };
        assert!(limits.apply(&mut plan).expect_err("11 s").to_string().contains("up to 11s"));
    }

    #[test]
    fn long_setups_are_refused() {
        let lifecycle = Lifecycle { setup_timeout: S * 61, ..Lifecycle::default() };
        let mut plan = Plan { scenarios: vec![vus(1, 1, 0)], lifecycle, ..Plan::default() };
        let limits = LoadLimits { duration_max: Some(S), ..LoadLimits::default() };
        assert!(limits.apply(&mut plan).expect_err("61 s").to_string().contains("setupTimeout"));
        assert_eq!(LoadLimits::default().apply(&mut plan), Ok(()));
    }

    #[test]
    fn a_lower_rate_of_the_script_stays() {
        let mut plan = Plan { rps: Some(3), ..Plan::default() };
        let limits = LoadLimits { rate_max: Some(5), ..LoadLimits::default() };
        limits.apply(&mut plan).expect("within");
        assert_eq!(plan.rps, Some(3));
    }
}
