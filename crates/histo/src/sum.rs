//! Sums that do not depend on the order of adding.

use crate::codec::{DecodeError, Reader, write_varint};

/// Bits after the binary point: a value of 1e-17 still counts to twelve digits.
const FRACTION_BITS: i32 = 96;

/// Larger magnitudes count as this one: 2^63. 2^32 such values fit.
const MAGNITUDE_MAX: f64 = 9_223_372_036_854_775_808.0;

/// Floats below this one keep all their bits within the lower word.
const LOW_WORD_MAX: f64 = 2_147_483_648.0;

/// A sum of floats in fixed point: adding and merging are associative and commutative, bit for bit.
///
/// The sum is a 192-bit integer in units of 2^-96. Each value is cut to that grid (an error below 1.3e-29, and none at all
/// for magnitudes above 1e-13); values beyond ±2^63 count as ±2^63; infinities and NaN are only counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FixedSum {
    low: u128,
    /// Bits 128 to 191, in two's complement.
    high: i64,
    non_finite: u64,
}

impl FixedSum {
    /// Adds a value.
    #[inline]
    pub fn add(&mut self, value: f64) {
        let magnitude = value.abs();
        if magnitude < LOW_WORD_MAX {
            self.add_signed(to_grid(magnitude), 0, value.is_sign_negative());
        } else {
            self.add_unusual(value);
        }
    }

    /// Adds everything that `other` holds.
    pub fn merge(&mut self, other: &FixedSum) {
        self.add_words(other.low, other.high);
        self.non_finite = self.non_finite.saturating_add(other.non_finite);
    }

    /// The sum, rounded to the nearest float.
    pub fn value(&self) -> f64 {
        let negative = self.high < 0;
        let (low, high) = if negative { negated(self.low, self.high) } else { (self.low, self.high) };
        let magnitude = magnitude_of(low, high as u64);
        if negative { -magnitude } else { magnitude }
    }

    /// How many infinities and NaN were given; they are not in the sum.
    pub fn non_finite(&self) -> u64 {
        self.non_finite
    }

    /// The sum in units of 2^-96 as an integer of 192 bits in two's complement, the lowest 64 bits first.
    pub fn words(&self) -> [u64; 3] {
        [self.low as u64, (self.low >> u64::BITS) as u64, self.high as u64]
    }

    /// The sum of these [`FixedSum::words`], with so many non-finite values beside it.
    pub fn from_words(words: [u64; 3], non_finite: u64) -> FixedSum {
        let low = u128::from(words[0]) | u128::from(words[1]) << u64::BITS;
        FixedSum { low, high: words[2] as i64, non_finite }
    }

    /// The encoding: 24 bytes of sum, little-endian, and a count.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.low.to_le_bytes());
        out.extend_from_slice(&self.high.to_le_bytes());
        write_varint(out, self.non_finite);
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<FixedSum, DecodeError> {
        let low = u128::from_le_bytes(reader.array()?);
        let high = i64::from_le_bytes(reader.array()?);
        Ok(FixedSum { low, high, non_finite: reader.count()? })
    }

    /// The sum as bytes: version 1, 24 bytes little-endian in units of 2^-96, and the count of non-finite values.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        self.encode(&mut out);
        out
    }

    /// The sum that [`FixedSum::to_bytes`] wrote.
    ///
    /// # Errors
    /// The bytes are of another version, too few, too many, or hold an impossible count.
    pub fn from_bytes(bytes: &[u8]) -> Result<FixedSum, DecodeError> {
        let mut reader = Reader(bytes);
        reader.version(VERSION)?;
        let sum = FixedSum::decode(&mut reader)?;
        reader.end()?;
        Ok(sum)
    }

    #[inline]
    fn add_signed(&mut self, low: u128, high: i64, negative: bool) {
        let (low, high) = if negative { negated(low, high) } else { (low, high) };
        self.add_words(low, high);
    }

    #[inline]
    fn add_words(&mut self, low: u128, high: i64) {
        let (sum, carry) = self.low.overflowing_add(low);
        self.low = sum;
        // Wrapping needs 2^32 values of the largest size; it is order-free like everything here.
        self.high = self.high.wrapping_add(high).wrapping_add(i64::from(carry));
    }

    #[cold]
    fn add_unusual(&mut self, value: f64) {
        if !value.is_finite() {
            self.non_finite = self.non_finite.saturating_add(1);
            return;
        }
        // An integer of at most 64 bits, since larger floats of this size have no fraction that the grid would keep; those
        // from 2^31 to 2^52 do have one, and it is added on its own.
        let magnitude = value.abs().min(MAGNITUDE_MAX);
        let whole = u128::from(magnitude as u64);
        let (low, high) = (whole << FRACTION_BITS, (whole >> (128 - FRACTION_BITS)) as i64);
        self.add_signed(low, high, value.is_sign_negative());
        self.add_signed(to_grid(magnitude.fract()), 0, value.is_sign_negative());
    }
}

const VERSION: u8 = 1;

