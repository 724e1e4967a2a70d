//! Connections that are made anew for each request: what a handshake takes comes on top of the work, and nothing of it is in a span.
//! Known by the connections that listeners take (RFC 4022, tcpPassiveOpens), nearly one for each request, while the test itself
//! keeps its own open.
//!
//! Not: connections that the test opens; a few for each hundred requests.

use model::diagnosis::{CostClass, Hypothesis, Role};
use model::{SignalRole, Strength, Unit};

use super::super::view::{Depth, Says, View, draft, exact, not, percent, rate};

const NAME: &str = "connection-churn";
const LABEL: &str = "connection churn";

/// So many connections for each request, and per second, at least.
const PER_REQUEST_MIN: f64 = 0.5;
const PER_S_MIN: f64 = 10.0;

/// Waits for a turn of this share say that something limits.
const WAITS_MIN: f64 = 0.15;

/// Who makes connections anew.
pub(super) fn detect(view: &View<'_>) -> Vec<Says> {
    let taken = view.highest_of_means(SignalRole::ConnectionsAccepted);
    let Some(taken) = taken else { return Vec::new() };
    let level = view.level;
    let own = level.requests.connections as f64 / level.length_s().max(1e-9);
    let others = (taken - own).max(0.0);
    let each = others / level.requests_per_s().max(1e-9);
    if others < PER_S_MIN || each < PER_REQUEST_MIN {
        return vec![not(
            "connections made anew",
            format!("{} are taken, {each:.2} for each request", rate(taken)),
            rate(others),
        )];
    }
    let waits = view.share_of_waits().max(view.share_outside());
    vec![Says::Found(
        Box::new(Hypothesis {
            title: "connections are made anew for each request".to_owned(),
            summary: format!("{each:.2} new connections for each request, {}", rate(others)),
            claim: format!(
                "servers take {} new connections for {} requests, beside those of the test: each costs a handshake",
                rate(others),
                rate(level.requests_per_s())
            ),
            role: if waits >= WAITS_MIN { Role::Limits } else { Role::Contributes },
            strength: Strength::Statistics,
            numbers: vec![
                exact("connections that listeners took", taken, Unit::PerSecond),
                exact("of the test itself", own, Unit::PerSecond),
                exact("for each request", each, Unit::Count),
                exact("waiting for a turn", waits * 100.0, Unit::Percent).noted("of the time of requests"),
            ],
            queries: view
                .signals(&SignalRole::ConnectionsAccepted.signals())
                .into_iter()
                .take(super::QUERIES_MAX)
                .map(|signal| view.query(signal))
                .collect(),
            caveats: vec![
                "the counter is of the whole machine".to_owned(),
                format!("what a handshake costs was not told; {} of the time is waiting", percent(waits)),
            ],
            remedy: "keep connections open between the services, and resume sessions".to_owned(),
            cost: CostClass::Setting,
            ..draft(NAME, LABEL, "connections")
        }),
        Depth::Cause,
    )]
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, told};
    use super::super::testing::{check, fires};
    use super::*;

    fn case(taken: f64, own: u64) -> crate::diagnosis::Level {
        let mut level =
            told(level(10, 100, 0.1), vec![flat("connections_taken", &[], 10, taken)], Vec::new());
        level.requests.connections = own;
        level
    }

    #[test]
    fn a_connection_for_each_request_is_told() {
        check(detect, &case(98.0, 20), &["connection churn: connections"]);
        check(detect, &case(98.0, 900), &[]);
        check(detect, &case(6.0, 20), &[]);
        check(detect, &level(10, 100, 0.1), &[]);
    }

    #[test]
    fn it_limits_only_where_something_waits() {
        let role = |traced_ms| {
            let request = super::super::super::testing::request("shop", "GET /", traced_ms, &[]);
            let mut level = case(98.0, 20);
            level.traces =
                (0..20).map(|at| super::super::super::testing::sampled(at, request.clone())).collect();
            fires(detect, &level)[0].role
        };
        assert_eq!((role(99.0), role(50.0)), (Role::Contributes, Role::Limits));
    }
}
