//! The files beside a run's: SQLite's log, its index and journal, and the lock of the writer.

use std::io;
use std::path::{Path, PathBuf};

use crate::ReadError;

/// SQLite's log of a run in progress, or of one whose process was killed.
pub(crate) const LOG: &str = "-wal";
/// SQLite's journal of a change to a finished file.
pub(crate) const JOURNAL: &str = "-journal";

/// Everything that is opened beside a run's file.
const ALL: [&str; 4] = [LOG, "-shm", JOURNAL, "-lock"];

/// The path of what is beside a file.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

/// Whether there is such a file and something in it.
pub(crate) fn has_content(path: &Path, suffix: &str) -> bool {
    std::fs::metadata(beside(path, suffix)).is_ok_and(|facts| facts.len() > 0)
}

/// Refuses to open what would block or is none of ours: a pipe, a device, a folder, a link, at the place of a file that belongs to
/// the run's.
pub(crate) fn check(path: &Path) -> Result<(), ReadError> {
    for suffix in ALL {
        let other = beside(path, suffix);
        match std::fs::symlink_metadata(&other) {
            Ok(facts) if facts.is_file() => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Ok(_) => return Err(ReadError::Beside { path: path.to_owned(), other }),
            Err(source) => return Err(ReadError::Open { path: other, source }),
        }
    }
    Ok(())
}
