//! Runs that are changed from outside.

use model::plan::Share;

use super::*;
use crate::{Pile, RunControl, Start, SteerError};

/// Looping VUs that are changed from outside, until they are stopped.
fn outside(vus: u64, max_vus: u64) -> Executor {
    Executor::ExternallyControlled { vus, max_vus, duration: model::plan::ENDLESS }
}

/// Runs a plan while another thread has its control.
fn steer(plan: Plan, script: Script, hand: impl FnOnce(&RunControl, &RunConfig) + Send) -> Ran {
    let config = RunConfig { workers: 2, stack_bytes: 64 * 1024, ..RunConfig::new(plan.scenarios.len()) };
    std::thread::scope(|scope| {
        let other = config.clone();
        scope.spawn(move || hand(&other.control, &other));
        run_with(config, plan, script)
    })
}

/// Waits for a condition that must hold soon.
#[track_caller]
fn eventually(condition: &str, holds: impl Fn() -> bool) {
    let patience = SystemClock::now() + Duration::from_secs(10);
    while !holds() {
        assert!(SystemClock::now() < patience, "{condition}");
        std::thread::sleep(MS);
    }
}

fn active(config: &RunConfig) -> u32 {
    config.progress.vus_active.load(Ordering::Relaxed)
}

#[test]
fn vus_follow_requests_from_outside() {
    let ran = steer(plan(vec![scenario("s", outside(1, 6))]), Script::sleeping(5), |control, config| {
        eventually("the VUs of the plan", || active(config) == 1);
        assert_eq!(control.scalable_vus(), Some((1, 6)));
        control.scale(6).expect("the scenario has so many");
        eventually("all VUs", || active(config) == 6);
        assert_eq!(control.scale(7), Err(SteerError::TooManyVus { vus: 7, vus_max: 6 }));
        control.scale(2).expect("fewer are possible");
        eventually("two VUs", || active(config) == 2);
        control.pause().expect("nothing goes on without it");
        eventually("no VU", || active(config) == 0);
        assert_eq!(control.pause(), Err(SteerError::AlreadyPaused));
        let before = config.progress.iterations_completed.load(Ordering::Relaxed);
        std::thread::sleep(MS * 30);
        assert_eq!(config.progress.iterations_completed.load(Ordering::Relaxed), before);
        control.resume().expect("it is paused");
        eventually("two VUs again", || active(config) == 2);
        let completed = || config.progress.iterations_completed.load(Ordering::Relaxed);
        eventually("further iterations", || completed() > before + 10);
        control.stop(AbortReason::Remote);
    });
    assert_eq!(ran.outcome.aborted, Some(AbortReason::Remote));
    assert!(ran.interrupted() <= 2, "a pause and a scale let iterations end");
}

#[test]
fn a_run_waits_for_its_start() {
    let mut script = Script::sleeping(1);
    script.setup = Some(Box::new(|_| Ok(Some("{\"own\":1}".into()))));
    let executor = Executor::PerVuIterations { vus: 2, iterations: 1, max_duration: MS * 2000 };
    let mut plan = plan(vec![scenario("s", executor)]);
    plan.lifecycle.paused = true;
    let ran = steer(plan, script, |control, config| {
        eventually("the VUs", || config.progress.vus_initialized.load(Ordering::Relaxed) == 2);
        std::thread::sleep(MS * 30);
        assert_eq!(config.progress.began_ns.load(Ordering::Relaxed), 0);
        assert!(control.is_paused());
        control.resume().expect("it waits");
    });
    assert_eq!(ran.iterations(), 2);
    assert_eq!(ran.outcome.setup_data.as_deref(), Some("{\"own\":1}"));
    assert!(ran.outcome.elapsed < MS * 30 + MS * 1000, "{:?}", ran.outcome.elapsed);
}

#[test]
fn setup_data_may_come_from_elsewhere() {
    let setups = Arc::new(AtomicU64::new(0));
    let counted = setups.clone();
    let mut script = Script::new(|_, call| {
        assert_eq!(call.setup_data.as_deref(), Some("{\"other\":1}"));
        IterationEnd::Completed
    });
    script.setup = Some(Box::new(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok(Some("{\"own\":1}".into()))
    }));
    let executor = Executor::PerVuIterations { vus: 1, iterations: 1, max_duration: MS * 2000 };
    let mut plan = plan(vec![scenario("s", executor)]);
    plan.lifecycle.paused = true;
    let ran = steer(plan, script, |control, _| {
        eventually("the run waits", || control.is_paused());
        assert_eq!(control.run_setup().expect("it waits").as_deref(), Some("{\"own\":1}"));
        assert_eq!(control.setup_data().as_deref(), Some("{\"own\":1}"));
        control.set_setup_data(Some("{\"other\":1}".into())).expect("it still waits");
        control.resume().expect("it waits");
        eventually("it is past its setup", || control.run_setup() == Err(SteerError::NotWaiting));
    });
    assert_eq!((ran.iterations(), setups.load(Ordering::SeqCst)), (1, 1));
    assert_eq!(ran.config.progress.iterations_failed.load(Ordering::Relaxed), 0);
}

