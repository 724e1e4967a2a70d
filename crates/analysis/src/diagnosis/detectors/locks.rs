//! Sessions of a database that wait for each other's locks, sampled by the database ten times a second. The mean number of waiting
//! sessions divided by the requests in flight is their share of response time (Little's law). MySQL counts the total time of waits as
//! well, which a period of the locks cannot deceive as it deceives samples.
//!
//! Not: the server's own light-weight locks, which are reported under the resource that they protect.

use model::diagnosis::{Change, Claim, CostClass, FigureName, Hypothesis, Note, Remedy, Role, RuledOut};
use model::{Record, RecordKind, SignalId, SignalRole, Strength, Unit};

use super::super::case_view::View;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::paths::Slowest;
use super::super::series;
use super::super::thresholds::case_view::CONFIDENCE;
use super::super::thresholds::locks::{LIMITS_MIN, SHARE_MIN};
use super::short;
use crate::traces::normalised;

/// Finds sessions that wait for locks.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let Some(waiting) = view.highest_of_means(SignalRole::LocksWaiting) else { return Vec::new() };
    let share = view.share_of_waiting(waiting);
    if share < SHARE_MIN {
        return vec![Observation::RuledOut(RuledOut::RowLocks { sessions: waiting })];
    }
    let blocked: Vec<&Record> = view.level.evidence.records.iter().filter(is_blocked).collect();
    let longest_ms =
        blocked.iter().filter_map(|record| series::number(record, "wait_ms_max")).fold(0.0, f64::max);
    let worst = blocked.iter().max_by(|a, b| {
        let seen = |record: &Record| series::number(record, "seconds_seen").unwrap_or(0.0);
        seen(a).total_cmp(&seen(b))
    });
    let place = worst.map_or_else(|| "database".to_owned(), |record| statement(view, record));
    let blocker = worst.map(|record| {
        let text = |name| series::text(record, name).unwrap_or("");
        format!("{} {}", text("blocker"), text("blocker_state")).trim().to_owned()
    });
    let mut numbers = vec![
        exact(FigureName::WaitingSessions, waiting, Unit::Count).noted(Note::Sampled),
        exact(FigureName::RequestTimeShare, share * 100.0, Unit::Percent),
    ];
    if longest_ms > 0.0 {
        numbers.push(exact(FigureName::LongestWait, longest_ms / 1e3, Unit::Seconds));
    }
    let signals = view.signals(&SignalRole::LocksWaiting.signals());
    let queries = signals.into_iter().map(|signal| view.query(signal)).collect();
    let role = if share >= LIMITS_MIN { Role::Limits } else { Role::Contributes };
    let claim = Claim::RowLocks {
        sessions: waiting,
        longest_s: longest_ms / 1e3,
        waiting_share: share,
        blocker: blocker.filter(|text| !text.is_empty()),
    };
    vec![Observation::Found(
        Box::new(Hypothesis {
            role,
            strength: Strength::Limit,
            explains: Some(share),
            numbers,
            queries,
            exemplars: view.exemplars(&slowest_update(view)),
            cost: CostClass::Logic,
            prediction: view.without_holding(between(view, share), Change::NoLockWait),
            ..draft(claim, Remedy::ShortenTransactions, place)
        }),
        Depth::Cause,
    )]
}

/// The statement that waits: its text if the database counts statements under the same id, else its first word.
fn statement(view: &View<'_>, blocked: &Record) -> String {
    let id = series::text(blocked, "queryid").filter(|id| !id.is_empty());
    let is_it = |record: &&Record| {
        record.kind == RecordKind::Statement && id.is_some() && series::text(record, "queryid") == id
    };
    let known = view.level.evidence.records.iter().find(is_it);
    known.map_or_else(|| blocked.subject.clone(), |record| short(&normalised(&record.subject)))
}

