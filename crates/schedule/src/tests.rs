//! Vectors and properties of all schedules.

use std::collections::BTreeMap;
use std::time::Duration;

use model::plan::{Executor, Scenario, Segment, Stage};
use model::{Instant, ScenarioId};
use proptest::prelude::*;

use crate::{Lane, Next, Quota, Schedule, quota, schedule, vus};

const START: Instant = Instant::from_ns(7_000_000_000);
const SECOND: Duration = Duration::from_secs(1);
const MS: Duration = Duration::from_millis(1);

fn scenario(executor: Executor) -> Scenario {
    Scenario {
        name: "s".into(),
        exec: "default".into(),
        executor,
        start_time: Duration::ZERO,
        graceful_stop: Duration::ZERO,
        env: BTreeMap::new(),
        tags: BTreeMap::new(),
    }
}

/// Everything a schedule says, walking from wait to wait, as offsets in milliseconds.
fn walk(schedule: &mut dyn Schedule) -> (Vec<f64>, Vec<(f64, u32)>, f64) {
    let (mut arrivals, mut vus, mut now) = (Vec::new(), Vec::new(), Instant::ZERO);
    loop {
        match schedule.next(now) {
            Next::Arrival(arrival) => {
                assert_eq!(arrival.due, now, "asked at each due time, nothing is overdue");
                arrivals.push(arrival.due.ms_since(START));
            }
            Next::Vus { at, target } => vus.push((at.ms_since(START), target)),
            Next::Wait(until) => {
                assert!(until > now, "a wait goes forward");
                now = until;
            }
            Next::Done { at } => return (arrivals, vus, at.ms_since(START)),
        }
    }
}

fn whole(executor: Executor) -> (Vec<f64>, Vec<(f64, u32)>, f64) {
    let scenario = scenario(executor);
    walk(&mut *schedule(ScenarioId(0), &scenario, &Segment::default(), Lane::ONLY, START))
}

fn check_arrivals(executor: Executor, expect: &[f64]) {
    let (arrivals, vus, _) = whole(executor);
    assert_eq!(vus, []);
    assert_eq!(arrivals, expect);
}

fn check_vus(executor: Executor, expect: &[(f64, u32)], end: f64) {
    let (arrivals, vus, done) = whole(executor);
    assert_eq!(arrivals, [] as [f64; 0]);
    assert_eq!(vus, expect);
    assert_eq!(done, end);
}

fn constant(rate: u64, time_unit: Duration, duration: Duration) -> Executor {
    Executor::ConstantArrivalRate { rate, time_unit, duration, pre_allocated_vus: 1, max_vus: 1 }
}

fn ramping(start_rate: u64, stages: &[(u64, u64)]) -> Executor {
    let stages = stages_of(stages);
    Executor::RampingArrivalRate { start_rate, time_unit: SECOND, stages, pre_allocated_vus: 1, max_vus: 1 }
}

fn ramping_vus(start_vus: u64, stages: &[(u64, u64)]) -> Executor {
    let stages = stages_of(stages);
    Executor::RampingVus { start_vus, stages, graceful_ramp_down: Duration::ZERO }
}

fn stages_of(stages: &[(u64, u64)]) -> Vec<Stage> {
    stages.iter().map(|&(ms, target)| Stage { duration: Duration::from_millis(ms), target }).collect()
}

#[test]
fn a_constant_rate_starts_at_once_and_includes_its_end() {
    let tenths: Vec<f64> = (0..=10).map(|i| f64::from(i) * 100.0).collect();
    check_arrivals(constant(10, SECOND, SECOND), &tenths);
    check_arrivals(constant(3, SECOND, SECOND), &[0.0, 333.333333, 666.666666, 1000.0]);
    check_arrivals(constant(1, SECOND * 60, SECOND), &[0.0]);
    check_arrivals(constant(0, SECOND, SECOND), &[]);
}