/// A magnitude below 2^31 in units of 2^-96, cut.
#[inline]
fn to_grid(magnitude: f64) -> u128 {
    let bits = magnitude.to_bits();
    let exponent = (bits >> 52) as i32;
    // A subnormal is far below the grid; its missing leading one does not matter.
    let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
    let shift = exponent - 1023 - 52 + FRACTION_BITS;
    if shift >= 0 { mantissa << shift } else { mantissa.checked_shr(shift.unsigned_abs()).unwrap_or(0) }
}

#[inline]
fn negated(low: u128, high: i64) -> (u128, i64) {
    let (low, borrowed) = (!low).overflowing_add(1);
    (low, (!high).wrapping_add(i64::from(borrowed)))
}

/// An unsigned 192-bit number of units as a float, rounded to the nearest.
fn magnitude_of(low: u128, high: u64) -> f64 {
    let leading_zeros = if high != 0 { high.leading_zeros() } else { 64 + low.leading_zeros() };
    if leading_zeros == 192 {
        return 0.0;
    }
    // The topmost 128 bits, with whatever is cut off gathered in the lowest bit, so that rounding sees it.
    let (top, exponent) = if leading_zeros >= 64 {
        (low, 0)
    } else {
        let shift = 64 - leading_zeros;
        let cut = low & ((1 << shift) - 1);
        let top = u128::from(high) << (128 - shift) | low >> shift;
        (top | u128::from(cut != 0), shift as i32)
    };
    top as f64 * f64::from_bits(((exponent - FRACTION_BITS + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum_of(values: &[f64]) -> FixedSum {
        let mut sum = FixedSum::default();
        values.iter().for_each(|value| sum.add(*value));
        sum
    }

    #[track_caller]
    fn check(values: &[f64], expect: f64) {
        assert_eq!(sum_of(values).value(), expect, "{values:?}");
    }

    #[test]
    fn sums() {
        check(&[], 0.0);
        check(&[1.5, -3.0, 2.0], 0.5);
        check(&[0.1], 0.1);
        check(&[0.1; 10], 1.0);
        check(&[-0.1], -0.1);
        check(&[1e16, 1.0, -1e16], 1.0);
        check(&[3e9, 0.25], 3_000_000_000.25);
        check(&[3_000_000_000.125, -3e9], 0.125);
        check(&[-5e18, -5e18], -1e19);
        check(&[2f64.powi(-96), 2f64.powi(-97)], 2f64.powi(-96));
        check(&[f64::from_bits(1), 0.0, -0.0], 0.0);
        // Halfway between two floats but for a bit far below: it decides the rounding.
        check(&[2f64.powi(62), 512.0], 2f64.powi(62));
        check(&[2f64.powi(62), 512.0, 2f64.powi(-90)], 2f64.powi(62) + 1024.0);
    }

    #[test]
    fn values_without_a_place_have_defined_results() {
        check(&[f64::MAX], MAGNITUDE_MAX);
        check(&[f64::MAX, -f64::MAX, 1.0], 1.0);
        check(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 2.0], 2.0);
        assert_eq!(sum_of(&[f64::NAN, f64::INFINITY, 2.0]).non_finite(), 2);
    }

    #[test]
    fn words_are_the_sum() {
        assert_eq!(sum_of(&[1.0]).words(), [0, 1 << 32, 0]);
        for values in [&[][..], &[1.0], &[-0.1, 1e-20], &[f64::MAX, f64::NAN], &[-f64::MAX, 7.5]] {
            let sum = sum_of(values);
            assert_eq!(FixedSum::from_words(sum.words(), sum.non_finite()), sum, "{values:?}");
        }
    }

    #[test]
    fn hostile_bytes_are_refused() {
        let bytes = sum_of(&[1.0]).to_bytes();
        assert_eq!(FixedSum::from_bytes(&bytes[..5]), Err(DecodeError::Truncated));
        assert_eq!(FixedSum::from_bytes(&[&bytes[..], &[0]].concat()), Err(DecodeError::TrailingBytes));
        assert_eq!(FixedSum::from_bytes(&[9]), Err(DecodeError::Version(9)));
    }

    proptest! {
        #[test]
        fn order_and_splits_do_not_matter(values: Vec<f64>, cut in 0usize..100, seed: u64) {
            let whole = sum_of(&values);
            let mut shuffled = values.clone();
            shuffled.sort_by_key(|value| value.to_bits().wrapping_mul(seed | 1));
            let (left, right) = shuffled.split_at(cut.min(values.len()));
            let mut merged = sum_of(right);
            merged.merge(&sum_of(left));
            prop_assert_eq!(&merged, &whole);
            prop_assert_eq!(FixedSum::from_bytes(&whole.to_bytes()), Ok(whole));
        }

        #[test]
        fn small_sums_agree_with_naive_floats(values in prop::collection::vec(1e-3..1e6f64, 1..200)) {
            let naive: f64 = values.iter().sum();
            let fixed = sum_of(&values).value();
            prop_assert!((fixed - naive).abs() <= 1e-12 * naive.abs(), "{} {}", fixed, naive);
        }
    }
}
