//! Each executor: how many iterations, when, on which VUs.

use super::*;

fn constant_rate(rate: u64, ms: u32, vus: u64, max_vus: u64) -> Executor {
    let (time_unit, duration) = (Duration::from_secs(1), MS * ms);
    Executor::ConstantArrivalRate { rate, time_unit, duration, pre_allocated_vus: vus, max_vus }
}

#[test]
fn shared_iterations_are_each_run_once() {
    let indexes = Arc::new(Mutex::new(Vec::new()));
    let seen = indexes.clone();
    let script = Script::new(move |_, call| {
        seen.lock().unwrap().push(call.iteration_in_test);
        sleep(MS)
    });
    let ran = run_one(Executor::SharedIterations { vus: 3, iterations: 50, max_duration: MS * 5000 }, script);
    assert_eq!((ran.iterations(), ran.dropped()), (50, 0));
    let mut indexes = indexes.lock().unwrap().clone();
    indexes.sort_unstable();
    assert_eq!(indexes, (0..50).collect::<Vec<u64>>());
    assert!(ran.outcome.elapsed < MS * 1000, "it ends with its last iteration");
}

#[test]
fn per_vu_iterations_count_by_vu() {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let seen = calls.clone();
    let script = Script::new(move |seat, call| {
        assert_eq!(call.vu_iteration, call.iteration_in_scenario);
        assert_eq!(call.first_in_activation, call.vu_iteration == 0);
        seen.lock().unwrap().push((seat.vu_id, call.vu_iteration));
        IterationEnd::Completed
    });
    let ran = run_one(Executor::PerVuIterations { vus: 3, iterations: 2, max_duration: MS * 5000 }, script);
    assert_eq!(ran.iterations(), 6);
    let mut calls = calls.lock().unwrap().clone();
    calls.sort_unstable();
    assert_eq!(calls, [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1)]);
}

#[test]
fn iterations_without_time_are_dropped() {
    let shared = Executor::SharedIterations { vus: 2, iterations: 9, max_duration: MS * 150 };
    let ran = run_one(shared, Script::sleeping(100));
    assert_eq!((ran.iterations(), ran.dropped()), (4, 5));
    assert_eq!(ran.outcome.drops, [DropCounts { time_up: 5, ..Default::default() }]);

    let per_vu = Executor::PerVuIterations { vus: 2, iterations: 9, max_duration: MS * 150 };
    let ran = run_one(per_vu, Script::sleeping(100));
    assert_eq!((ran.iterations(), ran.dropped()), (4, 14));
}

#[test]
fn constant_vus_loop_until_the_end_and_finish_in_grace() {
    let ran = run_one(Executor::ConstantVus { vus: 4, duration: MS * 250 }, Script::sleeping(100));
    assert_eq!((ran.iterations(), ran.interrupted()), (12, 0));
    assert_eq!(ran.trend(ITERATION_DURATION).values.count(), 12);
}

#[test]
fn grace_ends_too() {
    let mut scenario = scenario("s", Executor::ConstantVus { vus: 2, duration: MS * 100 });
    scenario.graceful_stop = MS * 50;
    let ran = run_plan(1, plan(vec![scenario]), Script::sleeping(60_000));
    assert_eq!((ran.iterations(), ran.interrupted()), (0, 2));
    assert!(ran.outcome.elapsed < MS * 1000, "took {:?}", ran.outcome.elapsed);
}

#[test]
fn ramping_vus_come_and_go() {
    let stage = |ms, target| Stage { duration: MS * ms, target };
    let executor = Executor::RampingVus {
        start_vus: 1,
        stages: vec![stage(200, 1), stage(0, 3), stage(200, 3), stage(0, 0), stage(100, 0)],
        graceful_ramp_down: MS * 30,
    };
    let seen = Arc::new(Mutex::new(BTreeMap::new()));
    let counts = seen.clone();
    let script = Script::new(move |seat, _| {
        *counts.lock().unwrap().entry(seat.vu_id).or_insert(0) += 1;
        sleep(MS * 150)
    });
    let ran = run_one(executor, script);
    // VU 1 starts at 0, 150, 300; the others at 200 and 350; of those running at 400 all last longer than 430.
    assert_eq!(*seen.lock().unwrap(), BTreeMap::from([(1, 3), (2, 2), (3, 2)]));
    assert_eq!((ran.iterations(), ran.interrupted()), (4, 3));
    assert!(ran.outcome.elapsed < MS * 700, "took {:?}", ran.outcome.elapsed);
}

