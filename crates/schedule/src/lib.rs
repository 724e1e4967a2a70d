//! When iterations start and how many VUs loop: one file per executor, each a value that is asked for its next step.
//!
//! A schedule takes the time as an argument and knows no threads, VUs or I/O. Worker threads share nothing: each asks
//! its own copy, made for its [`Lane`]. Arrivals are dealt to the lanes in turn; the number of looping VUs goes to
//! every lane, since which VUs live where is the engine's business.
//!
//! All numbers of a plan are those of the whole test; a [`Segment`] gives this instance its exact part of them.

mod constant_arrival_rate;
mod constant_vus;
mod per_vu_iterations;
mod ramping_arrival_rate;
mod ramping_vus;
mod shared_iterations;

use std::time::Duration;

use model::plan::{Executor, Scenario, Segment};
use model::{Arrival, Instant, ScenarioId};
use plan::Stripe;

pub use constant_arrival_rate::ConstantArrivalRate;
pub use constant_vus::ConstantVus;
pub use per_vu_iterations::PerVuIterations;
pub use ramping_arrival_rate::RampingArrivalRate;
pub use ramping_vus::RampingVus;
pub use shared_iterations::SharedIterations;

/// One of several threads that share the arrivals of a scenario: it gets those with number ≡ `index` (mod `of`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Which one, from 0.
    pub index: u32,
    /// How many there are; at least 1.
    pub of: u32,
}

impl Lane {
    /// The only lane.
    pub const ONLY: Lane = Lane { index: 0, of: 1 };

    /// The index in the whole test of this lane's `k`-th arrival; none where the instance gets no arrivals.
    fn iteration(self, stripe: &Stripe, k: u64) -> Option<u64> {
        let local = k.checked_mul(u64::from(self.of.max(1)))?.checked_add(u64::from(self.index))?;
        Some(stripe.global_index(local)).filter(|&global| global != u64::MAX)
    }
}

/// The next action of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This iteration is due, perhaps overdue: start it or drop it, then ask again.
    Arrival(Arrival),
    /// From `at` on, so many VUs of this instance loop: those with the numbers 0 to `target` − 1.
    Vus {
        /// Since when.
        at: Instant,
        /// How many.
        target: u32,
    },
    /// Nothing before this instant.
    Wait(Instant),
    /// Nothing more: no iteration starts after `at`.
    Done {
        /// The regular end, without any grace.
        at: Instant,
    },
}

impl Next {
    /// Returns the next action at `now` of an open schedule that ends at `end`: its upcoming arrival once that is due, and after the
    /// last one its end.
    fn of_open(upcoming: Option<Arrival>, now: Instant, end: Instant) -> Next {
        match upcoming {
            Some(arrival) if arrival.due <= now => Next::Arrival(arrival),
            Some(arrival) => Next::Wait(arrival.due),
            None if now < end => Next::Wait(end),
            None => Next::Done { at: end },
        }
    }
}

/// A schedule: a value that answers one question.
pub trait Schedule {
    /// Returns the action at `now`. Answers other than [`Next::Wait`] and [`Next::Done`] are given once. `now` never goes back.
    fn next(&mut self, now: Instant) -> Next;

    /// The regular end: when the last iteration may start. An arrival due exactly then still belongs to the schedule.
    fn end(&self) -> Instant;

    /// Skips the oldest arrivals due at `now` or before, except the last `keep`, and returns how many it skipped. It takes the
    /// same time for any number.
    fn skip_overdue(&mut self, _now: Instant, _keep: u64) -> u64 {
        0
    }
}

/// How many arrivals to skip, from number `taken` on, so that `keep` overdue ones are left. `is_overdue` holds for the first
/// arrivals and no later ones.
fn overdue_beyond(taken: u64, keep: u64, is_overdue: impl Fn(u64) -> bool) -> u64 {
    let is_beyond = |skipped: u64| {
        let last = taken.checked_add(skipped).and_then(|from| from.checked_add(keep));
        last.is_some_and(&is_overdue)
    };
    if !is_beyond(0) {
        return 0;
    }
    // The arrival after the `keep` that stay is overdue with `low` skipped, and not with `high`.
    let (mut low, mut high) = (0_u64, 1_u64);
    while is_beyond(high) {
        (low, high) = (high, high.saturating_mul(2));
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if is_beyond(middle) { low = middle } else { high = middle }
    }
    high
}

/// How many iterations a closed scenario may start in this instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quota {
    /// As many as the time allows.
    Unlimited,
    /// So many for each VU.
    PerVu(u64),
    /// So many for all VUs together.
    Shared(u64),
}

