//! `/series`: columns over time.

use std::collections::HashMap;
use std::collections::btree_map::{BTreeMap, Entry};
use std::ops::Range;

use api::Number;
use api::page::{ChosenSeries, Column, LimitLine, Mark, NoteKind, Series};
use model::metric::builtin::{self, HTTP_REQ_DURATION, HTTP_REQ_RESPONSE_TIME, HTTP_REQS};
use model::{
    Aggregate, Instant, Load, Metric, MetricId, MetricKind, MetricRegistry, SeriesKey, TagInterner, TagSetId,
};
use report::number;
use runfile::{Cell, Reader, State, ThresholdFacts};
use runs::Offered;
use server::{PageError, Question};
use tally::{Condition, Selector, Stat};

use super::points::{self, METRICS, Point, RATED_MIN_S, Row, step_of};
use super::scope::Scope;
use super::tags::{TagFilter, fits};
use super::{damaged, invalid, json, widening};

/// Windows per minute, the unit in which files store them.
const MINUTE: u32 = 60;

/// Maximum number of points of a column if the question sets a step.
const POINTS_ASKED_MAX: u32 = 10_000;

/// Default trends: response time from the due time if available, else request duration.
const DEFAULTS: [MetricId; 2] = [HTTP_REQ_RESPONSE_TIME, HTTP_REQ_DURATION];

pub(super) fn answer(scope: &Scope, question: &Question) -> Result<String, PageError> {
    let asked = any_metric(&scope.reader, question)?;
    let tags = TagFilter::parse(question.get("tags").unwrap_or_default())?;
    let step = step(scope, super::number(question, "step")?)?;
    let is_trend = asked.kind == MetricKind::Trend;
    let metric =
        if is_trend { asked.clone() } else { scope.reader.registry().get(default_metric(&scope.reader)) };
    let mut series = columns(scope, &metric, &tags, step)?;
    if !is_trend {
        series.chosen = Some(chosen(scope, &asked, &tags, step)?);
    }
    series.marks = marks(scope)?;
    series.limits = limits(scope, &metric, &tags)?;
    json(&series)
}

/// Returns the metric of a question.
///
/// # Errors
/// The run has no trend of that name.
pub(super) fn metric(reader: &Reader, question: &Question) -> Result<Metric, PageError> {
    let found = any_metric(reader, question)?;
    match found.kind {
        MetricKind::Trend => Ok(found),
        kind => {
            let text = format!("failed to draw {:?}: it is a {}, and no trend", found.name, kind.as_str());
            Err(PageError::Invalid(text))
        }
    }
}

/// Returns the metric of a question, of any kind.
///
/// # Errors
/// The run has no metric of that name.
fn any_metric(reader: &Reader, question: &Question) -> Result<Metric, PageError> {
    let registry = reader.registry();
    let Some(name) = question.get("metric") else { return Ok(registry.get(default_metric(reader))) };
    registry.find(name).ok_or_else(|| {
        PageError::NotFound(format!("failed to find the metric {name:?}: the run has none of that name"))
    })
}

/// Returns the script's own trend that a threshold is on, for example the duration of its tasks: how long those take is the
/// script's objective, and the requests in them may be quick all the same.
pub(super) fn objective(thresholds: &[ThresholdFacts], registry: &MetricRegistry) -> Option<MetricId> {
    let own = |facts: &ThresholdFacts| {
        let name = facts.selector.split('{').next().unwrap_or_default();
        let metric = registry.find(name)?;
        let is_own = usize::from(metric.id.0) >= builtin::TABLE.len();
        (is_own && metric.kind == MetricKind::Trend).then_some(metric.id)
    };
    thresholds.iter().find_map(own)
}

fn default_metric(reader: &Reader) -> MetricId {
    let is_live = reader.state() == State::Live;
    // A live run may have no samples of it yet, and its page shows one metric from the beginning.
    let own = objective(&reader.header().thresholds, reader.registry());
    if let Some(own) = own.filter(|own| is_live || reader.has_series(*own)) {
        return own;
    }
    DEFAULTS.into_iter().find(|id| reader.has_series(*id)).unwrap_or(HTTP_REQ_DURATION)
}

