//! The totals as reports show them: plain structures with all ids resolved.

use std::sync::Arc;
use std::time::Duration;

use model::{Aggregate, Metric, MetricId, Quantile, TagSetId, ThresholdResult};
use rustc_hash::FxHashMap;

use crate::drops::Cell;
use crate::groups::{self, Scope};
use crate::totals::{PARTS_DETAILED_MAX, SubMetric};
use crate::{Stat, Totals};

/// Everything that a report of a run shows.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// The length of the test.
    pub elapsed: Duration,
    /// The metrics with samples, sub-metrics or thresholds, in order of their names.
    pub metrics: Vec<MetricView>,
    /// Groups and checks of the whole run, without metrics: the root, which has neither name nor path.
    pub root_group: GroupView,
    /// Those of samples that name no scenario, which are those of `setup()` and `teardown()`.
    pub root_group_outside: GroupView,
    /// All checks of all groups, in order of first sight.
    pub checks: Vec<CheckView>,
    /// The scenarios that samples name, in order of first sight.
    pub scenarios: Vec<ScenarioView>,
}

/// A metric over the whole run, or over a part of it.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricView {
    /// Which metric.
    pub metric: Metric,
    /// The aggregate of its samples; empty without samples.
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
    /// The aggregate of its samples; empty without samples.
    pub aggregate: Aggregate,
    /// For what is per second.
    pub elapsed: Duration,
    /// How its thresholds stand.
    pub thresholds: Vec<ThresholdResult>,
}

/// A group of the script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupView {
    /// Its name.
    pub name: String,
    /// Its path, `::outer::inner`.
    pub path: String,
    /// The groups in it, in order of first sight.
    pub groups: Vec<GroupView>,
    /// The checks directly in it, in order of first sight.
    pub checks: Vec<CheckView>,
    /// The metrics of samples directly in it, in order of their names; none where groups are of the whole run.
    pub metrics: Vec<MetricView>,
    /// The lowest tag set it was seen with: what has a lower one was seen first.
    pub first: TagSetId,
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

/// A scenario, with what samples of it say.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioView {
    /// Its name.
    pub name: Arc<str>,
    /// Its metrics, in order of their names.
    pub metrics: Vec<MetricView>,
    /// Its checks over all its groups, in order of first sight.
    pub checks: Vec<CheckView>,
    /// Its groups and their checks: the root.
    pub root_group: GroupView,
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
        View {
            elapsed,
            metrics: self.metric_views(elapsed),
            checks: groups::checks(self, Scope::Run),
            root_group: groups::tree(self, Scope::Run, elapsed),
            root_group_outside: groups::tree(self, Scope::Scenario(None), elapsed),
            scenarios: self.scenario_views(elapsed),
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

    fn scenario_views(&self, elapsed: Duration) -> Vec<ScenarioView> {
        let mut cells_of: FxHashMap<u32, Vec<(MetricId, &Cell)>> = FxHashMap::default();
        for ((number, metric), cell) in &self.scenarios {
            cells_of.entry(*number).or_default().push((*metric, cell));
        }
        let mut names: Vec<_> = (0..).zip(self.table.scenarios.iter()).collect();
        names.sort_by_key(|(_, (_, first))| *first);
        let view = |(number, (name, _)): (u32, (&Arc<str>, TagSetId))| {
            let scope = Scope::Scenario(Some(number));
            let is_detailed = number < PARTS_DETAILED_MAX;
            ScenarioView {
                name: name.clone(),
                metrics: cells_of
                    .get(&number)
                    .filter(|_| is_detailed)
                    .map(|cells| self.part_metrics(cells, elapsed))
                    .unwrap_or_default(),
                checks: if is_detailed { groups::checks(self, scope) } else { Vec::new() },
                root_group: if is_detailed {
                    groups::tree(self, scope, elapsed)
                } else {
                    GroupView::default()
                },
            }
        };
        names.into_iter().map(view).collect()
    }

    /// The metrics of a part of the run, in order of their names.
    pub(crate) fn part_metrics(&self, cells: &[(MetricId, &Cell)], elapsed: Duration) -> Vec<MetricView> {
        let view = |(metric, cell): &(MetricId, &Cell)| MetricView {
            metric: self.registry.get(*metric),
            aggregate: self.resolve(cell).into_owned(),
            elapsed,
            thresholds: Vec::new(),
            sub_metrics: Vec::new(),
        };
        let mut metrics: Vec<_> = cells.iter().map(view).collect();
        metrics.sort_by(|a, b| a.metric.name.cmp(&b.metric.name));
        metrics
    }
}
