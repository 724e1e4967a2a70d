//! Connections that the kernel drops because nobody takes them: whoever sent the first packet sends it again after 1 s, after 3 s,
//! after 7 s (RFC 6298, 2), so that times come in these steps. The kernel counts the queue's overflows: each is a wait of a second
//! at least, so that as many wait at a time as are dropped per second (Little's law).
//!
//! Not: a loss in the network, which looks the same to who waits; where the kernel of the target counts overflows, it is the queue.

use model::diagnosis::{CostClass, Hypothesis, Role};
use model::{SignalRole, Strength, Unit};

use super::super::view::{Depth, Says, View, count, draft, exact, missing, not, percent, rate};

const NAME: &str = "accept-queue";
const LABEL: &str = "accept-queue overflow";

/// Overflows per second from which on it is told.
const OVERFLOWS_MIN: f64 = 0.2;

/// The share of requests that took a step of the sequence.
const LATE_MIN: f64 = 0.01;

/// The share of the time from which on it limits.
const LIMITS_MIN: f64 = 0.1;

/// Who sent the first packet sends it again after a second.
const AGAIN_S: f64 = 1.0;

/// Which connections were dropped.
pub(super) fn detect(view: &View<'_>) -> Vec<Says> {
    let level = view.level;
    let overflows = view.highest_of_means(SignalRole::AcceptDrops);
    let late = level.requests.after_lost_syns as f64 / level.requests.count.max(1) as f64;
    let overflown = overflows.is_some_and(|per_s| per_s >= OVERFLOWS_MIN);
    if !overflown && late < LATE_MIN {
        return match overflows {
            Some(per_s) => vec![not("accept queue", "connections that the kernel dropped", rate(per_s))],
            None => vec![missing(
                "the kernel's counters of the servers",
                "whether connections are dropped because nobody takes them",
                "on this machine --evidence host=local, elsewhere the node exporter in a Prometheus",
            )],
        };
    }
    // Each of them waited for a second at least, and none of that is in a span.
    let mean_s = level.requests.mean_s.unwrap_or(0.0);
    let all_s = mean_s * level.requests.count as f64;
    let by_steps = if all_s > 0.0 { (level.requests.lost_syns_s / all_s).min(1.0) } else { 0.0 };
    let by_drops = view.share_of_waiting(overflows.unwrap_or(0.0) * AGAIN_S);
    let outside = if view.paths.traces > 0 { view.share_outside() } else { 1.0 };
    let explains = by_steps.max(by_drops.min(outside));
    let mut numbers = vec![
        exact("took 1, 3 or 7 s", level.requests.after_lost_syns as f64, Unit::Count)
            .noted(format!("{} of all requests", percent(late))),
    ];
    numbers.extend(overflows.map(|per_s| exact("packets dropped or sent again", per_s, Unit::PerSecond)));
    vec![Says::Found(
        Box::new(Hypothesis {
            title: "new connections are dropped".to_owned(),
            summary: format!("{} requests took 1, 3 or 7 s", count(level.requests.after_lost_syns as f64)),
            claim: format!(
                "{} of the requests waited until the first packet of a connection was sent again",
                percent(late)
            ),
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
            caveats: match overflown {
                true => vec!["the counters are of the whole machine".to_owned()],
                false => {
                    vec!["a loss in the network looks the same; the target's kernel would tell".to_owned()]
                }
            },
            remedy: "take connections as they come, and raise the backlog; keep connections open".to_owned(),
            cost: CostClass::Setting,
            prediction: view.without(explains, "no connection is dropped"),
            ..draft(NAME, LABEL, "listening socket")
        }),
        Depth::Cause,
    )]
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, told};
    use super::super::testing::check;
    use super::*;

    #[test]
    fn overflows_and_late_requests_are_told() {
        let case = |overflows, late| {
            let mut level =
                told(level(10, 100, 0.1), vec![flat("listen_overflows", &[], 10, overflows)], Vec::new());
            level.requests.after_lost_syns = late;
            level.requests.lost_syns_s = late as f64;
            level
        };
        check(detect, &case(4.0, 30), &["accept-queue overflow: listening socket"]);
        check(detect, &case(0.0, 30), &["accept-queue overflow: listening socket"]);
        check(detect, &case(0.0, 2), &[]);
    }

    #[test]
    fn what_is_dropped_waits_for_a_second_at_least() {
        let of = |name| flat(name, &[], 10, 4.0);
        let signals = vec![of("listen_overflows"), of("listen_drops"), of("syn_repeated")];
        let found = super::super::testing::fires(detect, &told(level(10, 100, 0.1), signals, Vec::new()));
        // Four of the ten in flight, however many counters tell of them.
        assert_eq!(
            found.iter().map(|it| (it.explains, it.role)).collect::<Vec<_>>(),
            [(Some(0.4), Role::Limits)]
        );
    }
}
