//! Why a running script must unwind.

use std::cell::Cell;

use model::Instant;

/// Why the running script must unwind, if it must.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    reason: Cell<StopReason>,
    pub(crate) slice_started: Cell<Option<Instant>>,
}

/// Reason for unwinding a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StopReason {
    #[default]
    None,
    Interrupted,
    Aborted,
}

impl Stop {
    pub(crate) fn begin(&self) {
        self.reason.set(StopReason::None);
        self.slice_started.set(None);
    }

    pub(crate) fn set(&self, reason: StopReason) {
        self.reason.set(reason);
    }

    pub(crate) fn reason(&self) -> StopReason {
        self.reason.get()
    }
}
