//! Slices: no coroutine computes for longer than a slice before the others of the thread have their turn.
//!
//! A script's engine asks now and then whether it must stop, but it counts operations, and an operation may take a
//! nanosecond or ten milliseconds. So a thread beside the workers looks at them once a millisecond. Where the same coroutine
//! has run since the last look, it sends a signal to the worker, whose handler does two things: it notes that the slice is
//! over, which costs nothing to read, and it sets the engine's counter to its end, so that the engine asks at its next
//! operation. Time is thus measured only where a coroutine computes. A slice that goes on for another look is
//! [preempted](crate::preempt) if it is the engine that computes.
#![expect(
    unsafe_code,
    reason = "a signal handler that changes a number of C; each block states its invariant"
)]

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError, Weak};
use std::time::Duration;

/// A coroutine that computes for longer lets the others of its thread run before it goes on: what waits for the thread
/// waits for about this long, and a switch costs a thousandth of it.
pub(crate) const SLICE_MAX: Duration = Duration::from_millis(2);

/// How often the workers are looked at: a slice ends after one to two of these.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// How often while no coroutine computes, so that a load that only waits is not disturbed.
const LOOK_SELDOM: Duration = Duration::from_millis(4);

/// Looks without a coroutine that computes after which they become seldom.
const LOOKS_QUIET_MAX: u32 = 1_000;

/// Sent to a worker whose slice is over. Nothing else uses it here, and without a handler it does nothing.
const SIGNAL: c_int = libc::SIGURG;

thread_local! {
    /// Whether the running coroutine's slice is over. Also written by the signal handler.
    static IS_OVER: Cell<bool> = const { Cell::new(false) };
    /// How often a slice of this thread's coroutines began and ended: odd within one.
    static SWITCHES: Cell<Option<&'static AtomicU64>> = const { Cell::new(None) };
}

/// Whether the running coroutine has computed for a slice. To be asked by everything that may be called often without giving
/// the thread away; [`crate::yield_now`] is the answer.
#[inline]
pub fn is_over() -> bool {
    IS_OVER.get()
}

/// A coroutine is being polled, for as long as this lives.
pub(crate) struct Slice;

impl Slice {
    #[inline]
    pub(crate) fn begin() -> Slice {
        IS_OVER.set(false);
        switch(1);
        Slice
    }
}

impl Drop for Slice {
    #[inline]
    fn drop(&mut self) {
        switch(0);
    }
}

/// Counts on to the next number that is odd, or even.
#[inline]
fn switch(parity: u64) {
    if let Some(switches) = SWITCHES.get() {
        let now = switches.load(Ordering::Relaxed);
        // Only this thread writes it.
        switches.store(now + 1 + ((now + 1 + parity) & 1), Ordering::Relaxed);
    }
}

/// The workers that are looked at.
#[derive(Default)]
pub(crate) struct Watched(Mutex<Vec<Worker>>);

struct Worker {
    thread: libc::pthread_t,
    switches: &'static AtomicU64,
    seen: u64,
}

/// A worker is looked at for as long as this lives on its thread.
pub(crate) struct Registration {
    watched: Arc<Watched>,
    thread: libc::pthread_t,
}

impl Watched {
    /// Begins to look at the workers that register, until the last of them has gone.
    ///
    /// # Errors
    /// The system has no thread left.
    pub(crate) fn start() -> std::io::Result<Arc<Watched>> {
        install_handler();
        let watched = Arc::new(Watched::default());
        let weak = Arc::downgrade(&watched);
        std::thread::Builder::new().name("slices".into()).spawn(move || look(&weak))?;
        Ok(watched)
    }

    /// Looks at the calling thread, too.
    pub(crate) fn register(self: &Arc<Watched>) -> Registration {
        // One number per worker thread ever started; it is leaked, because the signal handler's thread may end at any time.
        let switches: &'static AtomicU64 = SWITCHES.get().unwrap_or_else(|| Box::leak(Box::default()));
        SWITCHES.set(Some(switches));
        // SAFETY: has no preconditions.
        let thread = unsafe { libc::pthread_self() };
        self.workers().push(Worker { thread, switches, seen: 0 });
        Registration { watched: self.clone(), thread }
    }

    fn workers(&self) -> std::sync::MutexGuard<'_, Vec<Worker>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Signals the workers whose coroutine has run since the last look; returns whether there was one.
    fn look(&self) -> bool {
        let mut is_any = false;
        for worker in &mut *self.workers() {
            let now = worker.switches.load(Ordering::Relaxed);
            let seen = std::mem::replace(&mut worker.seen, now);
            if now % 2 == 1 && now == seen {
                is_any = true;
                // SAFETY: the thread is alive, because it takes itself from the list before it ends, for which it needs the lock
                // that is held here.
                unsafe { libc::pthread_kill(worker.thread, SIGNAL) };
            }
        }
        is_any
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.watched.workers().retain(|worker| worker.thread != self.thread);
    }
}

