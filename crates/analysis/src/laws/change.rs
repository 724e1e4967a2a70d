//! Relative change: (after ÷ before − 1) · 100.

use model::audit::LawClaim;
use model::{Derived, Figure, FigureLabel, Unit};

use super::by_table;
use crate::audit::{Change, Facts, Family};

/// Tolerance of reported changes in any case, in points: figures are often rounded first.
pub const OFF_POINTS_MAX: f64 = 0.1;

/// A change computed again from its own figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recomputed {
    /// As printed, percent.
    pub printed: f64,
    /// From the printed figures, percent.
    pub exact: f64,
    /// The rounding tolerance of all three figures, at least [`OFF_POINTS_MAX`]; points.
    pub allowed: f64,
    /// The difference in points, where the figures are shares themselves and the change may mean that.
    pub points: Option<f64>,
}

impl Recomputed {
    /// Whether the printed change follows from the printed figures.
    pub fn follows(self) -> bool {
        let is_near = |exact: f64| (self.printed - exact).abs() <= self.allowed;
        is_near(self.exact) || self.points.is_some_and(is_near)
    }
}

/// The change of a row; `None` where a figure is missing, the units differ, or there is nothing to divide by.
pub fn recompute(change: &Change) -> Option<Recomputed> {
    let (before, after, printed) = (change.before?, change.after, change.change?);
    if before.family != after.family || before.value == 0.0 {
        return None;
    }
    let ratio = after.value / before.value;
    let relative =
        before.half_digit / before.value.abs() + after.half_digit / after.value.abs().max(after.half_digit);
    let rounding = printed.half_digit + relative * ratio.abs() * 100.0;
    Some(Recomputed {
        printed: printed.value,
        exact: (ratio - 1.0) * 100.0,
        allowed: rounding.max(OFF_POINTS_MAX),
        points: (before.family == Family::Share).then_some(after.value - before.value),
    })
}

/// How many printed changes of each table follow.
pub fn derive(facts: &Facts) -> Vec<Derived> {
    by_table(&facts.changes, |change| &change.place).into_iter().filter_map(count).collect()
}

fn count(changes: &[Change]) -> Option<Derived> {
    let found: Vec<Recomputed> = changes.iter().filter_map(recompute).collect();
    let follow = found.iter().filter(|it| it.follows()).count();
    (!found.is_empty()).then(|| Derived {
        claim: LawClaim::ChangesMatch { matching: follow, verifiable: found.len() },
        figures: vec![
            Figure::new(FigureLabel::VerifiableChanges, found.len() as f64, Unit::Count),
            Figure::new(FigureLabel::MatchingChanges, follow as f64, Unit::Count),
        ],
        place: super::table_of(&changes[0].place).to_owned(),
    })
}
