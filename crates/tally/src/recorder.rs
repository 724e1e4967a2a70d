//! One thread's samples, added up by series.

use std::sync::Arc;

use histo::{EXACT_MAX, Values};
use model::{Aggregate, Instant, Mark, MetricId, MetricRegistry, SeriesKey, TagSetId, Trend};

/// A series without samples for this many windows gives its place away. It may come back and take a new one.
pub const IDLE_WINDOWS_MAX: u32 = 60;

/// Adds up the samples of one worker thread. Never shared: each thread has its own, and a [`crate::Merger`] joins them.
///
/// The table goes from tag set to the few metrics seen with it. A script records the same metrics of a tag set in the same
/// order again and again, so each row remembers where it was last found and looks one further first.
#[derive(Debug)]
pub struct Recorder {
    registry: Arc<MetricRegistry>,
    /// By tag set number.
    rows: Vec<Row>,
    slots: Vec<Slot>,
    /// Slots without a series.
    free: Vec<u32>,
    /// Slots with samples since the last take.
    touched: Vec<u32>,
    /// Windows taken so far.
    window: u32,
}

#[derive(Debug, Default)]
struct Row {
    entries: Vec<(MetricId, u32)>,
    /// Where the next sample is expected.
    next: u32,
}

#[derive(Debug)]
struct Slot {
    aggregate: Aggregate,
    key: SeriesKey,
    touched: bool,
    occupied: bool,
    last_window: u32,
    /// Values of a trend in windows already taken; beyond [`EXACT_MAX`] no raw values are kept any more.
    taken_values: u64,
}

impl Recorder {
    /// An empty recorder for the metrics of this registry.
    pub fn new(registry: Arc<MetricRegistry>) -> Recorder {
        Recorder {
            registry,
            rows: Vec::new(),
            slots: Vec::new(),
            free: Vec::new(),
            touched: Vec::new(),
            window: 0,
        }
    }

    /// Adds one sample.
    #[inline]
    pub fn record(&mut self, metric: MetricId, tags: TagSetId, value: f64, mark: Mark, at: Instant) {
        let slot = self.slot_of(metric, tags);
        self.touch(slot).aggregate.record(value, mark, at);
    }

    /// Adds measured values of several metrics with the same tags, as an HTTP request brings them.
    #[inline]
    pub fn record_many(&mut self, tags: TagSetId, values: &[(MetricId, f64)], at: Instant) {
        for &(metric, value) in values {
            self.record(metric, tags, value, Mark::Measured, at);
        }
    }

    /// Counts dropped values of a trend.
    pub fn record_dropped(&mut self, metric: MetricId, tags: TagSetId, count: u64) {
        let slot = self.slot_of(metric, tags);
        if let Aggregate::Trend(trend) = &mut self.touch(slot).aggregate {
            trend.add_dropped(count);
        }
    }

    /// Takes the samples since the last call: the series that had any, in no particular order.
    ///
    /// The recorder is empty afterwards but remembers which series have passed the limit of raw values in this run.
    pub fn take_window(&mut self) -> Vec<(SeriesKey, Aggregate)> {
        let mut window = Vec::with_capacity(self.touched.len());
        for index in self.touched.drain(..) {
            let slot = &mut self.slots[index as usize];
            let next = slot.next_aggregate();
            slot.touched = false;
            slot.last_window = self.window;
            window.push((slot.key, std::mem::replace(&mut slot.aggregate, next)));
        }
        self.window += 1;
        if self.window.is_multiple_of(IDLE_WINDOWS_MAX) {
            self.drop_idle();
        }
        window
    }

