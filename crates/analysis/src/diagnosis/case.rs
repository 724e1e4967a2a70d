//! The input of a diagnosis: runs of one test at rising load, with the evidence of their servers.

use std::collections::BTreeMap;

use model::diagnosis::Refusal;
use model::{Evidence, Grade, Instant, OperationLoad, Reason, Signal, SignalId, Trace};

use super::thresholds::prediction::STEADY_TIMES;

/// Runs of one test in ascending order of load. One run suffices; several show what grows with load.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// The runs.
    pub levels: Vec<Level>,
}

/// One run.
#[derive(Clone, Debug, Default)]
pub struct Level {
    /// Its id.
    pub id: String,
    /// Command that runs the test again: `plimsoll run script.js`.
    pub command: String,
    /// Validity grade of the measurement.
    pub grade: Grade,
    /// Why.
    pub reasons: Vec<Reason>,
    /// Slots of all workers together; `None` if unknown.
    pub slots: Option<f64>,
    /// Total service time of a task, seconds, from logs or events of tasks; `None` if unknown.
    pub service_s: Option<f64>,
    /// VUs of a closed workload; `None` for an open one.
    pub closed_vus: Option<f64>,
    /// Its seconds, in order of time.
    pub seconds: Vec<Second>,
    /// The requests of all of it.
    pub requests: Requests,
    /// Its tasks, if it has any.
    pub tasks: Option<Tasks>,
    /// Thresholds that failed, as they are written.
    pub thresholds_failed: Vec<String>,
    /// Evidence from servers.
    pub evidence: Evidence,
    /// Traces that were kept.
    pub traces: Vec<Trace>,
    /// Number of executions per operation, over all spans received.
    pub operations: Vec<OperationLoad>,
}

/// One second of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Second {
    /// Its first instant.
    pub from: Instant,
    /// The instant after its last.
    pub to: Instant,
    /// Requests that were finished.
    pub finished: u64,
    /// Their mean time, seconds; none where no request was finished.
    pub mean_s: Option<f64>,
    /// The mean number of requests under way.
    pub in_flight: f64,
    /// Bytes that came back.
    pub bytes_in: f64,
}

/// The requests of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Requests {
    /// Number of requests.
    pub count: u64,
    /// Failed requests.
    pub failed: u64,
    /// Number of requests with status 429, with a status from 500 on, and with a closed or refused connection.
    pub refused: BTreeMap<Refusal, u64>,
    /// Their mean time, seconds; none where none was timed.
    pub mean_s: Option<f64>,
    /// The 95th percentile.
    pub p95_s: Option<f64>,
    /// The mean time in which the answer came in, seconds.
    pub receiving_s: Option<f64>,
    /// Requests whose connect or wait took as long as a SYN retransmission: 1, 2, 3, 4, 5 or 7 s.
    pub after_lost_syns: u64,
    /// Their total wait, seconds.
    pub lost_syns_s: f64,
    /// Bytes that came back in all.
    pub bytes_in: f64,
    /// Requests that had to make a connection first.
    pub connections: u64,
}

/// The tasks of a run: work that is submitted with one request and polled with others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tasks {
    /// Finished tasks.
    pub done: u64,
    /// Their mean time, seconds.
    pub mean_s: Option<f64>,
    /// Number of tasks per outcome, in the script's names.
    pub outcomes: BTreeMap<String, u64>,
}

impl Second {
    /// How long it is.
    pub fn length_s(&self) -> f64 {
        self.to.since(self.from).as_secs_f64()
    }

    /// Requests per second.
    pub fn rate(&self) -> f64 {
        let length_s = self.length_s();
        if length_s > 0.0 { self.finished as f64 / length_s } else { 0.0 }
    }
}

impl Level {
    /// When its load began.
    pub fn from(&self) -> Instant {
        self.seconds.first().map_or(Instant::ZERO, |second| second.from)
    }

    /// Leaves out the spans of the target, as if none had been received.
    pub fn leave_out_traces(&mut self) {
        self.traces.clear();
        self.operations.clear();
    }

    /// Leaves out the evidence of all sources, as if none had been connected.
    pub fn leave_out_metrics(&mut self) {
        self.evidence = Evidence::default();
        (self.slots, self.service_s) = (None, None);
    }

    /// When it ended.
    pub fn to(&self) -> Instant {
        self.seconds.last().map_or(Instant::ZERO, |second| second.to)
    }

    /// How long it was.
    pub fn length_s(&self) -> f64 {
        self.to().since(self.from()).as_secs_f64()
    }

    /// Returns the throughput per second: tasks if there are any, otherwise requests.
    pub fn throughput_per_s(&self) -> f64 {
        let length_s = self.length_s();
        let count = self.tasks.as_ref().map_or(self.requests.count, |tasks| tasks.done);
        if length_s > 0.0 { count as f64 / length_s } else { 0.0 }
    }

    /// Returns the time from one request or task of a user to the next, think time included, seconds (N = X·(R + Z)); none for an open
    /// load.
    pub fn cycle_s(&self) -> Option<f64> {
        let per_s = self.throughput_per_s();
        self.closed_vus.filter(|_| per_s > 0.0).map(|users| users / per_s)
    }