#[test]
fn a_ramping_rate_starts_when_the_area_is_reached() {
    let tenths: Vec<f64> = (1..=10).map(|i| f64::from(i) * 100.0).collect();
    check_arrivals(ramping(10, &[(1000, 10)]), &tenths);
    // From 0 to 4/s in 2 s: the area is t², so the n-th comes at √n seconds.
    let roots = [1000.0, 1414.213562, 1732.050808, 2000.0];
    check_arrivals(ramping(0, &[(2000, 4)]), &roots);
    // And downwards: 4t − t², so the n-th comes at 2 − √(4 − n) seconds.
    let falling = [267.949192, 585.786438, 1000.0, 2000.0];
    check_arrivals(ramping(4, &[(2000, 0)]), &falling);
    // A quarter, a jump, and the missing three quarters.
    check_arrivals(ramping(1, &[(250, 1), (0, 3), (250, 3)]), &[500.0]);
    check_arrivals(ramping(5, &[(0, 0), (1000, 0)]), &[]);
    // A pause in the middle keeps the fraction.
    check_arrivals(ramping(2, &[(750, 2), (0, 0), (1000, 0), (0, 2), (250, 2)]), &[500.0, 2000.0]);
}

#[test]
fn vus_change_one_by_one() {
    check_vus(
        ramping_vus(4, &[(2000, 6), (5000, 1)]),
        &[
            (0.0, 4),
            (1000.0, 5),
            (2000.0, 6),
            (3000.0, 5),
            (4000.0, 4),
            (5000.0, 3),
            (6000.0, 2),
            (7000.0, 1),
        ],
        7000.0,
    );
    check_vus(ramping_vus(1, &[(0, 10), (500, 10), (0, 0), (100, 0)]), &[(0.0, 10), (500.0, 0)], 600.0);
    check_vus(ramping_vus(0, &[(1000, 3)]), &[(333.333333, 1), (666.666666, 2), (1000.0, 3)], 1000.0);
    check_vus(ramping_vus(0, &[(0, u64::MAX), (0, 2), (10, 2)]), &[(0.0, 2)], 10.0);
}

#[test]
fn loops_start_together_and_end_together() {
    let expect = [(0.0, 3)];
    check_vus(Executor::ConstantVus { vus: 3, duration: SECOND }, &expect, 1000.0);
    check_vus(Executor::PerVuIterations { vus: 3, iterations: 9, max_duration: SECOND }, &expect, 1000.0);
    check_vus(Executor::SharedIterations { vus: 3, iterations: 9, max_duration: SECOND }, &expect, 1000.0);
}

#[test]
fn numbers_beyond_reason_do_not_panic() {
    let forever = Duration::from_secs(u64::MAX);
    for executor in [
        constant(u64::MAX, Duration::from_nanos(1), forever),
        constant(1, forever, forever),
        Executor::RampingArrivalRate {
            start_rate: u64::MAX,
            time_unit: forever,
            stages: vec![
                Stage { duration: forever, target: 0 },
                Stage { duration: forever, target: u64::MAX },
            ],
            pre_allocated_vus: u64::MAX,
            max_vus: 0,
        },
        Executor::RampingVus {
            start_vus: u64::MAX,
            stages: vec![
                Stage { duration: forever, target: 0 },
                Stage { duration: forever, target: u64::MAX },
            ],
            graceful_ramp_down: forever,
        },
    ] {
        let scenario = scenario(executor);
        let mut schedule = schedule(ScenarioId(0), &scenario, &Segment::default(), Lane::ONLY, START);
        for now in [START, START + SECOND, Instant::MAX] {
            schedule.next(now);
        }
    }
}

/// The parts of a test that is cut at these twelfths.
fn segments(cuts: &std::collections::BTreeSet<u64>) -> Vec<Segment> {
    let bounds: Vec<(u64, u64)> =
        std::iter::once((0, 1)).chain(cuts.iter().map(|&cut| (cut, 12))).chain([(1, 1)]).collect();
    let part = |pair: &[(u64, u64)]| Segment {
        from: pair[0],
        to: pair[1],
        sequence: bounds.clone(),
        ..Segment::default()
    };
    bounds.windows(2).map(part).collect()
}

