//! Findings on a terminal.

use model::{Derived, Figure, Finding, Severity};

use super::{Findings, Told, severity};
use crate::escape::terminal;
use crate::lang::fill;
use crate::style::{BOLD, FAINT, RED, YELLOW, width};
use crate::{Lang, Style};

/// Everything, in lines that begin with two blanks as those of a summary do.
pub fn render(told: &Findings<'_>, lang: Lang, style: Style) -> String {
    let words = lang.words();
    let mut text = format!("  {}\n", style.paint(BOLD, &told.sentence(lang)));
    for finding in told.findings {
        text += &format!("\n{}", of_finding(finding, lang, style));
    }
    if !told.beyond.is_empty() {
        text.push('\n');
    }
    for (rule, count) in told.beyond {
        text += &format!("  {}\n", fill(words.aud_more_of, &[&count.to_string(), rule]));
    }
    if !told.derived.is_empty() {
        text += &format!("\n  {}\n", style.paint(BOLD, words.aud_follows));
    }
    for derived in told.derived {
        text += &format!("\n{}", of_derived(derived, lang, style));
    }
    if !told.remarks.is_empty() {
        text += &format!("\n  {}\n\n", style.paint(BOLD, words.aud_not_understood));
    }
    for remark in told.remarks {
        text += &format!("  {}\n", terminal(remark));
    }
    if told.remarks_beyond > 0 {
        text += &format!("  {}\n", fill(words.aud_and_more, &[&told.remarks_beyond.to_string()]));
    }
    style.fit(text)
}

fn of_finding(finding: &Finding, lang: Lang, style: Style) -> String {
    let (colour, mark) = match finding.severity {
        Severity::Error => (RED, "✗"),
        Severity::Warning => (YELLOW, "✗"),
        Severity::Note => (FAINT, "•"),
    };
    let (words, told) = (lang.words(), Told::of(finding, lang));
    let head = style.paint(colour, &format!("{mark} {}", severity(finding.severity, words)));
    let place = style.paint(FAINT, &terminal(&finding.place));
    let mut text = format!("  {head}  {}  {place}\n    {}\n", finding.rule, terminal(told.claim));
    if let Some(original) = told.original {
        text += &style.paint(FAINT, &format!("    {}: {}", words.aud_original, terminal(original)));
        text.push('\n');
    }
    text += &figures(&finding.evidence, lang);
    // The two labels end below each other.
    let width = words.aud_implies.chars().count().max(words.aud_mend.chars().count()) + 1;
    for (label, sentence) in [(words.aud_implies, told.implies), (words.aud_mend, told.mend)] {
        text += &format!("    {:<width$} {}\n", format!("{label}:"), terminal(sentence));
    }
    text + &caveats(&finding.caveats, lang, style)
}

fn of_derived(derived: &Derived, lang: Lang, style: Style) -> String {
    let place = style.paint(FAINT, &terminal(&derived.place));
    let says = lang.law(derived.law).unwrap_or(&derived.says);
    let mut text = format!("  {}  {place}\n    {}\n", derived.law, terminal(says));
    text += &figures(&derived.figures, lang);
    text + &caveats(&derived.caveats, lang, style)
}

/// A line for each figure, the values below each other.
fn figures(figures: &[Figure], lang: Lang) -> String {
    let names: Vec<String> = figures.iter().map(|figure| terminal(lang.figure(&figure.name))).collect();
    let width_max = names.iter().map(|name| width(name)).max().unwrap_or(0);
    let lines = names.iter().zip(figures).map(|(name, figure)| {
        let blanks = " ".repeat(width_max - width(name));
        format!("      {name}{blanks}  {}\n", terminal(&figure.value.to_string()))
    });
    lines.collect()
}

fn caveats(caveats: &[String], lang: Lang, style: Style) -> String {
    let label = format!("{}:", lang.words().aud_caveat);
    let lines =
        caveats.iter().map(|caveat| format!("    {}  {}\n", style.paint(FAINT, &label), terminal(caveat)));
    lines.collect()
}
