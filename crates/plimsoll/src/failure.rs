//! Why a verb did not do what it was asked.

use script::ScriptError;

use crate::exit::Exit;
use crate::program;

/// An error in the user's words, with the exit code it leads to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub(crate) struct Failure {
    /// How the process ends.
    pub(crate) exit: Exit,
    /// One sentence, which may go on over several lines.
    pub(crate) text: String,
    /// A picture of the place and a hint, printed below.
    pub(crate) below: Vec<String>,
}

impl Failure {
    /// Without anything below.
    pub(crate) fn new(exit: Exit, text: impl Into<String>) -> Failure {
        Failure { exit, text: text.into(), below: Vec::new() }
    }

    /// A script that could not be loaded.
    pub(crate) fn of_script(name: &str, error: &ScriptError) -> Failure {
        let exit = match error {
            ScriptError::Missing(_) | ScriptError::Exception { .. } => Exit::ScriptException,
            ScriptError::Aborted(_) => Exit::ScriptAborted,
            ScriptError::Interrupted
            | ScriptError::SetupData(_)
            | ScriptError::Summary(_)
            | ScriptError::Host(_) => Exit::Other,
        };
        let text = match error {
            ScriptError::Aborted(reason) => format!("{reason}, while {name} was loaded"),
            _ => format!("failed to load {name}: {error}"),
        };
        let below = program::excerpt(error).map(str::to_owned).collect();
        Failure { exit, text, below }
    }
}
