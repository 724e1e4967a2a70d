//! `/series`: columns over time.

use std::collections::HashMap;
use std::collections::btree_map::{BTreeMap, Entry};
use std::ops::Range;

use api::Number;
use api::page::{LimitLine, Mark, Series};
use model::metric::builtin::{HTTP_REQ_DURATION, HTTP_REQ_RESPONSE_TIME};
use model::{Instant, Load, Metric, MetricId, MetricKind, SeriesKey};
use report::number;
use runfile::{Cell, Reader, ThresholdFacts};
use runs::Offered;
use server::{PageError, Question};
use tally::{Condition, Stat};

use super::points::{self, METRICS, Point, Row, step_of};
use super::scope::Scope;
use super::tags::{TagFilter, fits};
use super::{damaged, invalid, json};

/// Windows per minute, the unit in which files store them.
const MINUTE: u32 = 60;

/// Maximum number of points of a column if the question sets a step.
const POINTS_ASKED_MAX: u32 = 10_000;

/// Default trends: response time from the due time if available, else request duration.
const DEFAULTS: [MetricId; 2] = [HTTP_REQ_RESPONSE_TIME, HTTP_REQ_DURATION];

pub(super) fn answer(scope: &Scope, question: &Question) -> Result<String, PageError> {
    let metric = metric(&scope.reader, question)?;
    let tags = TagFilter::parse(question.get("tags").unwrap_or_default())?;
    let step = step(scope, super::number(question, "step")?)?;
    let mut series = columns(scope, &metric, &tags, step)?;
    series.marks = marks(scope)?;
    if tags.is_empty() {
        series.limits = limits(scope, &metric)?;
    }
    json(&series)
}

/// Returns the metric of a question.
///
/// # Errors
/// The run has no trend of that name.
pub(super) fn metric(reader: &Reader, question: &Question) -> Result<Metric, PageError> {
    let registry = reader.registry();
    let Some(name) = question.get("metric") else { return Ok(registry.get(default_metric(reader))) };
    let found = registry.find(name).ok_or_else(|| {
        PageError::NotFound(format!("failed to find the metric {name:?}: the run has none of that name"))
    })?;
    match found.kind {
        MetricKind::Trend => Ok(found),
        kind => {
            let text = format!("failed to draw {name:?}: it is a {}, and no trend", kind.as_str());
            Err(PageError::Invalid(text))
        }
    }
}

fn default_metric(reader: &Reader) -> MetricId {
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
                    Cell::Whole(aggregate) => point.add(key.metric, self.metric, fits, aggregate),
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

fn marks(scope: &Scope) -> Result<Vec<Mark>, PageError> {
    let marks = scope.reader.marks().map_err(damaged)?;
    let mark =
        |mark: runfile::RunMark| Mark { t: Number(scope.t(mark.at)), kind: mark.kind, text: mark.text };
    Ok(marks.into_iter().map(mark).collect())
}

/// Returns the threshold limits on the whole metric that have the unit of the curves.
fn limits(scope: &Scope, metric: &Metric) -> Result<Vec<LimitLine>, PageError> {
    let own: Vec<&ThresholdFacts> =
        scope.reader.header().thresholds.iter().filter(|facts| *facts.selector == *metric.name).collect();
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
