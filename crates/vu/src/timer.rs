//! A timer of microseconds. The async runtime's own counts in milliseconds, which is too coarse for starting
//! iterations: half a millisecond of delay is half of a quick server's response time.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use model::{Instant, SystemClock};
use rustix::fd::OwnedFd;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::io::unix::AsyncFd;

thread_local! {
    static TIMER: RefCell<Option<Rc<Timer>>> = const { RefCell::new(None) };
}

/// Waits until `at`; returns at once when it has passed. Lateness is that of the thread, not of a tick.
///
/// # Panics
/// Outside of a [`crate::Workers`] thread, or when the system has no descriptor left for the thread's one timer.
pub async fn sleep_until(at: Instant) {
    if SystemClock::now() >= at {
        return;
    }
    Sleep { at, timer: thread_timer(), id: None }.await;
}

fn thread_timer() -> Rc<Timer> {
    TIMER.with_borrow_mut(|slot| slot.get_or_insert_with(Timer::start).clone())
}

/// One descriptor per thread; all sleeps of the thread wait in its heap.
struct Timer {
    fd: AsyncFd<OwnedFd>,
    queue: RefCell<Queue>,
}

#[derive(Default)]
struct Queue {
    sleeps: BinaryHeap<Reverse<Entry>>,
    armed_for: Option<Instant>,
    next_id: u64,
}

struct Entry {
    at: Instant,
    id: u64,
    waker: Waker,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        (self.at, self.id) == (other.at, other.id)
    }
}
impl Eq for Entry {}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> std::cmp::Ordering {
        (self.at, self.id).cmp(&(other.at, other.id))
    }
}

impl Timer {
    fn start() -> Rc<Timer> {
        let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)
            .expect("a descriptor is left for the thread's timer");
        // SAFETY: the descriptor is owned by the `AsyncFd` and neither replaced nor lent out to be closed.
        #[expect(unsafe_code, reason = "the descriptor's ownership, stated above")]
        let fd = unsafe { AsyncFd::register(fd) }.expect("the thread's event queue takes its timer");
        let timer = Rc::new(Timer { fd, queue: RefCell::default() });
        tokio::task::spawn_local(timer.clone().drive());
        timer
    }

    /// Wakes the sleeps that are due, for as long as the thread lives.
    async fn drive(self: Rc<Timer>) {
        loop {
            let Ok(mut ready) = self.fd.readable().await else { return };
            let mut expirations = [0_u8; 8];
            // A spurious wake-up reads nothing; the heap is looked at anyway.
            let _ = rustix::io::read(self.fd.get_ref(), &mut expirations);
            ready.clear_ready();
            self.wake_due(SystemClock::now());
        }
    }

    fn wake_due(&self, now: Instant) {
        let mut queue = self.queue.borrow_mut();
        queue.armed_for = None;
        while queue.sleeps.peek().is_some_and(|next| next.0.at <= now) {
            if let Some(Reverse(entry)) = queue.sleeps.pop() {
                entry.waker.wake();
            }
        }
        self.arm(&mut queue);
    }

    fn add(&self, at: Instant, waker: Waker) -> u64 {
        let mut queue = self.queue.borrow_mut();
        let id = queue.next_id;
        queue.next_id += 1;
        queue.sleeps.push(Reverse(Entry { at, id, waker }));
        self.arm(&mut queue);
        id
    }

    /// Points the descriptor at the earliest sleep, if it is not already.
    fn arm(&self, queue: &mut Queue) {
        let Some(Reverse(earliest)) = queue.sleeps.peek() else { return };
        if queue.armed_for.is_some_and(|armed| armed <= earliest.at) {
            return;
        }
        // Zero would disarm it; the shortest wait is one nanosecond.
        let wait = earliest.at.since(SystemClock::now()).max(Duration::from_nanos(1));
        let once = Itimerspec {
            it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() },
        };
        timerfd_settime(self.fd.get_ref(), TimerfdTimerFlags::empty(), &once)
            .expect("a timer descriptor takes any time");
        queue.armed_for = Some(earliest.at);
    }
}

struct Sleep {
    at: Instant,
    timer: Rc<Timer>,
    id: Option<u64>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if SystemClock::now() >= self.at {
            return Poll::Ready(());
        }
        if self.id.is_none() {
            let id = self.timer.add(self.at, context.waker().clone());
            self.id = Some(id);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeps_end_in_order_and_on_time() {
        let workers = crate::Workers::start(1).unwrap();
        let (sender, results) = std::sync::mpsc::channel();
        // Far enough ahead that all of them wait, also on a machine that is busy.
        let start = SystemClock::now() + Duration::from_millis(200);
        for us in [3_000, 1_000, 2_000, 1_000, 0] {
            let sender = sender.clone();
            workers.spawn(0, move || async move {
                let at = start + Duration::from_micros(us);
                sleep_until(at).await;
                sender.send((us, SystemClock::now().since(at))).unwrap();
            });
        }
        let results: Vec<_> = results.iter().take(5).collect();
        workers.join();
        assert_eq!(results.iter().map(|(us, _)| *us).collect::<Vec<_>>(), [0, 1_000, 1_000, 2_000, 3_000]);
        // Never early; how late depends on the machine, so only the absurd is refused.
        assert!(results.iter().all(|(_, late)| *late < Duration::from_millis(100)), "{results:?}");
    }
}
