//! Errors of reading and writing archives.

use crate::{ARCHIVE_BYTES_MAX, ENTRIES_MAX};

/// Why an archive is not read or written; the texts read after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// It is no tar file, or ends early.
    #[error("read the archive: {0}")]
    Read(std::io::Error),
    /// It cannot be written.
    #[error("write the archive: {0}")]
    Write(std::io::Error),
    /// A part is missing that every archive has.
    #[error("read the archive: it has no {0}, which k6's archives have; make it again with `archive`")]
    Lacks(&'static str),
    /// `metadata.json` is not what it should be.
    #[error("read metadata.json of the archive: {0}")]
    Metadata(String),
    /// It is of a kind that is no longer made.
    #[error(
        "read the archive: {0:?} is where very old versions of k6 put files; make it again from the script with `archive`"
    )]
    Old(String),
    /// A name in it cannot be one.
    #[error("read the archive: {0:?} is no name of a file in an archive")]
    Name(String),
    /// It is too large.
    #[error(
        "read the archive: it holds more than {ARCHIVE_BYTES_MAX} bytes or {ENTRIES_MAX} files, which is the limit"
    )]
    TooLarge,
}
