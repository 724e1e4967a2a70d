//! The error of figures of two sides that went through the same plan of load.
//!
//! On a ramp the seconds of a run differ by plan, which is no noise: at equal elapsed time both sides have the same load.
//! So the noise is what is left of a run's seconds after the seconds of the other runs at the same time. Several runs a
//! side give each side a trend of its own; a single pair has its differences, in which a trend that both sides have in
//! common cancels. Where the difference itself follows the load beyond doubt (one side saturates, the other does not),
//! each side's seconds are taken about lines inside the strata of the plan.

use crate::long_run::{LongRun, long_run_cautious, long_run_cautious_about_lines, mean_variance};
use crate::ratio::{Noise, stretched};
use crate::{Estimate, long_run_about_lines, student_cdf};

/// A shorter stratum says nothing of the noise about its line, and joins the one before.
const STRATUM_SECONDS_MIN: usize = 3;

/// A longer stage is cut: a load that goes on rising may pass a knee, which is not on a line.
const STRATUM_SECONDS_MAX: usize = 30;

/// The correlation of neighbouring seconds that noise may have. A difference follows the load only if noise as persistent as
/// this could not look like it.
const PERSISTENCE_MAX: f64 = 0.9;

/// Below this p-value a difference follows the load.
const INTERACTION_SIGNIFICANCE: f64 = 0.001;

/// Strata with fewer seconds show no noise to compare their level with.
const JUDGED_SECONDS_MIN: usize = 5;

/// The degrees of freedom of a difference are shared by two sides, and fewer where its variance is uneven: the order of the
/// autoregression is chosen by the few seconds that matter. Measured, for false changes and coverage of ramps, spikes and stages.
const DIFFERENCE_DOF: f64 = 2.5;

/// The sums of fewer strata show nothing of the variation between them.
const STRATA_DOF_MIN: f64 = 2.0;

/// The parts of a plan in which the load is constant or on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanStrata {
    /// The first second of each.
    begins: Vec<usize>,
    seconds: usize,
}

impl PlanStrata {
    /// The strata of a plan of so many seconds whose stages begin at these seconds.
    pub fn new(stages: &[usize], seconds: usize) -> PlanStrata {
        PlanStrata { begins: begins(stages, seconds), seconds }
    }

    /// How many seconds of the plan both sides have.
    pub fn seconds(&self) -> usize {
        self.seconds
    }

    fn parts(&self) -> Vec<std::ops::Range<usize>> {
        let ends = self.begins.iter().skip(1).copied().chain([self.seconds]);
        self.begins.iter().zip(ends).map(|(begin, end)| *begin..end).collect()
    }

    /// The share of seconds of even variance that would be worth as much as those of a series. Where the load is low by plan, a
    /// second adds little.
    fn even(&self, series: &[f64]) -> f64 {
        let (mut squares, mut fourths) = (0.0, 0.0);
        for part in self.parts() {
            let length = part.len() as f64;
            let power: f64 = series[part].iter().map(|value| value * value).sum::<f64>() / length;
            squares += length * power;
            fourths += length * power * power;
        }
        let even = squares * squares / (fourths * series.len() as f64);
        if even.is_finite() { even.min(1.0) } else { 1.0 }
    }

    /// The long-run variance of a difference whose mean is 0.
    ///
    /// A tail is made of few bursts, of which an autoregression sees the seconds and not how few they are. So the sums of the
    /// strata count as runs do: in full where they vary by significantly more than the autoregression explains.
    fn noise(&self, difference: &[f64]) -> LongRun {
        let even = self.even(difference);
        let noise = long_run_cautious(&[difference], even);
        let parts = self.parts();
        let dof = (parts.len() as f64 * even).floor() - 1.0;
        if dof < STRATA_DOF_MIN || noise.variance <= 0.0 {
            return noise;
        }
        let sums = parts.into_iter().map(|part| difference[part].iter().sum::<f64>().powi(2));
        let between = sums.sum::<f64>() / (noise.variance * difference.len() as f64);
        let (stretch, dof) = stretched(between, dof, noise.dof);
        LongRun { variance: noise.variance * stretch * stretch, dof, ..noise }
    }

    /// Whether the level of a series, whose mean is 0, differs in a stratum by more than persistent noise could do.
    fn explain(&self, series: &[f64]) -> bool {
        let parts = self.parts().into_iter().filter(|part| part.len() >= JUDGED_SECONDS_MIN);
        let p_values: Vec<f64> = parts.map(|part| level_p_value(&series[part])).collect();
        let count = p_values.len() as f64;
        p_values.into_iter().any(|p_value| p_value * count < INTERACTION_SIGNIFICANCE)
    }
}

/// The p-value of a level of 0 under the most persistent noise.
///
/// The steps of such noise are independent: they are what is left of a value after so much of the one before, and many even in
/// a short stratum. Noise that is less persistent has larger steps for its variance, and its level looks less certain than it is.
fn level_p_value(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let left = about_line(values);
    let steps = left.windows(2).map(|pair| (pair[1] - PERSISTENCE_MAX * pair[0]).powi(2)).sum::<f64>();
    let step_variance = steps / (count - 2.0);
    let variance =
        step_variance / (1.0 - PERSISTENCE_MAX * PERSISTENCE_MAX) * mean_variance(count, PERSISTENCE_MAX);
    match variance > 0.0 {
        true => 2.0 * student_cdf(-mean.abs() / variance.sqrt(), count - 2.0),
        false if mean == 0.0 => 1.0,
        false => 0.0,
    }
}

