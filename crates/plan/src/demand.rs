//! How many VUs a plan needs: in all, at once, and per scenario, in the part of the test that this process runs.

use std::collections::VecDeque;
use std::time::Duration;

use model::plan::{Executor, Plan, Scenario, Stage};

use crate::stripe::Stripe;

/// Changes of VU numbers followed one by one. A plan with more is reserved for as if every scenario needed its
/// largest number through its whole time: too many VUs at worst, never too few.
const CHANGES_MAX: u64 = 1 << 20;

/// The VUs that a plan needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VuDemand {
    /// VUs to make ready before the start: the most that are planned at once.
    pub planned_max: u64,
    /// The most VUs at once, with those that arrival rates may start on the way. k6's `maxVUs`.
    pub vus_max: u64,
    /// When the last VU is needed no more, from the start of the scenarios, graceful stops included.
    pub duration_max: Duration,
    /// Each scenario, by [`model::ScenarioId`].
    pub scenarios: Vec<ScenarioDemand>,
}

/// The VUs that one scenario needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScenarioDemand {
    /// VUs that are planned: pre-allocated ones where it has an arrival rate.
    pub planned: u64,
    /// With those that it may start on the way.
    pub vus_max: u64,
    /// When its last VU is needed no more, from the start of the scenarios.
    pub end: Duration,
}

/// From when on so many VUs are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    at: Duration,
    planned: u64,
    vus_max: u64,
}

/// The VUs that `plan` needs in its segment.
pub fn vu_demand(plan: &Plan) -> VuDemand {
    let stripe = Stripe::new(&plan.segment);
    let followed = plan.scenarios.iter().map(changes_count).fold(0, u64::saturating_add) <= CHANGES_MAX;
    let changes: Vec<Vec<Change>> =
        plan.scenarios.iter().map(|scenario| changes_of(scenario, &stripe, followed)).collect();
    let scenarios: Vec<ScenarioDemand> = changes.iter().map(|changes| demand_of(changes)).collect();
    let mut demand = VuDemand {
        duration_max: scenarios.iter().map(|it| it.end).max().unwrap_or_default(),
        scenarios,
        ..VuDemand::default()
    };
    add_up(plan, &changes, &mut demand);
    demand
}

/// Walks through all changes in order of time; at the same instant the scenario that starts first goes first, which
/// is the order in which k6 prints and counts them.
fn add_up(plan: &Plan, changes: &[Vec<Change>], demand: &mut VuDemand) {
    let mut order: Vec<usize> = (0..plan.scenarios.len()).collect();
    order.sort_by(|&a, &b| {
        let key = |index: usize| (plan.scenarios[index].start_time, &plan.scenarios[index].name);
        key(a).cmp(&key(b))
    });
    let mut all: Vec<(Change, usize)> =
        order.iter().flat_map(|&index| changes[index].iter().map(move |change| (*change, index))).collect();
    all.sort_by_key(|(change, _)| change.at);
    let mut current = vec![(0, 0); changes.len()];
    let (mut planned, mut vus) = (0, 0);
    for (change, index) in all {
        let (planned_before, vus_before) =
            std::mem::replace(&mut current[index], (change.planned, change.vus_max));
        planned = planned - planned_before + change.planned;
        vus = vus - vus_before + change.vus_max;
        demand.planned_max = demand.planned_max.max(planned);
        demand.vus_max = demand.vus_max.max(vus);
    }
}

fn demand_of(changes: &[Change]) -> ScenarioDemand {
    let end = match changes.iter().rposition(|change| change.vus_max > 0) {
        Some(last) => changes.get(last + 1).map_or(changes[last].at, |change| change.at),
        None => Duration::ZERO,
    };
    ScenarioDemand {
        planned: changes.iter().map(|change| change.planned).max().unwrap_or(0),
        vus_max: changes.iter().map(|change| change.vus_max).max().unwrap_or(0),
        end,
    }
}

