//! `constant-arrival-rate`: iterations start at a fixed rate, whatever the earlier ones do.

use std::time::Duration;

use model::{Arrival, Instant, ScenarioId};
use plan::Stripe;

use crate::{Lane, Next, Schedule, nanos, offset, overdue_beyond};

/// Iteration *i* of the whole test is due `i × time unit ÷ rate` after the start: the first at once.
///
/// The one due exactly at the end belongs to the schedule: 10/s for 1 s starts 11 iterations. In k6 that last start
/// races the end timer and 11 is what it mostly shows; here it is the rule.
#[derive(Clone, Debug)]
pub struct ConstantArrivalRate {
    scenario: ScenarioId,
    rate: u64,
    time_unit_ns: u64,
    stripe: Stripe,
    lane: Lane,
    start: Instant,
    end: Instant,
    taken: u64,
}

impl ConstantArrivalRate {
    /// `pace` is the rate of the whole test and its time unit.
    pub fn new(
        scenario: ScenarioId,
        pace: (u64, Duration),
        duration: Duration,
        stripe: Stripe,
        lane: Lane,
        start: Instant,
    ) -> ConstantArrivalRate {
        let (rate, time_unit) = pace;
        ConstantArrivalRate {
            scenario,
            rate,
            time_unit_ns: nanos(time_unit),
            stripe,
            lane,
            start,
            end: start + duration,
            taken: 0,
        }
    }

    /// Arrival `k` of this lane; none when it would be due after the end.
    fn arrival(&self, k: u64) -> Option<Arrival> {
        if self.rate == 0 {
            return None;
        }
        let iteration = self.lane.iteration(&self.stripe, k)?;
        let offset_ns = u128::from(iteration) * u128::from(self.time_unit_ns) / u128::from(self.rate);
        let due = offset(self.start, offset_ns);
        (due <= self.end).then_some(Arrival { scenario: self.scenario, iteration, due })
    }
}

impl Schedule for ConstantArrivalRate {
    fn next(&mut self, now: Instant) -> Next {
        let next = Next::of_open(self.arrival(self.taken), now, self.end);
        self.taken += u64::from(matches!(next, Next::Arrival(_)));
        next
    }

    fn end(&self) -> Instant {
        self.end
    }

    fn skip_overdue(&mut self, now: Instant, keep: u64) -> u64 {
        let is_overdue = |k| self.arrival(k).is_some_and(|arrival| arrival.due <= now);
        let skipped = overdue_beyond(self.taken, keep, is_overdue);
        self.taken += skipped;
        skipped
    }
}
