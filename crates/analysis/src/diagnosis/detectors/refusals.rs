//! Refused requests: a proxy or a service answers a part of the load with 429 Too Many Requests (RFC 6585, section 4) or 503 Service
//! Unavailable (RFC 9110, section 15.6.4), or closes its connection. Other server errors are refusals if no service has a span of them.
//!
//! The requests that pass show the kind of limit: a rate limit spaces them, and a limit of concurrency takes one when another ends.
//!
//! Not: other failures, which are errors of the application.

use model::diagnosis::{Admission, Claim, CostClass, FigureName, Hypothesis, Note, Refusal, Remedy, Role};
use model::{Signal, SignalId, Strength, Unit};

use super::super::case_view::View;
use super::super::concurrency;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::series;
use super::super::thresholds::refusals::{CLOSED_MIN, COUNTED_MIN, LIMITS_MIN, SHARE_MIN, UNANSWERED_MIN};

/// Status 429 Too Many Requests, which names its reason.
const TOO_MANY_REQUESTS: Refusal = Refusal::Status(429);
/// Status 503 Service Unavailable.
const UNAVAILABLE: Refusal = Refusal::Status(503);

/// Requests that proxies count, those that they refuse among them.
const PROXY_REQUESTS: [SignalId; 3] =
    [SignalId::Requests, SignalId::NginxRequests, SignalId::IngressRequests];

/// Finds limits that refuse requests.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let requests = &view.level.requests;
    let share = |refused: u64| refused as f64 / requests.count.max(1) as f64;
    let errors_share = share(requests.refused.values().sum());
    let are_refusals = are_unanswered(view, errors_share);
    let refused = requests.refused.iter().filter(|(by, _)| are_refusals || is_refusal(**by));
    let refused: Vec<(Refusal, u64)> = refused.map(|(by, count)| (*by, *count)).collect();
    let refused_share = share(refused.iter().map(|(_, count)| count).sum());
    let most = refused.iter().max_by_key(|(_, count)| *count).filter(|_| refused_share >= SHARE_MIN);
    most.map(|(by, _)| refusals(view, *by, refused_share)).into_iter().collect()
}

/// Whether a request that ends so was refused, without further evidence.
fn is_refusal(by: Refusal) -> bool {
    matches!(by, TOO_MANY_REQUESTS | UNAVAILABLE | Refusal::Connection)
}

/// Whether requests end with errors before they reach a service, by traces in which no service has a span.
fn are_unanswered(view: &View<'_>, errors_share: f64) -> bool {
    let asked = &view.paths.asked;
    let unanswered_share = asked.unanswered as f64 / (asked.unanswered + asked.traces).max(1) as f64;
    !view.paths.is_biased && asked.traces > 0 && unanswered_share >= errors_share * UNANSWERED_MIN
}

fn refusals(view: &View<'_>, by: Refusal, share: f64) -> Observation {
    let passed_per_s = view.level.requests_per_s() * (1.0 - share);
    let (place, limit) = admission(view, share).unwrap_or_else(|| {
        let limit = match by {
            TOO_MANY_REQUESTS => Admission::Rate,
            Refusal::Connection if share >= CLOSED_MIN => Admission::Closed,
            Refusal::Status(_) | Refusal::Connection => Admission::Unknown,
        };
        let place = || match by {
            Refusal::Status(status) => format!("HTTP {status}"),
            Refusal::Connection => "connections".to_owned(),
        };
        (proxy(view, share).unwrap_or_else(place), limit)
    });
    let remedy = if limit == Admission::Closed { Remedy::StartTarget } else { Remedy::AdmitMore };
    let claim = Claim::Refused { by, refused_share: share, passed_per_s, limit };
    let refusals = Hypothesis {
        role: if share >= LIMITS_MIN { Role::Limits } else { Role::Contributes },
        strength: Strength::Limit,
        numbers: vec![
            exact(FigureName::RefusedRequests, share * 100.0, Unit::Percent).noted(Note::OfRequests),
            exact(FigureName::Throughput, passed_per_s, Unit::PerSecond),
        ],
        cost: CostClass::Setting,
        ..draft(claim, remedy, place)
    };
    Observation::Found(Box::new(refusals), Depth::Cause)
}

/// Returns the proxy that refuses: it counts all requests, and no service has a span of those that are refused.
fn proxy(view: &View<'_>, refused_share: f64) -> Option<String> {
    if !are_unanswered(view, refused_share) {
        return None;
    }
    let counts_all = |signal: &&Signal| {
        let per_s = series::mean(view.level, signal);
        per_s.is_some_and(|per_s| per_s >= view.level.requests_per_s() * COUNTED_MIN)
    };
    view.signals(&PROXY_REQUESTS).into_iter().find(counts_all).map(|signal| signal.source.clone())
}

