//! Builds one window each second from the reports of all threads.

use std::sync::Arc;
use std::time::Duration;

use model::metric::builtin::{VUS, VUS_MAX};
use model::{Aggregate, Instant, Mark, MetricRegistry, Sample, SeriesKey, TagSetId, Window};
use tally::{Merger, Noted, Recorder};

/// Length of a window.
pub(crate) const WINDOW: Duration = Duration::from_secs(1);

/// Time for which a window waits for threads that a VU blocks; their samples are in a later window.
pub(crate) const PATIENCE: Duration = Duration::from_millis(100);

/// Collects windows. A thread that has not answered yet is not asked again, and delays no window.
pub(crate) struct WindowBook {
    merger: Merger,
    /// Gauges of the run as a whole.
    gauges: Recorder,
    gauge_tags: TagSetId,
    /// By worker: whether it was asked and has not answered yet.
    asked: Vec<bool>,
    /// The window being collected: its end, and the end of its patience.
    open: Option<(Instant, Instant)>,
    index: u32,
    start: Instant,
    next_tick: Instant,
}

impl WindowBook {
    /// Creates a book in which no second passes before [`WindowBook::begin`].
    pub(crate) fn new(registry: Arc<MetricRegistry>, gauge_tags: TagSetId, workers: usize) -> WindowBook {
        WindowBook {
            merger: Merger::default(),
            gauges: Recorder::new(registry),
            gauge_tags,
            asked: vec![false; workers],
            open: None,
            index: 0,
            start: Instant::ZERO,
            next_tick: Instant::MAX,
        }
    }

    /// Begins the first window; earlier samples (init) belong to it.
    pub(crate) fn begin(&mut self, start: Instant) {
        (self.start, self.next_tick) = (start, start + WINDOW);
    }

    /// Whether a window is being collected.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Deadline of the next call.
    pub(crate) fn next_instant(&self) -> Instant {
        self.open.map_or(self.next_tick, |(_, until)| until.min(self.next_tick))
    }

    /// Whether a second is over.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        now >= self.next_tick
    }

    /// The numbers of active and initialised VUs at this instant, as samples.
    pub(crate) fn gauges(&self, now: Instant, vus: u32, vus_max: u32) -> [Sample; 2] {
        [(VUS, vus), (VUS_MAX, vus_max)].map(|(metric, value)| Sample {
            metric,
            tags: self.gauge_tags,
            value: value.into(),
            at: now,
            mark: Mark::Measured,
        })
    }

    /// Closes the second and returns the workers to ask. The gauges are those of this instant.
    pub(crate) fn tick(&mut self, now: Instant, gauges: &[Sample]) -> Vec<usize> {
        // A coordinator that was kept from running makes one long window and no empty ones.
        while self.next_tick <= now {
            self.next_tick = self.next_tick + WINDOW;
        }
        for gauge in gauges {
            self.gauges.record(gauge.metric, gauge.tags, gauge.value, gauge.mark, gauge.at);
        }
        self.ask(now, now + PATIENCE)
    }

    /// Lets no further second pass: its request could keep a thread from being asked for the last window.
    pub(crate) fn end_seconds(&mut self) {
        self.next_tick = Instant::MAX;
    }

    /// Closes the run's last window, which waits until `until` for every thread: later samples are lost. Returns the workers to ask.
    pub(crate) fn finish(&mut self, now: Instant, until: Instant) -> Vec<usize> {
        self.ask(now, until)
    }

    fn ask(&mut self, end: Instant, until: Instant) -> Vec<usize> {
        self.open = Some((end, until));
        let free = (0..self.asked.len()).filter(|&worker| !self.asked[worker]).collect::<Vec<_>>();
        free.iter().for_each(|&worker| self.asked[worker] = true);
        free
    }

    /// Asks one worker before the second is over, unless it is asked already. Its answer belongs to the next window.
    pub(crate) fn ask_early(&mut self, worker: usize) -> Option<usize> {
        (!std::mem::replace(&mut self.asked[worker], true)).then_some(worker)
    }

    /// Adds a worker's answer.
    pub(crate) fn add(&mut self, worker: usize, series: Vec<(SeriesKey, Aggregate)>, notes: Noted) {
        self.asked[worker] = false;
        self.merger.add(series);
        self.merger.add_notes(notes);
    }

    /// Whether a worker has not answered yet.
    pub(crate) fn is_waiting(&self) -> bool {
        self.asked.contains(&true)
    }

    /// The workers for which a closing window stops waiting.
    pub(crate) fn late(&self) -> Vec<usize> {
        (0..self.asked.len()).filter(|&worker| self.asked[worker]).collect()
    }

    /// Returns the window once all workers have answered or its patience is over.
    pub(crate) fn close(&mut self, now: Instant) -> Option<Window> {
        let (end, until) = self.open?;
        if self.is_waiting() && now < until {
            return None;
        }
        self.open = None;
        self.merger.add(self.gauges.take_window());
        let window = self.merger.take(self.index, self.start, end);
        self.index += 1;
        self.start = end;
        Some(window)
    }
}
