//! Runs whose truth is known.

use std::num::NonZero;

use analysis::compare::{Facts, LoadSecond, Run, Series};
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

/// A run with one series. Levels are a log-normal autoregression; requests inside a second are log-normal about them and
/// Poisson in number.
pub(super) fn run(truth: &Truth, seed: u64) -> Run {
    let mut random = Random::new(seed);
    let mut level = random.normal();
    let mut run = Run {
        facts: Facts { name: format!("seed {seed}"), grade: model::Grade::Valid, ..Facts::default() },
        load: Vec::with_capacity(truth.seconds),
        series: vec![Series::new("GET /")],
    };
    for _ in 0..truth.seconds {
        level = truth.rho * level + (1.0 - truth.rho * truth.rho).sqrt() * random.normal();
        let count = random.poisson(truth.rate);
        let (mut histogram, mut sum) = (Histogram::default(), 0.0);
        for _ in 0..count {
            let spread = truth.level_spread * level + truth.request_spread * random.normal();
            let value_ms = truth.median_ms * spread.exp();
            histogram.record(value_ms);
            sum += value_ms;
        }
        run.series[0].sheet.push(&histogram, sum, 0);
        run.load.push(LoadSecond { started: count, finished: count, offered: Some(truth.rate) });
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
