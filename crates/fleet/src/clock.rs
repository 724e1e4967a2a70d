//! The offset between an agent's clock and the hub's, from round trips.

use std::collections::VecDeque;
use std::time::Duration;

use model::Instant;

/// Round trips that an estimate is made of. The shortest one has the smallest error.
pub const ROUNDS: usize = 8;

/// Largest drift between two clocks, parts per million: twice what quartz oscillators of servers are specified for.
pub const DRIFT_PPM_MAX: u64 = 200;

/// The offset of the hub's clock, with its largest error.
#[derive(Clone, Debug, Default)]
pub struct ClockOffset {
    rounds: VecDeque<Round>,
    count: u32,
}

#[derive(Clone, Copy, Debug)]
struct Round {
    at: Instant,
    /// The hub's clock minus the agent's.
    offset_ns: i64,
    round_trip: Duration,
}

/// An offset and its largest error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The hub's clock minus the agent's, nanoseconds.
    pub offset_ns: i64,
    /// Largest error, nanoseconds: half of the round trip, and the drift since then.
    pub uncertainty_ns: u64,
}

impl ClockOffset {
    /// Adds a round trip: sent and received by the agent's clock, and answered at `hub` by the hub's.
    pub fn add(&mut self, sent: Instant, hub: Instant, received: Instant) {
        let Some(round_trip_ns) = received.as_ns().checked_sub(sent.as_ns()) else { return };
        let middle_ns = sent.as_ns() + round_trip_ns / 2;
        let offset_ns = hub.as_ns().wrapping_sub(middle_ns) as i64;
        let round = Round { at: received, offset_ns, round_trip: Duration::from_nanos(round_trip_ns) };
        self.rounds.push_back(round);
        if self.rounds.len() > ROUNDS {
            self.rounds.pop_front();
        }
        self.count = self.count.saturating_add(1);
    }

    /// Round trips so far.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether enough round trips were measured.
    pub fn is_ready(&self) -> bool {
        self.rounds.len() >= ROUNDS
    }

    /// The best estimate at `now`; `None` before the first round trip.
    pub fn estimate(&self, now: Instant) -> Option<Estimate> {
        let of = |round: &Round| Estimate {
            offset_ns: round.offset_ns,
            uncertainty_ns: uncertainty_ns(round, now),
        };
        self.rounds.iter().map(of).min_by_key(|estimate| estimate.uncertainty_ns)
    }

    /// An instant of the hub's clock by the agent's.
    pub fn own(&self, now: Instant, hub: Instant) -> Option<Instant> {
        let offset_ns = self.estimate(now)?.offset_ns;
        Some(Instant::from_ns(hub.as_ns().saturating_sub_signed(offset_ns)))
    }
}

fn uncertainty_ns(round: &Round, now: Instant) -> u64 {
    let half = u64::try_from(round.round_trip.as_nanos() / 2).unwrap_or(u64::MAX);
    let age = now.as_ns().saturating_sub(round.at.as_ns());
    // Half a nanosecond of rounding is one.
    half.saturating_add(age / 1_000_000 * DRIFT_PPM_MAX + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn at(ns: u64) -> Instant {
        Instant::from_ns(ns)
    }

    #[test]
    fn the_shortest_round_trip_decides() {
        let mut clock = ClockOffset::default();
        assert_eq!(clock.estimate(at(0)), None);
        // The hub is 500 ms ahead; the way there takes 1 ms, and the way back 1, 9 and 3 ms.
        for back in [1, 9, 3] {
            clock.add(at(100 * MS), at(601 * MS), at((101 + back) * MS));
        }
        let estimate = clock.estimate(at(102 * MS)).expect("measured");
        assert_eq!((estimate.offset_ns, estimate.uncertainty_ns), (500 * MS as i64, MS + 1));
        assert_eq!(clock.own(at(102 * MS), at(700 * MS)), Some(at(200 * MS)));
    }

    #[test]
    fn an_old_estimate_is_less_certain() {
        let mut clock = ClockOffset::default();
        clock.add(at(100 * MS), at(50 * MS), at(102 * MS));
        let of = |seconds: u64| clock.estimate(at((102 + seconds * 1000) * MS)).map(|it| it.uncertainty_ns);
        assert_eq!((of(0), of(10)), (Some(MS + 1), Some(MS + 2 * MS + 1)));
        assert!(clock.estimate(at(0)).is_some_and(|it| it.offset_ns < 0));
    }

    #[test]
    fn answers_before_their_question_are_ignored() {
        let mut clock = ClockOffset::default();
        clock.add(at(2), at(7), at(1));
        assert_eq!((clock.count(), clock.is_ready()), (0, false));
    }
}
