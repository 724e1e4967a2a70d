//! Requests by endpoint, the busiest first.

use crate::document::Endpoint;
use crate::escape::markdown_code;
use crate::summary::{MetricSummary, share};

use super::{Context, metrics};

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    let mut endpoints: Vec<&Endpoint> = context.report.endpoints.iter().collect();
    // The order must be the same for the same run.
    endpoints.sort_by(|a, b| {
        b.requests.cmp(&a.requests).then_with(|| (&a.name, &a.method).cmp(&(&b.name, &b.method)))
    });
    let summaries: Vec<MetricSummary> =
        endpoints.iter().map(|endpoint| MetricSummary::duration(endpoint.duration.clone())).collect();
    let row = |(endpoint, summary): (&&Endpoint, _)| {
        let name = match endpoint.method.is_empty() {
            true => markdown_code(&endpoint.name),
            false => markdown_code(&format!("{} {}", endpoint.method, endpoint.name)),
        };
        (name, vec![endpoint.requests.to_string(), failed(endpoint)], summary)
    };
    let rows = endpoints.iter().zip(&summaries).map(row).collect();
    let lang = context.lang;
    metrics::trend_table(lang.endpoint(), &[lang.requests(), lang.failed()], rows, context)
}

fn failed(endpoint: &Endpoint) -> String {
    format!("{} ({})", endpoint.failed, share(endpoint.failed, endpoint.requests))
}
