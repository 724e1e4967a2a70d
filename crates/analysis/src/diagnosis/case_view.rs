//! The view of a case for detectors: the run at the highest load, the totals of its traces, and shares of response time.

use std::time::Duration;

use model::diagnosis::{EvidenceQuery, ExemplarLink};
use model::{Signal, SignalId, SignalRole};
use stats::normal_quantile;

use super::case::{Case, Level};
use super::paths::{Paths, Shown, Step, StepKey};
use super::stalls::Stalls;
use super::thresholds::case_view::{CONFIDENCE, GROWTH_MIN, RELATIVE_MIN};
use super::{series, stalls};

/// A case with the totals of its traces.
pub(super) struct View<'a> {
    /// The case.
    pub(super) case: &'a Case,
    /// Index of the run at the highest load.
    pub(super) run: usize,
    /// The run at the highest load.
    pub(super) level: &'a Level,
    /// The run at the lowest load, if there are several.
    pub(super) low: Option<&'a Level>,
    /// Totals of the run's traces.
    pub(super) paths: Paths,
    /// Totals of the traces at the lowest load, if it has any.
    pub(super) low_paths: Option<Paths>,
    /// Stalls of the service that stalled longest, if one did.
    pub(super) stalls: Option<Stalls>,
}

impl<'a> View<'a> {
    /// Returns the view of a case, whose last run has the highest load; `None` without a run.
    pub(super) fn new(case: &'a Case) -> Option<View<'a>> {
        let run = case.levels.len().checked_sub(1)?;
        let (level, low) = (&case.levels[run], case.levels.first().filter(|_| run > 0));
        let low_paths = low.map(|low| Paths::new(&low.traces)).filter(|paths| paths.traces > 0);
        let mut view =
            View { case, run, level, low, paths: Paths::new(&level.traces), low_paths, stalls: None };
        view.stalls = stalls::longest(&view);
        Some(view)
    }

    /// Returns the number of requests, or tasks, per trace: the inverse of the sampling rate.
    pub(super) fn weight(&self) -> f64 {
        let sent = self.level.tasks.as_ref().map_or(self.level.requests.count, |tasks| tasks.done);
        (sent as f64 / self.paths.traces.max(1) as f64).max(1.0)
    }

    /// Returns the share of response time outside of all spans: network, or queueing in front of a service.
    pub(super) fn share_outside(&self) -> f64 {
        if self.paths.traces == 0 || self.level.tasks.is_some() { 0.0 } else { 1.0 - self.share_traced() }
    }

    /// Returns the share of the run in which a service stalls, by the kernel's counters or by traces.
    pub(super) fn share_still(&self) -> f64 {
        let throttled = self.sum_of_means(&[SignalId::ContainerThrottledTime]).unwrap_or(0.0);
        let seen = self.stalls.as_ref().map_or(0.0, |stalls| stalls.share);
        throttled.max(seen).clamp(0.0, 1.0)
    }

    /// Returns the share of the run in which waits inside a service are due to the service itself: it stalls, or its CPU quota is
    /// used up in that share of the scheduling periods.
    pub(super) fn share_held(&self) -> f64 {
        let throttled = self.signals(&[SignalId::ContainerThrottled]).into_iter();
        let held = throttled.filter_map(|signal| series::mean(self.level, signal)).fold(0.0, f64::max);
        self.share_still().max(held).min(1.0)
    }

    /// Returns the queueing share of response time.
    pub(super) fn share_of_waits(&self) -> f64 {
        self.share_of_paths(waits_ns(&self.paths))
    }

    /// Returns the signals with these ids, in the order of the evidence.
    pub(super) fn signals(&self, ids: &[SignalId]) -> Vec<&'a Signal> {
        let all = self.level.evidence.signals.iter();
        all.filter(|signal| signal.name.id().is_some_and(|id| ids.contains(&id))).collect()
    }

    /// Returns the share of response time in which processors can have worked on requests; `None` where no CPU use is known.
    pub(super) fn share_computed(&self, mean_s: f64) -> Option<f64> {
        // The CPU of a machine has that of everything on it, so that too little is unaccounted for, never too much.
        let cpus = [
            SignalId::ProcessCpu,
            SignalId::ContainerCpu,
            SignalId::ListenerCpu,
            SignalId::CoreCpu,
            SignalId::NodeCpu,
        ];
        let cores = cpus.into_iter().find_map(|id| self.sum_of_means(&[id]))?;
        Some(cores / self.level.requests_per_s().max(f64::MIN_POSITIVE) / mean_s.max(f64::MIN_POSITIVE))
    }

    /// Returns the largest share of response time that goes with this one. Without spans, the time that processors do not explain may be
    /// queueing for the same, in proportion to its part of what is known (utilisation law).
    pub(super) fn share_with_queueing(&self, share: f64) -> f64 {
        let Some(mean_s) = self.level.requests.mean_s.filter(|_| self.paths.traces == 0 && share > 0.0)
        else {
            return share;
        };
        let computed = self.share_computed(mean_s).unwrap_or(0.0).min(1.0 - share);
        share + (1.0 - share - computed) * share / (share + computed)
    }

    /// Returns the sum of the means of these signals.
    pub(super) fn sum_of_means(&self, ids: &[SignalId]) -> Option<f64> {
        let means = self.signals(ids).into_iter().filter_map(|signal| series::mean(self.level, signal));
        means.reduce(|a, b| a + b)
    }

