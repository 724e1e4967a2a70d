//! `/series`: columns over time.

use std::collections::BTreeMap;

use api::Number;
use api::page::{LimitLine, Mark, Series};
use model::metric::builtin::{HTTP_REQ_DURATION, HTTP_REQ_RESPONSE_TIME};
use model::{Load, Metric, MetricKind, SeriesKey};
use report::number;
use runfile::Reader;
use server::{PageError, Question};
use tally::{Condition, Stat};

use super::points::{self, METRICS, Point, step_of};
use super::scope::Scope;
use super::tags::{TagFilter, fits};
use super::{damaged, json};
use crate::stored::Offered;

/// Points of a column at most, if somebody asks for a step.
const POINTS_ASKED_MAX: u32 = 10_000;

/// Times that are drawn unless something else is asked for: from the due time where there is one.
const DEFAULTS: [model::MetricId; 2] = [HTTP_REQ_RESPONSE_TIME, HTTP_REQ_DURATION];

pub(super) fn answer(scope: &Scope, question: &Question) -> Result<String, PageError> {
    let metric = metric(&scope.reader, question)?;
    let tags = TagFilter::parse(question.get("tags").unwrap_or_default())?;
    let step = step(scope, super::number(question, "step")?);
    let mut series = of(scope, &metric, &tags, step)?;
    series.marks = marks(scope)?;
    if tags.is_empty() {
        series.limits = limits(scope, &metric)?;
    }
    json(&series)
}

/// The metric that is asked for.
///
/// # Errors
/// The run has none of that name, or it is no trend.
pub(super) fn metric(reader: &Reader, question: &Question) -> Result<Metric, PageError> {
    let registry = reader.registry();
    let Some(name) = question.get("metric") else {
        let has_samples = |id: &model::MetricId| reader.has_series(*id);
        let id = DEFAULTS.into_iter().find(has_samples).unwrap_or(HTTP_REQ_DURATION);
        return Ok(registry.get(id));
    };
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

fn step(scope: &Scope, asked: Option<u32>) -> u32 {
    let automatic = step_of(&scope.range, scope.detail.points_max);
    let is_fine = |step: &u32| {
        let points = (scope.range.len() as u32).div_ceil(*step);
        runfile::STEPS.contains(step) && points <= POINTS_ASKED_MAX
    };
    asked.filter(is_fine).unwrap_or(automatic)
}

/// The columns of a part of a run.
///
/// # Errors
/// The file is damaged.
pub(super) fn of(scope: &Scope, metric: &Metric, tags: &TagFilter, step: u32) -> Result<Series, PageError> {
    let reader = &scope.reader;
    let mut points = frame(scope, step)?;
    let matching = tags.matching(reader.tags());
    let is_wanted = |key: SeriesKey| METRICS.contains(&key.metric) || key.metric == metric.id;
    let start = |window: u32| window / step * step;
    // A file has no roll-ups of steps that are coarser than its coarsest.
    let read = step.min(runfile::STEPS[runfile::STEPS.len() - 1]);
    let each = |window: u32, key: SeriesKey, aggregate: model::Aggregate| {
        if let Some(point) = points.get_mut(&start(window)) {
            point.add(key.metric, metric.id, fits(matching.as_ref(), key.tags), &aggregate);
        }
    };
    reader.steps(scope.range.clone(), read, is_wanted, each).map_err(damaged)?;
    for row in reader.load(scope.range.clone()).map_err(damaged)? {
        if let Some(point) = points.get_mut(&start(row.window)) {
            let runfile::LoadRow { scenario, work, started, finished, in_flight_ns, .. } = row;
            point.add_load(&Load { scenario, work, started, finished, in_flight_ns });
        }
    }
    // The first step may begin before what is looked at.
    let first = |window: u32| scope.second(window.max(scope.range.start));
    let places: BTreeMap<u32, usize> =
        points.keys().enumerate().map(|(place, start)| (*start, place)).collect();
    let points: Vec<(u32, Point)> = points.into_iter().map(|(start, point)| (first(start), point)).collect();
    let errors = reader.errors_of(scope.range.clone()).map_err(damaged)?;
    let found = errors.into_iter().filter_map(|(window, error)| {
        Some((*places.get(&start(window))?, error.code, error.message.to_string(), error.count))
    });
    let mut series = points::series(step, &points);
    series.errors = points::errors(&points, found);
    series.latency.metric = metric.name.to_string();
    series.latency.contains = metric.contains.as_str();
    series.latency.tags = tags.text();
    Ok(series)
}

/// The points by the window that their step begins with, with their lengths and the plan.
fn frame(scope: &Scope, step: u32) -> Result<BTreeMap<u32, Point>, PageError> {
    let reader = &scope.reader;
    let offered = Offered::of(reader.header());
    let zero = reader.scenarios_started().map_err(damaged)?;
    let mut points: BTreeMap<u32, Point> = BTreeMap::new();
    for (window, span) in reader.spans(scope.range.clone()).map_err(damaged)? {
        let point = points.entry(window / step * step);
        let is_first = matches!(point, std::collections::btree_map::Entry::Vacant(_));
        let point = point.or_default();
        point.width_s += span.end.since(span.start).as_secs_f64();
        let due = zero.zip(offered.as_ref()).and_then(|(zero, offered)| {
            let since = |at: model::Instant| (at.as_ns() as f64 - zero.as_ns() as f64) / 1e9;
            offered.due_between(since(span.start), since(span.end))
        });
        let before = if is_first { Some(0.0) } else { point.offered };
        point.offered = before.zip(due).map(|(before, due)| before + due);
    }
    Ok(points)
}

fn marks(scope: &Scope) -> Result<Vec<Mark>, PageError> {
    let marks = scope.reader.marks().map_err(damaged)?;
    let mark =
        |mark: runfile::RunMark| Mark { t: Number(scope.t(mark.at)), kind: mark.kind, text: mark.text };
    Ok(marks.into_iter().map(mark).collect())
}

/// The conditions on the whole metric whose limits are of the same unit as the curves.
fn limits(scope: &Scope, metric: &Metric) -> Result<Vec<LimitLine>, PageError> {
    let judged = scope.reader.thresholds().map_err(damaged)?;
    let last = |selector: &str, source: &str| {
        let of = judged.iter().rev().find(|point| point.selector == selector && point.source == source);
        of.is_none_or(|point| point.ok)
    };
    let mut lines = Vec::new();
    for facts in scope.reader.header().thresholds.iter().filter(|facts| *facts.selector == *metric.name) {
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
