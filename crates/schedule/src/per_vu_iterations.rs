//! `per-vu-iterations`: each VU runs a fixed number of iterations.

use std::time::Duration;

use model::Instant;

use crate::{ConstantVus, Next, Schedule};

/// In time it is [`ConstantVus`] until `maxDuration`; each VU stops by itself at its [`crate::Quota::PerVu`].
#[derive(Clone, Debug)]
pub struct PerVuIterations(ConstantVus);

impl PerVuIterations {
    /// `vus` are those of this instance.
    pub fn new(vus: u32, max_duration: Duration, start: Instant) -> PerVuIterations {
        PerVuIterations(ConstantVus::new(vus, max_duration, start))
    }
}

impl Schedule for PerVuIterations {
    fn next(&mut self, now: Instant) -> Next {
        self.0.next(now)
    }

    fn end(&self) -> Instant {
        self.0.end()
    }
}
