//! The bottleneck of a system, with its evidence and a prediction that can fail. All of it is data: the crate `words` has the sentences.

mod claim;
mod code;
mod fault;
mod figure;
mod reasoning;
mod time_use;

use std::time::Duration;

pub use claim::{Admission, Claim, Reading, Refusal};
pub use fault::{DetectorId, FaultKind, MissingKind, Resource, ResourceKind};
pub use figure::{FigureName, Note};
pub use reasoning::{Caveat, Change, NextLimit, Refutation, Remedy, RuledOut, SlotKind};
pub use time_use::{Activity, StageName, TimeBasis, TimeMethod, TimePart, TimeUse, TimeWay, TimedUnit};

use crate::{Fault, Grade, Instant, Strength, Unit};
pub(crate) use code::codes;

/// The diagnosis of a run, or of several of them at rising load.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosis {
    /// Its outcome.
    pub outcome: Outcome,
    /// The runs, by ascending load.
    pub runs: Vec<DiagnosedRun>,
    /// The time of requests, by where they spend it.
    pub attribution: Option<TimeUse>,
    /// The time of tasks, by stage.
    pub time_uses: Vec<TimeUse>,
    /// The findings; those that explain most come first.
    pub findings: Vec<Hypothesis>,
    /// Findings beyond those listed.
    pub findings_beyond: u64,
    /// Suspects that were checked and ruled out.
    pub ruled_out: Vec<RuledOut>,
    /// Evidence that was not collected.
    pub missing: Vec<MissingKind>,
    /// Caveats of the whole diagnosis.
    pub caveats: Vec<Caveat>,
}

/// The outcome of a diagnosis.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The target has a bottleneck: the first finding.
    Limited,
    /// No server resource is at a limit.
    NoServerBottleneck {
        /// How many times as long requests take at the highest load as at the lowest, where there are several.
        growth: Option<f64>,
    },
    /// The load generator was the bottleneck, so the target is unknown.
    Generator {
        /// The fault of the generator.
        fault: Fault,
    },
    /// The evidence is inconclusive.
    CannotTell {
        /// The reason.
        why: Inconclusive,
        /// Evidence to connect, the most useful first.
        missing: Vec<MissingKind>,
    },
}

/// The reason of an inconclusive diagnosis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Inconclusive {
    /// There is no run.
    NoRun,
    /// No request completed.
    NoRequests,
    /// No server-side metrics were collected.
    NoEvidence,
    /// Neither traces nor processor use were collected.
    NoTracesAndProcessors,
    /// Response times grow with load, and no known resource is at a limit.
    Growth {
        /// How many times as long requests take.
        times: f64,
    },
    /// Requests queue for most of their time, and no known resource is at a limit.
    Queueing {
        /// The share of queueing.
        share: f64,
        /// The mean response time, seconds.
        mean_s: f64,
    },
    /// Most of the response time is outside of all spans.
    Untraced {
        /// The time outside of spans, seconds.
        outside_s: f64,
        /// The mean response time, seconds.
        mean_s: f64,
    },
    /// Services hold requests for most of their time, use little CPU meanwhile, and no span shows a wait.
    Unaccounted {
        /// The share of that time.
        share: f64,
        /// The mean response time, seconds.
        mean_s: f64,
    },
}

/// A run of the diagnosis.
#[derive(Clone, Debug, PartialEq)]
pub struct DiagnosedRun {
    /// Its id.
    pub id: String,
    /// The validity of the measurement.
    pub grade: Grade,
    /// Completed requests or tasks per second.
    pub throughput_per_s: f64,
    /// Their mean time, seconds; none where none completed.
    pub mean_s: Option<f64>,
    /// When it began.
    pub from: Instant,
    /// When it ended.
    pub to: Instant,
}

/// A finding: a claim with everything that is needed to check it.
#[derive(Clone, Debug, PartialEq)]
pub struct Hypothesis {
    /// The claim, with the numbers of its sentences.
    pub claim: Claim,
    /// The service, queue, pool or statement that it is about.
    pub place: String,
    /// Its relation to the bottleneck.
    pub role: Role,
    /// The kind of reasoning that supports it.
    pub strength: Strength,
    /// The share of the latency, or of its growth with load, that it explains, of 1; none where it is unknown.
    pub explains: Option<f64>,
    /// The numbers, in the order of the reasoning.
    pub numbers: Vec<Measured>,
    /// Use against throughput, where a demand was fitted.
    pub demand: Option<DemandLine>,
    /// Queries that return the numbers again.
    pub queries: Vec<EvidenceQuery>,
    /// Up to three exemplars.
    pub exemplars: Vec<ExemplarLink>,
    /// Other suspects that were checked for this claim.
    pub ruled_out: Vec<RuledOut>,
    /// Faults of the data that it rests on.
    pub flags: Vec<Caveat>,
    /// Doubts about the claim, or about its size.
    pub caveats: Vec<Caveat>,
    /// The remedy.
    pub remedy: Remedy,
    /// The cost of the remedy.
    pub cost: CostClass,
    /// The effect of the remedy.
    pub prediction: Option<Prediction>,
}

