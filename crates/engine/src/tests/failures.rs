//! Aborts, panics, blocked threads, and code that does not start.

use super::*;

fn forever() -> Plan {
    plan(vec![scenario("s", Executor::ConstantVus { vus: 4, duration: MS * 60_000 })])
}

#[test]
fn an_aborting_script_ends_the_run_and_teardown_still_runs() {
    let teardowns = Arc::new(AtomicU64::new(0));
    let mut script = Script::new(|seat, call| {
        if seat.vu_id == 2 && call.vu_iteration == 1 {
            seat.control.stop(AbortReason::Script(Some("enough".into())));
            return IterationEnd::Aborted;
        }
        sleep(MS * if seat.vu_id == 2 { 20 } else { 60_000 })
    });
    script.teardowns = Some(teardowns.clone());
    let ran = run_plan(2, forever(), script);
    assert_eq!(ran.outcome.aborted, Some(AbortReason::Script(Some("enough".into()))));
    // The aborting iteration is a full one, as in k6.
    assert_eq!((ran.iterations(), ran.interrupted()), (2, 3));
    assert_eq!(teardowns.load(Ordering::SeqCst), 1);
    assert!(ran.outcome.elapsed < MS * 2000, "took {:?}", ran.outcome.elapsed);
}

#[test]
fn a_stop_from_outside_ends_waiting_and_computing_vus() {
    let config = RunConfig { workers: 2, stack_bytes: 64 * 1024, ..RunConfig::new(1) };
    let control = config.control.clone();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(MS * 200);
        control.stop(AbortReason::Signal);
        control.stop(AbortReason::Threshold);
    });
    let script = Script::new(|seat, _| {
        if seat.vu_id > 1 {
            return sleep(MS * 60_000);
        }
        while !seat.deadline.has_passed(SystemClock::now()) {
            std::hint::spin_loop();
        }
        IterationEnd::Interrupted
    });
    let ran = run_with(config, forever(), script);
    stopper.join().unwrap();
    assert_eq!(ran.outcome.aborted, Some(AbortReason::Signal), "the first reason stays");
    assert_eq!(ran.outcome.workers_lost, 0);
    assert!(ran.outcome.elapsed < MS * 2000, "took {:?}", ran.outcome.elapsed);
}

#[test]
fn a_panic_costs_one_iteration() {
    let script = Script::new(|seat, call| {
        if seat.vu_id == 1 && call.vu_iteration == 0 {
            panic!("on purpose");
        }
        sleep(MS)
    });
    let executor = Executor::PerVuIterations { vus: 2, iterations: 3, max_duration: MS * 2000 };
    let config = RunConfig { workers: 2, stack_bytes: 64 * 1024, ..RunConfig::new(1) };
    let ran = run_unchecked(config, plan(vec![scenario("s", executor)]), script);
    assert_eq!(ran.iterations(), 6);
    assert_eq!(ran.config.progress.iterations_failed.load(Ordering::Relaxed), 1);
    assert!(ran.logged("on purpose"));
}

#[test]
fn failed_iterations_are_full_ones_with_a_mark() {
    let script =
        Script::new(
            |_, call| {
                if call.vu_iteration == 0 { IterationEnd::Failed } else { IterationEnd::Completed }
            },
        );
    let ran = run_one(Executor::PerVuIterations { vus: 2, iterations: 2, max_duration: MS * 2000 }, script);
    let Some(Aggregate::Rate(failed)) = ran.outcome.totals.metric(ITERATION_FAILED) else {
        panic!("no rate")
    };
    assert_eq!((ran.iterations(), failed.passes, failed.total), (4, 2, 4));
}

#[test]
fn a_vu_that_blocks_its_thread_does_not_delay_the_others() {
    let script = Script::new(|seat, _| {
        if seat.vu_id == 1 {
            let until = SystemClock::now() + MS * 1500;
            while SystemClock::now() < until {
                std::hint::spin_loop();
            }
            return IterationEnd::Completed;
        }
        sleep(MS * 10)
    });
    let ran =
        run_plan(2, plan(vec![scenario("s", Executor::ConstantVus { vus: 2, duration: MS * 1200 })]), script);
    assert!(ran.iterations() > 50, "only {} iterations", ran.iterations());
    let windows = ran.events.iter().filter(|event| matches!(event, RunEvent::Window(_))).count();
    assert!(ran.logged("computes without waiting"));
    assert!(windows >= 2, "the window of the first second did not wait for the blocked thread");
}

