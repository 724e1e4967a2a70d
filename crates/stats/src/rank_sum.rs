//! The Mann–Whitney test, which is for independent values and is here to be measured against.

use crate::normal_cdf;

/// The two-sided p-value of two samples having one distribution, by the normal approximation with corrections for ties and
/// continuity (Mann and Whitney, 1947). 1 if a side is empty or nothing varies.
///
/// Seconds of a run are not independent: see docs/analysis.md for how often this test is then wrong.
pub fn rank_sum_p_value(a: &[f64], b: &[f64]) -> f64 {
    let mut all: Vec<(f64, bool)> = a.iter().map(|value| (*value, true)).collect();
    all.extend(b.iter().map(|value| (*value, false)));
    all.sort_by(|left, right| left.0.total_cmp(&right.0));
    let (mut ranks_of_a, mut ties, mut before) = (0.0, 0.0, 0.0);
    for equal in all.chunk_by(|left, right| left.0 == right.0) {
        let count = equal.len() as f64;
        let of_a = equal.iter().filter(|(_, of_a)| *of_a).count() as f64;
        ranks_of_a += of_a * (before + (count + 1.0) / 2.0);
        ties += count * (count * count - 1.0);
        before += count;
    }
    let (count_a, count_b) = (a.len() as f64, b.len() as f64);
    let total = count_a + count_b;
    let wins = ranks_of_a - count_a * (count_a + 1.0) / 2.0;
    let variance = count_a * count_b / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    if variance.is_nan() || variance <= 0.0 {
        return 1.0;
    }
    let distance = ((wins - count_a * count_b / 2.0).abs() - 0.5).max(0.0);
    (2.0 * normal_cdf(-distance / variance.sqrt())).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separate_samples_differ_and_equal_ones_do_not() {
        let low: Vec<f64> = (0..20).map(f64::from).collect();
        let high: Vec<f64> = low.iter().map(|value| value + 100.0).collect();
        assert!(rank_sum_p_value(&low, &high) < 1e-6);
        assert!(rank_sum_p_value(&low, &low) > 0.9);
        assert_eq!(rank_sum_p_value(&[], &low), 1.0);
        assert_eq!(rank_sum_p_value(&[1.0; 5], &[1.0; 5]), 1.0);
    }
}
