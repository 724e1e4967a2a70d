//! Ends a run early, from any thread. [`crate::steering`] changes it while it runs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use model::{Instant, SystemClock};

use crate::report::Message;
use crate::steering::Steering;

/// Interval at which [`RunControl::rest`] looks for a cancellation.
const REST_SLICE: Duration = Duration::from_millis(50);

/// Reason why a run ended before its plan did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AbortReason {
    /// The user or the system requested it (SIGINT, SIGTERM).
    Signal,
    /// The script called `test.abort()`, perhaps with a message.
    Script(Option<Arc<str>>),
    /// A threshold with `abortOnFail` was crossed.
    Threshold,
    /// A listener failed (its disk is full, for example).
    Listener(Arc<str>),
    /// A request from outside of the process.
    Remote,
    /// The run has delivered enough data; it counts like one that took its whole time.
    Enough,
}

/// Handle that ends a run. Clones are the same handle; one handle serves one run.
#[derive(Clone, Debug, Default)]
pub struct RunControl(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Time at which iterations were cancelled; `u64::MAX` before.
    stopped_ns: AtomicU64,
    /// The earlier of that and of the fence.
    cut_ns: Arc<AtomicU64>,
    /// Time at which everything was cancelled, `teardown()` too; `u64::MAX` before.
    killed_ns: Arc<AtomicU64>,
    reason: Mutex<Option<AbortReason>>,
    marked_failed: AtomicBool,
    driver: Mutex<Option<Sender<Message>>>,
    pub(crate) steering: Steering,
}

impl Default for Inner {
    fn default() -> Self {
        Inner {
            stopped_ns: AtomicU64::new(u64::MAX),
            cut_ns: Arc::new(AtomicU64::new(u64::MAX)),
            killed_ns: Arc::new(AtomicU64::new(u64::MAX)),
            reason: Mutex::default(),
            marked_failed: AtomicBool::new(false),
            driver: Mutex::default(),
            steering: Steering::default(),
        }
    }
}

impl RunControl {
    /// Cancels all iterations; `teardown()` still runs. Of several reasons the first stays.
    pub fn stop(&self, reason: AbortReason) {
        self.stop_at(SystemClock::now(), reason);
    }

    /// Cancels everything at once, `teardown()` included.
    pub fn kill(&self, reason: AbortReason) {
        self.kill_at(SystemClock::now(), reason);
    }

    pub(crate) fn stop_at(&self, now: Instant, reason: AbortReason) {
        self.0.reason.lock().expect("no panic inside").get_or_insert(reason);
        mark(&self.0.stopped_ns, now);
        self.0.cut_ns.fetch_min(now.as_ns(), Ordering::AcqRel);
        self.notify();
    }

    /// Lets no iteration start at `at` or later, until the fence is moved: another process may run them from then on.
    pub fn set_fence(&self, at: Instant) {
        self.0.cut_ns.store(at.as_ns(), Ordering::Release);
        // A stop meanwhile stays.
        let stopped_ns = self.0.stopped_ns.load(Ordering::Acquire);
        self.0.cut_ns.fetch_min(stopped_ns, Ordering::AcqRel);
    }

    pub(crate) fn kill_at(&self, now: Instant, reason: AbortReason) {
        self.stop_at(now, reason);
        mark(&self.0.killed_ns, now);
        self.notify();
    }

    /// Records that the script called `test.fail()`; the run goes on.
    pub fn mark_failed(&self) {
        self.0.marked_failed.store(true, Ordering::Relaxed);
    }

    /// Whether iterations were cancelled.
    pub fn is_stopped(&self) -> bool {
        self.0.stopped_ns.load(Ordering::Acquire) != u64::MAX
    }

    /// Waits for a time, and no longer than until iterations are cancelled.
    pub fn rest(&self, time: Duration) {
        let mut left = time;
        while !left.is_zero() && !self.is_stopped() {
            let slice = left.min(REST_SLICE);
            std::thread::sleep(slice);
            left -= slice;
        }
    }

    /// Whether everything was cancelled.
    pub fn is_killed(&self) -> bool {
        self.0.killed_ns.load(Ordering::Acquire) != u64::MAX
    }

    /// Whether the script called `test.fail()`.
    pub fn is_marked_failed(&self) -> bool {
        self.0.marked_failed.load(Ordering::Relaxed)
    }

    /// Reason for the stop; `None` while the run was not stopped.
    pub fn reason(&self) -> Option<AbortReason> {
        self.0.reason.lock().expect("no panic inside").clone()
    }

    /// Makes every change wake this driver.
    pub(crate) fn attach(&self, driver: Sender<Message>) {
        *self.0.driver.lock().expect("no panic inside") = Some(driver);
    }

    /// Creates a deadline that a stop or a fence brings forward.
    pub(crate) fn iteration_deadline(&self) -> Arc<Deadline> {
        Arc::new(Deadline { own_ns: AtomicU64::new(u64::MAX), cut_ns: self.0.cut_ns.clone() })
    }

    /// Creates a deadline that only a kill brings forward.
    pub(crate) fn teardown_deadline(&self) -> Arc<Deadline> {
        Arc::new(Deadline { own_ns: AtomicU64::new(u64::MAX), cut_ns: self.0.killed_ns.clone() })
    }

    pub(crate) fn steering(&self) -> &Steering {
        &self.0.steering
    }

    pub(crate) fn notify(&self) {
        if let Some(driver) = &*self.0.driver.lock().expect("no panic inside") {
            // The driver is gone once the run is over: nothing is left to change.
            let _ = driver.send(Message::ControlChanged);
        }
    }
}

fn mark(instant_ns: &AtomicU64, now: Instant) {
    let _ = instant_ns.compare_exchange(u64::MAX, now.as_ns(), Ordering::AcqRel, Ordering::Relaxed);
}

/// Deadline of a VU's current work. It may come nearer while the work runs (a ramp-down, a stop), so a script that
/// computes without waiting checks it repeatedly.
#[derive(Debug)]
pub struct Deadline {
    own_ns: AtomicU64,
    cut_ns: Arc<AtomicU64>,
}

impl Deadline {
    /// Current deadline; [`Instant::MAX`] where there is none.
    pub fn at(&self) -> Instant {
        let own_ns = self.own_ns.load(Ordering::Relaxed);
        Instant::from_ns(own_ns.min(self.cut_ns.load(Ordering::Relaxed)))
    }

    /// Whether it has passed.
    pub fn has_passed(&self, now: Instant) -> bool {
        self.at() <= now
    }

    pub(crate) fn set(&self, at: Instant) {
        self.own_ns.store(at.as_ns(), Ordering::Relaxed);
    }
}