    /// Returns the highest sum of means among the signals of a role, which are alternatives of each other.
    pub(super) fn highest_of_means(&self, role: SignalRole) -> Option<f64> {
        role.signals().into_iter().filter_map(|id| self.sum_of_means(&[id])).reduce(f64::max)
    }

    /// Returns the query that reproduces a signal.
    pub(super) fn query(&self, signal: &Signal) -> EvidenceQuery {
        EvidenceQuery {
            source: signal.source.clone(),
            signal: signal.name.to_string(),
            text: signal.query.clone(),
            run: self.run,
            from: self.level.from(),
            to: self.level.to(),
            step: signal.step,
            points: series::inside(self.level, signal).len() as u64,
        }
    }

    /// Returns links to example traces.
    pub(super) fn exemplars(&self, slowest: &[Shown]) -> Vec<ExemplarLink> {
        let link = |one: &Shown| ExemplarLink::Trace {
            run: self.run,
            id: one.id,
            duration: Duration::from_nanos(one.length_ns),
        };
        slowest.iter().map(link).collect()
    }

    /// Returns the share of response time that so many waiting requests amount to: their number over those in flight (Little's law
    /// at the same throughput).
    pub(super) fn share_of_waiting(&self, waiting: f64) -> f64 {
        let in_flight = self.level.in_flight();
        if in_flight > 0.0 { (waiting / in_flight).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Returns the share of measured response time for a number of nanoseconds on critical paths.
    pub(super) fn share_of_paths(&self, ns: f64) -> f64 {
        self.paths.share(ns) * self.share_traced()
    }

    /// Returns the share of the measured time that traces cover; the rest is network time or unattributed.
    pub(super) fn share_traced(&self) -> f64 {
        match self.level.requests.mean_s {
            Some(mean_s) if self.level.tasks.is_none() && mean_s > 0.0 => {
                (self.paths.mean_s() / mean_s).clamp(0.0, 1.0)
            }
            _ => 1.0,
        }
    }

    /// Returns the share that an operation explains: of the growth from the lowest load to the highest if latency grew, otherwise of the time.
    pub(super) fn explained_by(&self, key: &StepKey, step: &Step) -> f64 {
        self.growth_of(key, step).unwrap_or_else(|| self.share_of_paths(step.own_ns))
    }

    fn growth_of(&self, key: &StepKey, step: &Step) -> Option<f64> {
        let low = self.low_paths.as_ref()?;
        let (mean_s, low_mean_s) = (self.paths.mean_s(), low.mean_s());
        if mean_s < low_mean_s * GROWTH_MIN {
            return None;
        }
        let per_trace = |step: &Step, paths: &Paths| step.own_ns / paths.traces.max(1) as f64 / 1e9;
        let before_s = low.steps.get(key).map_or(0.0, |step| per_trace(step, low));
        Some(((per_trace(step, &self.paths) - before_s) / (mean_s - low_mean_s)).clamp(0.0, 1.0))
    }

    /// Returns mean response time at the highest load over that at the lowest; `None` with one load only.
    pub(super) fn growth(&self) -> Option<f64> {
        let (high_s, low_s) = (self.level.mean_s()?, self.low?.mean_s()?);
        (low_s > 0.0).then(|| high_s / low_s)
    }

    /// Returns whether latency grows with load; `None` if the runs do not show it.
    pub(super) fn grows(&self) -> Option<bool> {
        self.growth().map(|growth| growth >= GROWTH_MIN)
    }

    /// Returns the interval of a share from the number of traces; without traces, its minimum width.
    pub(super) fn share_interval(&self, share: f64) -> (f64, f64) {
        let of_traces =
            |traces: f64| normal_quantile(0.5 + CONFIDENCE / 2.0) * (share * (1.0 - share) / traces).sqrt();
        let half = if self.paths.traces == 0 { 0.0 } else { of_traces(self.paths.traces as f64) };
        let half = half.max(share * RELATIVE_MIN);
        ((share - half).max(0.0), (share + half).min(1.0))
    }
}

/// Returns the time that critical paths wait for connections and turns, nanoseconds.
pub(super) fn waits_ns(paths: &Paths) -> f64 {
    paths.steps.values().filter(|step| step.role.is_wait()).map(|step| step.own_ns).sum()
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;
    use super::super::testing::{level, request, sampled};
    use super::*;

    #[test]
    fn growth_is_shared_out_among_what_grew() {
        let (mut low, mut high) = (level(10, 10, 0.05), level(10, 100, 0.1));
        low.traces =
            (0..9).map(|at| sampled(at, request("shop", "GET /", 50.0, &[("q", 0.0, 10.0)]))).collect();
        high.traces =
            (0..9).map(|at| sampled(at, request("shop", "GET /", 100.0, &[("q", 0.0, 50.0)]))).collect();
        let case = Case { levels: vec![low, high] };
        let view = View::new(&case).expect("a run");
        let shares: Vec<_> = view
            .paths
            .steps
            .iter()
            .map(|(key, step)| (&*key.operation, view.explained_by(key, step)))
            .collect();
        assert_eq!(shares[0].0, "GET /");
        assert!((shares[0].1 - 0.2).abs() < 1e-9 && (shares[1].1 - 0.8).abs() < 1e-9, "{shares:?}");
        assert_eq!((view.growth(), view.grows()), (Some(2.0), Some(true)));
    }
}
