//! `plimsoll show`: prints a stored run as its terminal showed it.

use std::io::IsTerminal;

use report::summary::{self, Layout};
use runfile::{Imported, Reader, State};
use runs::{Exit, Failure, Shown, validity};
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
        context.logger.print(&format!("{}\n", title(&reader)));
    }
    if let Some(range) = range {
        let run = &reader.header().run_id;
        session::terminal::print(&format!(
            "\n  Only seconds {} to {} of run {run}\n",
            range.start, range.end
        ));
    }
    if let Some(label) = label(reader.state()) {
        session::terminal::print(&format!("\n  {label}\n"));
    }
    if let Some(imported) = &reader.header().imported {
        session::terminal::print(&origin(imported));
    }
    let options = summary::Options {
        layout,
        style: logger::style(context.may_colour && std::io::stdout().is_terminal()),
        time_unit: runs::time_unit(reader.header()),
        compat: runs::summary_facts(reader.header()).compat,
    };
    session::terminal::print(&summary::render(&input, &options));
    if let Some(imported) = &reader.header().imported {
        session::terminal::print(&figures(imported));
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

/// Returns one line about the run.
fn title(reader: &Reader) -> String {
    let header = reader.header();
    let name = header.name.as_deref().map_or_else(String::new, |name| format!(" \"{name}\""));
    let started = api::rfc3339(header.started_wall_ns / 1_000_000_000 * 1_000_000_000);
    let is_start_known = header.imported.as_ref().is_none_or(|imported| imported.is_start_known);
    let at = if is_start_known { format!("at {started}") } else { format!("imported at {started}") };
    let text = format!("run {}{name}: {} {at}, {}", header.run_id, header.script, runs::state_word(reader));
    report::escape::terminal(&text)
}

/// Describes the origin of another tool's run, and its missing facts.
fn origin(imported: &Imported) -> String {
    let gaps: String = imported.gaps.iter().map(|gap| format!("    - {gap}\n")).collect();
    let text = format!("\n  IMPORTED from {} ({}); missing data:\n{gaps}", imported.source, imported.file);
    text.lines().map(|line| format!("{}\n", report::escape::terminal(line))).collect()
}

/// Returns figures that are shown beside the summary.
fn figures(imported: &Imported) -> String {
    if imported.figures.is_empty() {
        return String::new();
    }
    let rows: Vec<(String, String, String)> = imported
        .figures
        .iter()
        .map(|figure| {
            let shown = runs::figure(figure).text();
            (report::escape::terminal(&figure.name), shown, report::escape::terminal(&figure.note))
        })
        .collect();
    let width = |of: fn(&(String, String, String)) -> &String| {
        rows.iter().map(|row| of(row).chars().count()).max().unwrap_or(0)
    };
    let (names, values) = (width(|row| &row.0), width(|row| &row.1));
    let line = |(name, value, note): &(String, String, String)| {
        let dots = ".".repeat(names - name.chars().count() + 3);
        format!("{}\n", format!("    {name}{dots}: {value:<values$} {note}").trim_end())
    };
    format!("  █ FIGURES OF THE SOURCE\n\n{}\n", rows.iter().map(line).collect::<String>())
}

fn label(state: State) -> Option<&'static str> {
    match state {
        State::Complete => None,
        State::Partial => Some("PARTIAL: the run did not end normally; showing the stored data"),
        State::Live => Some("LIVE: the test is still running; showing its current data"),
    }
}
