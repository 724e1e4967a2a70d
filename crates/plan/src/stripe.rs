//! Stripes: which of the whole test's VUs, iterations and arrivals belong to one segment.
//!
//! The common denominator of the sequence is the period. Within a period every index belongs to exactly one segment,
//! and the indexes of a segment are spread evenly over it. So the parts add up to the whole exactly, at every size,
//! and each part works through the whole test instead of taking its beginning or its end. The counts are the ones that k6 v2.2 shows for the same sequences.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;

use model::plan::{Segment, Share};

use crate::segment::{common_denominator, gcd};

/// The indexes of a whole that belong to one segment: `positions` in every `period`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stripe {
    period: u64,
    /// Own places within a period, ascending; empty where the segment gets nothing.
    positions: Arc<[u32]>,
}

impl Stripe {
    /// The stripe of a segment, for VU counts, arrivals and iterations that are counted over the whole test.
    ///
    /// # Panics
    /// The segment's bounds are not a sequence as [`crate::segment::join`] makes it: a bug, since a plan is checked.
    pub fn new(segment: &Segment) -> Stripe {
        Stripe::of_part(&weights(segment), own_index(segment)).share(segment.share)
    }

    /// The stripe over iterations that `vus` VUs of the whole test share.
    ///
    /// k6 shares out `shared-iterations` by VUs, not by the segment's length: 100 iterations over 10 VUs in thirds
    /// are 40, 30 and 30, because the parts have 4, 3 and 3 VUs.
    ///
    /// # Panics
    /// As [`Stripe::new`]; also where `vus` is beyond [`crate::VUS_MAX`].
    pub fn over_vus(segment: &Segment, vus: u64) -> Stripe {
        assert!(vus <= crate::VUS_MAX, "a plan's VUs are checked");
        let weights = weights(segment);
        let owners = share_out(&weights);
        let mut vus_of_part = vec![0_u64; weights.len()];
        let period = owners.len() as u64;
        for (position, &owner) in owners.iter().enumerate() {
            let position = position as u64;
            if position < vus {
                vus_of_part[owner as usize] += (vus - position).div_ceil(period);
            }
        }
        let divisor = vus_of_part.iter().copied().fold(0, gcd).max(1);
        vus_of_part.iter_mut().for_each(|vus| *vus /= divisor);
        Stripe::of_part(&vus_of_part, own_index(segment)).share(segment.share)
    }

    /// How many of `whole` things are this segment's. The same as [`Stripe::local_count`], named for VUs.
    pub fn scale(&self, whole: u64) -> u64 {
        self.local_count(whole)
    }

    /// How many of the indexes `0..whole` are this segment's.
    pub fn local_count(&self, whole: u64) -> u64 {
        let rest = whole % self.period;
        let within = self.positions.partition_point(|&position| u64::from(position) < rest);
        (whole / self.period) * self.positions.len() as u64 + within as u64
    }

    /// The index in the whole of this segment's `local`-th thing, from 0.
    ///
    /// A segment that gets nothing has no such thing; the answer is then `u64::MAX`, beyond every whole. So it is
    /// where the index would not fit.
    pub fn global_index(&self, local: u64) -> u64 {
        let each = self.positions.len() as u64;
        if each == 0 {
            return u64::MAX;
        }
        let position = u64::from(self.positions[(local % each) as usize]);
        (local / each).saturating_mul(self.period).saturating_add(position)
    }

    /// Whether this is all of the whole.
    pub fn is_whole(&self) -> bool {
        self.positions.len() as u64 == self.period
    }

    /// A share of the stripe: of its own indexes, in ascending order, every `of`-th.
    fn share(self, share: Share) -> Stripe {
        if share == Share::WHOLE || self.positions.is_empty() {
            return self;
        }
        let each = self.positions.len() as u64;
        let position = |step: u64| self.global_index(share.index + share.of * step) as u32;
        Stripe { period: self.period * share.of, positions: (0..each).map(position).collect() }
    }

    fn of_part(weights: &[u64], part: usize) -> Stripe {
        let owners = share_out(weights);
        let positions =
            (0..).zip(&owners).filter(|(_, owner)| **owner as usize == part).map(|(i, _)| i).collect();
        Stripe { period: owners.len().max(1) as u64, positions }
    }
}