fn begins(stages: &[usize], seconds: usize) -> Vec<usize> {
    let mut begins = vec![0];
    let mut cuts: Vec<usize> = stages.iter().copied().filter(|at| *at < seconds).collect();
    cuts.sort_unstable();
    for next in cuts.into_iter().chain([seconds]) {
        let last = begins[begins.len() - 1];
        let length = next.saturating_sub(last);
        if length < STRATUM_SECONDS_MIN {
            continue;
        }
        let pieces = length.div_ceil(STRATUM_SECONDS_MAX);
        begins.extend((1..=pieces).map(|piece| last + length * piece / pieces));
    }
    // The last begin is the end, or a rest too short for a stratum follows it.
    if begins.len() > 1 {
        begins.pop();
    }
    begins
}

/// The deviations from the straight line through values.
fn about_line(values: &[f64]) -> Vec<f64> {
    let count = values.len() as f64;
    let (mean, middle) = (values.iter().sum::<f64>() / count, (count - 1.0) / 2.0);
    let (mut products, mut squares) = (0.0, 0.0);
    for (at, value) in values.iter().enumerate() {
        products += (at as f64 - middle) * (value - mean);
        squares += (at as f64 - middle).powi(2);
    }
    let slope = if squares > 0.0 { products / squares } else { 0.0 };
    let left = |(at, value): (usize, &f64)| value - mean - slope * (at as f64 - middle);
    values.iter().enumerate().map(left).collect()
}

/// Whether the difference of a single pair of figures follows the load beyond what persistent noise could do.
pub fn follows_load(a: &Estimate, b: &Estimate, strata: &PlanStrata) -> bool {
    let [runs_a, runs_b] = [a, b].map(|side| per_run(side, strata.seconds));
    let (Some(runs_a), Some(runs_b)) = (runs_a, runs_b) else { return false };
    strata.explain(&difference(&mean_of(&runs_a), &mean_of(&runs_b)))
}

/// The two figures with the errors that they have beside each other at equal elapsed time. `follows_load` says that the difference
/// of a single pair is known to follow the load, by this figure or a related one.
pub fn paired(a: &Estimate, b: &Estimate, strata: &PlanStrata, follows_load: bool) -> (Estimate, Estimate) {
    let [runs_a, runs_b] = [a, b].map(|side| per_run(side, strata.seconds));
    let (Some(runs_a), Some(runs_b)) = (runs_a, runs_b) else { return (a.clone(), b.clone()) };
    if runs_a.len().min(runs_b.len()) > 1 {
        return (
            a.with_noise(about_own_side(&runs_a, strata)),
            b.with_noise(about_own_side(&runs_b, strata)),
        );
    }
    let (mean_a, mean_b) = (mean_of(&runs_a), mean_of(&runs_b));
    let difference = difference(&mean_a, &mean_b);
    if follows_load || strata.explain(&difference) {
        return (a.with_noise(about_lines(&mean_a, strata)), b.with_noise(about_lines(&mean_b, strata)));
    }
    let noise = strata.noise(&difference);
    let share = jumps(&mean_a) / (jumps(&mean_a) + jumps(&mean_b)).max(f64::MIN_POSITIVE);
    (
        a.with_noise(of_difference(&noise, share, &difference)),
        b.with_noise(of_difference(&noise, 1.0 - share, &difference)),
    )
}

/// A figure of one side with the error that its seconds show about the lines of the strata, however few they are.
pub(crate) fn about_plan(side: &Estimate, strata: &PlanStrata) -> Estimate {
    let Some(runs) = per_run(side, strata.seconds) else { return side.clone() };
    let parts = runs.iter().flat_map(|run| strata.parts().into_iter().map(|part| &run[part]));
    let found = long_run_about_lines(&parts.collect::<Vec<&[f64]>>());
    // Each run is scaled as if it were its side.
    let variance = found.variance * strata.seconds as f64 / runs.len() as f64;
    side.with_noise(Noise { error: variance.sqrt(), dof: found.dof, between: None })
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| b - a).collect()
}

/// The influence of each run, cut to the seconds of the plan and scaled as if the run were its side; `None` if a run is
/// shorter.
fn per_run(side: &Estimate, seconds: usize) -> Option<Vec<Vec<f64>>> {
    let runs = side.influence().iter().filter(|run| run.len() > 1);
    let count = runs.clone().count() as f64;
    let run = |run: &Vec<f64>| Some(run.get(..seconds)?.iter().map(|value| value * count).collect());
    let runs: Option<Vec<Vec<f64>>> = runs.map(run).collect();
    runs.filter(|runs| !runs.is_empty() && seconds > 1)
}

