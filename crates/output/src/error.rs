//! Errors of exports.

use std::io;

/// Why an export cannot start or had to stop. Reads after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// There is no export of this name.
    #[error("find output {name:?}; available: {known}{}", hint(.nearest))]
    Unknown {
        /// As it was written.
        name: String,
        /// The names that exist.
        known: String,
        /// The one that was probably meant.
        nearest: Option<&'static str>,
    },
    /// k6 has or had it, and this build does not.
    #[error("start output {name:?}: it is not supported; {instead}")]
    NotYet {
        /// k6's name for it.
        name: &'static str,
        /// The next step.
        instead: &'static str,
    },
    /// A setting has a value that it cannot have.
    #[error("read {setting} of the output: {value:?} is not {expected}")]
    Setting {
        /// The variable or key.
        setting: String,
        /// The value.
        value: String,
        /// The valid values.
        expected: &'static str,
    },
    /// The file cannot be made.
    #[error("create {path:?}")]
    Create {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// Writing stopped.
    #[error("write to {path:?}")]
    Write {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// An endpoint did not take something.
    #[error("send: {why}")]
    Send {
        /// Its answer, or why it was not reached.
        why: String,
    },
    /// The export's thread cannot be started.
    #[error("start a thread")]
    Thread(#[source] io::Error),
    /// The export's thread is gone.
    #[error("write: the writer thread panicked")]
    Stopped,
}

fn hint(nearest: &Option<&'static str>) -> String {
    nearest.map(|name| format!(" (did you mean {name:?}?)")).unwrap_or_default()
}
