//! `plimsoll report`: a stored run for people, programs and continuous integration.

use analysis::compare::Options;
use model::LogLevel;
use report::comparison::ComparisonReport;
use runfile::Reader;

use crate::common::Common;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::{ReportFlags, ReportFormat};
use crate::stored::{self, Shown};
use crate::study;

use super::{compare, diagnose, history};

/// Runs the verb. The exit code is about the report, not about the run.
///
/// # Errors
/// There is no such run, it cannot be read, or the report cannot be written.
pub(crate) fn run(flags: &ReportFlags, common: &Common) -> Result<Exit, Failure> {
    let Shown { reader, window, elapsed, range } = stored::find(&flags.run, flags.window.as_deref(), common)?;
    let first = reader.range().map_err(|error| stored::failed(&error))?.start;
    let part = range.clone().map(|range| range.start - first..range.end - first);
    let is_whole = range.is_none();
    let mut report = stored::document(&reader, &window, elapsed, range)?;
    if is_whole && matches!(flags.format, ReportFormat::Md | ReportFormat::Json) {
        report.previous = previous(&reader, common);
        report.diagnosis = Some(diagnose::of(vec![(&reader, None)], flags.lang.lang())?.1);
        report.capacity = study::of_run(reader.path(), &common.catalogue()?)?
            .map(|found| report::capacity::document(&found, flags.lang.lang()));
    }
    let text = stored::render(&report, reader.path(), part, flags.format, flags.lang.lang())?;
    match &flags.output {
        None => crate::print(&text),
        Some(path) => std::fs::write(path, text).map_err(|error| {
            Failure::new(Exit::Other, format!("failed to write the report to {}: {error}", path.display()))
        })?,
    }
    Ok(Exit::Ok)
}

/// What changed since the run of the same script before this one. A report is whole without it, so what stands in the way is
/// told and ends nothing.
fn previous(reader: &Reader, common: &Common) -> Option<ComparisonReport> {
    let compared = common.catalogue().and_then(|catalogue| {
        let Some(before) = history::before(reader, &catalogue)? else { return Ok(None) };
        compare::judged(&[before], &[reader.path().to_owned()], Options::default()).map(Some)
    });
    compared.unwrap_or_else(|failure| {
        common.logger.say(LogLevel::Warn, failure.text);
        None
    })
}
