//! The lines that k6 prints at the start: one for the whole, one for each scenario.

use std::time::Duration;

use model::plan::{ENDLESS, Executor, Plan, Scenario, Stage};

use crate::stripe::Stripe;
use crate::{GoDuration, vu_demand};

/// `1 scenario, 10 max VUs, 1m0s max duration (incl. graceful stop):`, with this process's share in front.
pub fn describe_header(plan: &Plan) -> String {
    let demand = vu_demand(plan);
    let count = plan.scenarios.len();
    let plural = if count == 1 { "" } else { "s" };
    let ((from, from_unit), (to, to_unit)) = (plan.segment.from, plan.segment.to);
    let share = to as f64 / to_unit as f64 - from as f64 / from_unit as f64;
    let length = match demand.duration_max {
        endless if endless >= ENDLESS => "no".to_owned(),
        longest => GoDuration::from(longest).to_string(),
    };
    format!(
        "({:.2}%) {count} scenario{plural}, {} max VUs, {length} max duration (incl. graceful stop):",
        share * 100.0,
        demand.vus_max,
    )
}

/// A line for each scenario, by start time and name: `default: 10 looping VUs for 30s (gracefulStop: 30s)`.
pub fn describe_scenarios(plan: &Plan) -> Vec<String> {
    let mut scenarios: Vec<&Scenario> = plan.scenarios.iter().collect();
    scenarios.sort_by(|a, b| (a.start_time, &a.name).cmp(&(b.start_time, &b.name)));
    scenarios
        .iter()
        .map(|scenario| format!("{}: {}", scenario.name, describe_scenario(plan, scenario)))
        .collect()
}

/// Describes one scenario in this process: `10 looping VUs for 30s (gracefulStop: 30s)`.
pub fn describe_scenario(plan: &Plan, scenario: &Scenario) -> String {
    let stripe = Stripe::new(&plan.segment);
    let (what, mut notes) = describe_executor(plan, &scenario.executor, &stripe);
    if scenario.exec.as_ref() != "default" {
        notes.push(format!("exec: {}", scenario.exec));
    }
    if !scenario.start_time.is_zero() {
        notes.push(format!("startTime: {}", go(scenario.start_time)));
    }
    if !scenario.graceful_stop.is_zero() {
        notes.push(format!("gracefulStop: {}", go(scenario.graceful_stop)));
    }
    if notes.is_empty() { what } else { format!("{what} ({})", notes.join(", ")) }
}

fn describe_executor(plan: &Plan, executor: &Executor, stripe: &Stripe) -> (String, Vec<String>) {
    let scale = |count: u64| stripe.scale(count);
    match executor {
        Executor::SharedIterations { vus, iterations, max_duration } => {
            let share = Stripe::over_vus(&plan.segment, *vus).local_count(*iterations);
            let what = format!("{share} iterations shared among {} VUs", scale(*vus));
            (what, vec![format!("maxDuration: {}", go(*max_duration))])
        }
        Executor::PerVuIterations { vus, iterations, max_duration } => {
            let what = format!("{iterations} iterations for each of {} VUs", scale(*vus));
            (what, vec![format!("maxDuration: {}", go(*max_duration))])
        }
        Executor::ConstantVus { vus, duration } => {
            (format!("{} looping VUs for {}", scale(*vus), go(*duration)), Vec::new())
        }
        Executor::ExternallyControlled { vus, max_vus, duration } => {
            let until = match *duration {
                ENDLESS => "until the test is stopped".to_owned(),
                duration => format!("for {}", go(duration)),
            };
            let (from, to) = (scale(*vus), scale(*max_vus));
            (format!("{from} of up to {to} looping VUs, changed from outside, {until}"), Vec::new())
        }
        Executor::RampingVus { start_vus, stages, graceful_ramp_down } => {
            let vus_max = stages.iter().map(|stage| stage.target).fold(*start_vus, u64::max);
            let what = format!("Up to {} looping VUs for {}", scale(vus_max), over_stages(stages));
            (what, vec![format!("gracefulRampDown: {}", go(*graceful_ramp_down))])
        }
        Executor::ConstantArrivalRate { rate, time_unit, duration, pre_allocated_vus, max_vus } => {
            let rate = rate_per_second(plan, *rate, *time_unit);
            let what = format!("{rate:.2} iterations/s for {}", go(*duration));
            (what, vec![vu_range(scale(*pre_allocated_vus), scale(*max_vus))])
        }
        Executor::RampingArrivalRate { start_rate, time_unit, stages, pre_allocated_vus, max_vus } => {
            let rate_max = stages.iter().map(|stage| stage.target).fold(*start_rate, u64::max);
            let rate = rate_per_second(plan, rate_max, *time_unit);
            let what = format!("Up to {rate:.2} iterations/s for {}", over_stages(stages));
            (what, vec![vu_range(scale(*pre_allocated_vus), scale(*max_vus))])
        }
    }
}

fn over_stages(stages: &[Stage]) -> String {
    let total = stages.iter().fold(Duration::ZERO, |sum, stage| sum.saturating_add(stage.duration));
    format!("{} over {} stages", go(total), stages.len())
}

/// k6 prints arrival rates of a segment by its length and not by its stripe.
fn rate_per_second(plan: &Plan, rate: u64, time_unit: Duration) -> f64 {
    let ((from, from_unit), (to, to_unit)) = (plan.segment.from, plan.segment.to);
    let share = to as f64 / to_unit as f64 - from as f64 / from_unit as f64;
    rate as f64 * share / time_unit.as_secs_f64()
}

fn vu_range(pre_allocated: u64, max: u64) -> String {
    if pre_allocated == max { format!("maxVUs: {max}") } else { format!("maxVUs: {pre_allocated}-{max}") }
}

fn go(duration: Duration) -> GoDuration {
    GoDuration::from(duration)
}
