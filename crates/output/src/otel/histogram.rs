//! A trend as a point of an exponential histogram. Our buckets are OpenTelemetry's at scale 9, so that nothing is counted
//! anew; a lower scale puts whole buckets together.

use histo::{Histogram, SCALE};
use model::Trend;
use opentelemetry_proto::tonic::metrics::v1::ExponentialHistogramDataPoint;
use opentelemetry_proto::tonic::metrics::v1::exponential_histogram_data_point::Buckets;

/// Buckets on each side of zero, empty ones between the outermost counted: at scale 9 these are eight octaves. A wider
/// range takes a lower scale.
pub(crate) const BUCKETS_MAX: usize = 4096;

/// Everything of a trend that has a time, without attributes and times.
pub(crate) fn data_point(trend: &Trend) -> ExponentialHistogramDataPoint {
    let mut histogram = trend.values.to_histogram();
    if let Some(failures) = &trend.failures {
        histogram.merge(&failures.timed_out.to_histogram());
        histogram.merge(&failures.cut.to_histogram());
    }
    let shift = shift(&histogram);
    ExponentialHistogramDataPoint {
        count: trend.count(),
        sum: Some(trend.sum().value()),
        scale: SCALE as i32 - shift,
        zero_count: histogram.zero(),
        positive: Some(dense(histogram.positive(), shift)),
        negative: Some(dense(histogram.negative(), shift)),
        min: trend.min(),
        max: trend.max(),
        ..ExponentialHistogramDataPoint::default()
    }
}

/// By how many scales the histogram must be coarser for each side to fit.
fn shift(histogram: &Histogram) -> i32 {
    let fits = |mut side: Box<dyn DoubleEndedIterator<Item = (i32, u64)> + '_>, shift: i32| {
        let first = side.next();
        let Some((first, _)) = first else { return true };
        let last = side.next_back().map_or(first, |(last, _)| last);
        ((last >> shift) - (first >> shift)).unsigned_abs() < BUCKETS_MAX as u32
    };
    let mut shift = 0;
    while !(fits(Box::new(histogram.positive()), shift) && fits(Box::new(histogram.negative()), shift)) {
        shift += 1;
    }
    shift
}

/// Counts from the first bucket that has values to the last.
fn dense(side: impl Iterator<Item = (i32, u64)>, shift: i32) -> Buckets {
    let mut buckets = Buckets::default();
    for (index, count) in side.map(|(index, count)| (index >> shift, count)) {
        if buckets.bucket_counts.is_empty() {
            buckets.offset = index;
        }
        let place = (index - buckets.offset) as usize;
        buckets.bucket_counts.resize(buckets.bucket_counts.len().max(place + 1), 0);
        buckets.bucket_counts[place] = buckets.bucket_counts[place].saturating_add(count);
    }
    buckets
}

#[cfg(test)]
mod tests {
    use model::Mark;

    use super::*;

    fn point_of(values: impl IntoIterator<Item = f64>) -> ExponentialHistogramDataPoint {
        let mut trend = Trend::default();
        values.into_iter().for_each(|value| trend.record(value, Mark::Measured));
        data_point(&trend)
    }

    /// Bounds and count of the positive buckets that have values.
    fn buckets(point: &ExponentialHistogramDataPoint) -> Vec<(f64, f64, u64)> {
        let side = point.positive.as_ref().expect("a side");
        let base = 2f64.powf(2f64.powi(-point.scale));
        let bound = |index: usize| base.powi(side.offset + index as i32);
        let counted = side.bucket_counts.iter().enumerate().filter(|(_, count)| **count > 0);
        counted.map(|(index, count)| (bound(index), bound(index + 1), *count)).collect()
    }

    #[test]
    fn buckets_are_ours() {
        let point = point_of([123.0, 124.0, 123.0, 0.0, -5.0]);
        assert_eq!((point.scale, point.count, point.zero_count), (9, 5, 1));
        assert_eq!((point.sum, point.min, point.max), (Some(365.0), Some(-5.0), Some(124.0)));
        let buckets = buckets(&point);
        let holds = |value: f64, (lower, upper, _): (f64, f64, u64)| lower < value && value <= upper;
        assert!(holds(123.0, buckets[0]) && holds(124.0, buckets[1]), "{buckets:?}");
        assert_eq!((buckets[0].2, buckets[1].2, buckets.len()), (2, 1, 2));
        assert_eq!(point.negative.expect("a side").bucket_counts, [1]);
    }

    #[test]
    fn a_wide_range_takes_a_lower_scale() {
        let point = point_of((-500..500).map(|exponent| 2f64.powi(exponent)));
        assert_eq!(point.scale, 2);
        let buckets = buckets(&point);
        assert_eq!(buckets.iter().map(|(_, _, count)| count).sum::<u64>(), 1000);
        assert!(point.positive.expect("a side").bucket_counts.len() <= BUCKETS_MAX);
        assert_eq!(point_of([f64::MAX, f64::from_bits(1)]).count, 2);
    }

    #[test]
    fn bounds_of_failures_have_a_time() {
        let mut trend = Trend::default();
        [(1.0, Mark::Measured), (60.0, Mark::TimedOut), (9.0, Mark::Cut), (0.0, Mark::Failed)]
            .into_iter()
            .for_each(|(value, mark)| trend.record(value, mark));
        let point = data_point(&trend);
        assert_eq!((point.count, point.max), (3, Some(60.0)));
        assert_eq!(buckets(&point).len(), 3);
    }
}
