//! The input of a summary.

use std::time::Duration;

use model::metric::builtin;
use model::{MetricKind, Validity, ValueKind};

/// Everything a summary shows.
#[derive(Clone, Debug, Default)]
pub struct SummaryInput {
    /// Measurement validity; `None` where it was not judged.
    pub validity: Option<Validity>,
    /// From the start to the end of the run.
    pub run_duration: Duration,
    /// Metrics and sub-metrics (`metric{tag:value}`), in any order.
    pub metrics: Vec<MetricSummary>,
    /// All checks over all groups, one per name, in order of first sight.
    pub checks: Vec<CheckSummary>,
    /// The tree of groups, under a root without a name.
    pub root_group: GroupSummary,
    /// Groups outside the scenarios that have a part of their own, in order of first sight; shown by the full layout alone.
    pub groups_outside: Vec<GroupSummary>,
    /// The scenarios, in the order to show.
    pub scenarios: Vec<ScenarioSummary>,
    /// The return value of `setup()`.
    pub setup_data: Option<serde_json::Value>,
}

/// A metric or sub-metric.
#[derive(Clone, Debug)]
pub struct MetricSummary {
    /// `metric` or `metric{tag:value,…}`.
    pub name: String,
    /// The content type of its values.
    pub contains: ValueKind,
    /// Its values.
    pub values: Values,
    /// Its thresholds, in the order of the script.
    pub thresholds: Vec<ThresholdSummary>,
}

/// The values of a metric.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Of a counter.
    Counter {
        /// The sum.
        count: f64,
        /// The sum per second of the run.
        rate: f64,
    },
    /// Of a gauge.
    Gauge {
        /// The last value.
        value: f64,
        /// The smallest.
        min: f64,
        /// The largest.
        max: f64,
    },
    /// Of a rate.
    Rate {
        /// Values that were not zero.
        passes: u64,
        /// All values.
        total: u64,
    },
    /// Of a trend.
    Trend {
        /// The statistics asked for, in their order.
        stats: Vec<(String, Statistic)>,
        /// Whether they are computed from every value; `None` where there was none.
        exact: Option<bool>,
        /// Values that failed without a time, of which a mean knows nothing.
        untimed: u64,
    },
    /// Of a trend that cannot have values in this run, and why.
    NotApplicable(&'static str),
}

/// A statistic of a trend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// It was measured.
    Number(f64),
    /// A lower bound, with its reason (`timeout`, `cut`, `dropped`, `failed`).
    AtLeast(f64, &'static str),
    /// It lies among failures that have no value at all.
    Failed,
    /// There can be no value, and why.
    NotApplicable(&'static str),
}

/// A threshold and how it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdSummary {
    /// As written.
    pub source: String,
    /// Whether it held.
    pub ok: bool,
    /// The statistic's name and value.
    pub observed: (String, Statistic),
}

/// A check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckSummary {
    /// Its name.
    pub name: String,
    /// How often it held.
    pub passes: u64,
    /// How often it did not.
    pub fails: u64,
}

/// A group, with what is directly in it.
#[derive(Clone, Debug, Default)]
pub struct GroupSummary {
    /// Its name; empty for the root.
    pub name: String,
    /// The names from the root, each after `::`.
    pub path: String,
    /// Groups in it, in order of first sight.
    pub groups: Vec<GroupSummary>,
    /// Checks in it, in order of first sight.
    pub checks: Vec<CheckSummary>,
    /// Metrics of samples made in it, where the group is one scenario's; shown by the full layout alone.
    pub metrics: Vec<MetricSummary>,
}

/// A scenario.
#[derive(Clone, Debug, Default)]
pub struct ScenarioSummary {
    /// Its name.
    pub name: String,
    /// Its checks over all its groups, one per name, in order of first sight.
    pub checks: Vec<CheckSummary>,
    /// Metrics of its samples.
    pub metrics: Vec<MetricSummary>,
    /// Its groups, in order of first sight.
    pub groups: Vec<GroupSummary>,
}

impl MetricSummary {
    /// The metric's name without the tags of a sub-metric.
    pub(crate) fn parent(&self) -> &str {
        self.name.split_once('{').map_or(self.name.as_str(), |(parent, _)| parent)
    }

    /// The text between the braces of a sub-metric.
    pub(crate) fn suffix(&self) -> Option<&str> {
        let (_, suffix) = self.name.split_once('{')?;
        Some(suffix.strip_suffix('}').unwrap_or(suffix))
    }

    pub(crate) fn kind(&self) -> MetricKind {
        match self.values {
            Values::Counter { .. } => MetricKind::Counter,
            Values::Gauge { .. } => MetricKind::Gauge,
            Values::Rate { .. } => MetricKind::Rate,
            Values::Trend { .. } | Values::NotApplicable(_) => MetricKind::Trend,
        }
    }

    /// Whether k6 has no such metric.
    pub(crate) fn is_own(&self) -> bool {
        builtin::TABLE[builtin::OWN].iter().any(|(name, _, _)| *name == self.parent())
    }

    /// Whether it says nothing to people: a share of failed iterations that is nought. Machines want the same keys every time.
    pub(crate) fn is_needless(&self) -> bool {
        self.name == "iteration_failed"
            && self.thresholds.is_empty()
            && matches!(self.values, Values::Rate { passes: 0, .. })
    }

    /// Whether every threshold held; `None` without thresholds.
    pub(crate) fn verdict(&self) -> Option<bool> {
        (!self.thresholds.is_empty()).then(|| self.thresholds.iter().all(|threshold| threshold.ok))
    }
}
