//! `plimsoll history`: the runs of one script in order, and between which of them something changed.

use std::io::IsTerminal;

use model::LogLevel;
use runs::{Exit, Failure};

use crate::common::Common;
use crate::flags::{HistoryFlags, HistoryFormat};
use crate::logger;

/// Runs the verb.
///
/// # Errors
/// Nothing is known of such a script or run, or the runs cannot be listed.
pub(crate) fn run(flags: &HistoryFlags, common: &Common) -> Result<Exit, Failure> {
    let warn = |failure: Failure| common.logger.say(LogLevel::Warn, failure.text);
    let report =
        runs::history::of_script(&flags.script, usize::from(flags.limit), &common.catalogue()?, warn)?;
    let text = match flags.format {
        HistoryFormat::Text => {
            let style = logger::style(common.may_colour && std::io::stdout().is_terminal());
            report.text(flags.lang.lang(), style)
        }
        HistoryFormat::Json => report.json(),
    };
    crate::print(&text);
    Ok(Exit::Ok)
}
