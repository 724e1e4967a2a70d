//! The offered load of a stored run, from its options.

use std::time::Duration;

use analysis::compare::PlannedLoad;
use model::Scenario;
use model::plan::{Compat, Executor, Segment, Stage};
use plan::{Options, ResolveContext, resolve};
use runfile::Header;
use serde_json::Value;

/// The load that a run's scenarios plan. Times are seconds from the start of the scenarios.
pub struct Offered {
    scenarios: Vec<Scenario>,
    segment: Segment,
}

impl Offered {
    /// Reads the options of a run; `None` if they cannot be parsed, for example because a secret in them is masked.
    pub fn from_header(header: &Header) -> Option<Offered> {
        let options: Value = serde_json::from_str(&header.options_json).ok()?;
        let scenarios = serde_json::json!({ "scenarios": options.get("scenarios")? });
        let (options, _) = Options::from_script_json(&scenarios.to_string()).ok()?;
        let context = ResolveContext { exports: None, compat: Compat::Honest, once: false, user_agent: None };
        let (plan, _) = resolve(options, &context).ok()?;
        Some(Offered { scenarios: plan.scenarios, segment: segment(&header.segment)? })
    }

    /// Returns the load of a plan.
    pub fn of_plan(plan: &model::Plan) -> Offered {
        Offered { scenarios: plan.scenarios.clone(), segment: plan.segment.clone() }
    }

    /// Returns the load over time: a text that identifies it, the starts of its stages, and whether it varies.
    pub fn planned_load(&self) -> PlannedLoad {
        let mut text = String::new();
        let mut stages = Vec::new();
        for scenario in &self.scenarios {
            let start_s = scenario.start_time.as_secs_f64();
            text += &format!("{start_s} s: {}\n", load_text(&scenario.executor));
            stages.push(start_s.round() as usize);
            stages.extend(stage_ends(&scenario.executor).map(|end_s| (start_s + end_s).round() as usize));
        }
        text += &format!("{:?}", self.segment);
        let first_start = self.scenarios.first().map(|scenario| scenario.start_time);
        let is_constant = self
            .scenarios
            .iter()
            .all(|scenario| Some(scenario.start_time) == first_start && !varies(&scenario.executor));
        stages.sort_unstable();
        stages.dedup();
        PlannedLoad { text, stages, is_constant }
    }

    /// Returns the planned length of the scenarios, seconds; `None` if one of them ends with its last iteration.
    pub fn planned_s(&self) -> Option<f64> {
        let ends = self.scenarios.iter().map(|scenario| match scenario.executor {
            Executor::SharedIterations { .. } | Executor::PerVuIterations { .. } => None,
            _ => Some((scenario.start_time + schedule::duration(&scenario.executor)).as_secs_f64()),
        });
        ends.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
    }

    /// Returns the number of VUs if they are the load, which means that every scenario's executor is closed.
    pub fn closed_vus(&self) -> Option<u64> {
        let vus = self.scenarios.iter().map(|scenario| {
            let vus = || u64::from(schedule::vus(&scenario.executor, &self.segment).0);
            (!scenario.executor.is_open()).then(vus)
        });
        vus.sum()
    }

    /// Returns true if all scenarios have an arrival-rate executor.
    pub fn is_open(&self) -> bool {
        self.scenarios.iter().all(|scenario| scenario.executor.is_open())
    }

    /// Returns the names of the scenarios.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.scenarios.iter().map(|scenario| &*scenario.name)
    }

    /// Returns the iterations due between two times; `None` if a scenario has no planned rate.
    pub fn due_between(&self, from_s: f64, to_s: f64) -> Option<f64> {
        let due = |scenario: &Scenario| Some(due_until(scenario, to_s)? - due_until(scenario, from_s)?);
        let all = self.scenarios.iter().map(due).sum::<Option<f64>>()?;
        Some(all * (share(self.segment.to) - share(self.segment.from)))
    }
}

/// The stages of an executor, and its load before them.
fn stages(executor: &Executor) -> Option<(u64, &[Stage])> {
    match executor {
        Executor::RampingVus { start_vus, stages, .. } => Some((*start_vus, stages)),
        Executor::RampingArrivalRate { start_rate, stages, .. } => Some((*start_rate, stages)),
        _ => None,
    }
}

/// The ends of the stages of an executor, seconds from its start.
fn stage_ends(executor: &Executor) -> impl Iterator<Item = f64> {
    let mut end_s = 0.0;
    let stages = stages(executor).map_or([].as_slice(), |(_, stages)| stages);
    stages.iter().map(move |stage| {
        end_s += stage.duration.as_secs_f64();
        end_s
    })
}

fn varies(executor: &Executor) -> bool {
    stages(executor).is_some_and(|(start, stages)| {
        let mut held = stages.iter().filter(|stage| stage.duration > Duration::ZERO);
        // A first stage without a duration sets the load at once.
        let sudden = stages.iter().take_while(|stage| stage.duration == Duration::ZERO).last();
        let from = sudden.map_or(start, |stage| stage.target);
        held.any(|stage| stage.target != from)
    })
}

/// The load that an executor plans, without the VUs that it may use for it.
fn load_text(executor: &Executor) -> String {
    match executor {
        Executor::SharedIterations { vus, iterations, .. } => format!("{vus} VUs share {iterations}"),
        Executor::PerVuIterations { vus, iterations, .. } => format!("{vus} VUs, {iterations} each"),
        Executor::ExternallyControlled { vus, duration, .. } => {
            format!("{vus} VUs at first, for {duration:?}, changed from outside")
        }
        Executor::ConstantVus { vus, duration } => format!("{vus} VUs for {duration:?}"),
        Executor::RampingVus { start_vus, stages, .. } => format!("VUs from {start_vus} {stages:?}"),
        Executor::ConstantArrivalRate { rate, time_unit, duration, .. } => {
            format!("{rate} per {time_unit:?} for {duration:?}")
        }
        Executor::RampingArrivalRate { start_rate, time_unit, stages, .. } => {
            format!("from {start_rate} per {time_unit:?} {stages:?}")
        }
    }
}

