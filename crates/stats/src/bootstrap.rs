//! The studentised circular block bootstrap of the difference of two means.

use crate::{Interval, Random};

/// How to resample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resampling {
    /// How often; bounded by [`REPLICATES_MAX`].
    pub replicates: usize,
    /// The length of a block of each side, in values; 1 resamples single values.
    pub blocks: (usize, usize),
    /// The coverage of the interval, such as 0.95.
    pub confidence: f64,
    /// The seed of the generator.
    pub seed: u64,
}

/// The most replicates: beyond, the interval no longer moves.
const REPLICATES_MAX: usize = 100_000;

/// The interval of `mean(b) − mean(a)`; `None` where a side has too few blocks to vary.
///
/// Blocks are drawn from a circle made of the series (Politis and Romano, 1992), so that every value is drawn equally
/// often. Each replicate is divided by its own standard error, of the variance between its blocks, and the quantiles of
/// that t are put around the observed difference (Hall, 1988; Götze and Künsch, 1996).
pub fn bootstrap_difference(a: &[f64], b: &[f64], resampling: &Resampling) -> Option<Interval> {
    let (a, b) = (Circle::new(a, resampling.blocks.0)?, Circle::new(b, resampling.blocks.1)?);
    let mut random = Random::new(resampling.seed);
    let difference = b.mean - a.mean;
    let error = (a.variance() + b.variance()).sqrt();
    let replicates = resampling.replicates.clamp(1, REPLICATES_MAX);
    let mut studentised: Vec<f64> = (0..replicates)
        .filter_map(|_| {
            let ((mean_a, variance_a), (mean_b, variance_b)) = (a.draw(&mut random), b.draw(&mut random));
            let error = (variance_a + variance_b).sqrt();
            (error > 0.0).then(|| (mean_b - mean_a - difference) / error)
        })
        .collect();
    studentised.sort_unstable_by(f64::total_cmp);
    let last = studentised.len().checked_sub(1)?;
    let at = |probability: f64| studentised[(probability * last as f64).round() as usize];
    let tail = (1.0 - resampling.confidence.clamp(0.0, 1.0)) / 2.0;
    Some(Interval { lower: difference - at(1.0 - tail) * error, upper: difference - at(tail) * error })
}

/// A series bent to a circle, as sums up to each value, so that a block's sum is one subtraction.
struct Circle {
    sums: Vec<f64>,
    mean: f64,
    block: usize,
    /// How many blocks a replicate has.
    blocks: usize,
}

impl Circle {
    fn new(series: &[f64], block: usize) -> Option<Circle> {
        let block = block.max(1);
        let blocks = series.len().div_ceil(block);
        if blocks < 2 || block >= series.len() {
            return None;
        }
        let mut sum = 0.0;
        let around = series.iter().chain(&series[..block]);
        let sums = std::iter::once(0.0).chain(around.map(|value| {
            sum += value;
            sum
        }));
        let mean = series.iter().sum::<f64>() / series.len() as f64;
        Some(Circle { sums: sums.collect(), mean, block, blocks })
    }

    fn starts(&self) -> usize {
        self.sums.len() - 1 - self.block
    }

    /// The mean of the block that starts at a value.
    fn block_mean(&self, start: usize) -> f64 {
        (self.sums[start + self.block] - self.sums[start]) / self.block as f64
    }

    /// The variance of the mean, of the variance between all blocks of the circle.
    fn variance(&self) -> f64 {
        let squares = (0..self.starts()).map(|start| (self.block_mean(start) - self.mean).powi(2));
        squares.sum::<f64>() / self.starts() as f64 / self.blocks as f64
    }

    /// The mean and its variance in a replicate.
    fn draw(&self, random: &mut Random) -> (f64, f64) {
        let (mut mean, mut squares) = (0.0, 0.0);
        for drawn in 1..=self.blocks {
            let value = self.block_mean(random.below(self.starts()));
            // Welford's update keeps the variance of nearly equal blocks exact.
            let step = value - mean;
            mean += step / drawn as f64;
            squares += step * (value - mean);
        }
        (mean, squares / (self.blocks - 1) as f64 / self.blocks as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resampling(block: usize) -> Resampling {
        Resampling { replicates: 999, blocks: (block, block), confidence: 0.95, seed: 1 }
    }

    #[test]
    fn independent_values_give_students_interval() {
        let mut random = Random::new(11);
        let a: Vec<f64> = (0..200).map(|_| random.normal()).collect();
        let b: Vec<f64> = (0..200).map(|_| random.normal() + 1.0).collect();
        let interval = bootstrap_difference(&a, &b, &resampling(1)).expect("an interval");
        let width = interval.upper - interval.lower;
        assert!(interval.lower < 1.0 && 1.0 < interval.upper, "{interval:?}");
        assert!((0.34..0.46).contains(&width), "{interval:?}");
        assert_eq!(bootstrap_difference(&a, &b, &resampling(1)), Some(interval));
    }

    #[test]
    fn blocks_widen_the_interval_of_a_wandering_series() {
        let mut random = Random::new(12);
        let mut level = 0.0;
        let mut wander = || {
            level = 0.9 * level + random.normal();
            level
        };
        let (a, b): (Vec<f64>, Vec<f64>) = (0..600).map(|_| (wander(), wander())).unzip();
        let width = |block| {
            let interval = bootstrap_difference(&a, &b, &resampling(block)).expect("an interval");
            interval.upper - interval.lower
        };
        assert!(width(30) > 1.5 * width(1));
    }

    #[test]
    fn too_few_blocks_have_no_interval() {
        assert_eq!(bootstrap_difference(&[], &[1.0, 2.0], &resampling(1)), None);
        assert_eq!(bootstrap_difference(&[1.0, 2.0], &[1.0, 2.0], &resampling(2)), None);
        assert_eq!(bootstrap_difference(&[1.0; 9], &[2.0; 9], &resampling(2)), None);
    }
}
