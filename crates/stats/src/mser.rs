//! Where a run's warm-up ends.

/// Values per batch: the 5 of MSER-5.
const BATCH: usize = 5;

/// Where a series becomes steady.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// How many values to leave out at the start.
    pub values: usize,
    /// Whether the search ended at its bound, half of the series: then no steady part was found.
    pub at_bound: bool,
}

/// The truncation after which the mean of the rest is the most certain: MSER-5, for series of which one value says little.
pub fn mser5(series: &[f64]) -> Truncation {
    mser(series, BATCH)
}

/// The same over means of `batch` values, from 1.
///
/// White, "An Effective Truncation Heuristic for Bias Reduction in Simulation Output" (1997); White, Cobb and Spratt
/// (2000). Over the means, the start `d` up to half of them that has the least `Σ (x − mean)² / (n − d)²`, both
/// over the rest. The first of equal ones. Series of fewer than two batches are not truncated.
pub fn mser(series: &[f64], batch: usize) -> Truncation {
    let batches = series.chunks_exact(batch).map(|values| values.iter().sum::<f64>() / batch as f64);
    let batches: Vec<f64> = batches.collect();
    let bound = batches.len() / 2;
    let mut best = (f64::INFINITY, 0);
    // From the end, so that each start costs one step of Welford's update.
    let (mut mean, mut squares) = (0.0, 0.0);
    for (from_the_end, value) in batches.iter().rev().enumerate() {
        let count = from_the_end as f64 + 1.0;
        let step = value - mean;
        mean += step / count;
        squares += step * (value - mean);
        let start = batches.len() - 1 - from_the_end;
        let criterion = squares / (count * count);
        if start <= bound && criterion <= best.0 {
            best = (criterion, start);
        }
    }
    Truncation { values: best.1 * batch, at_bound: bound > 0 && best.1 == bound }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    fn noise(length: usize) -> Vec<f64> {
        let mut random = Random::new(4);
        (0..length).map(|_| random.normal()).collect()
    }

    #[test]
    fn a_warm_up_is_cut() {
        let mut series = noise(300);
        series[..40].iter_mut().for_each(|value| *value += 20.0);
        let found = mser5(&series);
        assert!((40..=90).contains(&found.values) && !found.at_bound, "{found:?}");
    }

    #[test]
    fn a_short_warm_up_is_cut_value_by_value() {
        let series = [0.0, 0.0, 26.0, 48.0, 46.0, 47.0, 47.0, 47.0, 47.0, 47.0, 47.0, 46.0, 48.0, 46.0, 47.0];
        let found = mser(&series, 1);
        assert!((3..=5).contains(&found.values) && !found.at_bound, "{found:?}");
        assert_eq!(mser(&series[..1], 1), Truncation { values: 0, at_bound: false });
    }

    #[test]
    fn a_drift_has_no_steady_part() {
        let series: Vec<f64> = noise(300).iter().zip(0..).map(|(noise, at)| noise + f64::from(at)).collect();
        assert!(mser5(&series).at_bound);
    }

    #[test]
    fn short_and_constant_series_are_kept_whole() {
        let whole = Truncation { values: 0, at_bound: false };
        assert_eq!(mser5(&[]), whole);
        assert_eq!(mser5(&[9.0, 1.0, 1.0, 1.0]), whole);
        assert_eq!(mser5(&[2.0; 100]), whole);
    }
}