#[test]
fn a_vu_wanted_again_in_its_grace_goes_on() {
    let stage = |ms, target| Stage { duration: MS * ms, target };
    let executor = Executor::RampingVus {
        start_vus: 1,
        stages: vec![stage(100, 1), stage(0, 0), stage(20, 0), stage(0, 1), stage(280, 1)],
        graceful_ramp_down: MS * 100,
    };
    let ran = run_one(executor, Script::sleeping(300));
    assert_eq!((ran.iterations(), ran.interrupted()), (2, 0));
}

#[test]
fn a_constant_rate_starts_eleven_in_a_second() {
    let ran = run_one(constant_rate(10, 1000, 2, 2), Script::sleeping(10));
    assert_eq!((ran.iterations(), ran.dropped()), (11, 0));
    assert_eq!(ran.trend(ITERATION_LATENESS).values.count(), 11);
    assert_eq!(ran.trend(ITERATION_RESPONSE_TIME).values.count(), 11);
}

#[test]
fn an_arrival_at_the_end_without_grace_is_interrupted() {
    let mut scenario = scenario("s", constant_rate(10, 300, 2, 2));
    scenario.graceful_stop = Duration::ZERO;
    let ran = run_plan(2, plan(vec![scenario]), Script::sleeping(10));
    assert_eq!((ran.iterations(), ran.dropped(), ran.interrupted()), (3, 0, 1));
}

#[test]
fn a_ramping_rate_starts_ten_in_a_second() {
    let ran = run_one(
        Executor::RampingArrivalRate {
            start_rate: 10,
            time_unit: Duration::from_secs(1),
            stages: vec![Stage { duration: MS * 1000, target: 10 }],
            pre_allocated_vus: 2,
            max_vus: 2,
        },
        Script::sleeping(10),
    );
    assert_eq!((ran.iterations(), ran.dropped()), (10, 0));
}

#[test]
fn busy_vus_drop_arrivals_and_say_why() {
    // Ten VUs take the first ten; they are busy until after the end.
    let ran = run_one(constant_rate(100, 500, 10, 10), Script::sleeping(700));
    assert_eq!((ran.iterations(), ran.dropped()), (10, 41));
    assert_eq!(ran.outcome.drops, [DropCounts { vus_exhausted: 41, ..Default::default() }]);
    let failures = ran.trend(ITERATION_RESPONSE_TIME).failures.as_ref().expect("drops are kept");
    assert_eq!(failures.dropped, 41);
    assert!(ran.logged("maxVUs"));
}

#[test]
fn vus_are_added_up_to_the_limit() {
    let ran = run_one(constant_rate(100, 500, 1, 4), Script::sleeping(2000));
    assert_eq!(ran.iterations(), 4);
    assert_eq!(ran.iterations() + ran.dropped(), 51);
    let drops = ran.outcome.drops[0];
    assert!(drops.vu_starting >= 3 && drops.vus_exhausted > 0, "{drops:?}");
}

#[test]
fn an_idle_vu_of_another_thread_takes_the_arrival() {
    let ran = run_plan(3, plan(vec![scenario("s", constant_rate(100, 500, 1, 1))]), Script::sleeping(1));
    assert_eq!(ran.iterations() + ran.dropped(), 51);
    // Its own thread has a third of the arrivals. A machine that stops for longer than the 10 ms between two drops one.
    assert!(ran.iterations() > 2 * 17, "{} of 51 found the VU", ran.iterations());
}

#[test]
fn arrivals_are_on_time() {
    let ran = run_one(constant_rate(500, 1000, 20, 20), Script::sleeping(5));
    assert_eq!(ran.iterations() + ran.dropped(), 501);
    let lateness_ms = ran.trend(ITERATION_LATENESS).values.quantile(0.5).expect("there are samples");
    assert!(lateness_ms < 5.0, "half of the starts were later than {lateness_ms} ms");
}

