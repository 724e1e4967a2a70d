//! What samples add up to, and the window that holds one second of it.

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

/// What the samples of one series add up to. Merging is associative and commutative.
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trend {
    /// The measured values.
    pub values: Values,
    /// What failed or was cut off; absent while nothing was.
    pub failures: Option<Box<Failures>>,
}

/// Samples that rank above every measured value.
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
    fn record(&mut self, value: f64, at: Instant) {
        self.merge(&GaugeTotal { last: value, last_at: at, min: value, max: value });
    }

    fn merge(&mut self, other: &GaugeTotal) {
        // Equal instants are decided by value, so that the order of merging cannot matter.
        if (other.last_at, other.last) >= (self.last_at, self.last) || self.min > self.max {
            (self.last, self.last_at) = (other.last, other.last_at);
        }
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
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
            let ours = self.failures.get_or_insert_default();
            ours.timed_out.merge(&theirs.timed_out);
            ours.cut.merge(&theirs.cut);
            ours.dropped += theirs.dropped;
            ours.failed += theirs.failed;
        }
    }
}

/// All series over one second of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Which second of the run, from 0.
    pub index: u32,
    /// Its first instant.
    pub start: Instant,
    /// The instant after its last; a run's last window may be shorter than a second.
    pub end: Instant,
    /// The series that had samples, in order of their keys.
    pub series: Vec<(SeriesKey, Aggregate)>,
}