/// The schedule of one lane of a scenario that starts at `start`, for the part of the test that `segment` is.
pub fn schedule(
    id: ScenarioId,
    scenario: &Scenario,
    segment: &Segment,
    lane: Lane,
    start: Instant,
) -> Box<dyn Schedule> {
    let (stripe, iterations) = (Stripe::new(segment), iteration_stripe(&scenario.executor, segment));
    match &scenario.executor {
        Executor::SharedIterations { vus, max_duration, .. } => {
            Box::new(SharedIterations::new(count(stripe.scale(*vus)), *max_duration, start))
        }
        Executor::PerVuIterations { vus, max_duration, .. } => {
            Box::new(PerVuIterations::new(count(stripe.scale(*vus)), *max_duration, start))
        }
        Executor::ConstantVus { vus, duration } => {
            Box::new(ConstantVus::new(count(stripe.scale(*vus)), *duration, start))
        }
        Executor::ExternallyControlled { vus, duration, .. } => {
            // Later changes do not come from the plan: the engine orders them.
            Box::new(ConstantVus::new(count(stripe.scale(*vus)), *duration, start))
        }
        Executor::RampingVus { start_vus, stages, .. } => {
            Box::new(RampingVus::new(*start_vus, stages, stripe, start))
        }
        Executor::ConstantArrivalRate { rate, time_unit, duration, .. } => {
            let pace = (*rate, *time_unit);
            Box::new(ConstantArrivalRate::new(id, pace, *duration, iterations, lane, start))
        }
        Executor::RampingArrivalRate { start_rate, time_unit, stages, .. } => {
            let pace = (*start_rate, *time_unit);
            Box::new(RampingArrivalRate::new(id, pace, stages, iterations, lane, start))
        }
    }
}

/// Which iterations of the whole test are this instance's.
///
/// As in k6, iterations for which any VU will do (shared ones and arrivals) follow the VUs and not the segment, so
/// that an instance without VUs has no iterations either.
pub fn iteration_stripe(executor: &Executor, segment: &Segment) -> Stripe {
    match executor {
        Executor::SharedIterations { vus, .. }
        | Executor::ConstantArrivalRate { max_vus: vus, .. }
        | Executor::RampingArrivalRate { max_vus: vus, .. } => {
            Stripe::over_vus(segment, (*vus).clamp(1, plan::VUS_MAX))
        }
        _ => Stripe::new(segment),
    }
}

/// How many iterations each part of a closed scenario may start; open ones have no quota of their own.
pub fn quota(executor: &Executor, segment: &Segment) -> Quota {
    match executor {
        Executor::SharedIterations { iterations, .. } => {
            Quota::Shared(iteration_stripe(executor, segment).local_count(*iterations))
        }
        Executor::PerVuIterations { iterations, .. } => Quota::PerVu(*iterations),
        _ => Quota::Unlimited,
    }
}

/// The regular length of a scenario, from its own start, without any grace.
pub fn duration(executor: &Executor) -> Duration {
    match executor {
        Executor::SharedIterations { max_duration, .. } | Executor::PerVuIterations { max_duration, .. } => {
            *max_duration
        }
        Executor::ConstantVus { duration, .. }
        | Executor::ConstantArrivalRate { duration, .. }
        | Executor::ExternallyControlled { duration, .. } => *duration,
        Executor::RampingVus { stages, .. } | Executor::RampingArrivalRate { stages, .. } => {
            stages.iter().fold(Duration::ZERO, |sum, stage| sum.saturating_add(stage.duration))
        }
    }
}

/// VUs this instance makes ready for the scenario, and how many it may add while it runs.
pub fn vus(executor: &Executor, segment: &Segment) -> (u32, u32) {
    let stripe = Stripe::new(segment);
    match executor {
        Executor::SharedIterations { vus, .. }
        | Executor::PerVuIterations { vus, .. }
        | Executor::ConstantVus { vus, .. } => (count(stripe.scale(*vus)), 0),
        Executor::ExternallyControlled { max_vus, .. } => (count(stripe.scale(*max_vus)), 0),
        Executor::RampingVus { start_vus, stages, .. } => {
            let most = stages.iter().map(|stage| stage.target).fold(*start_vus, u64::max);
            (count(stripe.scale(most)), 0)
        }
        Executor::ConstantArrivalRate { pre_allocated_vus, max_vus, .. }
        | Executor::RampingArrivalRate { pre_allocated_vus, max_vus, .. } => {
            let ready = count(stripe.scale(*pre_allocated_vus));
            (ready, count(stripe.scale(*max_vus)).saturating_sub(ready))
        }
    }
}

/// A number of VUs; more than `u32` holds cannot exist in one process.
fn count(vus: u64) -> u32 {
    u32::try_from(vus).unwrap_or(u32::MAX)
}

/// The whole nanoseconds of a duration; 584 years at most.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The instant `offset_ns` after `start`, for offsets that may exceed what a clock can show.
fn offset(start: Instant, offset_ns: u128) -> Instant {
    start + Duration::from_nanos(u64::try_from(offset_ns).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
