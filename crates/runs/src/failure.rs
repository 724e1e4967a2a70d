//! A failed command: its message, and the exit code that it leads to.

use crate::Exit;

/// An error in the user's words, with the exit code it leads to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Failure {
    /// The exit of the process.
    pub exit: Exit,
    /// One sentence, which may continue over several lines.
    pub text: String,
    /// The quoted source line and a hint, printed below.
    pub below: Vec<String>,
}

impl Failure {
    /// Returns a failure with nothing below.
    pub fn new(exit: Exit, text: impl Into<String>) -> Failure {
        Failure { exit, text: text.into(), below: Vec::new() }
    }
}
