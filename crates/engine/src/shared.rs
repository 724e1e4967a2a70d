//! State shared by the VUs of one thread, and by all threads.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;

use model::plan::{Compat, Plan};
use model::{
    DropCause, ExemplarCandidate, Instant, LogLevel, LogLine, Mark, Metadata, MetricId, Sample, ScenarioId,
    TagSetId, Work,
};
use plan::Stripe;
use schedule::Quota;
use tally::{Noted, Notes, Recorder};
use tokio::sync::mpsc::UnboundedSender;

use crate::report::{Message, Order, Report, SAMPLE_BATCHES_IN_FLIGHT_MAX};
use crate::{DropCounts, Program, RunConfig};

/// Raw samples per batch to the listeners.
pub const SAMPLES_PER_BATCH_MAX: usize = 1024;

/// State shared by the VUs of one worker thread.
pub struct WorkerShared {
    recorder: RefCell<Recorder>,
    notes: RefCell<Notes>,
    samples: RefCell<Vec<(Sample, Option<Metadata>)>>,
    run: Arc<RunShared>,
    index: usize,
}

impl WorkerShared {
    pub(crate) fn new(index: usize, run: Arc<RunShared>) -> WorkerShared {
        let recorder = RefCell::new(Recorder::new(run.config.registry.clone()));
        let notes = RefCell::new(Notes::new(run.plan.scenarios.len()));
        WorkerShared { recorder, notes, samples: RefCell::default(), run, index }
    }

    /// Index of the thread, from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Whether a listener wants raw samples, and [`Metadata`] with them.
    pub fn wants_samples(&self) -> bool {
        self.run.config.wants_samples
    }

    /// Records one value.
    #[inline]
    pub fn record(&self, metric: MetricId, tags: TagSetId, value: f64, mark: Mark, at: Instant) {
        self.recorder.borrow_mut().record(metric, tags, value, mark, at);
        if self.run.config.wants_samples {
            self.pass_on(Sample { metric, tags, value, at, mark }, None);
        }
    }

    /// Records one value with metadata for exports.
    #[inline]
    pub fn record_with(&self, sample: Sample, metadata: Option<&Metadata>) {
        let Sample { metric, tags, value, at, mark } = sample;
        self.recorder.borrow_mut().record(metric, tags, value, mark, at);
        if self.run.config.wants_samples {
            self.pass_on(sample, metadata.cloned());
        }
    }

    /// Records several measured values of one tag set.
    #[inline]
    pub fn record_many(
        &self,
        tags: TagSetId,
        values: &[(MetricId, f64)],
        at: Instant,
        metadata: Option<&Metadata>,
    ) {
        self.recorder.borrow_mut().record_many(tags, values, at);
        if self.run.config.wants_samples {
            for &(metric, value) in values {
                let sample = Sample { metric, tags, value, at, mark: Mark::Measured };
                self.pass_on(sample, metadata.cloned());
            }
        }
    }

    /// Counts values of a trend that were dropped. A listener of raw samples gets one for all of them.
    pub(crate) fn record_dropped(&self, metric: MetricId, tags: TagSetId, count: u64, at: Instant) {
        self.recorder.borrow_mut().record_dropped(metric, tags, count);
        if self.run.config.wants_samples {
            self.pass_on(Sample { metric, tags, value: 0.0, at, mark: Mark::Dropped }, None);
        }
    }

    /// Counts the start of a piece of work of a scenario (or of `setup()` and `teardown()`).
    #[inline]
    pub fn start_work(&self, scenario: Option<ScenarioId>, work: Work, at: Instant) {
        self.notes.borrow_mut().load.start(scenario, work, at);
    }

    /// Counts the end of a piece of work, however it ended.
    #[inline]
    pub fn finish_work(&self, scenario: Option<ScenarioId>, work: Work, at: Instant) {
        self.notes.borrow_mut().load.finish(scenario, work, at);
    }

    /// Whether a request should be passed to [`WorkerShared::remember`].
    #[inline]
    pub fn is_remarkable(&self, duration_ns: u64, mark: Mark, failed: bool) -> bool {
        self.notes.borrow().exemplars.is_remarkable(duration_ns, mark, failed)
    }

