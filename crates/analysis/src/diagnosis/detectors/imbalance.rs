//! Uneven replicas: one of them gets most of the load and limits, while the others are idle.
//!
//! Not: instances of different services; only those of one service or one metric are compared. And replicas that share the load
//! unevenly because they need not share it: requests take no longer at the busiest than at the others, and none queues in front.

use std::collections::BTreeMap;

use model::Signal;
use model::diagnosis::{
    Caveat, Change, Claim, CostClass, FigureName, Hypothesis, Measured, NextLimit, Note, Prediction,
    Refutation, Remedy, Role, RuledOut,
};
use model::signal::label;
use model::{Strength, Unit};

use super::super::case_view::View;
use super::super::concurrency;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::series;
use super::super::thresholds::imbalance::{LONGER_MIN, REQUESTS_MIN, TIMES_MIN, WAIT_S_MIN, WAITS_MIN};

/// Labels that identify replicas. HAProxy's `proxy` is none: it names a frontend or a backend, which serve different things.
const REPLICA: [&str; 5] =
    [label::POD, label::INSTANCE, label::REPLICA, label::CONTROLLER_POD, label::HOSTNAME];

/// Requests by replica.
type Shares = BTreeMap<String, f64>;

/// Replicas of a service, or of one metric of requests.
struct Group<'a> {
    name: String,
    shares: Shares,
    /// The metrics; none where traces show the requests.
    signals: Vec<&'a Signal>,
    /// Whether the busiest is overloaded, as far as is known: a metric of requests stands for itself.
    is_overloaded: bool,
}

/// Finds replicas that get most of the load.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let groups = of_signals(view).into_iter().chain(of_traces(view));
    let rated = groups.filter(|group| group.shares.len() >= 2);
    let worst = rated.max_by(|a, b| {
        a.is_overloaded.cmp(&b.is_overloaded).then_with(|| times(&a.shares).total_cmp(&times(&b.shares)))
    });
    let Some(group) = worst else { return Vec::new() };
    let times = times(&group.shares);
    if times < TIMES_MIN || !group.is_overloaded {
        return vec![Observation::RuledOut(RuledOut::UnevenReplicas {
            group: group.name,
            replicas: group.shares.len(),
            times,
        })];
    }
    vec![found(view, &group.name, &group.shares, &group.signals, times)]
}

fn of_signals<'a>(view: &View<'a>) -> Vec<Group<'a>> {
    let mut groups: BTreeMap<(&str, &str), (Shares, Vec<&'a Signal>)> = BTreeMap::new();
    let requests = view
        .level
        .evidence
        .signals
        .iter()
        .filter(|signal| signal.name.as_str().contains("requests") && signal.unit == "/s");
    for signal in requests {
        let Some(label) = REPLICA.iter().find(|label| signal.labels.contains_key(**label)) else { continue };
        let (Some(replica), Some(mean)) = (signal.labels.get(*label), series::mean(view.level, signal))
        else {
            continue;
        };
        let group = groups.entry((signal.name.as_str(), label)).or_default();
        *group.0.entry(replica.clone()).or_default() += mean * view.level.length_s();
        group.1.push(signal);
    }
    let group = |((name, _), (shares, signals)): ((&str, _), _)| Group {
        name: name.to_owned(),
        shares,
        signals,
        is_overloaded: true,
    };
    groups.into_iter().map(group).collect()
}

fn of_traces<'a>(view: &View<'a>) -> Vec<Group<'a>> {
    let mut groups: BTreeMap<&str, Shares> = BTreeMap::new();
    for ((service, instance), (spans, _)) in &view.paths.instances {
        groups.entry(service).or_default().insert(instance.clone(), *spans as f64);
    }
    let group = |(service, shares): (&str, Shares)| Group {
        is_overloaded: is_overloaded(view, service, &shares),
        name: service.to_owned(),
        shares,
        signals: Vec::new(),
    };
    groups.into_iter().map(group).collect()
}

/// Whether the busiest replica of a service is overloaded: its requests take longer than those of the others, or requests queue in
/// front of all of them.
fn is_overloaded(view: &View<'_>, service: &str, shares: &Shares) -> bool {
    let mean_s = view.level.mean_s().unwrap_or(0.0);
    let waits = view.share_outside().max(view.paths.share(view.paths.queue_ns));
    // Where requests begin at even intervals, they wait for a rate limit and not for a replica.
    let is_paced = || {
        let entries = view.paths.entries.get(service).filter(|_| view.level.closed_vus.is_some());
        entries.is_some_and(|spans| concurrency::pace(spans, view.weight()).is_some())
    };
    if waits >= WAITS_MIN && waits * mean_s >= WAIT_S_MIN && !is_paced() {
        return true;
    }
    let busiest = shares.iter().max_by(|a, b| a.1.total_cmp(b.1)).map_or("", |(name, _)| name);
    let of_service = view.paths.instances.iter().filter(|((of, _), _)| **of == *service);
    let (mut most, mut others) = ((0, 0.0), (0, 0.0));
    for ((_, instance), (spans, total_ns)) in of_service {
        let sum = if instance == busiest { &mut most } else { &mut others };
        *sum = (sum.0 + spans, sum.1 + total_ns);
    }
    let mean = |(spans, total_ns): (u64, f64)| total_ns / spans.max(1) as f64;
    mean(most) >= mean(others) * LONGER_MIN
}

