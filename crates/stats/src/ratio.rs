//! Estimates with their uncertainty, and the ratio of two of them.

use std::sync::Arc;

use crate::long_run::long_run_cautious;
use crate::sheet::{Place, bounds};
use crate::{f_tail, student_cdf, student_quantile};

/// From one number to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower bound.
    pub lower: f64,
    /// The upper bound; infinite where nothing bounds it.
    pub upper: f64,
}

/// Half the width of a histogram's bucket, relative to its value: no estimate is more exact.
const RESOLUTION: f64 = 0.000_68;

/// A figure of one side and what is known about its error.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// The figure, above 0.
    pub value: f64,
    /// How many independent samples would make a quantile as certain, or how many independent seconds a mean.
    pub effective_number: f64,
    /// The runs behind it.
    pub runs: usize,
    /// Its standard error by the variation within runs: as share of the population for a quantile, else of the logarithm.
    error: f64,
    /// The degrees of freedom of that error.
    dof: f64,
    /// The variance between runs divided by what the variation within them explains; `None` for one run.
    between: Option<f64>,
    shape: Shape,
    /// The part of the error that each second of each run adds, in its unit; over all runs and seconds it adds up to nothing.
    influence: Vec<Vec<f64>>,
}

#[derive(Clone, Debug)]
enum Shape {
    Logarithm,
    Quantile { share: f64, ranks: Arc<Ranks>, population: f64 },
}

impl Estimate {
    /// The mean of one figure per second, such as the throughput, over one or several runs. `None` if it is not above 0.
    pub fn of_seconds(runs: &[&[f64]]) -> Option<Estimate> {
        let count: usize = runs.iter().map(|run| run.len()).sum();
        let mean = runs.iter().flat_map(|run| run.iter()).sum::<f64>() / count as f64;
        let residuals: Vec<Vec<f64>> =
            runs.iter().map(|run| run.iter().map(|value| value - mean).collect()).collect();
        (mean > 0.0).then(|| Estimate::of_mean(mean, &residuals, count as f64)).flatten()
    }

    /// A mean, from each second's contribution to the sum of deviations from it.
    pub(crate) fn of_mean(value: f64, residuals: &[Vec<f64>], count: f64) -> Option<Estimate> {
        let spread = Spread::from_residuals(residuals, count)?;
        let effective_number = effective_seconds(residuals, spread.error * count);
        let error = spread.error / value;
        let influence = scaled(residuals, 1.0 / (count * value));
        Some(spread.estimate(value, effective_number, error, (Shape::Logarithm, influence)))
    }

    /// A quantile, from each second's contribution to the sum of deviations of the share above it.
    pub(crate) fn of_quantile(
        value: f64,
        share: f64,
        residuals: &[Vec<f64>],
        ranks: Arc<Ranks>,
        population: f64,
    ) -> Option<Estimate> {
        let spread = Spread::from_residuals(residuals, population)?;
        let variance = spread.error * spread.error;
        let effective_number = if variance > 0.0 { share * (1.0 - share) / variance } else { population };
        let error = spread.error;
        let shape = (Shape::Quantile { share, ranks, population }, scaled(residuals, 1.0 / population));
        Some(spread.estimate(value, effective_number, error, shape))
    }

    /// The part of the error that each second of each run adds.
    pub(crate) fn influence(&self) -> &[Vec<f64>] {
        &self.influence
    }

    /// The standard error: of a quantile's share of the population, else of the logarithm.
    pub(crate) fn error(&self) -> f64 {
        self.error
    }

    /// The degrees of freedom of the error.
    pub(crate) fn dof(&self) -> f64 {
        self.dof
    }

    /// The share of the population below a quantile; `None` for another figure.
    pub(crate) fn share(&self) -> Option<f64> {
        match &self.shape {
            Shape::Quantile { share, .. } => Some(*share),
            Shape::Logarithm => None,
        }
    }

    /// The same figure with another measure of its error.
    pub(crate) fn with_noise(&self, noise: Noise) -> Estimate {
        let variance = noise.error * noise.error;
        let effective_number = match &self.shape {
            Shape::Quantile { share, population, .. } if variance > 0.0 => {
                (share * (1.0 - share) / variance).min(*population)
            }
            Shape::Quantile { population, .. } => *population,
            Shape::Logarithm => self.effective_number,
        };
        let Noise { error, mut dof, between } = noise;
        if let Shape::Quantile { share, population, .. } = &self.shape {
            dof = dof.min((1.0 - share) * population / VALUES_PER_BURST).max(1.0);
        }
        Estimate { error, dof, between, effective_number, ..self.clone() }
    }