#[test]
fn one_thread_and_two_count_the_same() {
    let totals = |workers| {
        let scenarios = vec![
            scenario("a", Executor::SharedIterations { vus: 5, iterations: 101, max_duration: MS * 5000 }),
            scenario("b", Executor::PerVuIterations { vus: 3, iterations: 7, max_duration: MS * 5000 }),
            scenario("c", constant_rate(50, 400, 4, 4)),
        ];
        let ran = run_plan(workers, plan(scenarios), Script::sleeping(2));
        (ran.iterations(), ran.dropped())
    };
    assert_eq!(totals(1), (101 + 21 + 21, 0));
    assert_eq!(totals(2), totals(1));
}

#[test]
fn vus_serve_one_scenario_after_the_other() {
    let first = scenario("first", Executor::ConstantVus { vus: 2, duration: MS * 100 });
    let mut second =
        scenario("second", Executor::PerVuIterations { vus: 2, iterations: 1, max_duration: MS * 500 });
    second.start_time = MS * 2100;
    let calls = Arc::new(Mutex::new(Vec::new()));
    let seen = calls.clone();
    let script = Script::new(move |seat, call| {
        if call.scenario.0 == 1 {
            assert!(call.first_in_activation && call.vu_iteration > 0 && call.iteration_in_scenario == 0);
            seen.lock().unwrap().push(seat.vu_id);
        }
        sleep(MS * 20)
    });
    let ran = run_plan(2, plan(vec![first, second]), script);
    let mut vus = calls.lock().unwrap().clone();
    vus.sort_unstable();
    assert_eq!(vus, [1, 2]);
    let Some(Aggregate::Gauge(vus_max)) = ran.outcome.totals.metric(VUS_MAX) else { panic!("no vus_max") };
    assert_eq!(vus_max.max, 2.0);
    assert!(ran.outcome.totals.metric(VUS).is_some());
}

#[test]
fn iterations_are_padded_but_their_duration_is_not() {
    let mut plan = plan(vec![scenario("s", Executor::ConstantVus { vus: 1, duration: MS * 250 })]);
    plan.min_iteration_duration = MS * 100;
    let ran = run_plan(1, plan, Script::sleeping(1));
    assert_eq!(ran.iterations(), 3);
    assert!(ran.trend(ITERATION_DURATION).values.max().expect("samples") < 90.0);
}

#[test]
fn ten_thousand_vus() {
    let ran = run_one(
        Executor::PerVuIterations { vus: 10_000, iterations: 1, max_duration: MS * 20_000 },
        Script::sleeping(200),
    );
    assert_eq!(ran.iterations(), 10_000);
}

#[test]
fn iterations_that_never_wait_leave_time_for_the_others() {
    let ran = run_one(
        Executor::ConstantVus { vus: 2, duration: MS * 300 },
        Script::new(|_, _| IterationEnd::Completed),
    );
    assert!(ran.iterations() > 100);
    assert!(ran.outcome.elapsed < MS * 1000, "took {:?}", ran.outcome.elapsed);
}

#[test]
fn a_rate_beyond_any_thread_ends_on_time_and_counts_every_drop() {
    let rate = |vus| Executor::ConstantArrivalRate {
        rate: 1_000_000_000,
        time_unit: Duration::from_secs(1),
        duration: MS * 300,
        pre_allocated_vus: vus,
        max_vus: vus,
    };
    let check = |vus, script| {
        let ran = run_one(rate(vus), script);
        assert_eq!(ran.iterations() + ran.dropped() + ran.interrupted(), 300_000_001);
        let drops = ran.outcome.drops[0];
        let failures = ran.trend(ITERATION_RESPONSE_TIME).failures.as_ref().expect("drops are kept");
        assert_eq!((drops.total(), failures.dropped), (ran.dropped(), ran.dropped()));
        assert!(ran.outcome.elapsed < Duration::from_secs(10), "{:?}", ran.outcome.elapsed);
        ran
    };
    check(2, Script::sleeping(20));
    // There is always an idle VU: the thread is what is missing.
    assert!(check(500, Script::new(|_, _| IterationEnd::Completed)).logged("cannot reach this rate"));
}
