//! Values in borrowed memory: validated, and added to others without a copy.

use crate::bucket::{INDEX_MAX, INDEX_MIN};
use crate::codec::{COUNT_MAX, DecodeError};
use crate::histogram::Sides;
use crate::sum::FixedSum;
use crate::values::EXACT_MAX;

/// Values whose buckets and raw values the caller owns: to be added to others ([`crate::Values::add`]), or to become
/// [`crate::Values`] themselves.
#[derive(Clone, Debug)]
pub struct BorrowedValues<'a> {
    pub(crate) repr: Repr<'a>,
    pub(crate) non_finite: u64,
}

#[derive(Clone, Debug)]
pub(crate) enum Repr<'a> {
    Exact(&'a [f64]),
    Inexact(Option<(Checked<'a>, FixedSum)>),
}

/// A histogram in parts: so many zeros and its buckets, as [`Histogram::positive`] and [`Histogram::negative`] give them.
#[derive(Clone, Copy, Debug)]
pub struct Buckets<'a> {
    /// How many values are zero.
    pub zero: u64,
    /// The smallest and the largest value.
    pub ends: (f64, f64),
    /// Index and count of the buckets of positive values, by index.
    pub positive: &'a [(i32, u64)],
    /// Index and count of the buckets of negative values, by index.
    pub negative: &'a [(i32, u64)],
}

/// Parts that some histogram has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checked<'a> {
    pub(crate) buckets: Buckets<'a>,
    /// Of all values.
    pub(crate) count: u64,
}

impl<'a> BorrowedValues<'a> {
    /// Values that are all known, in any order, and so many non-finite ones.
    ///
    /// # Errors
    /// They are more than [`EXACT_MAX`], or one of them is not finite or is negative zero.
    pub fn raw(values: &'a [f64], non_finite: u64) -> Result<BorrowedValues<'a>, DecodeError> {
        if values.len() > EXACT_MAX || !values.iter().copied().all(is_value) || non_finite > COUNT_MAX {
            return Err(DecodeError::Invalid("the values are too many, or not finite"));
        }
        Ok(BorrowedValues { repr: Repr::Exact(values), non_finite })
    }

    /// Values of which a histogram and the sum are known, and so many non-finite ones.
    ///
    /// # Errors
    /// No histogram would give these parts (buckets are empty, out of range or out of order, or the ends are in none of the
    /// outermost ones), or the sum counts non-finite values itself.
    pub fn buckets(
        buckets: Buckets<'a>,
        sum: FixedSum,
        non_finite: u64,
    ) -> Result<BorrowedValues<'a>, DecodeError> {
        let checked = Checked::new(buckets)?;
        if sum.non_finite() != 0 || non_finite > COUNT_MAX {
            return Err(DecodeError::Invalid("the sum is not that of the histogram"));
        }
        Ok(BorrowedValues { repr: Repr::Inexact(Some((checked, sum))), non_finite })
    }

    /// No values of a series that has none of them raw, and so many non-finite ones.
    ///
    /// # Errors
    /// There are more than any run can have.
    pub fn inexact(non_finite: u64) -> Result<BorrowedValues<'a>, DecodeError> {
        if non_finite > COUNT_MAX {
            return Err(DecodeError::Invalid("the values are too many, or not finite"));
        }
        Ok(BorrowedValues { repr: Repr::Inexact(None), non_finite })
    }

    /// How many values.
    pub fn count(&self) -> u64 {
        match &self.repr {
            Repr::Exact(raw) => raw.len() as u64,
            Repr::Inexact(inexact) => inexact.as_ref().map_or(0, |inexact| inexact.0.count),
        }
    }
}

