//! `plimsoll report`: writes a report on a stored run for people, programs and continuous integration.

use model::LogLevel;
use report::document::LogTail;
use runs::{Exit, Failure, Shown};
use session::Context;

use crate::destination;
use crate::flags::{ReportFlags, ReportFormat};

/// Runs the subcommand. The exit code is about the report, not about the run.
///
/// # Errors
/// The run does not exist or cannot be read, or the report cannot be written.
pub(crate) fn run(flags: &ReportFlags, context: &Context) -> Result<Exit, Failure> {
    let format = flags.format();
    if flags.no_log && format == ReportFormat::Html {
        let text = "failed to leave the log out: an HTML report has the whole run; use --format md or json";
        return Err(Failure::new(Exit::InvalidConfig, text));
    }
    let Shown { reader, window, elapsed, range } =
        runs::find(&flags.run, flags.window.as_deref(), &context.catalogue()?)?;
    let first = reader.range().map_err(|error| runs::failed(&error))?.start;
    let part = range.clone().map(|range| range.start - first..range.end - first);
    let is_whole = range.is_none();
    let mut report = runs::document(&reader, &window, elapsed, range)?;
    if is_whole && matches!(format, ReportFormat::Md | ReportFormat::Json) {
        let why_not = runs::add_all(&mut report, &reader, &context.catalogue()?, flags.lang.lang())?;
        if let Some(failure) = why_not {
            context.logger.say(LogLevel::Warn, failure.text);
        }
    }
    if flags.no_log {
        report.log = LogTail::default();
    }
    let text = session::reports::render(&report, reader.path(), part, format.format(), flags.lang.lang())?;
    destination::write(&text, flags.output.as_deref(), "report")?;
    Ok(Exit::Ok)
}
