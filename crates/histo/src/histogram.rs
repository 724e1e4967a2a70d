//! The histogram: counts by exponential bucket on both sides of zero.

use crate::borrowed::{Buckets, Checked};
use crate::bucket::{self, INDEX_MAX, INDEX_MIN};
use crate::codec::{DecodeError, Reader, write_varint};
use crate::pages::Pages;

/// A sparse base-2 exponential histogram of scale 9: buckets 0.135 % wide, so that no quantile is further than 0.07 % from
/// the value of its rank.
///
/// Counts are exact (they saturate at `u64::MAX`), merging adds them and is therefore associative and commutative bit for
/// bit. Negative values have buckets of their own; zero (also negative zero) is counted apart; infinities and NaN are
/// counted as [`Histogram::non_finite`] and are no part of anything else. The smallest and the largest value are exact.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    positive: Pages,
    negative: Option<Box<Pages>>,
    zero: u64,
    non_finite: u64,
    count: u64,
    min: f64,
    max: f64,
}

/// A bucket that has values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// The bound nearer to negative infinity: exclusive for positive values, inclusive for negative ones.
    pub lower: f64,
    /// The bound nearer to positive infinity: inclusive for positive values, exclusive for negative ones.
    pub upper: f64,
    /// How many values.
    pub count: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram {
            positive: Pages::default(),
            negative: None,
            zero: 0,
            non_finite: 0,
            count: 0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
        }
    }
}

impl Histogram {
    /// Counts a value.
    #[inline]
    pub fn record(&mut self, value: f64) {
        if !(value > 0.0 && value <= f64::MAX) {
            return self.record_unusual(value);
        }
        self.positive.add(bucket::index_of(value), 1);
        self.count_finite(value);
    }

    /// Adds everything that `other` counted.
    pub fn merge(&mut self, other: &Histogram) {
        self.positive.merge(&other.positive);
        if let Some(theirs) = &other.negative {
            self.negative.get_or_insert_default().merge(theirs);
        }
        self.zero = self.zero.saturating_add(other.zero);
        self.non_finite = self.non_finite.saturating_add(other.non_finite);
        self.count = self.count.saturating_add(other.count);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// How many finite values were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many of them were zero.
    pub fn zero(&self) -> u64 {
        self.zero
    }

    /// How many infinities and NaN were given.
    pub fn non_finite(&self) -> u64 {
        self.non_finite
    }

    /// The smallest value, exact.
    pub fn min(&self) -> Option<f64> {
        (self.count > 0).then_some(self.min)
    }

    /// The largest value, exact.
    pub fn max(&self) -> Option<f64> {
        (self.count > 0).then_some(self.max)
    }

    /// The quantile `q`, clamped to 0..=1: the value at rank `q · (count − 1)`, see [`Histogram::at_rank`].
    pub fn quantile(&self, q: f64) -> Option<f64> {
        self.at_rank(q.clamp(0.0, 1.0) * self.count.saturating_sub(1) as f64)
    }

    /// The value at a rank from 0 (the smallest) to `count − 1`; between two ranks, the line between their values.
    ///
    /// This is k6's rule for percentiles, with the middle of a bucket for each value in it. Ranks outside are clamped; NaN has no
    /// value.
    pub fn at_rank(&self, rank: f64) -> Option<f64> {
        let last = self.count.checked_sub(1).filter(|_| !rank.is_nan())?;
        let rank = rank.clamp(0.0, last as f64);
        let below = (rank.floor() as u64).min(last);
        let lower = self.value_at(below);
        let fraction = rank - rank.floor();
        if fraction == 0.0 {
            return Some(lower);
        }
        Some(crate::values::between(lower, self.value_at((below + 1).min(last)), fraction))
    }

    /// The buckets that have values, from the smallest values to the largest; the zeros are a bucket from 0 to 0.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> {
        let negative = self.negative().rev().map(|(index, count)| {
            let (nearer, farther) = bucket::bounds(index);
            Bucket { lower: -farther, upper: -nearer, count }
        });
        let zero = (self.zero > 0).then_some(Bucket { lower: 0.0, upper: 0.0, count: self.zero });
        let positive = self.positive().map(|(index, count)| {
            let (lower, upper) = bucket::bounds(index);
            Bucket { lower, upper, count }
        });
        negative.chain(zero).chain(positive)
    }