/// The parts' lengths in units of the common denominator.
fn weights(segment: &Segment) -> Vec<u64> {
    let common = common_denominator(&segment.sequence).expect("a plan's sequence is checked");
    let units: Vec<u64> =
        segment.sequence.iter().map(|&(numerator, denominator)| numerator * (common / denominator)).collect();
    units.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

fn own_index(segment: &Segment) -> usize {
    segment
        .sequence
        .windows(2)
        .position(|pair| pair == [segment.from, segment.to])
        .expect("a plan's segment is a part of its sequence")
}

/// Who owns each place of a period that is as long as the sum of the weights.
///
/// A part of weight *n* in a period of *D* is a task that wants one place in each of its windows `[kD/n, (k+1)D/n)`;
/// places go to the heaviest part among those whose window is open, as k6's recorded schedules show. More windows have opened by any place than there are places before it, so none stays empty and every
/// part gets exactly its weight.
fn share_out(weights: &[u64]) -> Vec<u32> {
    let period: u64 = weights.iter().sum();
    let mut owners = Vec::with_capacity(period as usize);
    let mut waiting: BinaryHeap<Reverse<(u64, usize)>> =
        (0..weights.len()).filter(|&part| weights[part] > 0).map(|part| Reverse((0, part))).collect();
    let mut open: BinaryHeap<Reverse<Want>> = BinaryHeap::new();
    let mut taken = vec![0_u64; weights.len()];
    for place in 0..period {
        while let Some(&Reverse((_, part))) = waiting.peek().filter(|next| next.0.0 <= place) {
            waiting.pop();
            open.push(Reverse(Want { weight: weights[part], part }));
        }
        let Reverse(first) = open.pop().expect("more windows have opened than places were given away");
        owners.push(first.part as u32);
        taken[first.part] += 1;
        if taken[first.part] < first.weight {
            waiting.push(Reverse(((taken[first.part] * period).div_ceil(first.weight), first.part)));
        }
    }
    owners
}

/// A part that wants a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Want {
    weight: u64,
    part: usize,
}

impl Ord for Want {
    fn cmp(&self, other: &Want) -> Ordering {
        other.weight.cmp(&self.weight).then(self.part.cmp(&other.part))
    }
}

impl PartialOrd for Want {
    fn partial_cmp(&self, other: &Want) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::segment::{join, parse_segment, parse_sequence};

    fn stripes(sequence: &[(u64, u64)]) -> Vec<Stripe> {
        parts(sequence).iter().map(Stripe::new).collect()
    }

    fn parts(sequence: &[(u64, u64)]) -> Vec<Segment> {
        sequence.windows(2).map(|pair| join(Some((pair[0], pair[1])), Some(sequence)).unwrap()).collect()
    }

    /// VU counts of each part for 1, 2, 3, … VUs.
    fn check(sequence: &str, expect: &[&[u64]]) {
        let stripes = stripes(&parse_sequence(sequence).unwrap());
        for (stripe, expect) in stripes.iter().zip(expect) {
            let counts: Vec<u64> = (1..=expect.len() as u64).map(|vus| stripe.scale(vus)).collect();
            assert_eq!(counts, *expect, "{sequence}");
        }
    }