fn look(watched: &Weak<Watched>) {
    let mut quiet = 0;
    loop {
        std::thread::sleep(if quiet < LOOKS_QUIET_MAX { LOOK_EVERY } else { LOOK_SELDOM });
        let Some(watched) = watched.upgrade() else { return };
        quiet = if watched.look() { 0 } else { quiet.saturating_add(1) };
    }
}

fn install_handler() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // SAFETY: the action is fully initialised: its handler has the type that these flags ask for and does only what a
        // signal handler may. Calls to the system that it interrupts are begun again.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = slice_is_over;
            action.sa_sigaction = handler as libc::sighandler_t;
            // The thread's other coroutines run while a preempted one is in the handler, and their slices end, too.
            action.sa_flags = libc::SA_RESTART | libc::SA_SIGINFO | libc::SA_NODEFER;
            libc::sigemptyset(&raw mut action.sa_mask);
            libc::sigaction(SIGNAL, &raw const action, std::ptr::null_mut());
        }
    });
}

/// The signal handler. It touches values of its own thread that are neither made at first use nor destroyed, unless it has
/// interrupted the engine's own code.
extern "C" fn slice_is_over(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    let was_over = IS_OVER.replace(true);
    crate::coroutine::end_count();
    if was_over {
        // SAFETY: this is the handler, and the argument its last.
        unsafe { crate::preempt::leave_engine(context) };
    }
}

/// A number that the running coroutine's engine counts down, asking when it reaches zero whether to stop.
#[derive(Debug)]
pub struct Countdown {
    slot: crate::coroutine::CountSlot,
}

impl Countdown {
    /// Has the end of a slice end the count, too, for as long as this lives. It replaces one that was set before; `None` outside
    /// of a coroutine.
    ///
    /// # Safety
    /// The number stays where it is and is used only by code that runs on this coroutine, until this is dropped. That code
    /// reads and writes it as one that a signal handler may write at any time: a value that gets lost is written again.
    pub unsafe fn new(count: NonNull<c_int>) -> Option<Countdown> {
        crate::coroutine::CountSlot::of_current(count).map(|slot| Countdown { slot })
    }
}

impl Drop for Countdown {
    fn drop(&mut self) {
        self.slot.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::{Workers, coroutine};

    /// Runs `body` on a coroutine of a worker.
    fn on_worker<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> T {
        let workers = Workers::start(1).unwrap();
        let (sender, results) = channel();
        workers.spawn(0, move || async move {
            sender.send(coroutine(64 * 1024, body).await.unwrap()).unwrap();
        });
        let result = results.recv_timeout(Duration::from_secs(60)).unwrap();
        workers.join();
        result
    }

    #[test]
    fn slices_end_without_a_look_at_the_clock() {
        let slices = on_worker(|| {
            for _ in 0..5 {
                assert!(!is_over(), "a slice begins");
                while !is_over() {
                    std::hint::spin_loop();
                }
                crate::yield_now();
            }
            crate::suspensions()
        });
        assert_eq!(slices, 5);
    }

    #[test]
    fn the_end_of_a_slice_ends_a_count() {
        let (ended, after) = on_worker(|| {
            let mut count: c_int = 1_000;
            let count_ptr = NonNull::from(&mut count);
            // SAFETY: the number lives on this stack until the countdown is dropped.
            let countdown = unsafe { Countdown::new(count_ptr) }.unwrap();
            let read = || unsafe { count_ptr.as_ptr().read_volatile() };
            while read() == 1_000 {}
            let ended = read();
            drop(countdown);
            unsafe { count_ptr.as_ptr().write_volatile(1_000) };
            while is_over() {
                crate::yield_now();
            }
            while !is_over() {}
            (ended, read())
        });
        assert_eq!((ended, after), (1, 1_000));
    }

    #[test]
    fn waits_that_are_ready_at_once_end_no_slice() {
        on_worker(|| {
            while !is_over() {
                crate::block_on(std::future::ready(())).unwrap();
            }
        });
    }

    #[test]
    fn one_that_waits_is_in_no_slice() {
        let is_over = on_worker(|| {
            crate::block_on(crate::timer::sleep_until(model::SystemClock::now() + Duration::from_millis(20)))
                .unwrap();
            is_over()
        });
        assert!(!is_over);
    }
}
