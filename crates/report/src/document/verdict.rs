//! The verdict of a run, in one word and its reason.

use model::Grade;
use model::capacity::LoadUnit;

use super::{RunReport, RunState};

/// The verdict of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every threshold held in a whole run that can be trusted.
    Pass,
    /// A threshold was crossed, or the run failed in another way.
    Fail,
    /// The run is inconclusive; [`Why`] holds the reason.
    Inconclusive,
}

/// The reason for the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// All of this many thresholds held.
    AllHeld(usize),
    /// So many of so many thresholds were crossed.
    Crossed(usize, usize),
    /// Something else made the run fail; its exit code.
    Exit(u8),
    /// So many of so many thresholds had nothing to judge.
    Unmeasured(usize, usize),
    /// All of this many thresholds held, and the measurement is invalid.
    Invalid(usize),
    /// The script has no thresholds.
    NoThresholds,
    /// The numbers are of a part of the run.
    PartOnly,
    /// The run has no ending.
    Partial,
    /// The run is still going.
    Live,
}

impl Verdict {
    /// The word for machines: `pass`, `fail`, `inconclusive`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::Inconclusive => "inconclusive",
        }
    }
}

impl RunReport {
    /// The load of a step of a study without thresholds of its own, and its unit: the study's SLOs judge it, not the run's verdict.
    pub fn step_of_study(&self) -> Option<(f64, LoadUnit)> {
        self.identity.step.filter(|_| self.verdict().1 == Why::NoThresholds)
    }

    /// The verdict and what it rests on. A run that is not whole, that cannot be trusted, or that nothing was asked of, passes nothing.
    pub fn verdict(&self) -> (Verdict, Why) {
        let judged = self.judged();
        let total = judged.len();
        let crossed = judged.iter().filter(|one| !one.threshold.ok).count();
        let unmeasured = judged.iter().filter(|one| one.threshold.ok && one.is_unmeasured()).count();
        let exit_code = self.outcome.as_ref().map_or(0, |outcome| outcome.exit_code);
        match self.state {
            RunState::Live => return (Verdict::Inconclusive, Why::Live),
            RunState::Partial => return (Verdict::Inconclusive, Why::Partial),
            RunState::Complete => {}
        }
        if self.window.is_some() {
            return (Verdict::Inconclusive, Why::PartOnly);
        }
        if crossed > 0 {
            return (Verdict::Fail, Why::Crossed(crossed, total));
        }
        if exit_code != 0 {
            return (Verdict::Fail, Why::Exit(exit_code));
        }
        let is_invalid =
            self.summary.validity.as_ref().is_some_and(|validity| validity.grade == Grade::Invalid);
        match (total, unmeasured) {
            (0, _) => (Verdict::Inconclusive, Why::NoThresholds),
            (_, 0) if is_invalid => (Verdict::Inconclusive, Why::Invalid(total)),
            (_, 0) => (Verdict::Pass, Why::AllHeld(total)),
            _ => (Verdict::Inconclusive, Why::Unmeasured(unmeasured, total)),
        }
    }
}
