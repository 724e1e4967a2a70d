//! Tables, and the page they are kept on.

use std::path::Path;

use anyhow::{Context, bail};

use super::bars::Verdict;

/// The result of a case.
#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    /// The first row holds the titles.
    pub(super) rows: Vec<Vec<String>>,
    /// Figures beside their bars.
    pub(super) verdicts: Vec<Verdict>,
    /// Further remarks for readers, a sentence each.
    pub(super) notes: Vec<String>,
}

impl Report {
    /// A report that says why there is none.
    pub(super) fn skipped(reason: impl Into<String>) -> Report {
        Report { notes: vec![format!("Not measured: {}.", reason.into())], ..Report::default() }
    }

    /// The report as Markdown.
    pub(super) fn markdown(&self) -> String {
        let mut parts = vec![table(&self.rows)];
        parts.push(self.verdicts.iter().map(|verdict| format!("* {}\n", verdict.line)).collect());
        parts.extend(self.notes.iter().map(|note| format!("{note}\n")));
        parts.retain(|part| !part.is_empty());
        parts.join("\n")
    }
}

/// A Markdown table with aligned columns; empty without rows.
fn table(rows: &[Vec<String>]) -> String {
    let Some(titles) = rows.first() else { return String::new() };
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(3)
    };
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(column, cell)| match column {
            0 => format!(" {cell:<width$} |", width = width(column)),
            _ => format!(" {cell:>width$} |", width = width(column)),
        });
        format!("|{}\n", cells.collect::<String>())
    };
    let rule = (0..titles.len()).map(|column| match column {
        0 => format!("{}|", "-".repeat(width(column) + 2)),
        _ => format!("{}:|", "-".repeat(width(column) + 1)),
    });
    let rule = format!("|{}\n", rule.collect::<String>());
    let mut text = line(titles) + &rule;
    text.extend(rows[1..].iter().map(line));
    text
}

/// Replaces a case's part of the page, between `<!-- bench:NAME -->` and `<!-- end -->`.
pub(super) fn write(page: &Path, case: &str, text: &str) -> anyhow::Result<()> {
    let old = std::fs::read_to_string(page).with_context(|| format!("read {}", page.display()))?;
    let new = replaced(&old, case, text)?;
    std::fs::write(page, new).with_context(|| format!("write {}", page.display()))
}

fn replaced(page: &str, case: &str, text: &str) -> anyhow::Result<String> {
    let (open, close) = (format!("<!-- bench:{case} -->\n"), "<!-- end -->");
    let Some((before, rest)) = page.split_once(&open) else { bail!("find {open:?} in the page") };
    let Some((_, after)) = rest.split_once(close) else { bail!("find the end of {case:?} in the page") };
    Ok(format!("{before}{open}\n{text}\n{close}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_aligned() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let text = table(&[row(["client", "µs"]), row(["k6", "78.4"])]);
        assert_eq!(text, "| client |   µs |\n|--------|-----:|\n| k6     | 78.4 |\n");
    }

    #[test]
    fn a_case_replaces_its_own_part() {
        let page = "# A\n<!-- bench:a -->\nold\n<!-- end -->\n<!-- bench:b -->\nkept\n<!-- end -->\n";
        let expect = "# A\n<!-- bench:a -->\n\nnew\n\n<!-- end -->\n<!-- bench:b -->\nkept\n<!-- end -->\n";
        assert_eq!(replaced(page, "a", "new\n").expect("the part is there"), expect);
        assert!(replaced(page, "c", "new").is_err());
    }
}
