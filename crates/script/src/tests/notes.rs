//! Notes beside the samples: starts and ends, single requests, errors.

use model::ExemplarCandidate;

use super::*;
use crate::Finished;

/// The recorded notes.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Started less finished.
    under_way: i64,
    under_way_max: i64,
    finished: usize,
    of_no_scenario: usize,
    /// Finishes less starts.
    sum_ns: u64,
    cases: Vec<ExemplarCandidate>,
    /// Code, message, example.
    errors: Vec<(u16, String, String)>,
}

impl Seen {
    pub(super) fn under_way(&self) -> i64 {
        self.under_way
    }

    pub(super) fn finished(&self) -> usize {
        self.finished
    }

    pub(super) fn errors(&self) -> usize {
        self.errors.len()
    }
}

#[derive(Default)]
pub(super) struct Noting(RefCell<Seen>);

impl Noting {
    pub(super) fn take(&self) -> Seen {
        self.0.take()
    }
}

impl Notes for Noting {
    fn request_started(&self, scenario: Option<ScenarioId>, at: Instant) {
        let mut seen = self.0.borrow_mut();
        seen.under_way += 1;
        seen.under_way_max = seen.under_way_max.max(seen.under_way);
        seen.of_no_scenario += usize::from(scenario.is_none());
        seen.sum_ns = seen.sum_ns.wrapping_sub(at.as_ns());
    }

    fn request_finished(&self, _scenario: Option<ScenarioId>, at: Instant, _facts: Finished) -> bool {
        let mut seen = self.0.borrow_mut();
        seen.under_way -= 1;
        seen.finished += 1;
        seen.sum_ns = seen.sum_ns.wrapping_add(at.as_ns());
        true
    }

    fn remember(&self, case: ExemplarCandidate) {
        self.0.borrow_mut().cases.push(case);
    }

    fn error(&self, code: u16, message: &str, _tags: TagSetId, example: &dyn Fn() -> String) {
        self.0.borrow_mut().errors.push((code, message.to_owned(), example()));
    }
}

/// Runs the lines of a default function; what was started was finished, and counted as often as the server saw it.
fn noted(body: &str, expect: usize) -> Seen {
    let server = testkit::http::start();
    let source = format!(
        "import http from 'k6/http'; const base = __ENV.BASE.replace(/\\/$/, '');
         export default async function () {{ {body} }}"
    );
    let left = run_against(&server.url(""), 1, &source);
    let counts = (left.noted.under_way, left.noted.finished, left.count("http_reqs"), server.settled().total);
    assert_eq!(counts, (0, expect, expect, expect as u64), "{body}: {:?}", left.logs);
    left.noted
}

#[test]
fn every_exchange_starts_and_ends() {
    let one_at_a_time =
        |body: &str, expect: usize| assert_eq!(noted(body, expect).under_way_max, 1, "{body}");
    one_at_a_time("http.get(`${base}/json`)", 1);
    one_at_a_time("http.get(`${base}/redirect/3`)", 4);
    one_at_a_time("http.get(`${base}/reset`); http.get(`${base}/cut`); http.get(`${base}/empty`)", 3);
    one_at_a_time("http.get(`${base}/hang`, { timeout: 50 })", 1);
    let batch = noted("http.batch([1, 2, 3, 4].map(() => `${base}/delay/60`))", 4);
    assert_eq!(batch.under_way_max, 4);
    assert!((240_000_000..2_000_000_000).contains(&batch.sum_ns), "{} ns", batch.sum_ns);
    let promises = "await Promise.all([1, 2].map(() => http.asyncRequest('GET', `${base}/delay/60`)))";
    assert_eq!(noted(promises, 2).under_way_max, 2);
    cut(|| {
        one_at_a_time("http.get(`${base}/hang`)", 1);
        one_at_a_time("http.asyncRequest('GET', `${base}/hang`)", 1);
        assert_eq!(noted("http.batch([`${base}/hang`, `${base}/json`])", 2).under_way_max, 2);
    });
}

#[test]
fn requests_of_setup_belong_to_no_scenario() {
    let server = testkit::http::start();
    let source = "import http from 'k6/http';
        export function setup() { http.get(`${__ENV.BASE}/json`) }
        export default function () { http.get(`${__ENV.BASE}/json`) }";
    let left = run_against(&server.url(""), 2, source);
    assert_eq!((left.noted.finished, left.noted.of_no_scenario), (3, 1), "{:?}", left.logs);
    let iterations: Vec<_> = left.noted.cases.iter().map(|case| (case.vu, case.iteration)).collect();
    assert_eq!(iterations, [(0, None), (1, Some(0)), (1, Some(1))]);
}

#[test]
fn a_case_knows_its_trace_and_no_password() {
    let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let body = format!(
        "http.get(base.replace('://', '://me:secret@') + '/redirect/1?a=b', {{ headers: {{ traceparent: '{traceparent}' }} }})"
    );
    let seen = noted(&body, 2);
    for case in &seen.cases {
        assert_eq!(case.trace_id, Some(0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c));
        assert!(case.url.starts_with("http://") && !case.url.contains("secret"), "{}", case.url);
        assert!(case.error.is_none() && case.duration_ns > 0 && case.mark == Mark::Measured);
    }
    assert!(seen.cases[0].url.ends_with("/redirect/1?a=b"), "{}", seen.cases[0].url);
}

#[test]
fn errors_have_k6s_codes_and_an_example() {
    let check = |body: &str, code: u16, message: &str, example: &str| {
        let seen = noted(body, 1);
        let [error] = &seen.errors[..] else { panic!("{body}: {:?}", seen.errors) };
        assert_eq!((error.0, error.1.as_str()), (code, message), "{body}");
        assert!(error.2.starts_with("GET http://") && error.2.contains(example), "{}", error.2);
        assert_eq!(seen.cases[0].error.as_deref(), Some(message));
    };
    check(
        "http.get(`${base}/status/503`)",
        1503,
        "unexpected status 503",
        "/status/503: unexpected status 503",
    );
    check("http.get(`${base}/hang`, { timeout: 50 })", 1050, "request timeout", "/hang: request timeout");
    check(
        "http.get(`${base}/json`, { responseCallback: http.expectedStatuses(404) })",
        1000,
        "unexpected status 200",
        "/json",
    );
    let fine = "http.get(`${base}/status/404`, { responseCallback: http.expectedStatuses(404) })";
    assert_eq!(noted(fine, 1).errors, []);
}

#[test]
fn exceptions_are_errors_without_a_code() {
    let left = run("export default function () {\n  throw new Error('no stock');\n}");
    let [(0, message, example)] = &left.noted.errors[..] else { panic!("{:?}", left.noted.errors) };
    assert!(message.starts_with("Error: no stock"), "{message}");
    assert!(example.contains("test.js:2:"), "{example}");
}
