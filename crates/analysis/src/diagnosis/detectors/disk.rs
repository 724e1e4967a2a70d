//! Sessions of a database that wait for its disk: for the log to be written (PostgreSQL, wait events `WALSync`, `WALWrite`), or
//! for blocks to be read. What they do is looked at ten times a second, and is a share of requests' time by Little's law.
//!
//! Not: a disk that is busy while nobody waits for it.

use model::diagnosis::{CostClass, Hypothesis, Role};
use model::signal::label;
use model::{Signal, SignalId, Strength, Unit};

use super::super::series;
use super::super::view::{Depth, Says, View, count, draft, exact, not, percent};

const NAME: &str = "database-disk";

/// The share of the time from which on waits are told.
const SHARE_MIN: f64 = 0.1;

/// From this share on it is what limits.
const LIMITS_MIN: f64 = 0.25;

/// Wait events of the log that is written before a commit.
const LOG: [&str; 4] = ["walsync", "walwrite", "walinitwrite", "walbuffermappinglock"];

/// What waits for a disk.
pub(super) fn detect(view: &View<'_>) -> Vec<Says> {
    let sessions = view.signals(&[SignalId::ActiveSessions]);
    if sessions.is_empty() {
        return Vec::new();
    }
    let log = (
        "log of the database",
        "database log sync",
        "commits wait until the log is on the disk",
        is_log as fn(&Signal) -> bool,
    );
    let read = (
        "blocks of the database",
        "database reads from disk",
        "sessions wait until blocks have come from the disk",
        is_read as fn(&Signal) -> bool,
    );
    [log, read]
        .into_iter()
        .map(|(what, label, why, is_so)| {
            let those: Vec<&Signal> = sessions.iter().copied().filter(|signal| is_so(signal)).collect();
            let waiting: f64 = those.iter().filter_map(|signal| series::mean(view.level, signal)).sum();
            let share = view.share_of_waiting(waiting);
            if share < SHARE_MIN {
                return not(what, why, format!("{} wait", count(waiting)));
            }
            Says::Found(
                Box::new(Hypothesis {
                    title: format!("requests wait for the {what}"),
                    summary: format!(
                        "{} sessions wait at a time, {} of the time",
                        count(waiting),
                        percent(share)
                    ),
                    claim: format!("{why}, which is {} of the time of requests", percent(share)),
                    role: if share >= LIMITS_MIN { Role::Limits } else { Role::Contributes },
                    strength: Strength::Limit,
                    explains: Some(share),
                    numbers: vec![
                        exact("sessions that wait", waiting, Unit::Count).noted(
                            "mean, looked at ten times \
                        a second",
                        ),
                        exact("of the time of requests", share * 100.0, Unit::Percent),
                    ],
                    queries: those.iter().take(super::QUERIES_MAX).map(|signal| view.query(signal)).collect(),
                    remedy: "write less often and more at a time, or take a faster disk; for reads, more \
                    memory or an index"
                        .to_owned(),
                    cost: CostClass::Resource,
                    prediction: view.without_holding(share, "nobody waits for the disk"),
                    ..draft(NAME, label, what)
                }),
                Depth::Resource,
            )
        })
        .collect()
}

/// Whether sessions wait for the log.
fn is_log(signal: &Signal) -> bool {
    super::says(event(signal), &LOG)
}

/// Whether sessions wait for blocks.
fn is_read(signal: &Signal) -> bool {
    signal.labels.get(label::WAIT_TYPE).is_some_and(|kind| kind == "IO") && !is_log(signal)
}

fn event(signal: &Signal) -> &str {
    signal.labels.get(label::WAIT_EVENT).map_or("", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, told};
    use super::super::testing::check;
    use super::*;

    #[test]
    fn waits_for_the_log_and_for_blocks_are_told_apart() {
        let case = |event, sessions| {
            let labels = [("wait_type", "IO"), ("wait_event", event)];
            told(level(10, 100, 0.1), vec![flat("active_sessions", &labels, 10, sessions)], Vec::new())
        };
        check(detect, &case("WALSync", 5.0), &["database log sync: log of the database"]);
        check(detect, &case("DataFileRead", 5.0), &["database reads from disk: blocks of the database"]);
        check(detect, &case("WALSync", 0.2), &[]);
    }
}