    /// The logarithms of the bounds at so many standard errors, the errors stretched by a factor. The upper one is infinite
    /// where no measured value bounds it.
    fn log_bounds(&self, deviates: f64, stretch: f64) -> Interval {
        let value = self.value.ln();
        let reach = deviates * stretch * self.error;
        let bounds = match &self.shape {
            Shape::Logarithm => Interval { lower: value - reach, upper: value + reach },
            Shape::Quantile { share, ranks, population } => {
                let lower = ranks.place((share - reach) * population);
                let upper = ranks.place((share + reach) * population);
                Interval {
                    lower: lower.map_or(f64::NEG_INFINITY, |place| place.value.ln()),
                    upper: upper.map_or(f64::INFINITY, |place| place.value.ln()),
                }
            }
        };
        let floor = RESOLUTION * deviates / NORMAL_95;
        Interval { lower: bounds.lower.min(value - floor), upper: bounds.upper.max(value + floor) }
    }

    /// About the standard error of the logarithm.
    fn log_error(&self) -> f64 {
        let bounds = self.log_bounds(1.0, 1.0);
        let width = (bounds.upper - bounds.lower) / 2.0;
        if width.is_finite() { width } else { self.value.ln().abs().max(1.0) }
    }
}

/// The error of a side, found in another way than by its own seconds alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Noise {
    /// The standard error, in the unit of the influence.
    pub(crate) error: f64,
    /// Its degrees of freedom.
    pub(crate) dof: f64,
    /// The variance between runs divided by what the variation within them explains; `None` for one run.
    pub(crate) between: Option<f64>,
}

/// Values beyond a tail that make up a burst: so many seconds of a load that varies show as much as one.
const VALUES_PER_BURST: f64 = 4.0;

fn scaled(residuals: &[Vec<f64>], factor: f64) -> Vec<Vec<f64>> {
    residuals.iter().map(|run| run.iter().map(|value| value * factor).collect()).collect()
}

/// The normal quantile of a two-sided 95 % interval.
const NORMAL_95: f64 = 1.96;

/// The standard error of a sum of residuals, divided by a count.
struct Spread {
    error: f64,
    dof: f64,
    between: Option<f64>,
    runs: usize,
}

impl Spread {
    fn from_residuals(residuals: &[Vec<f64>], count: f64) -> Option<Spread> {
        let runs: Vec<&[f64]> = residuals.iter().map(Vec::as_slice).filter(|run| run.len() > 1).collect();
        if runs.is_empty() || count < 1.0 {
            return None;
        }
        let within = long_run_cautious(&runs, 1.0);
        let seconds: usize = runs.iter().map(|run| run.len()).sum();
        let variance = within.variance * seconds as f64;
        Some(Spread {
            error: variance.sqrt() / count,
            dof: within.dof,
            between: between(&runs).filter(|_| variance > 0.0).map(|between| between / variance),
            runs: runs.len(),
        })
    }

    fn estimate(
        self,
        value: f64,
        effective_number: f64,
        error: f64,
        (shape, influence): (Shape, Vec<Vec<f64>>),
    ) -> Estimate {
        let Spread { dof, between, runs, .. } = self;
        Estimate { value, effective_number, runs, error, dof, between, shape, influence }
    }
}

/// The variance of the sum of all residuals by what the runs' sums differ; `None` for one run.
fn between(runs: &[&[f64]]) -> Option<f64> {
    let count = runs.len() as f64;
    let sums: Vec<f64> = runs.iter().map(|run| run.iter().sum()).collect();
    let mean = sums.iter().sum::<f64>() / count;
    let squares = sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>();
    (runs.len() > 1).then(|| squares * count / (count - 1.0))
}

/// The variance that the sum of independent seconds would have, over the variance it has, as a number of seconds.
fn effective_seconds(residuals: &[Vec<f64>], error_of_sum: f64) -> f64 {
    let seconds = residuals.iter().map(Vec::len).sum::<usize>() as f64;
    let squares: f64 = residuals.iter().flatten().map(|value| value * value).sum();
    let variance = error_of_sum * error_of_sum;
    if variance > 0.0 { (seconds * squares / variance).min(2.0 * seconds) } else { seconds }
}

/// The ratio of two estimates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioEstimate {
    /// `b` divided by `a`.
    pub ratio: f64,
    /// Its interval.
    pub interval: Interval,
    /// The narrower interval whose two sides each have the whole error probability, for a claim of equivalence (Schuirmann,
    /// 1987): 90 % where the interval is of 95 %.
    pub equivalence_interval: Interval,
    /// The two-sided p-value of the ratio being 1.
    pub p_value: f64,
    /// The degrees of freedom behind the interval.
    pub dof: f64,
}