/// Returns the step of the answer: the requested one, or a coarser one if that has too many points.
///
/// # Errors
/// Files have no such step.
fn step(scope: &Scope, asked: Option<u32>) -> Result<u32, PageError> {
    let automatic = step_of(&scope.range, scope.detail.points_max);
    let Some(step) = asked else { return Ok(automatic) };
    if !runfile::STEPS.contains(&step) {
        let steps = runfile::STEPS.map(|step| step.to_string()).join(", ");
        return Err(invalid("step", &step.to_string(), &format!("write one of {steps} (seconds)")));
    }
    let points = (scope.range.len() as u32).div_ceil(step);
    Ok(if points <= POINTS_ASKED_MAX { step } else { automatic })
}

/// Returns the columns of a range.
///
/// # Errors
/// The file is damaged.
pub(super) fn columns(
    scope: &Scope,
    metric: &Metric,
    tags: &TagFilter,
    step: u32,
) -> Result<Series, PageError> {
    let rows = rows(scope, metric.id, tags, step)?;
    // The first step may begin before the range.
    let second = |window: u32| scope.second(window.max(scope.range.start));
    let mut series = points::series(step, rows.iter().map(|(start, row)| (second(*start), row)));
    if widening::is_needed(&series) {
        let trends = rows.iter().map(|(_, row)| row.trend());
        let latency = &mut series.latency;
        [latency.p50, latency.p95, latency.p99] = widening::percentiles(trends);
    }
    series.statuses = points::statuses(&series.width, rows.iter().map(|(_, row)| row));
    let places: HashMap<u32, usize> =
        rows.iter().enumerate().map(|(place, (start, _))| (*start, place)).collect();
    let errors = scope.reader.errors_of(scope.range.clone()).map_err(damaged)?;
    let found = errors.into_iter().filter_map(|(window, error)| {
        let place = *places.get(&(window / step * step))?;
        Some((place, error.code, error.message.to_string(), error.count))
    });
    series.errors = points::errors(&series.width, found);
    series.latency.metric = metric.name.to_string();
    series.latency.contains = metric.contains.as_str();
    series.latency.tags = tags.text();
    Ok(series)
}

/// Returns a counter, gauge or rate over the steps of a range.
fn chosen(scope: &Scope, metric: &Metric, tags: &TagFilter, step: u32) -> Result<ChosenSeries, PageError> {
    let reading = Reading::new(scope, metric.id, tags, step)?;
    let values = reading.values(scope.range.clone(), &Aggregate::empty(metric.kind))?;
    Ok(ChosenSeries {
        metric: metric.name.to_string(),
        kind: metric.kind.as_str(),
        contains: metric.contains.as_str(),
        tags: tags.text(),
        values,
    })
}

/// Returns the rows of a range, each with the first window of its step.
fn rows(scope: &Scope, metric: MetricId, tags: &TagFilter, step: u32) -> Result<Vec<(u32, Row)>, PageError> {
    let reading = Reading::new(scope, metric, tags, step)?;
    if !tags.is_empty() || !MINUTE.is_multiple_of(step) {
        return reading.read(scope.range.clone());
    }
    let mut rows = Vec::new();
    for part in scope.reader.minutes(scope.range.clone()).map_err(damaged)? {
        let minute = whole_minute(scope, part.start);
        if step > 1 && part != minute {
            // A truncated step has other values than the whole one, so it is not cached.
            rows.extend(reading.read(part)?);
            continue;
        }
        let place = (metric, step, minute.start / MINUTE);
        let known = scope.study.columns.minute(place, || reading.read(minute))?;
        rows.extend(known.iter().filter(|(start, _)| step > 1 || part.contains(start)).cloned());
    }
    Ok(rows)
}

/// Returns the windows of the run in the same minute as this one.
fn whole_minute(scope: &Scope, window: u32) -> Range<u32> {
    let start = window / MINUTE * MINUTE;
    start.max(scope.all.start)..start.saturating_add(MINUTE).min(scope.all.end)
}

