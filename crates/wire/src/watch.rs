//! When a socket became ready.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};

use model::{Instant, SystemClock};

/// A waker between the runtime and the task: it notes when the runtime saw the socket ready and passes the call on.
///
/// A task that is woken runs when its turn comes. Without this note that queueing, which is the load generator's own,
/// would be counted as the server's time.
pub(crate) struct Watch {
    waker: Waker,
    inner: Arc<Inner>,
    /// The task that `inner` wakes. A connection nearly always serves one task, which then need not be locked to be known.
    task: RefCell<Waker>,
}

struct Inner {
    /// Zero for not yet.
    woken_ns: AtomicU64,
    task: Mutex<Waker>,
}

impl Wake for Inner {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let now = SystemClock::now();
        vu::busy::note_wake(now);
        self.woken_ns.store(now.as_ns(), Ordering::Relaxed);
        self.task.lock().unwrap_or_else(PoisonError::into_inner).wake_by_ref();
    }
}

impl Watch {
    pub(crate) fn new() -> Watch {
        let inner = Arc::new(Inner { woken_ns: AtomicU64::new(0), task: Mutex::new(Waker::noop().clone()) });
        Watch { waker: Waker::from(inner.clone()), inner, task: RefCell::new(Waker::noop().clone()) }
    }

    /// The waker to poll the socket with, on behalf of the task in `cx`.
    pub(crate) fn waker(&self, cx: &Context<'_>) -> &Waker {
        let mut task = self.task.borrow_mut();
        if !task.will_wake(cx.waker()) {
            task.clone_from(cx.waker());
            self.inner.task.lock().unwrap_or_else(PoisonError::into_inner).clone_from(cx.waker());
        }
        &self.waker
    }

    /// The waker to poll the socket with where no task waits for it; it wakes the last one that did.
    pub(crate) fn last_waker(&self) -> &Waker {
        &self.waker
    }

    /// When the socket last became ready, if it did since this was last asked.
    pub(crate) fn take(&self) -> Option<Instant> {
        let woken_ns = self.inner.woken_ns.load(Ordering::Relaxed);
        if woken_ns == 0 {
            return None;
        }
        self.inner.woken_ns.store(0, Ordering::Relaxed);
        Some(Instant::from_ns(woken_ns))
    }
}
