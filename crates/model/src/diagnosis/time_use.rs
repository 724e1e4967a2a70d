//! The time of requests and tasks, by where they spend it.

use super::Caveat;
use super::code::codes;

/// The time of a request or a task. The parts add up to the whole.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeUse {
    /// The unit of work.
    pub unit: TimedUnit,
    /// How many of them it is the mean of.
    pub count: u64,
    /// Their mean time, seconds: the sum of the parts.
    pub mean_s: f64,
    /// The time that the test itself measured.
    pub measured_s: Option<f64>,
    /// The parts, in order of time.
    pub parts: Vec<TimePart>,
    /// The same by other methods; the first is that of the parts.
    pub ways: Vec<TimeWay>,
    /// The difference of the methods about waiting, as a share of the longest; none where there is but one.
    pub disagreement: Option<f64>,
    /// Doubts about it.
    pub caveats: Vec<Caveat>,
}

codes! {
    /// A unit of work whose time is known.
    TimedUnit {
        /// A request.
        Request = "request",
        /// A task, from its submission to its result.
        Task = "task",
    }
}

/// A part of the time.
#[derive(Clone, Debug, PartialEq)]
pub struct TimePart {
    /// Its name.
    pub name: StageName,
    /// The activity in it.
    pub activity: Activity,
    /// The mean over all, seconds.
    pub mean_s: f64,
    /// The same at low load, where both were measured.
    pub low_s: Option<f64>,
}

/// The name of a part of the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StageName {
    /// A queue or operation by its own name, or one of `network`, `target`, `database`, `external`.
    Named(String),
    /// Polling for the result.
    Polling,
    /// All queues.
    Queues,
    /// All work.
    Work,
    /// Time that no evidence covers.
    Unattributed,
}

codes! {
    /// The activity in a part of the time.
    Activity {
        /// Queueing: it waits for its turn.
        Queued = "waits",
        /// Service: a component works on it.
        Service = "works",
        /// Network: it is in transit.
        Network = "travels",
        /// No evidence covers it.
        Unattributed = "unseen",
    }
}

/// One method to measure the parts of the time.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeWay {
    /// The method.
    pub method: TimeMethod,
    /// The numbers that it is computed from.
    pub from: TimeBasis,
    /// Waiting, seconds; none where the method does not show it.
    pub waits_s: Option<f64>,
    /// Service time, seconds.
    pub works_s: Option<f64>,
    /// Everything else: submission, polling, the network.
    pub rest_s: Option<f64>,
    /// The sum.
    pub sum_s: f64,
    /// Its difference to the measured time, as a share of it; none where nothing was measured or the sum was made to fit.
    pub apart: Option<f64>,
}

/// The numbers that a method is computed from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimeBasis {
    /// So many traces.
    Traces {
        /// Their number.
        count: u64,
    },
    /// Waiting messages divided by throughput.
    Queue {
        /// Messages that wait.
        waiting: f64,
        /// Throughput.
        through_per_s: f64,
    },
    /// Mean times of tasks in logs or events; the remainder is waiting.
    TaskTimes,
}

codes! {
    /// A method to measure the parts of the time.
    TimeMethod {
        /// The critical paths of traces.
        Traces = "traces",
        /// Little's law: waiting messages divided by throughput.
        Little = "little",
        /// The times of tasks, in logs or events.
        Logs = "logs",
    }
}

impl TimeUse {
    /// Returns the difference of its parts to the whole, as a share of the whole.
    pub fn parts_apart(&self) -> f64 {
        let sum: f64 = self.parts.iter().map(|part| part.mean_s).sum();
        if self.mean_s > 0.0 { (sum / self.mean_s - 1.0).abs() } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_parts_show_as_a_difference() {
        let part =
            |mean_s| TimePart { name: StageName::Work, activity: Activity::Service, mean_s, low_s: None };
        let time = |parts| TimeUse {
            unit: TimedUnit::Request,
            count: 1,
            mean_s: 10.0,
            measured_s: None,
            parts,
            ways: Vec::new(),
            disagreement: None,
            caveats: Vec::new(),
        };
        assert_eq!(time(vec![part(7.5), part(2.5)]).parts_apart(), 0.0);
        assert_eq!(time(vec![part(5.0)]).parts_apart(), 0.5);
    }
}