/// Returns the busiest replica's requests over the mean of all replicas.
fn times(shares: &Shares) -> f64 {
    let sum: f64 = shares.values().sum();
    let most = shares.values().copied().fold(0.0, f64::max);
    if sum < REQUESTS_MIN { 0.0 } else { most / sum * shares.len() as f64 }
}

fn found(view: &View<'_>, what: &str, shares: &Shares, signals: &[&Signal], times: f64) -> Observation {
    let sum: f64 = shares.values().sum();
    let busiest = shares.iter().max_by(|a, b| a.1.total_cmp(b.1)).map_or("", |(name, _)| name);
    let number = |(name, requests): (&String, &f64)| {
        exact(FigureName::Replica(name.clone()), requests / sum * 100.0, Unit::Percent)
            .noted(Note::OfRequests)
    };
    // Traces show the time inside the replicas; a queue in front of all of them has another cause.
    let inside = if signals.is_empty() { view.share_traced() } else { 1.0 };
    let explains = (1.0 - 1.0 / times).clamp(0.0, inside);
    let through = view.level.requests_per_s();
    // If one replica is at its limit, all together have `times` its throughput, unless another resource limits first.
    let (least, most) = (through * (1.0 + (times - 1.0) / 4.0), through * times);
    let claim = Claim::UnevenReplicas {
        replica: busiest.to_owned(),
        group: what.to_owned(),
        replicas: shares.len(),
        times,
        requests_share: times / shares.len() as f64,
    };
    Observation::Found(
        Box::new(Hypothesis {
            role: Role::Limits,
            strength: Strength::Arithmetic,
            explains: Some(explains),
            numbers: shares.iter().take(8).map(number).collect(),
            queries: signals.iter().take(super::QUERIES_MAX).map(|signal| view.query(signal)).collect(),
            caveats: vec![Caveat::BusiestUnconfirmed],
            cost: CostClass::Setting,
            prediction: Some(Prediction {
                change: Change::BalancedReplicas,
                now: Some(exact(FigureName::Throughput, through, Unit::PerSecond)),
                then: Some(Measured::within(
                    FigureName::Throughput,
                    least.midpoint(most),
                    Unit::PerSecond,
                    (least, most),
                )),
                next_limit: NextLimit::Shared,
                wrong_if: Refutation::ThroughputBelow { per_s: least },
                command: view.level.command.clone(),
            }),
            ..draft(claim, Remedy::BalanceReplicas, busiest)
        }),
        Depth::Cause,
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, request, sampled, with_evidence};
    use super::super::testing::check;
    use super::*;

    #[test]
    fn processes_that_need_not_share_the_load_are_not_uneven() {
        // Nine of ten requests are answered by one process.
        let case = |busiest_ms: f64, mean_s: f64, together: u128| {
            let trace = |number: u128| {
                let (name, length_ms) =
                    if number.is_multiple_of(10) { ("b", 50.0) } else { ("a", busiest_ms) };
                let mut spans = request("shop", "GET /", length_ms, &[]);
                spans[0].attributes = vec![("service.instance.id".into(), name.to_owned())];
                let in_pairs = number - number % together;
                spans[0].start_ns = in_pairs as i64 * 100_000_000;
                sampled(number, spans)
            };
            let traces = (0..100).map(trace).collect();
            crate::diagnosis::Level { traces, closed_vus: Some(20.0), ..level(10, 10, mean_s) }
        };
        check(detect, &case(51.0, 0.052, 2), &[]);
        check(detect, &case(95.0, 0.092, 2), &["replica imbalance: a"]);
        check(detect, &case(51.0, 0.2, 2), &["replica imbalance: a"]);
        // A rate limit in front lets one request pass each 100 ms.
        check(detect, &case(51.0, 0.2, 1), &[]);
    }

    #[test]
    fn frontends_and_backends_of_a_proxy_are_no_replicas() {
        let of = |name, value| Signal {
            unit: "/s".to_owned(),
            ..flat("haproxy_frontend_http_requests_total", &[("proxy", name)], 10, value)
        };
        let level = with_evidence(level(10, 100, 0.1), vec![of("shop", 98.0), of("status", 1.0)], Vec::new());
        check(detect, &level, &[]);
    }

    #[test]
    fn the_busiest_is_named() {
        let case = |first, second| {
            let of = |name, value| Signal {
                unit: "/s".to_owned(),
                ..flat("server_requests", &[("pod", name)], 10, value)
            };
            with_evidence(level(10, 100, 0.1), vec![of("a", first), of("b", second)], Vec::new())
        };
        check(detect, &case(95.0, 5.0), &["replica imbalance: a"]);
        check(detect, &case(52.0, 48.0), &[]);
    }
}