impl<'a> Checked<'a> {
    fn new(buckets: Buckets<'a>) -> Result<Checked<'a>, DecodeError> {
        let (positive, negative) = (count_of(buckets.positive)?, count_of(buckets.negative)?);
        let count = buckets.zero.saturating_add(positive).saturating_add(negative);
        let (min, max) = buckets.ends;
        let sides = Sides {
            positive: ends_of(buckets.positive),
            negative: ends_of(buckets.negative),
            has_zeros: buckets.zero > 0,
        };
        if !is_value(min) || !is_value(max) || count > COUNT_MAX || !sides.end_at(min, max) {
            return Err(DecodeError::Invalid("the smallest or largest value is not in the outermost bucket"));
        }
        Ok(Checked { buckets, count })
    }
}

/// An infinity or NaN has no bucket, and negative zero is stored as zero.
fn is_value(value: f64) -> bool {
    value.is_finite() && (value != 0.0 || value.is_sign_positive())
}

/// How many values one side has.
fn count_of(side: &[(i32, u64)]) -> Result<u64, DecodeError> {
    let mut previous = INDEX_MIN - 1;
    let mut total = 0u64;
    for (index, count) in side {
        if *index <= previous || *index > INDEX_MAX || *count == 0 {
            return Err(DecodeError::Invalid("a bucket is empty, out of range or out of order"));
        }
        total = total.saturating_add(*count);
        previous = *index;
    }
    Ok(total)
}

/// The lowest and the highest index of one side.
fn ends_of(side: &[(i32, u64)]) -> [Option<i32>; 2] {
    [side.first(), side.last()].map(|bucket| bucket.map(|bucket| bucket.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Values;

    fn values_of(values: &[f64]) -> Values {
        let mut result = Values::default();
        values.iter().for_each(|value| result.record(*value));
        result
    }

    /// Passes a borrowed view of a copy of the values to `then`.
    fn with_borrowed<T>(values: &Values, then: impl FnOnce(BorrowedValues<'_>) -> T) -> T {
        let non_finite = values.non_finite();
        if let Some(raw) = values.raw() {
            return then(BorrowedValues::raw(raw, non_finite).expect("its own values"));
        }
        let known = values.to_histogram();
        let Some(ends) = known.min().zip(known.max()) else {
            return then(BorrowedValues::inexact(non_finite).expect("few"));
        };
        let [positive, negative]: [Vec<_>; 2] = [known.positive().collect(), known.negative().collect()];
        let buckets = Buckets { zero: known.zero(), ends, positive: &positive, negative: &negative };
        then(BorrowedValues::buckets(buckets, values.sum(), non_finite).expect("its own parts"))
    }

    fn inexact(values: &[f64]) -> Values {
        let mut result = Values::inexact();
        result.merge(&values_of(values));
        result
    }

    proptest! {
        #[test]
        fn what_is_lent_is_added_as_what_is_built(
            a in prop::collection::vec(any::<f64>(), 0..20), b in prop::collection::vec(any::<f64>(), 0..20),
            times in prop_oneof![4 => Just(1usize), 1 => Just(300)], forms in 0u8..4,
        ) {
            let of = |values: &[f64], is_inexact| match is_inexact {
                true => inexact(values),
                false => values_of(values),
            };
            let (a, b) = (of(&a.repeat(times), forms & 1 == 1), of(&b.repeat(times), forms & 2 == 2));
            let mut expect = a.clone();
            expect.merge(&b);
            let mut sum = a;
            with_borrowed(&b, |lent| sum.add(&lent));
            prop_assert_eq!(sum.to_bytes(), expect.to_bytes());
            prop_assert_eq!(with_borrowed(&b, |lent| (lent.count(), Values::from(&lent))), (b.count(), b));
        }
    }

    #[test]
    fn hostile_parts_are_refused() {
        assert!(BorrowedValues::raw(&[1.0; EXACT_MAX + 1], 0).is_err());
        assert!(BorrowedValues::raw(&[f64::NAN], 0).is_err());
        assert!(BorrowedValues::raw(&[-0.0], 0).is_err());
        assert!(BorrowedValues::inexact(u64::MAX).is_err());
        let check = |zero, ends, positive: &[(i32, u64)], negative: &[(i32, u64)]| {
            let buckets = Buckets { zero, ends, positive, negative };
            assert!(BorrowedValues::buckets(buckets, FixedSum::default(), 0).is_err(), "{positive:?}");
        };
        check(0, (1.0, 1.0), &[], &[]);
        check(0, (1.0, 1.0), &[(-1, 0)], &[]);
        check(0, (1.0, 1.0), &[(-1, 1), (-1, 1)], &[]);
        check(0, (1.0, 1.0), &[(5, 1)], &[]);
        check(0, (1.0, f64::INFINITY), &[(-1, 2)], &[]);
        check(1, (-0.0, -0.0), &[], &[]);
        check(0, (1.0, 1.0), &[(i32::MAX, 1)], &[]);
        check(0, (1.0, 1.0), &[(-1, 1)], &[(i32::MIN, 1)]);
        let one = Buckets { zero: 0, ends: (1.0, 1.0), positive: &[(-1, 1)], negative: &[] };
        assert!(BorrowedValues::buckets(one, FixedSum::from_words([0; 3], 1), 0).is_err());
        assert!(BorrowedValues::buckets(one, FixedSum::default(), u64::MAX).is_err());
    }
}