impl Hypothesis {
    /// Returns the kind of fault that it is about.
    pub const fn fault(&self) -> FaultKind {
        self.claim.fault()
    }

    /// Returns the detector that found it.
    pub const fn detector(&self) -> DetectorId {
        self.claim.detector()
    }
}

codes! {
    /// The relation of a finding to the bottleneck.
    Role {
        /// It is the bottleneck.
        Limits = "limits",
        /// It keeps the bottleneck in place, or makes it worse.
        Contributes = "contributes",
        /// It does not limit, but the business outcome is wrong.
        Outcome = "outcome",
    }
}

codes! {
    /// The cost of a remedy, the cheapest first.
    CostClass {
        /// Other logic, or another query.
        Logic = "logic",
        /// A value in a configuration.
        Setting = "setting",
        /// A cache.
        Cache = "cache",
        /// More of a resource.
        Resource = "resource",
        /// Another architecture.
        Architecture = "architecture",
    }
}

/// A number with its name, interval and note.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The name.
    pub name: FigureName,
    /// The value, in its unit.
    pub value: f64,
    /// The unit.
    pub unit: Unit,
    /// Its 95 % interval, in the same unit.
    pub interval: Option<(f64, f64)>,
    /// Its sample, or a value to compare it with.
    pub note: Option<Note>,
}

/// Use of a resource against throughput: a demand is the slope of the line (utilisation law, U = X·D + U0).
#[derive(Clone, Debug, PartialEq)]
pub struct DemandLine {
    /// The resource; its kind has the unit of use.
    pub resource: ResourceKind,
    /// Requests per second and use in each window.
    pub points: Vec<(f64, f64)>,
    /// The slope: use per request per second.
    pub slope: f64,
    /// Its 95 % interval.
    pub slope_interval: (f64, f64),
    /// Use without load.
    pub intercept: f64,
    /// The most that can be used; none where no limit was reported.
    pub limit: Option<f64>,
}

/// A query to a source, to run again.
#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceQuery {
    /// The source by its name in the settings.
    pub source: String,
    /// The signal that it returned.
    pub signal: String,
    /// The query: PromQL, SQL, a path.
    pub text: String,
    /// The index of the run among those of the diagnosis.
    pub run: usize,
    /// The first instant.
    pub from: Instant,
    /// The last one.
    pub to: Instant,
    /// Time between points; zero where they come when something happens.
    pub step: Duration,
    /// Points that were used.
    pub points: u64,
}

/// An exemplar of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExemplarLink {
    /// A trace, by its number, and how long it took.
    Trace {
        /// The index of the run among those of the diagnosis.
        run: usize,
        /// Its number.
        id: u128,
        /// How long it took.
        duration: Duration,
    },
    /// A statement of a database.
    Statement(String),
    /// A line of a log.
    Line(String),
}

/// The effect of a remedy: a claim that can fail.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The change.
    pub change: Change,
    /// The number before it.
    pub now: Option<Measured>,
    /// The number after it, with its 90 % interval; without an interval it is the least that is expected.
    pub then: Option<Measured>,
    /// The limit after it.
    pub next_limit: NextLimit,
    /// The measurement that refutes it.
    pub wrong_if: Refutation,
    /// The command that tests it.
    pub command: String,
}

impl Outcome {
    /// Its word for machines.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Outcome::Limited => "limited",
            Outcome::NoServerBottleneck { .. } => "no_server_bottleneck",
            Outcome::Generator { .. } => "generator",
            Outcome::CannotTell { .. } => "cannot_tell",
        }
    }
}

impl Measured {
    /// Returns a number without an interval.
    pub const fn exact(name: FigureName, value: f64, unit: Unit) -> Measured {
        Measured { name, value, unit, interval: None, note: None }
    }

    /// Returns a number with its interval.
    pub const fn within(name: FigureName, value: f64, unit: Unit, interval: (f64, f64)) -> Measured {
        Measured { name, value, unit, interval: Some(interval), note: None }
    }

    /// Returns the same number with a note.
    #[must_use]
    pub fn noted(self, note: Note) -> Measured {
        Measured { note: Some(note), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_are_in_order_of_their_cost() {
        let words: Vec<&str> = CostClass::ALL.iter().map(|cost| cost.as_str()).collect();
        assert_eq!(words, ["logic", "setting", "cache", "resource", "architecture"]);
        assert!(CostClass::ALL.is_sorted());
    }

    #[test]
    fn each_fault_has_one_label() {
        let mut labels: Vec<&str> = FaultKind::ALL.iter().map(|fault| fault.as_str()).collect();
        labels.sort_unstable();
        labels.dedup();
        assert_eq!(labels.len(), FaultKind::ALL.len());
    }
}
