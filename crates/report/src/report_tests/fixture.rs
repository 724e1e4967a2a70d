//! Runs to render.

use std::time::Duration;

use analysis::traces::{Attribution, Component};
use model::{Amount, DropCause, ExemplarKind, Fault, Grade, Reason, Validity, ValueKind};

use crate::RunReport;
use crate::document::{
    DropEntry, Endpoint, ErrorEntry, Errors, ExemplarEntry, Generator, Identity, LogTail, Outcome, RunState,
};
use crate::summary::{
    CheckSummary, GroupSummary, MetricSummary, ScenarioSummary, Statistic, SummaryInput, ThresholdSummary,
    Values,
};

/// A run in which much went wrong: a crossed threshold, timeouts, failed checks, drops, lost samples.
pub(super) fn failed() -> RunReport {
    RunReport {
        identity: identity(),
        outcome: Some(Outcome {
            exit_code: 99,
            message: "thresholds on metrics 'http_req_duration' have been crossed".into(),
        }),
        summary: summary(),
        endpoints: endpoints(),
        errors: Errors {
            distinct: vec![
                error(1050, "request timeout", 12, "https://shop.example/api/checkout"),
                error(
                    0,
                    "TypeError: cannot read property 'id' of undefined",
                    2,
                    "TypeError: …\n\tat pay (shop.js:12)",
                ),
            ],
            beyond: 3,
        },
        exemplars: vec![
            exemplar(ExemplarKind::Failed, 61.0, Statistic::AtLeast(60_000.0, "timeout"), "request timeout"),
            exemplar(ExemplarKind::Slowest, 12.5, Statistic::Number(912.345), ""),
        ],
        drops: vec![DropEntry { scenario: "shop".into(), cause: DropCause::VusExhausted, count: 40 }],
        generator: Generator { workers: 2, samples_lost: 7, ..Generator::default() },
        environment: vec![("cores".into(), "2".into()), ("kernel".into(), "Linux 6.8".into())],
        options: Some(serde_json::json!({"thresholds": {"http_req_duration": ["p(95)<500", "avg<800"]}})),
        log: LogTail { lines: vec!["time=\"…\" level=warning msg=\"Request Failed\"".into()], before: 9 },
        ..RunReport::default()
    }
}

/// A run that did what was asked.
pub(super) fn passed() -> RunReport {
    let mut duration = trend("http_req_duration", [Statistic::Number(12.5), Statistic::Number(48.25)], true);
    duration.thresholds = vec![threshold("p(95)<500", true, "p(95)", Statistic::Number(48.25))];
    let metrics = vec![duration, counter("http_reqs", 100.0, 10.0)];
    let checks = vec![CheckSummary { name: "status is 200".into(), passes: 100, fails: 0 }];
    RunReport {
        identity: Identity { notes: vec![], tags: vec![], name: String::new(), ..identity() },
        outcome: Some(Outcome::default()),
        summary: SummaryInput {
            validity: Some(Validity { grade: Grade::Valid, ..distrusted_by(vec![]) }),
            run_duration: Duration::from_secs(10),
            metrics,
            checks,
            ..SummaryInput::default()
        },
        ..RunReport::default()
    }
}

/// A run that was killed before anything was measured.
pub(super) fn nothing() -> RunReport {
    RunReport { state: RunState::Partial, ..RunReport::default() }
}

fn identity() -> Identity {
    Identity {
        id: "ab12cd34".into(),
        name: "evening peak".into(),
        script: "tests/shop.js".into(),
        // 2026-11-21T09:33:57Z
        started_unix_ns: 1_795_253_637_000_000_000,
        elapsed: Duration::from_secs(120),
        plimsoll_version: "0.1.0".into(),
        commit: "0f3c9e1".into(),
        is_dirty: true,
        target_version: "1.4.2".into(),
        tags: vec![("env".into(), "staging".into())],
        notes: vec!["after the cache was warmed".into()],
        step: None,
    }
}

