//! Findings on a terminal.

use model::{Derived, Figure, Finding, Severity};

use super::Findings;
use crate::Style;
use crate::escape::terminal;
use crate::style::{BOLD, FAINT, RED, YELLOW};

/// Everything, in lines that begin with two blanks as those of a summary do.
pub fn render(told: &Findings<'_>, style: Style) -> String {
    let mut text = format!("  {}\n", style.paint(BOLD, &told.sentence()));
    for finding in told.findings {
        text += &format!("\n{}", of_finding(finding, style));
    }
    if !told.beyond.is_empty() {
        text.push('\n');
    }
    for (rule, count) in told.beyond {
        text += &format!("  {count} more of {rule}\n");
    }
    if !told.derived.is_empty() {
        text += &format!("\n  {}\n", style.paint(BOLD, "What follows from the figures"));
    }
    for derived in told.derived {
        text += &format!("\n{}", of_derived(derived, style));
    }
    if !told.remarks.is_empty() {
        text += &format!("\n  {}\n\n", style.paint(BOLD, "Not understood, and not used"));
    }
    for remark in told.remarks {
        text += &format!("  {}\n", terminal(remark));
    }
    if told.remarks_beyond > 0 {
        text += &format!("  … and {} more\n", told.remarks_beyond);
    }
    style.fit(text)
}

fn of_finding(finding: &Finding, style: Style) -> String {
    let (colour, mark) = match finding.severity {
        Severity::Error => (RED, "✗"),
        Severity::Warning => (YELLOW, "✗"),
        Severity::Note => (FAINT, "•"),
    };
    let head = style.paint(colour, &format!("{mark} {}", finding.severity.as_str()));
    let place = style.paint(FAINT, &terminal(&finding.place));
    let mut text = format!("  {head}  {}  {place}\n    {}\n", finding.rule, terminal(&finding.claim));
    text += &figures(&finding.evidence);
    text += &format!("    Implies: {}\n", terminal(&finding.implies));
    text += &format!("    Mend:    {}\n", terminal(&finding.remedy));
    text + &caveats(&finding.caveats, style)
}

fn of_derived(derived: &Derived, style: Style) -> String {
    let place = style.paint(FAINT, &terminal(&derived.place));
    let mut text = format!("  {}  {place}\n    {}\n", derived.law, terminal(&derived.says));
    text += &figures(&derived.figures);
    text + &caveats(&derived.caveats, style)
}

/// A line for each figure, the values below each other.
fn figures(figures: &[Figure]) -> String {
    let names: Vec<String> = figures.iter().map(|figure| terminal(&figure.name)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let lines = names.iter().zip(figures).map(|(name, figure)| {
        let blanks = " ".repeat(width - name.chars().count());
        format!("      {name}{blanks}  {}\n", terminal(&figure.value.to_string()))
    });
    lines.collect()
}

fn caveats(caveats: &[String], style: Style) -> String {
    let lines =
        caveats.iter().map(|caveat| format!("    {}  {}\n", style.paint(FAINT, "Caveat:"), terminal(caveat)));
    lines.collect()
}
