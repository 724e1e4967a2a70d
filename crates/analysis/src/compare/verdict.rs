//! From an interval to one of four words.

use stats::{ErrorRatio, RatioEstimate};

use super::Options;

/// The verdict of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// It is better.
    Improved,
    /// It is worse.
    Regressed,
    /// It differs by less than what matters.
    Equivalent,
    /// Nothing can be said yet, and how much more would probably allow it; `None` if nothing sensible would.
    Inconclusive(Option<More>),
    /// There is no figure.
    NotAvailable(Why),
}

/// How much more measuring it takes, per side. A rule of thumb: intervals shrink with the square root of the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum More {
    /// Minutes of steady running.
    Minutes(f64),
    /// Runs like these.
    Runs(u32),
}

/// Why there is no figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Why {
    /// A run has no steady part.
    NoSteadyPart,
    /// A run is too short for a steady part.
    TooShort,
    /// The load was unequal.
    UnequalLoad,
    /// The quantile has too few independent samples behind it.
    Unsupported {
        /// How many it takes.
        needed: u64,
        /// How many the weaker side has.
        have: u64,
    },
    /// So many failed or timed out that the quantile lies among them.
    Censored,
    /// Both figures are below the margin in milliseconds, where differences do not matter.
    BelowMargin,
    /// Nothing was measured.
    NoValues,
}

/// Longest measurement that is recommended, minutes.
const MINUTES_MAX: f64 = 24.0 * 60.0;

/// Highest number of repeated runs that is recommended.
const RUNS_MAX: f64 = 100.0;

/// A difference of error shares below a tenth of a per cent does not matter, unless it is certain.
const ERROR_MARGIN: f64 = 0.001;

/// At least so much more is asked for: a figure at the edge may fall on either side of it.
const FACTOR_MIN: f64 = 1.2;

/// How much was measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// Minutes of steady running, of the side with less.
    pub(super) minutes: f64,
    /// Runs of the side with fewer.
    pub(super) runs: usize,
}

/// The verdict on a ratio of positive figures.
pub(super) fn on_ratio(
    ratio: &RatioEstimate,
    q_value: f64,
    margin: f64,
    lower_is_better: bool,
    effort: Effort,
    options: &Options,
) -> Verdict {
    let reach = (1.0 + margin).ln();
    if is_within(ratio, margin) {
        return Verdict::Equivalent;
    }
    if q_value < 1.0 - options.confidence {
        return changed(ratio.ratio < 1.0, lower_is_better);
    }
    // A bound that nothing bounds says nothing about the width; the other one does.
    let below = ratio.ratio.ln() - ratio.interval.lower.ln();
    let above = ratio.interval.upper.ln() - ratio.ratio.ln();
    let half_width = if above.is_finite() { (below + above) / 2.0 } else { below };
    let effect = ratio.ratio.ln().abs();
    Verdict::Inconclusive(more(half_width / effect.max(reach - effect), effort))
}

/// Whether the ratio certainly differs from 1 by no more than a margin.
pub(super) fn is_within(ratio: &RatioEstimate, margin: f64) -> bool {
    let (reach, equivalence) = ((1.0 + margin).ln(), ratio.equivalence_interval);
    equivalence.lower.ln() > -reach && equivalence.upper.ln() < reach
}

/// The verdict on shares of errors: a certain difference is one however small, since errors are never welcome.
pub(super) fn on_errors(errors: &ErrorRatio, q_value: f64, effort: Effort, options: &Options) -> Verdict {
    if q_value < 1.0 - options.confidence {
        return changed(errors.difference < 0.0, true);
    }
    let difference = errors.equivalence_interval;
    if difference.lower > -ERROR_MARGIN && difference.upper < ERROR_MARGIN {
        return Verdict::Equivalent;
    }
    let interval = errors.difference_interval;
    let half_width = (interval.upper - interval.lower) / 2.0;
    let effect = errors.difference.abs();
    Verdict::Inconclusive(more(half_width / effect.max(ERROR_MARGIN - effect), effort))
}

fn changed(is_lower: bool, lower_is_better: bool) -> Verdict {
    if is_lower == lower_is_better { Verdict::Improved } else { Verdict::Regressed }
}

/// How much more shrinks the interval by a factor.
fn more(shrink: f64, effort: Effort) -> Option<More> {
    let factor = (shrink * shrink).max(FACTOR_MIN);
    if effort.runs >= super::RUNS_FOR_BETWEEN {
        let runs = (effort.runs as f64 * (factor - 1.0)).ceil();
        return (runs <= RUNS_MAX).then_some(More::Runs(runs as u32));
    }
    let minutes = effort.minutes * (factor - 1.0);
    (minutes <= MINUTES_MAX).then_some(More::Minutes(minutes))
}

#[cfg(test)]
mod tests {
    use stats::{ErrorSide, Interval, error_ratio};

    use super::*;

    const EFFORT: Effort = Effort { minutes: 10.0, runs: 1 };

    #[track_caller]
    fn check(lower: f64, ratio: f64, upper: f64, q_value: f64, expect: Verdict) {
        let interval = Interval { lower, upper };
        let estimate =
            RatioEstimate { ratio, interval, equivalence_interval: interval, p_value: q_value, dof: 9.0 };
        let found = on_ratio(&estimate, q_value, 0.05, true, EFFORT, &Options::default());
        let same = match (found, expect) {
            (Verdict::Inconclusive(_), Verdict::Inconclusive(_)) => true,
            (found, expect) => found == expect,
        };
        assert!(same, "{found:?} instead of {expect:?}");
    }

    #[test]
    fn intervals_become_words() {
        check(0.8, 0.85, 0.9, 0.001, Verdict::Improved);
        check(1.1, 1.2, 1.3, 0.001, Verdict::Regressed);
        check(0.97, 1.0, 1.04, 0.9, Verdict::Equivalent);
        check(1.01, 1.02, 1.03, 0.001, Verdict::Equivalent);
        check(0.9, 1.0, 1.1, 0.9, Verdict::Inconclusive(None));
        check(1.01, 1.1, 1.2, 0.06, Verdict::Inconclusive(None));
    }

    #[test]
    fn wider_intervals_take_longer() {
        assert_eq!(more(2.0, EFFORT), Some(More::Minutes(30.0)));
        assert_eq!(more(0.5, EFFORT).map(|more| matches!(more, More::Minutes(m) if m < 3.0)), Some(true));
        assert_eq!(more(2.0, Effort { minutes: 10.0, runs: 3 }), Some(More::Runs(9)));
        assert_eq!(more(f64::INFINITY, EFFORT), None);
        assert_eq!(more(100.0, Effort { minutes: 10.0, runs: 3 }), None);
    }

    #[test]
    fn errors_are_judged_by_certainty_first() {
        let check = |a: (u64, u64), b: (u64, u64), expect: Verdict| {
            let side = |(errors, total)| ErrorSide { errors, total, dispersion: 1.0 };
            let ratio = error_ratio(&side(a), &side(b), 0.95).expect("totals");
            let found = on_errors(&ratio, ratio.p_value, EFFORT, &Options::default());
            let same = matches!((found, expect), (Verdict::Inconclusive(_), Verdict::Inconclusive(_)));
            assert!(same || found == expect, "{a:?} {b:?}: {found:?}");
        };
        check((3, 240_587), (206, 259_702), Verdict::Regressed);
        check((206, 259_702), (3, 240_587), Verdict::Improved);
        check((0, 50_000), (0, 50_000), Verdict::Equivalent);
        check((0, 100), (0, 100), Verdict::Inconclusive(None));
    }
}
