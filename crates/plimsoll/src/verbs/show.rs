//! `plimsoll show`: a stored run as its terminal showed it.

use std::io::IsTerminal;

use report::summary::{self, Layout};
use runfile::{Reader, State};

use crate::common::Common;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::ShowFlags;
use crate::logger;
use crate::stored::{self, Shown};
use crate::validity;

/// Runs the verb. The summary of a whole run goes to standard output alone, so that it is what the terminal had, byte for
/// byte; what there is to say about it goes to standard error.
///
/// # Errors
/// There is no such run, or it cannot be read.
pub(crate) fn run(flags: &ShowFlags, common: &Common) -> Result<Exit, Failure> {
    let layout = layout(flags)?;
    let Shown { reader, window, elapsed, range } = stored::find(&flags.run, flags.window.as_deref(), common)?;
    let mut input = stored::summary_of(&reader, &window, elapsed)?;
    input.validity = Some(validity::of_stored(&reader, &window, range.clone())?);
    if !common.is_quiet {
        common.logger.print(&format!("{}\n", title(&reader)));
    }
    if let Some(range) = range {
        let run = &reader.header().run_id;
        crate::print(&format!("\n  Only seconds {} to {} of run {run}\n", range.start, range.end));
    }
    if let Some(label) = label(reader.state()) {
        crate::print(&format!("\n  {label}\n"));
    }
    let options = summary::Options {
        layout,
        style: logger::style(common.may_colour && std::io::stdout().is_terminal()),
        time_unit: stored::time_unit(reader.header()),
        compat: stored::summary_facts(reader.header()).compat,
    };
    crate::print(&summary::render(&input, &options));
    Ok(Exit::Ok)
}

fn layout(flags: &ShowFlags) -> Result<Layout, Failure> {
    let mode = flags.summary_mode.as_deref().unwrap_or("compact");
    Layout::parse(mode).ok_or_else(|| {
        let text = format!("failed to read --summary-mode: {mode:?} is none of compact, full and legacy");
        Failure::new(Exit::Other, text)
    })
}

/// One line about the run.
fn title(reader: &Reader) -> String {
    let header = reader.header();
    let name = header.name.as_deref().map_or_else(String::new, |name| format!(" \"{name}\""));
    let started = api::rfc3339(header.started_wall_ns / 1_000_000_000 * 1_000_000_000);
    let text = format!(
        "run {}{name}: {} at {started}, {}",
        header.run_id,
        header.script,
        stored::state_word(reader)
    );
    report::escape::terminal(&text)
}

fn label(state: State) -> Option<&'static str> {
    match state {
        State::Complete => None,
        State::Partial => Some("PARTIAL: the run never ended in order; what was stored until then is below"),
        State::Live => Some("LIVE: the run is still going; what was stored so far is below"),
    }
}
