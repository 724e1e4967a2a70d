//! The one worker: it does one thing at a time, in the order in which requests came.
//!
//! Its work is time that passes, not cycles that are burnt, so its capacity can be computed and is the same on every machine:
//! one request each `base + in flight × PER_REQUEST_IN_FLIGHT`. What a timer is late is made up for by the next in the queue.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};
use tokio::time::Instant;

/// Work that each request in flight adds to every other: buffers to look through, memory to collect, a longer ready
/// list. It makes throughput fall, and not just level off, beyond capacity.
pub(crate) const PER_REQUEST_IN_FLIGHT: Duration = Duration::from_micros(1);

/// Requests in flight; a further one is refused.
pub(crate) const IN_FLIGHT_MAX: usize = 16_384;

/// One at a time.
#[derive(Debug)]
pub(crate) struct Worker {
    /// When the work so far is done.
    free_at: Mutex<Instant>,
    in_flight: AtomicUsize,
    /// Work that belongs to no request; the next request waits for it.
    owed_ns: AtomicU64,
}

/// A request in flight, as long as this lives.
#[derive(Debug)]
pub(crate) struct InFlight<'a>(&'a Worker);

/// The worker, held by one request.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    worker: &'a Worker,
    free_at: MutexGuard<'a, Instant>,
}

impl Worker {
    pub(crate) fn new() -> Worker {
        let free_at = Mutex::new(Instant::now());
        Worker { free_at, in_flight: AtomicUsize::new(0), owed_ns: AtomicU64::new(0) }
    }

    /// Counts a request; `None` where there are too many.
    pub(crate) fn enter(&self) -> Option<InFlight<'_>> {
        // Given back at once where it is refused.
        let entered = InFlight(self);
        let before = self.in_flight.fetch_add(1, Ordering::Relaxed);
        (before < IN_FLIGHT_MAX).then_some(entered)
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Adds work that the next request waits for.
    pub(crate) fn owe(&self, takes: Duration) {
        self.owed_ns.fetch_add(u64::try_from(takes.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Waits for one's turn.
    pub(crate) async fn turn(&self) -> Turn<'_> {
        let came = Instant::now();
        let mut free_at = self.free_at.lock().await;
        *free_at = came.max(*free_at);
        Turn { worker: self, free_at }
    }
}

impl Turn<'_> {
    /// Works for `base` and for what is in flight and owed.
    pub(crate) async fn begin(&mut self, base: Duration) {
        let in_flight = u32::try_from(self.worker.in_flight()).unwrap_or(u32::MAX);
        let owed = Duration::from_nanos(self.worker.owed_ns.swap(0, Ordering::Relaxed));
        self.work(base + PER_REQUEST_IN_FLIGHT * in_flight + owed).await;
    }

    /// Works so long.
    pub(crate) async fn work(&mut self, takes: Duration) {
        *self.free_at += takes;
        tokio::time::sleep_until(*self.free_at).await;
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
