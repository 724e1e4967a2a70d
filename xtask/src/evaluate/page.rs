//! Tables of shares with what is required of them, and the page they are kept on.

use std::path::Path;

use anyhow::{Context, bail};

/// A table and the sentences under it.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// The first row holds the titles.
    pub(super) rows: Vec<Vec<String>>,
    /// The requirement, and whether it was met.
    pub(super) bars: Vec<Bar>,
    /// Further remarks for readers.
    pub(super) notes: Vec<String>,
}

/// A figure beside what is required of it.
#[derive(Clone, Debug)]
pub(super) struct Bar {
    /// The figure and the requirement in a sentence without its end.
    pub(super) line: String,
    /// Whether it was reached.
    pub(super) reached: bool,
}

impl Table {
    /// The sentences of what was not reached.
    pub(super) fn missed(&self) -> impl Iterator<Item = &str> {
        self.bars.iter().filter(|bar| !bar.reached).map(|bar| bar.line.as_str())
    }

    /// The table as Markdown.
    pub(super) fn markdown(&self) -> String {
        let line = |row: &Vec<String>| format!("| {} |\n", row.join(" | "));
        let mut text: String = self.rows.iter().take(1).map(line).collect();
        if let Some(titles) = self.rows.first() {
            text += &format!("|---|{}\n", "---:|".repeat(titles.len().saturating_sub(1)));
        }
        text.extend(self.rows.iter().skip(1).map(line));
        text += "\n";
        text.extend(self.bars.iter().map(|bar| {
            let word = if bar.reached { "reached" } else { "**missed**" };
            format!("* {}: {word}.\n", bar.line)
        }));
        text.extend(self.notes.iter().map(|note| format!("\n{note}\n")));
        text
    }
}

/// The marker that opens a case's part of the page.
pub(super) fn opening(case: &str) -> String {
    format!("<!-- evaluate:{case} -->\n")
}

/// Replaces a case's part of the page, up to `<!-- end -->`.
pub(super) fn write(page: &Path, case: &str, text: &str) -> anyhow::Result<()> {
    let old = std::fs::read_to_string(page).with_context(|| format!("read {}", page.display()))?;
    std::fs::write(page, replaced(&old, case, text)?).with_context(|| format!("write {}", page.display()))
}

fn replaced(page: &str, case: &str, text: &str) -> anyhow::Result<String> {
    let opening = opening(case);
    let Some((before, rest)) = page.split_once(&opening) else { bail!("find {opening:?} in the page") };
    let Some((_, after)) = rest.split_once("<!-- end -->") else {
        bail!("find the end of {case:?} in the page")
    };
    Ok(format!("{before}{opening}\n{text}\n<!-- end -->{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_page_is_replaced() {
        let page = "a\n<!-- evaluate:x -->\nold\n<!-- end -->\nb";
        let new = replaced(page, "x", "new").expect("a page");
        assert_eq!(new, "a\n<!-- evaluate:x -->\n\nnew\n<!-- end -->\nb");
        assert!(replaced(page, "y", "new").is_err());
    }

    #[test]
    fn missed_bars_are_shown_and_told() {
        let bar = |line: &str, reached| Bar { line: line.into(), reached };
        let rows = vec![vec!["a".into(), "b".into()], vec!["1".into(), "2".into()]];
        let table = Table { rows, bars: vec![bar("good", true), bar("bad", false)], notes: vec![] };
        assert_eq!(table.missed().collect::<Vec<_>>(), ["bad"]);
        assert_eq!(
            table.markdown(),
            "| a | b |\n|---|---:|\n| 1 | 2 |\n\n* good: reached.\n* bad: **missed**.\n"
        );
    }
}
