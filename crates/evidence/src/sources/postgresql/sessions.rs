//! Sessions by state and wait event: sampled at 10 Hz, reported every second as means.

use std::collections::BTreeMap;

use model::{Instant, RecordKind, SignalId};
use tokio_postgres::SimpleQueryRow;

use super::database::{number, text};
use crate::answer::{Answer, FirstSeen, SignalQuery, clip, fields};

/// Maximum number of wait events with series of their own; the rest is [`OTHER`].
const WAIT_EVENTS_MAX: usize = 100;

/// Maximum number of pairs of a waiting and a blocking session.
const PAIRS_MAX: usize = 50;

const OTHER: &str = "other";

/// Wait event of an active session without one: it runs on a CPU or waits for one.
const ON_CPU: &str = "CPU";

const ACTIVE: SignalQuery = SignalQuery::new(
    SignalId::ActiveSessions,
    "pg_stat_activity at 10 Hz: state = 'active', by wait_event_type and wait_event",
);
const CONNECTIONS: SignalQuery =
    SignalQuery::new(SignalId::Connections, "pg_stat_activity at 10 Hz, by state");
const LOCKS_WAITING: SignalQuery =
    SignalQuery::new(SignalId::LocksWaiting, "pg_stat_activity at 10 Hz: wait_event_type = 'Lock'");

/// Query for sessions by activity; [`super::Postgresql`] runs it, too, and its own session is excluded.
pub(super) const SESSIONS_SQL: &str = "SELECT /* plimsoll */ backend_type, coalesce(state, ''), \
     coalesce(wait_event_type, ''), coalesce(wait_event, ''), count(*) FROM pg_stat_activity \
     WHERE pid <> pg_backend_pid() AND backend_type IN ('client backend', 'parallel worker', 'autovacuum worker') \
     GROUP BY 1, 2, 3, 4 LIMIT 2000";

/// Samples since the last report.
#[derive(Debug)]
pub(super) struct Sessions {
    /// Time of the last report.
    reported_at: Option<Instant>,
    looks: u32,
    /// Sums over the samples. Wait events stay once seen, because an event that is over is zero and not unknown.
    active: BTreeMap<(String, String), f64>,
    connections: BTreeMap<String, f64>,
    waiting: f64,
    few: FirstSeen,
}

impl Sessions {
    pub(super) fn new() -> Sessions {
        Sessions {
            reported_at: None,
            looks: 0,
            active: BTreeMap::new(),
            connections: BTreeMap::new(),
            waiting: 0.0,
            few: FirstSeen::new(WAIT_EVENTS_MAX),
        }
    }

    /// Returns the time of the last report.
    pub(super) fn reported_at(&self) -> Option<Instant> {
        self.reported_at
    }

    /// Returns true if a session waited for a lock since the last report.
    pub(super) fn waited_for_locks(&self) -> bool {
        self.waiting > 0.0
    }

    /// Drops the samples since the last report, after a pause in sampling.
    pub(super) fn forget(&mut self) {
        self.looks = 0;
        self.waiting = 0.0;
        self.active.values_mut().chain(self.connections.values_mut()).for_each(|sum| *sum = 0.0);
    }

    /// Adds the rows of [`SESSIONS_SQL`].
    pub(super) fn look(&mut self, rows: &[SimpleQueryRow]) {
        self.looks += 1;
        for row in rows {
            let [kind, state, wait_type, wait_event] = [0, 1, 2, 3].map(|column| text(row, column));
            self.add(kind, state, wait_type, wait_event, number(row, 4).unwrap_or_default());
        }
    }

    fn add(&mut self, kind: &str, state: &str, wait_type: &str, wait_event: &str, count: f64) {
        if kind == "client backend" {
            *self.connections.entry(clip(state)).or_default() += count;
        }
        if state != "active" {
            return;
        }
        if wait_type == "Lock" {
            self.waiting += count;
        }
        let (wait_type, wait_event) =
            if wait_type.is_empty() { (ON_CPU, ON_CPU) } else { (wait_type, wait_event) };
        let is_told = self.few.has(&format!("{wait_type} {wait_event}"));
        let (wait_type, wait_event) = if is_told { (wait_type, wait_event) } else { (OTHER, OTHER) };
        *self.active.entry((wait_type.to_owned(), wait_event.to_owned())).or_default() += count;
    }

