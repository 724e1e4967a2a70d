//! Everything of the whole run so far.

use std::sync::Arc;
use std::time::Duration;

use model::metric::builtin::{
    CHECKS, GROUP_DURATION, HTTP_REQ_DURATION, HTTP_REQ_RESPONSE_TIME, ITERATION_LATENESS,
    ITERATION_RESPONSE_TIME,
};
use model::{
    Aggregate, MetricId, MetricRegistry, RateTotal, SeriesKey, TagInterner, TagSetId, ThresholdResult, Window,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::drops::{Cell, DropShare};
use crate::facts::FactTable;
use crate::{Abort, Condition, Evaluation, Selector, Thresholds};

/// Scenarios, and groups within them, whose metrics are kept one by one; those of further ones are only in the totals. With
/// the raw values that a trend may keep, this bounds the detail to some fifty megabytes.
pub const PARTS_DETAILED_MAX: u32 = 200;

/// Metrics that only iterations with a due time have. k6 reads zero where a metric has no samples, but it has none of these,
/// and a closed loop's zero would let every response time pass: a threshold on what was never measured does not hold.
pub const DUE_TIMED: [MetricId; 3] = [HTTP_REQ_RESPONSE_TIME, ITERATION_RESPONSE_TIME, ITERATION_LATENESS];

/// Totals of a run over all windows: per metric, sub-metric, check, scenario, and group within it; and the thresholds on it.
#[derive(Debug)]
pub struct Totals {
    pub(crate) registry: Arc<MetricRegistry>,
    pub(crate) table: FactTable,
    pub(crate) metrics: FxHashMap<MetricId, Cell>,
    pub(crate) sub_metrics: Vec<SubMetric>,
    pub(crate) scenarios: FxHashMap<(u32, MetricId), Cell>,
    /// By the number of a group within its scenario.
    pub(crate) groups: FxHashMap<(u32, MetricId), Cell>,
    pub(crate) checks: FxHashMap<CheckKey, Check>,
    /// Groups within scenarios that were timed: those that `group()` made, and not only a tag of that name.
    pub(crate) timed_groups: FxHashSet<u32>,
    thresholds: Vec<Threshold>,
    pub(crate) results: Vec<ThresholdResult>,
}

#[derive(Debug)]
pub(crate) struct SubMetric {
    pub(crate) selector: Selector,
    pub(crate) metric: MetricId,
    pub(crate) cell: Cell,
    /// Whether the plan names it; if not it is shown only when it has samples.
    pub(crate) asked_for: bool,
}

/// Which check, and where. Each comes from a tag set, so there are never more than [`model::tags::TAG_SETS_MAX`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CheckKey {
    /// By number; `None` without that tag.
    pub(crate) scenario: Option<u32>,
    /// By number; `None` without that tag.
    pub(crate) group: Option<u32>,
    pub(crate) name: Arc<str>,
}

#[derive(Debug, Default)]
pub(crate) struct Check {
    pub(crate) total: RateTotal,
    /// The lowest tag set it was seen with: the order of first sight.
    pub(crate) first: TagSetId,
}

#[derive(Debug)]
struct Threshold {
    condition: Condition,
    metric: MetricId,
    /// The sub-metric it is on; the whole metric otherwise.
    sub_metric: Option<usize>,
    name: String,
}

impl Totals {
    /// The aggregate of all samples of a metric; `None` without samples.
    pub fn aggregate(&self, metric: MetricId) -> Option<&Aggregate> {
        self.metrics.get(&metric).map(|cell| &cell.aggregate).filter(|aggregate| !aggregate.is_empty())
    }

    /// Nothing yet. `http_req_duration{expected_response:true}` is always kept, as in k6.
    pub fn new(registry: Arc<MetricRegistry>, tags: Arc<TagInterner>, thresholds: Thresholds) -> Totals {
        let mut totals = Totals {
            registry,
            table: FactTable::new(tags),
            metrics: FxHashMap::default(),
            sub_metrics: Vec::new(),
            scenarios: FxHashMap::default(),
            groups: FxHashMap::default(),
            checks: FxHashMap::default(),
            timed_groups: FxHashSet::default(),
            thresholds: Vec::new(),
            results: Vec::new(),
        };
        let always = Selector::parse("http_req_duration{expected_response:true}").expect("well-formed");
        let always = totals.sub_metric(always, HTTP_REQ_DURATION);
        totals.sub_metrics[always].asked_for = false;
        for selected in thresholds.selectors {
            let name = selected.selector.name();
            let sub_metric = match selected.selector.suffix {
                Some(_) => Some(totals.sub_metric(selected.selector, selected.metric)),
                None => {
                    totals.metric_cell(selected.metric);
                    None
                }
            };
            totals.thresholds.extend(selected.conditions.into_iter().map(|condition| Threshold {
                condition,
                metric: selected.metric,
                sub_metric,
                name: name.clone(),
            }));
        }
        totals
    }

    /// Adds a window. Their order does not matter.
    pub fn absorb(&mut self, window: &Window) {
        for (key, aggregate) in &window.series {
            self.absorb_series(*key, aggregate);
        }
    }

    /// A metric's aggregate over the run so far; `None` while it has no samples. Drops are not charged to it.
    pub fn metric(&self, metric: MetricId) -> Option<&Aggregate> {
        self.metrics.get(&metric).map(|cell| &cell.aggregate).filter(|aggregate| !aggregate.is_empty())
    }

