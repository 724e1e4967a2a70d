//! Figures as a source stated them, without the samples behind them.

use std::time::Duration;

use model::{MetricKind, ValueKind};

/// Larger counts would not be exact as the floats that JSON and text give.
const COUNT_MAX: f64 = (1u64 << 53) as f64;

/// One figure that has no place among metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Full name.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// `ms`, `%`, `/s`; empty for a plain count.
    pub unit: String,
    /// How to read it; empty where the name says all.
    pub note: String,
}

impl Figure {
    pub(crate) fn new(name: impl Into<String>, value: f64, unit: &str, note: &str) -> Figure {
        Figure { name: name.into(), value, unit: unit.to_owned(), note: note.to_owned() }
    }
}

/// The contents of a summary.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stated {
    /// The script's name; empty where the source has none.
    pub script: String,
    /// Duration of the run; `None` where the source has none.
    pub elapsed: Option<Duration>,
    /// Metrics and sub-metrics, in the order of the source.
    pub metrics: Vec<StatedMetric>,
    /// Checks with their counts, in the order of the source.
    pub checks: Vec<StatedCheck>,
    /// Further figures.
    pub figures: Vec<Figure>,
    /// Facts missing from the source, one sentence each.
    pub gaps: Vec<String>,
}

/// A metric or sub-metric.
#[derive(Clone, Debug, PartialEq)]
pub struct StatedMetric {
    /// `metric` or `metric{tag:value}`.
    pub name: String,
    /// How its values add up.
    pub kind: MetricKind,
    /// Kind of the values.
    pub contains: ValueKind,
    /// Statistics by k6's names, in the order of the source: counter `count`, `rate`; gauge `value`, `min`, `max`; rate
    /// `passes`, `total`; trend whatever was asked for.
    pub values: Vec<(String, f64)>,
    /// Its thresholds, in the order of the source.
    pub thresholds: Vec<StatedThreshold>,
}

/// A threshold and how it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct StatedThreshold {
    /// As written.
    pub source: String,
    /// Whether the source says that it held.
    pub ok: bool,
    /// The compared value, where the source states it.
    pub observed: Option<f64>,
}

/// A check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedCheck {
    /// The names of its groups from the root, each after `::`; empty in the root.
    pub group: String,
    /// Its name.
    pub name: String,
    /// How often it held.
    pub passes: u64,
    /// How often it did not.
    pub fails: u64,
}

impl StatedMetric {
    /// A statistic by its name.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// Returns the value that a threshold compared, from the metric's own figures.
    pub(crate) fn observed(&self, source: &str) -> Option<f64> {
        let name = source.split(['<', '>', '=', '!']).next().unwrap_or_default().trim();
        match (self.kind, name) {
            (MetricKind::Rate, "rate") => self.share(),
            _ => self.value(name),
        }
    }

    /// The share of a rate.
    fn share(&self) -> Option<f64> {
        let (passes, total) = (self.value("passes")?, self.value("total")?);
        (total > 0.0).then(|| passes / total)
    }

    /// Whether a summary can show it: everything is there that its kind needs, and no count is below zero.
    pub(crate) fn flaw(&self) -> Option<&'static str> {
        let needs: &[&str] = match self.kind {
            MetricKind::Counter => &["count", "rate"],
            MetricKind::Gauge => &["value", "min", "max"],
            MetricKind::Rate => &["passes", "total"],
            MetricKind::Trend => &[],
        };
        if self.values.iter().any(|(_, value)| !value.is_finite()) {
            return Some("one of its values is no finite number");
        }
        if needs.iter().any(|name| self.value(name).is_none()) || self.values.is_empty() {
            return Some("a value of it is missing");
        }
        let is_counted = matches!(self.kind, MetricKind::Counter | MetricKind::Rate);
        let is_impossible = |value: f64| !(0.0..=COUNT_MAX).contains(&value);
        let is_negative = is_counted && self.values.iter().any(|(_, value)| is_impossible(*value));
        let is_more_than_all = self.kind == MetricKind::Rate && self.value("passes") > self.value("total");
        (is_negative || is_more_than_all).then_some("it counts less than nothing, or more than can be")
    }
}

impl Stated {
    /// Takes out the metrics that no summary can show, and says so; fills in the length from a count and its rate where the
    /// source states none.
    pub(crate) fn settle(mut self) -> Stated {
        let mut left_out = Vec::new();
        self.metrics.retain(|metric| match metric.flaw() {
            None => true,
            Some(why) => {
                left_out.push(format!("`{}` is left out: {why}", metric.name));
                false
            }
        });
        self.gaps.extend(left_out);
        if self.elapsed.is_none() {
            self.elapsed = self.elapsed_by_rate();
            self.gaps.push(match self.elapsed {
                Some(_) => "the run's length is worked out from a count and its rate per second".to_owned(),
                None => "how long the run was is not in the source".to_owned(),
            });
        }
        self
    }

    /// A count divided by its rate: the larger the count, the less its rounding matters.
    fn elapsed_by_rate(&self) -> Option<Duration> {
        let counters = self.metrics.iter().filter(|metric| metric.kind == MetricKind::Counter);
        let pairs = counters.filter(|metric| metric.contains != ValueKind::Data);
        let pairs = pairs.filter_map(|metric| Some((metric.value("count")?, metric.value("rate")?)));
        let (count, rate) = pairs.filter(|pair| pair.1 > 0.0).max_by(|a, b| a.0.total_cmp(&b.0))?;
        Duration::try_from_secs_f64(count / rate).ok()
    }
}
