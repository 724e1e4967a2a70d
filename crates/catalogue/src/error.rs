//! Why a catalogue could not do what it was asked.

use std::io;
use std::path::PathBuf;

/// The error of the underlying store; its type depends on the store.
pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why something could not be done. Continues "failed to".
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// The place cannot be understood.
    #[error("understand the place for runs {text:?}: {why}")]
    Location {
        /// As given.
        text: String,
        /// The reason.
        why: String,
    },
    /// The directory for runs is not there and cannot be made, or cannot be written to.
    #[error("make the directory {} for runs: {source}", path.display())]
    Make {
        /// The directory.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The runs cannot be listed.
    #[error("list the runs in {place}: {source}")]
    List {
        /// The catalogue.
        place: String,
        /// Why not.
        source: Cause,
    },
    /// There is no run to be the last or the one before.
    #[error(
        "find the run {text}: {place} has {count}; record one with `plimsoll run script.js`, or choose another store with --runs"
    )]
    TooFew {
        /// `@last` or `@prev`.
        text: String,
        /// The catalogue.
        place: String,
        /// How many runs there are, in words.
        count: &'static str,
    },
    /// Nothing has this name.
    #[error(
        "find the run {text:?}: no run in {place} begins with it, and no file has that path; `plimsoll runs` lists them"
    )]
    Unknown {
        /// As given.
        text: String,
        /// The catalogue.
        place: String,
    },
    /// Several runs have ids that begin like this.
    #[error("choose among {count} runs that begin with {text:?}: {candidates}; write more of the id")]
    Ambiguous {
        /// As given.
        text: String,
        /// How many there are.
        count: usize,
        /// Some of them.
        candidates: String,
    },
    /// A file of the catalogue cannot be deleted.
    #[error("delete the run {name}: {source}")]
    Remove {
        /// The file's name.
        name: String,
        /// Why not.
        source: Cause,
    },
    /// A finished run could not be moved to where it belongs; it stays where it was written.
    #[error("upload the run to {place}: {source}; it stays at {}", path.display())]
    Upload {
        /// The catalogue.
        place: String,
        /// Where the file is.
        path: PathBuf,
        /// Why not.
        source: Cause,
    },
    /// A run could not be brought here.
    #[error("download the run {name} from {place}: {source}")]
    Download {
        /// The file's name.
        name: String,
        /// The catalogue.
        place: String,
        /// Why not.
        source: Cause,
    },
}
