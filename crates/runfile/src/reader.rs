//! A run's file, read. Nothing in it is trusted.
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use model::{ErrorCount, Exemplar, Instant, MetricRegistry, TagInterner, Window};

use crate::facts::{Anchor, LoadRow, Note, RunMark, StoredLog, ThresholdPoint};
use crate::{Ending, Header, ReadError, WriteError};

/// Whether a run is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It goes on, and the file grows.
    Live,
    /// Its process ended without saying how: the last second may be missing, and so is everything about its end.
    Partial,
    /// It ended and said how.
    Complete,
}

/// A run's file, opened for reading.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    header: Header,
    ending: Option<Ending>,
    state: State,
    registry: Arc<MetricRegistry>,
    tags: Arc<TagInterner>,
}

/// Windows, in order.
#[derive(Debug)]
pub struct Windows<'a> {
    reader: &'a Reader,
}

impl Iterator for Windows<'_> {
    type Item = Result<Window, ReadError>;

    fn next(&mut self) -> Option<Result<Window, ReadError>> {
        let _ = self.reader;
        None
    }
}

impl Reader {
    /// Opens a run for reading. Works on files and folders that cannot be written, and on what a killed process left.
    ///
    /// # Errors
    /// There is no such file, or it is foreign, newer than this build, or damaged.
    pub fn open(path: &Path) -> Result<Reader, ReadError> {
        let _ = path;
        unimplemented!()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was known when the run began.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How it ended; `None` unless it is [`State::Complete`].
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// Whether it is over, as of opening.
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether its process ended without saying how.
    pub fn is_partial(&self) -> bool {
        self.state == State::Partial
    }

    /// The metrics, with the numbers that the windows use.
    pub fn registry(&self) -> &Arc<MetricRegistry> {
        &self.registry
    }

    /// The tag sets, with the numbers that the windows use; in order of first sight.
    pub fn tags(&self) -> &Arc<TagInterner> {
        &self.tags
    }

    /// The indexes of all windows; empty if there are none.
    pub fn range(&self) -> Range<u32> {
        0..0
    }

    /// The indexes of the windows that begin from `from` until before `to`, both from the run's first window.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn range_between(&self, from: Duration, to: Duration) -> Result<Range<u32>, ReadError> {
        let _ = (from, to);
        unimplemented!()
    }

    /// When the scenarios began; `None` if they never did.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn scenarios_started(&self) -> Result<Option<Instant>, ReadError> {
        unimplemented!()
    }

    /// The windows of a range of indexes, whole: series, load, exemplars and errors.
    pub fn windows(&self, range: Range<u32>) -> Windows<'_> {
        let _ = range;
        Windows { reader: self }
    }

    /// All series, loads and errors of a range, added up; no exemplars. Uses roll-ups, so that an hour costs as little as a
    /// minute. `index` is the first window's.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn sum(&self, range: Range<u32>) -> Result<Window, ReadError> {
        let _ = range;
        unimplemented!()
    }

    /// How every condition stood each time it was judged.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn thresholds(&self) -> Result<Vec<ThresholdPoint>, ReadError> {
        unimplemented!()
    }

    /// The log lines.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn log(&self) -> Result<Vec<StoredLog>, ReadError> {
        unimplemented!()
    }

    /// The distinct errors of the whole run, the most frequent first.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn errors(&self) -> Result<Vec<ErrorCount>, ReadError> {
        unimplemented!()
    }

    /// The exemplars of a range of windows, in order of their windows.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn exemplars(&self, range: Range<u32>) -> Result<Vec<Exemplar>, ReadError> {
        let _ = range;
        unimplemented!()
    }

    /// The load of a range of windows.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn load(&self, range: Range<u32>) -> Result<Vec<LoadRow>, ReadError> {
        let _ = range;
        unimplemented!()
    }

    /// What happened once, in order.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn marks(&self) -> Result<Vec<RunMark>, ReadError> {
        unimplemented!()
    }

    /// The remarks, in order.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn notes(&self) -> Result<Vec<Note>, ReadError> {
        unimplemented!()
    }

    /// Both clocks, once per window.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn anchors(&self) -> Result<Vec<Anchor>, ReadError> {
        unimplemented!()
    }
}

/// Adds a remark to a run that is over.
///
/// # Errors
/// The run still goes on, cannot be read, or cannot be written.
pub fn add_note(path: &Path, wall_unix_ns: i64, text: &str) -> Result<(), WriteError> {
    let _ = (path, wall_unix_ns, text);
    unimplemented!()
}
