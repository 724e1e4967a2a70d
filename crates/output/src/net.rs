//! The thread, the queue and the retries that every export over the network has.
//!
//! An [`Exporter`] turns what it is fed into payloads and knows how to send one. The rest is here and the same for all: a
//! bounded queue, so that a dead or slow endpoint costs samples of the export and never load; a pause between attempts
//! that doubles; and the count of what arrived and what did not.

pub(crate) mod grpc;
mod http;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use self::http::{Answer, HttpClient, HttpSettings, gzip};

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use model::{Instant, Metadata, RunEvent, Sample, SystemClock, ThresholdResult, Window};

use crate::{Output, OutputError, OutputReport};

/// Samples, or series of windows, that wait for a slow endpoint; what comes while so many wait is lost and counted.
pub const QUEUE_ENTRIES_MAX: u64 = 1_000_000;

/// How long one attempt to send may take.
const ATTEMPT_MAX: Duration = Duration::from_secs(10);

/// How long the end of a run waits for what is not yet sent.
const FINISH_MAX: Duration = Duration::from_secs(10);

/// The pause after a first failed attempt; each further one doubles it.
const PAUSE_FIRST: Duration = Duration::from_millis(100);

/// The longest pause between two attempts, whatever the endpoint asks for.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// How often a pause looks whether the run is over.
const PAUSE_SLICE: Duration = Duration::from_millis(20);

/// The input of an exporter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feed {
    /// Every raw sample.
    Samples,
    /// The aggregates of each second.
    Windows,
}

/// Something to export.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    /// A batch of raw samples.
    Samples(Arc<Vec<(Sample, Option<Metadata>)>>),
    /// One second.
    Window(Arc<Window>),
    /// How the thresholds stand.
    Thresholds(Arc<Vec<ThresholdResult>>),
}

impl Entry {
    /// How many samples, or series of a window, it holds: the unit in which the queue, the sent and the lost are counted.
    fn count(&self) -> u64 {
        match self {
            Entry::Samples(batch) => batch.len() as u64,
            Entry::Window(window) => window.series.len() as u64,
            // What is judged again each time is no sample.
            Entry::Thresholds(_) => 0,
        }
    }
}

/// Bytes that are sent at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Payload {
    /// The bytes.
    pub(crate) body: Vec<u8>,
    /// How many samples, or series of a window, are in it.
    pub(crate) count: u64,
}

/// Why a payload was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SendError {
    /// Another attempt may succeed.
    Retry {
        /// The error.
        why: String,
        /// How long the endpoint asks to wait.
        after: Option<Duration>,
    },
    /// Another attempt would end the same way.
    Refused {
        /// The endpoint's answer.
        why: String,
        /// How many of the payload were not stored; all if unknown.
        lost: Option<u64>,
    },
}

/// The parts by which one kind of export differs from the others.
pub(crate) trait Exporter: Send {
    /// The events that it reads. Asked once.
    fn feed(&self) -> Feed;

    /// Takes what is to be sent; returns how many of it are not to be sent, since they have no value that the format knows.
    fn take(&mut self, entry: &Entry) -> u64;

    /// Whether so much was taken that it should be sent before the push interval is over.
    fn is_full(&self) -> bool;

    /// Hands out what was taken since the last call. Asked each push interval, when full, and at the end of the run.
    fn payloads(&mut self, now: Instant, is_last: bool) -> Vec<Payload>;

    /// Makes one attempt.
    ///
    /// # Errors
    /// The payload, or a part of it, was not taken.
    fn send(&mut self, payload: &Payload, within: Duration) -> Result<(), SendError>;

    /// How it went, in one line: what was sent, and what the endpoint is known to have stored.
    fn note(&self, sent: u64, lost: u64) -> String;
}

/// Starts an export's thread.
///
/// # Errors
/// The system has no thread left.
pub(crate) fn start(
    description: String,
    push_interval: Duration,
    exporter: Box<dyn Exporter>,
) -> Result<Box<dyn Output>, OutputError> {
    let feed = exporter.feed();
    let shared = Arc::new(Shared { waiting: AtomicU64::new(0), finish_by_ns: AtomicU64::new(u64::MAX) });
    let (queue, entries) = channel();
    let worker = Worker { exporter, entries, shared: shared.clone(), push_interval, tally: Tally::default() };
    let thread = std::thread::Builder::new()
        .name("output".into())
        .spawn(move || worker.run())
        .map_err(OutputError::Thread)?;
    Ok(Box::new(NetworkOutput { description, feed, queue, shared, thread, lost: 0 }))
}