    /// Judges the thresholds during the run, `elapsed` after the start of the scenarios.
    ///
    /// A threshold on something without samples counts as holding until [`Totals::evaluate_at_end`]. The first crossed
    /// threshold with `abortOnFail` whose `delayAbortEval` is over is the reason to abort.
    pub fn evaluate(&mut self, elapsed: Duration) -> Evaluation {
        self.judge(elapsed, false)
    }

    /// Judges the thresholds once and for all; `elapsed` is the length of the test. Without samples see
    /// [`Condition::judge`]; those on response times and lateness, which closed loops cannot have, do not hold then.
    pub fn evaluate_at_end(&mut self, elapsed: Duration) -> Evaluation {
        self.judge(elapsed, true)
    }

    /// The results of the last evaluation.
    pub fn results(&self) -> &[ThresholdResult] {
        &self.results
    }

    /// The aggregate of a cell as it is shown and judged: with the requests of dropped iterations.
    pub(crate) fn resolve<'a>(&self, cell: &'a Cell) -> std::borrow::Cow<'a, Aggregate> {
        let share_of = |scenario| {
            DropShare::from_iterations(
                self.scenarios.get(&(scenario, DropShare::METRIC)).map(|cell| &cell.aggregate),
            )
        };
        match cell.with_drops(share_of) {
            Some(aggregate) => std::borrow::Cow::Owned(aggregate),
            None => std::borrow::Cow::Borrowed(&cell.aggregate),
        }
    }

    fn judge(&mut self, elapsed: Duration, at_end: bool) -> Evaluation {
        let mut evaluation = Evaluation::default();
        for threshold in &self.thresholds {
            let cell = match threshold.sub_metric {
                Some(number) => &self.sub_metrics[number].cell,
                None => &self.metrics[&threshold.metric],
            };
            let aggregate = self.resolve(cell);
            let (ok, observed) = threshold.condition.judge(&aggregate, elapsed);
            let ok = match aggregate.is_empty() {
                true => !at_end || (ok && !DUE_TIMED.contains(&threshold.metric)),
                false => ok,
            };
            let aborts = threshold.condition.abort_on_fail && elapsed > threshold.condition.delay_abort_eval;
            if !ok && aborts && evaluation.abort.is_none() {
                let (selector, source) = (threshold.name.clone(), threshold.condition.source.clone());
                evaluation.abort = Some(Abort { selector, source });
            }
            evaluation.results.push(ThresholdResult {
                selector: threshold.name.clone(),
                metric: threshold.metric,
                source: threshold.condition.source.clone(),
                ok,
                observed,
                limit: threshold.condition.limit,
            });
        }
        self.results.clone_from(&evaluation.results);
        evaluation
    }

    pub(crate) fn absorb_series(&mut self, key: SeriesKey, window: &Aggregate) {
        let SeriesKey { metric, tags } = key;
        let facts = self.table.facts(tags, self.sub_metrics.iter().map(|sub_metric| &sub_metric.selector));
        self.metric_cell(metric).absorb(metric, facts.scenario, window);
        for &number in &facts.sub_metrics {
            let sub_metric = &mut self.sub_metrics[number as usize];
            if sub_metric.metric == metric {
                sub_metric.cell.absorb(metric, facts.scenario, window);
            }
        }
        let empty = || Cell::new(window.emptied());
        // Drop shares are needed of every scenario.
        if let Some(scenario) =
            facts.scenario.filter(|part| *part < PARTS_DETAILED_MAX || metric == DropShare::METRIC)
        {
            let cell = self.scenarios.entry((scenario, metric)).or_insert_with(empty);
            cell.absorb(metric, facts.scenario, window);
        }
        if let Some(part) = facts.part.filter(|part| *part < PARTS_DETAILED_MAX) {
            let cell = self.groups.entry((part, metric)).or_insert_with(empty);
            cell.absorb(metric, facts.scenario, window);
        }
        if let (GROUP_DURATION, Some(part)) = (metric, facts.part) {
            self.timed_groups.insert(part);
        }
        if let (CHECKS, Some(name), Aggregate::Rate(rate)) = (metric, &facts.check, window) {
            let key = CheckKey { scenario: facts.scenario, group: facts.group, name: name.clone() };
            let check =
                self.checks.entry(key).or_insert_with(|| Check { total: RateTotal::default(), first: tags });
            check.total.passes += rate.passes;
            check.total.total += rate.total;
            check.first = check.first.min(tags);
        }
    }

    fn metric_cell(&mut self, metric: MetricId) -> &mut Cell {
        let registry = &self.registry;
        self.metrics.entry(metric).or_insert_with(|| Cell::new(Aggregate::empty(registry.get(metric).kind)))
    }

    /// The number of the sub-metric with this selector; a new one if it is not kept yet.
    fn sub_metric(&mut self, selector: Selector, metric: MetricId) -> usize {
        let known = self.sub_metrics.iter().position(|known| known.selector == selector);
        let number = known.unwrap_or_else(|| {
            let cell = Cell::new(Aggregate::empty(self.registry.get(metric).kind));
            self.sub_metrics.push(SubMetric { selector, metric, cell, asked_for: true });
            self.sub_metrics.len() - 1
        });
        self.sub_metrics[number].asked_for = true;
        number
    }
}

#[cfg(test)]
mod tests;
