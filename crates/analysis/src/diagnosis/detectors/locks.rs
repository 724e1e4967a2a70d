//! Sessions of a database that wait for each other's locks, as the database itself tells it: looked at ten times a second, the
//! mean number of those that wait is, of the requests under way, the share of their time (Little's law).
//!
//! Not: light-weight locks of the server's own, which are told with what it waits for.

use model::diagnosis::{CostClass, Hypothesis, Role};
use model::{Record, RecordKind, SignalId, Strength, Unit};

use super::super::paths::Slowest;
use super::super::series;
use super::super::view::{Depth, Says, View, count, draft, exact, not, percent, time};

const NAME: &str = "lock-wait";

/// The share of the time from which on waits are told.
const SHARE_MIN: f64 = 0.05;

/// From this share on it is what limits.
const LIMITS_MIN: f64 = 0.15;

/// What waits for locks.
pub(super) fn detect(view: &View<'_>) -> Vec<Says> {
    let Some(waiting) = view.sum_of_means(&[SignalId::LocksWaiting]) else { return Vec::new() };
    let share = view.share_of_waiting(waiting);
    if share < SHARE_MIN {
        return vec![not(
            "locks of the database",
            "sessions that wait for another's lock",
            format!("{} wait", count(waiting)),
        )];
    }
    let blocked: Vec<&Record> = view.level.evidence.records.iter().filter(is_blocked).collect();
    let longest_ms =
        blocked.iter().filter_map(|record| series::number(record, "wait_ms_max")).fold(0.0, f64::max);
    let worst = blocked.iter().max_by(|a, b| {
        let seen = |record: &Record| series::number(record, "seconds_seen").unwrap_or(0.0);
        seen(a).total_cmp(&seen(b))
    });
    let place = worst.map_or_else(|| "database".to_owned(), |record| record.subject.clone());
    let blocker = worst.map_or_else(String::new, |record| {
        let text = |name| series::text(record, name).unwrap_or("");
        format!(": {} {}", text("blocker"), text("blocker_state")).trim_end().to_owned()
    });
    let mut numbers = vec![
        exact("sessions that wait", waiting, Unit::Count).noted("mean, looked at ten times a second"),
        exact("of the time of requests", share * 100.0, Unit::Percent),
    ];
    if longest_ms > 0.0 {
        numbers.push(exact("longest wait seen", longest_ms / 1e3, Unit::Seconds));
    }
    let queries =
        view.signals(&[SignalId::LocksWaiting]).into_iter().map(|signal| view.query(signal)).collect();
    let role = if share >= LIMITS_MIN { Role::Limits } else { Role::Contributes };
    vec![Says::Found(
        Box::new(Hypothesis {
            title: "sessions wait for each other's locks".to_owned(),
            summary: format!(
                "{} sessions wait at a time, for up to {}",
                count(waiting),
                time(longest_ms / 1e3)
            ),
            claim: format!(
                "requests spend {} of their time waiting for a lock that another transaction holds{blocker}",
                percent(share)
            ),
            role,
            strength: Strength::Limit,
            explains: Some(share),
            numbers,
            queries,
            exemplars: view.exemplars(&slowest_update(view)),
            remedy: "hold the row for less long: shorten the transaction that holds it, or count elsewhere"
                .to_owned(),
            cost: CostClass::Logic,
            prediction: view.without_holding(share, "nobody waits for a lock"),
            ..draft(NAME, "row lock contention", place)
        }),
        Depth::Cause,
    )]
}

fn is_blocked(record: &&Record) -> bool {
    record.kind == RecordKind::Happening && series::text(record, "what") == Some("blocked by a lock")
}

/// Traces of what writes and waits.
fn slowest_update(view: &View<'_>) -> Slowest {
    let writes = |text: &str| super::says(text, &["update", "insert", "delete", "for update"]);
    let steps = view.paths.steps.values().filter(|step| step.statement.as_deref().is_some_and(writes));
    steps.max_by(|a, b| a.own_ns.total_cmp(&b.own_ns)).map(|step| step.slowest.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, told};
    use super::super::testing::check;
    use super::*;

    #[test]
    fn sessions_that_wait_are_a_share_of_the_time() {
        let case =
            |waiting| told(level(10, 100, 0.1), vec![flat("locks_waiting", &[], 10, waiting)], Vec::new());
        check(detect, &case(5.0), &["row lock contention: database"]);
        check(detect, &case(0.1), &[]);
        check(detect, &level(10, 100, 0.1), &[]);
    }
}
