//! Findings as Markdown, for a pull-request comment.

use model::{Derived, Finding};
use words::audit as texts;

use super::{Findings, checks, severity};
use crate::Lang;
use crate::escape::markdown_text;

/// Bytes of a report at most: GitHub refuses comments of more than 65,536 characters.
pub const BYTES_MAX: usize = 60_000;

/// Kept free for the line that says what was left out.
const LEFT_OUT_BYTES: usize = 200;

/// Everything, in at most [`BYTES_MAX`] bytes; what did not fit is counted at the end.
pub fn render(audit: &Findings<'_>, lang: Lang) -> String {
    let mut text = format!("**{}**\n", markdown_text(&audit.sentence(lang)));
    let parts = parts(audit, lang);
    for (index, part) in parts.iter().enumerate() {
        if text.len() + part.len() + LEFT_OUT_BYTES > BYTES_MAX {
            let rest = (parts.len() - index).to_string();
            let left_out = lang.audit_left_out(BYTES_MAX, rest);
            return text + &format!("\n> {left_out}\n");
        }
        text += part;
    }
    text
}

/// The pieces that may be left out.
fn parts(audit: &Findings<'_>, lang: Lang) -> Vec<String> {
    let mut parts: Vec<String> = audit.findings.iter().map(|finding| of_finding(finding, lang)).collect();
    let beyond = audit.beyond.iter();
    parts.extend(
        beyond.map(|(rule, count)| format!("\n{}\n", lang.audit_more_findings(count, rule.as_str()))),
    );
    let derived: Vec<String> = audit.derived.iter().map(|derived| of_derived(derived, lang)).collect();
    parts.extend(list(lang.audit_derived(), derived));
    let checked = checks(audit, lang).into_iter();
    let checked: String =
        checked.map(|(heading, list)| format!("\n* **{heading}**: {}", markdown_text(&list))).collect();
    parts.extend((!audit.checked.is_empty()).then(|| format!("{checked}\n")));
    let mut remarks: Vec<String> =
        audit.remarks.iter().map(|remark| format!("* {}\n", markdown_text(remark))).collect();
    if audit.remarks_beyond > 0 {
        remarks.push(format!("* {}\n", lang.audit_more_remarks(audit.remarks_beyond)));
    }
    parts.extend(list(lang.audit_ignored(), remarks));
    parts
}

fn list(title: &str, items: Vec<String>) -> Vec<String> {
    let mut items = items;
    if let Some(first) = items.first_mut() {
        *first = format!("\n### {title}\n\n{first}");
    }
    items
}

fn of_finding(finding: &Finding, lang: Lang) -> String {
    let mut text = format!(
        "\n### {}: {}\n\n{} ({})\n\n| {} | {} |\n|---|--:|\n",
        severity(finding.severity, lang),
        finding.rule().as_str(),
        long(&texts::claim(lang, &finding.claim)),
        markdown_text(&finding.place),
        lang.audit_figure(),
        lang.value()
    );
    for figure in &finding.evidence {
        let (label, value) = (texts::label(lang, &figure.label), figure.value.to_string());
        text += &format!("| {} | {} |\n", markdown_text(&label), markdown_text(&value));
    }
    text.push('\n');
    let claim = &finding.claim;
    let mut lines = vec![
        (lang.audit_impact(), texts::impact(lang, claim)),
        (lang.audit_remedy(), texts::remedy(lang, claim)),
    ];
    lines.extend(texts::caveats(lang, claim).into_iter().map(|caveat| (lang.audit_caveat(), caveat)));
    for (label, sentence) in lines {
        text += &format!("* **{label}**: {}\n", long(&sentence));
    }
    text
}

fn of_derived(derived: &Derived, lang: Lang) -> String {
    let result = texts::law(lang, &derived.claim);
    format!("* **{}**: {} ({})\n", derived.law().as_str(), long(&result), markdown_text(&derived.place))
}

/// A sentence of ours, which may be longer than a name: escaped word by word, since names are cut.
fn long(text: &str) -> String {
    text.split(' ').map(markdown_text).collect::<Vec<_>>().join(" ")
}
