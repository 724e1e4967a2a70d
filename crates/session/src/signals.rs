//! SIGINT and SIGTERM: the first ends the run gracefully, the second at once; a lingering run is released. In a series of runs the
//! first signal ends the present run and prevents the next.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use engine::{AbortReason, RunControl};
use model::LogLevel;
use runs::Exit;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::logger::Logger;

/// The state of the process for the signal handler.
#[derive(Clone, Default)]
pub struct Running(Arc<(Mutex<Phase>, Condvar)>);

/// The phase in which a signal arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Nothing that could end gracefully.
    #[default]
    Idle,
    /// A run is in progress.
    Running,
    /// Results of a run are being written.
    Finishing,
    /// Results are being written, and the process ends after that.
    Leaving,
    /// The run is over and its API is still served.
    Lingering,
}

impl Running {
    /// Marks the beginning or the end of a run.
    pub fn set(&self, is_running: bool) {
        *self.phase() = if is_running { Phase::Running } else { Phase::Finishing };
    }

    /// Blocks until a signal or [`Running::release`]; returns at once if a signal came since the run ended.
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

    /// Releases a lingering run; returns true if there was one.
    pub fn release(&self) -> bool {
        let mut phase = self.phase();
        if *phase != Phase::Lingering {
            return false;
        }
        *phase = Phase::Idle;
        self.0.1.notify_all();
        true
    }

    /// Returns true if a signal came since the run ended.
    pub(crate) fn is_left(&self) -> bool {
        *self.phase() == Phase::Leaving
    }

    /// Ends the process after results are written; returns true if they are being written.
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

/// The handle that signals end, renewed for each run of a series, because a handle serves one run.
#[derive(Clone, Default)]
pub struct Turn(Arc<Mutex<TurnState>>);

#[derive(Default)]
struct TurnState {
    control: RunControl,
    /// Whether earlier runs of the series have results that an immediate exit would lose.
    has_results: bool,
    /// Whether a signal came, so that no further run starts.
    is_last: bool,
}

impl Turn {
    /// Returns the handle of the first run.
    pub fn first(&self) -> RunControl {
        self.state().control.clone()
    }

    /// Returns the handle of the next run. A signal before it begins stops it, too.
    pub fn next(&self) -> RunControl {
        let mut state = self.state();
        *state = TurnState { control: RunControl::default(), has_results: true, ..*state };
        if state.is_last {
            state.control.stop(AbortReason::Signal);
        }
        state.control.clone()
    }

    /// Prevents further runs. Returns the handle of the present run, and whether earlier runs have results. Both happen in one step,
    /// so that a run that begins at this moment is stopped, too.
    fn be_last(&self) -> (RunControl, bool) {
        let mut state = self.state();
        state.is_last = true;
        (state.control.clone(), state.has_results)
    }

    /// Marks that no further run follows.
    pub fn end(&self) {
        self.state().has_results = false;
    }

    fn state(&self) -> MutexGuard<'_, TurnState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Blocks until a signal, for servers, which have nothing to end gracefully. Shells make background programs ignore SIGINT, so a
/// handler is needed even to exit.
pub fn wait() {
    match Signals::new([SIGINT, SIGTERM]) {
        Ok(mut signals) => drop(signals.forever().next()),
        // Signals end the process as they do by default.
        Err(_) => loop {
            std::thread::park();
        },
    }
}

/// Starts the signal handler. If no thread or handler is available, signals end the process as they do by default.
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
            let (control, has_results) = turn.be_last();
            if has_warned || is_idle && !has_results {
                logger.say(LogLevel::Error, format!("Received {name}; exiting immediately"));
                std::process::exit(Exit::Signal.code().into());
            }
            let doing = if running.leave_then() { "writing the results" } else { "stopping gracefully" };
            logger.say(
                LogLevel::Warn,
                format!("Received {name}; {doing}. Press Ctrl-C again to exit immediately"),
            );
            has_warned = true;
            control.stop(AbortReason::Signal);
        }
    };
    // The handler lives as long as the process, so it is never joined.
    let _ = std::thread::Builder::new().name("signals".into()).spawn(handle);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_run_follows_a_signal() {
        let turn = Turn::default();
        assert!(!turn.next().is_stopped());
        let (_, has_results) = turn.be_last();
        assert!(has_results);
        assert!(turn.next().is_stopped() && turn.next().is_stopped());
    }

    #[test]
    fn a_signal_after_the_end_of_a_run_is_not_waited_for_again() {
        let running = Running::default();
        running.set(true);
        assert!(!running.leave_then());
        running.set(false);
        assert!(running.leave_then());
        // This would block forever.
        running.linger();
    }
}