fn changes_count(scenario: &Scenario) -> u64 {
    let Executor::RampingVus { start_vus, stages, .. } = &scenario.executor else { return 2 };
    let ramps = std::iter::once(*start_vus).chain(stages.iter().map(|stage| stage.target));
    let targets: Vec<u64> = ramps.collect();
    targets.windows(2).map(|pair| pair[0].abs_diff(pair[1])).fold(2, u64::saturating_add)
}

fn changes_of(scenario: &Scenario, stripe: &Stripe, followed: bool) -> Vec<Change> {
    let start = scenario.start_time;
    let flat = |planned, vus_max, length: Duration| {
        let end = start.saturating_add(length).saturating_add(scenario.graceful_stop);
        let change = |at, planned: u64, vus_max: u64| Change {
            at,
            planned: stripe.scale(planned),
            vus_max: stripe.scale(vus_max),
        };
        vec![change(start, planned, vus_max), change(end, 0, 0)]
    };
    match &scenario.executor {
        Executor::SharedIterations { vus, max_duration, .. }
        | Executor::PerVuIterations { vus, max_duration, .. } => flat(*vus, *vus, *max_duration),
        Executor::ConstantVus { vus, duration } => flat(*vus, *vus, *duration),
        Executor::ExternallyControlled { max_vus, duration, .. } => flat(*max_vus, *max_vus, *duration),
        Executor::ConstantArrivalRate { duration, pre_allocated_vus, max_vus, .. } => {
            flat(*pre_allocated_vus, *max_vus, *duration)
        }
        Executor::RampingArrivalRate { stages, pre_allocated_vus, max_vus, .. } => {
            flat(*pre_allocated_vus, *max_vus, total(stages))
        }
        Executor::RampingVus { start_vus, stages, graceful_ramp_down } if followed => {
            let wanted = ramp(*start_vus, stages, stripe);
            let length = total(stages);
            reserve(&wanted, *graceful_ramp_down, length, scenario.graceful_stop)
                .into_iter()
                .map(|(at, vus)| Change { at: start.saturating_add(at), planned: vus, vus_max: vus })
                .collect()
        }
        Executor::RampingVus { start_vus, stages, .. } => {
            let vus = stages.iter().map(|stage| stage.target).fold(*start_vus, u64::max);
            flat(vus, vus, total(stages))
        }
    }
}

fn total(stages: &[Stage]) -> Duration {
    stages.iter().fold(Duration::ZERO, |sum, stage| sum.saturating_add(stage.duration))
}

/// When a ramp wants how many VUs of this segment, in order of time. VU numbers change one by one: within a stage from
/// *a* to *b* that takes *d*, the *k*-th change is due at *kd* / |*b* − *a*|.
fn ramp(start_vus: u64, stages: &[Stage], stripe: &Stripe) -> Vec<(Duration, u64)> {
    let mut wanted = vec![(Duration::ZERO, stripe.scale(start_vus))];
    let (mut from, mut stage_start) = (start_vus, Duration::ZERO);
    for stage in stages {
        let changes = from.abs_diff(stage.target);
        // A stage without length jumps.
        let first = if stage.duration.is_zero() { changes.max(1) } else { 1 };
        for change in first..=changes {
            let whole = if stage.target > from { from + change } else { from - change };
            let part_ns = stage.duration.as_nanos() * u128::from(change) / u128::from(changes);
            let at = stage_start.saturating_add(Duration::from_nanos_u128(part_ns));
            let local = stripe.scale(whole);
            if wanted.last().is_none_or(|(_, before)| *before != local) {
                wanted.push((at, local));
            }
        }
        (from, stage_start) = (stage.target, stage_start.saturating_add(stage.duration));
    }
    wanted
}

