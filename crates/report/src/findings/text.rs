//! Findings on a terminal.

use model::{Derived, Figure, Finding, Severity};

use super::{Findings, Wording, severity};
use crate::escape::terminal;
use crate::style::{BOLD, FAINT, RED, YELLOW, width};
use crate::{Lang, Style};

/// Everything, in lines that begin with two blanks as those of a summary do.
pub fn render(told: &Findings<'_>, lang: Lang, style: Style) -> String {
    let mut text = format!("  {}\n", style.paint(BOLD, &told.sentence(lang)));
    for finding in told.findings {
        text += &format!("\n{}", of_finding(finding, lang, style));
    }
    if !told.beyond.is_empty() {
        text.push('\n');
    }
    for (rule, count) in told.beyond {
        text += &format!("  {}\n", lang.audit_more_findings(count, rule));
    }
    if !told.derived.is_empty() {
        text += &format!("\n  {}\n", style.paint(BOLD, lang.audit_derived()));
    }
    for derived in told.derived {
        text += &format!("\n{}", of_derived(derived, lang, style));
    }
    if !told.remarks.is_empty() {
        text += &format!("\n  {}\n\n", style.paint(BOLD, lang.audit_ignored()));
    }
    for remark in told.remarks {
        text += &format!("  {}\n", terminal(remark));
    }
    if told.remarks_beyond > 0 {
        text += &format!("  {}\n", lang.audit_more_remarks(told.remarks_beyond));
    }
    style.fit(text)
}

fn of_finding(finding: &Finding, lang: Lang, style: Style) -> String {
    let (colour, mark) = match finding.severity {
        Severity::Error => (RED, "✗"),
        Severity::Warning => (YELLOW, "✗"),
        Severity::Note => (FAINT, "•"),
    };
    let (lang, told) = (lang, Wording::new(finding, lang));
    let head = style.paint(colour, &format!("{mark} {}", severity(finding.severity, lang)));
    let place = style.paint(FAINT, &terminal(&finding.place));
    let mut text = format!("  {head}  {}  {place}\n    {}\n", finding.rule, terminal(told.claim));
    if let Some(original) = told.original {
        text += &style.paint(FAINT, &format!("    {}: {}", lang.audit_original(), terminal(original)));
        text.push('\n');
    }
    text += &figures(&finding.evidence, lang);
    // The two labels end below each other.
    let width = lang.audit_impact().chars().count().max(lang.audit_remedy().chars().count()) + 1;
    for (label, sentence) in [(lang.audit_impact(), told.implies), (lang.audit_remedy(), told.mend)] {
        text += &format!("    {:<width$} {}\n", format!("{label}:"), terminal(sentence));
    }
    text + &caveats(&finding.caveats, lang, style)
}

fn of_derived(derived: &Derived, lang: Lang, style: Style) -> String {
    let place = style.paint(FAINT, &terminal(&derived.place));
    let says = crate::lang::law(lang, derived.law).unwrap_or(&derived.says);
    let mut text = format!("  {}  {place}\n    {}\n", derived.law, terminal(says));
    text += &figures(&derived.figures, lang);
    text + &caveats(&derived.caveats, lang, style)
}

/// A line for each figure, the values below each other.
fn figures(figures: &[Figure], lang: Lang) -> String {
    let names: Vec<String> =
        figures.iter().map(|figure| terminal(crate::lang::figure(lang, &figure.name))).collect();
    let width_max = names.iter().map(|name| width(name)).max().unwrap_or(0);
    let lines = names.iter().zip(figures).map(|(name, figure)| {
        let blanks = " ".repeat(width_max - width(name));
        format!("      {name}{blanks}  {}\n", terminal(&figure.value.to_string()))
    });
    lines.collect()
}

fn caveats(caveats: &[String], lang: Lang, style: Style) -> String {
    let label = format!("{}:", lang.audit_caveat());
    let lines =
        caveats.iter().map(|caveat| format!("    {}  {}\n", style.paint(FAINT, &label), terminal(caveat)));
    lines.collect()
}
