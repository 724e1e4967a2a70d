//! The listener that writes.
use std::path::Path;
use std::sync::Arc;

use model::{MetricRegistry, RunEvent, TagInterner};

use crate::{Ending, Header, WriteError};

/// Events that wait for a slow disk; what comes while so many wait is lost and counted.
pub const QUEUE_EVENTS_MAX: usize = 4096;

/// Writes a run's file beside the load. It never makes the load wait.
#[derive(Debug)]
pub struct Writer {}

/// What became of the file.
#[derive(Debug)]
pub struct Report {
    /// How large the file is.
    pub bytes: u64,
    /// Windows that are not in it.
    pub windows_lost: u64,
    /// Log lines that are not in it.
    pub log_lines_lost: u64,
    /// The first thing that went wrong. The file holds what was written before and after.
    pub error: Option<WriteError>,
}

impl Writer {
    /// Makes the file and starts writing.
    ///
    /// # Errors
    /// The file exists already or cannot be made: a read-only folder, a full disk.
    pub fn create(
        path: &Path,
        header: &Header,
        registry: Arc<MetricRegistry>,
        tags: Arc<TagInterner>,
    ) -> Result<Writer, WriteError> {
        let _ = (path, header, registry, tags);
        unimplemented!()
    }

    /// Takes an event, at once. Raw samples are not stored.
    pub fn on_event(&mut self, event: &RunEvent) {
        let _ = event;
    }

    /// What went wrong while writing, told once, as soon as it is known: a text that reads after "failed to".
    pub fn trouble(&mut self) -> Option<String> {
        None
    }

    /// Adds a remark.
    pub fn note(&mut self, text: &str) {
        let _ = text;
    }

    /// Writes what waits and how the run ended, and leaves one plain file.
    pub fn finish(self, ending: Ending) -> Report {
        let _ = ending;
        unimplemented!()
    }
}
