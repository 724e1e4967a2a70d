//! Timestamps of which no two are equal within a series.

use std::collections::HashMap;

/// Stamps are moved within so much, unless more samples than nanoseconds fall into it.
const BUCKET_NS: i64 = 1_000_000;

/// How far back stamps are remembered at least. Samples of different threads arrive within two seconds of each other.
const MEMORY_NS: i64 = 10_000_000_000;

/// Hands out stamps.
///
/// Per series and millisecond it remembers the next free nanosecond. A sample keeps its own time where that is free, and
/// else takes the next, so that it moves by less than a millisecond and a series may have a million samples in each.
#[derive(Default)]
pub(super) struct Stamps {
    /// The next free stamp by series and millisecond.
    recent: HashMap<(u32, i64), i64>,
    older: HashMap<(u32, i64), i64>,
    /// When `recent` becomes `older`.
    turn_at_ns: i64,
}

impl Stamps {
    /// A stamp at or shortly after `at_ns` (Unix time) that this series has not had.
    pub(super) fn take(&mut self, series: u32, at_ns: i64) -> i64 {
        self.forget(at_ns);
        let mut at_ns = at_ns;
        loop {
            let bucket = at_ns.div_euclid(BUCKET_NS);
            let key = (series, bucket);
            let next = match self.older.get_mut(&key) {
                Some(next) => next,
                None => self.recent.entry(key).or_insert(at_ns),
            };
            let stamp = at_ns.max(*next);
            let end = bucket.saturating_add(1).saturating_mul(BUCKET_NS);
            if stamp < end || end == i64::MAX {
                *next = stamp.saturating_add(1);
                return stamp;
            }
            at_ns = end;
        }
    }

    fn forget(&mut self, at_ns: i64) {
        if at_ns >= self.turn_at_ns {
            self.older = std::mem::take(&mut self.recent);
            self.turn_at_ns = at_ns.saturating_add(MEMORY_NS);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const NOW_NS: i64 = 1_795_253_649_521_582_913;

    #[track_caller]
    fn check(times: impl IntoIterator<Item = i64>, moved_ns_max: i64) {
        let mut stamps = Stamps::default();
        let mut seen = HashSet::new();
        for at_ns in times {
            let stamp = stamps.take(0, at_ns);
            assert!(seen.insert(stamp), "{stamp} twice");
            assert!((0..=moved_ns_max).contains(&(stamp - at_ns)), "{at_ns} became {stamp}");
        }
    }

    #[test]
    fn no_two_samples_of_a_series_share_a_stamp() {
        check((0..20_000).map(|_| NOW_NS), 19_999);
        check((0..20_000).map(|n| NOW_NS + n * 50), 0);
        // Backwards, as the batches of two threads may come.
        check((0..20_000).rev().map(|n| NOW_NS + n / 2), BUCKET_NS);
        // More samples than a millisecond has nanoseconds.
        check((0..1_500_000).map(|_| NOW_NS), 1_500_000);
        // Late ones, over several generations.
        check((0..100_000).map(|n| NOW_NS + n * 1_000_000 - n % 2 * 3_000_000_000), BUCKET_NS);
    }

    #[test]
    fn series_do_not_move_each_other() {
        let mut stamps = Stamps::default();
        assert_eq!([0, 1, 0, 1].map(|series| stamps.take(series, NOW_NS) - NOW_NS), [0, 0, 1, 1]);
    }

    #[test]
    fn memory_is_bounded_by_recent_samples() {
        let mut stamps = Stamps::default();
        (0..1_000_000).for_each(|n| {
            stamps.take(0, NOW_NS + n * 1_000_000);
        });
        assert!(stamps.recent.len() + stamps.older.len() <= 20_001);
        assert_eq!(stamps.take(0, i64::MAX), i64::MAX);
    }
}
