//! setup, teardown, windows, thresholds, samples.

use super::*;

fn briefly() -> Vec<Scenario> {
    vec![scenario("s", Executor::PerVuIterations { vus: 2, iterations: 1, max_duration: MS * 2000 })]
}

#[test]
fn setup_gives_its_data_to_every_iteration_and_teardown_runs_once() {
    let teardowns = Arc::new(AtomicU64::new(0));
    let mut script = Script::new(|_, call| {
        assert_eq!(call.setup_data.as_deref(), Some("{\"a\":1}"));
        IterationEnd::Completed
    });
    script.setup = Some(Box::new(|seat| {
        assert_eq!(seat.vu_id, 0);
        sleep(MS * 5);
        Ok(Some("{\"a\":1}".into()))
    }));
    script.teardowns = Some(teardowns.clone());
    let ran = run_plan(2, plan(briefly()), script);
    assert_eq!((ran.iterations(), teardowns.load(Ordering::SeqCst)), (2, 1));
    assert_eq!(ran.config.progress.iterations_failed.load(Ordering::Relaxed), 0);
    assert_eq!(ran.outcome.setup_data.as_deref(), Some("{\"a\":1}"));
    let names: Vec<&str> = ran
        .events
        .iter()
        .filter_map(|event| match event {
            RunEvent::SetupStarted => Some("setup"),
            RunEvent::ScenariosStarted { .. } => Some("start"),
            RunEvent::ScenariosEnded { .. } => Some("end"),
            RunEvent::TeardownStarted => Some("teardown"),
            RunEvent::Ended => Some("over"),
            _ => None,
        })
        .collect();
    assert_eq!(names, ["setup", "start", "end", "teardown", "over"]);
}

#[test]
fn a_failed_setup_skips_everything_after_it() {
    let teardowns = Arc::new(AtomicU64::new(0));
    let mut script = Script::sleeping(1);
    script.setup = Some(Box::new(|_| Err(ProgramError::Exception("boom".into()))));
    script.teardowns = Some(teardowns.clone());
    let ran = run_plan(1, plan(briefly()), script);
    assert_eq!((ran.iterations(), teardowns.load(Ordering::SeqCst)), (0, 0));
    assert_eq!(ran.outcome.setup_error, Some(LifecycleError::Failed(ProgramError::Exception("boom".into()))));
}

#[test]
fn a_long_setup_is_cancelled() {
    let mut script = Script::sleeping(1);
    script.setup = Some(Box::new(|_| match sleep(MS * 60_000) {
        IterationEnd::Interrupted => Err(ProgramError::Interrupted),
        _ => Ok(None),
    }));
    let mut plan = plan(briefly());
    plan.lifecycle.setup_timeout = MS * 50;
    let ran = run_plan(1, plan, script);
    assert_eq!(ran.outcome.setup_error, Some(LifecycleError::TimedOut(MS * 50)));
}

#[test]
fn windows_add_up_to_the_totals_and_do_not_overlap() {
    let ran = run_plan(
        2,
        plan(vec![scenario("s", Executor::ConstantVus { vus: 2, duration: MS * 2200 })]),
        Script::sleeping(10),
    );
    let windows: Vec<_> = ran
        .events
        .iter()
        .filter_map(|event| if let RunEvent::Window(window) = event { Some(window) } else { None })
        .collect();
    assert!(windows.len() >= 3, "only {} windows", windows.len());
    let mut sum = 0.0;
    for (index, window) in windows.iter().enumerate() {
        assert_eq!(window.index as usize, index);
        assert!(index == 0 || windows[index - 1].end == window.start);
        for (key, aggregate) in &window.series {
            if let (ITERATIONS, Aggregate::Counter(counter)) = (key.metric, aggregate) {
                sum += counter.sum.value();
            }
        }
    }
    assert_eq!(sum as u64, ran.iterations());
    assert_eq!(sum as u64, ran.config.progress.iterations_completed.load(Ordering::Relaxed));
}

#[test]
fn a_crossed_threshold_ends_the_run() {
    let config = RunConfig { workers: 1, stack_bytes: 64 * 1024, ..RunConfig::new(1) };
    let spec = ThresholdSpec {
        selector: "iteration_duration".into(),
        conditions: vec![model::plan::ThresholdCondition {
            source: "max<1".into(),
            abort_on_fail: true,
            delay_abort_eval: Duration::ZERO,
        }],
    };
    let thresholds = tally::Thresholds::parse(&[spec], &config.registry).expect("well-formed");
    let plan = plan(vec![scenario("s", Executor::ConstantVus { vus: 1, duration: MS * 60_000 })]);
    let ran = run_with(RunConfig { thresholds, ..config }, plan, Script::sleeping(20));
    assert_eq!(ran.outcome.aborted, Some(AbortReason::Threshold));
    assert!(!ran.outcome.thresholds.ok());
    assert!(ran.outcome.elapsed < MS * 5000);
}

#[test]
fn samples_reach_the_listener_that_asked() {
    let config = RunConfig { wants_samples: true, workers: 2, stack_bytes: 64 * 1024, ..RunConfig::new(1) };
    let plan = plan(vec![scenario(
        "s",
        Executor::SharedIterations { vus: 2, iterations: 3000, max_duration: MS * 9000 },
    )]);
    let ran = run_with(config, plan, Script::new(|_, _| IterationEnd::Completed));
    let samples = ran.events.iter().map(|event| match event {
        RunEvent::Samples(batch) => batch.iter().filter(|(sample, _)| sample.metric == ITERATIONS).count(),
        _ => 0,
    });
    assert_eq!((samples.sum::<usize>(), ran.outcome.samples_lost), (3000, 0));
}

#[test]
fn metadata_comes_with_samples_on_request() {
    let config = RunConfig { wants_samples: true, workers: 1, stack_bytes: 64 * 1024, ..RunConfig::new(1) };
    let executor = Executor::PerVuIterations { vus: 1, iterations: 3, max_duration: MS * 100 };
    let mut plan = plan(vec![scenario("s", executor)]);
    plan.system_tags = plan.system_tags.with(SystemTag::Vu).with(SystemTag::Iter);
    let ran = run_with(config, plan, Script::sleeping(70));
    let mut facts = Vec::new();
    for event in &ran.events {
        let RunEvent::Samples(batch) = event else { continue };
        for (sample, metadata) in batch.iter().filter(|(sample, _)| sample.metric != ITERATION_DURATION) {
            let metadata = metadata.iter().flat_map(|metadata| metadata.iter());
            facts.extend(metadata.map(|(name, value)| format!("{}:{name}={value}", sample.metric.0)));
        }
    }
    facts.sort();
    let of = |metric: MetricId, fact: &str| format!("{}:{fact}", metric.0);
    let mut expect = vec![of(DROPPED_ITERATIONS, "cause=time_up")];
    for metric in [ITERATIONS, ITERATION_FAILED] {
        expect.extend(["iter=0", "vu=1", "iter=1", "vu=1"].map(|fact| of(metric, fact)));
    }
    expect.sort();
    assert_eq!(facts, expect);
}

#[test]
fn strict_runs_have_only_k6s_metrics() {
    let mut plan = plan(briefly());
    plan.compat = Compat::Strict;
    let ran = run_plan(1, plan, Script::sleeping(1));
    assert_eq!(ran.iterations(), 2);
    assert!(ran.outcome.totals.metric(ITERATION_FAILED).is_none());
}
