//! Evidence of servers, collected from their own instruments during a run: series, records, traces and gaps.
//!
//! All instants are of the run's monotonic clock; wall-clock times are converted where they are read. Sources do not
//! interpolate: between two points nothing is known.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::{Instant, SignalName, Trace};

/// Evidence of one or several queries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Time series.
    pub signals: Vec<Signal>,
    /// Records, which are no series.
    pub records: Vec<Record>,
    /// Times without data, each with its reason.
    pub gaps: Vec<Gap>,
    /// Traces from a trace store.
    pub traces: Vec<Trace>,
}

/// A time series of a server. Source, name and labels are its identity; a signal that is delivered again has later points of
/// the same series.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// The source by its name in the settings: `postgresql`, `rabbitmq`.
    pub source: String,
    /// Its name: one of the catalogue, or that of a user's own query.
    pub name: SignalName,
    /// Labels: `queue` = `scan.vision`.
    pub labels: BTreeMap<String, String>,
    /// Unit in UCUM: `1` is a share, `s`, `By`, `{connection}`; empty for a number of things.
    pub unit: String,
    /// Query that reproduces it: PromQL, SQL, a path. Without credentials.
    pub query: String,
    /// Interval between points; zero for points at events.
    pub step: Duration,
    /// In order of time.
    pub points: Vec<(Instant, f64)>,
}

/// A fact from a source that is no series.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The source by its name in the settings.
    pub source: String,
    /// Kind of the record.
    pub kind: RecordKind,
    /// Time of the fact.
    pub at: Instant,
    /// Subject: a statement, a container, a task, the source itself.
    pub subject: String,
    /// Fields by name; a name ends in its unit.
    pub fields: BTreeMap<String, Datum>,
}

/// Kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RecordKind {
    /// The source itself: kind, version, answers and failures.
    Source,
    /// An event: a scaling, a restart, a deployment.
    Happening,
    /// Configuration: images, limits, rules of an autoscaler.
    Configuration,
    /// A database statement, with its calls and times during the run.
    Statement,
    /// A kind of task, with its durations from logs or events.
    Task,
    /// A log line of a server.
    Line,
    /// A warning from a metrics source: incomplete data, a node that is nearly out of memory.
    Warning,
    /// A profile of the run, or its address.
    Profile,
}

/// Value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

/// A time without data from a source.
#[derive(Clone, Debug, PartialEq)]
pub struct Gap {
    /// The source by its name in the settings.
    pub source: String,
    /// First instant without data.
    pub from: Instant,
    /// First instant with data again.
    pub to: Instant,
    /// Reason: a sentence without its full stop.
    pub reason: String,
}

impl Evidence {
    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.signals.is_empty() && self.records.is_empty() && self.gaps.is_empty() && self.traces.is_empty()
    }

    /// Appends other evidence.
    pub fn append(&mut self, mut other: Evidence) {
        self.signals.append(&mut other.signals);
        self.records.append(&mut other.records);
        self.gaps.append(&mut other.gaps);
        self.traces.append(&mut other.traces);
    }
}

impl RecordKind {
    /// All of them.
    pub const ALL: [RecordKind; 8] = [
        RecordKind::Source,
        RecordKind::Happening,
        RecordKind::Configuration,
        RecordKind::Statement,
        RecordKind::Task,
        RecordKind::Line,
        RecordKind::Warning,
        RecordKind::Profile,
    ];

    /// Its name in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            RecordKind::Source => "source",
            RecordKind::Happening => "happening",
            RecordKind::Configuration => "configuration",
            RecordKind::Statement => "statement",
            RecordKind::Task => "task",
            RecordKind::Line => "line",
            RecordKind::Warning => "warning",
            RecordKind::Profile => "profile",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<RecordKind> {
        RecordKind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl From<f64> for Datum {
    fn from(number: f64) -> Datum {
        Datum::Number(number)
    }
}

impl From<&str> for Datum {
    fn from(text: &str) -> Datum {
        Datum::Text(text.to_owned())
    }
}

impl From<String> for Datum {
    fn from(text: String) -> Datum {
        Datum::Text(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_found_by_their_names() {
        for kind in RecordKind::ALL {
            assert_eq!(RecordKind::named(kind.as_str()), Some(kind));
        }
        assert_eq!(RecordKind::named("sauce"), None);
    }
}
