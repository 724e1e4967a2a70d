//! What servers did meanwhile, as their own instruments tell it: series, records, and where nothing is known.
//!
//! All instants are of the run's monotonic clock; sources that tell the time of a wall clock are translated where they are
//! read. A source never fills in what it did not see: between two points nothing is known but the points.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::{Instant, SignalName, Trace};

/// What sources told since the last time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Numbers over time.
    pub signals: Vec<Signal>,
    /// What is no series.
    pub records: Vec<Record>,
    /// When a source told nothing, and why.
    pub gaps: Vec<Gap>,
    /// Traces that a store of them had.
    pub traces: Vec<Trace>,
}

/// A series that is no metric of the test. Source, name and labels are its identity; a signal that is handed over again has
/// later points of the same series.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// The source by its name in the settings: `postgresql`, `rabbitmq`.
    pub source: String,
    /// Its name: one of the catalogue, or that of a user's own query.
    pub name: SignalName,
    /// Which of them: `queue` = `scan.vision`.
    pub labels: BTreeMap<String, String>,
    /// The unit in UCUM: `1` is a share, `s`, `By`, `{connection}`; empty for a number of things.
    pub unit: String,
    /// What asks for it again: PromQL, SQL, a path. Without credentials.
    pub query: String,
    /// Time between points; zero where they come when something happens.
    pub step: Duration,
    /// In order of time.
    pub points: Vec<(Instant, f64)>,
}

/// Something that a source tells and that is no series.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The source by its name in the settings.
    pub source: String,
    /// What it is.
    pub kind: RecordKind,
    /// When it was so, or happened.
    pub at: Instant,
    /// What it is about: a statement, a container, a task, the source itself.
    pub subject: String,
    /// What is known of it, each by a name with its unit last.
    pub fields: BTreeMap<String, Datum>,
}

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RecordKind {
    /// The source itself: what it is, its version, what it received and dropped.
    Source,
    /// Something that happened once: a scaling, a restart, a deployment.
    Happening,
    /// What was configured: images, limits, rules of a scaler.
    Configuration,
    /// A statement of a database, with what it took between the run's two ends.
    Statement,
    /// A kind of task, with how long it took, read from logs or events.
    Task,
    /// A line of a server's log.
    Line,
    /// What nobody asked about and somebody should know: a neighbour's node that is nearly full.
    Warning,
    /// Where a profile of the run is, or the profile itself.
    Profile,
}

/// What is known of a record.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

/// A time of which a source told nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Gap {
    /// The source by its name in the settings.
    pub source: String,
    /// The first instant of which nothing is known.
    pub from: Instant,
    /// The first instant of which something is known again.
    pub to: Instant,
    /// Why: a sentence without its full stop.
    pub reason: String,
}

impl Evidence {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.signals.is_empty() && self.records.is_empty() && self.gaps.is_empty() && self.traces.is_empty()
    }

    /// Takes what another has.
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
