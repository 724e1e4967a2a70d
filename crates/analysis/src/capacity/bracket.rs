//! The levels that a line lies between, from what each level showed by itself.
//!
//! A fit may put the line above a level that broke an objective, or below one that kept it, where levels are few or disagree. Readers
//! see the levels beside the line, so the two must agree: the line is at least [`Bracket::floor`] and at most [`Bracket::cap`].

use model::capacity::SURE;

/// The bounds that levels put on the line of one objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bracket {
    /// The highest load that keeps the objective with nothing against it: no level at or below it breaks the objective, or it
    /// surely keeps it and no level at or below it surely breaks it. `None` where no level does.
    pub(super) floor: Option<f64>,
    /// The lowest load that breaks the objective with nothing against it: surely, or with no level above that keeps it. Where levels
    /// contradict each other, the lowest above the floor that breaks it. `None` where no level above the floor does.
    pub(super) cap: Option<f64>,
}

/// A level: its load, and the probability that the objective holds there.
type Judged = (f64, f64);

impl Bracket {
    /// Returns the bounds from levels in any order.
    pub(super) fn of(levels: &[Judged]) -> Bracket {
        let is_broken = |level: &&Judged| !is_kept(level);
        let is_broken_surely = |level: &&Judged| level.1 <= 1.0 - SURE;
        let lowest = |is: &dyn Fn(&&Judged) -> bool| {
            levels.iter().filter(|level| is(level)).map(|level| level.0).fold(f64::INFINITY, f64::min)
        };
        let (broken, broken_surely) = (lowest(&is_broken), lowest(&is_broken_surely));
        let is_floor = |level: &&Judged| {
            is_kept(level) && (level.0 < broken || level.1 >= SURE && level.0 < broken_surely)
        };
        let floor = levels.iter().filter(is_floor).map(|level| level.0).reduce(f64::max);
        let kept = levels.iter().filter(|level| is_kept(level)).map(|level| level.0).fold(0.0, f64::max);
        let is_cap = |level: &&Judged| is_broken(level) && (level.0 > kept || is_broken_surely(level));
        let cap = Some(lowest(&is_cap)).filter(|load| load.is_finite());
        let is_above = |level: &&Judged| is_broken(level) && floor.is_none_or(|floor| level.0 > floor);
        let disputed = lowest(&is_above);
        Bracket { floor, cap: cap.or_else(|| Some(disputed).filter(|load| load.is_finite())) }
    }
}

fn is_kept(level: &Judged) -> bool {
    level.1 >= 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEPT: f64 = 0.99;
    const LIKELY: f64 = 0.6;
    const UNLIKELY: f64 = 0.4;
    const BROKEN: f64 = 0.01;

    #[test]
    fn levels_that_agree_have_the_line_between_them() {
        let check = |levels: &[Judged], floor: Option<f64>, cap: Option<f64>| {
            assert_eq!(Bracket::of(levels), Bracket { floor, cap }, "{levels:?}");
        };
        check(&[], None, None);
        check(&[(10.0, KEPT), (20.0, LIKELY), (30.0, UNLIKELY), (40.0, BROKEN)], Some(20.0), Some(30.0));
        check(&[(10.0, KEPT), (20.0, LIKELY)], Some(20.0), None);
        check(&[(10.0, UNLIKELY), (20.0, BROKEN)], None, Some(10.0));
    }

    #[test]
    fn of_levels_that_disagree_the_sure_ones_count() {
        let check = |levels: &[Judged], floor: Option<f64>, cap: Option<f64>| {
            assert_eq!(Bracket::of(levels), Bracket { floor, cap }, "{levels:?}");
        };
        let sure_above = [(10.0, KEPT), (20.0, UNLIKELY), (40.0, KEPT), (80.0, BROKEN)];
        check(&sure_above, Some(40.0), Some(80.0));
        check(&sure_above[..3], Some(40.0), None);
        check(&[(10.0, KEPT), (20.0, BROKEN), (40.0, KEPT)], Some(10.0), Some(20.0));
        check(&[(10.0, KEPT), (20.0, UNLIKELY), (40.0, LIKELY)], Some(10.0), Some(20.0));
        check(&[(10.0, UNLIKELY), (20.0, LIKELY)], None, Some(10.0));
        check(&[(10.0, KEPT), (20.0, KEPT), (20.0, BROKEN)], Some(10.0), Some(20.0));
    }
}
