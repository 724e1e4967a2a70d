//! Which bucket a magnitude falls into: the index function of the exponential histogram.
//!
//! Bucket `i` holds the magnitudes in `(base^i, base^(i+1)]` with `base = 2^(1/512)`, which is the definition of the
//! OpenTelemetry exponential histogram at scale 9 (metrics data model, "ExponentialHistogram"); Prometheus native
//! histograms use the same bounds at lower scales, so that both exports are a regrouping of whole buckets.

/// The histogram's scale in OpenTelemetry's sense: `2^SCALE` buckets per octave, each 0.135 % wide.
pub const SCALE: u32 = 9;

/// Buckets per octave.
const PER_OCTAVE: usize = 1 << SCALE;

/// The bucket of the smallest positive float, 2^-1074.
pub const INDEX_MIN: i32 = -1074 * PER_OCTAVE as i32 - 1;

/// The bucket of the largest finite float.
pub const INDEX_MAX: i32 = 1024 * PER_OCTAVE as i32 - 1;

const MANTISSA_BITS: u32 = f64::MANTISSA_DIGITS - 1;
const MANTISSA_MASK: u64 = (1 << MANTISSA_BITS) - 1;
const EXPONENT_BIAS: i32 = 1023;

/// The mantissa bits at which each bucket of an octave starts; the last entry ends the octave.
static STARTS: [u64; PER_OCTAVE + 1] = bucket_starts();

/// Linear slots per octave. The narrowest bucket is 1/738 of an octave's linear width, so that with 1024 slots no slot
/// holds two bucket starts, and one comparison corrects the guess.
const SLOT_BITS: u32 = 10;

/// The bucket in which each linear slot of an octave starts.
static GUESSES: [u16; 1 << SLOT_BITS] = slot_guesses();

/// The bucket of a magnitude, which must be finite and above zero.
#[inline]
pub fn index_of(magnitude: f64) -> i32 {
    debug_assert!(magnitude > 0.0 && magnitude.is_finite());
    // The float below stands for the magnitude, since buckets include their upper bound and not their lower one.
    let bits = magnitude.to_bits() - 1;
    if bits < f64::MIN_POSITIVE.to_bits() {
        return index_of_subnormal(magnitude);
    }
    index_of_bits(bits)
}

/// The bounds of a bucket: lower, exclusive, and upper, inclusive. Both saturate at the range of floats.
pub fn bounds(index: i32) -> (f64, f64) {
    (start_of(index), start_of(index.saturating_add(1)))
}

/// The value that stands for a bucket: the geometric middle of its bounds, at most 0.068 % from any value inside.
pub(crate) fn middle(index: i32) -> f64 {
    let (octave, within) = split(index);
    let middle_mantissa = (mantissa(STARTS[within]) * mantissa(STARTS[within + 1])).sqrt();
    scale_by_power_of_two(middle_mantissa, octave)
}

#[inline]
fn index_of_bits(bits: u64) -> i32 {
    let octave = (bits >> MANTISSA_BITS) as i32 - EXPONENT_BIAS;
    let mantissa = bits & MANTISSA_MASK;
    let guess = usize::from(GUESSES[(mantissa >> (MANTISSA_BITS - SLOT_BITS)) as usize]);
    let within = guess as i32 + i32::from(mantissa >= STARTS[guess + 1]);
    octave * PER_OCTAVE as i32 + within
}

#[cold]
fn index_of_subnormal(magnitude: f64) -> i32 {
    // Subnormal floats have no leading one; scaling by a power of two is exact and gives them one.
    let shift = 64;
    let scaled = magnitude * scale_by_power_of_two(1.0, shift);
    index_of_bits(scaled.to_bits() - 1) - shift * PER_OCTAVE as i32
}

fn start_of(index: i32) -> f64 {
    let (octave, within) = split(index);
    scale_by_power_of_two(mantissa(STARTS[within]), octave)
}

/// The octave of a bucket, and its number within it.
fn split(index: i32) -> (i32, usize) {
    (index.div_euclid(PER_OCTAVE as i32), index.rem_euclid(PER_OCTAVE as i32) as usize)
}

/// The float in 1..=2 with this mantissa.
fn mantissa(bits: u64) -> f64 {
    f64::from_bits(((EXPONENT_BIAS as u64) << MANTISSA_BITS) + bits)
}

/// `value × 2^exponent` for a value in 1..=2, saturating at the largest and the smallest positive float.
fn scale_by_power_of_two(value: f64, exponent: i32) -> f64 {
    match exponent {
        1024.. => f64::MAX,
        -1022..=1023 => {
            let power = f64::from_bits(((exponent + EXPONENT_BIAS) as u64) << MANTISSA_BITS);
            (value * power).min(f64::MAX)
        }
        // Two steps, since the power itself would be subnormal and lose nothing but clarity below 2^-1074.
        _ => {
            let rest = f64::from_bits(((exponent.max(-1075) + 200 + EXPONENT_BIAS) as u64) << MANTISSA_BITS);
            let step = f64::from_bits(((EXPONENT_BIAS - 200) as u64) << MANTISSA_BITS);
            (value * rest * step).max(f64::from_bits(1))
        }
    }
}

