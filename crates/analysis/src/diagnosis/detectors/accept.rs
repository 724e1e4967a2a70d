//! Connections that the kernel drops because the accept queue is full. The client resends the first packet after 1 s, 3 s and
//! 7 s (RFC 6298, 2), and since Linux 6.5 each second at first, so response times come in these steps. The kernel counts the
//! queue's overflows: each is a wait of at least a second, so the mean number of waiting requests is at least the overflows per
//! second (Little's law).
//!
//! Not: packet loss in the network, which looks the same to clients. Overflows in the target's kernel distinguish the two.

use model::diagnosis::{
    Caveat, Change, Claim, CostClass, FigureName, Hypothesis, MissingKind, Note, Remedy, Role, RuledOut,
};
use model::{SignalId, SignalRole, Strength, Unit};

use super::super::case_view::View;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::thresholds::accept::{AGAIN_S, DROPS_MIN, LATE_MIN, LIMITS_MIN, OVERFLOWS_MIN, STEPS_MIN};

/// Finds dropped connections.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let level = view.level;
    let overflows = view.highest_of_means(SignalRole::AcceptDrops);
    let late = level.requests.after_lost_syns as f64 / level.requests.count.max(1) as f64;
    let overflown = overflows.is_some_and(|per_s| per_s >= OVERFLOWS_MIN);
    // Each of them waited for a second at least, and none of that is in a span.
    let mean_s = level.requests.mean_s.unwrap_or(0.0);
    let all_s = mean_s * level.requests.count as f64;
    let by_steps = if all_s > 0.0 { (level.requests.lost_syns_s / all_s).min(1.0) } else { 0.0 };
    // A counter is a machine's: without a symptom in the run's own requests, the connections were another program's. And the kernel
    // that sends a SYN again counts it: without that, requests of a second are slow for another reason.
    let drops = overflows.unwrap_or(0.0) * level.length_s();
    let has_sender = !view.signals(&[SignalId::SynRepeated]).is_empty();
    let is_counted = drops >= level.requests.after_lost_syns as f64 * DROPS_MIN;
    let is_it = if has_sender || overflown { is_counted && by_steps >= STEPS_MIN } else { late >= LATE_MIN };
    if !is_it {
        return match overflows {
            Some(per_s) => vec![Observation::RuledOut(RuledOut::AcceptQueue { dropped_per_s: per_s })],
            None => vec![Observation::Missing(MissingKind::KernelCounters)],
        };
    }
    let by_drops = view.share_of_waiting(overflows.unwrap_or(0.0) * AGAIN_S);
    let outside = if view.paths.traces > 0 { view.share_outside() } else { 1.0 };
    let explains = by_steps.max(by_drops.min(outside));
    let mut numbers = vec![
        exact(FigureName::LateRequests, level.requests.after_lost_syns as f64, Unit::Count)
            .noted(Note::ShareOfRequests(late)),
    ];
    numbers.extend(overflows.map(|per_s| exact(FigureName::DroppedPackets, per_s, Unit::PerSecond)));
    let claim = Claim::ConnectionsDropped {
        late_requests: level.requests.after_lost_syns as f64,
        late_share: late,
        dropped_per_s: overflows,
    };
    vec![Observation::Found(
        Box::new(Hypothesis {
            role: if explains >= LIMITS_MIN { Role::Limits } else { Role::Contributes },
            strength: if overflown { Strength::Limit } else { Strength::Pattern },
            explains: Some(explains),
            numbers,
            queries: view
                .signals(&SignalRole::AcceptDrops.signals())
                .into_iter()
                .take(super::QUERIES_MAX)
                .map(|signal| view.query(signal))
                .collect(),
            caveats: vec![match overflown {
                true => Caveat::MachineWide,
                false => Caveat::PacketLoss,
            }],
            cost: CostClass::Setting,
            prediction: view.without(explains, Change::NoDroppedConnections),
            ..draft(claim, Remedy::AcceptFaster, "listening socket")
        }),
        Depth::Cause,
    )]
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, with_evidence};
    use super::super::testing::check;
    use super::*;

    #[test]
    fn overflows_and_late_requests_are_told() {
        let case_of = |counter, drops, late| {
            let mut level =
                with_evidence(level(10, 100, 0.1), vec![flat(counter, &[], 10, drops)], Vec::new());
            level.requests.after_lost_syns = late;
            level.requests.lost_syns_s = late as f64;
            level
        };
        let case = |drops, late| case_of("listen_overflows", drops, late);
        check(detect, &case(4.0, 30), &["accept-queue overflow: listening socket"]);
        check(detect, &case(0.0, 30), &["accept-queue overflow: listening socket"]);
        check(detect, &case(0.0, 2), &[]);
        // Another program's connections: no request of the run took 1, 3 or 7 s.
        check(detect, &case(4.0, 0), &[]);
        check(detect, &case_of("syn_repeated", 4.0, 30), &["accept-queue overflow: listening socket"]);
        check(detect, &case_of("syn_repeated", 0.0, 30), &[]);
    }

    #[test]
    fn what_is_dropped_waits_for_a_second_at_least() {
        let of = |name| flat(name, &[], 10, 4.0);
        let signals = vec![of("listen_overflows"), of("listen_drops"), of("syn_repeated")];
        let mut level = with_evidence(level(10, 100, 0.1), signals, Vec::new());
        (level.requests.after_lost_syns, level.requests.lost_syns_s) = (30, 30.0);
        let found = super::super::testing::fires(detect, &level);
        // Four of the ten requests in flight, whatever number of counters reports them.
        assert_eq!(
            found.iter().map(|it| (it.explains, it.role)).collect::<Vec<_>>(),
            [(Some(0.4), Role::Limits)]
        );
    }
}
