//! What limits a system, how that is known, and what would prove it wrong.

use crate::{Figure, Grade, Instant, Strength};
use std::time::Duration;

/// What was found out about a run, or about several of them at rising load.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosis {
    /// What it comes to.
    pub outcome: Outcome,
    /// The same in one sentence.
    pub headline: String,
    /// The runs that were looked at, by ascending load.
    pub runs: Vec<DiagnosedRun>,
    /// Whose the time of requests was: parts that add up to it.
    pub attribution: Option<TimeUse>,
    /// Where requests and tasks spend their time: parts that wait or work.
    pub time_uses: Vec<TimeUse>,
    /// What limits, what contributes, and what else is wrong; what explains most first.
    pub findings: Vec<Hypothesis>,
    /// Findings that are not told one by one.
    pub findings_beyond: u64,
    /// What was looked at and is not it.
    pub ruled_out: Vec<RuledOut>,
    /// What nobody could look at, and what would have to be connected.
    pub missing: Vec<Missing>,
    /// What holds for all of it.
    pub caveats: Vec<String>,
}

/// What a diagnosis comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Something of the target limits it: the first finding.
    Limited,
    /// Nothing is at a limit, and more load does not make it slower.
    NoServerBottleneck,
    /// The generator was the limit, and nothing can be said about the target.
    Generator,
    /// What would tell is not there.
    CannotTell {
        /// What to connect, what would tell most first.
        missing: Vec<Missing>,
    },
}

/// A run that was looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct DiagnosedRun {
    /// Its id.
    pub id: String,
    /// What the measurement is worth.
    pub grade: Grade,
    /// The load: requests or tasks per second that were finished.
    pub throughput_per_s: f64,
    /// The mean time of what was finished; none where nothing was.
    pub mean_s: Option<f64>,
    /// When it began.
    pub from: Instant,
    /// When it ended.
    pub to: Instant,
}

/// Evidence that is not there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    /// What it is.
    pub what: String,
    /// What it would tell.
    pub tells: String,
    /// How to connect it: a flag, or lines of a file, to be copied.
    pub connect: String,
}

/// Where a request or a task spends its time. The parts add up to the whole.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeUse {
    /// What takes the time: an operation, a task.
    pub of: String,
    /// How many of them it is the mean of.
    pub count: u64,
    /// Their mean time, seconds: what the parts add up to.
    pub mean_s: f64,
    /// What the test itself measured for it, where it did.
    pub measured_s: Option<f64>,
    /// The parts, in order of time.
    pub parts: Vec<TimePart>,
    /// The same by other ways; the first is that of the parts.
    pub ways: Vec<TimeWay>,
    /// How far the ways disagree about waiting, as a share of the longest; none where there is but one.
    pub disagreement: Option<f64>,
    /// What could make it wrong.
    pub caveats: Vec<String>,
}

/// A part of the time.
#[derive(Clone, Debug, PartialEq)]
pub struct TimePart {
    /// Its name: a queue, a stage, `network`, `target`, `database`, `external`.
    pub name: String,
    /// What is done in it.
    pub does: Does,
    /// The mean over all, seconds.
    pub mean_s: f64,
    /// The same at low load, where both were measured.
    pub low_s: Option<f64>,
}

/// What is done in a part of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Does {
    /// It waits for its turn.
    Waits,
    /// Somebody works on it.
    Works,
    /// It is on its way.
    Travels,
    /// Nobody who was seen does anything.
    Unseen,
}

/// One way to know where the time goes.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeWay {
    /// How it is known.
    pub method: TimeMethod,
    /// What it is computed from: `289 waiting / 6.13/s`.
    pub from: String,
    /// Waiting, seconds; none where the way does not tell.
    pub waits_s: Option<f64>,
    /// Being worked on.
    pub works_s: Option<f64>,
    /// Everything else: handing in, asking for it, the network.
    pub rest_s: Option<f64>,
    /// What the way adds up to.
    pub sum_s: f64,
    /// How far that is from what was measured, as a share of it; none where nothing was measured or the sum was made to fit.
    pub apart: Option<f64>,
}

/// How it is known where the time goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TimeMethod {
    /// The critical paths of traces.
    Traces,
    /// Little's law: what waits, divided by what goes through.
    Little,
    /// The times of tasks, in logs or events.
    Logs,
}

/// A claim about what limits, with all that is needed to check it.
#[derive(Clone, Debug, PartialEq)]
pub struct Hypothesis {
    /// Who made it, in lowercase words joined by hyphens; stable.
    pub detector: &'static str,
    /// The kind of fault in the field's words, as the lab labels it: `connection pool too small`.
    pub label: &'static str,
    /// What it is about: a service, a queue, a pool, a statement.
    pub place: String,
    /// A few words: `scan-worker CPU is at its limit`.
    pub title: String,
    /// Its numbers in one line.
    pub summary: String,
    /// One sentence that is true if the numbers are.
    pub claim: String,
    /// What it has to do with the limit.
    pub role: Role,
    /// What kind of reasoning carries it.
    pub strength: Strength,
    /// The share of the latency, or of its growth with load, that it explains, of 1; none where that cannot be said.
    pub explains: Option<f64>,
    /// The numbers, in the order that the reasoning takes them.
    pub numbers: Vec<Measured>,
    /// Use against throughput, where a demand was fitted.
    pub demand: Option<DemandLine>,
    /// What asks for the numbers again.
    pub queries: Vec<EvidenceQuery>,
    /// Up to three that show it.
    pub exemplars: Vec<ExemplarLink>,
    /// Rivals that were looked at for this claim.
    pub ruled_out: Vec<RuledOut>,
    /// What is wrong with the data that it rests on.
    pub flags: Vec<String>,
    /// What could make the claim wrong, or smaller than it looks.
    pub caveats: Vec<String>,
    /// What to do about it.
    pub remedy: String,
    /// What the remedy costs.
    pub cost: CostClass,
    /// What will be measured after it.
    pub prediction: Option<Prediction>,
}

