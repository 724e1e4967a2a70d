//! The windows of all threads become one.

use model::{Aggregate, ErrorCount, Exemplar, Instant, Load, ScenarioId, SeriesKey, Window};
use rustc_hash::FxHashMap;

use crate::{Noted, errors, exemplars, load};

/// Joins what the threads took for one second. The order of threads cannot matter, since aggregates merge in any order.
///
/// A thread that did not answer in time is added to a later window: nothing is lost, only late.
#[derive(Debug, Default)]
pub struct Merger {
    series: FxHashMap<SeriesKey, Aggregate>,
    load: Vec<Load>,
    exemplars: Vec<Exemplar>,
    errors: Vec<ErrorCount>,
    leased: Vec<(ScenarioId, u64)>,
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

    /// Adds one thread's notes.
    pub fn add_notes(&mut self, part: Noted) {
        load::merge(&mut self.load, part.load);
        self.exemplars.extend(part.exemplars);
        self.errors.extend(part.errors);
        self.leased.extend(part.leased);
    }

    /// The window of everything added since the last call, with its series and its load in order of their keys.
    pub fn take(&mut self, index: u32, start: Instant, end: Instant) -> Window {
        let mut series: Vec<_> = self.series.drain().collect();
        series.sort_unstable_by_key(|series| series.0);
        let mut load = std::mem::take(&mut self.load);
        load.sort_unstable_by_key(|load| (load.scenario, load.work));
        let exemplars = exemplars::select(std::mem::take(&mut self.exemplars));
        let errors = errors::select(std::mem::take(&mut self.errors));
        let leased = std::mem::take(&mut self.leased);
        Window { index, start, end, series, load, exemplars, errors, leased }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::metric::builtin::{CHECKS, HTTP_REQ_DURATION, HTTP_REQS, VUS};
    use model::{Mark, MetricId, TagSetId, Work};
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
    fn notes_of_all_threads_are_one() {
        let mut merger = Merger::default();
        for ns in [10, 20] {
            let mut notes = crate::Notes::new(1);
            notes.load.start(Some(ScenarioId(0)), Work::Iterations, Instant::from_ns(ns));
            notes.load.start(None, Work::Requests, Instant::from_ns(ns));
            notes.errors.count(1220, "reset", TagSetId(2), || ns.to_string());
            merger.add_notes(notes.take(Instant::from_ns(100)));
        }
        let window = merger.take(0, Instant::ZERO, Instant::from_ns(100));
        let load: Vec<_> =
            window.load.iter().map(|l| (l.scenario, l.work, l.started, l.in_flight_ns)).collect();
        let of_scenario = (Some(ScenarioId(0)), Work::Iterations, 2, 170);
        assert_eq!(load, [(None, Work::Requests, 2, 170), of_scenario]);
        assert_eq!((window.errors.len(), window.errors[0].count, &*window.errors[0].example), (1, 2, "10"));
        let next = merger.take(1, Instant::ZERO, Instant::MAX);
        assert_eq!((next.load, next.exemplars, next.errors), (vec![], vec![], vec![]));
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
