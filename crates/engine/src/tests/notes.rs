//! Contents of windows beside their series.

use model::{ErrorCount, ExemplarKind, Load, Mark, ScenarioId, TagSetId, Work};
use tally::Case;

use super::*;

impl Ran {
    fn windows(&self) -> Vec<Arc<model::Window>> {
        let window = |event: &RunEvent| match event {
            RunEvent::Window(window) => Some(window.clone()),
            _ => None,
        };
        self.events.iter().filter_map(window).collect()
    }

    /// Started, finished and the integral over the run.
    fn load(&self, work: Work) -> (u64, u64, u64) {
        let windows = self.windows();
        let loads = windows.iter().flat_map(|window| &window.load).filter(|load| load.work == work);
        loads.fold((0, 0, 0), |sum, load: &Load| {
            (sum.0 + load.started, sum.1 + load.finished, sum.2 + load.in_flight_ns)
        })
    }
}

/// Does `work` as a request and adds its duration to `took_ns`.
fn request(
    seat: &Seat,
    call: &IterationCall,
    took_ns: &AtomicU64,
    work: impl FnOnce() -> IterationEnd,
) -> IterationEnd {
    let (scenario, started) = (Some(call.scenario), SystemClock::now());
    seat.worker.start_work(scenario, Work::Requests, started);
    let end = work();
    let finished = SystemClock::now();
    seat.worker.finish_work(scenario, Work::Requests, finished);
    took_ns.fetch_add(finished.as_ns() - started.as_ns(), Ordering::Relaxed);
    end
}

/// The integral over all windows is the sum of all durations, to the nanosecond.
fn check_load(vus: u64, ms: u32, work: impl Fn(&Seat) -> IterationEnd + Send + Sync + 'static) -> Ran {
    let took_ns = Arc::new(AtomicU64::new(0));
    let sum_ns = took_ns.clone();
    let script = Script::new(move |seat, call| request(seat, call, &sum_ns, || work(seat)));
    let mut scenario = scenario("s", Executor::ConstantVus { vus, duration: MS * ms });
    scenario.graceful_stop = Duration::ZERO;
    let ran = run_plan(2, plan(vec![scenario]), script);
    let ended = ran.iterations() + ran.interrupted();
    assert!(ended >= vus, "only {ended} iterations");
    assert_eq!(ran.load(Work::Requests), (ended, ended, took_ns.load(Ordering::Relaxed)));
    let (started, finished, iterations_ns) = ran.load(Work::Iterations);
    assert_eq!((started, finished), (ended, ended));
    assert!(iterations_ns >= took_ns.load(Ordering::Relaxed), "an iteration holds its request");
    ran
}

#[test]
fn the_load_is_the_sum_of_durations() {
    check_load(1, 1200, |_| sleep(MS * 7));
    let ran = check_load(50, 2200, |_| sleep(MS * 30));
    // The second window lies within the run, and every VU has a request nearly all the time.
    let window = &ran.windows()[1];
    let load = window.load.iter().find(|load| load.work == Work::Requests).expect("it has requests");
    let mean = load.in_flight_ns as f64 / (window.end.as_ns() - window.start.as_ns()) as f64;
    assert!((25.0..=50.5).contains(&mean), "{mean} requests under way");
    assert_eq!(load.scenario, Some(ScenarioId(0)));
}

#[test]
fn the_load_of_interrupted_work_is_whole() {
    let ran = check_load(20, 1100, |_| sleep(MS * 60_000));
    assert_eq!(ran.interrupted(), 20);
    let windows = ran.windows();
    let first = windows[0].load.iter().find(|load| load.work == Work::Requests).expect("it has requests");
    assert_eq!((first.started, first.finished), (20, 0));
}

#[test]
fn the_load_of_a_thread_that_answers_late_is_in_a_later_window() {
    let ran = check_load(2, 1500, |seat| {
        if seat.vu_id == 1 {
            let until = SystemClock::now() + MS * 400;
            while SystemClock::now() < until {
                std::hint::spin_loop();
            }
        }
        sleep(MS)
    });
    assert!(ran.logged("computes without waiting"), "no thread was late");
}

#[test]
fn exemplars_and_errors_reach_the_window() {
    let script = Script::new(|seat, call| {
        let error = (seat.vu_id == 2).then(|| "unexpected status 500".to_owned());
        if let Some(error) = &error {
            seat.worker.count_error(1500, error, TagSetId(1), || "GET http://a.b/".into());
        }
        if seat.worker.is_remarkable(seat.vu_id * 1000, Mark::Measured, error.is_some()) {
            seat.worker.remember(Case {
                tags: TagSetId(1),
                at: call.started,
                duration_ns: seat.vu_id * 1000,
                mark: Mark::Measured,
                trace_id: Some(5),
                vu: seat.vu_id,
                iteration: Some(call.vu_iteration),
                url: "http://a.b/".into(),
                error,
            });
        }
        IterationEnd::Completed
    });
    let ran = run_one(Executor::PerVuIterations { vus: 4, iterations: 20, max_duration: MS * 5000 }, script);
    let windows = ran.windows();
    let errors: Vec<&ErrorCount> = windows.iter().flat_map(|window| &window.errors).collect();
    assert_eq!(errors.iter().map(|error| error.count).sum::<u64>(), 20);
    assert_eq!(
        (errors[0].code, &*errors[0].message, &*errors[0].example),
        (1500, "unexpected status 500", "GET http://a.b/")
    );
    let exemplars = &windows[0].exemplars;
    let of = |kind: ExemplarKind| exemplars.iter().filter(move |exemplar| exemplar.kind == kind);
    assert_eq!(
        (of(ExemplarKind::Failed).count(), of(ExemplarKind::Slowest).count()),
        (8, 3),
        "{exemplars:?}"
    );
    assert!(of(ExemplarKind::Slowest).all(|slow| slow.value == 0.004), "those of VU 4 take longest");
    assert!(exemplars.iter().all(|exemplar| exemplar.trace_id == Some(5)));
}
