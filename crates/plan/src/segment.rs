//! Execution segments: which part of the whole test this process runs, in exact fractions.
//!
//! The forms are k6's: a bound is a percentage (`12.5%`), a decimal (`0.2`) or a fraction (`1/3`); a segment is
//! `from:to`, or one bound that stands for `0:bound`; a sequence is a comma-separated list of bounds.

use model::plan::Segment;

/// The largest common denominator of a sequence. It bounds the memory of a [`crate::Stripe`] (4 bytes each).
pub const DENOMINATOR_MAX: u64 = 1 << 20;

/// The most parts that a sequence may have.
pub const SEGMENTS_MAX: usize = 1000;

/// A fraction as the model holds it: numerator, denominator.
pub type Fraction = (u64, u64);

/// Where the whole test begins.
const ZERO: Fraction = (0, 1);
/// Where it ends.
const ONE: Fraction = (1, 1);

/// Why a segment or a sequence cannot be used. Reads after "failed to".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SegmentError {
    /// Not a number in any of the forms.
    #[error("read {text:?} as a percentage, decimal, fraction or interval")]
    Syntax {
        /// The text as written.
        text: String,
    },
    /// A bound below 0 or above 1.
    #[error("use the segment bound {text}: it must lie between 0 and 1")]
    OutOfRange {
        /// The text as written.
        text: String,
    },
    /// The start is not before the end.
    #[error("use the segment {from}:{to}: its start must be less than its end")]
    Empty {
        /// The start.
        from: String,
        /// The end.
        to: String,
    },
    /// A sequence of one point.
    #[error("use the segment sequence {text:?}: it needs at least 2 points")]
    TooFewPoints {
        /// The text as written.
        text: String,
    },
    /// More parts than [`SEGMENTS_MAX`].
    #[error("use a segment sequence of {count} parts: {SEGMENTS_MAX} is the most")]
    TooManyParts {
        /// How many parts were asked for.
        count: usize,
    },
    /// The common denominator is beyond [`DENOMINATOR_MAX`].
    #[error("use the segment sequence: the common denominator of its bounds is above {DENOMINATOR_MAX}")]
    DenominatorTooLarge,
    /// The segment is not a part of the sequence.
    #[error("find the segment {segment} in the sequence {sequence}")]
    NotInSequence {
        /// The segment.
        segment: String,
        /// The sequence.
        sequence: String,
    },
}

/// Parses a segment: `10%`, `1/3`, `0.2:2/3`, `0:1`; the empty text is the whole, as in k6.
pub fn parse_segment(text: &str) -> Result<(Fraction, Fraction), SegmentError> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Ok((ZERO, ONE));
    }
    let (from, to) = match trimmed.split_once(':') {
        Some((from, to)) => (parse_bound(from)?, parse_bound(to)?),
        None => (ZERO, parse_bound(trimmed)?),
    };
    check_order(from, to)?;
    Ok((from, to))
}

/// Parses a sequence: `0,1/3,2/3,1`.
pub fn parse_sequence(text: &str) -> Result<Vec<Fraction>, SegmentError> {
    let bounds = text.split(',').map(parse_bound).collect::<Result<Vec<_>, _>>()?;
    if bounds.len() < 2 {
        return Err(SegmentError::TooFewPoints { text: text.to_owned() });
    }
    for pair in bounds.windows(2) {
        check_order(pair[0], pair[1])?;
    }
    Ok(bounds)
}

/// Puts a segment into its sequence. A missing segment is the whole; a missing sequence consists of the segment and
/// what is left on either side.
pub fn join(
    segment: Option<(Fraction, Fraction)>,
    sequence: Option<&[Fraction]>,
) -> Result<Segment, SegmentError> {
    let (from, to) = segment.unwrap_or((ZERO, ONE));
    let mut bounds = sequence.map_or_else(|| vec![from, to], <[Fraction]>::to_vec);
    // The parts of a test are parts of the whole, even where the sequence starts or ends within it.
    if bounds.first() != Some(&ZERO) {
        bounds.insert(0, ZERO);
    }
    if bounds.last() != Some(&ONE) {
        bounds.push(ONE);
    }
    if bounds.len() - 1 > SEGMENTS_MAX {
        return Err(SegmentError::TooManyParts { count: bounds.len() - 1 });
    }
    common_denominator(&bounds)?;
    if !bounds.windows(2).any(|pair| pair == [from, to]) {
        return Err(SegmentError::NotInSequence {
            segment: format_segment(from, to),
            sequence: format_sequence(&bounds),
        });
    }
    Ok(Segment { from, to, sequence: bounds, ..Segment::default() })
}

/// `1/3:2/3`, as k6 prints it.
pub fn format_segment(from: Fraction, to: Fraction) -> String {
    format!("{}:{}", format_bound(from), format_bound(to))
}

/// `0,1/3,1`, as k6 prints it.
pub fn format_sequence(bounds: &[Fraction]) -> String {
    bounds.iter().map(|&bound| format_bound(bound)).collect::<Vec<_>>().join(",")
}

/// The least number that all denominators divide.
pub(crate) fn common_denominator(bounds: &[Fraction]) -> Result<u64, SegmentError> {
    bounds.iter().try_fold(1_u64, |common, &(_, denominator)| {
        let next = u128::from(common / gcd(common, denominator)) * u128::from(denominator);
        u64::try_from(next)
            .ok()
            .filter(|&next| next <= DENOMINATOR_MAX)
            .ok_or(SegmentError::DenominatorTooLarge)
    })
}