    /// Reports the means of the samples, if there are any.
    pub(super) fn add_to(&mut self, answer: &mut Answer, now: Instant) {
        self.reported_at = Some(now);
        if self.looks == 0 {
            return;
        }
        let looks = f64::from(self.looks);
        for ((wait_type, wait_event), sum) in &self.active {
            answer.number(&ACTIVE, &[("wait_type", wait_type), ("wait_event", wait_event)], sum / looks);
        }
        for (state, sum) in &self.connections {
            answer.number(&CONNECTIONS, &[("state", state)], sum / looks);
        }
        answer.number(&LOCKS_WAITING, &[], self.waiting / looks);
        self.forget();
    }
}

/// Returns the query for waiting and blocking sessions. It briefly blocks all sessions that take locks, so it runs only after a
/// wait. Statements are identified by query id and first word, because their text contains user data.
pub(super) fn blocked_sql(has_query_ids: bool) -> String {
    let (waits, blocks) = if has_query_ids { ("w.query_id", "b.query_id") } else { ("NULL", "NULL") };
    let word = |session| format!("upper(coalesce(substring({session}.query FROM '^\\s*([A-Za-z]+)'), ''))");
    format!(
        "SELECT /* plimsoll */ coalesce({waits}::text, ''), {}, coalesce({blocks}::text, ''), {}, \
         coalesce(b.state, b.backend_type, ''), coalesce(b.application_name, ''), count(DISTINCT w.pid), \
         1000 * max(extract(epoch FROM clock_timestamp() - w.query_start)) \
         FROM pg_stat_activity w CROSS JOIN LATERAL unnest(pg_blocking_pids(w.pid)) AS blocking (pid) \
         JOIN pg_stat_activity b ON b.pid = blocking.pid \
         WHERE w.wait_event_type = 'Lock' GROUP BY 1, 2, 3, 4, 5, 6 LIMIT 200",
        word("w"),
        word("b")
    )
}

/// Pairs of waiting and blocking sessions during the run.
#[derive(Debug, Default)]
pub(super) struct Blocked {
    pairs: BTreeMap<Pair, Seen>,
    untold: u64,
}

/// A waiting and a blocking session: query ids and first words of their statements, and the state and user of the latter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    waits: (String, String),
    blocks: (String, String),
    state: String,
    application: String,
}

/// Observations of a pair, one per second.
#[derive(Clone, Copy, Debug)]
struct Seen {
    first_at: Instant,
    times: u32,
    waiters_max: f64,
    wait_ms_max: f64,
}

impl Blocked {
    /// Adds the rows of [`blocked_sql`].
    pub(super) fn look(&mut self, rows: &[SimpleQueryRow], now: Instant) {
        for row in rows {
            let column = |column| clip(text(row, column));
            let pair = Pair {
                waits: (column(0), column(1)),
                blocks: (column(2), column(3)),
                state: column(4),
                application: column(5),
            };
            let [waiters, wait_ms] = [6, 7].map(|column| number(row, column).unwrap_or_default());
            self.add(pair, waiters, wait_ms, now);
        }
    }

    fn add(&mut self, pair: Pair, waiters: f64, wait_ms: f64, now: Instant) {
        if self.pairs.len() == PAIRS_MAX && !self.pairs.contains_key(&pair) {
            self.untold += 1;
            return;
        }
        let unseen = Seen { first_at: now, times: 0, waiters_max: 0.0, wait_ms_max: 0.0 };
        let seen = self.pairs.entry(pair).or_insert(unseen);
        seen.times += 1;
        seen.waiters_max = seen.waiters_max.max(waiters);
        seen.wait_ms_max = seen.wait_ms_max.max(wait_ms);
    }

