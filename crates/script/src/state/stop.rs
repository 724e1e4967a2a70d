//! Why a running script must unwind.

use std::cell::Cell;
use std::rc::Rc;

use crate::memory::MemoryAccount;

/// Why the running script must unwind, if it must.
pub(crate) struct Stop {
    reason: Cell<StopReason>,
    /// The VU's memory; a limit that it reaches is a reason.
    pub(crate) memory: Rc<MemoryAccount>,
}

/// Reason for unwinding a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StopReason {
    #[default]
    None,
    Interrupted,
    Aborted,
    /// The script did what k6 crashes at.
    Crashed,
    /// The script holds as much memory as it may.
    Memory,
}

impl Stop {
    pub(crate) fn new(memory: Rc<MemoryAccount>) -> Stop {
        Stop { reason: Cell::default(), memory }
    }

    pub(crate) fn begin(&self) {
        self.memory.begin();
        self.reason.set(StopReason::None);
    }

    pub(crate) fn set(&self, reason: StopReason) {
        self.reason.set(reason);
    }

    pub(crate) fn reason(&self) -> StopReason {
        match self.reason.get() {
            StopReason::None if self.memory.reached().is_some() => StopReason::Memory,
            reason => reason,
        }
    }
}
