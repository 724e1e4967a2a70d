//! `plimsoll show`: prints a stored run as its terminal showed it.

use std::io::IsTerminal;

use report::summary::{self, Layout};
use runs::{Exit, Failure, Shown, labels, validity};
use session::Context;
use session::logger;

use crate::flags::ShowFlags;

/// Runs the subcommand. Standard output has only the summary of a whole run, byte for byte as the terminal showed it; notes go to
/// standard error.
///
/// # Errors
/// The run does not exist or cannot be read.
pub(crate) fn run(flags: &ShowFlags, context: &Context) -> Result<Exit, Failure> {
    let layout = layout(flags)?;
    let Shown { reader, window, elapsed, range } =
        runs::find(&flags.run, flags.window.as_deref(), &context.catalogue()?)?;
    let mut input = runs::summary_of(&reader, &window, elapsed)?;
    input.validity = Some(validity::of_stored(&reader, &window, range.clone())?);
    if !context.is_quiet {
        context.logger.print(&format!("{}\n", labels::title(&reader)));
    }
    if let Some(range) = range {
        let run = &reader.header().run_id;
        session::terminal::print(&format!(
            "\n  Only seconds {} to {} of run {run}\n",
            range.start, range.end
        ));
    }
    if let Some(label) = labels::label(reader.state()) {
        session::terminal::print(&format!("\n  {label}\n"));
    }
    if let Some(imported) = &reader.header().imported {
        session::terminal::print(&labels::origin(imported));
    }
    let options = summary::Options {
        layout,
        style: logger::style(context.may_colour && std::io::stdout().is_terminal()),
        time_unit: runs::time_unit(reader.header()),
        compat: runs::summary_facts(reader.header()).compat,
    };
    session::terminal::print(&summary::render(&input, &options));
    if let Some(imported) = &reader.header().imported {
        session::terminal::print(&labels::figures(imported));
    }
    Ok(Exit::Ok)
}

fn layout(flags: &ShowFlags) -> Result<Layout, Failure> {
    let mode = flags.summary_mode.as_deref().unwrap_or("compact");
    Layout::parse(mode).ok_or_else(|| {
        let text =
            format!("failed to read --summary-mode: invalid mode {mode:?}: expected compact, full or legacy");
        Failure::new(Exit::Other, text)
    })
}
