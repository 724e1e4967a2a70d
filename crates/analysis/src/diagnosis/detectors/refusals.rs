//! Refused requests: a proxy or a service answers a part of the load with 429 Too Many Requests (RFC 6585, section 4) or 503 Service
//! Unavailable (RFC 9110, section 15.6.4).
//!
//! The requests that pass show the kind of limit: a rate limit spaces them, and a limit of concurrency takes one when another ends.
//!
//! Not: other failures, which are errors of the application.

use model::diagnosis::{Admission, Claim, CostClass, FigureName, Hypothesis, Note, Remedy, Role};
use model::{Strength, Unit};

use super::super::case_view::View;
use super::super::concurrency;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::thresholds::refusals::{LIMITS_MIN, SHARE_MIN};

/// Status 429 Too Many Requests, which names its reason.
const TOO_MANY_REQUESTS: u16 = 429;

/// Finds limits that refuse requests.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let requests = &view.level.requests;
    let most = requests.refused.iter().max_by_key(|(_, refused)| **refused);
    let share = |refused: u64| refused as f64 / requests.count.max(1) as f64;
    let found =
        most.map(|(status, refused)| (*status, share(*refused))).filter(|(_, share)| *share >= SHARE_MIN);
    found.map(|(status, share)| refusals(view, status, share)).into_iter().collect()
}

fn refusals(view: &View<'_>, status: u16, share: f64) -> Observation {
    let passed_per_s = view.level.requests_per_s() * (1.0 - share);
    let (service, limit) = admission(view, share).unwrap_or_else(|| {
        let limit = if status == TOO_MANY_REQUESTS { Admission::Rate } else { Admission::Unknown };
        (format!("HTTP {status}"), limit)
    });
    let claim = Claim::Refused { status, refused_share: share, passed_per_s, limit };
    let refusals = Hypothesis {
        role: if share >= LIMITS_MIN { Role::Limits } else { Role::Contributes },
        strength: Strength::Limit,
        numbers: vec![
            exact(FigureName::RefusedRequests, share * 100.0, Unit::Percent).noted(Note::OfRequests),
            exact(FigureName::Throughput, passed_per_s, Unit::PerSecond),
        ],
        cost: CostClass::Setting,
        ..draft(claim, Remedy::AdmitMore, service)
    };
    Observation::Found(Box::new(refusals), Depth::Cause)
}

/// Returns the limit that the requests show that pass, and the service behind it.
fn admission(view: &View<'_>, refused_share: f64) -> Option<(String, Admission)> {
    if view.paths.is_biased {
        return None;
    }
    // Refused requests have no spans of services.
    let weight = (view.weight() * (1.0 - refused_share)).max(1.0);
    view.paths.entries.iter().find_map(|(service, spans)| {
        let at_once = concurrency::limit(spans, weight).map(|limit| Admission::Concurrency(limit.at_once));
        let limit = at_once.or_else(|| concurrency::pace(spans, weight).map(|_| Admission::Rate))?;
        Some((service.to_string(), limit))
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::case::Level;
    use super::super::super::testing::{in_slots, level, request};
    use super::super::testing::{check, fires};
    use super::*;

    /// Two hundred requests per second, of which this share is refused; the others pass every `every_ms` for `length_ms`.
    fn case(status: u16, share: f64, every_ms: f64, length_ms: f64) -> Level {
        let build = |start_ms: f64| {
            let mut spans = request("shop", "GET /", length_ms, &[]);
            spans[0].start_ns += (start_ms * 1e6) as i64;
            spans
        };
        let level = level(20, 200, 0.01);
        let refused = (level.requests.count as f64 * share) as u64;
        let passed = (20_000.0 / every_ms) as u128;
        let requests = crate::diagnosis::Requests { refused: [(status, refused)].into(), ..level.requests };
        Level { traces: in_slots(1, passed, every_ms, build), requests, ..level }
    }

    #[test]
    fn refused_requests_are_named_with_their_limit() {
        check(detect, &case(503, 0.75, 20.0, 5.0), &["downstream rate limit: shop"]);
        check(detect, &case(503, 0.75, 20.0, 19.5), &["too few workers: shop"]);
        check(detect, &case(503, 0.75, 30_000.0, 5.0), &["requests refused: HTTP 503"]);
        check(detect, &case(429, 0.75, 30_000.0, 5.0), &["downstream rate limit: HTTP 429"]);
        check(detect, &case(503, 0.01, 20.0, 5.0), &[]);
        assert_eq!(fires(detect, &case(503, 0.75, 20.0, 5.0))[0].role, Role::Limits);
    }
}
