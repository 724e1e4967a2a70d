//! What a worker thread notes beside its samples.

use model::{ErrorCount, Exemplar, Instant, Load};

use crate::{Errors, Exemplars, LoadMeter};

/// Beside a thread's samples: its load, its exemplars, its errors.
#[derive(Debug)]
pub struct Notes {
    /// What is under way.
    pub load: LoadMeter,
    /// Requests that stand for others.
    pub exemplars: Exemplars,
    /// What went wrong.
    pub errors: Errors,
}

/// One thread's notes of one window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Noted {
    /// What was under way.
    pub load: Vec<Load>,
    /// Requests that stand for others, once for each reason.
    pub exemplars: Vec<Exemplar>,
    /// What went wrong.
    pub errors: Vec<ErrorCount>,
}

impl Notes {
    /// For a plan of so many scenarios.
    pub fn new(scenarios: usize) -> Notes {
        Notes { load: LoadMeter::new(scenarios), exemplars: Exemplars::default(), errors: Errors::default() }
    }

    /// What was noted since the last call, with the load up to `end`.
    pub fn take(&mut self, end: Instant) -> Noted {
        Noted { load: self.load.take(end), exemplars: self.exemplars.take(), errors: self.errors.take() }
    }
}
