//! Whether two sides may be compared at all.

use std::collections::HashSet;

use model::{Fault, Grade};

use super::{Run, Why};
use crate::steady::{Steady, Unsteady};

/// Which side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideName {
    /// The first, with which is compared.
    A,
    /// The second, which is compared.
    B,
}

/// Something to know before reading the rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Comparability {
    /// A side has no run.
    NoRun(SideName),
    /// The planned rates differ: latencies at unequal load are not compared.
    UnequalRate {
        /// Iterations per second of the first side.
        a: f64,
        /// Iterations per second of the second side.
        b: f64,
    },
    /// The numbers of VUs differ, and they are the load.
    UnequalVus {
        /// VUs of the first side.
        a: f64,
        /// VUs of the second side.
        b: f64,
    },
    /// The load has the same mean and another course: latencies at unequal load are not compared.
    UnequalPlan,
    /// One side has a planned rate and the other VUs: one load does not wait for the target, and the other does.
    OpenAndClosed,
    /// A generator did not do what it was asked.
    Untrusted {
        /// Its side.
        side: SideName,
        /// The run's name.
        run: String,
        /// How bad it is.
        grade: Grade,
        /// Its faults, the worst first.
        faults: Vec<Fault>,
    },
    /// A run has no steady part.
    NoSteadyPart {
        /// Its side.
        side: SideName,
        /// The run's name.
        run: String,
        /// Why.
        why: Unsteady,
    },
    /// The scripts differ.
    DifferentScripts {
        /// The hash of a run of the first side.
        a: String,
        /// The hash of another run.
        b: String,
    },
    /// The planned durations differ by more than a tenth.
    DifferentDurations {
        /// Seconds of the shortest run.
        shortest_s: f64,
        /// Seconds of the longest.
        longest_s: f64,
    },
    /// The load is not known on both sides, so that nothing says that it was equal.
    LoadUnknown,
    /// Both loads are closed: throughput and latency are one number seen twice, not two proofs.
    ClosedLoop,
    /// The target's versions, where both are known.
    TargetVersions {
        /// That of the first side.
        a: String,
        /// That of the second side.
        b: String,
    },
    /// Hosts of the sides that stand for each other: their endpoints are matched by method and path.
    Hosts {
        /// The first side's.
        a: String,
        /// The second side's.
        b: String,
    },
    /// A series exists on one side only.
    OnlyOn {
        /// The side that has it.
        side: SideName,
        /// Its name.
        series: String,
    },
}

/// Rates that differ by at most this share are equal.
const RATE_TOLERANCE: f64 = 0.02;

/// Durations that differ by at most this share are equal.
const DURATION_TOLERANCE: f64 = 0.1;

impl Comparability {
    /// Why it forbids a verdict on latencies, if it does.
    pub fn refusal(&self) -> Option<Why> {
        match self {
            Comparability::UnequalRate { .. }
            | Comparability::UnequalVus { .. }
            | Comparability::UnequalPlan
            | Comparability::OpenAndClosed => Some(Why::UnequalLoad),
            _ => None,
        }
    }
}

/// A side's runs with their steady parts.
type Side<'a> = (&'a [Run], &'a [Steady]);

/// Everything to know, most serious first.
pub(super) fn findings(a: Side, b: Side) -> Vec<Comparability> {
    let sides = [(SideName::A, a), (SideName::B, b)];
    let mut found: Vec<Comparability> = Vec::new();
    found.extend(
        sides.iter().filter(|(_, side)| side.0.is_empty()).map(|(name, _)| Comparability::NoRun(*name)),
    );
    found.extend(load(a, b));
    found.extend(sides.iter().flat_map(|(name, side)| untrusted(*name, side.0)));
    found.extend(sides.iter().flat_map(|(name, side)| unsteady(*name, *side)));
    let all: Vec<&Run> = a.0.iter().chain(b.0).collect();
    found.extend(different_scripts(&all));
    found.extend(different_durations(&all));
    found.extend(target_versions(a.0, b.0));
    found.extend(only_on(SideName::A, a.0, b.0));
    found.extend(only_on(SideName::B, b.0, a.0));
    found
}