/// When a ramp needs how many VUs, with the time that VUs get to finish their iteration.
///
/// A VU that is to stop is kept for `ramp_down`, but not beyond the end and its graceful stop. As the last VUs started
/// are the first to stop, the number needed at an instant is the largest one wanted within `ramp_down` before it.
fn reserve(
    wanted: &[(Duration, u64)],
    ramp_down: Duration,
    length: Duration,
    graceful_stop: Duration,
) -> Vec<(Duration, u64)> {
    let end = length.saturating_add(graceful_stop);
    // Numbers that still count, falling from the front to the back, each with the instant at which it is let go.
    let mut kept: VecDeque<(Duration, u64)> = VecDeque::new();
    let mut needed: Vec<(Duration, u64)> = Vec::new();
    for (index, &(at, vus)) in wanted.iter().enumerate() {
        let_go(&mut kept, at, vus, &mut needed);
        while kept.back().is_some_and(|(_, other)| *other <= vus) {
            kept.pop_back();
        }
        let until = match wanted.get(index + 1) {
            Some((next, _)) => next.saturating_add(ramp_down).min(end),
            None => end,
        };
        kept.push_back((until, vus));
        note(&mut needed, at, kept.front().map_or(0, |(_, vus)| *vus));
    }
    let_go(&mut kept, end, 0, &mut needed);
    note(&mut needed, end, 0);
    needed
}

/// Lets go of the numbers whose time is over by `now`, where `vus` are wanted at the least.
fn let_go(kept: &mut VecDeque<(Duration, u64)>, now: Duration, vus: u64, needed: &mut Vec<(Duration, u64)>) {
    while let Some(&(until, _)) = kept.front().filter(|(until, _)| *until <= now) {
        // The number that is wanted now is in the queue only after this; it holds from its own instant on.
        kept.pop_front();
        let left = kept.front().map_or(if until == now { vus } else { 0 }, |(_, vus)| *vus);
        note(needed, until, left.max(if until == now { vus } else { 0 }));
    }
}

fn note(needed: &mut Vec<(Duration, u64)>, at: Duration, vus: u64) {
    if needed.last().is_none_or(|(_, before)| *before != vus) {
        needed.push((at, vus));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::plan::{Executor, Plan, Scenario, Stage};

    use super::*;

    fn ramping(stages: &[(u64, u64)], ramp_down_s: u64, stop_s: u64) -> Plan {
        let stage =
            |&(seconds, target): &(u64, u64)| Stage { duration: Duration::from_secs(seconds), target };
        let executor = Executor::RampingVus {
            start_vus: 0,
            stages: stages.iter().map(stage).collect(),
            graceful_ramp_down: Duration::from_secs(ramp_down_s),
        };
        let scenario = Scenario {
            name: "a".into(),
            exec: "default".into(),
            executor,
            start_time: Duration::ZERO,
            graceful_stop: Duration::from_secs(stop_s),
            env: Default::default(),
            tags: Default::default(),
        };
        Plan { scenarios: vec![scenario], ..Plan::default() }
    }

    fn check(plan: &Plan, vus_max: u64, end_s: u64) {
        let demand = vu_demand(plan);
        assert_eq!((demand.vus_max, demand.planned_max), (vus_max, vus_max));
        assert_eq!(demand.duration_max, Duration::from_secs(end_s));
    }

    #[test]
    fn a_ramp_keeps_its_vus_for_the_ramp_down() {
        check(&ramping(&[(10, 10), (10, 0)], 5, 60), 10, 25);
        check(&ramping(&[(10, 10), (10, 0), (30, 0)], 90, 1), 10, 51);
        check(&ramping(&[(10, 10)], 90, 1), 10, 11);
        check(&ramping(&[(0, 7), (0, 0)], 0, 0), 7, 0);
    }

    /// Without the limit this plan would take 10^10 changes.
    #[test]
    fn a_plan_with_too_many_changes_is_reserved_for_at_its_largest() {
        let saw: Vec<(u64, u64)> =
            (0..10_000).map(|i| (1, if i % 2 == 0 { crate::VUS_MAX } else { 0 })).collect();
        check(&ramping(&saw, 0, 3), crate::VUS_MAX, 10_003);
    }
}
