//! The figures of the post that this system follows, and how they are shortened.
//!
//! There, workers had a hundred tasks under way at once and completed seven scans a second, whatever the number of users: as
//! many as eighty tasks that never wait for a processor. Here they have those eighty, twenty in each of four workers, so that
//! what the system bears follows from sleeping alone and is the same on every machine.

use std::time::Duration;

use crate::stage::Stage;

/// So many times faster than there does everything happen here.
pub(crate) const TIME_SCALE: u32 = 10;

/// Tasks that a worker has under way at once.
pub(crate) const SLOTS: usize = 20;

/// Messages of one queue that a worker takes before it has acknowledged any: those under way, and as many in store.
pub(crate) const PREFETCH: u16 = 40;

/// Workers that the autoscaler may start; the canary is not among them.
pub(crate) const REPLICAS_MAX: usize = 3;

/// Calls per second that the model takes in all, here; there it is 40.
pub(crate) const LLM_CALLS_PER_SECOND: f64 = 400.0;

/// Of a hundred scans, so many are rewarded.
pub(crate) const REWARDED_PERCENT: u8 = 25;

/// A time of there, in milliseconds, as it is here.
pub(crate) const fn scaled_ms(there_ms: u64) -> Duration {
    Duration::from_micros(there_ms * 1000 / TIME_SCALE as u64)
}

/// How long a step takes: the least, the mean and the most, in milliseconds of there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    least_ms: f64,
    mean_ms: f64,
    most_ms: f64,
}

impl Times {
    /// Those of a step.
    pub(crate) fn for_stage(stage: Stage) -> Times {
        let (least_ms, mean_ms, most_ms) = match stage {
            Stage::Vision => (4460.0, 4500.0, 6210.0),
            Stage::Rule => (38.0, 42.0, 180.0),
            Stage::Answer => (4850.0, 6700.0, 8920.0),
            Stage::Reward => (30.0, 45.0, 55.0),
        };
        Times { least_ms, mean_ms, most_ms }
    }

    /// The time of one task, for a number drawn evenly from 0 to 1. A power of it has the mean that is asked for and stays
    /// between the ends.
    pub(crate) fn draw(self, even: f64) -> Duration {
        let power = (self.most_ms - self.least_ms) / (self.mean_ms - self.least_ms) - 1.0;
        let there_ms = self.least_ms + (self.most_ms - self.least_ms) * even.powf(power);
        Duration::from_secs_f64(there_ms / 1e3 / f64::from(TIME_SCALE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_their_ends_and_their_mean() {
        for stage in Stage::ALL {
            let times = Times::for_stage(stage);
            let here_s = |there_ms: f64| there_ms / 1e3 / f64::from(TIME_SCALE);
            let draws = 10_000;
            let drawn_s: Vec<f64> = (0..draws)
                .map(|draw| times.draw((f64::from(draw) + 0.5) / f64::from(draws)).as_secs_f64())
                .collect();
            let mean_s = drawn_s.iter().sum::<f64>() / f64::from(draws);
            assert!((mean_s / here_s(times.mean_ms) - 1.0).abs() < 0.01, "{stage:?}: {mean_s} s");
            let (least_s, most_s) = (times.draw(0.0).as_secs_f64(), times.draw(1.0).as_secs_f64());
            assert!((least_s - here_s(times.least_ms)).abs() < 1e-6, "{stage:?}");
            assert!((most_s - here_s(times.most_ms)).abs() < 1e-6, "{stage:?}");
        }
    }

    #[test]
    fn all_workers_together_complete_as_many_scans_as_there() {
        let mean_s: f64 = Stage::ALL.iter().map(|stage| Times::for_stage(*stage).mean_ms / 1e3).sum();
        let per_minute = 60.0 * (SLOTS * (REPLICAS_MAX + 1)) as f64 / mean_s;
        // There: 367 to 438, from 200 users up.
        assert!((400.0..450.0).contains(&per_minute), "{per_minute}");
    }
}
