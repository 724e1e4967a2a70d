//! The traces that belong to a run: a receiver at the default port also gets traces of unrelated services, of scrapes, and of
//! consumers that work on messages of an earlier run.
//!
//! A sampled request carries the run's trace context (W3C Trace Context, `traceparent`), so that its trace has the client's span
//! and those of servers. Requests without a context start traces of their own in the same services, by the same entry operations.

use std::collections::HashSet;

use model::{Span, SpanKind, Trace};

/// The traces that servers recorded for the run.
///
/// Where servers joined the run's trace context, these are the traces that they joined, those that link to one of them, and those
/// that begin with an entry operation of one of them. Consumers that begin a trace without a link work on messages of others.
/// Without a joining server span all traces count, since they cannot be attributed to a run.
pub(crate) fn own_traces(traces: &[Trace]) -> Vec<&Trace> {
    let answered: Vec<&Trace> = traces.iter().filter(|trace| !trace.spans.iter().all(Span::is_own)).collect();
    let joined = |trace: &&&Trace| trace.spans.iter().any(Span::is_own);
    let ids: HashSet<u128> = answered.iter().filter(joined).map(|trace| trace.id).collect();
    if ids.is_empty() {
        return answered;
    }
    let entries: HashSet<(&str, &str)> =
        answered.iter().filter(joined).flat_map(|trace| &trace.spans).filter_map(entry).collect();
    let is_own = |trace: &&Trace| {
        ids.contains(&trace.id)
            || trace.spans.iter().flat_map(|span| &span.links).any(|(linked, _)| ids.contains(linked))
            || trace.root().and_then(entry).is_some_and(|root| entries.contains(&root))
    };
    answered.into_iter().filter(is_own).collect()
}

/// The service and operation of a span that answers a request.
fn entry(span: &Span) -> Option<(&str, &str)> {
    (span.kind == SpanKind::Server).then_some((&*span.service, &*span.operation))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{asked, request, sampled, span};
    use super::*;

    fn consumer(number: u128, linked: Option<u128>) -> Trace {
        let work = Span { kind: SpanKind::Consumer, ..span(1, 0, "worker", "process q", 0.0, 60.0) };
        sampled(number, vec![Span { links: linked.map(|trace| (trace, 1)).into_iter().collect(), ..work }])
    }

    #[test]
    fn traces_of_others_do_not_count() {
        let run = || sampled(0, asked(12.0, request("shop", "GET /", 10.0, &[])));
        let unsampled = sampled(1, request("shop", "GET /", 10.0, &[]));
        let scrape = sampled(2, request("shop", "GET /metrics", 1.0, &[]));
        let foreign = sampled(3, request("billing", "GET /", 900.0, &[]));
        let alone = sampled(4, asked(12.0, Vec::new()));
        let all =
            vec![run(), unsampled.clone(), scrape, foreign, alone, consumer(5, None), consumer(6, Some(1))];
        let ids: Vec<u128> = own_traces(&all).iter().map(|trace| trace.id).collect();
        assert_eq!(ids, [1, 2, 7]);
        let others: Vec<Trace> = all.into_iter().skip(1).collect();
        assert_eq!(own_traces(&others).len(), 5, "no server joined the run's context");
    }

    #[test]
    fn foreign_services_change_no_shares() {
        let level = |foreign: u128| {
            let run = |number| sampled(number, asked(12.0, request("shop", "GET /", 10.0, &[])));
            let other = |number| sampled(number, request("billing", "GET /", 900.0, &[]));
            (0..20).map(run).chain((20..20 + foreign).map(other)).collect::<Vec<Trace>>()
        };
        let (with, without) =
            (super::super::paths::Paths::new(&level(40)), super::super::paths::Paths::new(&level(0)));
        assert_eq!((with.traces, with.mean_s()), (without.traces, without.mean_s()));
    }
}
