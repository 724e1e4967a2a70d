//! `constant-vus`: a fixed number of VUs loop for a time.

use std::time::Duration;

use model::Instant;

use crate::{Next, Schedule};

/// All VUs from the start, none after the end.
#[derive(Clone, Debug)]
pub struct ConstantVus {
    vus: u32,
    start: Instant,
    end: Instant,
    announced: bool,
}

impl ConstantVus {
    /// `vus` are those of this instance.
    pub fn new(vus: u32, duration: Duration, start: Instant) -> ConstantVus {
        ConstantVus { vus, start, end: start + duration, announced: false }
    }
}

impl Schedule for ConstantVus {
    fn next(&mut self, now: Instant) -> Next {
        if now < self.start {
            return Next::Wait(self.start);
        }
        if !self.announced {
            self.announced = true;
            return Next::Vus { at: self.start, target: self.vus };
        }
        if now < self.end { Next::Wait(self.end) } else { Next::Done { at: self.end } }
    }

    fn end(&self) -> Instant {
        self.end
    }
}