/// The greatest number that divides both.
pub(crate) const fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn parse_bound(text: &str) -> Result<Fraction, SegmentError> {
    let text = text.trim();
    let syntax = || SegmentError::Syntax { text: text.to_owned() };
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (numerator, denominator) = if let Some(percentage) = unsigned.strip_suffix('%') {
        let (numerator, denominator) = parse_decimal(percentage).ok_or_else(syntax)?;
        (numerator, denominator.checked_mul(100).ok_or_else(syntax)?)
    } else if let Some((numerator, denominator)) = unsigned.split_once('/') {
        (parse_digits(numerator).ok_or_else(syntax)?, parse_digits(denominator).ok_or_else(syntax)?)
    } else {
        parse_decimal(unsigned).ok_or_else(syntax)?
    };
    if denominator == 0 {
        return Err(syntax());
    }
    if numerator > denominator || (negative && numerator > 0) {
        return Err(SegmentError::OutOfRange { text: text.to_owned() });
    }
    let divisor = gcd(numerator, denominator);
    Ok((numerator / divisor, denominator / divisor))
}

/// `12`, `0.25`, `.5` as a fraction that is not reduced; `None` for anything else and for more digits than fit.
fn parse_decimal(text: &str) -> Option<Fraction> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() && decimals.is_empty() {
        return None;
    }
    let digits = format!("{whole}{decimals}");
    let denominator = 10_u64.checked_pow(u32::try_from(decimals.len()).ok()?)?;
    Some((parse_digits(&digits)?, denominator))
}

fn parse_digits(text: &str) -> Option<u64> {
    let all_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    all_digits.then(|| text.parse().ok()).flatten()
}

fn check_order(from: Fraction, to: Fraction) -> Result<(), SegmentError> {
    let from_scaled = u128::from(from.0) * u128::from(to.1);
    let to_scaled = u128::from(to.0) * u128::from(from.1);
    if from_scaled < to_scaled {
        return Ok(());
    }
    Err(SegmentError::Empty { from: format_bound(from), to: format_bound(to) })
}

fn format_bound((numerator, denominator): Fraction) -> String {
    if denominator == 1 { numerator.to_string() } else { format!("{numerator}/{denominator}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses, puts into its sequence and prints: what is said of the segment and of its sequence.
    fn check(segment: Option<&str>, sequence: Option<&str>, expect: &str) {
        let outcome = (|| {
            let segment = segment.map(parse_segment).transpose()?;
            let sequence = sequence.map(parse_sequence).transpose()?;
            join(segment, sequence.as_deref())
        })();
        let printed = match outcome {
            Ok(it) => format!("{} of {}", format_segment(it.from, it.to), format_sequence(&it.sequence)),
            Err(error) => error.to_string(),
        };
        assert_eq!(printed, expect, "{segment:?} in {sequence:?}");
    }

    #[test]
    fn segments_in_all_forms() {
        check(None, None, "0:1 of 0,1");
        check(Some(""), None, "0:1 of 0,1");
        check(Some("50%"), None, "0:1/2 of 0,1/2,1");
        check(Some("12.5%"), None, "0:1/8 of 0,1/8,1");
        check(Some("1/3"), None, "0:1/3 of 0,1/3,1");
        check(Some("0.2:2/3"), None, "1/5:2/3 of 0,1/5,2/3,1");
        check(Some("2/4:1"), None, "1/2:1 of 0,1/2,1");
        check(Some("1/3:2/3"), Some("0,1/3,2/3,1"), "1/3:2/3 of 0,1/3,2/3,1");
        check(Some("1/3:2/3"), Some("1/3,2/3"), "1/3:2/3 of 0,1/3,2/3,1");
    }

    #[test]
    fn segments_that_cannot_be() {
        check(Some("foo"), None, "read \"foo\" as a percentage, decimal, fraction or interval");
        check(Some("10%%"), None, "read \"10%%\" as a percentage, decimal, fraction or interval");
        check(Some("1/0"), None, "read \"1/0\" as a percentage, decimal, fraction or interval");
        check(Some("+1/2"), None, "read \"+1/2\" as a percentage, decimal, fraction or interval");
        check(Some("2:3"), None, "use the segment bound 2: it must lie between 0 and 1");
        check(Some("-1:1"), None, "use the segment bound -1: it must lie between 0 and 1");
        check(Some("0.5:0.2"), None, "use the segment 1/2:1/5: its start must be less than its end");
        check(Some("0"), None, "use the segment 0:0: its start must be less than its end");
        check(None, Some("0"), "use the segment sequence \"0\": it needs at least 2 points");
        check(None, Some("0,2/3,1/3,1"), "use the segment 2/3:1/3: its start must be less than its end");
        check(None, Some("0,1/3,1"), "find the segment 0:1 in the sequence 0,1/3,1");
        check(Some("0:2/3"), Some("0,1/3,2/3,1"), "find the segment 0:2/3 in the sequence 0,1/3,2/3,1");
        check(
            Some("0:1/1048577"),
            None,
            "use the segment sequence: the common denominator of its bounds is above 1048576",
        );
        check(
            Some("0.00000000000000000000001"),
            None,
            "read \"0.00000000000000000000001\" as a percentage, decimal, fraction or interval",
        );
    }

    #[test]
    fn a_sequence_has_a_limit() {
        let bounds: Vec<String> =
            (0..=SEGMENTS_MAX + 1).map(|i| format!("{i}/{}", SEGMENTS_MAX + 1)).collect();
        check(None, Some(&bounds.join(",")), "use a segment sequence of 1001 parts: 1000 is the most");
    }
}
