//! Findings on a terminal.

use model::{Derived, Figure, Finding, Severity};
use words::audit as texts;

use super::{Findings, checks, severity};
use crate::escape::terminal;
use crate::style::{BOLD, FAINT, RED, YELLOW, width};
use crate::{Lang, Style};

/// Everything, in lines that begin with two blanks as those of a summary do.
pub fn render(audit: &Findings<'_>, lang: Lang, style: Style) -> String {
    let mut text = format!("  {}\n", style.paint(BOLD, &audit.sentence(lang)));
    for finding in audit.findings {
        text += &format!("\n{}", of_finding(finding, lang, style));
    }
    if !audit.beyond.is_empty() {
        text.push('\n');
    }
    for (rule, count) in audit.beyond {
        text += &format!("  {}\n", lang.audit_more_findings(count, rule.as_str()));
    }
    if !audit.derived.is_empty() {
        text += &format!("\n  {}\n", style.paint(BOLD, lang.audit_derived()));
    }
    for derived in audit.derived {
        text += &format!("\n{}", of_derived(derived, lang, style));
    }
    if !audit.checked.is_empty() {
        text.push('\n');
    }
    for (heading, list) in checks(audit, lang) {
        text += &format!("  {} {}\n", style.paint(BOLD, &format!("{heading}:")), terminal(&list));
    }
    if !audit.remarks.is_empty() {
        text += &format!("\n  {}\n\n", style.paint(BOLD, lang.audit_ignored()));
    }
    for remark in audit.remarks {
        text += &format!("  {}\n", terminal(remark));
    }
    if audit.remarks_beyond > 0 {
        text += &format!("  {}\n", lang.audit_more_remarks(audit.remarks_beyond));
    }
    style.fit(text)
}

fn of_finding(finding: &Finding, lang: Lang, style: Style) -> String {
    let (colour, mark) = match finding.severity {
        Severity::Error => (RED, "✗"),
        Severity::Warning => (YELLOW, "✗"),
        Severity::Note => (FAINT, "•"),
    };
    let head = style.paint(colour, &format!("{mark} {}", severity(finding.severity, lang)));
    let place = style.paint(FAINT, &terminal(&finding.place));
    let claim = terminal(&texts::claim(lang, &finding.claim));
    let mut text = format!("  {head}  {}  {place}\n    {claim}\n", finding.rule().as_str());
    text += &figures(&finding.evidence, lang);
    // The two labels end below each other.
    let width = lang.audit_impact().chars().count().max(lang.audit_remedy().chars().count()) + 1;
    let (impact, remedy) = (texts::impact(lang, &finding.claim), texts::remedy(lang, &finding.claim));
    for (label, sentence) in [(lang.audit_impact(), impact), (lang.audit_remedy(), remedy)] {
        text += &format!("    {:<width$} {}\n", format!("{label}:"), terminal(&sentence));
    }
    text + &caveats(&texts::caveats(lang, &finding.claim), lang, style)
}

fn of_derived(derived: &Derived, lang: Lang, style: Style) -> String {
    let place = style.paint(FAINT, &terminal(&derived.place));
    let result = terminal(&texts::law(lang, &derived.claim));
    let mut text = format!("  {}  {place}\n    {result}\n", derived.law().as_str());
    text += &figures(&derived.figures, lang);
    text + &caveats(&texts::assumptions(lang, &derived.claim), lang, style)
}

/// A line for each figure, the values below each other.
fn figures(figures: &[Figure], lang: Lang) -> String {
    let names: Vec<String> =
        figures.iter().map(|figure| terminal(&texts::label(lang, &figure.label))).collect();
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
