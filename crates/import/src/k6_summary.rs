//! k6's summary as JSON, in each of its shapes: `--summary-export`, what `handleSummary(data)` gets, and
//! `--new-machine-readable-summary`.
//!
//! The shapes are documented at <https://grafana.com/docs/k6/latest/results-output/end-of-test/custom-summary/>.

use std::time::Duration;

use model::{MetricKind, ValueKind};
use serde_json::{Map, Value};

use crate::{ImportError, Kind, Stated, StatedCheck, StatedMetric, StatedThreshold, known};

/// Groups within groups that are looked into.
const DEPTH_MAX: usize = 64;

/// Larger counts of a check are no counts; sums of smaller ones do not overflow.
const COUNT_MAX: u64 = 1 << 44;

/// Maximum number of unreadable entries that are shown; all are counted.
const UNREAD_SHOWN_MAX: usize = 3;

/// Reads a summary.
///
/// # Errors
/// It is no JSON, or none of the shapes.
pub fn read_summary(text: &str) -> Result<Stated, ImportError> {
    let document: Value = serde_json::from_str(text.trim_start_matches(crate::kind::BOM))?;
    let nothing = |why: &str| ImportError::Nothing { kind: Kind::K6Summary, why: Some(why.to_owned()) };
    let mut stated = Stated::default();
    // Metrics and checks that cannot be read, and why.
    let mut unread: Vec<String> = Vec::new();
    if let Some(results) = document.get("results").filter(|_| document.get("version").is_some()) {
        read_machine(&document, results, &mut stated, &mut unread);
    } else if let Some(metrics) = document.get("metrics").and_then(Value::as_object) {
        read_metrics(metrics, &mut stated, &mut unread);
        stated.elapsed =
            document.pointer("/state/testRunDurationMs").and_then(Value::as_f64).and_then(milliseconds);
        if let Some(root) = document.get("root_group") {
            read_group(root, "", 0, &mut stated.checks, &mut unread);
        }
    } else {
        return Err(nothing("it has neither `metrics` nor `results`"));
    }
    if stated.metrics.is_empty() {
        return Err(nothing(unread.first().map_or("it has no metric", String::as_str)));
    }
    stated.gaps.insert(0, "summary only: no seconds, no histograms, nothing but these figures".to_owned());
    if !unread.is_empty() {
        let shown = unread[..unread.len().min(UNREAD_SHOWN_MAX)].join("; ");
        stated.gaps.push(format!("{} metrics or checks could not be read: {shown}", unread.len()));
    }
    Ok(stated.settle())
}

fn milliseconds(ms: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(ms / 1e3).ok()
}

/// The metrics of the two older shapes: values flat, or under `values` with kind and unit beside them.
fn read_metrics(metrics: &Map<String, Value>, stated: &mut Stated, unread: &mut Vec<String>) {
    let mut guessed = Vec::new();
    for (name, metric) in metrics {
        let word = |key: &str| metric.get(key).and_then(Value::as_str);
        let is_new = metric.get("values").is_some_and(Value::is_object);
        let Some(values) =
            (if is_new { metric.get("values") } else { Some(metric) }).and_then(Value::as_object)
        else {
            unread.push(format!("`{name}` is not an object"));
            continue;
        };
        let kind = word("type").filter(|_| is_new).and_then(known::kind).or_else(|| kind_of(values));
        let Some(kind) = kind else {
            unread.push(format!("`{name}` has an unknown metric type"));
            continue;
        };
        let stated_kind = word("contains").filter(|_| is_new).and_then(known::contents);
        let contains =
            stated_kind.or_else(|| known::metric(name).map(|known| known.1)).unwrap_or_else(|| {
                guessed.push(format!("`{name}`"));
                ValueKind::Default
            });
        stated.metrics.push(with_thresholds(
            metric,
            StatedMetric {
                name: name.clone(),
                kind,
                contains,
                values: values_of(kind, values),
                thresholds: Vec::new(),
            },
        ));
    }
    if !guessed.is_empty() {
        stated.gaps.push(format!(
            "the source does not say what these measure; they are shown as plain numbers: {}",
            guessed.join(", ")
        ));
    }
}

/// The kind of a metric whose values are all that is known of it.
fn kind_of(values: &Map<String, Value>) -> Option<MetricKind> {
    let has = |name: &str| values.contains_key(name);
    Some(match () {
        () if has("passes") && has("fails") => MetricKind::Rate,
        () if has("count") && has("rate") && !has("avg") => MetricKind::Counter,
        () if has("value") && has("min") && has("max") => MetricKind::Gauge,
        () if values.values().any(Value::is_number) => MetricKind::Trend,
        () => return None,
    })
}

