//! Trends as native histograms.
//!
//! Bucket `i` of our histogram at scale 9 holds `(2^(i/512), 2^((i+1)/512)]`; a native histogram of schema `s` counts from
//! one and names buckets by their upper bound, `(2^((i-1)/2^s), 2^(i/2^s)]`. Lower schemas are whole buckets put together, so
//! that nothing is lost but resolution. Milliseconds become seconds as everywhere in this export, and 1000 is no power of two:
//! then what is known exactly is counted anew, and beyond that each bucket goes to where its middle falls, which is within
//! 0.07 % of each value in it, a quarter of the narrowest bucket here.

use std::collections::BTreeMap;

use histo::{Bucket, Histogram, SCALE, Values, index_of};
use model::Trend;

use super::proto;

/// The finest schema there is: 256 buckets per octave, each 0.27 % wide.
const SCHEMA_MAX: i32 = 8;

/// The coarsest schema there is.
const SCHEMA_MIN: i32 = -4;

/// Buckets per series. Beyond it neighbours are put together until they fit, since receivers refuse very large histograms.
pub(crate) const BUCKETS_MAX: usize = 1024;

/// Everything of a trend that has a time, as a native histogram in units of `1 / divisor`.
pub(crate) fn histogram(trend: &Trend, divisor: f64, timestamp: i64) -> proto::Histogram {
    let mut counted = Counted::default();
    timed(trend).for_each(|values| counted.add(values, divisor));
    let schema = counted.fit();
    let (positive_spans, positive_deltas) = sparse(&counted.positive);
    let (negative_spans, negative_deltas) = sparse(&counted.negative);
    proto::Histogram {
        count: Some(trend.count()),
        sum: trend.sum().value() / divisor,
        schema,
        zero_threshold: 0.0,
        zero_count: Some(counted.zero),
        negative_spans,
        negative_deltas,
        positive_spans,
        positive_deltas,
        timestamp,
    }
}

fn timed(trend: &Trend) -> impl Iterator<Item = &Values> {
    let bounds = trend.failures.iter().flat_map(|failures| [&failures.timed_out, &failures.cut]);
    std::iter::once(&trend.values).chain(bounds)
}

/// Counts by index, as Prometheus numbers buckets.
#[derive(Default)]
struct Counted {
    positive: BTreeMap<i32, u64>,
    negative: BTreeMap<i32, u64>,
    zero: u64,
}

impl Counted {
    fn add(&mut self, values: &Values, divisor: f64) {
        match values.raw() {
            Some(raw) if divisor != 1.0 => {
                let mut scaled = Histogram::default();
                raw.iter().for_each(|value| scaled.record(value / divisor));
                self.add_histogram(&scaled, 1.0);
            }
            _ => self.add_histogram(&values.to_histogram(), divisor),
        }
    }

    fn add_histogram(&mut self, histogram: &Histogram, divisor: f64) {
        for Bucket { lower, upper, count } in histogram.buckets() {
            let (near, far) = if upper > 0.0 { (lower, upper) } else { (-upper, -lower) };
            // A bucket keeps its place by its inclusive bound; moved by the divisor, it stands where its middle is.
            let magnitude = if divisor == 1.0 { far } else { (near.sqrt() * far.sqrt()) / divisor };
            if magnitude == 0.0 {
                self.zero = self.zero.saturating_add(count);
                continue;
            }
            let side = if upper > 0.0 { &mut self.positive } else { &mut self.negative };
            let shift = SCALE as i32 - SCHEMA_MAX;
            let total = side.entry((index_of(magnitude) >> shift) + 1).or_default();
            *total = total.saturating_add(count);
        }
    }

    /// Puts neighbours together until there are few enough buckets; returns the schema.
    fn fit(&mut self) -> i32 {
        let mut schema = SCHEMA_MAX;
        while self.positive.len() + self.negative.len() > BUCKETS_MAX && schema > SCHEMA_MIN {
            schema -= 1;
            self.positive = halved(&self.positive);
            self.negative = halved(&self.negative);
        }
        schema
    }
}

/// One schema lower: two buckets become one.
fn halved(buckets: &BTreeMap<i32, u64>) -> BTreeMap<i32, u64> {
    let mut halved = BTreeMap::new();
    for (index, count) in buckets {
        let total: &mut u64 = halved.entry(((index - 1) >> 1) + 1).or_default();
        *total = total.saturating_add(*count);
    }
    halved
}

