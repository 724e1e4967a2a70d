//! `plimsoll report`: a stored run for people, programs and continuous integration.

use crate::common::Common;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::ReportFlags;
use crate::stored::{self, Shown};

/// Runs the verb. The exit code is about the report, not about the run.
///
/// # Errors
/// There is no such run, it cannot be read, or the report cannot be written.
pub(crate) fn run(flags: &ReportFlags, common: &Common) -> Result<Exit, Failure> {
    let Shown { reader, window, elapsed, range } = stored::find(&flags.run, flags.window.as_deref(), common)?;
    let first = reader.range().map_err(|error| stored::failed(&error))?.start;
    let part = range.clone().map(|range| range.start - first..range.end - first);
    let report = stored::document(&reader, &window, elapsed, range)?;
    let text = stored::render(&report, reader.path(), part, flags.format, flags.lang.lang())?;
    match &flags.output {
        None => crate::print(&text),
        Some(path) => std::fs::write(path, text).map_err(|error| {
            Failure::new(Exit::Other, format!("failed to write the report to {}: {error}", path.display()))
        })?,
    }
    Ok(Exit::Ok)
}
