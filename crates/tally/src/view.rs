//! What reports show: plain structures, with everything resolved.

use std::sync::Arc;
use std::time::Duration;

use model::{Aggregate, Metric, MetricId, Quantile, TagSetId};
use rustc_hash::FxHashMap;

use crate::drops::Cell;
use crate::facts::Names;
use crate::totals::{Check, SubMetric};
use crate::{Stat, ThresholdResult, Totals, groups};

/// Everything that a report of a run shows.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// The length of the test.
    pub elapsed: Duration,
    /// The metrics with samples, sub-metrics or thresholds, in order of their names.
    pub metrics: Vec<MetricView>,
    /// Groups and checks: the root, which has neither name nor path.
    pub root_group: GroupView,
    /// All checks of all groups, in order of first sight.
    pub checks: Vec<CheckView>,
    /// The scenarios that samples name, in order of first sight, with their own metrics.
    pub scenarios: Vec<PartView>,
    /// The groups that samples name, by their paths, in order of first sight. Each has only what is directly in it; the root
    /// group's path is empty.
    pub groups: Vec<PartView>,
}

/// A metric over the whole run, or over a part of it.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricView {
    /// Which metric.
    pub metric: Metric,
    /// What its samples add up to; empty without samples.
    pub aggregate: Aggregate,
    /// For what is per second.
    pub elapsed: Duration,
    /// How the thresholds on the whole metric stand.
    pub thresholds: Vec<ThresholdResult>,
    /// Its sub-metrics, in the order of the plan; none in parts of a run.
    pub sub_metrics: Vec<SubMetricView>,
}

/// The part of a metric that has certain tags.
#[derive(Clone, Debug, PartialEq)]
pub struct SubMetricView {
    /// `metric{tag:value,…}`, as k6 shows it.
    pub name: String,
    /// Between the braces.
    pub suffix: String,
    /// What its samples add up to; empty without samples.
    pub aggregate: Aggregate,
    /// For what is per second.
    pub elapsed: Duration,
    /// How its thresholds stand.
    pub thresholds: Vec<ThresholdResult>,
}

/// A group of the script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupView {
    /// Its name.
    pub name: String,
    /// Its path, `::outer::inner`.
    pub path: String,
    /// The groups in it, in order of first sight.
    pub groups: Vec<GroupView>,
    /// The checks directly in it, in order of first sight.
    pub checks: Vec<CheckView>,
}

/// A check of the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckView {
    /// Its name.
    pub name: String,
    /// Its group's path and its name, `::group::check`.
    pub path: String,
    /// How often it held.
    pub passes: u64,
    /// How often it did not.
    pub fails: u64,
}

/// A scenario or a group and the metrics with that tag.
#[derive(Clone, Debug, PartialEq)]
pub struct PartView {
    /// The scenario's name or the group's path.
    pub name: Arc<str>,
    /// Its metrics, in order of their names.
    pub metrics: Vec<MetricView>,
}

impl View {
    /// The metric with this name.
    pub fn metric(&self, name: &str) -> Option<&MetricView> {
        self.metrics.iter().find(|metric| &*metric.metric.name == name)
    }
}

impl MetricView {
    /// A statistic by k6's name (see [`Stat::parse`]); `None` when the metric has no such statistic.
    pub fn stat(&self, name: &str) -> Option<Quantile> {
        Stat::parse(name)?.read(&self.aggregate, self.elapsed)
    }
}

impl SubMetricView {
    /// A statistic by k6's name (see [`Stat::parse`]); `None` when the metric has no such statistic.
    pub fn stat(&self, name: &str) -> Option<Quantile> {
        Stat::parse(name)?.read(&self.aggregate, self.elapsed)
    }
}

impl Totals {
    /// Everything a report shows; `elapsed` is the length of the test. Thresholds stand as last evaluated.
    pub fn view(&self, elapsed: Duration) -> View {
        let root_group = groups::tree(self);
        View {
            elapsed,
            metrics: self.metric_views(elapsed),
            checks: self.check_views(),
            root_group,
            scenarios: self.parts(&self.table.scenarios, &self.scenarios, elapsed),
            groups: self.parts(&self.table.groups, &self.groups, elapsed),
        }
    }

    fn metric_views(&self, elapsed: Duration) -> Vec<MetricView> {
        let all = self.registry.all().into_iter();
        let mut views: Vec<_> = all.filter_map(|metric| self.metric_view(metric, elapsed)).collect();
        views.sort_by(|a, b| a.metric.name.cmp(&b.metric.name));
        views
    }

    fn metric_view(&self, metric: Metric, elapsed: Duration) -> Option<MetricView> {
        let shown =
            |sub: &&SubMetric| sub.metric == metric.id && (sub.asked_for || !sub.cell.aggregate.is_empty());
        let sub_metrics: Vec<_> = self.sub_metrics.iter().filter(shown).collect();
        let aggregate = match self.metrics.get(&metric.id) {
            Some(cell) => self.resolve(cell).into_owned(),
            None if !sub_metrics.is_empty() => Aggregate::empty(metric.kind),
            None => return None,
        };
        let sub_metrics = sub_metrics.into_iter().map(|sub_metric| {
            let name = sub_metric.selector.name();
            SubMetricView {
                suffix: sub_metric.selector.suffix.clone().unwrap_or_default(),
                aggregate: self.resolve(&sub_metric.cell).into_owned(),
                elapsed,
                thresholds: self.results_of(&name),
                name,
            }
        });
        Some(MetricView {
            sub_metrics: sub_metrics.collect(),
            thresholds: self.results_of(&metric.name),
            aggregate,
            elapsed,
            metric,
        })
    }

    fn results_of(&self, name: &str) -> Vec<ThresholdResult> {
        self.results.iter().filter(|result| result.selector == name).cloned().collect()
    }

    fn check_views(&self) -> Vec<CheckView> {
        let mut checks: Vec<_> = self.checks.iter().collect();
        checks.sort_by(|a, b| (a.1.first, &a.0.1).cmp(&(b.1.first, &b.0.1)));
        let view = |((group, name), check): (&(Option<u32>, Arc<str>), &Check)| CheckView {
            path: format!("{}::{name}", group.map_or("", |group| self.table.groups.name(group))),
            name: name.to_string(),
            passes: check.total.passes,
            fails: check.total.total - check.total.passes,
        };
        checks.into_iter().map(view).collect()
    }

    fn parts(
        &self,
        names: &Names,
        cells: &FxHashMap<(u32, MetricId), Cell>,
        elapsed: Duration,
    ) -> Vec<PartView> {
        let mut metrics_of: FxHashMap<u32, Vec<MetricView>> = FxHashMap::default();
        for ((number, metric), cell) in cells {
            metrics_of.entry(*number).or_default().push(MetricView {
                metric: self.registry.get(*metric),
                aggregate: self.resolve(cell).into_owned(),
                elapsed,
                thresholds: Vec::new(),
                sub_metrics: Vec::new(),
            });
        }
        let mut parts: Vec<(TagSetId, PartView)> = Vec::new();
        for (number, (name, first)) in names.iter().enumerate() {
            let mut metrics = metrics_of.remove(&(number as u32)).unwrap_or_default();
            metrics.sort_by(|a, b| a.metric.name.cmp(&b.metric.name));
            parts.push((first, PartView { name: name.clone(), metrics }));
        }
        parts.sort_by_key(|part| part.0);
        parts.into_iter().map(|part| part.1).collect()
    }
}
