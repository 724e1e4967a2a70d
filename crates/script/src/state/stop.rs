//! Why a running script must unwind.

use std::cell::Cell;

/// Why the running script must unwind, if it must.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    reason: Cell<StopReason>,
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
    }

    pub(crate) fn set(&self, reason: StopReason) {
        self.reason.set(reason);
    }

    pub(crate) fn reason(&self) -> StopReason {
        self.reason.get()
    }
}