#[test]
fn a_run_that_waits_can_be_stopped() {
    let mut plan = plan(vec![scenario("s", outside(1, 1))]);
    plan.lifecycle.paused = true;
    let ran = steer(plan, Script::sleeping(1), |control, config| {
        eventually("the VUs", || config.progress.vus_initialized.load(Ordering::Relaxed) == 1);
        control.stop(AbortReason::Remote);
    });
    assert_eq!((ran.iterations(), ran.outcome.aborted), (0, Some(AbortReason::Remote)));
}

#[test]
fn other_executors_are_not_changed() {
    let executor = Executor::ConstantVus { vus: 1, duration: MS * 200 };
    steer(plan(vec![scenario("s", executor)]), Script::sleeping(5), |control, config| {
        eventually("the VU", || active(config) == 1);
        assert_eq!(control.pause(), Err(SteerError::NotPausable("s".into())));
        assert_eq!(control.resume(), Err(SteerError::NotPaused));
        assert_eq!(control.scale(2), Err(SteerError::NotScalable));
    });
}

/// Instances of one test that start together agree on an instant, and on the seconds that their windows are.
#[test]
fn a_run_starts_at_an_agreed_instant() {
    let executor = Executor::ConstantArrivalRate {
        rate: 100,
        time_unit: MS * 1000,
        duration: MS * 300,
        pre_allocated_vus: 5,
        max_vus: 5,
    };
    let mut plan = plan(vec![scenario("s", executor)]);
    plan.lifecycle.paused = true;
    let agreed = std::sync::Mutex::new(None);
    let ran = steer(plan, Script::sleeping(1), |control, config| {
        eventually("the VUs", || config.progress.vus_initialized.load(Ordering::Relaxed) == 5);
        control.set_setup_data(Some("1".into())).expect("it waits");
        let at = SystemClock::now() + MS * 150;
        *agreed.lock().expect("no panic") = Some(at);
        control.start_at(at).expect("it waits");
        assert_eq!(control.start_at(at), Err(SteerError::NotWaiting), "once");
    });
    let at = agreed.into_inner().expect("no panic").expect("agreed");
    let starts = ran.events.iter().filter_map(|event| match event {
        RunEvent::ScenariosStarted { at } => Some(*at),
        RunEvent::Window(window) if window.index == 0 => Some(window.start),
        _ => None,
    });
    assert_eq!(starts.collect::<Vec<_>>(), [at, at]);
    assert_eq!(ran.iterations(), 31);
}

/// Joins a schedule that began `passed` ms ago, `ahead` ms from now.
fn join(executor: Executor, share: Share, passed: u64, ahead: u64, script: Script) -> (Ran, Instant) {
    let mut plan = plan(vec![scenario("s", executor)]);
    plan.segment.share = share;
    plan.lifecycle.paused = true;
    let from = std::sync::Mutex::new(Instant::ZERO);
    let ran = steer(plan, script, |control, config| {
        eventually("the VUs", || config.progress.vus_initialized.load(Ordering::Relaxed) > 0);
        control.set_setup_data(None).expect("it waits");
        let now = SystemClock::now();
        let scenarios = Instant::from_ns(now.as_ns() - passed * 1_000_000);
        let at = now + Duration::from_millis(ahead);
        *from.lock().expect("no panic") = at;
        control.join_at(Start { scenarios, from: at, numbers: [1_000].into() }).expect("it waits");
    });
    let from = *from.lock().expect("no panic");
    (ran, from)
}

/// A run that continues a share of another's schedule starts what is due from its instant on, with the numbers of the schedule.
#[test]
fn a_run_joins_a_schedule_at_its_position() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let record = seen.clone();
    let script = Script::new(move |_, call| {
        record.lock().expect("no panic").push((call.iteration_in_test, call.due));
        sleep(MS)
    });
    let executor = Executor::ConstantArrivalRate {
        rate: 100,
        time_unit: MS * 1000,
        duration: MS * 1000,
        pre_allocated_vus: 6,
        max_vus: 6,
    };
    let share = Share { index: 1, of: 2 };
    let (ran, from) = join(executor, share, 600, 150, script);
    let seen = seen.lock().expect("no panic").clone();
    // Of 101 iterations, each 10 ms, this share has the odd ones; 75 are due before its instant.
    let mut numbers: Vec<u64> = seen.iter().map(|(number, _)| *number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (75..=100).filter(|number| number % 2 == 1).collect::<Vec<u64>>());
    assert!(seen.iter().all(|(_, due)| due.is_some_and(|due| due >= from)), "{seen:?} from {from:?}");
    assert_eq!(ran.dropped(), 0, "what was due before is not its own");
    let first = ran.events.iter().find_map(|event| match event {
        RunEvent::Window(window) => Some(window.start),
        _ => None,
    });
    assert_eq!(first, Some(from), "its first window");
    let late_ns = ran.config.progress.scenarios[0].started_late_ns.load(Ordering::Relaxed);
    assert!(late_ns < 400_000_000, "late against its own instant: {late_ns} ns");
}

