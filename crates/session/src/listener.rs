//! The listeners of a run: who takes its events, and in which order.
//!
//! A further listener is one file with an implementation of [`Listener`], and one line in the list of `Session::open` in `run.rs`.

use std::sync::Arc;

use model::{Instant, RunEvent};

use crate::Context;
use crate::logger::Logger;
use crate::recording::Recording;
use crate::signals::Running;
use crate::watch::Watch;

/// The records of a run that listeners add to: its file, and the readings of the generator.
pub(crate) struct Records {
    /// The run's file; `None` where the run leaves none.
    pub(crate) recording: Option<Recording>,
    /// The generator's readings, and the validity that follows from them.
    pub(crate) watch: Watch,
}

/// Takes the events of one run, on the thread that coordinates it.
pub(crate) trait Listener {
    /// Takes an event. Evidence that the listener collects goes into `records`.
    fn on_event(&mut self, event: &RunEvent, records: &mut Records);

    /// The load is over; the summary comes next.
    fn on_load_over(&mut self) {}

    /// The summary was shown: waits for evidence that is still on its way, and puts it into `records`.
    fn finish(&mut self, _over: &LoadOver<'_>, _records: &mut Records) {}

    /// The run's file is about to be closed.
    fn on_file_closing(&self) {}

    /// The run's file was closed.
    fn on_file_closed(&self) {}
}

/// The end of the load.
pub(crate) struct LoadOver<'a> {
    /// When it was over.
    pub(crate) at: Instant,
    /// Whether a signal ended it.
    pub(crate) was_signalled: bool,
    /// The signals since.
    pub(crate) running: &'a Running,
}

impl LoadOver<'_> {
    /// Whether nothing should be waited for any more.
    pub(crate) fn hurries(&self) -> bool {
        self.was_signalled || self.running.is_left()
    }
}

/// Writes events into the run's file, and then reads the generator's state.
pub(crate) struct Recorder<'a>(pub(crate) &'a Context);

impl Listener for Recorder<'_> {
    fn on_event(&mut self, event: &RunEvent, records: &mut Records) {
        if let Some(recording) = &mut records.recording {
            recording.on_event(event, self.0);
        }
        records.watch.on_event(event, records.recording.as_mut());
    }
}

/// The terminal as a listener: progress, and the log lines of the run.
pub(crate) struct Terminal(pub(crate) Arc<Logger>);

impl Listener for Terminal {
    fn on_event(&mut self, event: &RunEvent, _: &mut Records) {
        self.0.on_event(event);
        if let RunEvent::Log(line) = event {
            script::Log::log(&*self.0, line.clone());
        }
    }
}