/// The statistics under the names that all shapes share here. What is null was not measured and is left out.
fn values_of(kind: MetricKind, values: &Map<String, Value>) -> Vec<(String, f64)> {
    let number = |name: &str| values.get(name).and_then(Value::as_f64);
    if kind == MetricKind::Rate {
        let passes = number("passes").or_else(|| number("matches"));
        let total = number("total").or_else(|| Some(number("passes")? + number("fails")?));
        return [("passes", passes), ("total", total)].into_iter().filter_map(named).collect();
    }
    let all = values.iter().filter_map(|(name, value)| Some((statistic(name), value.as_f64()?)));
    let mut all: Vec<(String, f64)> = all.collect();
    // Objects have no order of their own here, so the usual one is taken.
    all.sort_by(|a, b| (rank(&a.0), &a.0).cmp(&(rank(&b.0), &b.0)));
    all
}

fn named((name, value): (&str, Option<f64>)) -> Option<(String, f64)> {
    Some((name.to_owned(), value?))
}

/// `p95` is `p(95)` in the newest shape.
fn statistic(name: &str) -> String {
    match name.strip_prefix('p').filter(|rest| rest.parse::<f64>().is_ok()) {
        Some(percent) => format!("p({percent})"),
        None => name.to_owned(),
    }
}

fn rank(name: &str) -> usize {
    let usual = ["count", "rate", "value", "avg", "min", "med", "max"];
    usual.iter().position(|known| *known == name).unwrap_or(usual.len())
}

/// In the older shape `true` says that a threshold was crossed, in the other `ok` says that it held.
fn with_thresholds(from: &Value, mut metric: StatedMetric) -> StatedMetric {
    let all = from.get("thresholds").and_then(Value::as_object).into_iter().flatten();
    for (source, outcome) in all {
        let ok = match outcome {
            Value::Bool(crossed) => Some(!crossed),
            other => other.get("ok").and_then(Value::as_bool),
        };
        if let Some(ok) = ok {
            let observed = metric.observed(source);
            metric.thresholds.push(StatedThreshold { source: source.clone(), ok, observed });
        }
    }
    metric
}

/// Groups and checks are lists in one shape and objects in the other.
fn read_group(
    group: &Value,
    path: &str,
    depth: usize,
    checks: &mut Vec<StatedCheck>,
    unread: &mut Vec<String>,
) {
    if depth > DEPTH_MAX {
        return;
    }
    for check in members(group, "checks") {
        let count = |name: &str| check.get(name).and_then(Value::as_u64).filter(|count| *count <= COUNT_MAX);
        let name = check.get("name").and_then(Value::as_str).unwrap_or_default();
        match (count("passes"), count("fails")) {
            (Some(passes), Some(fails)) => {
                checks.push(StatedCheck { group: path.to_owned(), name: name.to_owned(), passes, fails });
            }
            _ => unread.push(format!("the check `{name}` has no counts that can be")),
        }
    }
    for inner in members(group, "groups") {
        let name = inner.get("name").and_then(Value::as_str).unwrap_or_default();
        read_group(inner, &format!("{path}::{name}"), depth + 1, checks, unread);
    }
}

fn members<'a>(group: &'a Value, key: &str) -> Vec<&'a Value> {
    match group.get(key) {
        Some(Value::Array(all)) => all.iter().collect(),
        Some(Value::Object(all)) => all.values().collect(),
        _ => Vec::new(),
    }
}

/// The newest shape, which has neither rates per second nor thresholds nor groups.
fn read_machine(document: &Value, results: &Value, stated: &mut Stated, unread: &mut Vec<String>) {
    let seconds =
        document.pointer("/config/duration").and_then(Value::as_f64).filter(|seconds| *seconds > 0.0);
    stated.elapsed = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    for metric in members(results, "metrics") {
        let word = |key: &str| metric.get(key).and_then(Value::as_str);
        let parts = (
            word("name"),
            word("type").and_then(known::kind),
            metric.get("values").and_then(Value::as_object),
        );
        let (Some(name), Some(kind), Some(values)) = parts else {
            unread.push("a metric lacks its name, kind or values".to_owned());
            continue;
        };
        let mut values = values_of(kind, values);
        if let (MetricKind::Counter, Some(seconds), Some((_, count))) =
            (kind, seconds, values.first().cloned())
        {
            values.push(("rate".to_owned(), count / seconds));
        }
        let contains = word("contains").and_then(known::contents).unwrap_or(ValueKind::Default);
        stated.metrics.push(StatedMetric {
            name: name.to_owned(),
            kind,
            contains,
            values,
            thresholds: Vec::new(),
        });
    }
    let root = serde_json::json!({ "checks": results.pointer("/checks/results") });
    read_group(&root, "", 0, &mut stated.checks, unread);
    let sum =
        |count: fn(&StatedCheck) -> u64| stated.checks.iter().map(|check| count(check) as f64).sum::<f64>();
    let (passes, fails) = (sum(|check| check.passes), sum(|check| check.fails));
    if passes + fails > 0.0 {
        let values = vec![("passes".to_owned(), passes), ("total".to_owned(), passes + fails)];
        let (kind, contains) = (MetricKind::Rate, ValueKind::Default);
        stated.metrics.push(StatedMetric {
            name: "checks".into(),
            kind,
            contains,
            values,
            thresholds: Vec::new(),
        });
    }
    stated.gaps.push(
        "groups and thresholds are not in the source; rates per second are counts divided by its length"
            .to_owned(),
    );
}
