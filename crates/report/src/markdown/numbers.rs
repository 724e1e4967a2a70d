//! Key metrics: load, failures, latency.

use model::plan::Compat;
use model::{Unit, ValueKind};

use crate::Lang;
use crate::number;
use crate::summary::{MetricSummary, Values, section_of, share};

use super::table::{Column, Table};
use super::{Context, metrics};

/// Built-in times that are shown first; those of the script follow.
const TIMES: &[&str] = &[
    "http_req_duration",
    "http_req_response_time",
    "iteration_duration",
    "iteration_response_time",
    "ws_session_duration",
    "grpc_req_duration",
];

/// The name of a count in a language.
type Label = fn(Lang) -> &'static str;

/// Built-in counts with their labels.
const COUNTS: &[(&str, Label)] = &[
    ("http_reqs", Lang::requests),
    ("http_req_failed", Lang::failed_requests),
    ("checks", Lang::checks),
    ("iterations", Lang::iterations),
    ("iteration_failed", Lang::failed_iterations),
    ("dropped_iterations", Lang::dropped_iterations),
    ("vus_max", Lang::vus_max),
    ("data_received", Lang::received),
    ("data_sent", Lang::sent),
];

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    let texts: Vec<String> = [counts(context), times(context)].into_iter().flatten().collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn counts(context: &Context<'_>) -> Option<String> {
    let lang = context.lang;
    let mut table =
        Table::new(&[Column::Left(lang.metric()), Column::Right(lang.value()), Column::Right("")]);
    for (name, label) in COUNTS {
        let metric = context.report.summary.metrics.iter().find(|metric| metric.name == *name);
        let Some(metric) = metric.filter(|metric| is_wanted(metric, context)) else { continue };
        let Some((value, beside)) = value(metric, context) else { continue };
        table.row(vec![label(lang).to_owned(), value, beside]);
    }
    (!table.is_empty()).then(|| table.render(lang, context.table_bytes))
}

/// Returns the number of requests; `None` where the script made none.
pub(super) fn requests(context: &Context<'_>) -> Option<String> {
    let metric = context.report.summary.metrics.iter().find(|metric| metric.name == "http_reqs")?;
    match metric.values {
        Values::Counter { count, .. } if count > 0.0 => value(metric, context).map(|(count, _)| count),
        _ => None,
    }
}

fn is_wanted(metric: &MetricSummary, context: &Context<'_>) -> bool {
    let is_hidden = context.report.compat == Compat::Strict && metric.is_own();
    !(is_hidden || metric.is_needless())
}

/// A value that is no trend, and what is said beside it.
pub(super) fn value(metric: &MetricSummary, context: &Context<'_>) -> Option<(String, String)> {
    let shown = |value| number::value(value, metric.contains, context.report.time_unit);
    Some(match &metric.values {
        Values::Counter { count, rate } => {
            let rate = match metric.contains {
                ValueKind::Default => words::diagnosis::number(*rate, Unit::Count),
                _ => shown(*rate),
            };
            (shown(*count), context.lang.per_second(rate))
        }
        Values::Gauge { value, min, max } => {
            (shown(*value), format!("min={} max={}", shown(*min), shown(*max)))
        }
        Values::Rate { passes, total } => {
            let counts = [passes.to_string(), total.to_string()];
            (share(*passes, *total), context.lang.out_of(&counts[0], &counts[1]))
        }
        Values::Trend { .. } | Values::NotApplicable(_) => return None,
    })
}

fn times(context: &Context<'_>) -> Option<String> {
    let all = metrics::shown(context);
    let named = TIMES.iter().filter_map(|name| all.iter().find(|metric| metric.name == *name));
    let custom =
        all.iter().filter(|metric| section_of(metric.parent()) == "CUSTOM" && metric.suffix().is_none());
    let chosen: Vec<&MetricSummary> = named.chain(custom).copied().collect();
    metrics::trends(&chosen, context)
}
