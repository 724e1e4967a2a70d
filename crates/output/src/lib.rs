//! Live exports: listeners of a run that write its samples elsewhere while it runs.
//!
//! Each export is one file and one line in [`KINDS`]. An export has a thread and a bounded queue of its own: a slow disk
//! never slows the run, it loses samples, and the loss is counted and reported.

mod csv;
mod error;
mod influxdb;
mod json;
mod kind;
mod net;
mod otel;
mod prometheus;
mod push;
mod setting;
mod sink;
mod statsd;
mod totals;
mod writer;

pub use error::OutputError;
pub use kind::{Context, Env, KINDS, Kind, OutputSpec};
pub use net::QUEUE_ENTRIES_MAX;
pub use writer::{Format, QUEUE_BATCHES_MAX};

use model::RunEvent;

/// A listener of a run. It gets every event until the run is over, and is then finished once.
pub trait Output: Send {
    /// Its name in the banner: `json (results.json)`.
    fn description(&self) -> &str;

    /// Whether it reads [`RunEvent::Samples`], which the run sends only to exports that read them.
    fn wants_samples(&self) -> bool;

    /// Takes an event. Never blocks and never fails: errors are reported by [`Output::finish`].
    fn on_event(&mut self, event: &RunEvent);

    /// Writes what is left and closes. An export that failed on its way says so here, and not earlier.
    fn finish(self: Box<Self>) -> OutputReport;
}

/// How an export went.
#[derive(Debug)]
pub struct OutputReport {
    /// See [`Output::description`].
    pub description: String,
    /// Samples written.
    pub written: u64,
    /// Samples that the queue could not hold, or that came after an error.
    pub lost: u64,
    /// The error that ended it early, or that lost the last samples.
    pub error: Option<OutputError>,
    /// The closing line of an export over the network: how much was sent, and how much the endpoint stored.
    pub note: Option<String>,
}

impl OutputReport {
    /// The warning for the user; `None` when every sample was written.
    pub fn warning(&self) -> Option<String> {
        let lost = match (self.lost, self.written) {
            (0, _) => String::new(),
            (lost, written) => {
                format!("{lost} of {} samples are missing from the export", lost.saturating_add(written))
            }
        };
        match &self.error {
            None if lost.is_empty() => None,
            None => Some(format!("{}: {lost}", self.description)),
            Some(error) if lost.is_empty() => {
                Some(format!("{}: failed to {}", self.description, chain(error)))
            }
            Some(error) => Some(format!("{}: failed to {}; {lost}", self.description, chain(error))),
        }
    }
}

/// The error with what caused it.
fn chain(error: &OutputError) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