/// Returns the limit that the requests show that pass, and the service behind it.
fn admission(view: &View<'_>, refused_share: f64) -> Option<(String, Admission)> {
    if view.paths.is_biased {
        return None;
    }
    let passed = view.level.requests.count as f64 * (1.0 - refused_share);
    let weight = (passed / view.paths.traces.max(1) as f64).max(1.0);
    view.paths.entries.iter().find_map(|(service, spans)| {
        let at_once = concurrency::limit(spans, weight).map(|limit| Admission::Concurrency(limit.at_once));
        let limit = at_once.or_else(|| concurrency::pace(spans, weight).map(|_| Admission::Rate))?;
        Some((service.to_string(), limit))
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::case::Level;
    use super::super::super::testing::{asked, flat, in_slots, level, request, sampled, with_evidence};
    use super::super::testing::{check, fires};
    use super::*;

    /// Two hundred requests per second, of which this share is refused; the others pass every `every_ms` for `length_ms`.
    fn case(by: Refusal, share: f64, every_ms: f64, length_ms: f64) -> Level {
        let build = |start_ms: f64| {
            let mut spans = request("shop", "GET /", length_ms, &[]);
            spans[0].start_ns += (start_ms * 1e6) as i64;
            spans
        };
        let level = level(20, 200, 0.01);
        let refused = (level.requests.count as f64 * share) as u64;
        let passed = (20_000.0 / every_ms) as u128;
        let requests = crate::diagnosis::Requests { refused: [(by, refused)].into(), ..level.requests };
        Level { traces: in_slots(1, passed, every_ms, build), requests, ..level }
    }

    #[test]
    fn refused_requests_are_named_with_their_limit() {
        check(detect, &case(UNAVAILABLE, 0.75, 20.0, 5.0), &["downstream rate limit: shop"]);
        check(detect, &case(UNAVAILABLE, 0.75, 20.0, 19.5), &["too few workers: shop"]);
        check(detect, &case(UNAVAILABLE, 0.75, 30_000.0, 5.0), &["requests refused: HTTP 503"]);
        check(detect, &case(TOO_MANY_REQUESTS, 0.75, 30_000.0, 5.0), &["downstream rate limit: HTTP 429"]);
        check(detect, &case(Refusal::Connection, 0.75, 30_000.0, 5.0), &["requests refused: connections"]);
        check(detect, &case(UNAVAILABLE, 0.01, 20.0, 5.0), &[]);
        let closed = &fires(detect, &case(Refusal::Connection, 1.0, 30_000.0, 5.0))[0];
        assert!(matches!(closed.claim, Claim::Refused { limit: Admission::Closed, .. }), "{closed:?}");
        assert_eq!(closed.remedy, Remedy::StartTarget);
        assert_eq!(fires(detect, &case(UNAVAILABLE, 0.75, 20.0, 5.0))[0].role, Role::Limits);
    }

    #[test]
    fn errors_without_a_span_of_a_service_are_refusals() {
        let errors = || case(Refusal::Status(500), 0.75, 20.0, 19.5);
        check(detect, &errors(), &[]);
        let mut unanswered = errors();
        let traces = unanswered.traces.len() as u128;
        unanswered.traces.iter_mut().for_each(|trace| {
            let spans = std::mem::take(&mut trace.spans);
            trace.spans = asked(25.0, spans);
            trace.spans[0].start_ns = trace.spans[1].start_ns - 1_000_000;
        });
        unanswered.traces.extend((traces..traces * 4).map(|number| sampled(number, asked(0.1, Vec::new()))));
        check(detect, &unanswered, &["too few workers: shop"]);
    }

    #[test]
    fn a_proxy_that_counts_all_requests_is_who_refuses() {
        let with_proxy = |per_s: f64, is_answered: bool| {
            // So few requests in traces show no limit.
            let mut level = case(UNAVAILABLE, 0.75, 4_000.0, 5.0);
            let passed = level.traces.len() as u128;
            level.traces.iter_mut().for_each(|trace| {
                let spans = std::mem::take(&mut trace.spans);
                trace.spans = asked(25.0, spans);
                trace.spans[0].start_ns = trace.spans[1].start_ns - 1_000_000;
            });
            let refused = (passed..passed * 4).map(|number| {
                let spans = if is_answered { request("shop", "GET /", 1.0, &[]) } else { Vec::new() };
                sampled(number, asked(2.0, spans))
            });
            level.traces.extend(refused);
            with_evidence(level, vec![flat("requests", &[], 10, per_s)], Vec::new())
        };
        check(detect, &with_proxy(200.0, false), &["requests refused: source"]);
        check(detect, &with_proxy(50.0, false), &["requests refused: HTTP 503"]);
        check(detect, &with_proxy(200.0, true), &["requests refused: HTTP 503"]);
    }
}
