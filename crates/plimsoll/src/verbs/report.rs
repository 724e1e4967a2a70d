//! `plimsoll report`: writes a report on a stored run for people, programs and continuous integration.

use analysis::compare::Options;
use model::LogLevel;
use report::comparison::ComparisonReport;
use runfile::Reader;
use runs::{Exit, Failure, Shown, study};
use session::Context;

use super::diagnose;
use crate::destination;
use crate::flags::{ReportFlags, ReportFormat};

/// Runs the subcommand. The exit code is about the report, not about the run.
///
/// # Errors
/// The run does not exist or cannot be read, or the report cannot be written.
pub(crate) fn run(flags: &ReportFlags, context: &Context) -> Result<Exit, Failure> {
    let Shown { reader, window, elapsed, range } =
        runs::find(&flags.run, flags.window.as_deref(), &context.catalogue()?)?;
    let first = reader.range().map_err(|error| runs::failed(&error))?.start;
    let part = range.clone().map(|range| range.start - first..range.end - first);
    let is_whole = range.is_none();
    let mut report = runs::document(&reader, &window, elapsed, range)?;
    if is_whole && matches!(flags.format, ReportFormat::Md | ReportFormat::Json) {
        report.previous = previous(&reader, context);
        report.diagnosis = Some(diagnose::diagnose_runs(vec![(&reader, None)], flags.lang.lang())?.1);
        report.capacity = study::of_run(reader.path(), &context.catalogue()?)?
            .map(|found| report::capacity::document(&found, flags.lang.lang()));
    }
    let text =
        session::reports::render(&report, reader.path(), part, flags.format.format(), flags.lang.lang())?;
    destination::write(&text, flags.output.as_deref(), "report")?;
    Ok(Exit::Ok)
}

/// Compares with the previous run of the same script. The report is complete without it, so errors are only logged.
fn previous(reader: &Reader, context: &Context) -> Option<ComparisonReport> {
    let compared = context.catalogue().and_then(|catalogue| {
        let Some(before) = runs::history::before(reader, &catalogue)? else { return Ok(None) };
        runs::comparison::judged(&[before], &[reader.path().to_owned()], Options::default()).map(Some)
    });
    compared.unwrap_or_else(|failure| {
        context.logger.say(LogLevel::Warn, failure.text);
        None
    })
}
