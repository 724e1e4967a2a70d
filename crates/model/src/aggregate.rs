//! Aggregates of samples, and the window that holds one second of them.

use histo::{FixedSum, Values};

use crate::{Instant, Mark, MetricId, MetricKind, TagSetId};

/// A series: a metric with one set of tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SeriesKey {
    /// The metric.
    pub metric: MetricId,
    /// The tags.
    pub tags: TagSetId,
}

/// The aggregate of one series' samples. Merging is associative and commutative.
#[derive(Clone, Debug, PartialEq)]
pub enum Aggregate {
    /// Of a counter.
    Counter(CounterTotal),
    /// Of a gauge.
    Gauge(GaugeTotal),
    /// Of a rate.
    Rate(RateTotal),
    /// Of a trend.
    Trend(Trend),
}

/// A counter's sum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CounterTotal {
    /// The sum of the values.
    pub sum: FixedSum,
    /// How many values there were.
    pub count: u64,
}

/// A gauge's last value and range.
#[derive(Clone, Debug, PartialEq)]
pub struct GaugeTotal {
    /// The latest value.
    pub last: f64,
    /// When it was taken.
    pub last_at: Instant,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

/// A rate's two counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RateTotal {
    /// Values that were not zero.
    pub passes: u64,
    /// All values.
    pub total: u64,
}

/// A trend's distribution: what was measured, and beside it what could not be.
///
/// Measured values, timeouts, cut responses, drops and failures together are its population. Quantiles are over the
/// population ([`Trend::quantile`]). [`Trend::count`], [`Trend::avg`], [`Trend::min`], [`Trend::max`] and [`Trend::sum`] are
/// over what has a time: the measured values and the elapsed times of timeouts and cut responses, which are lower bounds,
/// so that the average and the largest value are lower bounds too as soon as there is one of these.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trend {
    /// The measured values.
    pub values: Values,
    /// Failed and cut requests; absent while there are none.
    pub failures: Option<Box<Failures>>,
}

/// Samples that rank above every measured value: the dropped first, then timeouts and cut responses by their bounds, and
/// the failed last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failures {
    /// Elapsed times of requests that timed out: lower bounds.
    pub timed_out: Values,
    /// Elapsed times of responses that were cut: lower bounds.
    pub cut: Values,
    /// Iterations (or requests) that were never started.
    pub dropped: u64,
    /// Requests that failed without a time of their own.
    pub failed: u64,
}

impl Aggregate {
    /// The empty aggregate of a metric kind.
    pub fn empty(kind: MetricKind) -> Aggregate {
        match kind {
            MetricKind::Counter => Aggregate::Counter(CounterTotal::default()),
            MetricKind::Gauge => Aggregate::Gauge(GaugeTotal::default()),
            MetricKind::Rate => Aggregate::Rate(RateTotal::default()),
            MetricKind::Trend => Aggregate::Trend(Trend::default()),
        }
    }

    /// An empty aggregate of the same kind.
    pub fn emptied(&self) -> Aggregate {
        Aggregate::empty(match self {
            Aggregate::Counter(_) => MetricKind::Counter,
            Aggregate::Gauge(_) => MetricKind::Gauge,
            Aggregate::Rate(_) => MetricKind::Rate,
            Aggregate::Trend(_) => MetricKind::Trend,
        })
    }

    /// Whether it holds no sample.
    pub fn is_empty(&self) -> bool {
        match self {
            Aggregate::Counter(counter) => counter.count == 0,
            Aggregate::Gauge(gauge) => gauge.is_empty(),
            Aggregate::Rate(rate) => rate.total == 0,
            Aggregate::Trend(trend) => trend.population() == 0,
        }
    }

    /// Adds one sample's value.
    #[inline]
    pub fn record(&mut self, value: f64, mark: Mark, at: Instant) {
        match self {
            Aggregate::Counter(counter) => {
                counter.sum.add(value);
                counter.count += 1;
            }
            Aggregate::Gauge(gauge) => gauge.record(value, at),
            Aggregate::Rate(rate) => {
                rate.total += 1;
                rate.passes += u64::from(value != 0.0);
            }
            Aggregate::Trend(trend) => trend.record(value, mark),
        }
    }

