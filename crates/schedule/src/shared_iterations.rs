//! `shared-iterations`: VUs take iterations from one pile until it is empty.

use std::time::Duration;

use model::Instant;

use crate::{ConstantVus, Next, Schedule, Stripe};

/// In time it is [`ConstantVus`] until `maxDuration`; the engine deals out the [`crate::Quota::Shared`].
#[derive(Clone, Debug)]
pub struct SharedIterations(ConstantVus);

impl SharedIterations {
    /// `vus` are those of this instance.
    pub fn new(vus: u32, max_duration: Duration, start: Instant) -> SharedIterations {
        SharedIterations(ConstantVus::new(vus, max_duration, start))
    }
}

impl Schedule for SharedIterations {
    fn next(&mut self, now: Instant) -> Next {
        self.0.next(now)
    }

    fn end(&self) -> Instant {
        self.0.end()
    }
}

/// This instance's part of the pile.
///
/// k6 deals iterations in proportion to the VUs an instance got and not to its segment, so that an instance without
/// VUs has no iterations either. Cutting the pile at the cumulated VU counts keeps the sum over all instances exact.
pub(crate) fn local_iterations(vus: u64, iterations: u64, stripe: &Stripe) -> u64 {
    let (before, after) = stripe.scaled_range(vus);
    let cut = |at: u64| {
        if vus == 0 { 0 } else { u128::from(iterations) * u128::from(at) / u128::from(vus) }
    };
    u64::try_from(cut(after) - cut(before)).unwrap_or(u64::MAX)
}
