//! Lines about a stored run, beside its summary.

use runfile::{Imported, Reader, State};

/// Returns one line about the run.
pub fn title(reader: &Reader) -> String {
    let header = reader.header();
    let name = header.name.as_deref().map_or_else(String::new, |name| format!(" \"{name}\""));
    let started = api::rfc3339(header.started_wall_ns / 1_000_000_000 * 1_000_000_000);
    let is_start_known = header.imported.as_ref().is_none_or(|imported| imported.is_start_known);
    let at = if is_start_known { format!("at {started}") } else { format!("imported at {started}") };
    let text = format!("run {}{name}: {} {at}, {}", header.run_id, header.script, crate::state_word(reader));
    report::escape::terminal(&text)
}

/// Describes the origin of another tool's run, and its missing facts.
pub fn origin(imported: &Imported) -> String {
    let gaps: String = imported.gaps.iter().map(|gap| format!("    - {gap}\n")).collect();
    let text = format!("\n  IMPORTED from {} ({}); missing data:\n{gaps}", imported.source, imported.file);
    text.lines().map(|line| format!("{}\n", report::escape::terminal(line))).collect()
}

/// Returns figures that are shown beside the summary.
pub fn figures(imported: &Imported) -> String {
    if imported.figures.is_empty() {
        return String::new();
    }
    let rows: Vec<(String, String, String)> = imported
        .figures
        .iter()
        .map(|figure| {
            let shown = crate::figure(figure).text();
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

/// Describes a state that is not the usual one.
pub fn label(state: State) -> Option<&'static str> {
    match state {
        State::Complete => None,
        State::Partial => Some("PARTIAL: the run did not end normally; showing the stored data"),
        State::Live => Some("LIVE: the test is still running; showing its current data"),
    }
}
