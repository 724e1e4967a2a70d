//! Percentiles over several points, where each alone has too few samples.

use std::collections::VecDeque;

use api::page::{Column, NoteKind, Series};
use model::Trend;

use super::points::quantile;
use super::values::is_supported;

/// The quantiles of a series.
const QUANTILES: [f64; 3] = [0.5, 0.95, 0.99];

/// Returns the columns of a series' quantiles, in their order.
fn columns(series: &mut Series) -> [&mut Column; 3] {
    let latency = &mut series.latency;
    [&mut latency.p50, &mut latency.p95, &mut latency.p99]
}

/// Returns true if a percentile of a series is missing only because its point has too few samples.
pub(super) fn is_needed(series: &Series) -> bool {
    let latency = &series.latency;
    let columns = [&latency.p50, &latency.p95, &latency.p99];
    columns.iter().any(|column| column.notes.iter().any(|note| note.why == NoteKind::FewSamples))
}

/// Returns p50, p95 and p99 over points with these trends: neighbours are joined until a percentile exists. One that the
/// whole range does not support stays missing.
pub(super) fn percentiles(trends: impl Iterator<Item = Trend>) -> [Column; 3] {
    let mut widened = QUANTILES.map(Widened::new);
    for trend in trends {
        widened.iter_mut().for_each(|one| one.push(&trend));
    }
    widened.map(Widened::finish)
}

/// A percentile over points. Only the latest groups are in memory.
struct Widened {
    q: f64,
    column: Column,
    /// The latest group of points with enough samples. Points left over at the end join it.
    last: Option<Group>,
    /// Later points, with too few samples so far.
    open: Group,
}

/// Points that share a percentile.
#[derive(Default)]
struct Group {
    /// Whether each of them has samples.
    points: Vec<bool>,
    trend: Trend,
}

impl Group {
    fn join(&mut self, other: Group) {
        self.points.extend(other.points);
        self.trend.merge(&other.trend);
    }

    fn write(self, q: f64, column: &mut Column) {
        let (value, why) = quantile(&self.trend, q);
        let is_wide = value.is_some() && self.points.iter().filter(|has_samples| **has_samples).count() > 1;
        for has_samples in self.points {
            match has_samples {
                true => column.push(value, why.or(is_wide.then_some(NoteKind::Widened))),
                false => column.push(None, Some(NoteKind::NoSamples)),
            }
        }
    }
}

impl Widened {
    fn new(q: f64) -> Widened {
        Widened { q, column: Column::default(), last: None, open: Group::default() }
    }

    fn push(&mut self, trend: &Trend) {
        self.open.points.push(trend.population() > 0);
        self.open.trend.merge(trend);
        if !is_supported(self.open.trend.population(), self.q) {
            return;
        }
        let whole = std::mem::take(&mut self.open);
        if let Some(last) = self.last.replace(whole) {
            last.write(self.q, &mut self.column);
        }
    }

    fn finish(mut self) -> Column {
        let mut end = self.last.take().unwrap_or_default();
        end.join(self.open);
        end.write(self.q, &mut self.column);
        self.column
    }
}

/// Maximum number of windows that a live percentile covers: a minute of seconds.
const RECENT_MAX: usize = 60;

/// Samples that support every percentile of a series.
const SAMPLES_ENOUGH: u64 = 1_000;

/// The trends of a live run's last windows, as many as its percentiles need.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent {
    trends: VecDeque<Trend>,
    samples: u64,
}

impl Recent {
    /// Adds the trend of the newest window.
    pub(super) fn push(&mut self, trend: Trend) {
        self.samples = self.samples.saturating_add(trend.population());
        self.trends.push_back(trend);
        while let Some(first) = self.trends.front() {
            let without = self.samples.saturating_sub(first.population());
            if self.trends.len() == 1 || (without < SAMPLES_ENOUGH && self.trends.len() <= RECENT_MAX) {
                break;
            }
            self.samples = without;
            self.trends.pop_front();
        }
    }

    /// Fills in the percentiles that the newest window alone does not support.
    pub(super) fn widen(&self, point: &mut Series) {
        let is_empty = self.trends.back().is_none_or(|trend| trend.population() == 0);
        for (q, column) in QUANTILES.into_iter().zip(columns(point)) {
            if is_empty || column.values.iter().all(Option::is_some) {
                continue;
            }
            let mut joined = Trend::default();
            for trend in self.trends.iter().rev() {
                joined.merge(trend);
                if is_supported(joined.population(), q) {
                    break;
                }
            }
            let (value, why) = quantile(&joined, q);
            *column = Column::default();
            column.push(value, why.or(Some(NoteKind::Widened)));
        }
    }
}

#[cfg(test)]
mod tests {
    use api::Number;
    use api::page::Note;
    use model::Mark;

    use super::*;

    fn second(samples: u32) -> Trend {
        let mut trend = Trend::default();
        (0..samples).for_each(|value| trend.record(f64::from(value), Mark::Measured));
        trend
    }

    fn last(column: &Column) -> Option<Number> {
        column.values.last().copied().flatten()
    }

    #[test]
    fn points_widen_until_a_percentile_exists() {
        // 100 requests a second: p95 needs two seconds, p99 ten.
        let trends: Vec<Trend> = (0..25).map(|_| second(100)).collect();
        let [p50, p95, p99] = percentiles(trends.into_iter());
        assert!(p50.notes.is_empty(), "a second supports a median");
        let widened = [Note { from: 0, to: 25, why: NoteKind::Widened }];
        assert_eq!(p95.notes, widened);
        assert_eq!(p99.notes, widened);
        assert!(p99.values.iter().all(Option::is_some));
    }

    #[test]
    fn seconds_without_samples_stay_empty_and_a_short_run_keeps_its_reason() {
        let trends = [second(100), second(0), second(100), second(3)];
        let [_, p95, p99] = percentiles(trends.into_iter());
        assert_eq!(p95.values[1], None);
        assert!([0, 2, 3].iter().all(|at| p95.values[*at].is_some()), "{p95:?}");
        assert!(p99.values.iter().all(Option::is_none));
        assert_eq!(p99.notes[0], Note { from: 0, to: 1, why: NoteKind::FewSamples });
        let medians = |trends: &[Trend]| percentiles(trends.iter().cloned())[0].values.clone();
        assert_eq!(medians(&[second(0), second(0)]), [None, None]);
        assert_eq!(medians(&[]), []);
    }

    #[test]
    fn a_live_percentile_covers_the_last_seconds() {
        let mut recent = Recent::default();
        let point = |recent: &Recent| {
            let mut point = Series::default();
            for column in columns(&mut point) {
                column.push(None, Some(NoteKind::FewSamples));
            }
            recent.widen(&mut point);
            (last(&point.latency.p95), last(&point.latency.p99))
        };
        recent.push(second(100));
        assert_eq!(point(&recent), (None, None));
        recent.push(second(100));
        let (p95, p99) = point(&recent);
        assert!(p95.is_some() && p99.is_none());
        (0..20).for_each(|_| recent.push(second(100)));
        assert!(point(&recent).1.is_some());
        assert!(recent.trends.len() <= 11, "no more than the percentiles need: {}", recent.trends.len());
        (0..200).for_each(|_| recent.push(second(1)));
        assert!(recent.trends.len() <= RECENT_MAX + 1);
    }
}
