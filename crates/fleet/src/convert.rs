//! Messages from and to the types of the engine and the model.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use engine::{AbortReason, DropCounts, LifecycleError, ProgramError};
use model::{Mark, Metadata, RunProgress};

use crate::message::{Counters, DropRow, Failure, Reason, ScenarioCounters};

/// The kinds of a [`Failure`], by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The script threw.
    Exception = 0,
    /// Its result cannot be passed on.
    Data = 1,
    /// The system refuses something.
    System = 2,
    /// It was cancelled.
    Interrupted = 3,
    /// The script called `test.abort()`.
    Aborted = 4,
    /// It panicked.
    Panicked = 5,
    /// It exceeded its time limit.
    TimedOut = 6,
}

/// The kinds of a [`Reason`], by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReasonKind {
    /// A signal.
    Signal = 0,
    /// `test.abort()`.
    Script = 1,
    /// A threshold.
    Threshold = 2,
    /// A part of the program that cannot go on.
    Listener = 3,
    /// A request through the REST API.
    Remote = 4,
    /// Enough data.
    Enough = 5,
    /// `test.fail()`, which ends nothing.
    MarkedFailed = 6,
}

/// A failure.
pub fn failure(kind: FailureKind, text: String) -> Failure {
    Failure { kind: kind as u32, text, limit_ns: 0 }
}

/// A reason.
pub fn reason(kind: ReasonKind, text: Option<String>) -> Reason {
    Reason { kind: kind as u32, text }
}

/// The failure of code outside of iterations.
pub fn of_program(error: &ProgramError) -> Failure {
    let (kind, text) = match error {
        ProgramError::Exception(text) => (FailureKind::Exception, text.as_str()),
        ProgramError::Data(text) => (FailureKind::Data, text.as_str()),
        ProgramError::System(text) => (FailureKind::System, text.as_str()),
        ProgramError::Interrupted => (FailureKind::Interrupted, ""),
        ProgramError::Aborted => (FailureKind::Aborted, ""),
        ProgramError::Panicked(text) => (FailureKind::Panicked, text.as_str()),
    };
    failure(kind, text.to_owned())
}

/// The failure of `setup()` or `teardown()`.
pub fn of_lifecycle(error: &LifecycleError) -> Failure {
    match error {
        LifecycleError::TimedOut(limit) => Failure {
            kind: FailureKind::TimedOut as u32,
            text: String::new(),
            limit_ns: u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX),
        },
        LifecycleError::Failed(error) => of_program(error),
    }
}

/// The error that a failure describes; an unknown kind is one of the system.
pub fn to_program(failure: Failure) -> ProgramError {
    let Failure { kind, text, .. } = failure;
    match kind {
        0 => ProgramError::Exception(text),
        1 => ProgramError::Data(text),
        3 | 6 => ProgramError::Interrupted,
        4 => ProgramError::Aborted,
        5 => ProgramError::Panicked(text),
        _ => ProgramError::System(text),
    }
}

/// The error of `setup()` or `teardown()` that a failure describes.
pub fn to_lifecycle(failure: Failure) -> LifecycleError {
    if failure.kind == FailureKind::TimedOut as u32 {
        return LifecycleError::TimedOut(Duration::from_nanos(failure.limit_ns));
    }
    LifecycleError::Failed(to_program(failure))
}

/// The reason of an early end.
pub fn of_abort(aborted: &AbortReason) -> Reason {
    match aborted {
        AbortReason::Signal => reason(ReasonKind::Signal, None),
        AbortReason::Script(text) => reason(ReasonKind::Script, text.as_ref().map(|it| it.to_string())),
        AbortReason::Threshold => reason(ReasonKind::Threshold, None),
        AbortReason::Listener(text) => reason(ReasonKind::Listener, Some(text.to_string())),
        AbortReason::Remote => reason(ReasonKind::Remote, None),
        AbortReason::Enough => reason(ReasonKind::Enough, None),
    }
}

