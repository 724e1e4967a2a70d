//! Runs whose truth is known.

use std::num::NonZero;

use analysis::compare::{Facts, LoadSecond, PlannedLoad, Run, Series};
use histo::Histogram;
use stats::Random;

/// Threads at most: others work on this machine too.
const THREADS_MAX: usize = 2;

/// The shape of a simulated run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Truth {
    /// How many seconds it lasts.
    pub(super) seconds: usize,
    /// The mean number of requests per second.
    pub(super) rate: f64,
    /// The median duration in milliseconds.
    pub(super) median_ms: f64,
    /// The correlation of the logarithm of one second's level with the next one's.
    pub(super) rho: f64,
    /// The standard deviation of that logarithm.
    pub(super) level_spread: f64,
    /// The standard deviation of the logarithm of durations within a second.
    pub(super) request_spread: f64,
}

/// The course of a planned load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// The same rate at all times.
    Flat,
    /// From a twentieth of the peak to the peak.
    Ramp,
    /// A fifth of the peak, and the peak for a fifth of the time.
    Spike,
    /// Up, hold, up, hold, down.
    Stages,
}

impl Shape {
    /// Parses `ramp`, `spike`, `stages` or `flat`.
    pub(super) fn parse(text: &str) -> Option<Shape> {
        let all = [
            ("flat", Shape::Flat),
            ("ramp", Shape::Ramp),
            ("spike", Shape::Spike),
            ("stages", Shape::Stages),
        ];
        all.into_iter().find(|(name, _)| *name == text).map(|(_, shape)| shape)
    }

    /// The load at a part of the time, as a share of the peak.
    fn load(self, at: f64) -> f64 {
        match self {
            Shape::Flat => 1.0,
            Shape::Ramp => 0.05 + 0.95 * at,
            Shape::Spike if (0.4..0.6).contains(&at) => 1.0,
            Shape::Spike => 0.2,
            Shape::Stages => {
                const ENDS: [f64; 6] = [0.0, 0.3, 0.3, 1.0, 1.0, 0.0];
                let stage = ((at * 5.0) as usize).min(4);
                let part = at * 5.0 - stage as f64;
                (ENDS[stage] + (ENDS[stage + 1] - ENDS[stage]) * part).max(0.02)
            }
        }
    }

    fn plan(self, seconds: usize) -> PlannedLoad {
        let stages: &[usize] = match self {
            Shape::Flat | Shape::Ramp => &[0],
            Shape::Spike => &[0, 2, 3],
            Shape::Stages => &[0, 1, 2, 3, 4],
        };
        PlannedLoad {
            text: format!("{self:?} of {seconds} s"),
            stages: stages.iter().map(|fifth| fifth * seconds / 5).collect(),
            is_constant: self == Shape::Flat,
        }
    }
}

/// The latency at a load as a multiple of that without load: a knee at 60 % of the peak.
fn slowdown(load: f64) -> f64 {
    1.0 + 4.0 * (load - 0.6).max(0.0) / 0.4
}

/// A run whose rate follows a plan up to the rate of the truth, and whose latency follows the load.
pub(super) fn planned_run(truth: &Truth, shape: Shape, seed: u64) -> Run {
    let load = |at: usize| shape.load(at as f64 / truth.seconds as f64);
    let slower = |at: usize| if shape == Shape::Flat { 1.0 } else { slowdown(load(at)) };
    let mut run = run_along(truth, seed, |at| (truth.rate * load(at), slower(at)));
    run.facts.plan = Some(shape.plan(truth.seconds));
    run
}

/// A run with one series. Levels are a log-normal autoregression; requests inside a second are log-normal about them and
/// Poisson in number.
pub(super) fn run(truth: &Truth, seed: u64) -> Run {
    run_along(truth, seed, |_| (truth.rate, 1.0))
}

/// The same with a rate and a factor of the durations for each second.
fn run_along(truth: &Truth, seed: u64, course: impl Fn(usize) -> (f64, f64)) -> Run {
    let mut random = Random::new(seed);
    let mut level = random.normal();
    let mut run = Run {
        facts: Facts { name: format!("seed {seed}"), grade: model::Grade::Valid, ..Facts::default() },
        load: Vec::with_capacity(truth.seconds),
        series: vec![Series::new("GET /")],
    };
    for at in 0..truth.seconds {
        let (rate, factor) = course(at);
        level = truth.rho * level + (1.0 - truth.rho * truth.rho).sqrt() * random.normal();
        let count = random.poisson(rate);
        let (mut histogram, mut sum) = (Histogram::default(), 0.0);
        for _ in 0..count {
            let spread = truth.level_spread * level + truth.request_spread * random.normal();
            let value_ms = truth.median_ms * factor * spread.exp();
            histogram.record(value_ms);
            sum += value_ms;
        }
        run.series[0].sheet.push(&histogram, sum, 0);
        run.load.push(LoadSecond { started: count, finished: count, offered: Some(rate) });
    }
    run
}

/// Results of `work` for each number below `count`, in order, computed by a few threads.
pub(super) fn each<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(THREADS_MAX);
    let mut results: Vec<(usize, T)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|first| {
                let work = &work;
                scope.spawn(move || {
                    (first..count).step_by(threads).map(|index| (index, work(index))).collect::<Vec<_>>()
                })
            })
            .collect();
        // A panic of a worker is a bug of the case, and ends it.
        workers.into_iter().flat_map(|worker| worker.join().expect("no worker panics")).collect()
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Twice the standard deviation of a share that was estimated from so many.
pub(super) fn two_sigma(share: f64, count: f64) -> f64 {
    2.0 * (share * (1.0 - share) / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_keeps_its_order() {
        assert_eq!(each(5, |index| index * index), [0, 1, 4, 9, 16]);
    }

    #[test]
    fn a_run_has_its_levels_correlation() {
        let truth = Truth {
            seconds: 4000,
            rate: 50.0,
            median_ms: 100.0,
            rho: 0.87,
            level_spread: 0.2,
            request_spread: 0.1,
        };
        let means = run(&truth, 1).series[0].sheet.means();
        let found = stats::autocorrelation(&means, 1)[1];
        assert!((0.82..0.9).contains(&found), "{found}");
    }
}
