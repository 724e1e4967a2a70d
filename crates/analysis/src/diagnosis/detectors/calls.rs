//! Downstream calls that take most of the time: a slow service, one with a rate limit, or
//! its DNS lookup.
//!
//! A worker that waits for a call makes other requests queue, so a call also accounts for its share of the queueing for workers
//! (the queueing time is shared in proportion to demand; utilisation law). Evidence of a rate limit is a status 429 or an attribute,
//! or calls that either pass at once or wait long at a constant rate.
//!
//! Not: calls of databases, which are reported with their statements.

use std::collections::BTreeMap;

use model::diagnosis::{
    Caveat, Change, Claim, CostClass, FigureName, Hypothesis, MissingKind, Note, Remedy, Role, RuledOut,
    SlotKind,
};
use model::{SpanKind, Strength, Unit};

use super::super::case_view::View;
use super::super::concurrency::{self, ConcurrencyLimit};
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::paths::{Step, StepKey};
use super::super::prediction::Gone;
use super::super::thresholds::calls::{
    DECIDES_MIN, DEMAND_MIN, EVEN_MAX, HELD_MIN, HELD_SHARE_MIN, INNER_MIN, LIMITED_S_MIN, NOTICED_S,
    QUICK_MAX, SHARE_MIN,
};
use super::super::thresholds::case_view::WAITS_MIN;
use crate::roles::{ActivityRole, Callee, is_method_alone};

/// Kinds of slow calls.
#[derive(Clone, Copy, PartialEq)]
enum CallKind {
    Slow,
    Paced,
    Lookup,
    /// Few are served at a time, and the others wait inside their spans.
    InLine(ConcurrencyLimit),
}

/// Finds downstream calls that take most of the time.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    if view.paths.traces == 0 {
        return vec![Observation::Missing(MissingKind::Traces)];
    }
    let mut all: Vec<Observation> = Vec::new();
    all.extend(reported_limit(view));
    if let Some(found) = in_front_of_callee(view) {
        all.push(found);
        return all;
    }
    let calls = view.paths.steps.iter().filter(|(key, step)| is_call(view, key, step));
    let shares: Vec<Shared<'_>> = calls.map(|(key, step)| (key, step, Share::new(view, key, step))).collect();
    let Some((key, step, share)) = innermost(&shares) else { return all };
    if share.all < SHARE_MIN || share.demand < DEMAND_MIN {
        all.push(Observation::RuledOut(RuledOut::SlowCalls {
            service: key.service.to_string(),
            operation: key.operation.to_string(),
            time_share: share.all,
        }));
        return all;
    }
    let is_reported = all.iter().any(|observations| matches!(observations, Observation::Found(..)));
    if step.role == ActivityRole::Lookup {
        all.push(found(view, (key, step), share, CallKind::Lookup));
    } else if is_limited(view, step) && !is_reported {
        all.push(found(view, (key, step), share, CallKind::Paced));
    } else if !is_reported {
        let kind = in_line(view, key, step).map_or(CallKind::Slow, CallKind::InLine);
        all.push(found(view, (key, step), share, kind));
    }
    all
}

