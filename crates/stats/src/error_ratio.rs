//! Shares of errors that come in bursts: their ratio, their difference, and whether they differ.

use crate::Interval;
use crate::distributions::{beta_cdf, beta_quantile, student_quantile};

/// How many of how many failed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorSide {
    /// The failed.
    pub errors: u64,
    /// All.
    pub total: u64,
    /// How much more they vary than independent ones, from 1 (see [`over_dispersion`]).
    pub dispersion: f64,
}

/// Two shares of errors beside each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorRatio {
    /// The share of `b` divided by that of `a`; `None` where `a` has no error.
    pub ratio: Option<f64>,
    /// The ratio's interval; its upper bound is infinite where `a` has no error.
    pub ratio_interval: Interval,
    /// The share of `b` minus that of `a`.
    pub difference: f64,
    /// The difference's interval.
    pub difference_interval: Interval,
    /// The narrower interval of the difference for a claim of equivalence, as in [`crate::RatioEstimate`].
    pub equivalence_interval: Interval,
    /// The two-sided p-value of the shares being equal.
    pub p_value: f64,
}

/// How much the errors of blocks vary, divided by how much independent ones would: Pearson's statistic per degree of
/// freedom, as in a quasi-Poisson regression (McCullagh and Nelder, *Generalized Linear Models*, 4.5). At least 1.
///
/// Each block is its errors and its total; blocks should be longer than a burst of errors, such as 10 s.
pub fn over_dispersion(blocks: &[(u64, u64)]) -> f64 {
    let errors: u64 = blocks.iter().map(|(errors, _)| errors).sum();
    let total: u64 = blocks.iter().map(|(_, total)| total).sum();
    let used = blocks.iter().filter(|(_, total)| *total > 0).count();
    if errors == 0 || used < 2 {
        return 1.0;
    }
    let share = errors as f64 / total as f64;
    let pearson = blocks.iter().filter(|(_, total)| *total > 0).map(|(errors, total)| {
        let expected = share * *total as f64;
        (*errors as f64 - expected).powi(2) / expected
    });
    (pearson.sum::<f64>() / (used - 1) as f64).max(1.0)
}

/// The comparison of two shares of errors; `None` if a side has nothing to fail.
///
/// Counts are divided by the larger over-dispersion. Given their sum, the errors of `b` are binomial, which yields Clopper
/// and Pearson's interval of the ratio (Przyborowski and Wilenski, 1940); the difference has Newcombe's interval (1998, method 10)
/// of Wilson's two. Both hold for no errors at all.
pub fn error_ratio(a: &ErrorSide, b: &ErrorSide, confidence: f64) -> Option<ErrorRatio> {
    if a.total == 0 || b.total == 0 {
        return None;
    }
    let dispersion = a.dispersion.max(b.dispersion).max(1.0);
    let effective = |side: &ErrorSide| (side.errors as f64 / dispersion, side.total as f64 / dispersion);
    let ((errors_a, total_a), (errors_b, total_b)) = (effective(a), effective(b));
    let tail = (1.0 - confidence.clamp(0.0, 1.0)) / 2.0;
    let odds =
        |share: f64| if share < 1.0 { share / (1.0 - share) * total_a / total_b } else { f64::INFINITY };
    let lower = if errors_b > 0.0 { beta_quantile(tail, errors_b, errors_a + 1.0) } else { 0.0 };
    let upper = if errors_a > 0.0 { beta_quantile(1.0 - tail, errors_b + 1.0, errors_a) } else { 1.0 };
    let equal = total_b / (total_a + total_b);
    let at_least = if errors_b > 0.0 { beta_cdf(equal, errors_b, errors_a + 1.0) } else { 1.0 };
    let at_most = if errors_a > 0.0 { 1.0 - beta_cdf(equal, errors_b + 1.0, errors_a) } else { 1.0 };
    let (share_a, share_b) = (errors_a / total_a, errors_b / total_b);
    Some(ErrorRatio {
        ratio: (errors_a > 0.0).then_some(share_b / share_a),
        ratio_interval: Interval { lower: odds(lower), upper: odds(upper) },
        difference: share_b - share_a,
        difference_interval: newcombe((share_a, total_a), (share_b, total_b), 1.0 - tail),
        equivalence_interval: newcombe((share_a, total_a), (share_b, total_b), 1.0 - 2.0 * tail),
        p_value: (2.0 * at_least.min(at_most)).min(1.0),
    })
}

