//! The record of a simulated run, as the laws read it.

use model::{Instant, RunEvent, ScenarioId};

use super::case::Case;
use crate::AbortReason;

/// Everything that happened, in order of time.
pub(super) struct Trace {
    pub(super) case: Case,
    pub(super) entries: Vec<(Instant, Entry)>,
    /// The threads whose VUs never answered again.
    pub(super) blocked: Vec<usize>,
    /// The outcome's reason.
    pub(super) aborted: Option<AbortReason>,
    pub(super) workers_lost: usize,
}

/// One occurrence.
#[derive(Debug)]
pub(super) enum Entry {
    /// The listener got an event.
    Event(RunEvent),
    /// `setup()` began on a thread.
    Setup,
    /// `setup()` ended on its thread.
    SetupEnd { is_ok: bool },
    /// A paused run got its setup, or the order to run it.
    SetupOrder { is_elsewhere: bool },
    /// `teardown()` began on a thread.
    Teardown,
    /// A thread was asked for its samples up to the end of a window.
    WindowRequest { worker: usize, end: Instant },
    /// The coordinator read a thread's samples.
    WindowAnswer { worker: usize },
    /// An iteration began.
    Iteration { id: u64, worker: usize, scenario: ScenarioId },
    /// An iteration ended.
    IterationEnd { id: u64, is_full: bool },
    /// The run was to stop.
    Stop(AbortReason),
    /// The run was to end at once.
    Kill,
}

impl Trace {
    /// The events with their place in the record.
    pub(super) fn events(&self) -> impl Iterator<Item = (usize, Instant, &RunEvent)> {
        self.entries.iter().enumerate().filter_map(|(index, (at, entry))| match entry {
            Entry::Event(event) => Some((index, *at, event)),
            _ => None,
        })
    }

    /// The places of the entries for which `is_meant` holds.
    pub(super) fn places(&self, is_meant: impl Fn(&Entry) -> bool) -> Vec<usize> {
        let entries = self.entries.iter().enumerate();
        entries.filter(|(_, (_, entry))| is_meant(entry)).map(|(index, _)| index).collect()
    }

    /// The place of the only event for which `is_meant` holds.
    pub(super) fn event(&self, is_meant: impl Fn(&RunEvent) -> bool) -> Option<usize> {
        self.events().find(|(_, _, event)| is_meant(event)).map(|(index, _, _)| index)
    }
}
