//! Two sides, each of one or several runs: whether they may be compared, and what changed from the one to the other.
//!
//! The order is that of a careful engineer: first whether the runs are comparable at all, then which part of each is
//! steady, then one row per series and figure with an interval that respects how much neighbouring seconds resemble each
//! other, and only then a verdict, after accounting for how many rows there are. See docs/analysis.md for the method and
//! for how often it is right.

mod answer;
mod comparability;
mod evidence;
mod exact;
mod input;
mod levels;
mod pairing;
mod rows;
mod verdict;

use std::ops::Range;

use stats::PlanStrata;

pub use answer::{Answer, Changes};
pub use comparability::{Comparability, SideName};
pub use evidence::{EvidenceComparison, EvidenceRow, Fact, Reading, WorkUnit, compare_evidence};
pub use input::{Facts, LoadSecond, PlannedLoad, Run, Series};
pub use levels::{Level, LevelRow, levels};
pub use rows::{ALL_SERIES, Measure, Method, Row};
pub use verdict::{More, Verdict, Why};

use self::input::Indexed;
use crate::steady::{Steady, Unsteady, steady_part};

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
#[derive(Clone, Debug, Default)]
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
    /// How many seconds of the plan were compared with the same seconds of the other side, where the plan's load varies.
    pub paired_s: Option<usize>,
    /// One per series and figure, in the order of the first side's series.
    pub rows: Vec<Row>,
}

impl Comparison {
    /// Whether any figure but a share of errors has a verdict. Without one, neither a change nor its absence is shown.
    pub fn is_judged(&self) -> bool {
        let judged = |row: &Row| !matches!(row.verdict, Verdict::NotAvailable(_));
        self.rows.iter().any(|row| row.measure != Measure::ErrorShare && judged(row))
    }

    /// Whether any row regressed.
    pub fn has_regressed(&self) -> bool {
        self.rows.iter().any(|row| row.verdict == Verdict::Regressed)
    }
}

/// With fewer runs a side, the variation between runs is not measured.
pub const RUNS_FOR_BETWEEN: usize = 3;

/// Compares side `b` with side `a`: before and after, or two targets.
pub fn compare(a: &[Run], b: &[Run], options: &Options) -> Comparison {
    compare_with_baseline(a, &[b], options).pop().unwrap_or_default()
}

/// Compares each of several sides with side `baseline`. The share of false findings is held over all rows of all comparisons.
pub fn compare_with_baseline(baseline: &[Run], others: &[&[Run]], options: &Options) -> Vec<Comparison> {
    let pairs: Vec<Pair> = others.iter().map(|other| Pair::new(baseline, other, options)).collect();
    let sides: Vec<rows::Sides> = pairs.iter().map(|pair| pair.sides(options)).collect();
    let rows = rows::rows(&sides);
    pairs.into_iter().zip(rows).map(|(pair, rows)| pair.compared(rows)).collect()
}

/// Two sides before their figures are judged.
struct Pair<'a> {
    a: Vec<Indexed<'a>>,
    b: Vec<Indexed<'a>>,
    /// Without rows.
    comparison: Comparison,
    parts_a: Vec<Range<usize>>,
    parts_b: Vec<Range<usize>>,
    refusal: Option<Refusal>,
    strata: Option<PlanStrata>,
}

impl<'a> Pair<'a> {
    fn new(a: &'a [Run], b: &'a [Run], options: &Options) -> Pair<'a> {
        let strata = pairing::strata(a, b);
        let paired_s = strata.as_ref().map(PlanStrata::seconds);
        let steady = |runs: &[Run]| match paired_s {
            Some(seconds) => vec![Steady::Seconds(0..seconds); runs.len()],
            None => runs.iter().map(|run| steady_part(&run.levels())).collect(),
        };
        let (steady_a, steady_b) = (steady(a), steady(b));
        let findings = comparability::findings((a, &steady_a), (b, &steady_b));
        let indexed = |runs: &'a [Run]| -> Vec<Indexed<'a>> { runs.iter().map(Indexed::new).collect() };
        let (parts_a, parts_b) = (parts(a, &steady_a), parts(b, &steady_b));
        let unequal =
            findings.iter().find_map(Comparability::refusal).filter(|_| !options.despite_unequal_load);
        let unsteady = why_unsteady(&steady_a, &steady_b).filter(|_| !options.despite_no_steady_part);
        let may_use_ranks = exact::is_short(&parts_a) && exact::is_short(&parts_b);
        let refusal = match (unequal, unsteady) {
            (Some(why), _) => Some(Refusal::Whole(why)),
            (None, Some(why)) if may_use_ranks => Some(Refusal::ExceptRanks(why)),
            (None, why) => why.map(Refusal::Whole),
        };
        let within_run_only = a.len().min(b.len()) < RUNS_FOR_BETWEEN;
        let comparison =
            Comparison { findings, steady_a, steady_b, within_run_only, paired_s, rows: Vec::new() };
        let (a, b) = (indexed(a), indexed(b));
        Pair { a, b, comparison, parts_a, parts_b, refusal, strata }
    }

    fn sides<'b>(&'b self, options: &'b Options) -> rows::Sides<'b> {
        let (a, b) =
            ((self.a.as_slice(), self.parts_a.as_slice()), (self.b.as_slice(), self.parts_b.as_slice()));
        rows::Sides { a, b, refusal: self.refusal, strata: self.strata.clone(), options }
    }

    fn compared(self, rows: Vec<Row>) -> Comparison {
        Comparison { rows, ..self.comparison }
    }
}

/// The figures that are not judged, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Refusal {
    /// No latency and no rate.
    Whole(Why),
    /// Only what ranks alone decide.
    ExceptRanks(Why),
}

/// Why runs without a steady part have no verdict; `None` if all have one.
fn why_unsteady(a: &[Steady], b: &[Steady]) -> Option<Why> {
    let why = |steady: &Steady| match steady {
        Steady::Seconds(_) => None,
        Steady::Never(Unsteady::TooShort { .. }) => Some(Why::TooShort),
        Steady::Never(_) => Some(Why::NoSteadyPart),
    };
    a.iter().chain(b).find_map(why)
}

/// The seconds whose figures are shown: the steady ones, or all of a run without.
fn parts(runs: &[Run], steady: &[Steady]) -> Vec<Range<usize>> {
    let part = |(run, steady): (&Run, &Steady)| steady.seconds().unwrap_or(0..run.seconds());
    runs.iter().zip(steady).map(part).collect()
}

#[cfg(test)]
mod tests;
