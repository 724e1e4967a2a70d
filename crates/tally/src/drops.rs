//! Requests that would have belonged to dropped iterations.
//!
//! An iteration that was due and never started takes its requests with it, and those are the slow ones: leaving them out
//! makes a stalled target look fast. The engine marks each dropped iteration in `iteration_response_time`; for
//! `http_req_response_time`, the requests are missing in proportion: of a scenario in which a share of iterations was
//! dropped, the same share of requests is taken to rank above everything measured.

use model::metric::builtin::{HTTP_REQ_RESPONSE_TIME, ITERATION_RESPONSE_TIME};
use model::{Aggregate, MetricId};

/// An aggregate, with its requests by scenario where drops are to be charged to it.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) aggregate: Aggregate,
    /// Scenario number and how many requests with a response time were its; only of [`HTTP_REQ_RESPONSE_TIME`].
    requests: Vec<(u32, u64)>,
}

/// Dropped and started iterations of a scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DropShare {
    pub(crate) dropped: u64,
    pub(crate) started: u64,
}

impl Cell {
    pub(crate) fn new(aggregate: Aggregate) -> Cell {
        Cell { aggregate, requests: Vec::new() }
    }

    pub(crate) fn absorb(&mut self, metric: MetricId, scenario: Option<u32>, window: &Aggregate) {
        self.aggregate.merge(window);
        if metric != HTTP_REQ_RESPONSE_TIME {
            return;
        }
        let (Some(scenario), Aggregate::Trend(trend)) = (scenario, window) else { return };
        let population = trend.population();
        match self.requests.iter_mut().find(|known| known.0 == scenario) {
            Some(known) => known.1 += population,
            None => self.requests.push((scenario, population)),
        }
    }

    /// The aggregate with the requests of dropped iterations counted in; `None` when there are none.
    pub(crate) fn with_drops(&self, share_of: impl Fn(u32) -> DropShare) -> Option<Aggregate> {
        let missing: u64 =
            self.requests.iter().map(|(scenario, count)| share_of(*scenario).missing(*count)).sum();
        let Aggregate::Trend(trend) = &self.aggregate else { return None };
        if missing == 0 {
            return None;
        }
        let mut trend = trend.clone();
        trend.add_dropped(missing);
        Some(Aggregate::Trend(trend))
    }
}

impl DropShare {
    /// Read from a scenario's [`ITERATION_RESPONSE_TIME`].
    pub(crate) fn from_iterations(iterations: Option<&Aggregate>) -> DropShare {
        let Some(Aggregate::Trend(trend)) = iterations else { return DropShare::default() };
        let dropped = trend.failures.as_ref().map_or(0, |failures| failures.dropped);
        DropShare { dropped, started: trend.population() - dropped }
    }

    pub(crate) const METRIC: MetricId = ITERATION_RESPONSE_TIME;

    /// How many requests are missing beside those that were made.
    fn missing(self, requests: u64) -> u64 {
        if self.started == 0 {
            return 0;
        }
        (requests as f64 * self.dropped as f64 / self.started as f64).round() as u64
    }
}
