//! Errors of a run's file. Messages read after "failed to".

use std::path::PathBuf;

/// Why a run's file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// There is a file of that name already.
    #[error("create {0}: it exists already")]
    Exists(PathBuf),
    /// The folder or the file cannot be made.
    #[error("create {path}: {source}")]
    Create {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// SQLite refuses: the disk is full, the folder is gone, the disk is broken.
    #[error("write {path}: {source}")]
    Sqlite {
        /// Which file.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// The file is whole, and its checksums could not be added: the disk is full.
    #[error("add checksums to {path}: {source}")]
    Seal {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The file is not at its place any more.
    #[error("write {0}: it or its folder was deleted during the run")]
    Gone(PathBuf),
    /// The writer's thread cannot be started.
    #[error("start the thread of the run's file: {0}")]
    Thread(std::io::Error),
    /// The writer's thread is gone: a bug of ours, reported instead of hidden.
    #[error("write the run's file: its thread stopped")]
    Stopped,
    /// The run still goes on, and only its own writer may write to it.
    #[error("write {0}: the run is still in progress; try again when it has finished")]
    Live(PathBuf),
    /// Its format has no place for what should be added.
    #[error("write {0}: it is of an older format, which holds no evidence")]
    Old(PathBuf),
    /// The file cannot be read, so nothing is written into it.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// Why a run's file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is not there, or may not be read.
    #[error("open {path}: {source}")]
    Open {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A pipe, a device, a folder or a link stands at the place of a file that belongs to it.
    #[error("open {path}: {other} beside it is not a regular file; move it away", path = path.display(), other = other.display())]
    Beside {
        /// Which file.
        path: PathBuf,
        /// The other's path.
        other: PathBuf,
    },
    /// It is a file of something else.
    #[error("open {0}: it is not a run file of Plimsoll")]
    Foreign(PathBuf),
    /// It was written by a newer Plimsoll.
    #[error(
        "open {path}: its format {found} is newer than {known}, the newest this build knows; use a newer build"
    )]
    Newer {
        /// Which file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest known format.
        known: i64,
    },
    /// Something in it is not as any writer leaves it.
    #[error("read {path}: it is damaged: {what}")]
    Corrupt {
        /// Which file.
        path: PathBuf,
        /// The error.
        what: String,
    },
    /// Another program changed it while it was compared with its checksums.
    #[error("read {0}: it was changed meanwhile; try again")]
    Changed(PathBuf),
    /// SQLite refuses.
    #[error("read {path}: {source}")]
    Sqlite {
        /// Which file.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
}

impl ReadError {
    /// The damage alone, without the file; other errors as they are.
    pub fn damage(&self) -> String {
        match self {
            ReadError::Corrupt { what, .. } => what.clone(),
            other => other.to_string(),
        }
    }
}

/// Why runs could not be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// There is nothing to merge.
    #[error("merge: no runs were given")]
    Nothing,
    /// One run was given twice; its numbers would count twice.
    #[error("merge: run {0} is given twice")]
    Twice(String),
    /// The runs are not parts of one test.
    #[error("merge: {a} and {b} differ in {what}; force it if they still belong together")]
    Different {
        /// One run's id.
        a: String,
        /// Another's.
        b: String,
        /// In what they differ.
        what: &'static str,
    },
    /// One metric is of two kinds.
    #[error("merge: the metric {0} is of different kinds")]
    Metric(String),
    /// A part cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The result cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}
