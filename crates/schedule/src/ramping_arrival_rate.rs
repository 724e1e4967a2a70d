//! `ramping-arrival-rate`: iterations start at a rate that changes linearly along stages.

use std::time::Duration;

use model::plan::Stage;
use model::{Arrival, Instant, ScenarioId};
use plan::Stripe;

use crate::{Lane, Next, Schedule, nanos, offset, overdue_beyond};

/// The *n*-th iteration (from 1) is due when the area under the rate curve reaches *n*.
///
/// So nothing starts at t = 0, fractions carry over from stage to stage, and a stage of no duration is a jump. An
/// iteration due exactly at the end belongs to the schedule. In which stage an iteration falls is decided in
/// integers; where in the stage, by the closed form of the quadratic, exact to a few nanoseconds.
#[derive(Clone, Debug)]
pub struct RampingArrivalRate {
    scenario: ScenarioId,
    time_unit_ns: u64,
    legs: Vec<Leg>,
    leg: usize,
    stripe: Stripe,
    lane: Lane,
    start: Instant,
    end: Instant,
    taken: u64,
}

/// One stage with a duration. Areas are counted in halves of an iteration × nanosecond ÷ time unit, which makes the
/// area under any stage, `(from + to) × duration`, an integer.
#[derive(Clone, Debug)]
struct Leg {
    start_ns: u128,
    duration_ns: u128,
    from: u64,
    to: u64,
    area_before: u128,
    area_after: u128,
}

impl RampingArrivalRate {
    /// `pace` is the rate of the whole test at the start, and the time unit of all rates.
    pub fn new(
        scenario: ScenarioId,
        pace: (u64, Duration),
        stages: &[Stage],
        stripe: Stripe,
        lane: Lane,
        start: Instant,
    ) -> RampingArrivalRate {
        let (start_rate, time_unit) = pace;
        let legs = legs(start_rate, stages);
        let total_ns = stages.iter().map(|stage| u128::from(nanos(stage.duration))).sum();
        RampingArrivalRate {
            scenario,
            time_unit_ns: nanos(time_unit),
            legs,
            leg: 0,
            stripe,
            lane,
            start,
            end: offset(start, total_ns),
            taken: 0,
        }
    }

    /// Arrival `k` of this lane, and its leg; none when the area under the whole curve is too small for it.
    fn arrival(&self, k: u64) -> Option<(usize, Arrival)> {
        let iteration = self.lane.iteration(&self.stripe, k)?;
        let ordinal = u128::from(iteration) + 1;
        let area = ordinal.saturating_mul(2 * u128::from(self.time_unit_ns));
        let ahead = self.legs.get(self.leg..)?;
        let position = self.leg + ahead.iter().take_while(|leg| leg.area_after < area).count();
        let leg = self.legs.get(position)?;
        let due = offset(self.start, leg.start_ns + leg.reach_ns(area - leg.area_before));
        Some((position, Arrival { scenario: self.scenario, iteration, due }))
    }

    /// The next arrival of this lane.
    fn upcoming(&mut self) -> Option<Arrival> {
        let found = self.arrival(self.taken);
        // No later arrival lies in an earlier leg.
        self.leg = found.map_or(self.legs.len(), |(leg, _)| leg);
        found.map(|(_, arrival)| arrival)
    }
}

impl Schedule for RampingArrivalRate {
    fn next(&mut self, now: Instant) -> Next {
        let next = Next::of_open(self.upcoming(), now, self.end);
        self.taken += u64::from(matches!(next, Next::Arrival(_)));
        next
    }

    fn end(&self) -> Instant {
        self.end
    }

    fn skip_overdue(&mut self, now: Instant, keep: u64) -> u64 {
        let is_overdue = |k| self.arrival(k).is_some_and(|(_, arrival)| arrival.due <= now);
        let skipped = overdue_beyond(self.taken, keep, is_overdue);
        self.taken += skipped;
        skipped
    }
}

fn legs(start_rate: u64, stages: &[Stage]) -> Vec<Leg> {
    let (mut from, mut start_ns, mut area_before) = (start_rate, 0_u128, 0_u128);
    let mut legs = Vec::new();
    for stage in stages {
        let duration_ns = u128::from(nanos(stage.duration));
        let area = (u128::from(from) + u128::from(stage.target)).saturating_mul(duration_ns);
        let area_after = area_before.saturating_add(area);
        legs.push(Leg { start_ns, duration_ns, from, to: stage.target, area_before, area_after });
        (from, area_before) = (stage.target, area_after);
        start_ns += duration_ns;
    }
    legs
}

impl Leg {
    /// When `area` is reached, in nanoseconds from the leg's start: the root of `2·from·t + (to − from)·t² ÷ duration
    /// = area`, written so that nothing cancels.
    fn reach_ns(&self, area: u128) -> u128 {
        if self.from == self.to {
            return area / (2 * u128::from(self.from)).max(1);
        }
        let (from, to) = (self.from as f64, self.to as f64);
        let area = area as f64;
        let discriminant = from * from + (to - from) * (area / self.duration_ns as f64);
        let reached_ns = area / (from + discriminant.max(0.0).sqrt());
        (reached_ns.round() as u128).min(self.duration_ns)
    }
}