impl RatioEstimate {
    /// The same ratio, at least `share` times as uncertain as another one of the same confidence.
    pub fn at_least_as_uncertain(&self, other: &RatioEstimate, share: f64, confidence: f64) -> RatioEstimate {
        let log_ratio = self.ratio.ln();
        let widened = |own: Interval, other: Interval| {
            let half_width = share * (other.upper.ln() - other.lower.ln()) / 2.0;
            Interval {
                lower: own.lower.min((log_ratio - half_width).exp()),
                upper: own.upper.max((log_ratio + half_width).exp()),
            }
        };
        let half_width = share * (other.interval.upper.ln() - other.interval.lower.ln()) / 2.0;
        let tail = (1.0 - confidence.clamp(0.0, 1.0)) / 2.0;
        let deviates = log_ratio.abs() / half_width * student_quantile(1.0 - tail, other.dof);
        let p_value = if deviates.is_nan() { 1.0 } else { 2.0 * student_cdf(-deviates, other.dof) };
        RatioEstimate {
            interval: widened(self.interval, other.interval),
            equivalence_interval: widened(self.equivalence_interval, other.equivalence_interval),
            p_value: self.p_value.max(p_value),
            ..*self
        }
    }
}

/// The ratio `b / a` with its interval.
///
/// Each side's bounds are found at the same number of standard errors and combined on the logarithm's scale by the method
/// of variance estimates recovery (Zou and Donner, 2008), which keeps a quantile's interval as lopsided as its tail. The
/// deviates are Student's, with Welch and Satterthwaite's degrees of freedom.
///
/// With three runs a side (four degrees of freedom together) the variation between runs counts, too (see `stretched` in this file).
pub fn log_ratio(a: &Estimate, b: &Estimate, confidence: f64) -> RatioEstimate {
    let (error_a, error_b) = (a.log_error(), b.log_error());
    let (square_a, square_b) = (error_a * error_a, error_b * error_b);
    let mut dof = (square_a + square_b).powi(2) / (square_a * square_a / a.dof + square_b * square_b / b.dof);
    let mut stretch = 1.0;
    if let Some((between, dof_between)) = between_runs(a, b) {
        (stretch, dof) = stretched(between, dof_between, dof);
    }
    let log_ratio = b.value.ln() - a.value.ln();
    let tail = (1.0 - confidence.clamp(0.0, 1.0)) / 2.0;
    let interval = combined(a, b, student_quantile(1.0 - tail, dof), stretch);
    let equivalence = combined(a, b, student_quantile(1.0 - 2.0 * tail, dof), stretch);
    let exp = |interval: Interval| Interval { lower: interval.lower.exp(), upper: interval.upper.exp() };
    RatioEstimate {
        ratio: log_ratio.exp(),
        interval: exp(interval),
        equivalence_interval: exp(equivalence),
        p_value: p_value(log_ratio, interval, student_quantile(1.0 - tail, dof), dof),
        dof,
    }
}

/// By how much the errors grow because runs differ by more than their seconds explain, and the degrees of freedom then.
///
/// The ratio of the variances between and within runs has few degrees of freedom: believed at its word, it makes intervals
/// of three runs a side so wide that they miss what is there; not believed, too narrow. So a ratio that is significant
/// counts in full, with its own degrees of freedom; another one is averaged with 1, as if eight degrees of freedom had
/// been seen of runs that do not differ. In simulations intervals of 95 % then cover 92 to 97 %, whatever the true ratio.
pub(crate) fn stretched(between: f64, dof_between: f64, dof: f64) -> (f64, f64) {
    if between <= 1.0 {
        return (1.0, dof);
    }
    if f_tail(between, dof_between, dof) < BETWEEN_SIGNIFICANCE {
        return (between.sqrt(), dof.min(dof_between));
    }
    let together = PRIOR_DOF + dof_between;
    let averaged = (PRIOR_DOF + dof_between * between) / together;
    (averaged.sqrt(), dof.min(together))
}

/// Below this p-value the variation between runs counts in full.
const BETWEEN_SIGNIFICANCE: f64 = 0.1;

/// The weight of the belief that runs do not differ, in degrees of freedom.
const PRIOR_DOF: f64 = 8.0;

/// The ratio of the variances between and within runs that both sides have in common, and its degrees of freedom.
fn between_runs(a: &Estimate, b: &Estimate) -> Option<(f64, f64)> {
    let weights = [a, b].map(|side| side.runs.saturating_sub(1) as f64);
    let dof = weights[0] + weights[1];
    let sum: f64 =
        [a, b].iter().zip(weights).map(|(side, weight)| side.between.unwrap_or(0.0) * weight).sum();
    (dof >= BETWEEN_DOF_MIN).then_some((sum / dof, dof))
}

