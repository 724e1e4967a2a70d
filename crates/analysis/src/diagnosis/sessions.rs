//! The activity of a database's sessions, by their wait events.
//!
//! A database counts a session as active while it runs a statement, also while that statement sleeps or waits for its client. Such a
//! session uses no CPU, no disk and no lock, so that no other statement waits for it, however much of the statements' time it has.

use model::SignalId;
use model::signal::label;

use super::case_view::View;
use super::series;

/// Types of wait events in which a session uses nothing of its database (PostgreSQL, `wait_event_type`): a sleep, and a wait for the
/// client.
const IDLE: [&str; 2] = ["Timeout", "Client"];

/// The state of an unused connection (PostgreSQL, `pg_stat_activity.state`).
const UNUSED: &str = "idle";

/// The type of waits for locks, which has a detector of its own.
const LOCK: &str = "Lock";

/// Returns the share of the active sessions' time outside of locks in which they use the database; `None` if no source reports it.
pub(super) fn working_share(view: &View<'_>) -> Option<f64> {
    let (mut works, mut idles) = (0.0, 0.0);
    for signal in view.signals(&[SignalId::ActiveSessions]) {
        let (Some(wait), Some(mean)) =
            (signal.labels.get(label::WAIT_TYPE), series::mean(view.level, signal))
        else {
            continue;
        };
        // A series has no points while no session is in this state.
        let sessions = mean * series::inside(view.level, signal).len() as f64;
        match wait.as_str() {
            LOCK => {}
            wait if IDLE.contains(&wait) => idles += sessions,
            _ => works += sessions,
        }
    }
    (works + idles > 0.0).then(|| works / (works + idles))
}

/// Connections of a database, mean numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Connections {
    /// All of them.
    pub(super) open: f64,
    /// Those that wait for their client's next statement.
    pub(super) idle: f64,
}

/// Returns the connections of a database by its own count; `None` if no source reports their states.
pub(super) fn connections(view: &View<'_>) -> Option<Connections> {
    by_state(view).or_else(|| by_threads(view))
}

/// MySQL counts its connections, and those that run a statement. One of both reads these counters.
fn by_threads(view: &View<'_>) -> Option<Connections> {
    let open = view.sum_of_means(&[SignalId::MysqlConnections])? - 1.0;
    let running = view.sum_of_means(&[SignalId::MysqlThreadsRunning])? - 1.0;
    (open > 0.0).then_some(Connections { open, idle: (open - running).max(0.0) })
}

fn by_state(view: &View<'_>) -> Option<Connections> {
    let signals = view.signals(&[SignalId::Connections]);
    let looks = signals.iter().map(|signal| series::inside(view.level, signal).len()).max().unwrap_or(0);
    let mut found = Connections { open: 0.0, idle: 0.0 };
    for signal in signals {
        let (Some(state), Some(mean)) = (signal.labels.get(label::STATE), series::mean(view.level, signal))
        else {
            continue;
        };
        // A series has no points while no connection is in this state.
        let count = mean * series::inside(view.level, signal).len() as f64 / looks as f64;
        found.open += count;
        found.idle += if state == UNUSED { count } else { 0.0 };
    }
    (found.open > 0.0).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;
    use super::super::testing::{flat, level, with_evidence};
    use super::*;

    #[test]
    fn the_connection_that_counts_is_not_the_runs() {
        let signals =
            vec![flat("mysql_connections", &[], 10, 3.0), flat("mysql_threads_running", &[], 10, 2.5)];
        let case = Case { levels: vec![with_evidence(level(10, 10, 0.1), signals, Vec::new())] };
        let found = connections(&View::new(&case).expect("a run"));
        assert_eq!(found, Some(Connections { open: 2.0, idle: 0.5 }));
    }

    #[test]
    fn sleeping_sessions_do_not_work() {
        let share = |sessions: &[(&str, u32, f64)]| {
            let of = |(wait, seconds, value): &(&str, u32, f64)| {
                flat("active_sessions", &[("wait_type", *wait)], *seconds, *value)
            };
            let signals = sessions.iter().map(of).collect();
            let case = Case { levels: vec![with_evidence(level(10, 10, 0.1), signals, Vec::new())] };
            working_share(&View::new(&case).expect("a run"))
        };
        assert_eq!(share(&[]), None);
        assert_eq!(share(&[("Lock", 10, 5.0)]), None);
        assert_eq!(share(&[("CPU", 10, 1.0), ("Lock", 10, 5.0)]), Some(1.0));
        assert_eq!(share(&[("IO", 10, 0.5), ("Timeout", 10, 1.0), ("Client", 10, 0.5)]), Some(0.25));
        assert_eq!(share(&[("CPU", 5, 1.0), ("Timeout", 10, 0.5)]), Some(0.5), "seen half of the time");
    }
}
