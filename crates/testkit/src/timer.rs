//! Waits that end within tens of microseconds of their deadline.
//!
//! tokio's timer rounds up to the next millisecond, which would be 5 % of a 20 ms service time. A thread that
//! sleeps on a condition variable is woken by the kernel's high-resolution timer instead.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use model::{Instant, SystemClock};
use tokio::sync::oneshot;

/// Wakes tasks at their deadlines. Dropping it ends its thread; waits that are still open then end at once.
#[derive(Debug)]
pub(crate) struct Timer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    waits: BinaryHeap<Reverse<Wait>>,
    sequence: u64,
    stopped: bool,
}

#[derive(Debug)]
struct Wait {
    deadline: Instant,
    sequence: u64,
    wake: oneshot::Sender<()>,
}

impl Wait {
    fn key(&self) -> (Instant, u64) {
        (self.deadline, self.sequence)
    }
}

impl PartialEq for Wait {
    fn eq(&self, other: &Wait) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Wait {}

impl PartialOrd for Wait {
    fn partial_cmp(&self, other: &Wait) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Wait {
    fn cmp(&self, other: &Wait) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl Timer {
    pub(crate) fn start() -> std::io::Result<Timer> {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("testkit-timer".into()).spawn(move || run(&theirs))?;
        Ok(Timer { shared, thread: Some(thread) })
    }

    /// Returns at `deadline`, or at once when it has passed.
    pub(crate) async fn sleep_until(&self, deadline: Instant) {
        if deadline <= SystemClock::now() {
            return;
        }
        let (wake, woken) = oneshot::channel();
        self.enqueue(deadline, wake);
        // The sender is dropped unused only when the timer ends, and no connection is served after that.
        let _ = woken.await;
    }

    fn enqueue(&self, deadline: Instant, wake: oneshot::Sender<()>) {
        let mut queue = self.shared.lock();
        let sequence = queue.sequence;
        queue.sequence += 1;
        let is_next = queue.waits.peek().is_none_or(|Reverse(next)| deadline < next.deadline);
        queue.waits.push(Reverse(Wait { deadline, sequence, wake }));
        drop(queue);
        if is_next {
            self.shared.changed.notify_one();
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.shared.lock().stopped = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn run(shared: &Shared) {
    let mut due = Vec::new();
    let mut queue = shared.lock();
    while !queue.stopped {
        let now = SystemClock::now();
        while queue.waits.peek().is_some_and(|Reverse(next)| next.deadline <= now) {
            due.extend(queue.waits.pop());
        }
        if !due.is_empty() {
            // Waking takes the runtime's own locks, so ours is let go.
            drop(queue);
            for Reverse(wait) in due.drain(..) {
                let _ = wait.wake.send(());
            }
            queue = shared.lock();
            continue;
        }
        queue = match queue.waits.peek() {
            Some(Reverse(next)) => {
                let time = next.deadline.since(now);
                shared.changed.wait_timeout(queue, time).unwrap_or_else(PoisonError::into_inner).0
            }
            None => shared.changed.wait(queue).unwrap_or_else(PoisonError::into_inner),
        };
    }
    queue.waits.clear();
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn waits_end_at_their_deadline_in_order() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let timer = Timer::start().expect("a timer");
        runtime.block_on(async {
            let start = SystemClock::now();
            let wait = async |ms: u64| {
                let deadline = start + Duration::from_millis(ms);
                timer.sleep_until(deadline).await;
                let now = SystemClock::now();
                assert!(now >= deadline, "{ms} ms: early");
                now
            };
            let (third, first, second) = tokio::join!(wait(30), wait(5), wait(10));
            assert!(first <= second && second <= third);
            assert_eq!(wait(1).await.since(third).as_millis(), 0, "a passed deadline is no wait");
        });
    }

    #[test]
    fn stopping_ends_open_waits() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let timer = Timer::start().expect("a timer");
        let (wake, open) = oneshot::channel();
        timer.enqueue(SystemClock::now() + Duration::from_secs(60), wake);
        drop(timer);
        assert!(runtime.block_on(open).is_err());
    }
}
