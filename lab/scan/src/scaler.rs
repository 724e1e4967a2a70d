//! When workers are started and ended: KEDA's RabbitMQ trigger and the rules of the autoscaler that it feeds.
//!
//! As Kubernetes describes them ("Horizontal Pod Autoscaling": algorithm details, scaling policies, stabilization window) for
//! metrics of the type `AverageValue`, which is what KEDA makes.

use std::collections::VecDeque;
use std::time::Duration;

use model::Instant;

use crate::seed::scaled_ms;
use crate::stage::Stage;

/// How often queues are looked at.
pub(crate) const POLLING_INTERVAL: Duration = scaled_ms(30_000);

/// Messages per worker that a queue should have, where it counts at all.
const TARGETS: [(Stage, f64); 3] = [(Stage::Vision, 10.0), (Stage::Answer, 10.0), (Stage::Rule, 20.0)];

/// A queue so near to its target changes nothing.
const TOLERANCE: f64 = 0.1;

/// Workers that may be added within the period.
const UP_PODS: usize = 2;
const UP_PERIOD: Duration = scaled_ms(30_000);

/// The share of the workers, in percent, that may be taken away within the period.
const DOWN_PERCENT: usize = 50;
const DOWN_PERIOD: Duration = scaled_ms(60_000);

/// Workers are taken away only if fewer would have done for so long.
const DOWN_WINDOW: Duration = scaled_ms(300_000);

/// Messages that each queue holds, those under way among them, by [`Stage::index`].
pub(crate) type Depths = [usize; 4];

/// The decisions so far.
#[derive(Debug)]
pub(crate) struct Scaler {
    replicas: usize,
    min: usize,
    /// The desired replicas within the window, with their times.
    wanted: VecDeque<(Instant, usize)>,
    /// How many workers there were before each change, within the longest period.
    changes: VecDeque<(Instant, usize)>,
}

impl Scaler {
    /// With so many workers, and never fewer.
    pub(crate) fn new(min: usize) -> Scaler {
        Scaler { replicas: min, min, wanted: VecDeque::new(), changes: VecDeque::new() }
    }

    /// How many workers these queues ask for, whatever is allowed.
    pub(crate) fn wanted(&self, depths: &Depths) -> usize {
        let of_queue = |(stage, target): &(Stage, f64)| {
            let depth = depths[stage.index()] as f64;
            let ratio = depth / (target * self.replicas.max(1) as f64);
            if (ratio - 1.0).abs() <= TOLERANCE { self.replicas } else { (depth / target).ceil() as usize }
        };
        TARGETS.iter().map(of_queue).max().unwrap_or_default().max(self.min)
    }

    /// How many workers there are to be from now on.
    pub(crate) fn step(&mut self, now: Instant, depths: &Depths, max: usize) -> usize {
        let wanted = self.wanted(depths).min(max);
        forget(&mut self.wanted, now, DOWN_WINDOW);
        forget(&mut self.changes, now, DOWN_PERIOD);
        self.wanted.push_back((now, wanted));
        let steady = self.wanted.iter().map(|(_, wanted)| *wanted).max().unwrap_or(wanted);
        let next = if wanted > self.replicas {
            wanted.min(self.before(now, UP_PERIOD) + UP_PODS)
        } else if steady < self.replicas {
            steady.max(self.before(now, DOWN_PERIOD) * (100 - DOWN_PERCENT) / 100)
        } else {
            self.replicas
        };
        // Limits hold at once, also those that have just been lowered.
        let next = next.clamp(self.min.min(max), max);
        if next != self.replicas {
            self.changes.push_back((now, self.replicas));
        }
        self.replicas = next;
        next
    }

    /// How many workers there were a period ago.
    fn before(&self, now: Instant, period: Duration) -> usize {
        let within = self.changes.iter().find(|(at, _)| now.since(*at) < period);
        within.map_or(self.replicas, |(_, before)| *before)
    }
}

fn forget(times: &mut VecDeque<(Instant, usize)>, now: Instant, after: Duration) {
    while times.front().is_some_and(|(at, _)| now.since(*at) >= after) {
        times.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::REPLICAS_MAX;

    /// The decisions at each poll: depths of vision and answer, and the limit, against the number of workers.
    fn check(min: usize, polls: &[(usize, usize, usize)], expect: &[usize]) {
        let begin = model::SystemClock::now();
        let mut scaler = Scaler::new(min);
        let decided: Vec<usize> = polls
            .iter()
            .zip(0..)
            .map(|((vision, answer, max), poll)| {
                scaler.step(begin + POLLING_INTERVAL * poll, &[*vision, 0, *answer, 0], *max)
            })
            .collect();
        assert_eq!(decided, expect, "{polls:?}");
    }

    #[test]
    fn workers_follow_the_longest_queue() {
        check(1, &[(0, 0, 3), (10, 0, 3), (12, 0, 3), (0, 25, 3)], &[1, 1, 2, 3]);
        // Two more within a period, and never more than allowed.
        check(1, &[(400, 0, 9), (400, 0, 9), (400, 0, 9)], &[3, 5, 7]);
        check(1, &[(400, 0, 3), (400, 0, 3)], &[3, 3]);
        check(3, &[(0, 0, 3), (400, 0, 3)], &[3, 3]);
        // A ceiling that is lowered holds at once.
        check(1, &[(400, 0, 3), (400, 0, 1), (400, 0, 3)], &[3, 1, 3]);
    }

    #[test]
    fn workers_stay_for_as_long_as_they_might_be_needed_again() {
        let mut polls = vec![(400, 0, REPLICAS_MAX)];
        polls.resize(13, (0, 0, REPLICAS_MAX));
        // Ten polls are the window; then at most half of them within two polls.
        check(1, &polls, &[3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 1, 1, 1]);
    }

    #[test]
    fn what_is_wanted_knows_no_limit() {
        let scaler = Scaler::new(2);
        assert_eq!(scaler.wanted(&[240, 0, 0, 0]), 24);
        assert_eq!(scaler.wanted(&[0, 60, 0, 999]), 3);
        assert_eq!(scaler.wanted(&[21, 0, 0, 0]), 2, "within the tolerance");
        assert_eq!(scaler.wanted(&[23, 0, 0, 0]), 3);
    }
}
