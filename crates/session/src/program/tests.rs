//! Scripts in a run against a counting server: load, errors and individual requests in the windows.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::{RunConfig, RunOutcome};
use model::metric::builtin::{HTTP_REQ_BLOCKED, HTTP_REQ_DURATION, HTTP_REQ_REPEATS, HTTP_REQS};
use model::plan::Executor;
use model::{Aggregate, Epoch, ExemplarKind, Plan, RunEvent, Scenario, SystemClock, Window};

use super::*;

struct Quiet;

impl script::Log for Quiet {
    fn log(&self, _line: LogLine) {}
}

/// A completed run.
struct Ran {
    outcome: RunOutcome,
    windows: Vec<Arc<Window>>,
}

impl Ran {
    fn trend_ms(&self, metric: MetricId) -> f64 {
        match self.outcome.totals.metric(metric) {
            Some(Aggregate::Trend(trend)) => trend.sum().value(),
            other => panic!("no trend: {other:?}"),
        }
    }

    fn requests(&self) -> u64 {
        self.counter(HTTP_REQS)
    }

    /// Returns the number of requests repeated because a reused connection closed.
    fn repeats(&self) -> u64 {
        self.counter(HTTP_REQ_REPEATS)
    }

    fn counter(&self, metric: MetricId) -> u64 {
        match self.outcome.totals.metric(metric) {
            Some(Aggregate::Counter(counter)) => counter.sum.value() as u64,
            None => 0,
            other => panic!("no counter: {other:?}"),
        }
    }

    /// Returns started, finished and the integral over the run.
    fn load(&self, work: Work) -> (u64, u64, u64) {
        let loads = self.windows.iter().flat_map(|window| &window.load).filter(|load| load.work == work);
        loads.fold((0, 0, 0), |sum, load| {
            (sum.0 + load.started, sum.1 + load.finished, sum.2 + load.in_flight_ns)
        })
    }
}

fn run_against(server: &testkit::Server, executor: Executor, body: &str) -> Ran {
    let plan = Arc::new(Plan {
        scenarios: vec![Scenario {
            name: "s".into(),
            exec: "default".into(),
            executor,
            start_time: Duration::ZERO,
            graceful_stop: Duration::ZERO,
            env: BTreeMap::default(),
            tags: BTreeMap::default(),
        }],
        ..Plan::default()
    });
    let mut config = RunConfig::new(1);
    config.workers = 2;
    let log: Arc<dyn script::Log> = Arc::new(Quiet);
    let url = server.url("");
    let env = [("URL".to_owned(), url.trim_end_matches('/').to_owned())].into();
    let settings = script::Settings {
        env,
        metrics: config.registry.clone(),
        log: log.clone(),
        secrets: Default::default(),
        outside: Default::default(),
        memory: script::MemoryLimits::resolve(None, None, None),
        allows_exec: false,
        compat: Default::default(),
    };
    let text =
        format!("import http from 'k6/http'; const url = __ENV.URL; export default () => {{ {body} }}");
    let entry = script::Entry { path: "/tests/script.js".into(), text };
    let bundle = Bundle::load(entry, settings).expect("the script is sound");
    let network = wire::Shared::new(&plan.http, &plan.network, &plan.tls).expect("the plan is sound");
    let run = script::RunContext {
        plan: plan.clone(),
        share: crate::share::of(&plan),
        exported_options_json: "{}".into(),
        tags: config.tags.clone(),
        progress: config.progress.clone(),
        epoch: Epoch::anchor(&SystemClock),
        network: Arc::new(network),
        rate: None,
        traces: None,
        spans: None,
        control: Arc::new(ScriptControl { control: config.control.clone(), log }),
    };
    let program = Arc::new(ScriptProgram { bundle: Arc::new(bundle), run: Arc::new(run) });
    let mut windows = Vec::new();
    let outcome = engine::run(plan, program, config, &mut |event| {
        if let RunEvent::Window(window) = event {
            windows.push(window);
        }
    });
    Ran { outcome, windows }
}

/// Checks that started, finished and `http_reqs` are equal and, with repeats, match the server's count; and that the integral is
/// the total time of all requests.
#[track_caller]
fn check(executor: Executor, body: &str) -> Ran {
    let server = testkit::http::start();
    let ran = run_against(&server, executor, body);
    let (started, finished, in_flight_ns) = ran.load(Work::Requests);
    let (counted, seen) = (ran.requests(), server.settled().total);
    assert_eq!((started, finished, counted + ran.repeats()), (counted, counted, seen), "{body}");
    assert!(seen > 0, "nothing was sent: {body}");
    // The time of a request is the sum of these two; a failed request has only the second.
    let took_ns = (ran.trend_ms(HTTP_REQ_BLOCKED) + ran.trend_ms(HTTP_REQ_DURATION)) * 1e6;
    let difference_ns = (in_flight_ns as f64 - took_ns).abs();
    assert!(difference_ns <= 1000.0 * seen as f64, "{in_flight_ns} ns under way, {took_ns} ns taken: {body}");
    let (iterations_started, iterations_finished, _) = ran.load(Work::Iterations);
    assert_eq!(iterations_started, iterations_finished);
    ran
}

fn shared_iterations(vus: u64, iterations: u64) -> Executor {
    Executor::SharedIterations { vus, iterations, max_duration: Duration::from_secs(60) }
}

#[test]
fn the_load_is_what_the_server_saw() {
    for (vus, iterations) in [(1, 5), (50, 200)] {
        check(shared_iterations(vus, iterations), "http.get(`${url}/json`)");
        check(
            shared_iterations(vus, iterations),
            "http.get(`${url}/redirect/3`); http.get(`${url}/reset`); http.get(`${url}/cut`);
             http.batch([`${url}/delay/5`, `${url}/json`, `${url}/gzip`])",
        );
    }
}

#[test]
fn the_load_holds_where_the_end_cuts_requests_off() {
    for vus in [1, 50] {
        let executor = Executor::ConstantVus { vus, duration: Duration::from_millis(1200) };
        let ran = check(executor, "http.get(`${url}/json`); http.get(`${url}/hang`)");
        let first = &ran.windows[0].load;
        let requests = first.iter().find(|load| load.work == Work::Requests).expect("it has requests");
        assert_eq!((requests.started, requests.finished), (2 * vus, vus));
    }
}

#[test]
fn errors_and_single_requests_are_in_the_window() {
    let body = "http.get(`${url}/status/500`); if (__ITER === 3) { throw new Error('no stock of 12345') }";
    let ran = check(shared_iterations(1, 4), body);
    let errors: Vec<_> = ran.windows.iter().flat_map(|window| &window.errors).collect();
    let found: Vec<_> = errors.iter().map(|error| (error.code, &*error.message, error.count)).collect();
    assert_eq!(found, [(1500, "unexpected status 500", 4), (0, "Error: no stock of #", 1)]);
    assert!(errors[1].example.contains("12345") && errors[1].example.contains("script.js"), "{errors:?}");
    let failed = ran.windows.iter().flat_map(|window| &window.exemplars);
    assert_eq!(failed.filter(|exemplar| exemplar.kind == ExemplarKind::Failed).count(), 4);
}