/// `2^(i/512)` for each bucket, as mantissa bits rounded up.
///
/// Computed in integers when the crate is compiled: a table from the C library's `exp2` could differ between machines in
/// its last bit, and then two machines would disagree about a value on a bound.
const fn bucket_starts() -> [u64; PER_OCTAVE + 1] {
    const FRACTION_BITS: u32 = 63;
    // roots[k] = 2^(1/2^(k+1)) with 63 fraction bits; each integer root is exact to its last bit.
    let mut roots = [0u128; SCALE as usize];
    let mut root: u128 = 2 << FRACTION_BITS;
    let mut k = 0;
    while k < SCALE as usize {
        root = (root << FRACTION_BITS).isqrt();
        roots[k] = root;
        k += 1;
    }
    let mut starts = [0u64; PER_OCTAVE + 1];
    let mut i = 1;
    while i < PER_OCTAVE {
        let mut power: u128 = 1 << FRACTION_BITS;
        let mut bit = 0;
        while bit < SCALE as usize {
            // The highest bit of i stands for half an octave: the square root of two.
            if i & (PER_OCTAVE >> (bit + 1)) != 0 {
                power = (power * roots[bit]) >> FRACTION_BITS;
            }
            bit += 1;
        }
        // The powers are irrational, so rounding up always moves.
        starts[i] = (power >> (FRACTION_BITS - MANTISSA_BITS)) as u64 + 1 - (1 << MANTISSA_BITS);
        i += 1;
    }
    starts[PER_OCTAVE] = 1 << MANTISSA_BITS;
    starts
}

const fn slot_guesses() -> [u16; 1 << SLOT_BITS] {
    let starts = bucket_starts();
    let mut guesses = [0u16; 1 << SLOT_BITS];
    let mut bucket = 0;
    let mut slot = 0;
    while slot < 1 << SLOT_BITS {
        let slot_start = (slot as u64) << (MANTISSA_BITS - SLOT_BITS);
        while starts[bucket + 1] <= slot_start {
            bucket += 1;
        }
        guesses[slot] = bucket as u16;
        slot += 1;
    }
    guesses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_index(magnitude: f64, expect: i32) {
        assert_eq!(index_of(magnitude), expect, "{magnitude:e}");
    }

    #[test]
    fn bounds_are_exclusive_below_and_inclusive_above() {
        check_index(1.0, -1);
        check_index(1.0 + f64::EPSILON, 0);
        check_index(2.0, 511);
        check_index(2.0_f64.sqrt() * (1.0 - 1e-15), 255);
        check_index(2.0_f64.sqrt() * (1.0 + 1e-15), 256);
        check_index(0.5, -513);
    }

    #[test]
    fn the_ends_of_the_range_have_buckets() {
        check_index(f64::MAX, INDEX_MAX);
        check_index(f64::from_bits(1), INDEX_MIN);
        check_index(f64::MIN_POSITIVE, -1022 * 512 - 1);
        check_index(f64::MIN_POSITIVE.next_up(), -1022 * 512);
        check_index(f64::MIN_POSITIVE / 2.0, -1023 * 512 - 1);
    }

    #[test]
    fn every_start_is_a_power_of_the_base() {
        for (i, &start) in STARTS.iter().enumerate() {
            let expect = 2f64.powf(i as f64 / 512.0);
            assert!((mantissa(start) - expect).abs() <= 2.0 * f64::EPSILON, "bucket {i}");
        }
    }

    #[test]
    fn every_bucket_of_an_octave_holds_its_own_bounds_and_middle() {
        for octave in [-1022, -1, 0, 10, 1022] {
            for within in 0..512 {
                let index = octave * 512 + within;
                let (lower, upper) = bounds(index);
                assert_eq!(index_of(upper), index);
                assert_eq!(index_of(lower.next_up()), index);
                assert_eq!(index_of(middle(index)), index);
                assert!(middle(index) / lower - 1.0 < 0.0007 && 1.0 - middle(index) / upper < 0.0007);
            }
        }
    }

    #[test]
    fn bounds_saturate() {
        assert_eq!(bounds(INDEX_MAX).1, f64::MAX);
        assert_eq!(bounds(i32::MAX).1, f64::MAX);
        assert_eq!(bounds(i32::MIN), (f64::from_bits(1), f64::from_bits(1)));
        assert!(middle(INDEX_MIN) > 0.0);
    }
}