    /// Index (as in OpenTelemetry at [`crate::SCALE`]) and count of the buckets of positive values, by index.
    pub fn positive(&self) -> impl DoubleEndedIterator<Item = (i32, u64)> + Clone {
        self.positive.iter()
    }

    /// Index and count of the buckets of negative values, by index: from the values nearest to zero.
    pub fn negative(&self) -> impl DoubleEndedIterator<Item = (i32, u64)> + Clone {
        self.negative.iter().flat_map(|pages| pages.iter())
    }

    /// Whether a value fell into the bucket of this one.
    pub fn holds(&self, value: f64) -> bool {
        if value > 0.0 {
            return value.is_finite() && self.positive.count_of(bucket::index_of(value)) > 0;
        }
        if value < 0.0 {
            let negative = self.negative.as_ref();
            return value.is_finite() && negative.is_some_and(|n| n.count_of(bucket::index_of(-value)) > 0);
        }
        value == 0.0 && self.zero > 0
    }

    /// The compact encoding, equal for equal histograms: version 1; the counts of non-finite values and of zeros; the
    /// smallest and the largest value, if there is any; then the positive and the negative buckets, each side as how many
    /// buckets there are, and for each the distance of its index from the one before (the first from the lowest possible
    /// one) and its count. Integers are LEB128, floats 8 bytes little-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        self.encode(&mut out);
        out
    }

    /// The histogram that [`Histogram::to_bytes`] wrote.
    ///
    /// # Errors
    /// The bytes are of another version, or nothing that this build would have written. Memory stays within the limits of
    /// a histogram (18 MB, if every float occurred) whatever the bytes are.
    pub fn from_bytes(bytes: &[u8]) -> Result<Histogram, DecodeError> {
        let mut reader = Reader(bytes);
        reader.version(VERSION)?;
        let histogram = Histogram::decode(&mut reader)?;
        reader.end()?;
        Ok(histogram)
    }

    /// Adds everything that the parts of another count.
    pub(crate) fn add_checked(&mut self, parts: &Checked<'_>) {
        let Buckets { zero, ends: (min, max), positive, negative } = parts.buckets;
        self.positive.add_all(positive);
        if !negative.is_empty() {
            self.negative.get_or_insert_default().add_all(negative);
        }
        self.zero = self.zero.saturating_add(zero);
        self.count = self.count.saturating_add(parts.count);
        self.min = self.min.min(min);
        self.max = self.max.max(max);
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        write_varint(out, self.non_finite);
        write_varint(out, self.zero);
        write_varint(out, self.count);
        if self.count == 0 {
            return;
        }
        out.extend_from_slice(&self.min.to_le_bytes());
        out.extend_from_slice(&self.max.to_le_bytes());
        encode_side(out, self.positive());
        encode_side(out, self.negative());
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Histogram, DecodeError> {
        let mut histogram =
            Histogram { non_finite: reader.count()?, zero: reader.count()?, ..Default::default() };
        histogram.count = reader.count()?;
        if histogram.count == 0 {
            return match histogram.zero {
                0 => Ok(histogram),
                _ => Err(DecodeError::Invalid("the counts do not add up")),
            };
        }
        (histogram.min, histogram.max) = (reader.float()?, reader.float()?);
        let positive = decode_side(reader, &mut histogram.positive)?;
        let mut negatives = Pages::default();
        let negative = decode_side(reader, &mut negatives)?;
        histogram.negative = (negative > 0).then(|| Box::new(negatives));
        if histogram.zero.saturating_add(positive).saturating_add(negative) != histogram.count {
            return Err(DecodeError::Invalid("the counts do not add up"));
        }
        if !histogram.ends_match() {
            return Err(DecodeError::Invalid("the smallest or largest value is not in the outermost bucket"));
        }
        Ok(histogram)
    }

    fn count_finite(&mut self, value: f64) {
        self.count = self.count.saturating_add(1);
        // Not f64::min: its care for NaN costs, and there is none here.
        if value < self.min {
            self.min = value;
        }
        if value > self.max {
            self.max = value;
        }
    }

    #[cold]
    #[inline(never)]
    fn record_unusual(&mut self, value: f64) {
        if value == 0.0 {
            self.zero = self.zero.saturating_add(1);
            return self.count_finite(0.0);
        }
        if !value.is_finite() {
            self.non_finite = self.non_finite.saturating_add(1);
            return;
        }
        self.negative.get_or_insert_default().add(bucket::index_of(-value), 1);
        self.count_finite(value);
    }

    /// The value at a whole rank below the count. The first and the last are known exactly.
    fn value_at(&self, rank: u64) -> f64 {
        if rank == 0 {
            return self.min;
        }
        if rank >= self.count - 1 {
            return self.max;
        }
        let negative = self.negative().rev().map(|(index, count)| (-bucket::middle(index), count));
        let positive = self.positive().map(|(index, count)| (bucket::middle(index), count));
        let mut seen = 0u64;
        for (value, count) in negative.chain([(0.0, self.zero)]).chain(positive) {
            seen = seen.saturating_add(count);
            if seen > rank {
                return value.clamp(self.min, self.max);
            }
        }
        self.max
    }

    fn ends_match(&self) -> bool {
        let index = |bucket: Option<(i32, u64)>| bucket.map(|bucket| bucket.0);
        let (mut positive, mut negative) = (self.positive(), self.negative());
        let sides = Sides {
            positive: [index(positive.clone().next()), index(positive.next_back())],
            negative: [index(negative.clone().next()), index(negative.next_back())],
            has_zeros: self.zero > 0,
        };
        sides.end_at(self.min, self.max)
    }
}

