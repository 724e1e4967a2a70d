//! Findings as Markdown, for a pull-request comment.

use model::{Derived, Finding};

use super::Findings;
use crate::escape::markdown_text;

/// Bytes of a report at most: GitHub refuses comments of more than 65,536 characters.
pub const BYTES_MAX: usize = 60_000;

/// Kept free for the line that says what was left out.
const LEFT_OUT_BYTES: usize = 200;

/// Everything, in at most [`BYTES_MAX`] bytes; what did not fit is counted at the end.
pub fn render(told: &Findings<'_>) -> String {
    let mut text = format!("**{}**\n", markdown_text(&told.sentence()));
    let parts = parts(told);
    for (index, part) in parts.iter().enumerate() {
        if text.len() + part.len() + LEFT_OUT_BYTES > BYTES_MAX {
            let rest = parts.len() - index;
            return text
                + &format!(
                    "\n> Left out, because this report may have {BYTES_MAX} bytes: {rest} parts. `--format json` has everything.\n"
                );
        }
        text += part;
    }
    text
}

/// What may be left out, piece by piece.
fn parts(told: &Findings<'_>) -> Vec<String> {
    let mut parts: Vec<String> = told.findings.iter().map(of_finding).collect();
    parts.extend(told.beyond.iter().map(|(rule, count)| format!("\n{count} more of {rule}\n")));
    let derived: Vec<String> = told.derived.iter().map(of_derived).collect();
    parts.extend(list("What follows from the figures", derived));
    let mut remarks: Vec<String> =
        told.remarks.iter().map(|remark| format!("* {}\n", markdown_text(remark))).collect();
    if told.remarks_beyond > 0 {
        remarks.push(format!("* … and {} more\n", told.remarks_beyond));
    }
    parts.extend(list("Not understood, and not used", remarks));
    parts
}

fn list(title: &str, items: Vec<String>) -> Vec<String> {
    let mut items = items;
    if let Some(first) = items.first_mut() {
        *first = format!("\n### {title}\n\n{first}");
    }
    items
}

fn of_finding(finding: &Finding) -> String {
    let mut text = format!(
        "\n### {}: {}\n\n{} ({})\n\n| Figure | Value |\n|---|--:|\n",
        finding.severity.as_str(),
        finding.rule,
        long(&finding.claim),
        markdown_text(&finding.place)
    );
    for figure in &finding.evidence {
        text +=
            &format!("| {} | {} |\n", markdown_text(&figure.name), markdown_text(&figure.value.to_string()));
    }
    text += &format!("\n* **Implies**: {}\n* **Mend**: {}\n", long(&finding.implies), long(&finding.remedy));
    for caveat in &finding.caveats {
        text += &format!("* **Caveat**: {}\n", long(caveat));
    }
    text
}

fn of_derived(derived: &Derived) -> String {
    format!("* **{}**: {} ({})\n", derived.law, long(&derived.says), markdown_text(&derived.place))
}

/// A sentence of ours, which may be longer than a name: escaped word by word, since names are cut.
fn long(text: &str) -> String {
    text.split(' ').map(markdown_text).collect::<Vec<_>>().join(" ")
}
