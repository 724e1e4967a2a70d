//! Ending a run early, from any thread. Changing it while it runs is in [`crate::steering`].

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use model::{Instant, SystemClock};

use crate::report::Report;
use crate::steering::Steering;

/// Why a run ended before its plan did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AbortReason {
    /// The user or the system asked (SIGINT, SIGTERM).
    Signal,
    /// The script called `test.abort()`, perhaps with a message.
    Script(Option<Arc<str>>),
    /// A threshold with `abortOnFail` was crossed.
    Threshold,
    /// A listener could not go on (its disk is full, say).
    Listener(Arc<str>),
    /// Somebody asked from outside of the process.
    Remote,
    /// Whoever asked for the run knows enough; it is as good as one that took its whole time.
    Enough,
}

/// The handle that ends a run. Clones are the same handle; one handle serves one run.
#[derive(Clone, Debug, Default)]
pub struct RunControl(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// When iterations were called off; `u64::MAX` before.
    stopped_ns: Arc<AtomicU64>,
    /// When everything was called off, `teardown()` too; `u64::MAX` before.
    killed_ns: Arc<AtomicU64>,
    reason: Mutex<Option<AbortReason>>,
    marked_failed: AtomicBool,
    coordinator: Mutex<Option<Sender<Report>>>,
    pub(crate) steering: Steering,
}

impl Default for Inner {
    fn default() -> Self {
        Inner {
            stopped_ns: Arc::new(AtomicU64::new(u64::MAX)),
            killed_ns: Arc::new(AtomicU64::new(u64::MAX)),
            reason: Mutex::default(),
            marked_failed: AtomicBool::new(false),
            coordinator: Mutex::default(),
            steering: Steering::default(),
        }
    }
}

impl RunControl {
    /// Calls all iterations off; `teardown()` still runs. Of several reasons the first stays.
    pub fn stop(&self, reason: AbortReason) {
        self.0.reason.lock().expect("no panic inside").get_or_insert(reason);
        mark(&self.0.stopped_ns);
        self.tell(Report::Stop);
    }

    /// Calls everything off at once, `teardown()` included.
    pub fn kill(&self, reason: AbortReason) {
        self.stop(reason);
        mark(&self.0.killed_ns);
        self.tell(Report::Kill);
    }

    /// Remembers that the script called `test.fail()`; the run goes on.
    pub fn mark_failed(&self) {
        self.0.marked_failed.store(true, Ordering::Relaxed);
    }

    /// Whether iterations were called off.
    pub fn is_stopped(&self) -> bool {
        self.0.stopped_ns.load(Ordering::Acquire) != u64::MAX
    }

    /// Whether everything was called off.
    pub fn is_killed(&self) -> bool {
        self.0.killed_ns.load(Ordering::Acquire) != u64::MAX
    }

    /// Whether the script called `test.fail()`.
    pub fn is_marked_failed(&self) -> bool {
        self.0.marked_failed.load(Ordering::Relaxed)
    }

    /// Why the run was stopped; `None` while it was not.
    pub fn reason(&self) -> Option<AbortReason> {
        self.0.reason.lock().expect("no panic inside").clone()
    }

    /// From now on `stop` and `kill` wake this coordinator, which passes them on to the threads.
    pub(crate) fn attach(&self, coordinator: Sender<Report>) {
        *self.0.coordinator.lock().expect("no panic inside") = Some(coordinator);
        if self.is_stopped() {
            self.tell(Report::Stop);
        }
        if self.is_killed() {
            self.tell(Report::Kill);
        }
    }

    /// A deadline that a stop brings forward.
    pub(crate) fn iteration_deadline(&self) -> Arc<Deadline> {
        Arc::new(Deadline { own_ns: AtomicU64::new(u64::MAX), cut_ns: self.0.stopped_ns.clone() })
    }

    /// A deadline that only a kill brings forward.
    pub(crate) fn teardown_deadline(&self) -> Arc<Deadline> {
        Arc::new(Deadline { own_ns: AtomicU64::new(u64::MAX), cut_ns: self.0.killed_ns.clone() })
    }

    pub(crate) fn steering(&self) -> &Steering {
        &self.0.steering
    }

    pub(crate) fn tell(&self, report: Report) {
        if let Some(coordinator) = &*self.0.coordinator.lock().expect("no panic inside") {
            // The coordinator is gone once the run is over: nothing is left to stop.
            let _ = coordinator.send(report);
        }
    }
}

fn mark(instant_ns: &AtomicU64) {
    let now_ns = SystemClock::now().as_ns();
    let _ = instant_ns.compare_exchange(u64::MAX, now_ns, Ordering::AcqRel, Ordering::Relaxed);
}

/// When a VU's present work must have ended. It may come nearer while the work runs (a ramp down, a stop), so a script
/// that computes without waiting asks it again and again.
#[derive(Debug)]
pub struct Deadline {
    own_ns: AtomicU64,
    cut_ns: Arc<AtomicU64>,
}

impl Deadline {
    /// The instant as of now; [`Instant::MAX`] where there is none.
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
