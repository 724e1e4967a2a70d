//! `plimsoll history`: lists the runs of one script in order, and finds where they changed.

use std::io::IsTerminal;

use model::LogLevel;
use runs::{Exit, Failure};
use session::Context;
use session::logger;

use crate::flags::{HistoryFlags, HistoryFormat};

/// Runs the subcommand.
///
/// # Errors
/// The script or run is unknown, or the runs cannot be listed.
pub(crate) fn run(flags: &HistoryFlags, context: &Context) -> Result<Exit, Failure> {
    let warn = |failure: Failure| context.logger.say(LogLevel::Warn, failure.text);
    let report =
        runs::history::of_script(&flags.script, usize::from(flags.limit), &context.catalogue()?, warn)?;
    let text = match flags.format {
        HistoryFormat::Text => {
            let style = logger::style(context.may_colour && std::io::stdout().is_terminal());
            report.text(flags.lang.lang(), style)
        }
        HistoryFormat::Json => report.json(),
    };
    session::terminal::print(&text);
    Ok(Exit::Ok)
}
