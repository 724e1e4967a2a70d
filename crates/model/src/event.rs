//! The one type between running and showing. Terminal, files and exports are listeners of it.

use std::sync::Arc;

use crate::{AgentFacts, GeneratorState, Instant, Metadata, Sample, ThresholdResult, Window};

/// An event of a run, for its listeners.
#[derive(Clone, Debug)]
pub enum RunEvent {
    /// VUs are being initialised: so many of so many are ready.
    Initializing {
        /// VUs ready.
        ready: u32,
        /// VUs planned.
        planned: u32,
    },
    /// `setup()` began.
    SetupStarted,
    /// The scenarios began at this instant.
    ScenariosStarted {
        /// The run's zero.
        at: Instant,
    },
    /// One second is complete on all threads.
    Window(Arc<Window>),
    /// The thresholds were judged.
    Thresholds {
        /// When.
        at: Instant,
        /// One result per condition, in the order of the plan.
        results: Arc<Vec<ThresholdResult>>,
    },
    /// A batch of raw samples; sent only when a listener asked for them. Order between batches of different
    /// threads is not defined.
    Samples(Arc<Vec<(Sample, Option<Metadata>)>>),
    /// Samples that did not fit into the queue to the listeners.
    SamplesLost {
        /// How many.
        count: u64,
    },
    /// A reading of the generator on the machine of an agent.
    AgentReading {
        /// The agent's name.
        agent: Arc<str>,
        /// The reading.
        state: Arc<GeneratorState>,
    },
    /// The agents of the run so far, about once a second.
    Agents(Arc<Vec<AgentFacts>>),
    /// The script or the runner said something.
    Log(LogLine),
    /// The scenarios are over, for this reason if it was not the plan.
    ScenariosEnded {
        /// When.
        at: Instant,
    },
    /// `teardown()` began.
    TeardownStarted,
    /// Everything is over; no event follows.
    Ended,
}

/// How important a log line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LogLevel {
    /// `console.debug`.
    Debug,
    /// `console.log`, `console.info`.
    Info,
    /// `console.warn`, and warnings of the runner.
    Warn,
    /// `console.error`, and exceptions.
    Error,
}

impl LogLevel {
    /// The level's name as logrus (and so k6) prints it.
    pub const fn as_str(self) -> &'static str {
        match self {
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Warn => "warning",
            LogLevel::Error => "error",
        }
    }
}

/// One line of log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogLine {
    /// When.
    pub at: Instant,
    /// How important.
    pub level: LogLevel,
    /// The text; it may hold several lines (an exception with its stack).
    pub message: String,
    /// The origin of the line: `console`, `stacktrace`, or empty for the runner itself.
    pub source: &'static str,
    /// Further fields, shown as `key=value`.
    pub fields: Vec<(&'static str, String)>,
}

impl LogLine {
    /// A line of the runner itself.
    pub fn new(at: Instant, level: LogLevel, message: impl Into<String>) -> LogLine {
        LogLine { at, level, message: message.into(), source: "", fields: Vec::new() }
    }
}