fn share((over, under): (u64, u64)) -> f64 {
    over as f64 / under as f64
}

fn segment(text: &str) -> Option<Segment> {
    if text.is_empty() {
        return Some(Segment::default());
    }
    let (from, to) = plan::parse_segment(text).ok()?;
    Some(Segment { from, to, ..Segment::default() })
}

/// Returns the iterations of an open scenario that are due until a time.
fn due_until(scenario: &Scenario, at_s: f64) -> Option<f64> {
    let at_s = (at_s - scenario.start_time.as_secs_f64()).max(0.0);
    match &scenario.executor {
        Executor::ConstantArrivalRate { rate, time_unit, duration, .. } => {
            Some(*rate as f64 * at_s.min(duration.as_secs_f64()) / time_unit.as_secs_f64())
        }
        Executor::RampingArrivalRate { start_rate, time_unit, stages, .. } => {
            Some(area(*start_rate, stages, at_s) / time_unit.as_secs_f64())
        }
        _ => None,
    }
}

/// Integrates a rate that changes linearly from stage to stage, until a time.
fn area(start_rate: u64, stages: &[Stage], at_s: f64) -> f64 {
    let (mut from, mut left_s, mut area) = (start_rate as f64, at_s, 0.0);
    for Stage { duration, target } in stages {
        let (length_s, to) = (duration.as_secs_f64(), *target as f64);
        let part_s = left_s.min(length_s);
        let reached = if *duration > Duration::ZERO { from + (to - from) * part_s / length_s } else { to };
        area += part_s * (from + reached) / 2.0;
        left_s -= part_s;
        from = to;
    }
    area
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(scenarios: &str, segment: &str) -> Option<Offered> {
        let header = Header {
            options_json: format!(r#"{{"scenarios":{scenarios},"vus":null}}"#),
            segment: segment.to_owned(),
            ..Header::default()
        };
        Offered::from_header(&header)
    }

    const CONSTANT: &str = r#"{"a":{"executor":"constant-arrival-rate","startTime":"5s","gracefulStop":null,"env":null,
        "exec":null,"tags":null,"rate":60,"timeUnit":"2s","duration":"10s","preAllocatedVUs":1,"maxVUs":null}}"#;
    const RAMPING: &str = r#"{"a":{"executor":"ramping-arrival-rate","startRate":10,"timeUnit":"1s","preAllocatedVUs":1,
        "stages":[{"duration":"10s","target":20},{"duration":"0s","target":40},{"duration":"10s","target":40}]}}"#;
    const VUS: &str = r#"{"a":{"executor":"constant-vus","vus":7,"duration":"1m"}}"#;
    const SHARED: &str = r#"{"a":{"executor":"shared-iterations","vus":3,"iterations":9}}"#;

    #[track_caller]
    fn check(scenarios: &str, segment: &str, (from_s, to_s): (f64, f64), expect: Option<f64>) {
        let due = offered(scenarios, segment).expect("scenarios").due_between(from_s, to_s);
        let same = match (due, expect) {
            (Some(due), Some(expect)) => (due - expect).abs() < 1e-9,
            (due, expect) => due == expect,
        };
        assert!(same, "{scenarios} {from_s}..{to_s}: {due:?} instead of {expect:?}");
    }

    #[test]
    fn iterations_are_due_by_plan() {
        check(CONSTANT, "", (0.0, 5.0), Some(0.0));
        check(CONSTANT, "", (5.0, 6.0), Some(30.0));
        check(CONSTANT, "", (14.5, 16.0), Some(15.0));
        check(CONSTANT, "0:1/3", (5.0, 6.0), Some(10.0));
        check(RAMPING, "", (0.0, 10.0), Some(150.0));
        check(RAMPING, "", (5.0, 6.0), Some(15.5));
        check(RAMPING, "", (10.0, 11.0), Some(40.0));
        check(RAMPING, "", (20.0, 30.0), Some(0.0));
        check(VUS, "", (0.0, 1.0), None);
    }

    #[test]
    fn loads_are_compared_over_time() {
        let plan = |text: &str| offered(text, "").expect("scenarios").planned_load();
        assert!(plan(CONSTANT).is_constant && plan(VUS).is_constant);
        assert_eq!((plan(RAMPING).stages, plan(RAMPING).is_constant), (vec![0, 10, 20], false));
        let more_vus = RAMPING.replace("\"preAllocatedVUs\":1", "\"preAllocatedVUs\":50");
        assert_eq!(plan(RAMPING), plan(&more_vus), "VUs are no load where iterations have a rate");
        assert_ne!(plan(RAMPING).text, plan(&RAMPING.replace("20}", "21}")).text);
    }

    #[test]
    fn ends_and_vus_are_those_of_the_plan() {
        let facts = |text| offered(text, "").map(|offered| (offered.planned_s(), offered.closed_vus()));
        assert_eq!(facts(CONSTANT), Some((Some(15.0), None)));
        assert_eq!(facts(VUS), Some((Some(60.0), Some(7))));
        assert_eq!(facts(SHARED), Some((None, Some(3))));
        assert_eq!(facts("7"), None);
    }
}
