//! Notes of a worker thread beside its samples: load, errors, exemplars.

use model::{ErrorCount, Exemplar, Instant, Load, ScenarioId};

use crate::{Errors, Exemplars, LoadMeter};

/// Beside a thread's samples: its load, its exemplars, its errors.
#[derive(Debug)]
pub struct Notes {
    /// Iterations and requests in flight.
    pub load: LoadMeter,
    /// Requests that stand for others.
    pub exemplars: Exemplars,
    /// Distinct errors so far.
    pub errors: Errors,
    /// Numbers of shared iterations that ended, where another process hands them out.
    pub leased: Vec<(ScenarioId, u64)>,
}

/// One thread's notes of one window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Noted {
    /// Iterations and requests in flight.
    pub load: Vec<Load>,
    /// Requests that stand for others, once for each reason.
    pub exemplars: Vec<Exemplar>,
    /// Distinct errors, with their counts.
    pub errors: Vec<ErrorCount>,
    /// Numbers of shared iterations that ended, where another process hands them out.
    pub leased: Vec<(ScenarioId, u64)>,
}

impl Notes {
    /// For a plan of so many scenarios.
    pub fn new(scenarios: usize) -> Notes {
        Notes {
            load: LoadMeter::new(scenarios),
            exemplars: Exemplars::default(),
            errors: Errors::default(),
            leased: Vec::new(),
        }
    }

    /// Takes the notes since the last call, with the load up to `end`.
    pub fn take(&mut self, end: Instant) -> Noted {
        Noted {
            load: self.load.take(end),
            exemplars: self.exemplars.take(),
            errors: self.errors.take(),
            leased: std::mem::take(&mut self.leased),
        }
    }
}
