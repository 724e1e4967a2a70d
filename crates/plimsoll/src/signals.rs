//! SIGINT and SIGTERM: the first ends the run in order, the second at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{AbortReason, RunControl};
use model::LogLevel;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::Exit;
use crate::logger::Logger;

/// Whether there is a run that could be ended in order.
#[derive(Clone, Default)]
pub(crate) struct Running(Arc<AtomicBool>);

impl Running {
    /// The run begins or ends.
    pub(crate) fn set(&self, is_running: bool) {
        self.0.store(is_running, Ordering::Release);
    }
}

/// Starts listening. Without a thread or handler for it signals end the process as they always do.
pub(crate) fn listen(control: RunControl, running: Running, logger: Arc<Logger>) {
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
    let handle = move || {
        for signal in &mut signals {
            let name = if signal == SIGINT { "SIGINT" } else { "SIGTERM" };
            if control.is_stopped() || !running.0.load(Ordering::Acquire) {
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