/// What a finding has to do with the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// It is what limits.
    Limits,
    /// It keeps the limit in place, or makes it worse.
    Contributes,
    /// It does not limit; what the system is for goes wrong.
    Outcome,
}

/// What a remedy costs, the cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CostClass {
    /// Other logic, or another query.
    Logic,
    /// A number in a file.
    Setting,
    /// A cache.
    Cache,
    /// More of what there is.
    Resource,
    /// Another shape of the system.
    Architecture,
}

/// A figure, how sure it is, and what it is against.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The figure.
    pub figure: Figure,
    /// Its 95 % interval, in the figure's unit.
    pub interval: Option<(f64, f64)>,
    /// What it is of, or against: `limit, 4 pods`.
    pub note: String,
}

/// Use of a resource against throughput: a demand is the slope of the line (utilisation law, U = X·D + U0).
#[derive(Clone, Debug, PartialEq)]
pub struct DemandLine {
    /// What is used, with its unit: `CPU, cores`.
    pub used: String,
    /// What goes through, with its unit: `requests/s`.
    pub through: String,
    /// Throughput and use of each window.
    pub points: Vec<(f64, f64)>,
    /// The slope: use per one of what goes through.
    pub slope: f64,
    /// Its 95 % interval.
    pub slope_interval: (f64, f64),
    /// Use where nothing goes through.
    pub intercept: f64,
    /// The most that can be used; none where nobody told.
    pub limit: Option<f64>,
}

/// A question to a source, to be asked again.
#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceQuery {
    /// The source by its name in the settings.
    pub source: String,
    /// The signal that it gave.
    pub signal: String,
    /// What asks for it: PromQL, SQL, a path.
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

/// One that shows it.
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

/// What was looked at and is not it.
#[derive(Clone, Debug, PartialEq)]
pub struct RuledOut {
    /// What was suspected.
    pub what: String,
    /// Why it is not it.
    pub why: String,
    /// The number that says so, as people read it.
    pub number: String,
}

/// What will be measured after a remedy: a claim that can fail.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// What is changed.
    pub change: String,
    /// The most that goes through now.
    pub now: Option<Measured>,
    /// The most that will, with its 90 % interval; none where no demand is known.
    pub then: Option<Measured>,
    /// What limits then.
    pub next_limit: String,
    /// What would prove it wrong.
    pub wrong_if: String,
    /// The command that tries it.
    pub command: String,
}

macro_rules! words {
    ($type:ident: $($variant:ident = $word:literal,)*) => {
        impl $type {
            /// All of them.
            pub const ALL: &[$type] = &[$($type::$variant,)*];

            /// Its word for machines.
            pub const fn as_str(self) -> &'static str {
                match self { $($type::$variant => $word,)* }
            }
        }
    };
}

words! { Does: Waits = "waits", Works = "works", Travels = "travels", Unseen = "unseen", }
words! { TimeMethod: Traces = "traces", Little = "little", Logs = "logs", }
words! { Role: Limits = "limits", Contributes = "contributes", Outcome = "outcome", }
words! {
    CostClass:
    Logic = "logic", Setting = "setting", Cache = "cache", Resource = "resource", Architecture = "architecture",
}

impl Outcome {
    /// Its word for machines.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Outcome::Limited => "limited",
            Outcome::NoServerBottleneck => "no_server_bottleneck",
            Outcome::Generator => "generator",
            Outcome::CannotTell { .. } => "cannot_tell",
        }
    }
}

impl Measured {
    /// A figure that is as sure as it is.
    pub fn exact(figure: Figure) -> Measured {
        Measured { figure, interval: None, note: String::new() }
    }

    /// A figure within an interval.
    pub fn within(figure: Figure, interval: (f64, f64)) -> Measured {
        Measured { figure, interval: Some(interval), note: String::new() }
    }

    /// The same with what it is of, or against.
    #[must_use]
    pub fn noted(self, note: impl Into<String>) -> Measured {
        Measured { note: note.into(), ..self }
    }
}

impl TimeUse {
    /// How far its parts are from the whole, as a share of it.
    pub fn parts_apart(&self) -> f64 {
        let sum: f64 = self.parts.iter().map(|part| part.mean_s).sum();
        if self.mean_s > 0.0 { (sum / self.mean_s - 1.0).abs() } else { 0.0 }
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
    fn parts_that_miss_some_of_the_whole_show_it() {
        let part = |mean_s| TimePart { name: String::new(), does: Does::Works, mean_s, low_s: None };
        let time = |parts| TimeUse {
            of: String::new(),
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
