//! `shared-iterations`: VUs take iterations from one pile until it is empty.

use std::time::Duration;

use model::Instant;

use crate::{ConstantVus, Next, Schedule};

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
