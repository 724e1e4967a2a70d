//! Two sides, each of one or several runs: whether they may be compared, and what changed from the one to the other.
//!
//! The order is that of a careful engineer: first whether the runs are comparable at all, then which part of each is
//! steady, then one row per series and figure with an interval that respects how much neighbouring seconds resemble each
//! other, and only then a verdict, after accounting for how many rows there are. See docs/analysis.md for the method and
//! for how often it is right.

mod comparability;
mod input;
mod levels;
mod rows;
mod verdict;

use std::ops::Range;

pub use comparability::{Comparability, SideName};
pub use input::{Facts, LoadSecond, Run, Series};
pub use levels::{Level, LevelRow, levels};
pub use rows::{ALL_SERIES, Measure, Row};
pub use verdict::{More, Verdict, Why};

use crate::steady::{Steady, steady_part};

/// Settings of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The quantiles of each series.
    pub quantiles: Vec<f64>,
    /// Confidence level of intervals; its complement is the accepted false discovery rate, so 0.95 goes with 0.05.
    pub confidence: f64,
    /// The relative difference that does not matter.
    pub margin: f64,
    /// A difference in milliseconds that does not matter, if it is more than the relative one.
    pub margin_ms: f64,
    /// Maximum duration of a good response, for goodput; without it every success counts.
    pub slo_ms: Option<f64>,
    /// Whether latencies are judged although the load was unequal.
    pub despite_unequal_load: bool,
    /// Whether runs without a steady part are judged whole.
    pub despite_no_steady_part: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            quantiles: vec![0.5, 0.9, 0.95, 0.99, 0.999],
            confidence: 0.95,
            margin: 0.05,
            margin_ms: 1.0,
            slo_ms: None,
            despite_unequal_load: false,
            despite_no_steady_part: false,
        }
    }
}

/// The result of a comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Caveats about comparability, most serious first.
    pub findings: Vec<Comparability>,
    /// The steady part of each run of the first side.
    pub steady_a: Vec<Steady>,
    /// The steady part of each run of the second side.
    pub steady_b: Vec<Steady>,
    /// Whether a side has so few runs that what differs from run to run is not known: the intervals are of these runs
    /// alone.
    pub within_run_only: bool,
    /// One per series and figure, in the order of the first side's series.
    pub rows: Vec<Row>,
}

impl Comparison {
    /// Whether any row regressed.
    pub fn has_regressed(&self) -> bool {
        self.rows.iter().any(|row| row.verdict == Verdict::Regressed)
    }
}

/// With fewer runs a side, the variation between runs is not measured.
pub const RUNS_FOR_BETWEEN: usize = 3;

/// Compares side `b` with side `a`: before and after, or two targets.
pub fn compare(a: &[Run], b: &[Run], options: &Options) -> Comparison {
    let (steady_a, steady_b) = (steady_parts(a), steady_parts(b));
    let findings = comparability::findings((a, &steady_a), (b, &steady_b));
    let judged = |runs: &[Run], steady: &[Steady]| -> Option<Vec<Range<usize>>> {
        let ranges = runs.iter().zip(steady).map(|(run, steady)| match steady {
            Steady::Never(_) if options.despite_no_steady_part => Some(0..run.seconds()),
            steady => steady.seconds(),
        });
        ranges.collect::<Option<Vec<_>>>().filter(|ranges| !ranges.is_empty())
    };
    let refusal = findings.iter().find_map(Comparability::refusal).filter(|_| !options.despite_unequal_load);
    let (parts_a, parts_b) = (judged(a, &steady_a), judged(b, &steady_b));
    let rows = match (parts_a, parts_b) {
        (Some(parts_a), Some(parts_b)) => rows::rows((a, &parts_a), (b, &parts_b), refusal, options),
        _ => rows::without_steady_part(a, b, options),
    };
    let within_run_only = a.len().min(b.len()) < RUNS_FOR_BETWEEN;
    Comparison { findings, steady_a, steady_b, within_run_only, rows }
}

fn steady_parts(runs: &[Run]) -> Vec<Steady> {
    runs.iter().map(|run| steady_part(&run.levels())).collect()
}

#[cfg(test)]
mod tests;