#[test]
fn looping_vus_join_a_schedule_with_numbers_of_their_own() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let record = seen.clone();
    let script = Script::new(move |seat, call| {
        record.lock().expect("no panic").push((seat.vu_id, call.iteration_in_test, call.started));
        sleep(MS * 20)
    });
    let executor = Executor::ConstantVus { vus: 4, duration: MS * 900 };
    let (ran, from) = join(executor, Share { index: 1, of: 2 }, 500, 150, script);
    let seen = seen.lock().expect("no panic").clone();
    let vus: std::collections::BTreeSet<u64> = seen.iter().map(|(vu, ..)| *vu).collect();
    assert_eq!(vus, [2, 4].into());
    let least = seen.iter().map(|(_, number, _)| *number).min();
    assert_eq!(least, Some(2 * 1_000 + 1), "the first number of its share that is free");
    assert!(seen.iter().all(|(.., started)| *started >= from));
    assert!(ran.iterations() > 2 && ran.iterations() <= 2 * 13, "{} in 250 ms", ran.iterations());
}

/// A process that its coordinator does not answer may no longer be alone.
#[test]
fn nothing_starts_behind_a_fence() {
    let check = |executor: Executor| {
        let starts = Arc::new(Mutex::new(Vec::new()));
        let seen = starts.clone();
        let script = Script::new(move |_, call| {
            seen.lock().expect("no panic").push(call.started);
            sleep(MS)
        });
        let fence = std::sync::Mutex::new(Instant::ZERO);
        steer(plan(vec![scenario("s", executor)]), script, |control, _| {
            eventually("iterations", || !starts.lock().expect("no panic").is_empty());
            let at = SystemClock::now() + MS * 50;
            control.set_fence(at);
            *fence.lock().expect("no panic") = at;
        });
        let (starts, fence) = (starts.lock().expect("no panic"), *fence.lock().expect("no panic"));
        assert!(starts.iter().all(|at| *at < fence), "{starts:?} behind {fence:?}");
    };
    check(Executor::ConstantVus { vus: 2, duration: MS * 300 });
    check(Executor::ConstantArrivalRate {
        rate: 200,
        time_unit: MS * 1000,
        duration: MS * 300,
        pre_allocated_vus: 4,
        max_vus: 4,
    });
}

/// Shared iterations come in blocks from another process. Each window names those that it has the samples of.
#[test]
fn shared_iterations_are_run_as_they_are_handed_out() {
    let executor = Executor::SharedIterations { vus: 3, iterations: 1_000, max_duration: MS * 10_000 };
    let plan = plan(vec![scenario("s", executor)]);
    let pile = Arc::new(Pile::default());
    let config = RunConfig {
        workers: 2,
        stack_bytes: 64 * 1024,
        piles: vec![Some(pile.clone())],
        ..RunConfig::new(1)
    };
    let seen = Arc::new(Mutex::new(Vec::new()));
    let record = seen.clone();
    let script = Script::new(move |_, call| {
        record.lock().expect("no panic").push(call.iteration_in_test);
        sleep(MS)
    });
    pile.grant(5..9);
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            eventually("the first block", || seen.lock().expect("no panic").len() == 4);
            pile.grant(100..102);
            eventually("the second block", || seen.lock().expect("no panic").len() == 6);
            pile.close();
        });
        run_with(config, plan, script)
    });
    let mut numbers = seen.lock().expect("no panic").clone();
    numbers.sort_unstable();
    assert_eq!(numbers, [5, 6, 7, 8, 100, 101]);
    assert_eq!((ran.iterations(), ran.dropped()), (6, 0), "what others have is not dropped here");
    let windows = ran.events.iter().filter_map(|event| match event {
        RunEvent::Window(window) => Some(window.clone()),
        _ => None,
    });
    let mut leased = Vec::new();
    for window in windows {
        let finished: u64 = window.load.iter().map(|load| load.finished).sum();
        assert_eq!(window.leased.len() as u64, finished);
        leased.extend(window.leased.iter().map(|(_, number)| *number));
    }
    leased.sort_unstable();
    assert_eq!(leased, numbers);
}
