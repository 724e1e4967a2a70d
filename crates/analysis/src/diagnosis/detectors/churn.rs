//! Connections that are not reused: each request pays for a handshake, which no span records.
//! The evidence is accepted connections (RFC 4022, tcpPassiveOpens), nearly one per request, while the test itself reuses its
//! connections.
//!
//! Not: connections that the test opens, and a few per hundred requests. A queue that has another owner, such as a service that takes a
//! request at a time, is not one for connections. Where less than one request waits at a time, handshakes cost something and limit
//! nothing: a proxy that opens a connection for each request is the default of NGINX.

use model::diagnosis::{Caveat, Claim, CostClass, FigureName, Hypothesis, Note, Remedy, Role, RuledOut};
use model::{SignalRole, Strength, Unit};

use super::super::case_view::View;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::series;
use super::super::thresholds::churn::{PER_REQUEST_MIN, PER_S_MIN, WAITING_MIN, WAITS_MIN};
use super::workers::queue_in_front;

/// Finds services that do not reuse connections.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let taken = view.highest_of_means(SignalRole::ConnectionsAccepted);
    let Some(taken) = taken else { return Vec::new() };
    let level = view.level;
    let own = level.requests.connections as f64 / level.length_s().max(1e-9);
    // The counter is the machine's. Connections of other programs also occur before and after the run.
    let background = background(view);
    let others = (taken - own - background).max(0.0);
    let each = others / level.requests_per_s().max(1e-9);
    if others < PER_S_MIN || each < PER_REQUEST_MIN {
        return vec![Observation::RuledOut(RuledOut::ConnectionChurn {
            taken_per_s: taken,
            per_request: each,
            others_per_s: others,
        })];
    }
    let waits = view.share_of_waits().max(view.share_outside());
    let is_queue = waits >= WAITS_MIN && waits * level.in_flight() >= WAITING_MIN;
    let limits = is_queue && queue_in_front(view).is_none();
    let claim = Claim::ConnectionsNotReused {
        per_request: each,
        opened_per_s: others,
        requests_per_s: level.requests_per_s(),
    };
    vec![Observation::Found(
        Box::new(Hypothesis {
            role: if limits { Role::Limits } else { Role::Contributes },
            strength: Strength::Statistics,
            numbers: vec![
                exact(FigureName::AcceptedConnections, taken, Unit::PerSecond),
                exact(FigureName::OwnConnections, own, Unit::PerSecond),
                exact(FigureName::ConnectionsPerRequest, each, Unit::Count),
                exact(FigureName::QueueingShare, waits * 100.0, Unit::Percent).noted(Note::OfRequestTime),
            ],
            queries: view
                .signals(&SignalRole::ConnectionsAccepted.signals())
                .into_iter()
                .take(super::QUERIES_MAX)
                .map(|signal| view.query(signal))
                .collect(),
            caveats: vec![Caveat::MachineWide, Caveat::HandshakeCost { waiting_share: waits }],
            cost: CostClass::Setting,
            ..draft(claim, Remedy::KeepConnections, "connections")
        }),
        Depth::Cause,
    )]
}

/// Returns accepted connections per second outside of the run.
fn background(view: &View<'_>) -> f64 {
    let of_signal = |id| {
        let signals = view.signals(&[id]).into_iter();
        signals.filter_map(|signal| series::background(view.level, signal)).reduce(|a, b| a + b)
    };
    SignalRole::ConnectionsAccepted.signals().into_iter().filter_map(of_signal).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, with_evidence};
    use super::super::testing::{check, fires};
    use super::*;

    fn case(taken: f64, own: u64) -> crate::diagnosis::Level {
        let mut level =
            with_evidence(level(10, 100, 0.1), vec![flat("connections_taken", &[], 10, taken)], Vec::new());
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
    fn connections_of_other_programs_are_taken_off() {
        let case = |before: f64| {
            let points: Vec<(f64, f64)> = (-5..=10)
                .map(|second| (f64::from(second), if second <= 0 { before } else { 98.0 }))
                .collect();
            let signal = super::super::super::testing::signal("connections_taken", &[], &points);
            let mut level = with_evidence(level(10, 100, 0.1), vec![signal], Vec::new());
            level.requests.connections = 20;
            level
        };
        check(detect, &case(2.0), &["connection churn: connections"]);
        check(detect, &case(95.0), &[]);
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

    #[test]
    fn it_limits_only_where_requests_queue() {
        let role = |in_flight: f64| {
            let request = super::super::super::testing::request("shop", "GET /", 80.0, &[]);
            let mut level = case(98.0, 20);
            level.traces =
                (0..20).map(|at| super::super::super::testing::sampled(at, request.clone())).collect();
            level.seconds.iter_mut().for_each(|second| second.in_flight = in_flight);
            fires(detect, &level)[0].role
        };
        assert_eq!((role(3.0), role(8.0)), (Role::Contributes, Role::Limits));
    }

    #[test]
    fn a_queue_for_the_only_worker_is_not_one_for_connections() {
        let role = |slots: usize| {
            let build = |start_ms: f64| {
                let mut spans = super::super::super::testing::request("shop", "GET /", 27.0, &[]);
                spans[0].start_ns += (start_ms * 1e6) as i64;
                spans
            };
            let traces = super::super::super::testing::in_slots(slots, 350 * slots as u128, 28.0, build);
            let connections = vec![flat("connections_taken", &[], 10, 36.0 * slots as f64)];
            let mut level = with_evidence(level(10, 35 * slots as u64, 0.42), connections, Vec::new());
            level.traces = traces;
            level.requests.connections = 16;
            fires(detect, &level)[0].role
        };
        assert_eq!((role(1), role(2)), (Role::Contributes, Role::Contributes));
    }
}
