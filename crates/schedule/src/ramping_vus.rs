//! `ramping-vus`: VUs loop, and their number changes one by one along stages.

use std::iter::Peekable;

use model::Instant;
use model::plan::Stage;
use plan::Stripe;

use crate::{Next, Schedule, count, nanos, offset};

/// Within a stage from *a* to *b* VUs, the *i*-th change comes at `i ÷ |b − a|` of its duration, so that the target is
/// reached exactly at its end. A stage of no duration is a jump. Changes at one instant are reported as one.
///
/// Numbers beyond [`plan::VUS_MAX`] count as that. What happens to the VUs beyond a lowered target (`gracefulRampDown`) is the engine's business.
#[derive(Clone, Debug)]
pub struct RampingVus {
    changes: Peekable<Changes>,
    pending: Option<(Instant, u32)>,
    announced: u32,
    end: Instant,
}

impl RampingVus {
    /// `start_vus` and the targets of `stages` are those of the whole test.
    pub fn new(start_vus: u64, stages: &[Stage], stripe: Stripe, start: Instant) -> RampingVus {
        let total_ns = stages.iter().map(|stage| u128::from(nanos(stage.duration))).sum();
        let changes = Changes {
            stages: stages
                .iter()
                .map(|stage| Stage { target: stage.target.min(plan::VUS_MAX), ..*stage })
                .collect(),
            stripe,
            start,
            first: Some(start_vus.min(plan::VUS_MAX)),
            stage: 0,
            stage_start_ns: 0,
            stage_from: start_vus.min(plan::VUS_MAX),
            passed: 0,
        };
        RampingVus { changes: changes.peekable(), pending: None, announced: 0, end: offset(start, total_ns) }
    }

    /// The next change that is one for this instance.
    fn upcoming(&mut self) -> Option<(Instant, u32)> {
        while self.pending.is_none() {
            let (at, mut target) = self.changes.next()?;
            while let Some((_, later)) = self.changes.next_if(|change| change.0 == at) {
                target = later;
            }
            if target != self.announced {
                self.announced = target;
                self.pending = Some((at, target));
            }
        }
        self.pending
    }
}

impl Schedule for RampingVus {
    fn next(&mut self, now: Instant) -> Next {
        match self.upcoming() {
            Some((at, target)) if at <= now => {
                self.pending = None;
                Next::Vus { at, target }
            }
            Some((at, _)) => Next::Wait(at),
            None if now < self.end => Next::Wait(self.end),
            None => Next::Done { at: self.end },
        }
    }

    fn end(&self) -> Instant {
        self.end
    }
}

/// Every change of the whole test's number of VUs, as this instance's number: it may repeat.
#[derive(Clone, Debug)]
struct Changes {
    stages: Vec<Stage>,
    stripe: Stripe,
    start: Instant,
    first: Option<u64>,
    stage: usize,
    stage_start_ns: u128,
    stage_from: u64,
    /// Changes of the current stage that were reported already.
    passed: u64,
}

impl Iterator for Changes {
    type Item = (Instant, u32);

    fn next(&mut self) -> Option<(Instant, u32)> {
        if let Some(vus) = self.first.take() {
            return Some((self.start, count(self.stripe.scale(vus))));
        }
        loop {
            let stage = *self.stages.get(self.stage)?;
            let distance = stage.target.abs_diff(self.stage_from);
            let duration_ns = u128::from(nanos(stage.duration));
            if self.passed == distance {
                self.stage += 1;
                self.stage_start_ns += duration_ns;
                self.stage_from = stage.target;
                self.passed = 0;
                continue;
            }
            // A jump needs no steps in between, and its distance may be anything.
            self.passed = if duration_ns == 0 { distance } else { self.passed + 1 };
            let vus = if stage.target > self.stage_from {
                self.stage_from + self.passed
            } else {
                self.stage_from - self.passed
            };
            let within_ns = duration_ns * u128::from(self.passed) / u128::from(distance);
            let at = offset(self.start, self.stage_start_ns + within_ns);
            return Some((at, count(self.stripe.scale(vus))));
        }
    }
}