    /// Adds everything that `other` holds.
    ///
    /// # Panics
    /// The two are of different kinds: a bug, since a series has one kind.
    pub fn merge(&mut self, other: &Aggregate) {
        match (self, other) {
            (Aggregate::Counter(a), Aggregate::Counter(b)) => {
                a.sum.merge(&b.sum);
                a.count += b.count;
            }
            (Aggregate::Gauge(a), Aggregate::Gauge(b)) => a.merge(b),
            (Aggregate::Rate(a), Aggregate::Rate(b)) => {
                a.passes += b.passes;
                a.total += b.total;
            }
            (Aggregate::Trend(a), Aggregate::Trend(b)) => a.merge(b),
            _ => unreachable!("aggregates of one series have one kind"),
        }
    }
}

impl Default for GaugeTotal {
    fn default() -> Self {
        GaugeTotal { last: 0.0, last_at: Instant::ZERO, min: f64::INFINITY, max: f64::NEG_INFINITY }
    }
}

impl GaugeTotal {
    /// Whether no value was taken yet.
    pub fn is_empty(&self) -> bool {
        self.min > self.max
    }

    fn record(&mut self, value: f64, at: Instant) {
        // NaN has no place in an order, and a gauge is a last value and a range.
        if !value.is_nan() {
            self.merge(&GaugeTotal { last: value, last_at: at, min: value, max: value });
        }
    }

    fn merge(&mut self, other: &GaugeTotal) {
        if other.is_empty() {
            return;
        }
        // Equal instants are decided by value, so that the order of merging cannot matter.
        if self.is_empty() || (other.last_at, other.last) >= (self.last_at, self.last) {
            (self.last, self.last_at) = (other.last, other.last_at);
        }
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

impl RateTotal {
    /// The share of values that were not zero; `None` without values.
    pub fn rate(&self) -> Option<f64> {
        (self.total > 0).then(|| self.passes as f64 / self.total as f64)
    }
}

/// The quantile of a population in which some never got a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantile {
    /// There is nothing to rank.
    None,
    /// It was measured.
    Value(f64),
    /// A lower bound: the true value is at least `bound`.
    AtLeast {
        /// The largest known time at or below its rank, so that a higher quantile never has a lower bound: the time after which
        /// waiting ended, or the largest measured value where that is larger.
        bound: f64,
        /// The reason why the true value is unknown; never [`Mark::Measured`].
        why: Mark,
    },
    /// It lies among those that failed without a time, and nothing else has a time.
    Failed,
}

impl Trend {
    /// Adds one sample.
    #[inline]
    pub fn record(&mut self, value: f64, mark: Mark) {
        if mark == Mark::Measured {
            self.values.record(value);
        } else {
            self.record_failure(value, mark);
        }
    }

    #[cold]
    fn record_failure(&mut self, value: f64, mark: Mark) {
        let failures = self.failures.get_or_insert_default();
        match mark {
            Mark::TimedOut => failures.timed_out.record(value),
            Mark::Cut => failures.cut.record(value),
            Mark::Dropped => failures.dropped += 1,
            Mark::Failed | Mark::Measured => failures.failed += 1,
        }
    }

    /// Adds everything that `other` holds.
    pub fn merge(&mut self, other: &Trend) {
        self.values.merge(&other.values);
        if let Some(theirs) = &other.failures {
            self.failures.get_or_insert_default().merge(theirs);
        }
    }

    /// The quantile `q` (clamped to 0..=1) of the population: k6's rank `q · (n − 1)`, interpolated among the measured
    /// values. Failures rank above every success: if either neighbour of the rank is one, so is the quantile.
    pub fn quantile(&self, q: f64) -> Quantile {
        let Some(last) = self.population().checked_sub(1) else { return Quantile::None };
        let rank = q.clamp(0.0, 1.0) * last as f64;
        // 99.9 / 100 × 1000 is a hair above 999 in floats; that hair must not turn a success into a failure.
        let upper_neighbour = (rank * (1.0 - 4.0 * f64::EPSILON)).ceil() as u64;
        match upper_neighbour.min(last).checked_sub(self.values.count()) {
            None => self.values.at_rank(rank).map_or(Quantile::None, Quantile::Value),
            Some(above_measured) => self.failure_at(above_measured),
        }
    }

    /// Everything that was tried: measured, timed out, cut, dropped and failed.
    pub fn population(&self) -> u64 {
        self.count() + self.failures.as_ref().map_or(0, |failures| failures.dropped + failures.failed)
    }

    /// How many have a time: measured, timed out and cut.
    pub fn count(&self) -> u64 {
        self.timed().map(Values::count).sum()
    }

