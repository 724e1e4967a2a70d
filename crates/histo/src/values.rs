//! The values of a series: exact while they are few, a histogram after that.

use crate::borrowed::{self, BorrowedValues};
use crate::codec::{DecodeError, Reader, write_varint};
use crate::histogram::{Histogram, same_bucket};
use crate::sum::FixedSum;

/// Values kept raw per series and run. Beyond it a series is a histogram everywhere.
pub const EXACT_MAX: usize = 4096;

/// The values of one series. Infinities and NaN are counted as [`Values::non_finite`] and are no part of anything else.
///
/// While exact, every statistic is what k6 computes from its list of all values; after that, quantiles come from the
/// histogram (within 0.07 % of the value at their rank), while count, smallest, largest, sum and mean stay exact. Whether
/// values are exact is decided by the series and the whole run: more than [`EXACT_MAX`] values in total, or anything merged
/// in that is not exact, make the result a histogram, in whatever order it came together.
#[derive(Clone, Debug, Default)]
pub struct Values {
    repr: Repr,
    non_finite: u64,
}

#[derive(Clone, Debug)]
enum Repr {
    /// Every value, in the order of arrival; negative zero is stored as zero.
    Exact(Vec<f64>),
    Inexact(Option<Box<Inexact>>),
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Inexact {
    histogram: Histogram,
    sum: FixedSum,
}

impl Default for Repr {
    fn default() -> Self {
        Repr::Exact(Vec::new())
    }
}

impl Values {
    /// No values yet, of a series that already had more than [`EXACT_MAX`] in this run: none will be kept raw.
    pub fn inexact() -> Values {
        Values { repr: Repr::Inexact(None), non_finite: 0 }
    }

    /// Adds a value.
    #[inline]
    pub fn record(&mut self, value: f64) {
        if !value.is_finite() {
            self.non_finite = self.non_finite.saturating_add(1);
            return;
        }
        match &mut self.repr {
            Repr::Inexact(Some(inexact)) => inexact.record(value),
            Repr::Exact(raw) if raw.len() < EXACT_MAX => raw.push(value + 0.0),
            _ => self.inexact_mut().record(value),
        }
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &Values) {
        self.non_finite = self.non_finite.saturating_add(other.non_finite);
        match &other.repr {
            Repr::Exact(theirs) => self.add_raw(theirs),
            Repr::Inexact(Some(theirs)) => self.inexact_mut().merge(theirs),
            Repr::Inexact(None) => self.end_exactness(),
        }
    }

    /// Adds borrowed values, exactly as if they were built and merged.
    pub fn add(&mut self, borrowed: &BorrowedValues<'_>) {
        self.non_finite = self.non_finite.saturating_add(borrowed.non_finite);
        match &borrowed.repr {
            borrowed::Repr::Exact(theirs) => self.add_raw(theirs),
            borrowed::Repr::Inexact(Some((theirs, sum))) => {
                let ours = self.inexact_mut();
                ours.histogram.add_checked(theirs);
                ours.sum.merge(sum);
            }
            borrowed::Repr::Inexact(None) => self.end_exactness(),
        }
    }

    /// Whether every value is still known.
    pub fn is_exact(&self) -> bool {
        matches!(self.repr, Repr::Exact(_))
    }

    /// Every value, in no particular order, while they are all known.
    pub fn raw(&self) -> Option<&[f64]> {
        match &self.repr {
            Repr::Exact(raw) => Some(raw),
            Repr::Inexact(_) => None,
        }
    }

    /// The values as a histogram, whether or not they are exact.
    pub fn to_histogram(&self) -> Histogram {
        match &self.repr {
            Repr::Exact(raw) => {
                let mut histogram = Histogram::default();
                raw.iter().for_each(|value| histogram.record(*value));
                histogram
            }
            Repr::Inexact(inexact) => {
                inexact.as_ref().map(|inexact| inexact.histogram.clone()).unwrap_or_default()
            }
        }
    }

    /// How many values.
    pub fn count(&self) -> u64 {
        match &self.repr {
            Repr::Exact(raw) => raw.len() as u64,
            Repr::Inexact(inexact) => inexact.as_ref().map_or(0, |inexact| inexact.histogram.count()),
        }
    }

    /// How many infinities and NaN were given.
    pub fn non_finite(&self) -> u64 {
        self.non_finite
    }

    /// The smallest value.
    pub fn min(&self) -> Option<f64> {
        match &self.repr {
            Repr::Exact(raw) => raw.iter().copied().reduce(f64::min),
            Repr::Inexact(inexact) => inexact.as_ref()?.histogram.min(),
        }
    }