fn load(a: Side, b: Side) -> Option<Comparability> {
    let all = || a.0.iter().chain(b.0);
    match (rate(a), rate(b), vus(a), vus(b)) {
        (Some(a), Some(b), ..) if (a - b).abs() > RATE_TOLERANCE * a.max(b) => {
            Some(Comparability::UnequalRate { a, b })
        }
        (Some(_), Some(_), ..) => has_another_course(all).then_some(Comparability::UnequalPlan),
        (_, _, Some(a), Some(b)) if a == b && has_another_course(all) => Some(Comparability::UnequalPlan),
        (_, _, Some(a), Some(b)) if a == b => Some(Comparability::ClosedLoop),
        (_, _, Some(a), Some(b)) => Some(Comparability::UnequalVus { a, b }),
        (Some(_), _, _, Some(_)) | (_, Some(_), Some(_), _) => Some(Comparability::OpenAndClosed),
        _ => Some(Comparability::LoadUnknown),
    }
}

/// Whether plans are known whose loads vary in other ways.
fn has_another_course<'a, Runs: Iterator<Item = &'a Run>>(runs: impl Fn() -> Runs) -> bool {
    let plans = || runs().filter_map(|run| run.facts.plan.as_ref());
    let first = plans().next();
    plans().any(|plan| !plan.is_constant)
        && plans().any(|plan| Some(&plan.text) != first.map(|first| &first.text))
}

/// The planned rate of a side in its steady parts (or whole runs), averaged over its runs.
fn rate((runs, steady): Side) -> Option<f64> {
    let of_run = |(run, steady): (&Run, &Steady)| run.offered(steady.seconds().unwrap_or(0..run.seconds()));
    let rates: Option<Vec<f64>> = runs.iter().zip(steady).map(of_run).collect();
    mean(&rates?)
}

fn vus((runs, _): Side) -> Option<f64> {
    let vus: Option<Vec<f64>> = runs.iter().map(|run| run.facts.closed_vus.map(|vus| vus as f64)).collect();
    mean(&vus?)
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn untrusted(side: SideName, runs: &[Run]) -> impl Iterator<Item = Comparability> {
    let bad = runs.iter().filter(|run| run.facts.grade >= Grade::Degraded);
    bad.map(move |run| {
        let (run, grade, faults) = (run.facts.name.clone(), run.facts.grade, run.facts.faults.clone());
        Comparability::Untrusted { side, run, grade, faults }
    })
}

fn unsteady(side: SideName, (runs, steady): Side) -> Vec<Comparability> {
    let never = runs.iter().zip(steady).filter_map(|(run, steady)| match steady {
        Steady::Never(why) => {
            Some(Comparability::NoSteadyPart { side, run: run.facts.name.clone(), why: *why })
        }
        Steady::Seconds(_) => None,
    });
    never.collect()
}

fn different_scripts(runs: &[&Run]) -> Option<Comparability> {
    let mut hashes = runs.iter().filter_map(|run| run.facts.script_hash.as_ref());
    let first = hashes.next()?;
    let other = hashes.find(|hash| *hash != first)?;
    Some(Comparability::DifferentScripts { a: first.clone(), b: other.clone() })
}

fn different_durations(runs: &[&Run]) -> Option<Comparability> {
    let planned = || runs.iter().filter_map(|run| run.facts.planned_s);
    let (shortest_s, longest_s) = (planned().reduce(f64::min)?, planned().reduce(f64::max)?);
    let differ = longest_s - shortest_s > DURATION_TOLERANCE * longest_s;
    differ.then_some(Comparability::DifferentDurations { shortest_s, longest_s })
}

fn target_versions(a: &[Run], b: &[Run]) -> Option<Comparability> {
    let version = |runs: &[Run]| runs.iter().find_map(|run| run.facts.target_version.clone());
    Some(Comparability::TargetVersions { a: version(a)?, b: version(b)? })
}

fn only_on(side: SideName, here: &[Run], there: &[Run]) -> Vec<Comparability> {
    let Some(first) = here.first().filter(|_| !there.is_empty()) else { return Vec::new() };
    // A side too short for any figure shows nothing of its endpoints.
    if there.iter().all(|run| run.series.is_empty()) {
        return Vec::new();
    }
    let names: HashSet<&str> =
        there.iter().flat_map(|run| &run.series).map(|series| series.name.as_str()).collect();
    let alone = first.series.iter().filter(|series| !names.contains(series.name.as_str()));
    alone.map(|series| Comparability::OnlyOn { side, series: series.name.clone() }).collect()
}
