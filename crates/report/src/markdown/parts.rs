//! Scenarios and groups, each with its checks and metrics.

use crate::escape::markdown_code;
use crate::summary::{CheckSummary, GroupSummary, MetricSummary};

use super::{Context, checks, metrics};

/// Groups within groups that are shown; what is deeper is left to the other formats.
const DEPTH_MAX: usize = 8;

/// Parts that are shown at most; their number is bounded only by the script.
const PARTS_MAX: usize = 40;

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    let summary = &context.report.summary;
    let mut parts = Vec::new();
    for scenario in summary.scenarios.iter() {
        let title = format!("{} {}", context.lang.scenario(), markdown_code(&scenario.name));
        parts.extend(part(&title, &scenario.checks, &scenario.metrics, context));
        collect(&scenario.groups, Some(&scenario.name), 0, context, &mut parts);
    }
    if summary.scenarios.is_empty() {
        collect(&summary.root_group.groups, None, 0, context, &mut parts);
    }
    let more = parts.len().saturating_sub(PARTS_MAX);
    parts.truncate(PARTS_MAX);
    if more > 0 {
        parts.push(format!("{}\n", context.lang.more_rows(more)));
    }
    (!parts.is_empty()).then(|| parts.join("\n"))
}

fn collect(
    groups: &[GroupSummary],
    scenario: Option<&str>,
    depth: usize,
    context: &Context<'_>,
    parts: &mut Vec<String>,
) {
    if depth >= DEPTH_MAX {
        return;
    }
    for group in groups {
        let path = group.path.trim_start_matches("::").replace("::", " › ");
        let path = if path.is_empty() { group.name.clone() } else { path };
        let scenario_name = scenario.map(|name| format!("{} · ", markdown_code(name))).unwrap_or_default();
        let title = format!("{} {scenario_name}{}", context.lang.group(), markdown_code(&path));
        parts.extend(part(&title, &group.checks, &group.metrics, context));
        collect(&group.groups, scenario, depth + 1, context, parts);
    }
}

/// One part; `None` where nothing is directly in it.
fn part(title: &str, all: &[CheckSummary], own: &[MetricSummary], context: &Context<'_>) -> Option<String> {
    let judged: Vec<&CheckSummary> = all.iter().collect();
    let judged = (!judged.is_empty()).then(|| checks::table(&judged, context));
    let values = metrics::tables(&metrics::select(own, context), context);
    let texts: Vec<String> = [judged, values].into_iter().flatten().collect();
    (!texts.is_empty()).then(|| format!("#### {title}\n\n{}", texts.join("\n")))
}