    /// Keeps a request as an exemplar.
    pub fn remember(&self, candidate: ExemplarCandidate) {
        self.notes.borrow_mut().exemplars.offer(candidate);
    }

    /// Counts an error: k6's code (0 for exceptions), its message, and for the first one of its window an example.
    pub fn count_error(&self, code: u16, message: &str, tags: TagSetId, example: impl FnOnce() -> String) {
        self.notes.borrow_mut().errors.count(code, message, tags, example);
    }

    /// Logs a line for the user.
    pub fn log(&self, line: LogLine) {
        self.run.report(Report::Log(line));
    }

    pub(crate) fn warn(&self, at: Instant, message: String) {
        self.log(LogLine::new(at, LogLevel::Warn, message));
    }

    pub(crate) fn error(&self, at: Instant, message: String) {
        self.log(LogLine::new(at, LogLevel::Error, message));
    }

    /// Takes the series since the last call; raw samples leave too, so that listeners lag by a second at most.
    pub(crate) fn take_window(&self) -> Vec<(model::SeriesKey, model::Aggregate)> {
        let batch = std::mem::take(&mut *self.samples.borrow_mut());
        self.run.send_samples(batch);
        self.recorder.borrow_mut().take_window()
    }

    /// Counts the end of a shared iteration that another process has handed out.
    pub(crate) fn end_leased(&self, scenario: ScenarioId, number: u64) {
        self.notes.borrow_mut().leased.push((scenario, number));
    }

    /// Takes the notes since the last call, with the load up to `end`.
    pub(crate) fn take_notes(&self, end: Instant) -> Noted {
        self.notes.borrow_mut().take(end)
    }

    fn pass_on(&self, sample: Sample, metadata: Option<Metadata>) {
        let mut samples = self.samples.borrow_mut();
        samples.push((sample, metadata));
        if samples.len() >= SAMPLES_PER_BATCH_MAX {
            let batch = std::mem::replace(&mut *samples, Vec::with_capacity(SAMPLES_PER_BATCH_MAX));
            self.run.send_samples(batch);
        }
    }
}

/// State shared by all threads of a run.
pub(crate) struct RunShared {
    pub(crate) plan: Arc<Plan>,
    pub(crate) program: Arc<dyn Program>,
    pub(crate) config: RunConfig,
    pub(crate) scenarios: Vec<ScenarioShared>,
    pub(crate) orders: Vec<UnboundedSender<Order>>,
    pub(crate) messages: Sender<Message>,
    /// The instance's stripe of VU numbers.
    pub(crate) vu_stripe: Stripe,
    pub(crate) vus_planned: u64,
    pub(crate) next_vu_id: AtomicU64,
    pub(crate) batches_in_flight: AtomicUsize,
    pub(crate) samples_lost: AtomicU64,
}

impl RunShared {
    pub(crate) fn is_honest(&self) -> bool {
        self.plan.compat == Compat::Honest
    }

    pub(crate) fn report(&self, report: Report) {
        // The driver ends only after it has given up on this thread.
        let _ = self.messages.send(Message::Report(report));
    }

    /// Returns the worker thread of a VU.
    pub(crate) fn worker_of(&self, vu_id: u64) -> usize {
        ((vu_id - 1) % self.orders.len() as u64) as usize
    }

    pub(crate) fn order(&self, worker: usize, order: Order) {
        // A worker that is gone has nothing left to do.
        let _ = self.orders[worker].send(order);
    }

    fn send_samples(&self, batch: Vec<(Sample, Option<Metadata>)>) {
        if batch.is_empty() {
            return;
        }
        if self.batches_in_flight.fetch_add(1, Ordering::Relaxed) >= SAMPLE_BATCHES_IN_FLIGHT_MAX {
            self.batches_in_flight.fetch_sub(1, Ordering::Relaxed);
            self.samples_lost.fetch_add(batch.len() as u64, Ordering::Relaxed);
            return;
        }
        self.report(Report::Samples(batch));
    }
}

