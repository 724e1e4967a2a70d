//! Database sessions that wait for a disk: for log writes (PostgreSQL, wait events `WALSync` and `WALWrite`), or for block reads.
//! Sessions are sampled ten times a second; waiting sessions over requests in flight are their share of time (Little's law).
//!
//! Not: a busy disk without waiting sessions.

use model::diagnosis::{Change, Claim, CostClass, FigureName, Hypothesis, Note, Remedy, Role, RuledOut};
use model::signal::label;
use model::{Signal, SignalId, Strength, Unit};

use super::super::case_view::View;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::series;
use super::super::thresholds::disk::{LIMITS_MIN, SHARE_MIN};

/// Wait events of the write-ahead log.
const LOG: [&str; 4] = ["walsync", "walwrite", "walinitwrite", "walbuffermappinglock"];

/// Finds databases whose sessions wait for a disk.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let sessions = view.signals(&[SignalId::ActiveSessions]);
    if sessions.is_empty() {
        return Vec::new();
    }
    let observe = |is_commit: bool| {
        let (place, is_so): (&str, fn(&Signal) -> bool) = match is_commit {
            true => ("log of the database", is_log),
            false => ("blocks of the database", is_read),
        };
        let those: Vec<&Signal> = sessions.iter().copied().filter(|signal| is_so(signal)).collect();
        let waiting: f64 = those.iter().filter_map(|signal| series::mean(view.level, signal)).sum();
        let share = view.share_of_waiting(waiting);
        if share < SHARE_MIN {
            return Observation::RuledOut(match is_commit {
                true => RuledOut::LogSync { sessions: waiting },
                false => RuledOut::DiskReads { sessions: waiting },
            });
        }
        let claim = match is_commit {
            true => Claim::LogSync { sessions: waiting, waiting_share: share },
            false => Claim::DiskReads { sessions: waiting, waiting_share: share },
        };
        Observation::Found(
            Box::new(Hypothesis {
                role: if share >= LIMITS_MIN { Role::Limits } else { Role::Contributes },
                strength: Strength::Limit,
                explains: Some(share),
                numbers: vec![
                    exact(FigureName::WaitingSessions, waiting, Unit::Count).noted(Note::Sampled),
                    exact(FigureName::RequestTimeShare, share * 100.0, Unit::Percent),
                ],
                queries: those.iter().take(super::QUERIES_MAX).map(|signal| view.query(signal)).collect(),
                cost: CostClass::Resource,
                prediction: view.without_holding((share, share), Change::NoDiskWait),
                ..draft(claim, Remedy::ReduceDiskWaits, place)
            }),
            Depth::Resource,
        )
    };
    [true, false].into_iter().map(observe).collect()
}

/// Returns true for waits for the log.
fn is_log(signal: &Signal) -> bool {
    super::contains_any(event(signal), &LOG)
}

/// Returns true for waits for blocks.
fn is_read(signal: &Signal) -> bool {
    signal.labels.get(label::WAIT_TYPE).is_some_and(|kind| kind == "IO") && !is_log(signal)
}

fn event(signal: &Signal) -> &str {
    signal.labels.get(label::WAIT_EVENT).map_or("", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, with_evidence};
    use super::super::testing::check;
    use super::*;

    #[test]
    fn waits_for_the_log_and_for_blocks_are_told_apart() {
        let case = |event, sessions| {
            let labels = [("wait_type", "IO"), ("wait_event", event)];
            with_evidence(
                level(10, 100, 0.1),
                vec![flat("active_sessions", &labels, 10, sessions)],
                Vec::new(),
            )
        };
        check(detect, &case("WALSync", 5.0), &["database log sync: log of the database"]);
        check(detect, &case("DataFileRead", 5.0), &["database reads from disk: blocks of the database"]);
        check(detect, &case("WALSync", 0.2), &[]);
    }
}
