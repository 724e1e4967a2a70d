//! A failed command: its message, and the exit code that it leads to.

use crate::Exit;

/// An error in the user's words, with the exit code it leads to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Failure {
    /// How the process ends.
    pub exit: Exit,
    /// One sentence, which may go on over several lines.
    pub text: String,
    /// A picture of the place and a hint, printed below.
    pub below: Vec<String>,
}

impl Failure {
    /// Without anything below.
    pub fn new(exit: Exit, text: impl Into<String>) -> Failure {
        Failure { exit, text: text.into(), below: Vec::new() }
    }
}