/// Reads all columns of a run into the cache, in case of a zoom, while the cached study is still in use.
///
/// # Errors
/// The file is damaged.
pub(super) fn read_ahead(scope: &Scope, is_wanted: impl Fn() -> bool) -> Result<(), PageError> {
    let metric = default_metric(&scope.reader);
    let reading = Reading::new(scope, metric, &TagFilter::default(), 1)?;
    for part in scope.reader.minutes(scope.all.clone()).map_err(damaged)? {
        if !is_wanted() {
            break;
        }
        let place = (metric, 1, part.start / MINUTE);
        scope.study.columns.minute(place, || reading.read(part))?;
    }
    Ok(())
}

/// A reader of rows from a file.
struct Reading<'a> {
    reader: &'a Reader,
    metric: MetricId,
    /// Selected tag sets; `None` for all.
    matching: Option<Vec<bool>>,
    step: u32,
    offered: Option<Offered>,
    /// The start of the scenarios, from which plans count.
    started: Option<Instant>,
    /// The status code of each tag set that has one.
    statuses: Vec<Option<u16>>,
}

impl<'a> Reading<'a> {
    fn new(
        scope: &'a Scope,
        metric: MetricId,
        tags: &TagFilter,
        step: u32,
    ) -> Result<Reading<'a>, PageError> {
        let reader = &scope.reader;
        Ok(Reading {
            reader,
            metric,
            matching: tags.matching(reader.tags()),
            step,
            offered: Offered::from_header(reader.header()),
            started: reader.scenarios_started().map_err(damaged)?,
            statuses: statuses(reader.tags()),
        })
    }

    /// Returns the first window of a window's step.
    fn start(&self, window: u32) -> u32 {
        window / self.step * self.step
    }

    /// Returns the rows of some windows, each with the first window of its step.
    fn read(&self, range: Range<u32>) -> Result<Vec<(u32, Row)>, PageError> {
        let mut points = self.frame(range.clone())?;
        let is_wanted = |key: SeriesKey| METRICS.contains(&key.metric) || key.metric == self.metric;
        // Coarser steps than the file's coarsest are added up from it.
        let rolled = self.step.min(runfile::STEPS[runfile::STEPS.len() - 1]);
        let each = |window: u32, key: SeriesKey, cell: Cell<'_>| {
            if let Some(point) = points.get_mut(&self.start(window)) {
                let fits = fits(self.matching.as_ref(), key.tags);
                match &cell {
                    Cell::Trend(trend) if key.metric == self.metric && fits => trend.add_to(&mut point.trend),
                    Cell::Whole(aggregate) => {
                        point.add(key.metric, self.metric, fits, aggregate);
                        self.add_status(point, key, fits, aggregate);
                    }
                    Cell::Trend(_) | Cell::Brief(_) => {}
                }
            }
        };
        self.reader.steps(range.clone(), rolled, is_wanted, each).map_err(damaged)?;
        for row in self.reader.load(range).map_err(damaged)? {
            if let Some(point) = points.get_mut(&self.start(row.window)) {
                let runfile::LoadRow { scenario, work, started, finished, in_flight_ns, .. } = row;
                point.add_load(&Load { scenario, work, started, finished, in_flight_ns });
            }
        }
        Ok(points.iter().map(|(start, point)| (*start, Row::from_point(point))).collect())
    }

    fn add_status(&self, point: &mut Point, key: SeriesKey, fits: bool, aggregate: &Aggregate) {
        let status = self.statuses.get(key.tags.0 as usize).copied().flatten();
        if let (HTTP_REQS, true, Some(status), Aggregate::Counter(counter)) =
            (key.metric, fits, status, aggregate)
        {
            point.add_status(status, counter.count);
        }
    }

    /// Returns the values of a counter (per second), a gauge (the last value) or a rate (a share) in each step of a range.
    fn values(&self, range: Range<u32>, empty: &Aggregate) -> Result<Column, PageError> {
        let points = self.frame(range.clone())?;
        let mut sums: BTreeMap<u32, Aggregate> = points.keys().map(|start| (*start, empty.clone())).collect();
        let is_wanted = |key: SeriesKey| key.metric == self.metric && fits(self.matching.as_ref(), key.tags);
        let rolled = self.step.min(runfile::STEPS[runfile::STEPS.len() - 1]);
        let each = |window: u32, _: SeriesKey, cell: Cell<'_>| {
            if let (Some(sum), Cell::Whole(part)) = (sums.get_mut(&self.start(window)), &cell) {
                sum.merge(part);
            }
        };
        self.reader.steps(range, rolled, is_wanted, each).map_err(damaged)?;
        let first = points.keys().next().copied();
        let mut column = Column::default();
        for ((start, point), sum) in points.iter().zip(sums.values()) {
            let is_partial = point.width_s < RATED_MIN_S && Some(*start) != first;
            let value = match sum {
                Aggregate::Counter(_) if is_partial => None,
                Aggregate::Counter(counter) => {
                    (point.width_s > 0.0).then(|| counter.sum.value() / point.width_s)
                }
                Aggregate::Rate(rate) => rate.rate(),
                Aggregate::Gauge(gauge) => (!gauge.is_empty()).then_some(gauge.last),
                Aggregate::Trend(_) => None,
            };
            let why = if is_partial { NoteKind::Partial } else { NoteKind::NoSamples };
            column.push(value, value.is_none().then_some(why));
        }
        Ok(column)
    }

    /// Returns empty points with their lengths and planned iterations, by the first window of their step.
    fn frame(&self, range: Range<u32>) -> Result<BTreeMap<u32, Point>, PageError> {
        let mut points: BTreeMap<u32, Point> = BTreeMap::new();
        for (window, span) in self.reader.spans(range).map_err(damaged)? {
            let point = points.entry(self.start(window));
            let is_first = matches!(point, Entry::Vacant(_));
            let point = point.or_default();
            point.width_s += span.end.since(span.start).as_secs_f64();
            let due = self.started.zip(self.offered.as_ref()).and_then(|(started, offered)| {
                let since = |at: Instant| (at.as_ns() as f64 - started.as_ns() as f64) / 1e9;
                offered.due_between(since(span.start), since(span.end))
            });
            let before = if is_first { Some(0.0) } else { point.offered };
            point.offered = before.zip(due).map(|(before, due)| before + due);
        }
        Ok(points)
    }
}

