//! The listeners of a run, which receive its events in a fixed order.
//!
//! To add a listener, write one file with an implementation of [`Listener`] and one line in the list of `Session::open` in
//! `run.rs`.

use std::sync::Arc;

use model::{Instant, RunEvent};

use crate::Context;
use crate::logger::Logger;
use crate::recording::Recording;
use crate::signals::Running;
use crate::watch::Watch;

/// The records that listeners add to: the run's file, and the readings of the generator.
pub(crate) struct Records {
    /// The run's file; `None` where the run leaves none.
    pub(crate) recording: Option<Recording>,
    /// The generator's readings, and the validity that follows from them.
    pub(crate) watch: Watch,
}

/// A listener to the events of one run, on the coordinator's thread.
pub(crate) trait Listener {
    /// Processes an event. Evidence that the listener collects goes into `records`.
    fn on_event(&mut self, event: &RunEvent, records: &mut Records);

    /// Called when the load is over, before the summary.
    fn on_load_over(&mut self) {}

    /// Called after the summary: waits for evidence in transit and stores it in `records`.
    fn finish(&mut self, _over: &LoadOver<'_>, _records: &mut Records) {}

    /// Called before the run's file is closed.
    fn on_file_closing(&self) {}

    /// Called after the run's file was closed.
    fn on_file_closed(&self) {}
}

/// The end of the load.
pub(crate) struct LoadOver<'a> {
    /// The instant when the load was over.
    pub(crate) at: Instant,
    /// Whether a signal ended the load.
    pub(crate) was_signalled: bool,
    /// The state of signals since the end of the load.
    pub(crate) running: &'a Running,
}

impl LoadOver<'_> {
    /// Returns true if the user wants no more waiting.
    pub(crate) fn hurries(&self) -> bool {
        self.was_signalled || self.running.is_left()
    }
}

/// The listener that writes events into the run's file, and then reads the generator's state.
pub(crate) struct Recorder<'a>(pub(crate) &'a Context);

impl Listener for Recorder<'_> {
    fn on_event(&mut self, event: &RunEvent, records: &mut Records) {
        if let Some(recording) = &mut records.recording {
            recording.on_event(event, self.0);
        }
        records.watch.on_event(event, records.recording.as_mut());
    }
}

/// The listener for the terminal: progress, and the log lines of the run.
pub(crate) struct Terminal(pub(crate) Arc<Logger>);

impl Listener for Terminal {
    fn on_event(&mut self, event: &RunEvent, _: &mut Records) {
        self.0.on_event(event);
        if let RunEvent::Log(line) = event {
            script::Log::log(&*self.0, line.clone());
        }
    }
}
