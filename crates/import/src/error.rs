//! Errors of reading a source. Messages read after "failed to".

use crate::Kind;

/// Why nothing could be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("read the file: {0}")]
    Read(#[from] std::io::Error),
    /// It is not of the format that it was taken for, or holds nothing.
    #[error("find anything of {kind} in it{}", why.as_ref().map_or(String::new(), |why| format!(": {why}")))]
    Nothing {
        /// The assumed format.
        kind: Kind,
        /// The first malformed line, if there is one.
        why: Option<String>,
    },
    /// It is JSON of another shape, or none.
    #[error("read it as JSON: {0}")]
    Json(#[from] serde_json::Error),
}