    /// The sum of all times, free of order.
    pub fn sum(&self) -> FixedSum {
        self.timed().fold(FixedSum::default(), |mut sum, values| {
            sum.merge(&values.sum());
            sum
        })
    }

    /// The mean of all times.
    pub fn avg(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum().value() / count as f64)
    }

    /// The smallest time.
    pub fn min(&self) -> Option<f64> {
        self.timed().filter_map(Values::min).reduce(f64::min)
    }

    /// The largest time.
    pub fn max(&self) -> Option<f64> {
        self.timed().filter_map(Values::max).reduce(f64::max)
    }

    /// Whether every time is still known, so that quantiles carry no error of a histogram.
    pub fn is_exact(&self) -> bool {
        self.timed().all(Values::is_exact)
    }

    /// Counts `count` more dropped ones.
    pub fn add_dropped(&mut self, count: u64) {
        if count > 0 {
            self.failures.get_or_insert_default().dropped += count;
        }
    }

    fn timed(&self) -> impl Iterator<Item = &Values> {
        let failures = self.failures.iter().flat_map(|failures| [&failures.timed_out, &failures.cut]);
        std::iter::once(&self.values).chain(failures)
    }

    /// The mark that ranks at this place above all measured values.
    fn failure_at(&self, place: u64) -> Quantile {
        let Some(failures) = &self.failures else { return Quantile::None };
        let measured = self.values.max();
        let Some(place) = place.checked_sub(failures.dropped) else {
            return Quantile::AtLeast { bound: measured.unwrap_or(0.0), why: Mark::Dropped };
        };
        match failures.bound_at(place) {
            // A request that was given up early ranks above a slower success all the same.
            Some((bound, why)) => {
                Quantile::AtLeast { bound: measured.map_or(bound, |known| known.max(bound)), why }
            }
            None => {
                self.max().map_or(Quantile::Failed, |bound| Quantile::AtLeast { bound, why: Mark::Failed })
            }
        }
    }
}

impl Failures {
    /// Adds everything that `other` holds.
    pub fn merge(&mut self, other: &Failures) {
        self.timed_out.merge(&other.timed_out);
        self.cut.merge(&other.cut);
        self.dropped += other.dropped;
        self.failed += other.failed;
    }

