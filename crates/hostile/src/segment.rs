//! A segment, and a sequence on the second line.

use plan::segment::{format_segment, format_sequence, join};
use plan::{Stripe, parse_segment, parse_sequence};

use crate::line_and_rest;

/// The most places of all parts that are looked at; the time grows with them.
const PLACES_MAX: u64 = 1 << 16;

/// The printed form means the same; the parts of a whole add up to it, at every size.
pub fn check(bytes: &[u8]) {
    let (segment, sequence) = line_and_rest(bytes);
    let segment = parse_segment(&segment).ok();
    if let Some((from, to)) = segment {
        assert_eq!(parse_segment(&format_segment(from, to)), Ok((from, to)));
    }
    let sequence = parse_sequence(sequence.trim_end()).ok();
    if let Some(bounds) = &sequence {
        assert_eq!(parse_sequence(&format_sequence(bounds)).as_ref(), Ok(bounds));
    }
    let Ok(own) = join(segment, sequence.as_deref()) else { return };
    let period = own.sequence.iter().fold(1, |common, bound| common / gcd(common, bound.1) * bound.1);
    if period * own.sequence.len() as u64 > PLACES_MAX {
        let _ = Stripe::new(&own);
        return;
    }
    let parts = own.sequence.windows(2).map(|pair| join(Some((pair[0], pair[1])), Some(&own.sequence)));
    let stripes: Vec<Stripe> =
        parts.map(|part| Stripe::new(&part.expect("a part of its sequence"))).collect();
    for whole in [0, 1, 7, 100, 1_000_003] {
        let sum: u64 = stripes.iter().map(|stripe| stripe.local_count(whole)).sum();
        assert_eq!(sum, whole, "{own:?}");
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
