//! The destinations of `--output`: a file, or standard output.

use std::path::Path;

use runs::{Exit, Failure};

/// The name of standard output in `--output`.
const STDOUT: &str = "-";

/// Returns the file to write; `None` for standard output.
pub(crate) fn file(output: Option<&Path>) -> Option<&Path> {
    output.filter(|path| !is_stdout(path))
}

/// Returns true if a path names standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path == Path::new(STDOUT)
}

/// Writes a text, named `what` in errors.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn write(text: &str, output: Option<&Path>, what: &str) -> Result<(), Failure> {
    let Some(path) = file(output) else {
        session::terminal::print(text);
        return Ok(());
    };
    std::fs::write(path, text).map_err(|error| {
        Failure::new(Exit::Other, format!("failed to write the {what} to {}: {error}", path.display()))
    })
}