/// Finds calls that wait between their caller and their callee: the span of the call has begun, that of the callee has not, and the
/// callee has a limited number of spans open. The limit is one of the callee, or of the connections to it.
fn in_front_of_callee(view: &View<'_>) -> Option<Observation> {
    if view.paths.is_biased {
        return None;
    }
    let mut calls: BTreeMap<&str, Vec<&Step>> = BTreeMap::new();
    for step in view.paths.steps.values().filter(|step| step.is_call) {
        if let Some(callee) = &step.served_by {
            calls.entry(callee).or_default().push(step);
        }
    }
    let wait_ns = |calls: &[&Step]| calls.iter().map(|step| step.own_ns.min(step.before_ns)).sum::<f64>();
    let (callee, calls) = calls.into_iter().max_by(|a, b| wait_ns(&a.1).total_cmp(&wait_ns(&b.1)))?;
    let step = calls.iter().max_by_key(|step| step.spans)?;
    let share = view.share_of_paths(wait_ns(&calls));
    let served = view.paths.served(callee).flat_map(|(_, step)| step.times_ns.iter().copied());
    let limit =
        concurrency::limit(&served.collect::<Vec<_>>(), view.weight()).filter(|_| share >= SHARE_MIN)?;
    let claim = Claim::QueuedInFront {
        service: callee.to_owned(),
        at_once: limit.at_once,
        through_per_s: view.level.requests_per_s(),
        waiting_share: share,
    };
    let numbers = vec![
        exact(FigureName::CallTime, step.mean_s(), Unit::Seconds).noted(Note::MeanOf(step.spans)),
        exact(FigureName::RequestTimeShare, share * 100.0, Unit::Percent),
        exact(FigureName::AtOnce, limit.open, Unit::Count).noted(Note::WorkPerSecond),
        exact(FigureName::ServiceTime, limit.mean_s, Unit::Seconds),
    ];
    let remedy = Remedy::AddWorkers { service: callee.to_owned(), cacheable: None };
    Some(Observation::Found(
        Box::new(Hypothesis {
            strength: Strength::Arithmetic,
            explains: Some(share),
            numbers,
            exemplars: view.exemplars(&step.slowest),
            caveats: vec![Caveat::PoolOrCallee { at_once: limit.at_once }],
            cost: CostClass::Setting,
            prediction: view.with_slots(share, SlotKind::Workers, limit.at_once),
            ..draft(claim, remedy, callee.to_owned())
        }),
        Depth::Resource,
    ))
}

/// A call, and the part of response time that it accounts for.
type Shared<'a> = (&'a StepKey, &'a Step, Share);

/// The call that takes the most. If its callee has spans and spends most of that time in a call of its own, it is that one.
fn innermost<'a>(shares: &'a [Shared<'a>]) -> Option<&'a Shared<'a>> {
    let most = shares.iter().max_by(|a, b| a.2.all.total_cmp(&b.2.all))?;
    let is_inside = |(key, step, _): &&Shared<'_>| {
        let is_of_callee = most.1.parents > 0 && key.service != most.0.service;
        is_of_callee && step.parents == 0 && step.total_ns >= most.1.total_ns * INNER_MIN
    };
    let inside = shares.iter().filter(is_inside).max_by(|a, b| a.1.total_ns.total_cmp(&b.1.total_ns));
    Some(inside.unwrap_or(most))
}

/// Returns true for a call of another service: a client span, or an internal span that records a call.
fn is_call(view: &View<'_>, key: &StepKey, step: &Step) -> bool {
    if step.is_database {
        return false;
    }
    match step.role {
        // Manual instrumentation records calls as internal spans.
        ActivityRole::Call(_) if key.kind == SpanKind::Internal => true,
        ActivityRole::Lookup => true,
        // Where the callee has spans too, the time is the callee's.
        ActivityRole::Call(_) | ActivityRole::Connect => {
            !is_proxy(view, key, step) && is_asked(view, &key.service)
        }
        _ => false,
    }
}

/// Returns true if a service receives requests. One without any is the load test itself, and the services it calls are the target.
fn is_asked(view: &View<'_>, service: &str) -> bool {
    let mut own = view.paths.steps.keys().filter(|key| &*key.service == service);
    own.any(|key| matches!(key.kind, SpanKind::Server | SpanKind::Consumer))
}

/// Returns true for a proxy, which passes on all of its requests: its calls are its purpose.
fn is_proxy(view: &View<'_>, key: &StepKey, call: &Step) -> bool {
    let mut own = view.paths.steps.iter().filter(|(other, _)| other.service == key.service);
    let calls = call.spans;
    own.any(|(other, step)| other.kind == SpanKind::Server && step.spans <= calls + calls / 50)
        && view.paths.steps.keys().any(|other| other.service != key.service && other.kind == SpanKind::Server)
        && call.role == ActivityRole::Call(Callee::Upstream)
}

