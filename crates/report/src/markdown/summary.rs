//! The executive summary: bottleneck, maximum load, changes.

use crate::comparison;
use crate::escape::markdown_prose;

use super::{Context, capacity};

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    let (report, lang) = (context.report, context.lang);
    let mut lines = Vec::new();
    if let Some(part) = capacity::part(context) {
        lines.push((
            lang.capacity_name(),
            format!("{} {}", markdown_prose(&part.sentence), markdown_prose(&part.plan)),
        ));
    }
    if let Some(diagnosis) = &report.diagnosis {
        lines.push((lang.chapter_bottleneck(), markdown_prose(&diagnosis.headline)));
    }
    if let Some(previous) = &report.previous {
        lines.push((lang.chapter_changes(), comparison::closing(previous, lang)));
    }
    let line = |(title, text): &(&str, String)| format!("* **{title}**: {}\n", text.trim());
    (!lines.is_empty()).then(|| lines.iter().map(line).collect())
}