/// Returns the interval of the share: from the readings of a sampled number, which a total of waiting time does not need, and from the
/// queueing that may go with it.
fn between(view: &View<'_>, share: f64) -> (f64, f64) {
    let sampled = view.signals(&[SignalId::LocksWaiting]);
    let is_counted = !view.signals(&[SignalId::MysqlRowLockTime]).is_empty();
    let interval = match sampled[..] {
        [sampled] if !is_counted => series::mean_interval(view.level, sampled, CONFIDENCE),
        _ => None,
    };
    let (least, most) = interval
        .map_or((share, share), |(least, most)| (view.share_of_waiting(least), view.share_of_waiting(most)));
    (least, view.share_with_queueing(most))
}

fn is_blocked(record: &&Record) -> bool {
    record.kind == RecordKind::Happening && series::text(record, "what") == Some("blocked by a lock")
}

/// Returns example traces of statements that write and wait.
fn slowest_update(view: &View<'_>) -> Slowest {
    let writes = |text: &str| super::contains_any(text, &["update", "insert", "delete", "for update"]);
    let steps = view.paths.steps.values().filter(|step| step.statement.as_deref().is_some_and(writes));
    steps.max_by(|a, b| a.own_ns.total_cmp(&b.own_ns)).map(|step| step.slowest.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, request, sampled, with_evidence};
    use super::super::testing::{check, fires};
    use super::*;

    #[test]
    fn sessions_that_wait_are_a_share_of_the_time() {
        let case = |waiting| {
            with_evidence(level(10, 100, 0.1), vec![flat("locks_waiting", &[], 10, waiting)], Vec::new())
        };
        check(detect, &case(5.0), &["row lock contention: database"]);
        check(detect, &case(0.1), &[]);
        check(detect, &level(10, 100, 0.1), &[]);
    }

    #[test]
    fn the_statement_that_waits_is_named_by_its_id() {
        let record = |kind, subject: &str, more: &[(&str, &str)]| {
            let fields = [("queryid", "7")].iter().chain(more);
            Record {
                source: "postgresql".to_owned(),
                kind,
                at: model::Instant::ZERO,
                subject: subject.to_owned(),
                fields: fields.map(|(name, value)| ((*name).to_owned(), (*value).into())).collect(),
            }
        };
        let blocked = record(RecordKind::Happening, "SELECT", &[("what", "blocked by a lock")]);
        let known = record(RecordKind::Statement, "SELECT quantity FROM stock WHERE id = $1 FOR UPDATE", &[]);
        let case =
            |records| with_evidence(level(10, 100, 0.1), vec![flat("locks_waiting", &[], 10, 5.0)], records);
        check(
            detect,
            &case(vec![blocked.clone(), known]),
            &["row lock contention: SELECT quantity FROM stock WHERE id = ? FOR UPDATE"],
        );
        check(detect, &case(vec![blocked]), &["row lock contention: SELECT"]);
    }

    #[test]
    fn locks_that_are_seen_by_turns_are_predicted_within_a_wide_interval() {
        let interval = |low: f64, high: f64, counted: Option<f64>| {
            let mut waiting = flat("locks_waiting", &[], 20, low);
            waiting.points.iter_mut().step_by(2).for_each(|(_, value)| *value = high);
            let counted = counted.map(|value| flat("mysql_row_lock_time", &[], 20, value));
            let signals = [Some(waiting), counted].into_iter().flatten().collect();
            let traces = (0..20).map(|number| sampled(number, request("shop", "GET /", 100.0, &[])));
            let traces = traces.collect();
            let level = crate::diagnosis::Level { closed_vus: Some(20.0), traces, ..level(20, 100, 0.1) };
            let found = fires(detect, &with_evidence(level, signals, Vec::new()));
            let then = found[0].prediction.as_ref().and_then(|it| it.then.clone()).expect("a rate");
            (found[0].explains, then.interval.map(|(low, high)| high - low).expect("an interval"))
        };
        let (even, uneven) = (interval(5.0, 5.0, None), interval(1.0, 9.0, None));
        assert_eq!((even.0, uneven.0), (Some(0.5), Some(0.5)));
        assert!(uneven.1 > even.1 * 1.5, "{even:?} {uneven:?}");
        // Nine sessions waited on average, by the total time of their waits.
        let counted = interval(1.0, 9.0, Some(9.0));
        assert_eq!(counted.0, Some(0.9));
    }
}
