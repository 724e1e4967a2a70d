//! Short runs whose figures do not overlap: decided by ranks.

use std::ops::Range;

use stats::{RatioEstimate, paired_separation, separation};

/// Seconds of a block. Within it, seconds may resemble each other.
pub(super) const BLOCK_S: usize = 3;

/// Longer sides have enough seconds for intervals.
const SECONDS_MAX: usize = 120;

/// Fewer blocks a side could not be apart at a level of 5 %: four have the p-value 2 of 70 orders.
const BLOCKS_MIN: usize = 4;

/// Fewer pairs of blocks could not all lie in one direction at a level of 5 %: six do by chance with the probability 1 of 32.
const PAIRS_MIN: usize = 6;

/// The blocks of some seconds; a rest that does not fill one is left out.
pub(super) fn blocks(part: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let start = part.start;
    (0..part.len() / BLOCK_S).map(move |at| start + at * BLOCK_S..start + (at + 1) * BLOCK_S)
}

/// Whether ranks are looked at: enough blocks, and not more than it takes.
pub(super) fn is_short(parts: &[Range<usize>]) -> bool {
    let seconds: usize = parts.iter().map(Range::len).sum();
    let blocks: usize = parts.iter().map(|part| part.len() / BLOCK_S).sum();
    seconds <= SECONDS_MAX && blocks >= BLOCKS_MIN
}

/// The ratio of two figures whose blocks do not overlap; `are_paired` if blocks at the same place had the same load.
pub(super) fn ratio(a: f64, b: f64, blocks: [&[f64]; 2], are_paired: bool) -> Option<RatioEstimate> {
    let [of_a, of_b] = blocks;
    let needed = if are_paired { PAIRS_MIN } else { BLOCKS_MIN };
    if of_a.len().min(of_b.len()) < needed || a <= 0.0 {
        return None;
    }
    let apart = if are_paired { paired_separation(of_a, of_b)? } else { separation(of_a, of_b)? };
    Some(RatioEstimate {
        ratio: b / a,
        interval: apart.interval,
        equivalence_interval: apart.interval,
        p_value: apart.p_value,
        dof: (of_a.len() + of_b.len() - 2) as f64,
    })
}