/// Newcombe's interval of a difference of shares.
fn newcombe(a: (f64, f64), b: (f64, f64), probability: f64) -> Interval {
    let z = student_quantile(probability, f64::INFINITY);
    let (wilson_a, wilson_b) = (wilson(a.0, a.1, z), wilson(b.0, b.1, z));
    let difference = b.0 - a.0;
    Interval {
        lower: difference - (b.0 - wilson_b.lower).hypot(wilson_a.upper - a.0),
        upper: difference + (wilson_b.upper - b.0).hypot(a.0 - wilson_a.lower),
    }
}

/// Wilson's interval of a share (1927).
fn wilson(share: f64, total: f64, z: f64) -> Interval {
    let square = z * z / total;
    let centre = (share + square / 2.0) / (1.0 + square);
    let half = (share * (1.0 - share) * square + square * square / 4.0).sqrt() / (1.0 + square);
    Interval { lower: (centre - half).max(0.0), upper: (centre + half).min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(errors: u64, total: u64) -> ErrorSide {
        ErrorSide { errors, total, dispersion: 1.0 }
    }

    #[track_caller]
    fn check(a: ErrorSide, b: ErrorSide, differ: bool) {
        let found = error_ratio(&a, &b, 0.95).expect("totals");
        assert_eq!(found.p_value < 0.05, differ, "{found:?}");
        let ratio = found.ratio_interval;
        assert_eq!(ratio.lower > 1.0 || ratio.upper < 1.0, differ, "{found:?}");
    }

    #[test]
    fn rare_errors_are_compared_exactly() {
        check(side(3, 240_000), side(206, 260_000), true);
        check(side(0, 1000), side(0, 1000), false);
        check(side(0, 1000), side(2, 1000), false);
        check(side(0, 1000), side(20, 1000), true);
        check(side(20, 1000), side(0, 1000), true);
        check(side(10, 1000), side(12, 1000), false);
        assert_eq!(error_ratio(&side(0, 0), &side(1, 5), 0.95), None);
    }

    #[test]
    fn bursts_make_errors_less_telling() {
        let bursts: Vec<(u64, u64)> =
            (0..60).map(|block| (if block % 20 == 0 { 10 } else { 0 }, 100)).collect();
        let dispersion = over_dispersion(&bursts);
        assert!(dispersion > 5.0, "{dispersion}");
        check(side(10, 6000), side(30, 6000), true);
        check(ErrorSide { dispersion, ..side(10, 6000) }, ErrorSide { dispersion, ..side(30, 6000) }, false);
    }

    #[test]
    fn dispersion_is_at_least_one() {
        assert_eq!(over_dispersion(&[]), 1.0);
        assert_eq!(over_dispersion(&[(1, 10), (1, 10), (0, 0)]), 1.0);
        assert_eq!(over_dispersion(&[(0, 10), (0, 10)]), 1.0);
    }

    #[test]
    fn the_difference_has_an_interval_without_errors_too() {
        let found = error_ratio(&side(0, 5000), &side(0, 5000), 0.95).expect("totals");
        let difference = found.difference_interval;
        assert!(difference.lower < 0.0 && difference.upper > 0.0 && difference.upper < 0.001, "{found:?}");
        assert_eq!(found.ratio, None);
        assert_eq!(found.p_value, 1.0);
    }
}