/// State shared by both ends of the queue.
struct Shared {
    /// Samples, or series, in the queue.
    waiting: AtomicU64,
    /// When the end of the run stops waiting; the greatest number while it runs.
    finish_by_ns: AtomicU64,
}

impl Shared {
    fn finish_by(&self) -> Instant {
        Instant::from_ns(self.finish_by_ns.load(Ordering::Relaxed))
    }
}

struct NetworkOutput {
    description: String,
    feed: Feed,
    queue: Sender<Entry>,
    shared: Arc<Shared>,
    thread: JoinHandle<Worker>,
    lost: u64,
}

/// The fate of the samples taken.
#[derive(Debug, Default)]
struct Tally {
    sent: u64,
    lost: u64,
    /// The last error; reported only when something was lost.
    why: Option<String>,
}

impl NetworkOutput {
    fn enqueue(&mut self, entry: Entry) {
        let count = entry.count();
        let waiting = self.shared.waiting.load(Ordering::Relaxed);
        let has_room = waiting == 0 || waiting.saturating_add(count) <= QUEUE_ENTRIES_MAX;
        if has_room {
            self.shared.waiting.fetch_add(count, Ordering::Relaxed);
            if self.queue.send(entry).is_ok() {
                return;
            }
        }
        self.lost = self.lost.saturating_add(count);
    }
}

impl Output for NetworkOutput {
    fn description(&self) -> &str {
        &self.description
    }

    fn wants_samples(&self) -> bool {
        self.feed == Feed::Samples
    }

    fn on_event(&mut self, event: &RunEvent) {
        match (event, self.feed) {
            (RunEvent::Samples(batch), Feed::Samples) => self.enqueue(Entry::Samples(batch.clone())),
            (RunEvent::SamplesLost { count }, Feed::Samples) => self.lost = self.lost.saturating_add(*count),
            (RunEvent::Window(window), Feed::Windows) => self.enqueue(Entry::Window(window.clone())),
            (RunEvent::Thresholds { results, .. }, Feed::Windows) => {
                self.enqueue(Entry::Thresholds(results.clone()));
            }
            _ => {}
        }
    }

    fn finish(self: Box<Self>) -> OutputReport {
        let NetworkOutput { description, queue, shared, thread, lost, .. } = *self;
        let finish_by = SystemClock::now() + FINISH_MAX;
        shared.finish_by_ns.store(finish_by.as_ns(), Ordering::Relaxed);
        // Without a sender the thread sends what waits, and ends.
        drop(queue);
        let Ok(Worker { exporter, tally, .. }) = thread.join() else {
            let error = Some(OutputError::Stopped);
            return OutputReport { description, written: 0, lost, error, note: None };
        };
        let lost = lost.saturating_add(tally.lost);
        let error = tally.why.filter(|_| lost > 0).map(|why| OutputError::Send { why });
        let note = Some(exporter.note(tally.sent, lost));
        OutputReport { description, written: tally.sent, lost, error, note }
    }
}

struct Worker {
    exporter: Box<dyn Exporter>,
    entries: Receiver<Entry>,
    shared: Arc<Shared>,
    push_interval: Duration,
    tally: Tally,
}