    /// The largest value.
    pub fn max(&self) -> Option<f64> {
        match &self.repr {
            Repr::Exact(raw) => raw.iter().copied().reduce(f64::max),
            Repr::Inexact(inexact) => inexact.as_ref()?.histogram.max(),
        }
    }

    /// The sum of the values, free of order.
    pub fn sum(&self) -> FixedSum {
        match &self.repr {
            Repr::Exact(raw) => {
                let mut sum = FixedSum::default();
                raw.iter().for_each(|value| sum.add(*value));
                sum
            }
            Repr::Inexact(inexact) => inexact.as_ref().map(|inexact| inexact.sum.clone()).unwrap_or_default(),
        }
    }

    /// The mean of the values.
    pub fn mean(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum().value() / count as f64)
    }

    /// The quantile `q`, clamped to 0..=1: the value at rank `q · (count − 1)`, see [`Values::at_rank`].
    pub fn quantile(&self, q: f64) -> Option<f64> {
        self.at_rank(q.clamp(0.0, 1.0) * self.count().saturating_sub(1) as f64)
    }

    /// The value at a rank from 0 (the smallest) to `count − 1`; between two ranks, the line between their values, as k6
    /// computes percentiles. Ranks outside are clamped; NaN has no
    /// value.
    pub fn at_rank(&self, rank: f64) -> Option<f64> {
        match &self.repr {
            Repr::Exact(raw) => at_rank_of(raw.clone(), rank),
            Repr::Inexact(inexact) => inexact.as_ref()?.histogram.at_rank(rank),
        }
    }

    /// Whether a value within a bucket's width (0.135 %) of this one was recorded.
    pub fn holds(&self, value: f64) -> bool {
        match &self.repr {
            Repr::Exact(raw) => value.is_finite() && raw.iter().any(|known| same_bucket(*known, value)),
            Repr::Inexact(inexact) => inexact.as_ref().is_some_and(|inexact| inexact.histogram.holds(value)),
        }
    }

    /// The compact encoding, equal for equal values: version 1; the count of non-finite values; then either 0, how many
    /// values there are and the values in ascending order, or 1, the sum and the histogram (see [`FixedSum::to_bytes`] and
    /// [`Histogram::to_bytes`], here without their versions).
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        write_varint(&mut out, self.non_finite);
        match &self.repr {
            Repr::Exact(raw) => {
                out.push(EXACT);
                write_varint(&mut out, raw.len() as u64);
                sorted(raw).iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
            }
            Repr::Inexact(inexact) => {
                out.push(INEXACT);
                let empty = Inexact::default();
                let inexact = inexact.as_deref().unwrap_or(&empty);
                inexact.sum.encode(&mut out);
                inexact.histogram.encode(&mut out);
            }
        }
        out
    }

    /// The values that [`Values::to_bytes`] wrote.
    ///
    /// # Errors
    /// The bytes are of another version, or nothing that this build would have written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Values, DecodeError> {
        let mut reader = Reader(bytes);
        reader.version(VERSION)?;
        let non_finite = reader.count()?;
        let repr = match reader.byte()? {
            EXACT => Repr::Exact(decode_exact(&mut reader)?),
            INEXACT => decode_inexact(&mut reader)?,
            _ => return Err(DecodeError::Invalid("the kind of values is not known")),
        };
        reader.end()?;
        Ok(Values { repr, non_finite })
    }

    fn add_raw(&mut self, theirs: &[f64]) {
        match &mut self.repr {
            Repr::Exact(ours) if ours.len() + theirs.len() <= EXACT_MAX => ours.extend_from_slice(theirs),
            _ if theirs.is_empty() => {}
            _ => {
                let ours = self.inexact_mut();
                theirs.iter().for_each(|value| ours.record(*value));
            }
        }
    }

    /// No more values are kept raw.
    fn end_exactness(&mut self) {
        match &mut self.repr {
            Repr::Exact(ours) if ours.is_empty() => self.repr = Repr::Inexact(None),
            Repr::Exact(_) => {
                self.inexact_mut();
            }
            Repr::Inexact(_) => {}
        }
    }

    /// The inexact form, made of the raw values if need be.
    #[cold]
    fn inexact_mut(&mut self) -> &mut Inexact {
        if let Repr::Exact(raw) = &mut self.repr {
            let raw = std::mem::take(raw);
            let mut inexact = Box::<Inexact>::default();
            raw.iter().for_each(|value| inexact.record(*value));
            self.repr = Repr::Inexact(Some(inexact));
        }
        match &mut self.repr {
            Repr::Inexact(inexact) => inexact.get_or_insert_default(),
            Repr::Exact(_) => unreachable!("made inexact above"),
        }
    }
}

impl From<&BorrowedValues<'_>> for Values {
    fn from(borrowed: &BorrowedValues<'_>) -> Values {
        let mut values = Values::default();
        values.add(borrowed);
        values
    }
}

