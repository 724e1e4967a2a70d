//! Cases for tests: levels, signals and traces in a line each.

use std::collections::BTreeMap;
use std::time::Duration;

use model::{Evidence, Grade, Instant, Kept, Record, RecordKind, Signal, Span, SpanKind, SpanStatus, Trace};

use super::case::{Level, Requests, Second};

/// When the runs of tests begin.
pub(crate) const ZERO_NS: u64 = 100_000_000_000;

/// An instant of such a run, seconds from its beginning.
pub(crate) fn at(second: f64) -> Instant {
    Instant::from_ns((ZERO_NS as f64 + second * 1e9) as u64)
}

/// A valid run of so many seconds, at so many requests per second, each of which takes so long.
pub(crate) fn level(seconds: u32, rate: u64, mean_s: f64) -> Level {
    let second = |number: u32| Second {
        from: at(f64::from(number)),
        to: at(f64::from(number) + 1.0),
        finished: rate,
        mean_s: Some(mean_s),
        in_flight: rate as f64 * mean_s,
        bytes_in: rate as f64 * 1000.0,
    };
    let count = u64::from(seconds) * rate;
    Level {
        id: "ab12cd34".to_owned(),
        command: "plimsoll run script.js".to_owned(),
        grade: Grade::Valid,
        seconds: (0..seconds).map(second).collect(),
        requests: Requests {
            count,
            mean_s: Some(mean_s),
            p95_s: Some(mean_s * 2.0),
            receiving_s: Some(0.000_1),
            bytes_in: count as f64 * 1000.0,
            ..Requests::default()
        },
        ..Level::default()
    }
}

/// The same level with evidence from servers.
pub(crate) fn with_evidence(level: Level, signals: Vec<Signal>, records: Vec<Record>) -> Level {
    Level { evidence: Evidence { signals, records, ..Evidence::default() }, ..level }
}

pub(crate) fn signal(name: &str, labels: &[(&str, &str)], points: &[(f64, f64)]) -> Signal {
    Signal {
        source: "source".to_owned(),
        name: name.into(),
        labels: labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        unit: String::new(),
        query: format!("ask for {name}"),
        step: Duration::from_secs(1),
        points: points.iter().map(|(second, value)| (at(*second), *value)).collect(),
    }
}

/// A signal that is the same in each of so many seconds.
pub(crate) fn flat(name: &str, labels: &[(&str, &str)], seconds: u32, value: f64) -> Signal {
    let points: Vec<(f64, f64)> = (1..=seconds).map(|second| (f64::from(second), value)).collect();
    signal(name, labels, &points)
}

pub(crate) fn record(kind: RecordKind, subject: &str, fields: &[(&str, f64)]) -> Record {
    let fields: BTreeMap<String, model::Datum> =
        fields.iter().map(|(name, number)| ((*name).to_owned(), (*number).into())).collect();
    Record { source: "source".to_owned(), kind, at: at(1.0), subject: subject.to_owned(), fields }
}

/// A span, in milliseconds from the beginning of the run.
pub(crate) fn span(
    id: u64,
    parent: u64,
    service: &str,
    operation: &str,
    start_ms: f64,
    length_ms: f64,
) -> Span {
    Span {
        id,
        parent: (parent != 0).then_some(parent),
        kind: SpanKind::Internal,
        service: service.into(),
        operation: operation.into(),
        start_ns: (ZERO_NS as f64 + start_ms * 1e6) as i64,
        duration: Duration::from_nanos((length_ms * 1e6) as u64),
        status: SpanStatus::Unset,
        attributes: Vec::new(),
        links: Vec::new(),
    }
}

/// A request that a service answers, and the statements that it makes for that: what each does, from when, how long.
pub(crate) fn request(
    service: &str,
    operation: &str,
    length_ms: f64,
    below: &[(&str, f64, f64)],
) -> Vec<Span> {
    let root = Span { kind: SpanKind::Server, ..span(1, 0, service, operation, 0.0, length_ms) };
    let below = below.iter().zip(2..).map(|((text, start_ms, length_ms), id)| {
        let attributes = [("db.system.name", "postgresql"), ("db.query.text", *text)];
        let attributes = attributes.map(|(name, value)| (name.into(), value.to_owned())).to_vec();
        Span { kind: SpanKind::Client, attributes, ..span(id, 1, service, text, *start_ms, *length_ms) }
    });
    std::iter::once(root).chain(below).collect()
}

/// Traces of work in `slots`, each of which takes one at a time, for `length_ms`. `build` makes the spans of a trace from the time at
/// which it gets its slot, milliseconds.
pub(crate) fn in_slots(
    slots: usize,
    traces: u128,
    length_ms: f64,
    build: impl Fn(f64) -> Vec<Span>,
) -> Vec<Trace> {
    let trace = |number: u128| {
        let turn = (number / slots as u128) as f64 + (number % slots as u128) as f64 / slots as f64;
        Trace { id: number + 1, kept: Kept::Sample { share: 1.0 }, spans: build(500.0 + turn * length_ms) }
    };
    (0..traces).map(trace).collect()
}

/// The client's side of a request, with what servers did for it: their first span has the number 1.
pub(crate) fn asked(length_ms: f64, mut below: Vec<Span>) -> Vec<Span> {
    if let Some(server) = below.first_mut() {
        server.parent = Some(99);
    }
    let attributes = vec![("plimsoll.request".into(), "measured".to_owned())];
    let client = Span {
        kind: SpanKind::Client,
        attributes,
        ..span(99, 0, model::OWN_SERVICE, "GET /", -5.0, length_ms)
    };
    std::iter::once(client).chain(below).collect()
}

/// A trace of the unbiased sample, a hundred milliseconds after the one before.
pub(crate) fn sampled(number: u128, mut spans: Vec<Span>) -> Trace {
    for span in &mut spans {
        span.start_ns += number as i64 * 100_000_000;
    }
    Trace { id: number + 1, kept: Kept::Sample { share: 1.0 }, spans }
}
