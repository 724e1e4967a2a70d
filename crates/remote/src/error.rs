//! Errors of loading remote modules.

use std::path::PathBuf;

use crate::{Hash, MODULES_MAX};

/// Why a remote module is not had; the texts read after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// The server did not give it.
    #[error("fetch the remote module {url}: {refusal}")]
    Fetch {
        /// Its URL.
        url: String,
        /// The reason, and how to fix it.
        refusal: String,
    },
    /// It is not what it was when the lock file was written.
    #[error(
        "load the remote module {url}: it has changed since {path} was written (SHA-256 {found}, locked {locked}); \
         look at what changed, then accept it with --lock"
    )]
    Differs {
        /// Its URL.
        url: String,
        /// The hash in the lock file.
        locked: Hash,
        /// The hash of the received module.
        found: Hash,
        /// The lock file.
        path: PathBuf,
    },
    /// It must be in the lock file and is not.
    #[error(
        "load the remote module {url}: {path} does not hold it, and --frozen takes nothing else; add it with --lock"
    )]
    NotLocked {
        /// Its URL.
        url: String,
        /// The lock file.
        path: PathBuf,
    },
    /// Everything must be in the lock file, and there is none.
    #[error("read {path}: there is none, and --frozen takes only what is in it; write it with --lock")]
    NoLock {
        /// Where it should be.
        path: PathBuf,
    },
    /// The lock file cannot be read.
    #[error("read {path}: {why}")]
    BadLock {
        /// The lock file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The lock file cannot be written.
    #[error("write {path}: {source}")]
    WriteLock {
        /// The lock file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The script loads without end.
    #[error(
        "load the remote module {url}: the script has loaded {MODULES_MAX} others already, which is the limit"
    )]
    TooMany {
        /// Its URL.
        url: String,
    },
}