/// The part of response time that a call accounts for.
pub(super) struct Share {
    /// Share of the call itself.
    pub(super) own: f64,
    /// Share with its part of the queueing for workers.
    pub(super) all: f64,
    /// Share of its service's work, without queueing.
    pub(super) demand: f64,
    /// Share of queueing for workers of its service.
    pub(super) waits: f64,
}

impl Share {
    pub(super) fn new(view: &View<'_>, key: &StepKey, step: &Step) -> Share {
        let own = view.share_of_paths(step.total_ns);
        let of_service = view.paths.steps.iter().filter(|(other, _)| other.service == key.service);
        let (mut waits_ns, mut works_ns) = (0.0, 0.0);
        for (_, step) in of_service {
            match step.role.is_wait() {
                true => waits_ns += step.own_ns,
                false => works_ns += step.own_ns,
            }
        }
        // The callee may have spans of its own, which are no work of the caller.
        let demand = step.total_ns / (works_ns - step.own_ns + step.total_ns).max(1.0);
        let waits = view.share_of_paths(waits_ns);
        Share { own, all: (own + waits * demand).min(1.0), demand, waits }
    }
}

/// Returns the limit of calls that wait inside their spans: for a connection of the caller, or for a callee without spans of its own.
/// Below a client's span there may be its look-up and the opening of its connection.
fn in_line(view: &View<'_>, key: &StepKey, step: &Step) -> Option<ConcurrencyLimit> {
    let is_wrapper = key.kind == SpanKind::Internal && step.parents > 0;
    if view.paths.is_biased || is_wrapper || step.served_by.is_some() {
        return None;
    }
    concurrency::in_line(&step.times_ns, view.weight())
}

/// Returns true if calls complete at an even rate, some at once and others after a long time.
fn is_limited(view: &View<'_>, step: &Step) -> bool {
    let mean_s = step.mean_s();
    if mean_s < LIMITED_S_MIN || step.quantile_s(0.05) > mean_s * QUICK_MAX {
        return false;
    }
    let mut per_second: BTreeMap<i64, f64> = BTreeMap::new();
    for (start_ns, length_ns) in &step.times_ns {
        let end_ns = start_ns.saturating_add(i64::try_from(*length_ns).unwrap_or(i64::MAX));
        *per_second.entry(end_ns / 1_000_000_000).or_default() += 1.0;
    }
    // The first and the last second are incomplete.
    let counts: Vec<f64> = per_second.into_values().collect();
    let Some(counts) = counts.get(1..counts.len().saturating_sub(1)).filter(|counts| counts.len() >= 5)
    else {
        return false;
    };
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / counts.len() as f64;
    // The standard deviation of a Poisson count is its root.
    let is_even = variance.sqrt() <= mean * EVEN_MAX + mean.sqrt() / 2.0;
    is_even && view.level.length_s() > 0.0
}

fn reported_limit(view: &View<'_>) -> Option<Observation> {
    let limited = &view.paths.limited;
    let held = limited.held as f64 / limited.spans.max(1) as f64;
    if limited.spans == 0 {
        return None;
    }
    let share = view.share_of_paths(limited.waited_ms * 1e6);
    if held < HELD_MIN || share < HELD_SHARE_MIN {
        return Some(Observation::RuledOut(RuledOut::CallsHeldBack {
            held: limited.held,
            calls: limited.spans,
        }));
    }
    let mean_s = limited.waited_ms / 1e3 / limited.held.max(1) as f64;
    let claim = Claim::CallsHeldBack {
        service: limited.service.clone(),
        held_share: held,
        mean_s,
        time_share: share,
    };
    Some(Observation::Found(
        Box::new(Hypothesis {
            role: Role::Limits,
            strength: Strength::Limit,
            explains: Some(share),
            numbers: vec![
                exact(FigureName::CallsHeldBack, held * 100.0, Unit::Percent),
                exact(FigureName::HeldBackTime, mean_s, Unit::Seconds).noted(Note::OfThose),
                exact(FigureName::TimeShare, share * 100.0, Unit::Percent),
            ],
            cost: CostClass::Setting,
            prediction: view.without(share, Change::NoRateLimit),
            caveats: vec![Caveat::WorkersDoNotHelp],
            ..draft(claim, Remedy::RaiseRateLimit, limited.service.clone())
        }),
        Depth::Cause,
    ))
}

