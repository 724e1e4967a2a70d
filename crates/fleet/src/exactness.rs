//! The parts of a test are the test: for any plan and any number of agents, the union of their starts is one machine's.

use std::collections::BTreeMap;
use std::time::Duration;

use ::plan::Stripe;
use model::plan::{self, Executor, Scenario, Stage};
use model::{Arrival, Instant, ScenarioId};
use proptest::prelude::*;
use schedule::{Lane, Next, Quota};

use crate::message::Segment;
use crate::part_of;

const START: Instant = Instant::from_ns(3_000_000_000);

fn any_executor() -> impl Strategy<Value = Executor> {
    let ms = Duration::from_millis;
    let stages = prop::collection::vec((0..1500_u64, 0..60_u64), 1..4);
    let stages = stages.prop_map(move |stages| {
        stages.into_iter().map(|(length, target)| Stage { duration: ms(length), target }).collect::<Vec<_>>()
    });
    (0..7_u8, 1..120_u64, 0..400_u64, 1..2500_u64, stages).prop_map(
        move |(kind, vus, iterations, length, stages)| {
            let duration = ms(length);
            match kind {
                0 => Executor::SharedIterations { vus, iterations, max_duration: duration },
                1 => Executor::PerVuIterations { vus, iterations, max_duration: duration },
                2 => Executor::ConstantVus { vus, duration },
                3 => Executor::RampingVus { start_vus: vus, stages, graceful_ramp_down: Duration::ZERO },
                4 => Executor::ExternallyControlled { vus, max_vus: vus, duration },
                5 => Executor::ConstantArrivalRate {
                    rate: iterations,
                    time_unit: ms(1000),
                    duration,
                    pre_allocated_vus: vus,
                    max_vus: vus,
                },
                _ => Executor::RampingArrivalRate {
                    start_rate: iterations,
                    time_unit: ms(1000),
                    stages,
                    pre_allocated_vus: vus,
                    max_vus: vus,
                },
            }
        },
    )
}

/// Everything that a part starts.
#[derive(Debug, Default, PartialEq)]
struct Starts {
    /// Arrivals in order of their numbers.
    arrivals: Vec<(u64, Instant)>,
    /// Looping VUs from each instant on, of the whole test.
    vus: BTreeMap<Instant, u64>,
    /// Numbers of VUs in the test.
    vu_ids: Vec<u64>,
    /// Numbers of iterations that VUs share.
    shared: Vec<u64>,
    /// VUs that may be added while it runs.
    spare: u64,
}

fn starts(scenario: &Scenario, segment: &plan::Segment) -> Starts {
    let mut schedule = schedule::schedule(ScenarioId(0), scenario, segment, Lane::ONLY, START);
    let mut starts = Starts::default();
    let mut now = Instant::ZERO;
    loop {
        match schedule.next(now) {
            Next::Arrival(Arrival { iteration, due, .. }) => starts.arrivals.push((iteration, due)),
            Next::Vus { at, target } => drop(starts.vus.insert(at, target.into())),
            Next::Wait(until) => now = until,
            Next::Done { .. } => break,
        }
    }
    let (vus, spare) = schedule::vus(&scenario.executor, segment);
    let stripe = Stripe::new(segment);
    starts.vu_ids = (0..u64::from(vus)).map(|number| stripe.global_index(number) + 1).collect();
    starts.spare = spare.into();
    if let Quota::Shared(count) = schedule::quota(&scenario.executor, segment) {
        let stripe = schedule::iteration_stripe(&scenario.executor, segment);
        starts.shared = (0..count).map(|number| stripe.global_index(number)).collect();
    }
    starts
}

/// The starts of all parts as those of one machine.
fn union(parts: Vec<Starts>) -> Starts {
    let mut all = Starts::default();
    let mut changes: BTreeMap<Instant, Vec<(usize, u64)>> = BTreeMap::new();
    let count = parts.len();
    for (number, part) in parts.into_iter().enumerate() {
        all.arrivals.extend(part.arrivals);
        all.vu_ids.extend(part.vu_ids);
        all.shared.extend(part.shared);
        all.spare += part.spare;
        for (at, vus) in part.vus {
            changes.entry(at).or_default().push((number, vus));
        }
    }
    all.arrivals.sort_unstable();
    all.vu_ids.sort_unstable();
    all.shared.sort_unstable();
    let mut now = vec![0; count];
    for (at, changes) in changes {
        changes.into_iter().for_each(|(number, vus)| now[number] = vus);
        all.vus.insert(at, now.iter().sum());
    }
    all
}

/// Leaves out instants at which nothing changes: two parts may trade a VU.
fn changes(vus: &BTreeMap<Instant, u64>) -> Vec<(Instant, u64)> {
    let mut changes: Vec<(Instant, u64)> = vus.iter().map(|(at, vus)| (*at, *vus)).collect();
    changes.dedup_by_key(|change| change.1);
    changes
}

proptest! {
    #[test]
    fn the_union_of_all_starts_is_one_machines(executor in any_executor(), agents in 1..=50_u32) {
        let scenario = Scenario {
            name: "s".into(),
            exec: "default".into(),
            executor,
            start_time: Duration::ZERO,
            graceful_stop: Duration::ZERO,
            env: BTreeMap::new(),
            tags: BTreeMap::new(),
        };
        let one = starts(&scenario, &plan::Segment::default());
        let all = union((0..agents).map(|index| starts(&scenario, &part_of(Segment::part(index, agents)))).collect());
        prop_assert_eq!(&all.arrivals, &one.arrivals);
        prop_assert_eq!(&all.vu_ids, &one.vu_ids);
        prop_assert_eq!(&all.shared, &one.shared);
        prop_assert_eq!(all.spare, one.spare);
        prop_assert_eq!(changes(&all.vus), changes(&one.vus));
    }
}