impl PartialEq for Values {
    fn eq(&self, other: &Values) -> bool {
        // The order of arrival is not part of the value.
        let same = match (&self.repr, &other.repr) {
            (Repr::Exact(a), Repr::Exact(b)) => a.len() == b.len() && sorted(a) == sorted(b),
            (Repr::Inexact(a), Repr::Inexact(b)) => {
                let empty = Inexact::default();
                a.as_deref().unwrap_or(&empty) == b.as_deref().unwrap_or(&empty)
            }
            _ => false,
        };
        same && self.non_finite == other.non_finite
    }
}

impl Inexact {
    #[inline]
    fn record(&mut self, value: f64) {
        self.histogram.record(value);
        // Most requests have three zeros: the times of the lookup, the connection and the TLS handshake.
        if value != 0.0 {
            self.sum.add(value);
        }
    }

    fn merge(&mut self, other: &Inexact) {
        self.histogram.merge(&other.histogram);
        self.sum.merge(&other.sum);
    }
}

const VERSION: u8 = 1;
const EXACT: u8 = 0;
const INEXACT: u8 = 1;

/// The point at `fraction` of the way from one value to the next.
pub(crate) fn between(lower: f64, upper: f64, fraction: f64) -> f64 {
    let width = upper - lower;
    if width.is_finite() { lower + width * fraction } else { lower * (1.0 - fraction) + upper * fraction }
}

