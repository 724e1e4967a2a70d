//! The consolidated options as JSON.

use crate::escape::html_lines;

use super::Context;

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    let options = context.report.options.as_ref()?;
    let text = serde_json::to_string_pretty(options).ok()?;
    Some(format!("<pre>\n{}\n</pre>\n", html_lines(&text)))
}