#[test]
fn a_vu_that_never_ends_does_not_block_the_run() {
    let teardowns = Arc::new(AtomicU64::new(0));
    let is_over = Arc::new(AtomicU64::new(0));
    let released = is_over.clone();
    let mut script = Script::new(move |seat, _| {
        while seat.vu_id == 1 && released.load(Ordering::Relaxed) == 0 {
            std::hint::spin_loop();
        }
        sleep(MS * 10)
    });
    script.teardowns = Some(teardowns.clone());
    let mut scenario = scenario("s", Executor::ConstantVus { vus: 2, duration: MS * 100 });
    scenario.graceful_stop = Duration::ZERO;
    let ran = run_plan(2, plan(vec![scenario]), script);
    is_over.store(1, Ordering::Relaxed);
    assert_eq!((ran.outcome.workers_lost, teardowns.load(Ordering::SeqCst)), (1, 1));
    assert!(ran.iterations() > 3, "the other thread's iterations count");
    assert!(ran.outcome.elapsed < MS * 8000, "took {:?}", ran.outcome.elapsed);
}

#[test]
fn init_code_that_fails_ends_the_run_before_it_begins() {
    let mut script = Script::sleeping(1);
    script.init = Box::new(|seat| match seat.vu_id {
        3 => Err(ProgramError::Exception("no such file".into())),
        _ => Ok(()),
    });
    let ran = run_plan(2, forever(), script);
    assert_eq!(ran.outcome.init_error, Some(ProgramError::Exception("no such file".into())));
    assert_eq!(ran.iterations(), 0);
}

#[test]
fn a_stop_before_the_start_starts_nothing() {
    let config = RunConfig { workers: 1, stack_bytes: 64 * 1024, ..RunConfig::new(1) };
    config.control.stop(AbortReason::Signal);
    let ran = run_with(config, forever(), Script::sleeping(1));
    assert_eq!((ran.outcome.aborted.clone(), ran.iterations()), (Some(AbortReason::Signal), 0));
}

#[test]
fn init_code_that_panics_is_an_error() {
    let mut script = Script::sleeping(1);
    let has_panicked = Arc::new(AtomicU64::new(0));
    script.init = Box::new(move |_| {
        let local = Cell::new(has_panicked.fetch_add(1, Ordering::SeqCst));
        assert!(local.get() > 100, "init panics on purpose");
        Ok(())
    });
    let ran = run_plan(1, forever(), script);
    assert!(matches!(ran.outcome.init_error, Some(ProgramError::Panicked(_))));
}

/// Computes without ever looking at its deadline, until it is released.
fn spin(released: &AtomicU64) {
    while released.load(Ordering::Relaxed) == 0 {
        std::hint::spin_loop();
    }
}

#[test]
fn a_teardown_that_never_ends_blocks_no_run_and_loses_no_sample() {
    let released = Arc::new(AtomicU64::new(0));
    let spinning = released.clone();
    let mut script = Script::sleeping(10);
    script.teardowns = Some(Arc::default());
    script.teardown = Box::new(move |_| {
        spin(&spinning);
        Ok(())
    });
    let executor = Executor::PerVuIterations { vus: 2, iterations: 5, max_duration: MS * 2000 };
    let mut plan = plan(vec![scenario("s", executor)]);
    plan.lifecycle.teardown_timeout = MS * 50;
    let ran = run_plan(1, plan, script);
    released.store(1, Ordering::Relaxed);
    assert_eq!(ran.outcome.teardown_error, Some(LifecycleError::TimedOut(MS * 50)));
    // The one thread is the one that the function blocks.
    assert_eq!((ran.iterations(), ran.outcome.workers_lost), (10, 0));
    assert!(ran.outcome.elapsed < MS * 9000, "took {:?}", ran.outcome.elapsed);
}

#[test]
fn a_setup_that_never_ends_blocks_no_run() {
    let released = Arc::new(AtomicU64::new(0));
    let spinning = released.clone();
    let mut script = Script::sleeping(10);
    script.setup = Some(Box::new(move |_| {
        spin(&spinning);
        Ok(None)
    }));
    let mut plan = plan(forever().scenarios);
    plan.lifecycle.setup_timeout = MS * 50;
    let ran = run_plan(2, plan, script);
    released.store(1, Ordering::Relaxed);
    assert_eq!(ran.outcome.setup_error, Some(LifecycleError::TimedOut(MS * 50)));
    assert_eq!(ran.iterations(), 0);
    assert!(ran.outcome.elapsed < MS * 9000, "took {:?}", ran.outcome.elapsed);
}

#[test]
fn a_spent_vu_is_replaced() {
    let inits = Arc::new(AtomicU64::new(0));
    let counted = inits.clone();
    let mut script = Script::new(|_, _| IterationEnd::Completed);
    script.spends = true;
    // The first attempt to replace it comes when its time is up.
    script.init = Box::new(move |_| match counted.fetch_add(1, Ordering::SeqCst) {
        1 => Err(ProgramError::Interrupted),
        _ => Ok(()),
    });
    let executor = Executor::PerVuIterations { vus: 1, iterations: 4, max_duration: MS * 2000 };
    let ran = run_plan(1, plan(vec![scenario("s", executor)]), script);
    assert_eq!((ran.iterations(), inits.load(Ordering::SeqCst)), (4, 3));
    assert!(!ran.logged("failed to restart"));
}