    /// The expected counts are what `k6 inspect --execution-requirements` (v2.2) prints as `maxVUs`.
    #[test]
    fn vu_counts_equal_k6() {
        check("0,1/3,2/3,1", &[&[1, 1, 1, 2], &[0, 1, 1, 1], &[0, 0, 1, 1]]);
        check("0,1/4,1/2,1", &[&[0, 1, 1, 1, 1, 2, 2], &[0, 0, 0, 1, 1, 1, 1], &[1, 1, 2, 2, 3, 3, 4]]);
        check("0,2/7,5/7,1", &[&[0, 1, 1, 1, 2, 2, 2], &[1, 1, 1, 2, 2, 3, 3], &[0, 0, 1, 1, 1, 1, 2]]);
        check(
            "0,1/10,3/10,3/5,1",
            &[
                &[0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1],
                &[0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2],
                &[0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3],
                &[1, 1, 1, 2, 2, 3, 3, 3, 4, 4, 5],
            ],
        );
        check(
            "0,3/11,4/11,9/11,1",
            &[
                &[0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3],
                &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
                &[1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5],
                &[0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2],
            ],
        );
        check(
            "0,1/6,1/2,2/3,1",
            &[
                &[0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2],
                &[1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4],
                &[0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1],
                &[0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4],
            ],
        );
        check(
            "0,1/12,1/3,5/12,7/12,1",
            &[
                &[0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1],
                &[0, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3],
                &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1],
                &[0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2],
                &[1, 1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6],
            ],
        );
        check(
            "0,2/13,5/13,9/13,10/13,1",
            &[
                &[0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2],
                &[0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3],
                &[1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4],
                &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
                &[0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3],
            ],
        );
    }

    #[test]
    fn a_segment_alone_is_cut_from_the_rest() {
        let scale = |segment: &str, vus| {
            Stripe::new(&join(Some(parse_segment(segment).unwrap()), None).unwrap()).scale(vus)
        };
        assert_eq!([scale("0:1/3", 10), scale("0:1/3", 5)], [3, 2]);
        assert_eq!([scale("1/3:1", 10), scale("1/3:1", 5)], [7, 3]);
    }

    #[test]
    fn shared_iterations_follow_the_vus() {
        let thirds = parts(&parse_sequence("0,1/3,2/3,1").unwrap());
        let counts: Vec<u64> =
            thirds.iter().map(|segment| Stripe::over_vus(segment, 10).local_count(100)).collect();
        assert_eq!(counts, [40, 30, 30]);
        let lone_vu: Vec<u64> =
            thirds.iter().map(|segment| Stripe::over_vus(segment, 1).local_count(5)).collect();
        assert_eq!(lone_vu, [5, 0, 0]);
        assert_eq!(Stripe::over_vus(&thirds[1], 1).global_index(0), u64::MAX);
    }

    #[test]
    fn the_whole_is_everything() {
        let whole = Stripe::new(&Segment::default());
        assert!(whole.is_whole());
        assert_eq!((whole.scale(17), whole.global_index(16)), (17, 16));
        assert_eq!(whole.local_count(u64::MAX), u64::MAX);
        assert_eq!(whole.global_index(u64::MAX), u64::MAX);
    }

    fn sequences() -> impl Strategy<Value = Vec<(u64, u64)>> {
        (2_u64..200).prop_flat_map(|common| {
            proptest::collection::btree_set(1..common, 0..12).prop_map(move |inner| {
                let bound = |n: u64| (n / gcd(n, common), common / gcd(n, common));
                std::iter::once((0, 1)).chain(inner.into_iter().map(bound)).chain([(1, 1)]).collect()
            })
        })
    }

    fn check_partition(stripes: &[Stripe], whole: u64) {
        let mut seen = vec![false; whole as usize];
        let mut total = 0;
        for stripe in stripes {
            let count = stripe.local_count(whole);
            total += count;
            for local in 0..count {
                let global = stripe.global_index(local);
                assert!(global < whole && !std::mem::replace(&mut seen[global as usize], true));
            }
            assert!(stripe.global_index(count) >= whole);
        }
        assert_eq!(total, whole);
    }

    proptest! {
        #[test]
        fn parts_make_the_whole(sequence in sequences(), whole in 0_u64..2000, vus in 0_u64..300) {
            check_partition(&stripes(&sequence), whole);
            if vus > 0 {
                let shared: Vec<Stripe> =
                    parts(&sequence).iter().map(|segment| Stripe::over_vus(segment, vus)).collect();
                check_partition(&shared, whole);
            }
        }

        /// A part that is shared out, twice, leaves the others as they are.
        #[test]
        fn shares_make_the_part(sequence in sequences(), whole in 0_u64..2000, vus in 1_u64..300, of in 1_u64..7) {
            let mut parts = parts(&sequence);
            let shared = parts.remove(0);
            for index in 0..of {
                let share = Share::WHOLE.split(index, of);
                let shares = if index == 0 { vec![share.split(0, 2), share.split(1, 2)] } else { vec![share] };
                parts.extend(shares.into_iter().map(|share| Segment { share, ..shared.clone() }));
            }
            check_partition(&parts.iter().map(Stripe::new).collect::<Vec<_>>(), whole);
            let over_vus = |part| Stripe::over_vus(part, vus);
            check_partition(&parts.iter().map(over_vus).collect::<Vec<_>>(), whole);
        }

        #[test]
        fn parts_differ_from_their_share_by_little(sequence in sequences(), whole in 0_u64..100_000) {
            let common = common_denominator(&sequence).unwrap();
            for (stripe, weight) in stripes(&sequence).iter().zip(weights(&parts(&sequence)[0])) {
                let share = whole as f64 * weight as f64 / common as f64;
                prop_assert!((stripe.local_count(whole) as f64 - share).abs() <= sequence.len() as f64);
            }
        }
    }
}
