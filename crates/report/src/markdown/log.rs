//! The last lines of the log.

use crate::escape::{html_lines, short};

use super::Context;

/// Lines that are shown at most.
const LINES_MAX: usize = 50;

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    let log = &context.report.log;
    if log.lines.is_empty() {
        return None;
    }
    let skipped = log.lines.len().saturating_sub(LINES_MAX);
    let before = log.before.saturating_add(skipped as u64);
    let lines: Vec<String> =
        log.lines[skipped..].iter().map(|line| html_lines(&short(line.trim_end()))).collect();
    let mut text = String::new();
    if before > 0 {
        text += &format!("{}\n\n", context.lang.log_before(before));
    }
    Some(text + &format!("<pre>\n{}\n</pre>\n", lines.join("\n")))
}