fn mean_of(runs: &[Vec<f64>]) -> Vec<f64> {
    let count = runs.len() as f64;
    (0..runs[0].len()).map(|at| runs.iter().map(|run| run[at]).sum::<f64>() / count).collect()
}

/// The noise of a side by what its runs differ at equal time.
fn about_own_side(runs: &[Vec<f64>], strata: &PlanStrata) -> Noise {
    let (count, mean) = (runs.len() as f64, mean_of(runs));
    let deviations: Vec<Vec<f64>> =
        runs.iter().map(|run| run.iter().zip(&mean).map(|(value, mean)| value - mean).collect()).collect();
    let even = deviations.iter().map(|run| strata.even(run)).sum::<f64>() / count;
    let found = long_run_cautious(&deviations.iter().map(Vec::as_slice).collect::<Vec<_>>(), even);
    let variance = found.variance * mean.len() as f64 / (count - 1.0);
    let sums: Vec<f64> = deviations.iter().map(|run| run.iter().sum()).collect();
    let between = sums.iter().map(|sum| sum * sum).sum::<f64>() / (count * (count - 1.0));
    Noise {
        error: variance.sqrt(),
        // The deviations of all runs add up to nothing: one run less is known.
        dof: (found.dof * (count - 1.0) / count).max(1.0),
        between: (variance > 0.0).then(|| between / variance),
    }
}

/// The noise of one side by its seconds about the lines of the strata.
fn about_lines(series: &[f64], strata: &PlanStrata) -> Noise {
    let parts: Vec<&[f64]> = strata.parts().into_iter().map(|part| &series[part]).collect();
    let found = long_run_cautious_about_lines(&parts, strata.even(series));
    Noise { error: (found.variance * series.len() as f64).sqrt(), dof: found.dof, between: None }
}

/// One side's share of the noise of the difference.
fn of_difference(noise: &LongRun, share: f64, difference: &[f64]) -> Noise {
    let variance = noise.variance * difference.len() as f64 * share;
    Noise { error: variance.sqrt(), dof: (noise.dof / DIFFERENCE_DOF).max(1.0), between: None }
}

/// The squares of the steps from second to second: noise mostly, since a trend moves little in a second.
fn jumps(series: &[f64]) -> f64 {
    series.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Random, log_ratio};

    /// Seconds on a ramp from 10 to 100, with noise of 5 %, from `knee` on higher by a factor.
    fn ramp(seed: u64, length: usize, factor: f64, knee: usize) -> Vec<f64> {
        let mut random = Random::new(seed);
        let level = |at: usize| 10.0 + 90.0 * at as f64 / length as f64;
        let at =
            |at: usize| level(at) * (1.0 + 0.05 * random.normal()) * if at >= knee { factor } else { 1.0 };
        (0..length).map(at).collect()
    }

    fn estimate(runs: &[Vec<f64>]) -> Estimate {
        Estimate::of_seconds(&runs.iter().map(Vec::as_slice).collect::<Vec<_>>()).expect("values")
    }

    #[test]
    fn a_common_trend_cancels() {
        let (a, b) = (estimate(&[ramp(1, 120, 1.0, 0)]), estimate(&[ramp(2, 120, 1.2, 0)]));
        let alone = log_ratio(&a, &b, 0.95);
        let (a, b) = paired(&a, &b, &PlanStrata::new(&[0], 120), false);
        let found = log_ratio(&a, &b, 0.95);
        assert!(alone.interval.upper > 2.0, "{alone:?}");
        assert!(found.interval.lower > 1.1 && found.interval.upper < 1.3, "{found:?}");
    }

    #[test]
    fn a_difference_that_follows_the_load_is_not_noise() {
        let (a, b) = (estimate(&[ramp(1, 120, 6.0, 60)]), estimate(&[ramp(2, 120, 1.0, 0)]));
        let (a, b) = paired(&a, &b, &PlanStrata::new(&[0, 60], 120), false);
        let found = log_ratio(&a, &b, 0.95);
        assert!(found.interval.lower > 0.15 && found.interval.upper < 0.3, "{found:?}");
    }

    #[test]
    fn several_runs_have_their_sides_trend() {
        let side = |seed: u64, factor: f64| estimate(&[0, 1, 2].map(|at| ramp(seed + at, 60, factor, 0)));
        let (a, b) = paired(&side(1, 1.0), &side(11, 1.1), &PlanStrata::new(&[0], 60), false);
        let found = log_ratio(&a, &b, 0.95);
        assert!(found.interval.lower > 1.05 && found.interval.upper < 1.15, "{found:?}");
    }

    #[test]
    fn strata_follow_the_stages() {
        let check = |stages: &[usize], seconds: usize, expect: &[usize]| {
            assert_eq!(begins(stages, seconds), expect, "{stages:?} of {seconds}");
        };
        check(&[0, 3, 10, 15, 25], 28, &[0, 3, 10, 15, 25]);
        check(&[0], 90, &[0, 30, 60]);
        check(&[0, 1, 2], 10, &[0]);
        check(&[0, 10], 11, &[0]);
        check(&[], 2, &[0]);
        check(&[0, 50], 20, &[0]);
    }
}