    /// The bound at this place among timeouts and cut responses, in order of their bounds, and which of the two it is.
    fn bound_at(&self, place: u64) -> Option<(f64, Mark)> {
        let mut bounds = self.timed_out.clone();
        bounds.merge(&self.cut);
        if place >= bounds.count() {
            return None;
        }
        let bound = bounds.at_rank(place as f64)?;
        Some((bound, if self.timed_out.holds(bound) { Mark::TimedOut } else { Mark::Cut }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trend_of(samples: &[(f64, Mark)]) -> Trend {
        let mut trend = Trend::default();
        samples.iter().for_each(|(value, mark)| trend.record(*value, *mark));
        trend
    }

    #[track_caller]
    fn check(samples: &[(f64, Mark)], q: f64, expect: Quantile) {
        assert_eq!(trend_of(samples).quantile(q), expect, "quantile {q} of {samples:?}");
    }

    const fn ms(value: f64) -> (f64, Mark) {
        (value, Mark::Measured)
    }

    const TIMEOUT: (f64, Mark) = (60.0, Mark::TimedOut);
    const CUT: (f64, Mark) = (9.0, Mark::Cut);
    const DROPPED: (f64, Mark) = (0.0, Mark::Dropped);
    const FAILED: (f64, Mark) = (0.0, Mark::Failed);

    #[test]
    fn failures_rank_above_every_success() {
        let at_least = |bound, why| Quantile::AtLeast { bound, why };
        check(&[], 0.5, Quantile::None);
        check(&[ms(1.0), ms(2.0)], 0.5, Quantile::Value(1.5));
        check(&[FAILED], 0.0, Quantile::Failed);
        check(&[DROPPED], 0.5, at_least(0.0, Mark::Dropped));

        // One of each, in rank order: 1, 2, dropped, cut at 9, timed out at 60, failed.
        let each = [FAILED, TIMEOUT, ms(2.0), DROPPED, CUT, ms(1.0)];
        check(&each, 0.0, Quantile::Value(1.0));
        check(&each, 0.1, Quantile::Value(1.5));
        check(&each, 0.2, Quantile::Value(2.0));
        check(&each, 0.4, at_least(2.0, Mark::Dropped));
        check(&each, 0.6, at_least(9.0, Mark::Cut));
        check(&each, 0.8, at_least(60.0, Mark::TimedOut));
        check(&each, 1.0, at_least(60.0, Mark::Failed));
        // Between the last success and the first failure, the failure decides.
        check(&each, 0.21, at_least(2.0, Mark::Dropped));
        check(&each, 0.81, at_least(60.0, Mark::Failed));
        check(&[ms(5.0), FAILED], 0.5, at_least(5.0, Mark::Failed));
        // Of a timeout and a cut response with one bound, the timeout is named.
        check(&[(60.0, Mark::Cut), TIMEOUT], 0.0, at_least(60.0, Mark::TimedOut));
        let one_in_a_thousand: Vec<_> = [vec![ms(5.0); 1000], vec![FAILED]].concat();
        check(&one_in_a_thousand, 99.9 / 100.0, Quantile::Value(5.0));
        check(&one_in_a_thousand, 99.91 / 100.0, at_least(5.0, Mark::Failed));
    }

    #[test]
    fn a_higher_quantile_never_has_a_lower_value() {
        // Cut after 2 s at the end of a run whose successes took up to 11 s.
        let slow =
            [ms(1_000.0), ms(11_000.0), (2_000.0, Mark::Cut), (500.0, Mark::TimedOut), FAILED, DROPPED];
        for count in 1..=slow.len() {
            for first in 0..=slow.len() - count {
                let trend = trend_of(&slow[first..first + count]);
                let known =
                    (0..=100u8).filter_map(|percent| match trend.quantile(f64::from(percent) / 100.0) {
                        Quantile::Value(value) | Quantile::AtLeast { bound: value, .. } => Some(value),
                        Quantile::None | Quantile::Failed => None,
                    });
                assert!(known.collect::<Vec<_>>().is_sorted(), "{trend:?}");
            }
        }
        let why = |q| match trend_of(&slow).quantile(q) {
            Quantile::AtLeast { bound, why } => (bound, why),
            other => panic!("{other:?}"),
        };
        assert_eq!(why(0.8), (11_000.0, Mark::Cut));
        assert_eq!(why(1.0), (11_000.0, Mark::Failed));
    }

    #[test]
    fn times_include_lower_bounds_and_nothing_else() {
        let trend = trend_of(&[ms(3.0), TIMEOUT, CUT, DROPPED, FAILED]);
        assert_eq!((trend.count(), trend.population()), (3, 5));
        assert_eq!((trend.min(), trend.max(), trend.avg()), (Some(3.0), Some(60.0), Some(24.0)));
        assert_eq!(trend_of(&[FAILED]).avg(), None);
    }

    #[test]
    fn a_gauge_keeps_the_latest_whatever_the_order() {
        let at = Instant::from_ns;
        let samples = [(5.0, at(0)), (-7.0, at(2)), (1.0, at(1)), (f64::NAN, at(9)), (-9.0, at(2))];
        let gauge = |samples: &[(f64, Instant)]| {
            let mut gauge = Aggregate::empty(MetricKind::Gauge);
            samples.iter().for_each(|(value, at)| gauge.record(*value, Mark::Measured, *at));
            gauge
        };
        let expect = GaugeTotal { last: -7.0, last_at: at(2), min: -9.0, max: 5.0 };
        assert_eq!(gauge(&samples), Aggregate::Gauge(expect.clone()));
        let mut merged = gauge(&samples[3..]);
        merged.merge(&gauge(&[]));
        merged.merge(&gauge(&samples[..3]));
        assert_eq!(merged, Aggregate::Gauge(expect));
        // A value below zero at the clock's origin is a value all the same.
        let mut early = gauge(&[(-1.0, at(0))]);
        early.merge(&gauge(&[]));
        assert_eq!(early, gauge(&[(-1.0, at(0))]));
    }

    #[test]
    fn counters_and_rates_add_up() {
        let mut counter = Aggregate::empty(MetricKind::Counter);
        let mut rate = Aggregate::empty(MetricKind::Rate);
        for value in [1.5, -3.0, 2.0, 0.0] {
            counter.record(value, Mark::Measured, Instant::ZERO);
            rate.record(value, Mark::Measured, Instant::ZERO);
        }
        counter.merge(&counter.clone());
        let Aggregate::Counter(counter) = counter else { panic!("a counter") };
        assert_eq!((counter.sum.value(), counter.count), (1.0, 8));
        let Aggregate::Rate(rate) = rate else { panic!("a rate") };
        assert_eq!((rate.passes, rate.total, rate.rate()), (3, 4, Some(0.75)));
    }
}