/// The outermost buckets of a histogram.
pub(crate) struct Sides {
    /// The lowest and the highest index of positive values.
    pub(crate) positive: [Option<i32>; 2],
    /// And of negative ones.
    pub(crate) negative: [Option<i32>; 2],
    pub(crate) has_zeros: bool,
}

impl Sides {
    /// Whether they are those of the smallest and the largest value.
    pub(crate) fn end_at(&self, min: f64, max: f64) -> bool {
        let below = |index: i32| -bucket::middle(index);
        let zero = self.has_zeros.then_some(0.0);
        let lowest = self.negative[1].map(below).or(zero).or(self.positive[0].map(bucket::middle));
        let highest = self.positive[1].map(bucket::middle).or(zero).or(self.negative[0].map(below));
        let matches = |end: Option<f64>, value: f64| end.is_some_and(|end| same_bucket(end, value));
        matches(lowest, min) && matches(highest, max) && min <= max
    }
}

/// Whether two finite values share a bucket.
pub(crate) fn same_bucket(a: f64, b: f64) -> bool {
    if a == 0.0 || b == 0.0 || (a < 0.0) != (b < 0.0) {
        return a == b;
    }
    bucket::index_of(a.abs()) == bucket::index_of(b.abs())
}

const VERSION: u8 = 1;

fn encode_side(out: &mut Vec<u8>, side: impl Iterator<Item = (i32, u64)> + Clone) {
    write_varint(out, side.clone().count() as u64);
    let mut previous = INDEX_MIN;
    for (index, count) in side {
        write_varint(out, (index - previous) as u64);
        write_varint(out, count);
        previous = index;
    }
}