impl Worker {
    fn run(mut self) -> Worker {
        let mut push_at = SystemClock::now() + self.push_interval;
        loop {
            match self.entries.recv_timeout(push_at.since(SystemClock::now())) {
                Ok(entry) => self.take(&entry),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if self.exporter.is_full() || SystemClock::now() >= push_at {
                self.push(false);
                push_at = SystemClock::now() + self.push_interval;
            }
        }
        self.push(true);
        self
    }

    fn take(&mut self, entry: &Entry) {
        self.shared.waiting.fetch_sub(entry.count(), Ordering::Relaxed);
        self.tally.lost += self.exporter.take(entry);
    }

    fn push(&mut self, is_last: bool) {
        for payload in self.exporter.payloads(SystemClock::now(), is_last) {
            self.deliver(&payload);
        }
    }

    /// Sends a payload, however often it takes, until it is refused or the run's end has waited long enough.
    fn deliver(&mut self, payload: &Payload) {
        let mut pause = PAUSE_FIRST;
        loop {
            let within = self.shared.finish_by().since(SystemClock::now()).min(ATTEMPT_MAX);
            if within.is_zero() {
                self.tally.lost += payload.count;
                self.tally.why.get_or_insert_with(|| "the end of the run waited long enough".to_owned());
                return;
            }
            match self.exporter.send(payload, within) {
                Ok(()) => {
                    self.tally.sent += payload.count;
                    return;
                }
                Err(SendError::Refused { why, lost }) => {
                    let lost = lost.unwrap_or(payload.count).min(payload.count);
                    self.tally.sent += payload.count - lost;
                    self.tally.lost += lost;
                    self.tally.why = Some(why);
                    return;
                }
                Err(SendError::Retry { why, after }) => {
                    self.tally.why = Some(why);
                    self.pause(after.unwrap_or(pause).min(PAUSE_MAX));
                    pause = (pause * 2).min(PAUSE_MAX);
                }
            }
        }
    }

    fn pause(&self, pause: Duration) {
        let until = SystemClock::now() + pause;
        loop {
            let left = until.min(self.shared.finish_by()).since(SystemClock::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(PAUSE_SLICE));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use super::*;
    use crate::writer::tests::batch;

    /// Sends one byte per sample, after a set number of failures, and refuses the samples it is set to refuse.
    struct Bytes {
        taken: Vec<u8>,
        failures: u32,
        refuse: bool,
        hold: Option<Receiver<()>>,
        sent: Sender<Vec<u8>>,
    }

    impl Exporter for Bytes {
        fn feed(&self) -> Feed {
            Feed::Samples
        }

        fn take(&mut self, entry: &Entry) -> u64 {
            if let Entry::Samples(batch) = entry {
                self.taken.extend(batch.iter().map(|(sample, _)| sample.value as u8));
            }
            0
        }

        fn is_full(&self) -> bool {
            self.taken.len() >= 4
        }

        fn payloads(&mut self, _: Instant, _: bool) -> Vec<Payload> {
            let body = std::mem::take(&mut self.taken);
            let count = body.len() as u64;
            if count == 0 { Vec::new() } else { vec![Payload { body, count }] }
        }

        fn send(&mut self, payload: &Payload, _: Duration) -> Result<(), SendError> {
            if let Some(hold) = &self.hold {
                let _ = hold.recv();
            }
            if self.failures > 0 {
                self.failures -= 1;
                return Err(SendError::Retry { why: "no answer".into(), after: Some(Duration::ZERO) });
            }
            if self.refuse {
                return Err(SendError::Refused { why: "not like this".into(), lost: Some(1) });
            }
            self.sent.send(payload.body.clone()).expect("the test listens");
            Ok(())
        }

        fn note(&self, sent: u64, lost: u64) -> String {
            format!("{sent} sent, {lost} lost")
        }
    }

    fn output(
        failures: u32,
        refuse: bool,
        hold: Option<Receiver<()>>,
    ) -> (Box<dyn Output>, Receiver<Vec<u8>>) {
        let (sent, read) = channel();
        let exporter = Bytes { taken: Vec::new(), failures, refuse, hold, sent };
        (start("x".into(), Duration::from_secs(60), Box::new(exporter)).expect("a thread"), read)
    }

    #[test]
    fn failures_are_tried_again_and_nothing_is_lost() {
        let (mut output, read) = output(3, false, None);
        output.on_event(&batch(b"abcde"));
        output.on_event(&batch(b"f"));
        let report = output.finish();
        assert_eq!((report.written, report.lost, report.warning()), (6, 0, None));
        assert_eq!(report.note.as_deref(), Some("6 sent, 0 lost"));
        assert_eq!(read.iter().collect::<Vec<_>>(), [b"abcde".to_vec(), b"f".to_vec()]);
    }

    #[test]
    fn what_is_refused_in_part_is_counted_in_part() {
        let (mut output, _read) = output(0, true, None);
        output.on_event(&batch(b"abc"));
        let report = output.finish();
        assert_eq!((report.written, report.lost), (2, 1));
        let expect = "x: failed to send: not like this; 1 of 3 samples are missing from the export";
        assert_eq!(report.warning().expect("one is missing"), expect);
    }

    #[test]
    fn a_dead_endpoint_never_blocks_and_its_losses_are_counted() {
        let (go, hold) = channel();
        let (mut output, read) = output(0, false, Some(hold));
        let big = batch(&vec![7; 1_000]);
        let started = SystemClock::now();
        let batches = QUEUE_ENTRIES_MAX / 1_000 + 50;
        (0..batches).for_each(|_| output.on_event(&big));
        assert!(SystemClock::now().since(started) < Duration::from_secs(5));
        drop(go);
        let report = output.finish();
        // The thread may have taken one batch off the queue before it had to wait.
        assert!(report.lost >= 49_000, "{report:?}");
        assert_eq!(report.written + report.lost, batches * 1_000);
        assert_eq!(read.iter().map(|body| body.len() as u64).sum::<u64>(), report.written);
    }
}
