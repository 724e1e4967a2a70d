//! A timer of microseconds. The async runtime's own counts in milliseconds, which is too coarse for starting
//! iterations: half a millisecond of delay is half of a quick server's response time.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::{Future, poll_fn};
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

/// Sleeps whose ends lie closer together than this may end together, each at its own end or up to this much later, so
/// that a thread with very many of them is not sent to sleep and woken for each. At 20,000 arrivals per second and
/// thread this halves the wake-ups; up to 10,000 it changes nothing.
const WAKES_APART: Duration = Duration::from_micros(100);

thread_local! {
    static TIMER: RefCell<Option<Rc<Timer>>> = const { RefCell::new(None) };
}

/// Waits until `at`; returns at once when it has passed. Lateness is that of the thread, not of a tick, and up to 100 µs
/// where the thread's sleeps end less than that apart.
///
/// # Panics
/// Outside of a [`crate::Workers`] thread.
pub async fn sleep_until(at: Instant) {
    if SystemClock::now() >= at {
        return;
    }
    Sleep { at, timer: thread_timer(), id: None }.await;
}

/// Wakes the sleeps that were put off and are due, since the thread is up for another reason. For each time that the
/// event queue has let go of the thread.
pub(crate) fn thread_is_up() {
    TIMER.with_borrow(|slot| {
        let Some(timer) = slot else { return };
        if timer.queue.borrow().is_deferred() {
            timer.wake_due(SystemClock::now());
        }
    });
}

/// The descriptor of a thread's timer. It is made before any VU runs, which may leave none.
///
/// # Errors
/// The system has no descriptor left.
pub(crate) fn descriptor() -> std::io::Result<OwnedFd> {
    let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
    Ok(timerfd_create(TimerfdClockId::Monotonic, flags)?)
}

/// Gives this thread its timer.
pub(crate) fn install(descriptor: OwnedFd) {
    let timer = Timer::start(descriptor);
    TIMER.with_borrow_mut(|slot| *slot = Some(timer));
}

fn thread_timer() -> Rc<Timer> {
    TIMER.with_borrow(Clone::clone).expect("threads of workers have a timer")
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
    /// The latest end of a sleep that has been woken.
    woken_up_to: Option<Instant>,
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
    fn start(fd: OwnedFd) -> Rc<Timer> {
        // SAFETY: the descriptor is owned by the `AsyncFd` and neither replaced nor passed on to be closed.
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
            // The event queue reports each expiry once, so the descriptor need not be read before it is set again.
            ready.clear_ready();
            self.queue.borrow_mut().armed_for = None;
            self.wake_due(SystemClock::now());
            // Those just woken often sleep again at once; their next sleep then sets the descriptor, once for all.
            requeue().await;
            self.arm(&mut self.queue.borrow_mut());
        }
    }

    fn wake_due(&self, now: Instant) {
        let mut queue = self.queue.borrow_mut();
        while queue.sleeps.peek().is_some_and(|next| next.0.at <= now) {
            if let Some(Reverse(entry)) = queue.sleeps.pop() {
                queue.woken_up_to = queue.woken_up_to.max(Some(entry.at));
                // What the descriptor was set for may have been this.
                queue.armed_for = None;
                entry.waker.wake();
            }
        }
    }

    fn add(&self, at: Instant, waker: Waker) -> u64 {
        let mut queue = self.queue.borrow_mut();
        let id = queue.next_id;
        queue.next_id += 1;
        queue.sleeps.push(Reverse(Entry { at, id, waker }));
        self.arm(&mut queue);
        id
    }

    /// Points the descriptor at the next wake-up, if it is not already.
    fn arm(&self, queue: &mut Queue) {
        let Some(at) = queue.wake_at() else { return };
        if queue.armed_for.is_some_and(|armed| armed <= at) {
            return;
        }
        // Zero would disarm it; the shortest wait is one nanosecond.
        let wait = at.since(SystemClock::now()).max(Duration::from_nanos(1));
        let once = Itimerspec {
            it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() },
        };
        timerfd_settime(self.fd.get_ref(), TimerfdTimerFlags::empty(), &once)
            .expect("a timer descriptor takes any time");
        queue.armed_for = Some(at);
    }
}

impl Queue {
    /// When the thread must be up again: at its earliest sleep's end, but [`WAKES_APART`] after the last such end.
    fn wake_at(&self) -> Option<Instant> {
        let Reverse(earliest) = self.sleeps.peek()?;
        let apart = self.woken_up_to.map(|end| end + WAKES_APART);
        Some(apart.map_or(earliest.at, |apart| earliest.at.max(apart)))
    }

    /// Whether the descriptor is set for later than the earliest sleep's end.
    fn is_deferred(&self) -> bool {
        let earliest = self.sleeps.peek().map(|Reverse(earliest)| earliest.at);
        earliest.zip(self.armed_for).is_some_and(|(earliest, armed)| earliest < armed)
    }
}

/// Lets every other task that is ready run first. Unlike the runtime's own yield it asks the system nothing.
async fn requeue() {
    let mut has_waited = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_waited, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
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

    #[test]
    fn ends_close_together_share_a_wake_up() {
        #[track_caller]
        fn check(woken_up_to_us: Option<u64>, ends_us: &[u64], expect_us: Option<u64>) {
            let at = |us| Instant::from_ns(1_000 * us);
            let mut queue = Queue { woken_up_to: woken_up_to_us.map(at), ..Queue::default() };
            for &us in ends_us {
                queue.sleeps.push(Reverse(Entry { at: at(us), id: us, waker: Waker::noop().clone() }));
            }
            assert_eq!(queue.wake_at(), expect_us.map(at));
        }
        check(None, &[], None);
        check(None, &[250, 200], Some(200));
        check(Some(100), &[], None);
        check(Some(100), &[150, 200, 250], Some(200));
        // The rhythm of ten thousand per second and of anything slower is kept.
        check(Some(100), &[200], Some(200));
        check(Some(100), &[900], Some(900));
    }

    #[test]
    fn what_was_put_off_ends_when_the_thread_is_up_anyway() {
        let queue = |armed_for_ns: Option<u64>| {
            let entry = Entry { at: Instant::from_ns(20), id: 0, waker: Waker::noop().clone() };
            let sleeps = [Reverse(entry)].into();
            Queue { sleeps, armed_for: armed_for_ns.map(Instant::from_ns), ..Queue::default() }
        };
        assert!(queue(Some(21)).is_deferred());
        assert!(!queue(Some(20)).is_deferred());
        assert!(!queue(None).is_deferred());
        assert!(!Queue::default().is_deferred());
    }

    #[test]
    fn sleeps_end_on_a_thread_that_never_rests() {
        let workers = crate::Workers::start(1).unwrap();
        let (sender, ended) = std::sync::mpsc::channel();
        workers.spawn(0, move || async move {
            let is_over = Rc::new(std::cell::Cell::new(false));
            let busy = is_over.clone();
            tokio::task::spawn_local(async move {
                while !busy.get() {
                    requeue().await;
                }
            });
            for _ in 0..3 {
                sleep_until(SystemClock::now() + Duration::from_millis(2)).await;
            }
            is_over.set(true);
            sender.send(()).unwrap();
        });
        let result = ended.recv_timeout(Duration::from_secs(20));
        assert_eq!(result, Ok(()));
        workers.join();
    }
}