fn found(view: &View<'_>, (key, step): (&StepKey, &Step), share: &Share, kind: CallKind) -> Observation {
    let is_jam = share.waits >= WAITS_MIN || matches!(kind, CallKind::Paced | CallKind::InLine(_));
    let (least, _) = view.share_interval(share.own);
    // Of calls in line, only the wait is gone without the limit.
    let explains = match kind {
        CallKind::InLine(limit) => share.all * (1.0 - limit.at_once / limit.open),
        _ => share.all,
    };
    let decides = least >= DECIDES_MIN && step.mean_s() >= NOTICED_S;
    let limits = is_jam || decides || !view.level.thresholds_failed.is_empty();
    let (claim, remedy, cost) = claim(view, (key, step), share, kind);
    Observation::Found(
        Box::new(Hypothesis {
            role: if limits { Role::Limits } else { Role::Contributes },
            strength: Strength::Statistics,
            explains: Some(explains),
            numbers: vec![
                exact(FigureName::CallTime, step.mean_s(), Unit::Seconds).noted(Note::MeanOf(step.spans)),
                exact(FigureName::RequestTimeShare, share.own * 100.0, Unit::Percent),
                exact(FigureName::ServiceWorkShare, share.demand * 100.0, Unit::Percent)
                    .noted(Note::WithoutQueueing),
                exact(FigureName::WorkerWaitShare, share.waits * 100.0, Unit::Percent)
                    .noted(Note::OfRequestTime),
            ],
            exemplars: view.exemplars(&step.slowest),
            flags: super::biased(view),
            caveats: match kind {
                CallKind::InLine(limit) => vec![Caveat::PoolOrCallee { at_once: limit.at_once }],
                _ if limits => Vec::new(),
                _ => vec![Caveat::NoBaseline],
            },
            cost,
            prediction: match kind {
                CallKind::InLine(limit) => view.with_slots(explains, SlotKind::Connections, limit.at_once),
                // A worker that does not wait for the call is free for others.
                _ => view.without_work(
                    Gone {
                        share: share.all,
                        freed: if share.waits >= WAITS_MIN { share.demand } else { 0.0 },
                    },
                    Change::NoCallWait,
                ),
            },
            ..draft(claim, remedy, called(key, step))
        }),
        if is_jam { Depth::Cause } else { Depth::Part },
    )
}

/// Returns the name of a call, with the callee's host if the span's name does not say what is called.
fn called(key: &StepKey, step: &Step) -> String {
    match &step.callee {
        Some(callee) if is_method_alone(&key.operation) => format!("{} {callee}", key.operation),
        _ => key.operation.to_string(),
    }
}

