//! Events of a hub, and the run that listeners see.

use std::collections::BTreeMap;

use model::plan::{Executor, Scenario};

use super::*;
use crate::message::{LoadRow, MetricName, Names, RateCell, Series};

const AT: Instant = Instant::from_ns(10_000_000_000);

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn book(executor: Executor) -> Book {
    let scenario = Scenario {
        name: "s".into(),
        exec: "default".into(),
        executor,
        start_time: Duration::ZERO,
        graceful_stop: Duration::ZERO,
        env: BTreeMap::new(),
        tags: BTreeMap::new(),
    };
    let plan = Plan { scenarios: vec![scenario], ..Plan::default() };
    Book::new(Arc::new(plan), RunConfig::new(1))
}

fn rate(per_s: u64, seconds: u64) -> Executor {
    Executor::ConstantArrivalRate {
        rate: per_s,
        time_unit: ms(1000),
        duration: ms(seconds * 1000),
        pre_allocated_vus: 10,
        max_vus: 10,
    }
}

/// A book with two agents that have agreed to start at [`AT`].
fn started(executor: Executor) -> Book {
    let mut book = book(executor);
    for agent in 0..2 {
        book.on(AT, HubEvent::Joined { agent, name: agent.to_string(), cores: 1 });
        let part = Part::part(agent as u32, 2);
        book.on(AT, HubEvent::Armed { agent, part });
        let metrics = vec![MetricName { name: "r".into(), kind: 2, contains: 0 }];
        book.on(AT, HubEvent::Names(agent, Names { metrics, tag_sets: vec![Default::default()] }));
    }
    book.on(AT, HubEvent::Agreed { began: AT, at: AT });
    book
}

/// The window of an agent's second, with so many passes of a rate.
fn window(second: u64, passes: u64) -> WindowPart {
    let cell = crate::message::Cell::Rate(RateCell { passes, total: passes });
    let start_ns = AT.as_ns() + second * 1_000_000_000;
    WindowPart {
        start_ns,
        end_ns: start_ns + 1_000_400_000,
        is_last: true,
        series: vec![Series { metric: 0, tags: 0, cell: Some(cell) }],
        load: vec![LoadRow { scenario: 1, work: 0, started: passes, finished: passes, in_flight_ns: 0 }],
        vus: 3,
        vus_max: 5,
        ..WindowPart::default()
    }
}

/// Of each window among the effects: its second, the passes of the rate, and active VUs.
fn windows(effects: &[Effect], book_registry: &model::MetricRegistry) -> Vec<(u32, u64, f64)> {
    let rate = book_registry.find("r").map(|metric| metric.id);
    let of = |window: &Window| {
        let mut passes = 0;
        let mut vus = 0.0;
        for (key, aggregate) in &window.series {
            match aggregate {
                Aggregate::Rate(total) if Some(key.metric) == rate => passes = total.passes,
                Aggregate::Gauge(gauge) if key.metric == VUS => vus = gauge.last,
                _ => {}
            }
        }
        (window.index, passes, vus)
    };
    let window = |effect: &Effect| match effect {
        Effect::Event(RunEvent::Window(window)) => Some(of(window)),
        _ => None,
    };
    effects.iter().filter_map(window).collect()
}

#[test]
fn a_second_waits_for_every_agent_that_is_heard() {
    let mut book = started(rate(10, 5));
    let registry = book.config.registry.clone();
    let now = AT + ms(1_050);
    let effects = book.on(now, HubEvent::Window(0, window(0, 7)));
    assert_eq!(windows(&effects, &registry), [], "the other agent's is missing");
    let effects = book.on(now, HubEvent::Window(1, window(0, 5)));
    assert_eq!(windows(&effects, &registry), [(0, 12, 6.0)]);
    // One is late: the next second is closed without it, and has the rest of the first in the one after.
    book.on(AT + ms(2_050), HubEvent::Window(0, window(1, 1)));
    let effects = book.tick(AT + ms(2_000) + PATIENCE);
    assert_eq!(windows(&effects, &registry), [(1, 1, 3.0)]);
    book.on(AT + ms(5_050), HubEvent::Window(1, window(1, 2)));
    let effects = book.tick(AT + ms(3_000) + PATIENCE);
    assert_eq!(windows(&effects, &registry), [(2, 2, 3.0)]);
    // A suspect is not waited for.
    book.on(AT + ms(6_000), HubEvent::Suspect(1));
    let effects = book.on(AT + ms(6_000), HubEvent::Window(0, window(3, 4)));
    assert_eq!(windows(&effects, &registry), [(3, 4, 3.0)]);
}