/// Fewer degrees of freedom say nothing of the variation between runs.
const BETWEEN_DOF_MIN: f64 = 4.0;

fn combined(a: &Estimate, b: &Estimate, deviates: f64, stretch: f64) -> Interval {
    let (bounds_a, bounds_b) = (a.log_bounds(deviates, stretch), b.log_bounds(deviates, stretch));
    let (log_a, log_b) = (a.value.ln(), b.value.ln());
    let log_ratio = log_b - log_a;
    Interval {
        lower: log_ratio - (log_b - bounds_b.lower).hypot(bounds_a.upper - log_a),
        upper: log_ratio + (bounds_b.upper - log_b).hypot(log_a - bounds_a.lower),
    }
}

/// The p-value that goes with the interval: at most the error probability just where the interval leaves 1 out.
fn p_value(log_ratio: f64, interval: Interval, deviates: f64, dof: f64) -> f64 {
    let reach = if log_ratio > 0.0 { log_ratio - interval.lower } else { interval.upper - log_ratio };
    2.0 * student_cdf(-log_ratio.abs() / reach * deviates, dof)
}

/// Values by rank, from a merged histogram.
#[derive(Debug)]
pub(crate) struct Ranks {
    buckets: Vec<i32>,
    /// How many values are in the bucket and all below.
    up_to: Vec<f64>,
}

impl Ranks {
    /// Of buckets in order of value.
    pub(crate) fn new(buckets: impl Iterator<Item = (i32, u64)>) -> Ranks {
        let mut ranks = Ranks { buckets: Vec::new(), up_to: Vec::new() };
        let mut sum = 0.0;
        for (bucket, count) in buckets {
            sum += count as f64;
            ranks.buckets.push(bucket);
            ranks.up_to.push(sum);
        }
        ranks
    }

    /// How many values there are.
    pub(crate) fn measured(&self) -> f64 {
        self.up_to.last().copied().unwrap_or(0.0)
    }

    /// How many values are in a bucket and all below.
    pub(crate) fn up_to(&self, bucket: i32) -> f64 {
        let at = self.buckets.partition_point(|other| *other <= bucket);
        at.checked_sub(1).map_or(0.0, |last| self.up_to[last])
    }

    /// The smallest and the largest value above 0, within a bucket's width; endless without one.
    pub(crate) fn range(&self) -> (f64, f64) {
        let first = self.buckets.iter().find_map(|bucket| bounds(*bucket));
        let last = self.buckets.last().and_then(|bucket| bounds(*bucket));
        (first.map_or(0.0, |(lower, _)| lower), last.map_or(f64::INFINITY, |(_, upper)| upper))
    }

