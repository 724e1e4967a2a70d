//! The results as JSON, and the commands that export all of the numbers.

use serde_json::{Map, Value, json};

use crate::escape::{self, html_lines};

use super::{Context, lines, metrics};

/// Metrics in the JSON at most; all are in the exports.
const METRICS_MAX: usize = 24;

/// The verdict, the objectives and the metrics of the whole run, in the shape and with the names of the JSON report.
pub(super) fn results(context: &Context<'_>) -> Option<String> {
    let document = crate::json::document(context.report);
    let shown: Vec<&str> = metrics::shown(context).iter().map(|metric| metric.name.as_str()).collect();
    let shown_metrics = document.metrics.iter().filter(|metric| shown.contains(&metric.name.as_str()));
    let values = |metric: &api::report::ReportMetric| {
        let values = serde_json::to_value(&metric.values).ok()?;
        let values = values.as_object()?.iter().map(|(name, one)| (name.clone(), one["value"].clone()));
        Some((escape::short(&metric.name), Value::Object(values.collect())))
    };
    let metrics: Map<String, Value> = shown_metrics.take(METRICS_MAX).filter_map(values).collect();
    let thresholds = document.thresholds.iter().map(|one| {
        json!({
            "metric": escape::short(&one.metric),
            "condition": escape::short(&one.condition),
            "ok": one.ok,
            "observed": one.observed.value,
            "limit": one.limit,
        })
    });
    let results = json!({
        "run": { "id": escape::short(&document.run.id), "started": document.run.started, "elapsedMs": document.run.elapsed_ms },
        "verdict": document.verdict.verdict,
        "thresholds": thresholds.collect::<Vec<_>>(),
        "metrics": metrics,
    });
    let text = lines::json(&results);
    let is_known = !document.metrics.is_empty() && text.len() <= context.table_bytes;
    is_known.then(|| format!("<pre>\n{}\n</pre>\n", html_lines(&text)))
}

pub(super) fn commands(context: &Context<'_>) -> Option<String> {
    // Only what no shell could take for anything else, since the line is there to be copied.
    let id =
        escape::short(&context.report.identity.id).replace(|glyph: char| !glyph.is_ascii_alphanumeric(), "");
    (!id.is_empty()).then(|| format!("{}\n", context.lang.raw_data_commands(id)))
}
