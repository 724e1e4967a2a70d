//! oha's report as JSON (`oha --output-format json`, `-j` in older versions). Times are seconds.

use std::collections::BTreeMap;

use model::{MetricKind, ValueKind};
use serde::Deserialize;

use crate::stated::{Figure, Stated, StatedMetric};
use crate::{ImportError, Kind};

/// k6's names of oha's percentiles.
const PERCENTILES: &[(&str, &str)] = &[
    ("p50", "med"),
    ("p75", "p(75)"),
    ("p90", "p(90)"),
    ("p95", "p(95)"),
    ("p99", "p(99)"),
    ("p99.9", "p(99.9)"),
    ("p99.99", "p(99.99)"),
];

const MS_PER_S: f64 = 1000.0;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawReport {
    summary: RawSummary,
    latency_percentiles: BTreeMap<String, Option<f64>>,
    status_code_distribution: BTreeMap<String, f64>,
    #[serde(default)]
    error_distribution: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawSummary {
    total: f64,
    slowest: Option<f64>,
    fastest: Option<f64>,
    average: Option<f64>,
    requests_per_sec: f64,
    total_data: Option<f64>,
}

/// Reads a report.
///
/// # Errors
/// It is JSON of another shape, or none.
pub fn read_oha(text: &str) -> Result<Stated, ImportError> {
    let raw: RawReport = serde_json::from_str(text.trim_start_matches(crate::kind::BOM))?;
    let answered: f64 = raw.status_code_distribution.values().sum();
    let errors: f64 = raw.error_distribution.values().sum();
    let refused = |status: &str| status.parse::<u16>().is_ok_and(|status| status >= 400);
    let failed: f64 = raw
        .status_code_distribution
        .iter()
        .filter(|(status, _)| refused(status))
        .map(|(_, count)| count)
        .sum();
    if answered + errors <= 0.0 {
        return Err(ImportError::Nothing {
            kind: Kind::OhaJson,
            why: Some("it counts no request".to_owned()),
        });
    }
    let ms = |seconds: Option<f64>| seconds.map(|seconds| seconds * MS_PER_S);
    let mut times = vec![
        ("avg", ms(raw.summary.average)),
        ("min", ms(raw.summary.fastest)),
        ("max", ms(raw.summary.slowest)),
    ];
    times.extend(
        PERCENTILES
            .iter()
            .map(|(theirs, ours)| (*ours, ms(raw.latency_percentiles.get(*theirs).copied().flatten()))),
    );
    let metric = |name: &str, kind, contains, values: Vec<(&str, Option<f64>)>| StatedMetric {
        name: name.to_owned(),
        kind,
        contains,
        values: values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect(),
        thresholds: Vec::new(),
    };
    let count = answered + errors;
    let mut stated = Stated {
        elapsed: std::time::Duration::try_from_secs_f64(raw.summary.total).ok(),
        metrics: vec![
            metric(
                "http_reqs",
                MetricKind::Counter,
                ValueKind::Default,
                vec![("count", Some(count)), ("rate", Some(raw.summary.requests_per_sec))],
            ),
            metric("http_req_duration", MetricKind::Trend, ValueKind::Time, times),
            metric(
                "http_req_failed",
                MetricKind::Rate,
                ValueKind::Default,
                vec![("passes", Some(failed + errors)), ("total", Some(count))],
            ),
        ],
        ..Stated::default()
    };
    if let Some(bytes) = raw.summary.total_data.filter(|_| raw.summary.total > 0.0) {
        let values = vec![("count", Some(bytes)), ("rate", Some(bytes / raw.summary.total))];
        stated.metrics.push(metric("data_received", MetricKind::Counter, ValueKind::Data, values));
    }
    for (error, count) in &raw.error_distribution {
        stated.figures.push(Figure::new(format!("error: {error}"), *count, "", ""));
    }
    stated
        .gaps
        .push("times are those of requests with a response; oha counts the others as errors".to_owned());
    stated
        .gaps
        .push("the load's plan, its seconds and the machine that made it are not in the source".to_owned());
    Ok(stated.settle())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shape of oha 1.4's report, from its documentation.
    const REPORT: &str = r#"{"summary": {"successRate": 1.0, "total": 2.0, "slowest": 0.05, "fastest": 0.001, "average": 0.01,
        "requestsPerSec": 100.0, "totalData": 2000, "sizePerRequest": 10, "sizePerSec": 1000.0},
        "latencyPercentiles": {"p10": 0.002, "p50": 0.009, "p95": 0.03, "p99.99": null},
        "statusCodeDistribution": {"200": 190, "404": 5}, "errorDistribution": {"connection closed": 5}}"#;

    #[test]
    fn a_report_becomes_figures() {
        let stated = read_oha(REPORT).expect("a report");
        let value = |metric: usize, name: &str| stated.metrics[metric].value(name);
        assert_eq!((value(0, "count"), value(0, "rate")), (Some(200.0), Some(100.0)));
        assert_eq!(
            (value(1, "med"), value(1, "p(95)"), value(1, "max")),
            (Some(9.0), Some(30.0), Some(50.0))
        );
        assert_eq!((value(2, "passes"), value(2, "total")), (Some(10.0), Some(200.0)));
        assert!(read_oha("{}").is_err());
    }
}