/// The value at a rank of unsorted values, which are reordered.
fn at_rank_of(mut values: Vec<f64>, rank: f64) -> Option<f64> {
    let last = values.len().checked_sub(1).filter(|_| !rank.is_nan())?;
    let rank = rank.clamp(0.0, last as f64);
    let below = (rank.floor() as usize).min(last);
    let (_, &mut lower, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    let fraction = rank - rank.floor();
    // Everything above the selected value is at least as large, so that the next in order is the smallest of it.
    match above.iter().copied().reduce(f64::min) {
        Some(upper) if fraction > 0.0 => Some(between(lower, upper, fraction)),
        _ => Some(lower),
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

fn decode_exact(reader: &mut Reader<'_>) -> Result<Vec<f64>, DecodeError> {
    let count = reader.count()?;
    if count > EXACT_MAX as u64 {
        return Err(DecodeError::Invalid("more raw values than are ever kept"));
    }
    let values = (0..count).map(|_| reader.float()).collect::<Result<Vec<_>, _>>()?;
    if !values.is_sorted() {
        return Err(DecodeError::Invalid("the values are out of order"));
    }
    Ok(values)
}

fn decode_inexact(reader: &mut Reader<'_>) -> Result<Repr, DecodeError> {
    let inexact = Inexact { sum: FixedSum::decode(reader)?, histogram: Histogram::decode(reader)? };
    // Non-finite values are counted outside; a second place for them would be a second truth.
    if inexact.sum.non_finite() != 0 || inexact.histogram.non_finite() != 0 {
        return Err(DecodeError::Invalid("non-finite values are counted twice"));
    }
    Ok(Repr::Inexact((inexact != Inexact::default()).then(|| Box::new(inexact))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values_of(values: &[f64]) -> Values {
        let mut result = Values::default();
        values.iter().for_each(|value| result.record(*value));
        result
    }

    #[track_caller]
    fn check(values: &[f64], q: f64, expect: Option<f64>) {
        assert_eq!(values_of(values).quantile(q), expect, "quantile {q} of {values:?}");
    }

    #[test]
    fn quantiles_interpolate_between_neighbours() {
        check(&[], 0.9, None);
        check(&[3.0], 0.9, Some(3.0));
        check(&[2.0, 1.0], 0.5, Some(1.5));
        check(&[5.0, 1.0, 4.0, 2.0, 3.0], 0.5, Some(3.0));
        check(&[5.0, 1.0, 4.0, 2.0, 3.0], 0.9, Some(4.6));
        check(&[5.0, 1.0, 4.0, 2.0, 3.0], 1.0, Some(5.0));
        check(&[5.0, 1.0, 4.0, 2.0, 3.0], 0.0, Some(1.0));
        check(&[-1.0, -2.0, 0.0], 0.25, Some(-1.5));
        check(&[f64::MAX, -f64::MAX], 0.5, Some(0.0));
        check(&[f64::NAN, 1.0, f64::INFINITY], 0.5, Some(1.0));
        check(&[1.0], f64::NAN, None);
    }

    #[test]
    fn an_empty_one_is_tiny() {
        assert!(size_of::<Values>() <= 64);
        assert_eq!(Values::inexact().count(), 0);
        assert_eq!(Values::inexact().quantile(0.5), None);
        assert_eq!((Values::default().mean(), Values::default().min()), (None, None));
    }

    #[test]
    fn exactness_ends_after_its_limit_and_stays_ended() {
        let mut values = values_of(&[1.5; EXACT_MAX]);
        assert!(values.is_exact());
        values.record(2.5);
        assert!(!values.is_exact());
        assert_eq!((values.count(), values.max()), (EXACT_MAX as u64 + 1, Some(2.5)));
        assert_eq!(values.sum().value(), 1.5 * EXACT_MAX as f64 + 2.5);

        for (mut ours, theirs) in [
            (Values::inexact(), values_of(&[1.0])),
            (values_of(&[1.0]), Values::inexact()),
            (values_of(&[1.0; EXACT_MAX]), values_of(&[1.0])),
            (values_of(&[1.0]), values_of(&[1.0; EXACT_MAX])),
            (Values::default(), Values::inexact()),
        ] {
            ours.merge(&theirs);
            assert!(!ours.is_exact());
        }
    }

    #[test]
    fn hostile_bytes_are_refused() {
        for good in [values_of(&[1.0, 2.0]).to_bytes(), values_of(&[1.0; EXACT_MAX + 1]).to_bytes()] {
            for end in 0..good.len() {
                assert!(Values::from_bytes(&good[..end]).is_err(), "cut at {end}");
            }
            assert_eq!(Values::from_bytes(&[&good[..], &[0]].concat()), Err(DecodeError::TrailingBytes));
        }
        let too_many = DecodeError::Invalid("more raw values than are ever kept");
        assert_eq!(Values::from_bytes(&[1, 0, 0, 0xff, 0xff, 0x7f]), Err(too_many));
        let mut swapped = values_of(&[1.0, 2.0]).to_bytes();
        swapped[4..].rotate_left(8);
        let order = DecodeError::Invalid("the values are out of order");
        assert_eq!(Values::from_bytes(&swapped), Err(order));
        assert_eq!(
            Values::from_bytes(&[1, 0, 7]),
            Err(DecodeError::Invalid("the kind of values is not known"))
        );
    }

    #[test]
    fn holding_goes_by_bucket() {
        for values in
            [values_of(&[0.0, 100.0, -5.0]), values_of(&[vec![0.0, 100.0, -5.0], vec![0.0; 5000]].concat())]
        {
            assert!(values.holds(100.01) && values.holds(-5.0) && values.holds(0.0));
            assert!(!values.holds(101.0) && !values.holds(5.0) && !values.holds(f64::NAN));
        }
    }

    fn any_value() -> impl Strategy<Value = f64> {
        prop_oneof![4 => 1e-3..1e5f64, 1 => any::<f64>(), 1 => Just(-0.0)]
    }

    /// Few values, or so many that three parts cross the limit.
    fn any_part() -> impl Strategy<Value = Vec<f64>> {
        (prop::collection::vec(any_value(), 0..40), prop_oneof![3 => Just(1usize), 1 => Just(100)])
            .prop_map(|(values, times)| values.repeat(times))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn merging_is_free_of_order_bit_for_bit(
            parts in prop::collection::vec((any_part(), any::<bool>()), 1..5), seed: u64,
        ) {
            let part = |(values, inexact): &(Vec<f64>, bool)| {
                let mut part = if *inexact && seed % 3 == 0 { Values::inexact() } else { Values::default() };
                values.iter().for_each(|value| part.record(*value));
                part
            };
            let left = parts.iter().map(part).fold(Values::default(), |mut sum, part| { sum.merge(&part); sum });
            let right = parts.iter().rev().map(part).fold(Values::default(), |sum, mut part| {
                part.merge(&sum);
                part
            });
            prop_assert_eq!(&left, &right);
            prop_assert_eq!(left.to_bytes(), right.to_bytes());
            let total: usize = parts.iter().map(|(values, _)| values.iter().filter(|v| v.is_finite()).count()).sum();
            prop_assert_eq!(left.count(), total as u64);
            prop_assert!(total <= EXACT_MAX || !left.is_exact());
            prop_assert_eq!(Values::from_bytes(&left.to_bytes()), Ok(left));
        }

        #[test]
        fn exact_and_inexact_agree(values in prop::collection::vec(1e-3..1e5f64, 1..300), q in 0.0..=1.0f64) {
            let exact = values_of(&values);
            let mut inexact = Values::inexact();
            inexact.merge(&exact);
            let (a, b) = (exact.quantile(q).expect("values"), inexact.quantile(q).expect("values"));
            prop_assert!((a - b).abs() <= 0.0007 * a, "{} {}", a, b);
            prop_assert_eq!(exact.mean(), inexact.mean());
        }
    }
}
