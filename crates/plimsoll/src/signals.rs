//! SIGINT and SIGTERM: the first ends the run in order, the second at once; one that lingers is let go.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use engine::{AbortReason, RunControl};
use model::LogLevel;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::Exit;
use crate::logger::Logger;

/// Whether there is a run that could be ended in order.
#[derive(Clone, Default)]
pub(crate) struct Running(Arc<(Mutex<Phase>, Condvar)>);

/// What a signal finds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Nothing that could be ended in order.
    #[default]
    Idle,
    /// A run.
    Running,
    /// A run that is over and stays to be asked about.
    Lingering,
}

impl Running {
    /// The run begins or ends.
    pub(crate) fn set(&self, is_running: bool) {
        *self.phase() = if is_running { Phase::Running } else { Phase::Idle };
    }

    /// Stays until a signal, or [`Running::release`].
    pub(crate) fn linger(&self) {
        let mut phase = self.phase();
        *phase = Phase::Lingering;
        while *phase == Phase::Lingering {
            phase = self.0.1.wait(phase).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets a run go that lingers; whether one did.
    pub(crate) fn release(&self) -> bool {
        let mut phase = self.phase();
        if *phase != Phase::Lingering {
            return false;
        }
        *phase = Phase::Idle;
        self.0.1.notify_all();
        true
    }

    fn phase(&self) -> MutexGuard<'_, Phase> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts listening. Without a thread or handler for it signals end the process as they always do.
pub(crate) fn listen(control: RunControl, running: Running, logger: Arc<Logger>) {
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
    let handle = move || {
        for signal in &mut signals {
            if running.release() {
                continue;
            }
            let name = if signal == SIGINT { "SIGINT" } else { "SIGTERM" };
            if control.is_stopped() || *running.phase() == Phase::Idle {
                logger.say(LogLevel::Error, format!("received {name}, leaving at once"));
                std::process::exit(Exit::Signal.code().into());
            }
            let text = format!("received {name}, stopping the test; once more leaves at once");
            logger.say(LogLevel::Warn, text);
            control.stop(AbortReason::Signal);
        }
    };
    // The handler lives as long as the process: there is nothing to join.
    let _ = std::thread::Builder::new().name("signals".into()).spawn(handle);
}