    /// Reports the pairs, and removes them.
    pub(super) fn add_to(&mut self, answer: &mut Answer) {
        for (pair, seen) in std::mem::take(&mut self.pairs) {
            let known = fields([
                ("what", "blocked by a lock".into()),
                ("queryid", pair.waits.0.into()),
                ("blocker", pair.blocks.1.into()),
                ("blocker_queryid", pair.blocks.0.into()),
                ("blocker_state", pair.state.into()),
                ("blocker_application", pair.application.into()),
                ("seconds_seen", f64::from(seen.times).into()),
                ("waiters_max", seen.waiters_max.into()),
                ("wait_ms_max", seen.wait_ms_max.into()),
            ]);
            answer.record_at(seen.first_at, RecordKind::Happening, &pair.waits.1, known);
        }
        if self.untold > 0 {
            answer.warning(&format!(
                "{} observations of further locks were left out",
                std::mem::take(&mut self.untold)
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn answer() -> Answer {
        Answer::new("postgresql", Instant::ZERO, Duration::from_secs(1))
    }

    /// Returns signals as `name label` and value.
    fn signals(sessions: &mut Sessions) -> Vec<(String, f64)> {
        let mut answer = answer();
        sessions.add_to(&mut answer, Instant::ZERO);
        let line = |signal: &model::Signal| {
            let labels: Vec<&str> = signal.labels.values().map(String::as_str).collect();
            (format!("{} {}", signal.name, labels.join(" ")), signal.points[0].1)
        };
        answer.evidence().signals.iter().map(line).collect()
    }

    #[test]
    fn sessions_are_told_as_means_of_all_looks() {
        let mut sessions = Sessions::new();
        sessions.looks = 4;
        sessions.add("client backend", "active", "", "", 2.0);
        sessions.add("parallel worker", "active", "IO", "DataFileRead", 4.0);
        sessions.add("client backend", "active", "Lock", "transactionid", 1.0);
        sessions.add("client backend", "idle", "Client", "ClientRead", 8.0);
        let expect = [
            ("active_sessions CPU CPU", 0.5),
            ("active_sessions DataFileRead IO", 1.0),
            ("active_sessions transactionid Lock", 0.25),
            ("connections active", 0.75),
            ("connections idle", 2.0),
            ("locks_waiting ", 0.25),
        ];
        assert_eq!(signals(&mut sessions), expect.map(|(name, value)| (name.to_owned(), value)));
        assert_eq!(signals(&mut sessions), [], "no samples since");
        sessions.looks = 1;
        let after = signals(&mut sessions);
        assert!(
            after.len() == 6 && after.iter().all(|(_, value)| *value == 0.0),
            "waits end as zeros: {after:?}"
        );
    }

    #[test]
    fn many_wait_events_are_added_up() {
        let mut sessions = Sessions::new();
        sessions.looks = 1;
        (0..150).for_each(|number| {
            sessions.add("client backend", "active", "Extension", &number.to_string(), 1.0)
        });
        let other =
            signals(&mut sessions).into_iter().find(|(name, _)| name == "active_sessions other other");
        assert_eq!(other.map(|(_, value)| value), Some(50.0));
    }

    #[test]
    fn pairs_beyond_the_limit_are_counted() {
        let mut blocked = Blocked::default();
        for number in 0..60 {
            let waits = (number.to_string(), "UPDATE".to_owned());
            let blocks = (String::new(), "SELECT".to_owned());
            let pair =
                Pair { waits, blocks, state: "idle in transaction".to_owned(), application: String::new() };
            blocked.add(pair.clone(), 1.0, 5.0, Instant::ZERO);
            blocked.add(pair, 3.0, 4.0, Instant::ZERO);
        }
        let mut answer = answer();
        blocked.add_to(&mut answer);
        let evidence = answer.evidence().records;
        assert_eq!(evidence.len(), PAIRS_MAX + 1);
        let first = &evidence[0].fields;
        assert_eq!((&first["waiters_max"], &first["wait_ms_max"]), (&3.0.into(), &5.0.into()));
        assert_eq!(evidence[PAIRS_MAX].subject, "20 observations of further locks were left out");
    }
}