fn claim(
    view: &View<'_>,
    (key, step): (&StepKey, &Step),
    share: &Share,
    kind: CallKind,
) -> (Claim, Remedy, CostClass) {
    let (service, operation) = (key.service.to_string(), called(key, step));
    let (mean_s, time_share) = (step.mean_s(), share.all);
    match kind {
        CallKind::Lookup => {
            (Claim::NameResolution { service, mean_s, time_share }, Remedy::CacheLookups, CostClass::Setting)
        }
        CallKind::Paced => {
            let per_s = step.spans as f64 / view.level.length_s().max(1.0);
            let slow_s = step.quantile_s(0.9);
            let claim = Claim::CallsPaced { operation, per_s, slow_s, mean_s, time_share };
            (claim, Remedy::RaiseRateLimit, CostClass::Setting)
        }
        CallKind::InLine(limit) => {
            let waiting_share = time_share * (1.0 - limit.at_once / limit.open);
            let claim = Claim::CallsInLine {
                service: service.clone(),
                operation,
                at_once: limit.at_once,
                open: limit.open,
                one_s: limit.mean_s,
                waiting_share,
            };
            (claim, Remedy::RaiseClientConnections { service }, CostClass::Setting)
        }
        CallKind::Slow => {
            let claim = Claim::SlowCalls { service, operation, mean_s, calls: step.spans as f64, time_share };
            (claim, Remedy::CallLess, CostClass::Architecture)
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Span;

    use super::super::super::testing::{level, request, sampled, span};
    use super::super::testing::{check, fires};
    use super::*;

    /// A request that waits for a worker and then for a call.
    fn case(operation: &str, wait_ms: f64, call_ms: impl Fn(u128) -> f64) -> crate::diagnosis::Level {
        let trace = |number: u128| {
            let call_ms = call_ms(number);
            let mut spans = request("shop", "GET /", wait_ms + call_ms + 5.0, &[]);
            spans.push(span(2, 1, "shop", "wait for the worker", 0.0, wait_ms));
            spans.push(Span { kind: SpanKind::Client, ..span(3, 1, "shop", operation, wait_ms, call_ms) });
            sampled(number, spans)
        };
        crate::diagnosis::Level { traces: (0..200).map(trace).collect(), ..level(20, 10, 0.1) }
    }

    #[test]
    fn a_call_answers_for_those_who_wait_behind_it() {
        check(detect, &case("POST /notify", 70.0, |_| 25.0), &["slow downstream: POST /notify"]);
        check(detect, &case("dns.lookup", 70.0, |_| 40.0), &["DNS delay: dns.lookup"]);
        check(detect, &case("POST /notify", 0.0, |_| 0.5), &[]);
        let found = fires(detect, &case("POST /notify", 70.0, |_| 25.0));
        assert_eq!(found[0].role, Role::Limits);
        let found = fires(detect, &case("POST /notify", 0.0, |_| 25.0));
        assert_eq!(found[0].role, Role::Contributes, "no request queues behind it");
    }

    /// A front calls a service, whose spans show that it waits for a call of its own.
    #[test]
    fn the_call_that_a_callee_waits_for_is_named_and_not_the_callee() {
        let case = |inner_ms: f64| {
            let trace = |number: u128| {
                let kind = |kind, span: Span| Span { kind, ..span };
                let mut spans = request("front", "GET /quote", 400.0, &[]);
                spans.push(kind(SpanKind::Client, span(2, 1, "front", "shop.Shop/Quote", 1.0, 398.0)));
                spans.push(kind(SpanKind::Server, span(3, 2, "back", "shop.Shop/Quote", 2.0, 396.0)));
                spans.push(kind(SpanKind::Client, span(4, 3, "back", "POST /price", 3.0, inner_ms)));
                sampled(number, spans)
            };
            crate::diagnosis::Level { traces: (0..200).map(trace).collect(), ..level(20, 10, 0.4) }
        };
        check(detect, &case(390.0), &["slow downstream: POST /price"]);
        check(detect, &case(20.0), &["slow downstream: shop.Shop/Quote"]);
    }

    /// Calls wait in the client of a front until the service behind begins one of the few that it serves at a time.
    #[test]
    fn calls_that_wait_in_front_of_their_callee_are_no_slow_callee() {
        let case = |slots: usize, waits_ms: f64| {
            let build = |start_ms: f64| {
                let kind = |kind, span: Span| Span { kind, ..span };
                let mut spans = request("front", "GET /report", waits_ms + 42.0, &[]);
                spans.push(kind(
                    SpanKind::Client,
                    span(2, 1, "front", "shop.Shop/Report", 0.5, waits_ms + 41.0),
                ));
                spans.push(kind(
                    SpanKind::Server,
                    span(3, 2, "back", "shop.Shop/Report", waits_ms + 1.0, 40.0),
                ));
                spans.iter_mut().for_each(|span| span.start_ns += ((start_ms - waits_ms) * 1e6) as i64);
                spans
            };
            let traces = super::super::super::testing::in_slots(slots, 1000, 40.0, build);
            crate::diagnosis::Level { traces, ..level(20, 50, (waits_ms + 42.0) / 1e3) }
        };
        check(detect, &case(2, 440.0), &["too few workers: back"]);
        check(detect, &case(2, 1.0), &["slow downstream: shop.Shop/Report"]);
    }

    /// A task that the test submits and polls is a span of its own, which calls the target.
    #[test]
    fn the_tests_own_calls_are_no_finding() {
        let mut level = case("POST /notify", 0.0, |_| 0.5);
        for trace in &mut level.traces {
            trace.spans.iter_mut().for_each(|span| span.parent = span.parent.or(Some(9)));
            let task = span(9, 0, "plimsoll", "task scan", 0.0, 50.0);
            trace.spans.push(Span { kind: SpanKind::Client, start_ns: trace.spans[0].start_ns, ..task });
        }
        check(detect, &level, &[]);
    }

    #[test]
    fn calls_that_pass_at_once_or_wait_long_are_limited() {
        let steps =
            |number: u128| if number.is_multiple_of(5) { 0.1 } else { 150.0 * (1 + number % 3) as f64 };
        check(detect, &case("ask downstream", 0.0, steps), &["downstream rate limit: ask downstream"]);
    }

    /// Sixteen users whose calls of 100 ms go over `connections`, which they wait for inside the span of the call.
    #[test]
    fn calls_that_wait_for_a_connection_are_no_slow_callee() {
        let case = |connections: u128, is_opened: bool| {
            let mean_ms = 16.0 / connections as f64 * 102.0;
            let trace = |number: u128| {
                let turn = (number / connections) as f64 + (number % connections) as f64 * 0.3;
                let end_ms = 1_700.0 + turn * 102.0;
                let length_ms = mean_ms.min(101.0 + turn * 102.0);
                let mut spans = request("shop", "GET /quote", length_ms + 1.0, &[]);
                let call = span(2, 1, "shop", "GET", 0.5, length_ms);
                let attributes = vec![("http.url".into(), "http://quotes:80/".to_owned())];
                spans.push(Span { kind: SpanKind::Client, attributes, ..call });
                if is_opened {
                    spans.push(span(3, 2, "shop", "tcp.connect", length_ms - 100.0, 0.2));
                }
                spans.iter_mut().for_each(|span| span.start_ns += ((end_ms - length_ms) * 1e6) as i64);
                let mut trace = sampled(0, spans);
                trace.id = number + 1;
                trace
            };
            let rate = (connections * 10) as u64;
            crate::diagnosis::Level {
                traces: (0..200 * connections).map(trace).collect(),
                ..level(20, rate, mean_ms / 1e3)
            }
        };
        check(detect, &case(2, false), &["head-of-line blocking: GET quotes:80"]);
        check(detect, &case(2, true), &["head-of-line blocking: GET quotes:80"]);
        check(detect, &case(16, false), &["slow downstream: GET quotes:80"]);
    }

    #[test]
    fn what_says_that_it_was_held_back_is_believed() {
        let mut level = case("POST /vision", 0.0, |_| 90.0);
        let limit = |level: &mut crate::diagnosis::Level, ms: &str| {
            level.traces.iter_mut().for_each(|trace| {
                trace.spans[2].attributes = vec![(crate::roles::RATE_LIMIT_WAIT_MS.into(), ms.to_owned())]
            });
        };
        limit(&mut level, "60");
        check(detect, &level, &["downstream rate limit: shop"]);
        limit(&mut level, "0");
        check(detect, &level, &["slow downstream: POST /vision"]);
    }
}
