//! The windows of all threads become one.

use model::{Aggregate, Instant, SeriesKey, Window};
use rustc_hash::FxHashMap;

/// Joins what the threads took for one second. The order of threads cannot matter, since aggregates merge in any order.
///
/// A thread that did not answer in time is added to a later window: nothing is lost, only late.
#[derive(Debug, Default)]
pub struct Merger {
    series: FxHashMap<SeriesKey, Aggregate>,
}

impl Merger {
    /// Adds one thread's series.
    pub fn add(&mut self, part: Vec<(SeriesKey, Aggregate)>) {
        for (key, aggregate) in part {
            match self.series.entry(key) {
                std::collections::hash_map::Entry::Occupied(mut known) => known.get_mut().merge(&aggregate),
                std::collections::hash_map::Entry::Vacant(unknown) => {
                    unknown.insert(aggregate);
                }
            }
        }
    }

    /// The window of everything added since the last call, with its series in order of their keys.
    pub fn take(&mut self, index: u32, start: Instant, end: Instant) -> Window {
        let mut series: Vec<_> = self.series.drain().collect();
        series.sort_unstable_by_key(|series| series.0);
        Window { index, start, end, series, ..Window::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::metric::builtin::{CHECKS, HTTP_REQ_DURATION, HTTP_REQS, VUS};
    use model::{Mark, MetricId, TagSetId};
    use proptest::prelude::*;

    type Sample = (MetricId, u32, f64, Mark, u64);

    fn any_sample() -> impl Strategy<Value = Sample> {
        let metric = prop::sample::select(vec![HTTP_REQS, HTTP_REQ_DURATION, VUS, CHECKS]);
        let mark = prop::sample::select(vec![
            Mark::Measured,
            Mark::Measured,
            Mark::TimedOut,
            Mark::Cut,
            Mark::Failed,
        ]);
        (metric, 0u32..4, -1e3..1e3f64, mark, 0u64..3)
    }

    fn window_of(threads: &[Vec<Sample>]) -> Window {
        let mut merger = Merger::default();
        for samples in threads {
            let mut recorder = crate::Recorder::new(Default::default());
            for &(metric, tags, value, mark, at) in samples {
                recorder.record(metric, TagSetId(tags), value, mark, Instant::from_ns(at));
            }
            merger.add(recorder.take_window());
        }
        merger.take(0, Instant::ZERO, Instant::ZERO)
    }

    proptest! {
        #[test]
        fn threads_and_their_order_do_not_matter(
            threads in prop::collection::vec(prop::collection::vec(any_sample(), 0..40), 1..5),
        ) {
            let one = window_of(&[threads.concat()]);
            prop_assert!(one.series.is_sorted_by(|a, b| a.0 < b.0));
            prop_assert_eq!(&window_of(&threads), &one);
            let reversed: Vec<_> = threads.into_iter().rev().collect();
            prop_assert_eq!(&window_of(&reversed), &one);
        }
    }

    #[test]
    fn taking_leaves_nothing_behind() {
        let mut merger = Merger::default();
        let key = SeriesKey { metric: HTTP_REQS, tags: TagSetId(0) };
        merger.add(vec![(key, Aggregate::empty(model::MetricKind::Counter))]);
        assert_eq!(merger.take(3, Instant::ZERO, Instant::MAX).series.len(), 1);
        assert_eq!(merger.take(4, Instant::ZERO, Instant::MAX).series, []);
    }
}
