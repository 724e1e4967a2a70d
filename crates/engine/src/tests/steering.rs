//! Runs that are changed from outside.

use super::*;
use crate::{RunControl, SteerError};

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