fn any_open_executor() -> impl Strategy<Value = Executor> {
    let stages = prop::collection::vec((0..2000_u64, 0..60_u64), 1..5);
    let executor = prop_oneof![
        (1..200_u64, 1..3000_u64, 1..3000_u64).prop_map(|(rate, unit, ms)| constant(
            rate,
            Duration::from_millis(unit),
            Duration::from_millis(ms)
        )),
        (0..60_u64, stages).prop_map(|(rate, stages)| ramping(rate, &stages)),
    ];
    (executor, 1..30_u64).prop_map(|(mut executor, vus)| {
        if let Executor::ConstantArrivalRate { max_vus, .. } | Executor::RampingArrivalRate { max_vus, .. } =
            &mut executor
        {
            *max_vus = vus;
        }
        executor
    })
}

/// In thirds, as k6 v2.2 counted them: with 10 VUs the parts have 4, 3 and 3 of them.
#[test]
fn arrivals_follow_the_vus_of_a_segment() {
    let check = |rate, vus, expect: [usize; 3]| {
        let mut executor = constant(rate, SECOND, MS * 1050);
        if let Executor::ConstantArrivalRate { max_vus, .. } = &mut executor {
            *max_vus = vus;
        }
        let scenario = scenario(executor);
        let starts = |segment: &Segment| {
            walk(&mut *schedule(ScenarioId(0), &scenario, segment, Lane::ONLY, START)).0.len()
        };
        let counts: Vec<usize> = segments(&[4, 8].into()).iter().map(starts).collect();
        assert_eq!(counts, expect, "{rate}/s, {vus} VUs");
    };
    check(10, 10, [5, 3, 3]);
    check(10, 9, [4, 4, 3]);
    check(9, 10, [4, 3, 3]);
    check(10, 1, [11, 0, 0]);
}

proptest! {
    #[test]
    fn lanes_together_are_the_whole(executor in any_open_executor(), lanes in 1..5_u32) {
        let scenario = scenario(executor);
        let (expect, _, _) = walk(&mut *schedule(ScenarioId(0), &scenario, &Segment::default(), Lane::ONLY, START));
        let mut joined = Vec::new();
        for index in 0..lanes {
            let lane = Lane { index, of: lanes };
            joined.extend(walk(&mut *schedule(ScenarioId(0), &scenario, &Segment::default(), lane, START)).0);
        }
        joined.sort_by(f64::total_cmp);
        prop_assert_eq!(joined, expect);
    }

    #[test]
    fn arrivals_follow_the_area(start in 0..60_u64, stages in prop::collection::vec((1..2000_u64, 0..60_u64), 1..5)) {
        let (arrivals, _, _) = whole(ramping(start, &stages));
        // Twice the area under the curve, in iterations × milliseconds, at a time given in milliseconds.
        let doubled_area = |at: f64| {
            let (mut begin, mut from, mut area) = (0.0, start as f64, 0.0);
            for &(ms, target) in &stages {
                let (length, to) = (ms as f64, target as f64);
                let within = (at - begin).clamp(0.0, length);
                area += within * (2.0 * from + (to - from) * within / length);
                (begin, from) = (begin + length, to);
            }
            area
        };
        for (index, at) in arrivals.iter().enumerate() {
            // Beside a flat zero of the curve, a nanosecond of rounding moves the area the least.
            prop_assert!((doubled_area(*at) / 2000.0 - (index as f64 + 1.0)).abs() < 1e-4);
        }
        let total = doubled_area(f64::MAX) as u64 / 2000;
        prop_assert_eq!(arrivals.len() as u64, total);
    }

    #[test]
    fn segments_together_are_the_whole(executor in any_open_executor(), cuts in prop::collection::btree_set(1..12_u64, 0..4)) {
        let (expect, _, _) = whole(executor.clone());
        let mut joined = Vec::new();
        for segment in segments(&cuts) {
            let scenario = scenario(executor.clone());
            joined.extend(walk(&mut *schedule(ScenarioId(0), &scenario, &segment, Lane::ONLY, START)).0);
        }
        joined.sort_by(f64::total_cmp);
        prop_assert_eq!(joined, expect);
    }

    #[test]
    fn vus_of_segments_add_up(
        start in 0..40_u64,
        stages in prop::collection::vec((0..500_u64, 0..40_u64), 1..5),
        cuts in prop::collection::btree_set(1..12_u64, 0..4),
    ) {
        let scenario = scenario(ramping_vus(start, &stages));
        let (_, expect, _) = whole(scenario.executor.clone());
        let mut changes = Vec::new();
        for (part, segment) in segments(&cuts).iter().enumerate() {
            let (_, vus, _) = walk(&mut *schedule(ScenarioId(0), &scenario, segment, Lane::ONLY, START));
            changes.extend(vus.into_iter().map(|(at, target)| (at, part, target)));
        }
        changes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut now_of_part = vec![0; cuts.len() + 1];
        let mut joined: Vec<(f64, u32)> = Vec::new();
        for (at, part, target) in changes {
            now_of_part[part] = target;
            let total = now_of_part.iter().sum();
            match joined.last_mut() {
                Some(last) if last.0 == at => last.1 = total,
                _ => joined.push((at, total)),
            }
        }
        // Two parts may trade a VU at one instant, which is no change of the whole.
        joined.dedup_by_key(|change| change.1);
        prop_assert_eq!(joined, expect);
    }

    #[test]
    fn piles_of_segments_add_up(vus_whole in 1..40_u64, iterations in 0..500_u64, cuts in prop::collection::btree_set(1..12_u64, 0..4)) {
        let executor = Executor::SharedIterations { vus: vus_whole, iterations, max_duration: SECOND };
        let (mut piles, mut ready) = (0, 0);
        for segment in segments(&cuts) {
            let (vus_here, _) = vus(&executor, &segment);
            let Quota::Shared(pile) = quota(&executor, &segment) else { panic!("a pile is shared") };
            prop_assert!(vus_here > 0 || pile == 0, "iterations without a VU to run them");
            piles += pile;
            ready += u64::from(vus_here);
        }
        prop_assert_eq!((piles, ready), (iterations, vus_whole));
    }
}

