//! A thread that asks to be woken at fixed times, and notes how late it was.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use model::{Instant, SystemClock};

/// Between two wakes. Fifty a second see a stall of a few hundredths of a second and cost next to nothing.
const EVERY: Duration = Duration::from_millis(20);

/// The thread, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Watch {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    is_over: AtomicBool,
    /// The worst since it was last asked for.
    lag_ns: AtomicU64,
    /// When the thread should wake next.
    planned_ns: AtomicU64,
}

impl Watch {
    /// Starts it; `None` where the system has no thread for it.
    pub(crate) fn start() -> Option<Watch> {
        let shared = Arc::new(Shared {
            is_over: AtomicBool::new(false),
            lag_ns: AtomicU64::new(0),
            planned_ns: AtomicU64::new(u64::MAX),
        });
        let own = shared.clone();
        let thread =
            std::thread::Builder::new().name("timer-watch".into()).spawn(move || watch(&own)).ok()?;
        Some(Watch { shared, thread: Some(thread) })
    }

    /// The worst lag since the last call, a wake that is overdue now among them.
    pub(crate) fn take_ns(&self, now: Instant) -> u64 {
        let overdue_ns = now.as_ns().saturating_sub(self.shared.planned_ns.load(Ordering::Relaxed));
        self.shared.lag_ns.swap(0, Ordering::Relaxed).max(overdue_ns)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It cannot panic: it reads a clock and sleeps.
            let _ = thread.join();
        }
    }
}

fn watch(shared: &Shared) {
    let mut planned = SystemClock::now() + EVERY;
    while !shared.is_over.load(Ordering::Relaxed) {
        shared.planned_ns.store(planned.as_ns(), Ordering::Relaxed);
        let now = SystemClock::now();
        if now < planned {
            // An unpark or a whim of the system wakes it early: then it goes on waiting.
            std::thread::park_timeout(planned.since(now));
            continue;
        }
        shared.lag_ns.fetch_max(now.since(planned).as_nanos() as u64, Ordering::Relaxed);
        // Wakes that were slept through are one late wake and not many.
        planned = now + EVERY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overdue_wake_counts_before_it_came() {
        let watch = Watch::start().expect("there are threads");
        std::thread::sleep(3 * EVERY);
        let in_a_second = SystemClock::now() + Duration::from_secs(1);
        let lag_ns = watch.take_ns(in_a_second);
        assert!(lag_ns >= 900_000_000, "{lag_ns}");
    }
}