    /// Returns the time between two requests that ask whether a task is done, seconds; none without such requests.
    pub fn poll_interval_s(&self) -> Option<f64> {
        let tasks = self.tasks.as_ref().filter(|tasks| tasks.done > 0)?;
        let requests = self.requests.count as f64 / tasks.done as f64;
        let answered_s = requests * self.requests.mean_s.unwrap_or(0.0);
        tasks
            .mean_s
            .filter(|_| requests >= 2.0)
            .map(|mean_s| (mean_s - answered_s).max(0.0) / (requests - 1.0))
    }

    /// Returns the mean time of a user between two requests of a closed load, seconds, from the middle of the run: at its end users stop, and
    /// requests that are under way count for little (Z = (N - Q) / X). None for an open load, for tasks, and while the load changes: the
    /// law is one of the steady state.
    pub fn pause_s(&self) -> Option<f64> {
        let users = self.closed_vus.filter(|_| self.tasks.is_none())?;
        let edge = self.seconds.len().div_ceil(5);
        let middle = self.seconds.get(edge..self.seconds.len().saturating_sub(edge))?;
        let sums = |seconds: &[Second]| {
            let length_s: f64 = seconds.iter().map(Second::length_s).sum();
            let finished: u64 = seconds.iter().map(|second| second.finished).sum();
            let busy_s: f64 = seconds.iter().map(|second| second.in_flight * second.length_s()).sum();
            (length_s, finished, busy_s)
        };
        let (first, second) = middle.split_at(middle.len() / 2);
        let in_flight = |seconds: &[Second]| sums(seconds).2 / sums(seconds).0.max(f64::MIN_POSITIVE);
        let (before, after) = (in_flight(first), in_flight(second));
        if before.max(after) > before.min(after) * STEADY_TIMES {
            return None;
        }
        let (length_s, finished, busy_s) = sums(middle);
        (finished > 0).then(|| ((users * length_s - busy_s) / finished as f64).max(0.0))
    }

    /// Requests per second.
    pub fn requests_per_s(&self) -> f64 {
        let length_s = self.length_s();
        if length_s > 0.0 { self.requests.count as f64 / length_s } else { 0.0 }
    }

    /// The mean time of what was finished: tasks where there are any, else requests.
    pub fn mean_s(&self) -> Option<f64> {
        match &self.tasks {
            Some(tasks) => tasks.mean_s,
            None => self.requests.mean_s,
        }
    }

    /// Returns the mean number of requests or tasks in flight (by Little's law for tasks).
    pub fn in_flight(&self) -> f64 {
        if let Some(tasks) = &self.tasks {
            return tasks.mean_s.unwrap_or(0.0) * self.throughput_per_s();
        }
        let length_s = self.length_s();
        let sum: f64 = self.seconds.iter().map(|second| second.in_flight * second.length_s()).sum();
        if length_s > 0.0 { sum / length_s } else { 0.0 }
    }

    /// The series of one signal of the catalogue.
    pub fn series(&self, id: SignalId) -> impl Iterator<Item = &Signal> {
        self.evidence.signals.iter().filter(move |signal| signal.name == id)
    }

    /// Returns whether there is no evidence from any server.
    pub fn is_unobserved(&self) -> bool {
        self.evidence.signals.is_empty() && self.traces.is_empty() && self.operations.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(at_s: u64, finished: u64, in_flight: f64) -> Second {
        let at = |second: u64| Instant::from_ns(second * 1_000_000_000);
        Second { from: at(at_s), to: at(at_s + 1), finished, in_flight, ..Second::default() }
    }

    #[test]
    fn users_pause_between_requests_of_the_middle() {
        // Four users, of whom three have a request under way, at ten requests a second; at the end they stop.
        let mut seconds: Vec<Second> = (0..16).map(|at| second(at, 10, 3.0)).collect();
        seconds.extend((16..20).map(|at| second(at, 1, 0.1)));
        let level = Level { seconds, closed_vus: Some(4.0), ..Level::default() };
        assert_eq!(level.pause_s(), Some(0.1));
        assert_eq!(Level { closed_vus: None, ..level.clone() }.pause_s(), None);
        let ramp = (0..20).map(|at| second(at, 10, if at < 8 { 1.0 } else { 3.0 })).collect();
        assert_eq!(Level { seconds: ramp, ..level.clone() }.pause_s(), None, "more users come");
        assert_eq!(Level { seconds: Vec::new(), ..level }.pause_s(), None);
    }

    #[test]
    fn rates_are_of_the_time_between_first_and_last() {
        let requests = Requests { count: 40, mean_s: Some(0.1), ..Requests::default() };
        let seconds = vec![second(3, 10, 1.0), second(4, 30, 3.0)];
        let mut level = Level { requests, seconds, ..Level::default() };
        assert_eq!((level.length_s(), level.throughput_per_s(), level.in_flight()), (2.0, 20.0, 2.0));
        level.tasks = Some(Tasks { done: 4, mean_s: Some(3.0), ..Tasks::default() });
        assert_eq!((level.throughput_per_s(), level.requests_per_s(), level.in_flight()), (2.0, 20.0, 6.0));
        assert_eq!(Level::default().throughput_per_s(), 0.0);
    }
}