/// State shared by the lanes of one scenario.
pub(crate) struct ScenarioShared {
    pub(crate) quota: Quota,
    pub(crate) stripe: Stripe,
    /// Shared iterations taken; it may exceed their number.
    taken: AtomicU64,
    /// Idle VUs of each worker that are not reserved.
    idle: Box<[AtomicU32]>,
    /// VUs that may still be added.
    spare: AtomicU32,
    /// Whether a VU is being added now.
    growing: AtomicBool,
    lanes_left: AtomicU32,
    drops: [AtomicU64; 4],
    pub(crate) has_warned: AtomicBool,
}

impl ScenarioShared {
    pub(crate) fn new(quota: Quota, stripe: Stripe, spare: u32, workers: usize) -> ScenarioShared {
        ScenarioShared {
            quota,
            stripe,
            taken: AtomicU64::new(0),
            idle: (0..workers).map(|_| AtomicU32::new(0)).collect(),
            spare: AtomicU32::new(spare),
            growing: AtomicBool::new(false),
            lanes_left: AtomicU32::new(workers as u32),
            drops: Default::default(),
            has_warned: AtomicBool::new(false),
        }
    }

    /// Takes one of `size` shared iterations; false when none is left.
    pub(crate) fn take_shared_iteration(&self, size: u64) -> bool {
        self.taken.load(Ordering::Relaxed) < size && self.taken.fetch_add(1, Ordering::Relaxed) < size
    }

    /// Number of the `size` shared iterations that were never taken.
    pub(crate) fn shared_iterations_left(&self, size: u64) -> u64 {
        size.saturating_sub(self.taken.load(Ordering::Relaxed))
    }

    /// Reserves an idle VU of a worker.
    pub(crate) fn reserve(&self, worker: usize) -> bool {
        let less = |idle: u32| idle.checked_sub(1);
        self.idle[worker].fetch_update(Ordering::AcqRel, Ordering::Acquire, less).is_ok()
    }

    /// Reserves an idle VU of any worker but `own`, which has none.
    pub(crate) fn reserve_elsewhere(&self, own: usize) -> Option<usize> {
        let workers = self.idle.len();
        (1..workers).map(|step| (own + step) % workers).find(|&worker| self.reserve(worker))
    }

    pub(crate) fn add_idle(&self, worker: usize, vus: u32) {
        self.idle[worker].fetch_add(vus, Ordering::AcqRel);
    }

    /// Ends reservations from this worker; returns the number of idle VUs that were not reserved.
    pub(crate) fn close_idle(&self, worker: usize) -> u32 {
        self.idle[worker].swap(0, Ordering::AcqRel)
    }

    /// Takes the right to add one VU, if none is being added and one is left to add.
    pub(crate) fn begin_growth(&self) -> bool {
        if self.growing.swap(true, Ordering::AcqRel) {
            return false;
        }
        let less = |spare: u32| spare.checked_sub(1);
        let has_spare = self.spare.fetch_update(Ordering::AcqRel, Ordering::Acquire, less).is_ok();
        if !has_spare {
            self.growing.store(false, Ordering::Release);
        }
        has_spare
    }

    pub(crate) fn end_growth(&self) {
        self.growing.store(false, Ordering::Release);
    }

    pub(crate) fn is_growing(&self) -> bool {
        self.growing.load(Ordering::Acquire)
    }

    /// Counts a lane that is over; true for the last one.
    pub(crate) fn leave_lane(&self) -> bool {
        self.lanes_left.fetch_sub(1, Ordering::AcqRel) == 1
    }

    pub(crate) fn count_drops(&self, cause: DropCause, count: u64) {
        self.drops[cause as usize].fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn drops(&self) -> DropCounts {
        let of = |cause: DropCause| self.drops[cause as usize].load(Ordering::Relaxed);
        DropCounts {
            vus_exhausted: of(DropCause::VusExhausted),
            vu_starting: of(DropCause::VuStarting),
            time_up: of(DropCause::TimeUp),
            agent_lost: of(DropCause::AgentLost),
        }
    }
}
