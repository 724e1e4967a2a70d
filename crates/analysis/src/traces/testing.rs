//! Traces for tests.

use std::time::Duration;

use model::{Kept, OWN_SERVICE, Span, SpanKind, SpanStatus, Trace};
use proptest::prelude::*;

/// A span of the service `shop` named by its number; a parent of zero is none.
pub(super) fn span(id: u64, parent: u64, start_ns: i64, length_ns: u64) -> Span {
    Span {
        id,
        parent: (parent != 0).then_some(parent),
        kind: SpanKind::Internal,
        service: "shop".into(),
        operation: format!("work {id}").into(),
        start_ns,
        duration: Duration::from_nanos(length_ns),
        status: SpanStatus::Unset,
        attributes: Vec::new(),
        links: Vec::new(),
    }
}

/// A call of a database.
pub(super) fn query(id: u64, parent: u64, start_ns: i64, length_ns: u64, text: &str) -> Span {
    let attributes = [("db.system.name", "postgresql"), ("db.query.text", text)];
    let attributes = attributes.map(|(name, value)| (name.into(), value.to_owned()));
    let span = span(id, parent, start_ns, length_ns);
    Span { kind: SpanKind::Client, operation: "SELECT".into(), attributes: attributes.into(), ..span }
}

/// A worker's span for a message out of a queue.
pub(super) fn task(id: u64, parent: u64, start_ns: i64, length_ns: u64, queue: &str) -> Span {
    let attributes = vec![("messaging.destination.name".into(), queue.to_owned())];
    let operation = format!("process {queue}").into();
    let span = span(id, parent, start_ns, length_ns);
    Span { kind: SpanKind::Consumer, service: "worker".into(), operation, attributes, ..span }
}

/// A trace of the unbiased sample.
pub(super) fn trace(spans: Vec<Span>) -> Trace {
    Trace { id: 1, kept: Kept::Sample { share: 0.5 }, spans }
}

/// A scan as the lab's scanner traces it: a submission, and four steps that stand below it, each out of its own queue. The
/// third asks a model. All in milliseconds.
pub(super) fn scan() -> Trace {
    const MS: i64 = 1_000_000;
    let ms = |length: u64| length * 1_000_000;
    let submit = Span {
        kind: SpanKind::Server,
        service: "api".into(),
        operation: "POST /scan".into(),
        ..span(1, 0, 0, ms(100))
    };
    let vision = task(2, 1, 18_100 * MS, ms(4_000), "vision");
    let rule = task(3, 1, 31_100 * MS, ms(50), "rule");
    let answer = task(4, 1, 43_150 * MS, ms(6_000), "answer");
    let host = vec![("server.address".into(), "model.example".to_owned())];
    let call = Span {
        kind: SpanKind::Client,
        service: "worker".into(),
        operation: "POST /answer".into(),
        attributes: host,
        ..span(6, 4, 43_200 * MS, ms(5_900))
    };
    let reward = task(5, 1, 55_150 * MS, ms(850), "reward");
    trace(vec![submit, vision, rule, answer, call, reward])
}

/// A span of a generated trace: number, parent, kind, start and length, extra attribute, link.
type One = (u64, u64, SpanKind, (i64, u64), usize, u64);

/// Generates malformed traces: few numbers, so that spans claim each other, and times that do not fit.
pub(super) fn any_trace() -> impl Strategy<Value = Trace> {
    let kind = (0..SpanKind::ALL.len()).prop_map(|at| SpanKind::ALL[at]);
    let times = prop_oneof![
        8 => (0..60_i64, 0..40_u64),
        1 => Just((i64::MIN, u64::MAX)),
        1 => Just((i64::MAX, u64::MAX)),
        1 => (any::<i64>(), any::<u64>()),
    ];
    let one = (1..24_u64, 0..24_u64, kind, times, 0..6_usize, 0..24_u64);
    prop::collection::vec(one, 0..40).prop_map(|all| {
        let span = |(id, parent, kind, (start, length), extra, link): One| {
            let mut span = Span { kind, ..span(id, parent, start, length) };
            let (name, value) = [
                ("", ""),
                ("db.system", "redis"),
                ("messaging.destination.name", "q"),
                ("peer.service", "shop"),
                ("plimsoll.task", "finished"),
                ("plimsoll.request", "measured"),
            ][extra];
            if !name.is_empty() {
                span.attributes = vec![(name.into(), value.to_owned())];
            }
            if name.starts_with("plimsoll") {
                span.service = OWN_SERVICE.into();
                span.attributes.push(("plimsoll.connecting_ms".into(), "0.00001".to_owned()));
            }
            span.links = vec![(1, link)];
            span
        };
        trace(all.into_iter().map(span).collect())
    })
}
