//! The split test: the same load from one process and from two. A target does not know how many processes ask it, so a
//! latency that falls when the load is split was the generator's.

/// A smaller decrease is noise, as a share.
const FALL_MIN: f64 = 0.10;

/// A smaller decrease is below the noise of loopback and timers, milliseconds.
const FALL_MS_MIN: f64 = 0.2;

/// One latency of one round, milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SplitRound {
    /// With the whole load made by one process.
    pub one_ms: f64,
    /// With half of it made by each of two.
    pub two_ms: f64,
}

impl SplitRound {
    fn falls(self) -> bool {
        let fall_ms = self.one_ms - self.two_ms;
        fall_ms > FALL_MS_MIN && fall_ms > FALL_MIN * self.one_ms
    }
}

/// Whether the generator limits what is measured: the latency falls in every round. One round alone shows nothing.
pub fn is_client_limited(rounds: &[SplitRound]) -> bool {
    rounds.len() >= 2 && rounds.iter().all(|round| round.falls())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latency_that_falls_every_time_was_the_generators() {
        let check = |rounds: &[(f64, f64)], expect: bool| {
            let rounds: Vec<SplitRound> = rounds
                .iter()
                .map(|(one_ms, two_ms)| SplitRound { one_ms: *one_ms, two_ms: *two_ms })
                .collect();
            assert_eq!(is_client_limited(&rounds), expect, "{rounds:?}");
        };
        check(&[(10.0, 8.0), (10.0, 8.9)], true);
        check(&[(10.0, 8.0), (10.0, 9.1)], false);
        check(&[(10.0, 8.0), (10.0, 12.0)], false);
        check(&[(1.0, 0.85), (1.0, 0.85)], false);
        check(&[(10.0, 5.0)], false);
        check(&[], false);
    }
}