/// The early end that a reason describes; an unknown kind is a listener's.
pub fn to_abort(reason: Reason) -> AbortReason {
    let Reason { kind, text } = reason;
    match kind {
        0 => AbortReason::Signal,
        1 => AbortReason::Script(text.map(Into::into)),
        2 => AbortReason::Threshold,
        4 => AbortReason::Remote,
        5 => AbortReason::Enough,
        _ => AbortReason::Listener(text.unwrap_or_else(|| "for an unknown reason".to_owned()).into()),
    }
}

/// Reads the counters of a run.
pub fn of_progress(progress: &RunProgress) -> Counters {
    let scenario = |it: &model::ScenarioProgress| ScenarioCounters {
        started: it.iterations_started.load(Relaxed),
        completed: it.iterations_completed.load(Relaxed),
        vus_active: it.vus_active.load(Relaxed),
    };
    Counters {
        completed: progress.iterations_completed.load(Relaxed),
        interrupted: progress.iterations_interrupted.load(Relaxed),
        failed: progress.iterations_failed.load(Relaxed),
        dropped: progress.iterations_dropped.load(Relaxed),
        vus_active: progress.vus_active.load(Relaxed),
        vus_initialized: progress.vus_initialized.load(Relaxed),
        scenarios: progress.scenarios.iter().map(scenario).collect(),
    }
}

/// Writes the sums of all agents' counters into the counters of the run.
pub(crate) fn add_up<'a>(all: impl Iterator<Item = &'a Counters> + Clone, into: &RunProgress) {
    let store = |to: &AtomicU64, of: fn(&Counters) -> u64| {
        to.store(all.clone().map(of).fold(0, u64::saturating_add), Relaxed);
    };
    store(&into.iterations_completed, |it| it.completed);
    store(&into.iterations_interrupted, |it| it.interrupted);
    store(&into.iterations_failed, |it| it.failed);
    store(&into.iterations_dropped, |it| it.dropped);
    let store = |to: &AtomicU32, of: fn(&Counters) -> u32| {
        to.store(all.clone().map(of).fold(0, u32::saturating_add), Relaxed);
    };
    store(&into.vus_active, |it| it.vus_active);
    store(&into.vus_initialized, |it| it.vus_initialized);
    for (index, scenario) in into.scenarios.iter().enumerate() {
        let rows = all.clone().filter_map(|it| it.scenarios.get(index));
        let sum = |of: fn(&ScenarioCounters) -> u64| rows.clone().map(of).fold(0, u64::saturating_add);
        scenario.iterations_started.store(sum(|it| it.started), Relaxed);
        scenario.iterations_completed.store(sum(|it| it.completed), Relaxed);
        let active = sum(|it| u64::from(it.vus_active));
        scenario.vus_active.store(u32::try_from(active).unwrap_or(u32::MAX), Relaxed);
    }
}

/// A row of dropped iterations.
pub fn of_drops(drops: &DropCounts) -> DropRow {
    DropRow { vus_exhausted: drops.vus_exhausted, vu_starting: drops.vu_starting, time_up: drops.time_up }
}

/// The number of a mark.
pub(crate) fn of_mark(mark: Mark) -> u32 {
    match mark {
        Mark::Measured => 0,
        Mark::TimedOut => 1,
        Mark::Cut => 2,
        Mark::Dropped => 3,
        Mark::Failed => 4,
    }
}

/// The mark with this number; an unknown one is a failure.
pub(crate) fn to_mark(number: u32) -> Mark {
    match number {
        0 => Mark::Measured,
        1 => Mark::TimedOut,
        2 => Mark::Cut,
        3 => Mark::Dropped,
        _ => Mark::Failed,
    }
}

/// Metadata as words.
pub(crate) fn of_metadata(metadata: Option<&Metadata>) -> Vec<String> {
    let pairs = metadata.into_iter().flat_map(|pairs| pairs.iter());
    pairs.flat_map(|(name, value)| [name.to_string(), value.to_string()]).collect()
}

/// Words as metadata; a name without a value is left out.
pub(crate) fn to_metadata(words: &[String]) -> Option<Metadata> {
    let (pairs, _) = words.as_chunks::<2>();
    let pairs: Vec<(Arc<str>, Arc<str>)> =
        pairs.iter().map(|[name, value]| (name.as_str().into(), value.as_str().into())).collect();
    (!pairs.is_empty()).then(|| pairs.into())
}
