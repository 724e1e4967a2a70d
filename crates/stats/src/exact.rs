//! Tests by ranks of samples that do not overlap.
//!
//! Of two samples from the same distribution, all orders are equally likely, and in two of them every value of one sample
//! lies beyond every value of the other (Fisher's permutation argument, with the rank sum as the statistic). That needs
//! neither a variance nor a shape. Pairs of values that were measured under equal conditions are decided by their signs.

use crate::Interval;

/// Two samples of which one lies beyond the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Separation {
    /// The probability of samples apart from each other, in either order, if nothing differs.
    pub p_value: f64,
    /// From the smallest ratio of a value of the second sample to one of the first, to the largest: it holds the ratio with the
    /// probability 1 − [`Separation::p_value`].
    pub interval: Interval,
}

/// So many values show all of the spread of a level that wanders; fewer show less of it.
const WANDERING: f64 = 5.0;

/// How far two samples are apart; `None` if they overlap or lie too close to each other for their spread. Values are above 0.
///
/// Values that follow each other resemble each other, so that two samples from one wandering level may be apart by chance;
/// the distance between them then rarely exceeds the range of five values.
pub fn separation(a: &[f64], b: &[f64]) -> Option<Separation> {
    let (range_a, range_b) = (range(a)?, range(b)?);
    let spread = |range: Interval| range.upper.ln() - range.lower.ln();
    let (low, high) = if range_a.upper < range_b.lower { (range_a, range_b) } else { (range_b, range_a) };
    let gap = high.lower.ln() - low.upper.ln();
    let is_apart = gap > 0.0 && gap >= needed(spread(range_a).max(spread(range_b)), a.len().min(b.len()));
    is_apart.then(|| Separation {
        p_value: (2.0 / orders(a.len(), b.len())).min(1.0),
        interval: Interval { lower: range_b.lower / range_a.upper, upper: range_b.upper / range_a.lower },
    })
}

/// How far the second of each pair of values lies from the first; `None` unless all lie in the same direction, and far enough for
/// the spread of their ratios. Values are above 0.
///
/// If nothing differs, each pair is as likely to lie in one direction as in the other (the sign test).
pub fn paired_separation(a: &[f64], b: &[f64]) -> Option<Separation> {
    if a.len() != b.len() {
        return None;
    }
    let ratios: Vec<f64> = a.iter().zip(b).map(|(a, b)| b / a).collect();
    let interval = range(&ratios)?;
    let (lower, upper) = (interval.lower.ln(), interval.upper.ln());
    let gap = if lower > 0.0 { lower } else { -upper };
    let is_apart = gap > 0.0 && gap >= needed(upper - lower, ratios.len());
    is_apart.then(|| Separation { p_value: 2.0 * 0.5f64.powi(ratios.len() as i32), interval })
}

/// The distance that so many values with a spread must have.
fn needed(spread: f64, count: usize) -> f64 {
    spread * WANDERING / count as f64
}

/// The smallest and the largest of values above 0; `None` without values or with another.
fn range(values: &[f64]) -> Option<Interval> {
    let (lower, upper) = (values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?);
    (lower > 0.0 && upper.is_finite()).then_some(Interval { lower, upper })
}

/// The number of orders of so many and so many values, those of each sample alike.
fn orders(a: usize, b: usize) -> f64 {
    (1..=a).map(|at| (b + at) as f64 / at as f64).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_apart_are_decided_by_ranks() {
        let found = separation(&[20.0, 20.1, 20.2, 20.0], &[28.0, 28.2, 28.1, 28.3]).expect("apart");
        assert!((found.p_value - 2.0 / 70.0).abs() < 1e-12, "{found:?}");
        assert_eq!(found.interval, Interval { lower: 28.0 / 20.2, upper: 28.3 / 20.0 });
        let turned = separation(&[28.0, 28.2], &[20.0, 20.1]).expect("apart");
        assert!(turned.interval.upper < 1.0 && (turned.p_value - 2.0 / 6.0).abs() < 1e-12);
    }

    #[test]
    fn pairs_that_all_lie_in_one_direction_are_decided_by_signs() {
        let (a, b) = ([10.0, 20.0, 40.0, 80.0, 80.0, 20.0], [20.0, 41.0, 79.0, 161.0, 160.0, 40.0]);
        let found = paired_separation(&a, &b).expect("apart");
        assert!((found.p_value - 2.0 / 64.0).abs() < 1e-12, "{found:?}");
        assert_eq!(found.interval, Interval { lower: 79.0 / 40.0, upper: 41.0 / 20.0 });
        assert!(paired_separation(&b, &a).is_some_and(|turned| turned.interval.upper < 1.0));
        assert_eq!(paired_separation(&[10.0, 10.0], &[20.0, 9.0]), None);
        assert_eq!(paired_separation(&[10.0, 10.0], &[11.0, 40.0]), None, "their ratios spread too far");
        assert_eq!(paired_separation(&[10.0], &[]), None);
    }

    #[test]
    fn samples_that_touch_or_spread_are_not() {
        assert_eq!(separation(&[1.0, 3.0], &[2.0, 4.0]), None);
        assert_eq!(separation(&[1.0, 2.0], &[2.5, 2.6]), None, "closer than either spreads");
        assert_eq!(separation(&[], &[1.0]), None);
        assert_eq!(separation(&[0.0, 0.0], &[1.0, 1.0]), None);
        assert_eq!(separation(&[5.0, 5.0], &[5.0, 5.0]), None);
    }
}
