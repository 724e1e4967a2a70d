//! SIGINT and SIGTERM: the first ends the run in order, the second at once; one that lingers is let go. Of runs that are
//! made one after the other the first signal ends the present one, and keeps the next from beginning.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use engine::{AbortReason, RunControl};
use model::LogLevel;
use runs::Exit;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::logger::Logger;

/// Whether there is a run that could be ended in order.
#[derive(Clone, Default)]
pub struct Running(Arc<(Mutex<Phase>, Condvar)>);

/// What a signal finds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Nothing that could be ended in order.
    #[default]
    Idle,
    /// A run.
    Running,
    /// What a run measured is being written.
    Finishing,
    /// The same, and nobody waits for more than that.
    Leaving,
    /// A run that is over and stays to be asked about.
    Lingering,
}

impl Running {
    /// The run begins or ends.
    pub fn set(&self, is_running: bool) {
        *self.phase() = if is_running { Phase::Running } else { Phase::Finishing };
    }

    /// Stays until a signal, or [`Running::release`]; not at all after a signal that came since the run ended.
    pub fn linger(&self) {
        let mut phase = self.phase();
        if *phase == Phase::Leaving {
            return;
        }
        *phase = Phase::Lingering;
        while *phase == Phase::Lingering {
            phase = self.0.1.wait(phase).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets a run go that lingers; whether one did.
    pub fn release(&self) -> bool {
        let mut phase = self.phase();
        if *phase != Phase::Lingering {
            return false;
        }
        *phase = Phase::Idle;
        self.0.1.notify_all();
        true
    }

    /// Whether a signal came since the run ended.
    pub fn is_left(&self) -> bool {
        *self.phase() == Phase::Leaving
    }

    /// Has nothing follow what is being written; whether it is.
    fn leave_then(&self) -> bool {
        let mut phase = self.phase();
        let is_finishing = *phase == Phase::Finishing;
        if is_finishing {
            *phase = Phase::Leaving;
        }
        is_finishing
    }

    fn phase(&self) -> MutexGuard<'_, Phase> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The handle of the run that signals end, where runs follow each other: a handle serves one run.
#[derive(Clone, Default)]
pub struct Turn(Arc<Mutex<TurnState>>);

#[derive(Default)]
struct TurnState {
    control: RunControl,
    /// Runs are over already, and what they measured would be lost if the process were left at once.
    has_results: bool,
    /// A signal came while results were written: no further run is wanted.
    is_last: bool,
}

impl Turn {
    /// The handle of the first run.
    pub fn first(&self) -> RunControl {
        self.state().control.clone()
    }

    /// The handle of the next run. A signal that comes before it begins stops it, too.
    pub fn next(&self) -> RunControl {
        let mut state = self.state();
        *state = TurnState { control: RunControl::default(), has_results: true, ..*state };
        if state.is_last {
            state.control.stop(AbortReason::Signal);
        }
        state.control.clone()
    }

    /// Has no further run begin.
    fn be_last(&self) {
        self.state().is_last = true;
    }

    /// No further run follows.
    pub fn end(&self) {
        self.state().has_results = false;
    }

    fn state(&self) -> MutexGuard<'_, TurnState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stays until a signal: what serves has nothing to end in order. A shell that puts a program into the background has it
/// ignore SIGINT, so a handler is needed even for leaving.
pub fn wait() {
    match Signals::new([SIGINT, SIGTERM]) {
        Ok(mut signals) => drop(signals.forever().next()),
        // Signals end the process as they always do.
        Err(_) => loop {
            std::thread::park();
        },
    }
}

/// Starts listening. Without a thread or handler for it signals end the process as they always do.
pub fn listen(turn: Turn, running: Running, logger: Arc<Logger>) {
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
    let handle = move || {
        let mut has_warned = false;
        for signal in &mut signals {
            if running.release() {
                continue;
            }
            let name = if signal == SIGINT { "SIGINT" } else { "SIGTERM" };
            let is_idle = *running.phase() == Phase::Idle;
            let (control, has_results) = {
                let state = turn.state();
                (state.control.clone(), state.has_results)
            };
            if has_warned || is_idle && !has_results {
                logger.say(LogLevel::Error, format!("received {name}, leaving at once"));
                std::process::exit(Exit::Signal.code().into());
            }
            let is_finishing = running.leave_then();
            if is_finishing {
                turn.be_last();
            }
            let doing = if is_finishing { "writing what was measured" } else { "stopping the test" };
            logger.say(LogLevel::Warn, format!("received {name}, {doing}; once more leaves at once"));
            has_warned = true;
            control.stop(AbortReason::Signal);
        }
    };
    // The handler lives as long as the process: there is nothing to join.
    let _ = std::thread::Builder::new().name("signals".into()).spawn(handle);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_after_the_end_of_a_run_has_nothing_follow() {
        let (turn, running) = (Turn::default(), Running::default());
        running.set(true);
        assert!(!running.leave_then() && !turn.next().is_stopped());
        running.set(false);
        assert!(running.leave_then());
        turn.be_last();
        assert!(turn.next().is_stopped());
        // This would wait for ever.
        running.linger();
    }
}
