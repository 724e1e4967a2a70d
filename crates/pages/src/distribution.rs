//! `/distribution`: the distribution of a trend's values, in total and over time.

use std::collections::BTreeMap;

use api::Number;
use api::page::{Curve, Distribution, Heat, Histogram, QuantileMark};
use histo::Bucket;
use model::metric::builtin::{HTTP_REQ_DURATION, HTTP_REQ_RESPONSE_TIME};
use model::{Aggregate, Metric, MetricId, Quantile, SeriesKey, Trend};
use runfile::Cell;
use server::{PageError, Question};

use super::points::step_of;
use super::scope::Scope;
use super::tags::{TagFilter, fits};
use super::values::{self, SUPPORT_MIN, is_supported, number_of};
use super::{add, damaged, json, series};

/// Maximum number of columns of the histogram.
const COLUMNS_MAX: f64 = 120.0;

/// Maximum number of rows of the histogram over time.
const ROWS_MAX: f64 = 48.0;

/// Maximum relative error of a histogram's quantile.
const RELATIVE_ERROR_MAX: f64 = 0.001;

/// Quantiles shown by name.
const NAMED: [(f64, &str); 6] =
    [(0.5, "p50"), (0.9, "p90"), (0.95, "p95"), (0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99")];

pub(super) fn answer(scope: &Scope, question: &Question) -> Result<String, PageError> {
    let metric = series::metric(&scope.reader, question)?;
    let tags = TagFilter::parse(question.get("tags").unwrap_or_default())?;
    let trend = trend(scope, metric.id, &tags)?;
    let beside = match metric.id {
        HTTP_REQ_RESPONSE_TIME => Some(HTTP_REQ_DURATION),
        HTTP_REQ_DURATION => Some(HTTP_REQ_RESPONSE_TIME),
        _ => None,
    };
    let mut curves = vec![curve(&metric.name, &trend)];
    if let Some(other) = beside.filter(|other| scope.reader.has_series(*other)) {
        let name = scope.reader.registry().get(other).name;
        curves.push(curve(&name, &self::trend(scope, other, &tags)?));
    }
    let histogram = histogram(&trend, &Bounds::divide(&trend, columns(&trend)));
    json(&Distribution {
        metric: metric.name.to_string(),
        contains: metric.contains.as_str(),
        tags: tags.text(),
        population: trend.population(),
        timed: trend.count(),
        untimed: trend.population() - trend.count(),
        precision: if trend.is_exact() { "exact" } else { "histogram" },
        relative_error_max: Number(if trend.is_exact() { 0.0 } else { RELATIVE_ERROR_MAX }),
        histogram,
        curves,
        marks: marks(&trend, &metric, scope),
        heat: heat(scope, &metric, &tags, &trend)?,
    })
}

fn trend(scope: &Scope, metric: MetricId, tags: &TagFilter) -> Result<Trend, PageError> {
    let matching = tags.matching(scope.reader.tags());
    let mut sum = Trend::default();
    for (key, aggregate) in &scope.sum()?.0.series {
        if let Aggregate::Trend(trend) = aggregate
            && key.metric == metric
            && fits(matching.as_ref(), key.tags)
        {
            sum.merge(trend);
        }
    }
    Ok(sum)
}

/// Returns the number of columns: twice the cube root of the number of values (Rice rule).
fn columns(trend: &Trend) -> f64 {
    (2.0 * (trend.values.count() as f64).cbrt()).ceil().clamp(12.0, COLUMNS_MAX)
}

/// The bounds of columns.
struct Bounds {
    bounds: Vec<f64>,
}

impl Bounds {
    /// Divides the range of a trend into columns of equal ratio, or of equal width if it has negative values.
    fn divide(trend: &Trend, columns: f64) -> Bounds {
        let (Some(min), Some(max)) = (trend.values.min(), trend.values.max()) else {
            return Bounds { bounds: Vec::new() };
        };
        let count = columns as u32;
        if min < 0.0 {
            let width = ((max - min) / columns).max(f64::MIN_POSITIVE);
            let bound = |place: u32| min + width * f64::from(place);
            return Bounds { bounds: (0..=count).map(bound).collect() };
        }
        let smallest = smallest_positive(trend).unwrap_or(max);
        if max <= 0.0 {
            return Bounds { bounds: vec![0.0, 1.0] };
        }
        // Slightly below the smallest value, so that the first column holds it.
        let low = smallest * (1.0 - 1e-9);
        // With logarithms, because the quotient of a huge and a tiny value overflows.
        let factor = ((max.ln() - low.ln()) / columns).exp().max(1.0 + 1e-6);
        let mut bounds: Vec<f64> = (0..=count).map(|place| low * factor.powi(place as i32)).collect();
        if min == 0.0 {
            bounds.insert(0, 0.0);
        }
        Bounds { bounds }
    }

    /// Returns the index of the column that holds a bucket.
    fn place(&self, bucket: &Bucket) -> usize {
        let middle = if bucket.upper <= 0.0 && bucket.lower >= 0.0 {
            0.0
        } else {
            (bucket.lower + bucket.upper) / 2.0
        };
        let columns = self.bounds.len().saturating_sub(1);
        let above = self.bounds.partition_point(|bound| *bound < middle);
        above.saturating_sub(1).min(columns.saturating_sub(1))
    }

    fn counts(&self, trend: &Trend) -> Vec<u64> {
        let mut counts = vec![0; self.bounds.len().saturating_sub(1)];
        if counts.is_empty() {
            return counts;
        }
        for bucket in trend.values.to_histogram().buckets() {
            add(&mut counts[self.place(&bucket)], bucket.count);
        }
        counts
    }

    fn numbers(&self) -> Vec<Number> {
        self.bounds.iter().map(|bound| Number(rounded(*bound))).collect()
    }
}

/// Rounds to six digits, more than a column's position needs.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let scale = 10f64.powi(5 - value.abs().log10().floor() as i32);
    let rounded = (value * scale).round() / scale;
    if rounded.is_finite() { rounded } else { value }
}

fn smallest_positive(trend: &Trend) -> Option<f64> {
    let histogram = trend.values.to_histogram();
    let first = histogram.buckets().find(|bucket| bucket.lower > 0.0 || bucket.upper > 0.0)?;
    // Only the smallest value is exact; others are known by their bucket.
    Some(trend.values.min().filter(|min| *min > 0.0).unwrap_or(first.lower.max(f64::MIN_POSITIVE)))
}

fn histogram(trend: &Trend, bounds: &Bounds) -> Histogram {
    Histogram { counts: bounds.counts(trend), bounds: bounds.numbers() }
}

/// Returns quantiles from 0, in steps of 0.01 that shrink towards 1, while at least ten samples lie beyond them.
fn curve(metric: &str, trend: &Trend) -> Curve {
    let population = trend.population();
    let mut quantiles: Vec<f64> = (0..99).map(|hundredth| f64::from(hundredth) / 100.0).collect();
    for nines in 2..7 {
        let beyond = 10f64.powi(-nines);
        quantiles.extend((0..9).map(|part| 1.0 - beyond * (1.0 - f64::from(part) / 10.0)));
    }
    quantiles.retain(|q| population > 0 && is_supported(population, *q));
    let mut curve =
        Curve { metric: metric.to_owned(), q: Vec::new(), values: Vec::new(), at_least_from: None };
    for q in quantiles {
        let quantile = trend.quantile(q);
        let place = u32::try_from(curve.q.len()).unwrap_or(u32::MAX);
        if matches!(quantile, Quantile::AtLeast { .. }) && curve.at_least_from.is_none() {
            curve.at_least_from = Some(place);
        }
        curve.q.push(Number(rounded(q)));
        // Not rounded: the page cuts decimals off as the terminal does.
        curve.values.push(number_of(quantile).map(Number));
    }
    curve
}

fn marks(trend: &Trend, metric: &Metric, scope: &Scope) -> Vec<QuantileMark> {
    let unit = scope.time_unit();
    let named = NAMED.iter().map(|(q, label)| QuantileMark {
        q: Number(*q),
        label,
        value: values::quantile(trend, *q, metric.contains, unit),
        is_supported: is_supported(trend.population(), *q),
        needs: (SUPPORT_MIN / (1.0 - q)).round() as u64,
    });
    let max = QuantileMark {
        q: Number(1.0),
        label: "max",
        value: values::statistic(trend, "max", metric.contains, unit),
        is_supported: trend.population() > 0,
        needs: 1,
    };
    named.chain([max]).collect()
}

/// Returns one histogram per step.
fn heat(scope: &Scope, metric: &Metric, tags: &TagFilter, whole: &Trend) -> Result<Heat, PageError> {
    let step = step_of(&scope.range, scope.detail.heat_max);
    let matching = tags.matching(scope.reader.tags());
    let mut trends: BTreeMap<u32, Trend> = BTreeMap::new();
    let read = step.min(runfile::STEPS[runfile::STEPS.len() - 1]);
    let is_wanted = |key: SeriesKey| key.metric == metric.id && fits(matching.as_ref(), key.tags);
    let each = |window: u32, _: SeriesKey, cell: Cell<'_>| {
        let trend = trends.entry(window / step * step).or_default();
        match cell {
            Cell::Trend(part) => part.add_to(trend),
            Cell::Whole(Aggregate::Trend(part)) => trend.merge(&part),
            Cell::Whole(_) | Cell::Brief(_) => {}
        }
    };
    scope.reader.steps(scope.range.clone(), read, is_wanted, each).map_err(damaged)?;
    let bounds = Bounds::divide(whole, columns(whole).min(ROWS_MAX));
    let t = |window: &u32| Number(scope.second((*window).max(scope.range.start)).into());
    let counts: Vec<Vec<u64>> = trends.values().map(|trend| bounds.counts(trend)).collect();
    Ok(Heat {
        step,
        t: trends.keys().map(t).collect(),
        bounds: bounds.numbers(),
        count_max: counts.iter().flatten().copied().max().unwrap_or(0),
        counts,
    })
}