/// Takes all arrivals due at `now`, one by one.
fn take_overdue(schedule: &mut dyn Schedule, now: Instant) -> u64 {
    let arrivals = std::iter::from_fn(|| matches!(schedule.next(now), Next::Arrival(_)).then_some(()));
    arrivals.count() as u64
}

#[test]
fn skipped_arrivals_are_those_that_would_have_been_taken() {
    let executors = [
        constant(1_000, SECOND, SECOND * 3),
        constant(7, SECOND * 3, SECOND * 30),
        ramping(100, &[(500, 900), (0, 20), (1_000, 20), (1_000, 0)]),
    ];
    for executor in executors {
        let scenario = scenario(executor);
        for (index, keep, at_ms) in [(0, 0, 0), (0, 0, 700), (1, 3, 700), (2, 10, 2_600), (1, 0, 90_000)] {
            let lane = Lane { index, of: 3 };
            let made = || schedule(ScenarioId(0), &scenario, &Segment::default(), lane, START);
            let now = START + MS * at_ms;
            let (mut skips, mut takes) = (made(), made());
            let first = START + MS * (at_ms / 3);
            assert_eq!(take_overdue(&mut *skips, first), take_overdue(&mut *takes, first));
            let skipped = skips.skip_overdue(now, keep);
            let (left, all) = (take_overdue(&mut *skips, now), take_overdue(&mut *takes, now));
            assert_eq!((skipped + left, left), (all, all.min(keep)), "{scenario:?} {lane:?} {at_ms}");
            assert_eq!(skips.next(now), takes.next(now), "both go on with the same arrival");
        }
    }
}

#[test]
fn any_rate_is_skipped_at_once() {
    for rate in [1_000_000_000, u64::MAX] {
        let scenario = scenario(constant(rate, SECOND, SECOND));
        let mut schedule = schedule(ScenarioId(0), &scenario, &Segment::default(), Lane::ONLY, START);
        let skipped = schedule.skip_overdue(START + SECOND * 2, 0);
        // The one due exactly at the end belongs to the schedule, and so do all that share its nanosecond.
        let expect = if rate == u64::MAX { u64::MAX } else { rate + 1 };
        assert_eq!(skipped, expect);
        assert_eq!(schedule.next(START + SECOND * 2), Next::Done { at: START + SECOND });
    }
}