    /// How many series have a place now.
    pub fn live_series(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    #[inline]
    fn slot_of(&mut self, metric: MetricId, tags: TagSetId) -> u32 {
        let Some(row) = self.rows.get_mut(tags.0 as usize) else { return self.new_slot(metric, tags) };
        if let Some(&(found, slot)) = row.entries.get(row.next as usize)
            && found == metric
        {
            row.next += 1;
            return slot;
        }
        let Some(position) = row.entries.iter().position(|entry| entry.0 == metric) else {
            return self.new_slot(metric, tags);
        };
        row.next = position as u32 + 1;
        row.entries[position].1
    }

    #[inline]
    fn touch(&mut self, index: u32) -> &mut Slot {
        let slot = &mut self.slots[index as usize];
        if !slot.touched {
            slot.touched = true;
            self.touched.push(index);
        }
        slot
    }

    #[cold]
    #[inline(never)]
    fn new_slot(&mut self, metric: MetricId, tags: TagSetId) -> u32 {
        let slot = Slot {
            aggregate: Aggregate::empty(self.registry.get(metric).kind),
            key: SeriesKey { metric, tags },
            touched: false,
            occupied: true,
            last_window: self.window,
            taken_values: 0,
        };
        let index = match self.free.pop() {
            Some(index) => {
                self.slots[index as usize] = slot;
                index
            }
            None => {
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            }
        };
        let row_number = tags.0 as usize;
        if self.rows.len() <= row_number {
            self.rows.resize_with(row_number + 1, Row::default);
        }
        let row = &mut self.rows[row_number];
        row.entries.push((metric, index));
        row.next = row.entries.len() as u32;
        index
    }

    fn drop_idle(&mut self) {
        for (index, slot) in self.slots.iter_mut().enumerate() {
            if !slot.occupied || self.window - slot.last_window <= IDLE_WINDOWS_MAX {
                continue;
            }
            slot.occupied = false;
            slot.aggregate = Aggregate::empty(model::MetricKind::Counter);
            self.free.push(index as u32);
            let row = &mut self.rows[slot.key.tags.0 as usize];
            row.entries.retain(|entry| entry.1 != index as u32);
            row.next = 0;
            if row.entries.is_empty() {
                row.entries = Vec::new();
            }
        }
    }
}

impl Slot {
    /// The empty aggregate that the next window starts from.
    fn next_aggregate(&mut self) -> Aggregate {
        let Aggregate::Trend(trend) = &self.aggregate else { return self.aggregate.emptied() };
        self.taken_values = self.taken_values.saturating_add(trend.values.count());
        let past_the_limit = self.taken_values > EXACT_MAX as u64 || !trend.values.is_exact();
        let values = if past_the_limit { Values::inexact() } else { Values::default() };
        Aggregate::Trend(Trend { values, failures: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::metric::builtin::{HTTP_REQ_DURATION, HTTP_REQ_WAITING, HTTP_REQS, VUS};

    fn recorder() -> Recorder {
        Recorder::new(Arc::default())
    }

    fn measured(recorder: &mut Recorder, metric: MetricId, tags: u32, value: f64) {
        recorder.record(metric, TagSetId(tags), value, Mark::Measured, Instant::from_ns(1));
    }

    fn counts(window: &[(SeriesKey, Aggregate)]) -> Vec<(u16, u32, u64)> {
        let mut counts: Vec<_> = window
            .iter()
            .map(|(key, aggregate)| {
                let count = match aggregate {
                    Aggregate::Counter(counter) => counter.count,
                    Aggregate::Trend(trend) => trend.population(),
                    Aggregate::Rate(rate) => rate.total,
                    Aggregate::Gauge(_) => 1,
                };
                (key.metric.0, key.tags.0, count)
            })
            .collect();
        counts.sort_unstable();
        counts
    }

    #[test]
    fn a_window_holds_the_series_touched_since_the_last() {
        let mut recorder = recorder();
        assert_eq!(recorder.take_window(), []);
        measured(&mut recorder, HTTP_REQS, 7, 1.0);
        measured(&mut recorder, HTTP_REQS, 2, 1.0);
        measured(&mut recorder, HTTP_REQS, 7, 1.0);
        recorder.record(HTTP_REQ_DURATION, TagSetId(7), 60.0, Mark::TimedOut, Instant::ZERO);
        let (reqs, duration) = (HTTP_REQS.0, HTTP_REQ_DURATION.0);
        assert_eq!(counts(&recorder.take_window()), [(reqs, 2, 1), (reqs, 7, 2), (duration, 7, 1)]);
        measured(&mut recorder, VUS, 7, 3.0);
        assert_eq!(counts(&recorder.take_window()), [(VUS.0, 7, 1)]);
        assert_eq!(recorder.live_series(), 4);
    }

    #[test]
    fn a_batch_equals_single_records_in_any_order_of_metrics() {
        let batch = [(HTTP_REQS, 1.0), (HTTP_REQ_DURATION, 5.0), (HTTP_REQ_WAITING, 4.0)];
        let (mut batched, mut single) = (recorder(), recorder());
        for _ in 0..3 {
            batched.record_many(TagSetId(3), &batch, Instant::from_ns(1));
            batch.iter().rev().for_each(|(metric, value)| measured(&mut single, *metric, 3, *value));
        }
        let sorted = |mut window: Vec<(SeriesKey, Aggregate)>| {
            window.sort_by_key(|series| series.0);
            window
        };
        assert_eq!(sorted(batched.take_window()), sorted(single.take_window()));
    }

    #[test]
    fn a_series_past_the_limit_keeps_no_raw_values_in_later_windows() {
        let mut recorder = recorder();
        let exact_after = |recorder: &mut Recorder, values: usize| {
            (0..values).for_each(|_| measured(recorder, HTTP_REQ_DURATION, 1, 5.0));
            match &recorder.take_window()[..] {
                [(_, Aggregate::Trend(trend))] => trend.values.is_exact(),
                other => panic!("one trend, not {other:?}"),
            }
        };
        assert!(exact_after(&mut recorder, 4000));
        assert!(exact_after(&mut recorder, 96));
        assert!(exact_after(&mut recorder, 1), "its total is 4096 before this window");
        assert!(!exact_after(&mut recorder, 1));
    }

    #[test]
    fn idle_series_give_their_place_away() {
        let mut recorder = recorder();
        measured(&mut recorder, HTTP_REQS, 1, 1.0);
        for _ in 0..=2 * IDLE_WINDOWS_MAX {
            measured(&mut recorder, HTTP_REQS, 2, 1.0);
            recorder.take_window();
        }
        assert_eq!(recorder.live_series(), 1);
        measured(&mut recorder, VUS, 1, 1.0);
        measured(&mut recorder, HTTP_REQS, 1, 1.0);
        measured(&mut recorder, HTTP_REQS, 2, 1.0);
        assert_eq!(
            counts(&recorder.take_window()),
            [(VUS.0, 1, 1), (HTTP_REQS.0, 1, 1), (HTTP_REQS.0, 2, 1)]
        );
        assert_eq!(recorder.slots.len(), 3, "the free place was taken again");
    }
}