#[cfg(test)]
mod tests {
    use model::Mark;

    use super::*;

    fn trend(values: &[f64]) -> Trend {
        let mut trend = Trend::default();
        values.iter().for_each(|value| trend.record(*value, Mark::Measured));
        trend
    }

    #[track_caller]
    fn check(values: &[f64]) {
        let trend = trend(values);
        let bounds = Bounds::divide(&trend, columns(&trend));
        let counts = bounds.counts(&trend);
        assert_eq!(counts.iter().sum::<u64>(), values.len() as u64, "{values:?}");
        assert!(bounds.bounds.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", bounds.bounds);
        let (first, last) = (counts.first().copied(), counts.last().copied());
        assert!(values.is_empty() || values.len() == 1 || (first > Some(0) && last > Some(0)), "{counts:?}");
    }

    #[test]
    fn every_value_has_a_column() {
        check(&[]);
        check(&[5.0]);
        check(&[0.0]);
        check(&[1.0, 10.0, 100.0, 1000.0]);
        check(&[0.0, 0.5, 3.0]);
        check(&[-4.0, 0.0, 9.0]);
        check(&(1..5000).map(f64::from).collect::<Vec<_>>());
    }

    #[test]
    fn curves_have_all_digits() {
        // The terminal cuts this to 284.82ms; rounding to six digits would show 284.83ms.
        let curve = curve("m", &trend(&[284.829_996; 30]));
        assert_eq!(curve.values.first().copied().flatten(), Some(Number(284.829_996)));
    }

    #[test]
    fn curves_end_where_support_does() {
        let thousand = curve("m", &trend(&(0..1000).map(f64::from).collect::<Vec<_>>()));
        let last = thousand.q.last().expect("supported quantiles").0;
        assert!((last - 0.99).abs() < 1e-9, "{last}");
        assert!(thousand.values.windows(2).all(|pair| pair[0].map(|it| it.0) <= pair[1].map(|it| it.0)));
        assert!(curve("m", &trend(&[1.0; 9])).q.is_empty());
        let mut censored = trend(&[1.0; 50]);
        (0..50).for_each(|_| censored.record(9.0, Mark::TimedOut));
        let curve = curve("m", &censored);
        assert_eq!(curve.at_least_from.map(|place| curve.q[place as usize].0), Some(0.5));
    }
}