/// Reads one side's buckets; returns the sum of their counts.
fn decode_side(reader: &mut Reader<'_>, pages: &mut Pages) -> Result<u64, DecodeError> {
    let buckets = reader.varint()?;
    let mut index = i64::from(INDEX_MIN);
    let mut total = 0u64;
    for i in 0..buckets {
        let step = reader.varint()?;
        if step > (INDEX_MAX - INDEX_MIN) as u64 || (step == 0 && i > 0) {
            return Err(DecodeError::Invalid("a bucket is out of range or out of order"));
        }
        index += step as i64;
        if index > i64::from(INDEX_MAX) {
            return Err(DecodeError::Invalid("a bucket is out of range or out of order"));
        }
        let count = reader.count()?;
        if count == 0 {
            return Err(DecodeError::Invalid("a bucket is empty"));
        }
        pages.add(index as i32, count);
        total = total.saturating_add(count);
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn histogram_of(values: &[f64]) -> Histogram {
        let mut histogram = Histogram::default();
        values.iter().for_each(|value| histogram.record(*value));
        histogram
    }

    #[track_caller]
    fn check(values: &[f64], q: f64, expect: Option<f64>) {
        let actual = histogram_of(values).quantile(q);
        let close = match (actual, expect) {
            (Some(actual), Some(expect)) => (actual - expect).abs() <= 0.001 * expect.abs(),
            (actual, expect) => actual == expect,
        };
        assert!(close, "quantile {q} of {values:?} is {actual:?}, not {expect:?}");
    }

    #[test]
    fn quantiles() {
        check(&[], 0.5, None);
        check(&[7.0], 0.5, Some(7.0));
        check(&[1.0, 2.0], 0.5, Some(1.5));
        check(&[1.0, 2.0, 3.0, 4.0], 0.5, Some(2.5));
        check(&[0.0, 0.0, 5.0], 0.5, Some(0.0));
        check(&[-8.0, -4.0, -2.0, 1.0], 1.0 / 3.0, Some(-4.0));
        check(&[-1.0, 0.0, 1.0], 0.5, Some(0.0));
        check(&[f64::from_bits(1), f64::from_bits(3), f64::MAX], 0.0, Some(f64::from_bits(1)));
        check(&[1.0, f64::MAX], 1.0, Some(f64::MAX));
        check(&[1.0, 9.0], 7.0, Some(9.0));
        check(&[1.0, 9.0], f64::NAN, None);
    }

    #[test]
    fn the_ends_are_exact() {
        let histogram = histogram_of(&[1.1, 3.3, 7.7, -2.2]);
        assert_eq!((histogram.quantile(0.0), histogram.quantile(1.0)), (Some(-2.2), Some(7.7)));
    }

    #[test]
    fn values_that_are_no_numbers_are_counted_apart() {
        let histogram = histogram_of(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0, -0.0]);
        assert_eq!((histogram.count(), histogram.zero(), histogram.non_finite()), (2, 1, 3));
        assert_eq!((histogram.min(), histogram.max()), (Some(0.0), Some(1.0)));
        assert!(histogram.min().is_some_and(f64::is_sign_positive), "negative zero is zero");
    }

    #[test]
    fn buckets_run_from_the_smallest_to_the_largest() {
        let histogram = histogram_of(&[4.0, -4.0, 0.0, -1.0, 1.0, 4.0]);
        let buckets: Vec<_> = histogram.buckets().collect();
        let counts: Vec<_> = buckets.iter().map(|bucket| bucket.count).collect();
        assert_eq!(counts, [1, 1, 1, 1, 2]);
        assert_eq!(buckets[0].lower, -4.0);
        assert_eq!(buckets[4].upper, 4.0);
        assert!(buckets.is_sorted_by(|a, b| a.upper <= b.lower));
    }

    #[test]
    fn hostile_bytes_are_refused() {
        let good = histogram_of(&[1.0, 2.0, -3.0]).to_bytes();
        for end in 0..good.len() {
            assert!(Histogram::from_bytes(&good[..end]).is_err(), "cut at {end}");
        }
        assert_eq!(Histogram::from_bytes(&[&good[..], &[0]].concat()), Err(DecodeError::TrailingBytes));
        assert_eq!(Histogram::from_bytes(&[2, 0, 0, 0]), Err(DecodeError::Version(2)));
        let sum = Err(DecodeError::Invalid("the counts do not add up"));
        assert_eq!(Histogram::from_bytes(&[1, 0, 1, 0]), sum);
        // A smallest value that lies in no bucket.
        let mut moved = good.clone();
        moved[4..12].copy_from_slice(&(-9.0f64).to_le_bytes());
        let ends = Err(DecodeError::Invalid("the smallest or largest value is not in the outermost bucket"));
        assert_eq!(Histogram::from_bytes(&moved), ends);
    }

    /// Bytes that claim these positive buckets, as distance and count, of values from 1 to `max`.
    fn bytes_of(max: f64, count: u64, buckets: &[(u64, u64)]) -> Vec<u8> {
        let mut bytes = vec![VERSION, 0, 0];
        write_varint(&mut bytes, count);
        bytes.extend([1.0, max].iter().flat_map(|end: &f64| end.to_le_bytes()));
        write_varint(&mut bytes, buckets.len() as u64);
        for (distance, count) in buckets {
            write_varint(&mut bytes, *distance);
            write_varint(&mut bytes, *count);
        }
        bytes.push(0);
        bytes
    }

    #[test]
    fn hostile_buckets_are_refused() {
        let one = (bucket::index_of(1.0) - INDEX_MIN) as u64;
        let check = |max, count, buckets: &[(u64, u64)], expect: Option<&'static str>| {
            let error = Histogram::from_bytes(&bytes_of(max, count, buckets)).err();
            assert_eq!(error, expect.map(DecodeError::Invalid), "{buckets:?}");
        };
        let range = Some("a bucket is out of range or out of order");
        check(2.0, 2, &[(one, 1), (512, 1)], None);
        check(2.0, 2, &[(one, 1), (512, 2)], Some("the counts do not add up"));
        check(2.0, 2, &[(one, 1), (0, 0), (512, 1)], range);
        check(1.0, 2, &[(one, 1), (0, 1)], range);
        check(2.0, 2, &[(one, 1), (1, 0), (511, 1)], Some("a bucket is empty"));
        check(2.0, 2, &[(one, 1), (600_000, 1)], range);
        check(2.0, 2, &[(u64::MAX, 1), (512, 1)], range);
        check(1.0, 1 << 60, &[(one, 1 << 60)], Some("a count is impossibly large"));
    }

    #[test]
    fn an_independent_histogram_agrees() {
        // Microseconds from a fixed pseudo-random walk over four decades.
        let mut state = 1u64;
        let values: Vec<u64> = (0..50_000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                10 + (((state >> 40) as f64 / 16_777_216.0).powi(4) * 1e6) as u64
            })
            .collect();
        let mut oracle =
            hdrhistogram::Histogram::<u64>::new_with_bounds(1, 10_000_000, 4).expect("valid bounds");
        values.iter().for_each(|value| oracle.record(*value).expect("in bounds"));
        let ours = histogram_of(&values.iter().map(|value| *value as f64).collect::<Vec<_>>());
        for q in [0.01, 0.25, 0.5, 0.9, 0.99, 0.999] {
            let (ours, theirs) = (ours.quantile(q).expect("values"), oracle.value_at_quantile(q) as f64);
            assert!((ours - theirs).abs() <= 0.002 * theirs + 1.0, "q {q}: {ours} {theirs}");
        }
    }

    fn any_value() -> impl Strategy<Value = f64> {
        prop_oneof![
            4 => 1e-3..1e5f64,
            1 => any::<f64>(),
            1 => Just(0.0),
            1 => -1e3..1e3f64,
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn merging_is_free_of_order_bit_for_bit(
            parts in prop::collection::vec(prop::collection::vec(any_value(), 0..50), 1..6),
            seed: u64,
        ) {
            let whole = histogram_of(&parts.concat());
            let mut shuffled: Vec<_> = parts.iter().map(|part| histogram_of(part)).collect();
            shuffled.sort_by_key(|part| part.count().wrapping_mul(seed | 1));
            let left = shuffled.iter().fold(Histogram::default(), |mut sum, part| { sum.merge(part); sum });
            let right = shuffled.iter().rev().fold(Histogram::default(), |sum, part| {
                let mut part = part.clone();
                part.merge(&sum);
                part
            });
            prop_assert_eq!(&left, &whole);
            prop_assert_eq!(left.to_bytes(), whole.to_bytes());
            prop_assert_eq!(right.to_bytes(), whole.to_bytes());
            prop_assert_eq!(Histogram::from_bytes(&whole.to_bytes()), Ok(whole));
        }

        #[test]
        fn whole_ranks_are_within_a_thousandth(values in prop::collection::vec(any_value(), 1..200)) {
            let histogram = histogram_of(&values);
            let mut sorted: Vec<_> = values.iter().copied().filter(|value| value.is_finite()).collect();
            sorted.sort_by(f64::total_cmp);
            for (rank, exact) in sorted.iter().enumerate() {
                let estimate = histogram.at_rank(rank as f64).expect("values");
                // The grid of subnormals is coarser than any relative bound.
                let tolerance = (0.0007 * exact.abs()).max(f64::from_bits(1));
                prop_assert!((estimate - exact).abs() <= tolerance, "rank {}: {} {}", rank, estimate, exact);
            }
        }

    }

    proptest! {
        #[test]
        fn any_bytes_decode_or_fail(bytes: Vec<u8>) {
            if let Ok(histogram) = Histogram::from_bytes(&bytes) {
                prop_assert_eq!(histogram.to_bytes(), bytes);
            }
        }

        #[test]
        fn damaged_bytes_decode_or_fail(
            values in prop::collection::vec(any_value(), 1..20), at: prop::sample::Index, byte: u8,
        ) {
            let mut bytes = histogram_of(&values).to_bytes();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            if let Ok(histogram) = Histogram::from_bytes(&bytes) {
                prop_assert_eq!(histogram.to_bytes(), bytes);
            }
        }
    }
}
