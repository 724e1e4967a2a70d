//! `plimsoll runs`: lists stored runs, or verifies their files.

use catalogue::prune;
use model::SystemClock;
use report::escape;
use runs::listing::{Row, counted, size};
use runs::{Exit, Failure};
use session::Context;

use crate::flags::{RunsFlags, RunsListFlags, RunsVerb, StatusFlag};

/// Runs the subcommand.
///
/// # Errors
/// The runs cannot be listed, or a filter cannot be parsed.
pub(crate) fn run(flags: &RunsFlags, context: &Context) -> Result<Exit, Failure> {
    if let Some(RunsVerb::Prune(flags)) = &flags.verb {
        return super::prune::run(flags, context);
    }
    if flags.list.verify {
        return super::verify::run(&flags.list, context);
    }
    let (rows, older) = rows(&flags.list, context)?;
    if flags.list.json {
        let text = serde_json::to_string_pretty(&rows).expect("rows are texts and numbers");
        session::terminal::print(&format!("{text}\n"));
    } else if rows.is_empty() {
        let place = context.catalogue()?.place();
        context
            .logger
            .print(&format!("No matching runs in {place}. Create one with `plimsoll run script.js`\n"));
    } else {
        session::terminal::print(&table(&rows));
    }
    if older > 0 {
        let text = format!("{} not looked at; --limit takes more than {}\n", were(older), flags.list.limit);
        context.logger.print(&text);
    }
    Ok(Exit::Ok)
}

/// Returns the newest runs, and the number of older ones that were not opened. Files are opened until there are enough.
fn rows(flags: &RunsListFlags, context: &Context) -> Result<(Vec<Row>, usize), Failure> {
    let catalogue = context.catalogue()?;
    let now_unix_s = context.epoch.wall_unix_ns(SystemClock::now()) / 1_000_000_000;
    let since = flags.since.as_deref().map(|text| since(text, now_unix_s)).transpose()?;
    let tags = flags.tag.iter().map(|text| tag(text)).collect::<Result<Vec<_>, _>>()?;
    let mut entries = catalogue.list().map_err(|error| runs::failed(&error))?;
    entries.retain(|entry| since.is_none_or(|since| entry.name.started_unix_s() >= since));
    let mut rows = Vec::new();
    for (looked_at, entry) in entries.iter().rev().enumerate() {
        if rows.len() >= flags.limit {
            return Ok((rows, entries.len() - looked_at));
        }
        let row = catalogue
            .bring(entry)
            .map_err(|error| runs::failed(&error))
            .and_then(|path| Ok(Row::of(entry, &runs::open(&path)?)));
        match row {
            Ok(row) if is_asked_for(&row, flags, &tags) => rows.push(row),
            Ok(_) => {}
            // One damaged file must not hide the others.
            Err(failure) => context.logger.say(model::LogLevel::Warn, failure.text),
        }
    }
    Ok((rows, 0))
}

fn is_asked_for(row: &Row, flags: &RunsListFlags, tags: &[(&str, &str)]) -> bool {
    let named = |part: &String| {
        row.script.contains(part) || row.name.as_ref().is_some_and(|name| name.contains(part))
    };
    let status = match flags.status {
        None => None,
        Some(StatusFlag::Passed) => Some("passed"),
        Some(StatusFlag::Failed) => Some("failed"),
        Some(StatusFlag::Partial) => Some("partial"),
        Some(StatusFlag::Live) => Some("live"),
    };
    flags.script.as_ref().is_none_or(named)
        && status.is_none_or(|status| row.status == status)
        && tags.iter().all(|(name, value)| row.tags.get(*name).is_some_and(|is| is == value))
}

fn tag(text: &str) -> Result<(&str, &str), Failure> {
    text.split_once('=').ok_or_else(|| {
        Failure::new(Exit::Other, format!("failed to read --tag {text:?}: write --tag NAME=VALUE"))
    })
}

fn since(text: &str, now_unix_s: i64) -> Result<i64, Failure> {
    prune::parse_since(text, now_unix_s, |text| runs::parse_length("--since", text, Exit::Other)).map_err(
        |failure| Failure { text: format!("{}, or a day such as 2026-11-21", failure.text), ..failure },
    )
}

/// Formats rows as columns as wide as their content.
fn table(rows: &[Row]) -> String {
    let head = ["ID", "STARTED", "STATUS", "LENGTH", "SIZE", "SCRIPT", "NAME"].map(str::to_owned);
    let cells = |row: &Row| {
        [
            row.id.clone(),
            row.started.clone().unwrap_or_else(|| "unknown".to_owned()),
            row.status.to_owned(),
            row.length(),
            size(row.bytes),
            escape::terminal(&row.script),
            escape::terminal(row.name.as_deref().unwrap_or_default()),
        ]
    };
    let lines: Vec<_> = std::iter::once(head).chain(rows.iter().map(cells)).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..7).map(width).collect();
    let line = |line: &[String; 7]| {
        let padded = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}\n", padded.collect::<Vec<_>>().join("  ").trim_end())
    };
    lines.iter().map(line).collect()
}

/// Formats a count: `1 older run was`, `2 older runs were`.
fn were(older: usize) -> String {
    format!("{} {}", counted(older, "older run"), if older == 1 { "was" } else { "were" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one() {
        assert_eq!([1, 2].map(were), ["1 older run was", "2 older runs were"]);
    }
}