#[test]
fn iterations_of_a_lost_agent_are_dropped_once() {
    let missing = |executor: Executor, handed_over: u64| {
        let mut book = started(executor);
        for second in 0..handed_over {
            book.on(AT + ms(1_050 + 1_000 * second), HubEvent::Window(1, window(second, 5)));
        }
        book.on(AT + ms(20_000), HubEvent::Lost { agent: 1, why: "gone".into(), is_rebalanced: false });
        book.on(AT + ms(20_000), HubEvent::Ended(0, Box::default()));
        book.on(AT + ms(20_000), HubEvent::ScenariosEnded(AT + ms(20_000)));
        let end = HubEnd { ended: Some(AT + ms(20_000)), ..HubEnd::default() };
        let (outcome, _) = book.finish(AT + ms(20_100), end);
        let counted = outcome.totals.aggregate(DROPPED_ITERATIONS).map_or(0.0, |aggregate| match aggregate {
            Aggregate::Counter(counter) => counter.sum.value(),
            _ => f64::NAN,
        });
        assert_eq!((outcome.drops[0].agent_lost as f64, outcome.agents_lost), (counted, 1));
        outcome.drops[0].agent_lost
    };
    // 10/s for 5 s are 51 iterations; the second of two agents has every other one: 25.
    assert_eq!(missing(rate(10, 5), 0), 25);
    assert_eq!(missing(rate(10, 5), 2), 15);
    assert_eq!(missing(rate(10, 5), 5), 0, "it had sent everything");
    let each = Executor::PerVuIterations { vus: 4, iterations: 10, max_duration: ms(5_000) };
    assert_eq!(missing(each, 2), 10, "20 for two VUs, less 2 × 5");
    let shared = Executor::SharedIterations { vus: 4, iterations: 30, max_duration: ms(5_000) };
    assert_eq!(missing(shared, 1), 25, "all 30 that no window shows");
    let loops = Executor::ConstantVus { vus: 4, duration: ms(5_000) };
    assert_eq!(missing(loops, 1), 0, "a loop has no number");
}

/// Iterations between the last window of a lost agent and the instant from which others continue are missing, and no others.
#[test]
fn a_load_that_others_continue_is_missing_in_between() {
    let missing = |executor: Executor| {
        let mut book = started(executor);
        book.on(AT + ms(1_050), HubEvent::Window(1, window(0, 5)));
        book.on(AT + ms(2_000), HubEvent::Lost { agent: 1, why: "gone".into(), is_rebalanced: true });
        for (agent, index) in [(2, 0), (3, 1)] {
            book.on(AT + ms(2_100), HubEvent::Joined { agent, name: agent.to_string(), cores: 1 });
            let part = Part { is_continued: true, ..Part::part(1, 2).split(index, 2) };
            book.on(AT + ms(2_100), HubEvent::Armed { agent, part });
            let from = AT + ms(3_000 + 1_000 * u64::from(index));
            book.on(AT + ms(2_100), HubEvent::TookOver { agent, of: 1, part, from });
        }
        for agent in [0, 2, 3] {
            book.on(AT + ms(6_000), HubEvent::Ended(agent, Box::default()));
        }
        book.on(AT + ms(6_000), HubEvent::ScenariosEnded(AT + ms(6_000)));
        let end = HubEnd { ended: Some(AT + ms(6_000)), ..HubEnd::default() };
        let (outcome, _) = book.finish(AT + ms(6_100), end);
        assert_eq!(outcome.agents_lost, 1);
        outcome.drops[0].agent_lost
    };
    // The second agent's iterations are 1, 3, …, 49, each 100 ms; it handed over five. The shares continue with 33, 37, … from 3 s
    // and with 43, 47 from 4 s on: of the twenty that were left, five and two.
    assert_eq!(missing(rate(10, 5)), 13);
    let each = Executor::PerVuIterations { vus: 4, iterations: 10, max_duration: ms(5_000) };
    assert_eq!(missing(each), 15, "no agent continues iterations that have a number");
}

#[test]
fn the_wait_between_setup_and_start_is_in_no_rate() {
    let mut book = book(rate(10, 1));
    book.on(AT, HubEvent::Joined { agent: 0, name: "a".into(), cores: 1 });
    book.on(AT, HubEvent::SetupStarted(0));
    book.on(AT + ms(300), HubEvent::SetupEnded(AT + ms(300)));
    book.on(AT + ms(300), HubEvent::Agreed { began: AT, at: AT + ms(2_000) });
    let end = HubEnd { ended: Some(AT + ms(3_500)), ..HubEnd::default() };
    let (outcome, effects) = book.finish(AT + ms(3_600), end);
    assert_eq!(outcome.elapsed, ms(300 + 1_500));
    let ends: Vec<Instant> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Event(RunEvent::Window(window)) => Some(window.end),
            _ => None,
        })
        .collect();
    assert_eq!(ends, [AT + ms(1_000), AT + ms(2_000), AT + ms(3_000), AT + ms(3_500)]);
}

#[test]
fn frames_that_make_no_sense_end_the_run() {
    let mut book = started(rate(10, 5));
    let mut part = window(0, 1);
    part.series[0].metric = 9;
    let effects = book.on(AT, HubEvent::Window(0, part));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Stop(AbortReason::Listener(_)))));
}