fn summary() -> SummaryInput {
    let mut duration =
        trend("http_req_duration", [Statistic::Number(212.5), Statistic::Number(812.0)], false);
    if let Values::Trend { stats, untimed, .. } = &mut duration.values {
        stats.push(("p(99.9)".into(), Statistic::AtLeast(60_000.0, "timeout")));
        stats.push(("max".into(), Statistic::Failed));
        *untimed = 3;
    }
    duration.thresholds = vec![
        threshold("p(95)<500", false, "p(95)", Statistic::Number(812.0)),
        threshold("p(99.9)<900", false, "p(99.9)", Statistic::AtLeast(60_000.0, "timeout")),
        threshold("avg<800", true, "avg", Statistic::Number(212.5)),
    ];
    let mut failed = rate("http_req_failed", 14, 12_000);
    failed.thresholds = vec![threshold("rate<0.01", true, "rate", Statistic::Number(14.0 / 12_000.0))];
    let response_time = MetricSummary {
        values: Values::NotApplicable("closed loop"),
        ..trend("http_req_response_time", [Statistic::Failed, Statistic::Failed], true)
    };
    let part = |name: &str| vec![trend(name, [Statistic::Number(1.0), Statistic::Number(2.0)], true)];
    let checks = vec![
        CheckSummary { name: "status is 200".into(), passes: 11_986, fails: 14 },
        CheckSummary { name: "has an id".into(), passes: 12_000, fails: 0 },
    ];
    let group = GroupSummary {
        name: "checkout".into(),
        path: "::checkout".into(),
        checks: checks.clone(),
        metrics: part("http_req_duration"),
        groups: vec![],
    };
    let scenario = ScenarioSummary {
        name: "shop".into(),
        checks: checks.clone(),
        metrics: part("iteration_duration"),
        groups: vec![group.clone()],
    };
    let lateness = trend("iteration_lateness", [Statistic::Number(0.2), Statistic::Number(0.9)], true);
    let e2e = trend("e2e_latency", [Statistic::Number(59_200.0), Statistic::Number(83_300.0)], true);
    SummaryInput {
        validity: Some(distrusted()),
        run_duration: Duration::from_secs(120),
        metrics: vec![
            duration,
            failed,
            response_time,
            lateness,
            e2e,
            counter("http_reqs", 12_000.0, 100.0),
            counter("dropped_iterations", 40.0, 1.0 / 3.0),
            rate("checks", 23_986, 24_000),
            MetricSummary { contains: ValueKind::Data, ..counter("data_received", 12_345_678.0, 102_880.65) },
        ],
        checks,
        root_group: GroupSummary { groups: vec![group], ..GroupSummary::default() },
        groups_outside: vec![],
        scenarios: vec![scenario],
        setup_data: None,
    }
}

fn endpoints() -> Vec<Endpoint> {
    let endpoint = |method: &str, name: &str, requests, failed, p95| Endpoint {
        method: method.into(),
        name: name.into(),
        requests,
        failed,
        duration: trend("", [Statistic::Number(20.0), p95], requests < 4096).values,
    };
    vec![
        endpoint(
            "POST",
            "https://shop.example/api/checkout",
            2_000,
            14,
            Statistic::AtLeast(60_000.0, "timeout"),
        ),
        endpoint("GET", "https://shop.example/api/items", 10_000, 0, Statistic::Number(640.0)),
    ]
}

fn error(code: u16, message: &str, count: u64, example: &str) -> ErrorEntry {
    ErrorEntry { code, message: message.into(), count, example: example.into() }
}

fn exemplar(kind: ExemplarKind, at_s: f64, duration: Statistic, error: &str) -> ExemplarEntry {
    ExemplarEntry {
        kind,
        at: Duration::from_secs_f64(at_s),
        duration,
        method: "POST".into(),
        url: "https://shop.example/api/checkout?id=7".into(),
        status: if error.is_empty() { "200".into() } else { "0".into() },
        trace_id: Some(0x0123_4567_89ab_cdef),
        is_trace_kept: true,
        whole: Some(Attribution::from_parts(&[
            (Component::Network, 3_000_000),
            (Component::Database, 40_000_000),
        ])),
        error: error.into(),
    }
}

pub(super) fn threshold(source: &str, ok: bool, name: &str, observed: Statistic) -> ThresholdSummary {
    ThresholdSummary { source: source.into(), ok, observed: (name.into(), observed) }
}

pub(super) fn trend(name: &str, [avg, p95]: [Statistic; 2], is_exact: bool) -> MetricSummary {
    let stats = vec![("avg".into(), avg), ("p(95)".into(), p95)];
    let values = Values::Trend { stats, exact: Some(is_exact), untimed: 0 };
    MetricSummary { name: name.into(), contains: ValueKind::Time, values, thresholds: vec![] }
}

pub(super) fn counter(name: &str, count: f64, rate: f64) -> MetricSummary {
    let values = Values::Counter { count, rate };
    MetricSummary { name: name.into(), contains: ValueKind::Default, values, thresholds: vec![] }
}

fn rate(name: &str, passes: u64, total: u64) -> MetricSummary {
    let values = Values::Rate { passes, total };
    MetricSummary { name: name.into(), contains: ValueKind::Default, values, thresholds: vec![] }
}

/// A generator whose timers were late, whose connections were lost, and of whose control group nothing is known.
fn distrusted() -> Validity {
    let lag = Reason {
        fault: Fault::TimerLag,
        grade: Grade::Degraded,
        observed: Amount::Milliseconds(41.0),
        limit: Amount::Milliseconds(10.0),
        windows: vec![12..15, 40..41],
    };
    let connects = Reason {
        fault: Fault::Connects,
        grade: Grade::Degraded,
        observed: Amount::Share(0.0312),
        limit: Amount::Share(0.001),
        windows: vec![],
    };
    let remark = Reason {
        fault: Fault::RunDelay,
        grade: Grade::Valid,
        windows: std::iter::once(3..4).collect(),
        ..connects.clone()
    };
    Validity { unmeasured: vec![Fault::Throttled], ..distrusted_by(vec![lag, connects, remark]) }
}

fn distrusted_by(reasons: Vec<Reason>) -> Validity {
    Validity { grade: Grade::Degraded, reasons, unmeasured: vec![], windows: vec![(0, Grade::Valid); 83] }
}