    /// The place with so many values below; `None` outside the values. Within a bucket values are spread evenly on the
    /// logarithm's scale.
    pub(crate) fn place(&self, below: f64) -> Option<Place> {
        if below.is_nan() || below < 0.0 || below > self.measured() {
            return None;
        }
        let at = self.up_to.partition_point(|up_to| *up_to < below).min(self.buckets.len().checked_sub(1)?);
        let start = at.checked_sub(1).map_or(0.0, |before| self.up_to[before]);
        let fraction = (below - start) / (self.up_to[at] - start);
        let bucket = self.buckets[at];
        let value = bounds(bucket).map_or(0.0, |(lower, upper)| lower * (upper / lower).powf(fraction));
        Some(Place { bucket, fraction, below, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_at_least_as_uncertain_as_another() {
        let of = |reach: f64, ratio: f64, dof: f64| {
            let reach = |deviate: f64| deviate * reach / student_quantile(0.975, dof);
            let around = |reach: f64| Interval { lower: ratio * (-reach).exp(), upper: ratio * reach.exp() };
            let deviates = ratio.ln().abs() / reach(1.0);
            RatioEstimate {
                ratio,
                interval: around(reach(student_quantile(0.975, dof))),
                equivalence_interval: around(reach(student_quantile(0.95, dof))),
                p_value: 2.0 * student_cdf(-deviates, dof),
                dof,
            }
        };
        let (sure, unsure) = (of(0.1, 1.5, 9.0), of(0.4, 1.2, 9.0));
        let found = sure.at_least_as_uncertain(&unsure, 1.0, 0.95);
        let expect = of(0.4, 1.5, 9.0);
        let pairs = [
            (found.interval.lower, expect.interval.lower),
            (found.interval.upper, expect.interval.upper),
            (found.equivalence_interval.upper, expect.equivalence_interval.upper),
            (found.p_value, expect.p_value),
        ];
        assert!(pairs.iter().all(|(a, b)| (a - b).abs() < 1e-9), "{found:?} {expect:?}");
        assert_eq!(sure.at_least_as_uncertain(&unsure, 0.2, 0.95).interval, sure.interval);
        assert_eq!(unsure.at_least_as_uncertain(&sure, 1.0, 0.95), unsure);
    }
    use crate::Random;

    /// A mean around 100 whose seconds wander by `spread`.
    fn seconds(seed: u64, length: usize, rho: f64, spread: f64, mean: f64) -> Vec<f64> {
        let mut random = Random::new(seed);
        let mut level = random.normal() / (1.0 - rho * rho).sqrt();
        let next = |_| {
            level = rho * level + random.normal();
            mean * (1.0 + spread * level * (1.0 - rho * rho).sqrt())
        };
        (0..length).map(next).collect()
    }

    fn estimate(runs: &[Vec<f64>]) -> Estimate {
        let runs: Vec<&[f64]> = runs.iter().map(Vec::as_slice).collect();
        Estimate::of_seconds(&runs).expect("values")
    }

    #[test]
    fn a_shift_is_seen_and_noise_is_not() {
        let a = estimate(&[seconds(1, 600, 0.5, 0.1, 100.0)]);
        let same = log_ratio(&a, &estimate(&[seconds(2, 600, 0.5, 0.1, 100.0)]), 0.95);
        let shifted = log_ratio(&a, &estimate(&[seconds(3, 600, 0.5, 0.1, 110.0)]), 0.95);
        assert!(same.interval.lower < 1.0 && same.interval.upper > 1.0 && same.p_value > 0.05, "{same:?}");
        assert!(shifted.interval.lower > 1.05 && shifted.p_value < 0.001, "{shifted:?}");
        assert!(same.equivalence_interval.lower > same.interval.lower);
    }

    #[test]
    fn equal_constants_have_the_ratio_one() {
        let same = log_ratio(&estimate(&[vec![5.0; 60]]), &estimate(&[vec![5.0; 60]]), 0.95);
        assert!(same.ratio == 1.0 && same.p_value == 1.0 && same.interval.upper < 1.003, "{same:?}");
        let more = log_ratio(&estimate(&[vec![5.0; 60]]), &estimate(&[vec![6.0; 60]]), 0.95);
        assert!(more.interval.lower > 1.19, "{more:?}");
    }

    #[test]
    fn runs_that_differ_widen_the_interval() {
        let side = |seed: u64, means: [f64; 3]| {
            let runs: Vec<Vec<f64>> =
                means.iter().zip(seed..).map(|(mean, seed)| seconds(seed, 300, 0.5, 0.05, *mean)).collect();
            estimate(&runs)
        };
        let calm = log_ratio(&side(1, [100.0; 3]), &side(11, [110.0; 3]), 0.95);
        let wild = log_ratio(&side(1, [90.0, 100.0, 110.0]), &side(11, [99.0, 110.0, 121.0]), 0.95);
        assert!(calm.interval.lower > 1.0, "{calm:?}");
        assert!(wild.interval.lower < 1.0 && wild.dof <= 4.0, "{wild:?}");
    }

    #[test]
    fn the_variation_between_runs_counts_as_far_as_it_is_believed() {
        assert_eq!(stretched(0.5, 4.0, 50.0), (1.0, 50.0));
        assert_eq!(stretched(9.0, 4.0, 50.0), (3.0, 4.0));
        let (stretch, dof) = stretched(1.6, 4.0, 50.0);
        assert!((stretch * stretch - 1.2).abs() < 1e-12 && dof == 12.0, "{stretch} {dof}");
    }

    #[test]
    fn nothing_has_no_estimate() {
        assert!(Estimate::of_seconds(&[]).is_none());
        assert!(Estimate::of_seconds(&[&[0.0; 9]]).is_none());
        assert!(Estimate::of_seconds(&[&[1.0]]).is_none());
    }

    #[test]
    fn ranks_lie_within_their_buckets() {
        let ranks = Ranks::new([(0, 2), (512, 2)].into_iter());
        assert_eq!(ranks.measured(), 4.0);
        assert!(ranks.place(4.1).is_none() && ranks.place(-0.1).is_none() && ranks.place(f64::NAN).is_none());
        let value = |below: f64| ranks.place(below).map(|place| place.value).expect("inside");
        assert!((1.0..1.002).contains(&value(1.0)) && (2.0..2.004).contains(&value(3.0)));
        assert!(Ranks::new(std::iter::empty()).place(0.0).is_none());
    }
}
