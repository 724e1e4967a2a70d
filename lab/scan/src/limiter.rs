//! A rate limit that lets callers wait for their turn, and says how long.
//!
//! The generic cell rate algorithm (ITU-T I.371, annex A) with a wait in the place of a refusal.

use std::time::Duration;

use model::Instant;

/// A rate limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limit {
    /// Calls per second in the long run.
    pub(crate) per_second: f64,
    /// Calls at once after a rest.
    pub(crate) burst: u32,
}

/// The turns that have been given out.
#[derive(Debug, Default)]
pub(crate) struct Limiter {
    /// When the bucket is full again; the theoretical arrival time of the next call.
    full: Option<Instant>,
}

impl Limiter {
    /// Gives the next turn: how long from `now` it is until it comes.
    pub(crate) fn turn(&mut self, now: Instant, limit: Limit) -> Duration {
        let each = Duration::from_secs_f64(1.0 / limit.per_second);
        let full = self.full.unwrap_or(now).max(now);
        self.full = Some(full + each);
        full.since(now).saturating_sub(each * limit.burst.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The waits of calls that come at these times, in milliseconds.
    fn check(limit: Limit, calls_ms: &[u64], waits_ms: &[u64]) {
        let begin = model::SystemClock::now();
        let mut limiter = Limiter::default();
        let waits: Vec<Duration> = calls_ms
            .iter()
            .map(|call_ms| limiter.turn(begin + Duration::from_millis(*call_ms), limit))
            .collect();
        let expect: Vec<Duration> = waits_ms.iter().copied().map(Duration::from_millis).collect();
        assert_eq!(waits, expect, "{limit:?} {calls_ms:?}");
    }

    #[test]
    fn turns_are_as_far_apart_as_the_limit_says() {
        let strict = Limit { per_second: 10.0, burst: 1 };
        check(strict, &[0, 0, 0, 250], &[0, 100, 200, 50]);
        check(strict, &[0, 100, 1000, 1000], &[0, 0, 0, 100]);
        let lenient = Limit { per_second: 10.0, burst: 3 };
        check(lenient, &[0, 0, 0, 0, 0], &[0, 0, 0, 100, 200]);
        check(lenient, &[0, 0, 0, 300, 300, 300, 300], &[0, 0, 0, 0, 0, 0, 100]);
    }
}