/// Returns the status code of each tag set; 0 stands for no response.
fn statuses(tags: &TagInterner) -> Vec<Option<u16>> {
    let count = u32::try_from(tags.len()).unwrap_or(u32::MAX);
    (0..count).map(|id| tags.get(TagSetId(id)).get("status").and_then(|status| status.parse().ok())).collect()
}

fn marks(scope: &Scope) -> Result<Vec<Mark>, PageError> {
    let marks = scope.reader.marks().map_err(damaged)?;
    let mark =
        |mark: runfile::RunMark| Mark { t: Number(scope.t(mark.at)), kind: mark.kind, text: mark.text };
    Ok(marks.into_iter().map(mark).collect())
}

/// Returns the threshold limits on the selected series that have the unit of the curves.
fn limits(scope: &Scope, metric: &Metric, tags: &TagFilter) -> Result<Vec<LimitLine>, PageError> {
    let is_own = |facts: &&ThresholdFacts| {
        let selector = Selector::parse(&facts.selector);
        selector.is_ok_and(|selector| *selector.metric == *metric.name && tags.is(&selector.filter))
    };
    let own: Vec<&ThresholdFacts> = scope.reader.header().thresholds.iter().filter(is_own).collect();
    if own.is_empty() {
        return Ok(Vec::new());
    }
    let judged = scope.reader.thresholds().map_err(damaged)?;
    let last = |selector: &str, source: &str| {
        let of = judged.iter().rev().find(|point| point.selector == selector && point.source == source);
        of.is_none_or(|point| point.ok)
    };
    let mut lines = Vec::new();
    for facts in own {
        for condition in &facts.conditions {
            let Ok(parsed) = Condition::parse(&condition.source, &facts.selector, metric.kind) else {
                continue;
            };
            if parsed.stat == Stat::Count {
                continue;
            }
            let statistic = condition.source.split(['<', '>', '=', '!']).next().unwrap_or_default().trim();
            lines.push(LimitLine {
                condition: condition.source.clone(),
                statistic: statistic.to_owned(),
                value: Number(parsed.limit),
                ok: last(&facts.selector, &condition.source),
                text: number::value(parsed.limit, metric.contains, scope.time_unit()),
            });
        }
    }
    Ok(lines)
}
