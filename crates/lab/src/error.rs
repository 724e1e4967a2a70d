//! Why the lab did not do what it was asked.

use std::path::{Path, PathBuf};

/// An error that reads after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// No such system.
    #[error("find the system {name:?}: there are {known}")]
    NoSystem {
        /// The name that was given.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// No such variant.
    #[error("find the variant {variant:?} of {system}: there are {known}")]
    NoVariant {
        /// The system.
        system: &'static str,
        /// The name that was given.
        variant: String,
        /// The names that there are.
        known: String,
    },
    /// No such fault.
    #[error("find the fault {fault:?} of {system}: there are {known}")]
    NoFault {
        /// The system.
        system: String,
        /// The name that was given.
        fault: String,
        /// The names that there are.
        known: String,
    },
    /// Servers that are not installed.
    #[error("find {}: install with `{command}`, or add --install", .missing.join(" and "))]
    Missing {
        /// The missing programs.
        missing: Vec<String>,
        /// The command that installs them.
        command: String,
    },
    /// A server that refuses to run as root, and no other user to run it as.
    #[error(
        "run {server} as root, which it refuses, and there is no user {user:?} to run it as; create one or run as another user"
    )]
    NoUser {
        /// The server.
        server: &'static str,
        /// The user that its package makes.
        user: &'static str,
    },
    /// The lab of this name is up.
    #[error("bring up {0}: it is up already; `plimsoll lab down {0}` ends it")]
    AlreadyUp(String),
    /// The lab of this name is not up.
    #[error("find {0} up; `plimsoll lab up {0}` starts it")]
    NotUp(String),
    /// The supervisor is gone.
    #[error(
        "reach {0}: its supervisor is gone, and all it had started ended with it; `plimsoll lab down {0}` clears it away"
    )]
    SupervisorGone(String),
    /// A part did not start, or did not answer in time.
    #[error("start {part}: {why}")]
    Start {
        /// The part.
        part: String,
        /// How it ended, with the end of its log.
        why: String,
    },
    /// The service did not do what it was asked.
    #[error("have {system} {what}: {why}")]
    Service {
        /// The system.
        system: String,
        /// The request.
        what: String,
        /// Why it did not.
        why: String,
    },
    /// A directory that other users could change.
    #[error("keep a lab in {0}: it is not a directory of this user's own")]
    Unsafe(PathBuf),
    /// A file.
    #[error("{action} {}: {source}", .path.display())]
    File {
        /// The operation.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl LabError {
    pub(crate) fn file(action: &'static str, path: &Path, source: std::io::Error) -> LabError {
        LabError::File { action, path: path.to_owned(), source }
    }

    pub(crate) fn start(part: &str, why: impl Into<String>) -> LabError {
        LabError::Start { part: part.to_owned(), why: why.into() }
    }
}