/// Spans of buckets that follow one another, and their counts as differences.
fn sparse(buckets: &BTreeMap<i32, u64>) -> (Vec<proto::BucketSpan>, Vec<i64>) {
    let mut spans: Vec<proto::BucketSpan> = Vec::new();
    let mut deltas = Vec::with_capacity(buckets.len());
    let (mut next, mut before) = (0, 0);
    for (&index, &count) in buckets {
        match spans.last_mut() {
            Some(span) if index == next => span.length += 1,
            _ => spans.push(proto::BucketSpan { offset: index - next, length: 1 }),
        }
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        deltas.push(count - before);
        (next, before) = (index + 1, count);
    }
    (spans, deltas)
}

#[cfg(test)]
mod tests {
    use model::Mark;

    use super::*;

    fn trend_of(values: impl IntoIterator<Item = f64>) -> Trend {
        let mut trend = Trend::default();
        values.into_iter().for_each(|value| trend.record(value, Mark::Measured));
        trend
    }

    /// The buckets as upper bound and count.
    fn buckets(histogram: &proto::Histogram) -> Vec<(f64, i64)> {
        let (mut index, mut count, mut deltas) = (0, 0, histogram.positive_deltas.iter());
        let mut buckets = Vec::new();
        for span in &histogram.positive_spans {
            index += span.offset;
            for _ in 0..span.length {
                count += deltas.next().expect("a count per bucket");
                buckets.push((2f64.powf(f64::from(index) / 2f64.powi(histogram.schema)), count));
                index += 1;
            }
        }
        assert_eq!(deltas.next(), None);
        buckets
    }

    #[test]
    fn buckets_include_their_upper_bound() {
        let histogram = histogram(&trend_of([1.0, 1.0, 2.0, 4.0, 4.000_001, 0.0]), 1.0, 7);
        let (bounds, counts): (Vec<_>, Vec<_>) = buckets(&histogram).into_iter().unzip();
        assert_eq!(bounds, [1.0, 2.0, 4.0, 4.0 * 2f64.powf(1.0 / 256.0)]);
        assert_eq!(counts, [2, 1, 1, 1]);
        assert_eq!((histogram.count, histogram.zero_count, histogram.timestamp), (Some(6), Some(1), 7));
    }

    #[test]
    fn exact_milliseconds_are_counted_as_seconds() {
        let histogram = histogram(&trend_of([1000.0, 2000.0, 2000.0]), 1000.0, 0);
        assert_eq!(buckets(&histogram), [(1.0, 1), (2.0, 2)]);
        assert_eq!(histogram.sum, 5.0);
    }

    #[test]
    fn values_of_a_histogram_stay_within_their_error() {
        let trend = trend_of((0..5000).map(|_| 123.0));
        assert!(!trend.is_exact());
        let histogram = histogram(&trend, 1000.0, 0);
        let [(upper, 5000)] = buckets(&histogram)[..] else { panic!("{histogram:?}") };
        let lower = upper / 2f64.powf(1.0 / 256.0);
        assert!(lower < 0.123 * 1.0007 && 0.123 < upper * 1.0007, "({lower}, {upper}]");
    }

    #[test]
    fn too_many_buckets_are_put_together() {
        let values = (-20_000..20_000).map(|exponent| 2f64.powf(f64::from(exponent) / 100.0));
        let trend = trend_of(values);
        let histogram = histogram(&trend, 1.0, 0);
        let buckets = buckets(&histogram);
        assert!(buckets.len() <= BUCKETS_MAX && buckets.len() > BUCKETS_MAX / 4, "{}", buckets.len());
        assert_eq!(buckets.iter().map(|(_, count)| count).sum::<i64>(), 40_000);
        assert_eq!(histogram.schema, 1);
    }

    #[test]
    fn negative_values_have_their_own_side() {
        let histogram = histogram(&trend_of([-2.0, -1.0, -2.0]), 1.0, 0);
        assert_eq!(histogram.negative_deltas, [1, 1]);
        assert_eq!(histogram.negative_spans[0].offset, 0);
        assert!(histogram.positive_spans.is_empty());
    }
}
