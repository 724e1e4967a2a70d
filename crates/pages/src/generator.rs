//! `/generator`: resource use of the load generator and its machine.

use std::collections::BTreeMap;

use api::Number;
use api::page::{Fact, Generator, Value, VitalSeries};
use model::metric::builtin::ITERATION_LATENESS;
use model::plan::TimeUnit;
use model::{GeneratorState, ValueKind, Vital};
use server::PageError;

use super::headline::{Facts, Peaks};
use super::points::step_of;
use super::scope::Scope;
use super::tags::TagFilter;
use super::{json, series, values};

/// Maximum delay, in seconds, between the end of a window and the reading of the generator's state.
const STATE_DELAY_S: f64 = runs::validity::STATE_DELAY.as_secs_f64();

pub(super) fn answer(scope: &Scope) -> Result<String, PageError> {
    let states = states(scope)?;
    let mut vitals = vitals(scope, &states);
    vitals.extend(lateness(scope)?);
    json(&Generator {
        workers: scope.reader.header().host.workers,
        host: report::json::environment(scope.document()?, scope.lang)
            .into_iter()
            .filter(|fact| !fact.name.starts_with("__ENV."))
            .collect::<Vec<Fact>>(),
        strip: facts(scope, &states)?.strip(Some(scope.validity()?), scope.time_unit()),
        vitals,
    })
}

/// Collects the facts that the strip shows.
pub(super) fn facts(scope: &Scope, states: &[&GeneratorState]) -> Result<Facts, PageError> {
    let mut facts = Facts::with(Peaks::from_states(states.iter().copied()));
    facts.add(scope.sum()?.0);
    Ok(facts)
}

/// Returns the generator states in the selected range.
pub(super) fn states(scope: &Scope) -> Result<Vec<&GeneratorState>, PageError> {
    let span = scope.span()?;
    // A state's shares cover the time before it, so it belongs to the window that has just ended.
    let is_inside = |state: &&GeneratorState| {
        let t = scope.t(state.at);
        span.start < t && t <= span.end + STATE_DELAY_S
    };
    Ok(scope.states()?.iter().filter(is_inside).collect())
}

/// A vital sign, of the process or of one worker thread.
type Source = (Vital, Option<u16>);

/// Points as seconds since the start, and values.
type Points = Vec<(f64, f64)>;

fn vitals(scope: &Scope, states: &[&GeneratorState]) -> Vec<VitalSeries> {
    let mut readings: BTreeMap<Source, Points> = BTreeMap::new();
    for state in states {
        for reading in &state.readings {
            let points = readings.entry((reading.vital, reading.worker)).or_default();
            points.push((scope.t(state.at), reading.value));
        }
    }
    let points_max = scope.detail.points_max as usize;
    let series = |((vital, worker), points): (Source, Points)| {
        let points = thinned(&points, points_max);
        let max = points.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
        VitalSeries {
            name: vital.as_str().to_owned(),
            unit: vital.unit(),
            worker,
            t: points.iter().map(|point| Number((point.0 * 1e3).round() / 1e3)).collect(),
            values: points.iter().map(|point| Number(point.1)).collect(),
            max: text(max, vital.unit(), scope.time_unit()),
        }
    };
    readings.into_iter().map(series).collect()
}

/// Reduces points to `points_max`, keeping the largest of neighbours because the worst value counts.
fn thinned(points: &[(f64, f64)], points_max: usize) -> Points {
    let each = points.len().div_ceil(points_max.max(1)).max(1);
    let largest = |some: &[(f64, f64)]| some.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a });
    points.chunks(each).filter_map(largest).collect()
}

fn text(value: f64, unit: &str, time_unit: Option<TimeUnit>) -> Value {
    match unit {
        _ if !value.is_finite() => values::none("not measured"),
        "1" => values::share(value),
        "ms" => values::ms(value, time_unit),
        "By" => values::of_kind(value, ValueKind::Data, None),
        _ => values::of_kind(value, ValueKind::Default, None),
    }
}

/// Returns the 99th percentile of iteration lateness for each step.
fn lateness(scope: &Scope) -> Result<Option<VitalSeries>, PageError> {
    if !scope.reader.has_series(ITERATION_LATENESS) {
        return Ok(None);
    }
    let step = step_of(&scope.range, scope.detail.points_max);
    let metric = scope.reader.registry().get(ITERATION_LATENESS);
    let series = series::columns(scope, &metric, &TagFilter::default(), step)?;
    // The maximum replaces a percentile that too few samples support.
    let columns = series.latency.p99.values.iter().zip(&series.latency.max.values);
    let points: Vec<(Number, Number)> =
        series.t.iter().zip(columns).filter_map(|(t, (p99, max))| Some((*t, p99.or(*max)?))).collect();
    let max = points.iter().map(|point| point.1.0).fold(f64::NEG_INFINITY, f64::max);
    Ok(Some(VitalSeries {
        name: "lateness_p99".to_owned(),
        unit: "ms",
        worker: None,
        t: points.iter().map(|point| point.0).collect(),
        values: points.iter().map(|point| point.1).collect(),
        max: text(max, "ms", scope.time_unit()),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_neighbours_stays() {
        let points = [(0.0, 1.0), (1.0, 5.0), (2.0, 2.0), (3.0, 0.0), (4.0, 7.0)];
        assert_eq!(thinned(&points, 5), points);
        assert_eq!(thinned(&points, 3), [(1.0, 5.0), (2.0, 2.0), (4.0, 7.0)]);
        assert_eq!(thinned(&[], 3), []);
    }
}
