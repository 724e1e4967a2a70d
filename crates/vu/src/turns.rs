//! Turns: work that could go on for ever waits here between two slices.
//!
//! A task that wakes itself is polled again before the thread looks at its timers and sockets; sixty such polls of a few
//! milliseconds each keep everyone else waiting for a third of a second. So a task with more to compute joins the thread's
//! queue instead. The thread serves its timers and sockets, runs whatever that woke, and only then lets the first of the
//! queue compute for one slice. Tasks that read what never ends have a queue of their own, because their slices are short
//! and what they wait for is measured.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// Rounds of other tasks in a row after which the first of the queues have their slices although others are ready, so that a thread
/// that is always busy does not forget who computes. A round is at most 61 polls, less than a millisecond of usual work.
const ROUNDS_PER_SLICE_MAX: u32 = 8;

/// How long a task that reads what comes without an end goes on before it joins the queue, however few bytes it reads: a chunk of
/// one byte takes as long as one of a thousand. The readers of a round thus take two milliseconds at most, as a slice does.
pub const TURN_MAX: Duration = Duration::from_micros(500);

/// Readers that have their turn between two looks at timers and sockets: together they read for about a millisecond.
const READERS_PER_ROUND_MAX: usize = 4;

thread_local! {
    static TURNS: Turns = const { Turns::new() };
}

struct Turns {
    /// Whether this thread serves the queues; without, no task would ever be woken.
    is_served: Cell<bool>,
    /// Tasks that read what comes without an end.
    readers: RefCell<VecDeque<Waker>>,
    /// Coroutines that compute.
    queue: RefCell<VecDeque<Waker>>,
    /// Places in `queue` handed out so far, and how many of them have had their turn.
    joined: Cell<u64>,
    served: Cell<u64>,
    /// To be called at the end of the round.
    at_end: Cell<Option<fn()>>,
}

/// A place in the queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place(u64);

impl Place {
    /// Whether the turn of this place has come. That of no place always has.
    pub(crate) fn has_come(self) -> bool {
        self.0 == 0 || TURNS.with(|turns| self.0 <= turns.served.get())
    }
}

/// Wakes the task after the thread has served its timers and sockets. To be called by a task that returns `Pending` only
/// because it has read for as long as it may in one go. On threads that are not of [`crate::Workers`] it is woken at once.
pub fn join(waker: &Waker) {
    TURNS.with(|turns| {
        if !turns.is_served.get() {
            waker.wake_by_ref();
            return;
        }
        let mut readers = turns.readers.borrow_mut();
        // Another event may have had it polled before its turn; it keeps its place.
        if !readers.iter().any(|known| known.will_wake(waker)) {
            readers.push_back(waker.clone());
        }
    });
}

/// Whether this thread runs its tasks in rounds, as [`crate::Workers`] do.
#[inline]
pub fn has_rounds() -> bool {
    TURNS.with(|turns| turns.is_served.get())
}

/// Has `finish` called once, at the end of the round: after the tasks that are ready now, and before the thread looks at its sockets
/// or lets a coroutine compute. To be called on threads that [have rounds](has_rounds).
#[inline]
pub fn at_end_of_round(finish: fn()) {
    TURNS.with(|turns| turns.at_end.set(Some(finish)));
}

/// Calls what waits for the end of the round.
pub(crate) fn end_round() {
    if let Some(finish) = TURNS.with(|turns| turns.at_end.take()) {
        finish();
    }
}

/// Wakes a coroutine in its turn among those that compute, which is when its place [has come](Place::has_come).
pub(crate) fn join_computing(waker: &Waker) -> Place {
    TURNS.with(|turns| {
        if turns.is_served.get() {
            return turns.join_computing(waker);
        }
        waker.wake_by_ref();
        Place::default()
    })
}

impl Turns {
    const fn new() -> Turns {
        Turns {
            is_served: Cell::new(false),
            readers: RefCell::new(VecDeque::new()),
            queue: RefCell::new(VecDeque::new()),
            joined: Cell::new(0),
            served: Cell::new(0),
            at_end: Cell::new(None),
        }
    }

    fn join_computing(&self, waker: &Waker) -> Place {
        self.queue.borrow_mut().push_back(waker.clone());
        self.joined.set(self.joined.get() + 1);
        Place(self.joined.get())
    }

    fn is_waiting(&self) -> bool {
        !self.queue.borrow().is_empty() || !self.readers.borrow().is_empty()
    }

    /// Wakes those whose turn it is.
    fn serve(&self) {
        // Taken out first: waking may run code that joins.
        let readers = {
            let mut readers = self.readers.borrow_mut();
            let count = readers.len().min(READERS_PER_ROUND_MAX);
            readers.drain(..count).collect::<Vec<_>>()
        };
        readers.into_iter().for_each(Waker::wake);
        let first = self.queue.borrow_mut().pop_front();
        if let Some(first) = first {
            self.served.set(self.served.get() + 1);
            first.wake();
        }
    }
}

/// Polls `tasks`, all tasks of this thread, to their end, and serves the queues between two looks at timers and sockets.
pub(crate) async fn serve<F: Future>(mut tasks: Pin<&mut F>) -> F::Output {
    let _served = Served::begin();
    let mut rounds = Rounds::default();
    poll_fn(|cx| {
        crate::busy::begin_round();
        let polled = rounds.poll(cx, tasks.as_mut());
        end_round();
        crate::busy::end_round();
        if polled.is_pending() && TURNS.with(Turns::is_waiting) {
            // The runtime looks at timers and sockets, without waiting, before it polls again.
            cx.waker().wake_by_ref();
        }
        polled
    })
    .await
}

/// For as long as it lives, this thread serves the queues.
struct Served;

impl Served {
    fn begin() -> Served {
        TURNS.with(|turns| turns.is_served.set(true));
        Served
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        TURNS.with(|turns| turns.is_served.set(false));
    }
}

#[derive(Default)]
struct Rounds {
    /// The waker that `tasks` are polled with while a task waits for a turn.
    noting: Option<(Arc<Noting>, Waker)>,
    /// Rounds since the last slice.
    since_slice: u32,
}

impl Rounds {
    fn poll<F: Future>(&mut self, cx: &mut Context<'_>, mut tasks: Pin<&mut F>) -> Poll<F::Output> {
        if !TURNS.with(Turns::is_waiting) {
            return tasks.poll(cx);
        }
        let (noting, waker) = self.noting.get_or_insert_with(|| Noting::make(cx.waker()));
        noting.is_woken.store(false, Ordering::Relaxed);
        let mut noted = Context::from_waker(waker);
        if let Poll::Ready(output) = tasks.as_mut().poll(&mut noted) {
            return Poll::Ready(output);
        }
        self.since_slice += 1;
        // Woken by itself: more tasks were ready than are polled at once. They come first.
        if noting.is_woken.load(Ordering::Relaxed) && self.since_slice < ROUNDS_PER_SLICE_MAX {
            return Poll::Pending;
        }
        self.since_slice = 0;
        end_round();
        TURNS.with(Turns::serve);
        tasks.poll(&mut noted)
    }
}

/// A waker that notes that it was called and passes the call on.
struct Noting {
    is_woken: AtomicBool,
    inner: Waker,
}

impl Noting {
    fn make(inner: &Waker) -> (Arc<Noting>, Waker) {
        let noting = Arc::new(Noting { is_woken: AtomicBool::new(false), inner: inner.clone() });
        (noting.clone(), Waker::from(noting))
    }
}

impl Wake for Noting {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::Relaxed);
        self.inner.wake_by_ref();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixDatagram;
    use std::rc::Rc;

    use model::SystemClock;

    use super::*;
    use crate::{Workers, coroutine, yield_now};

    const STACK: usize = 64 * 1024;
    const HOGS: usize = 3;
    const SLICES: usize = 40;

    /// Runs `make` on a worker thread and returns what it left.
    fn on_worker<T: Send + 'static, F: Future<Output = T> + 'static>(
        make: impl FnOnce() -> F + Send + 'static,
    ) -> T {
        let workers = Workers::start(1).unwrap();
        let (sender, results) = std::sync::mpsc::channel();
        workers.spawn(0, move || async move { sender.send(make().await).unwrap() });
        let result = results.recv_timeout(Duration::from_secs(60)).unwrap();
        workers.join();
        result
    }

    #[test]
    fn sockets_are_served_between_two_slices_and_before_the_next() {
        // Every hog sends a datagram in each slice; the receiver must run before the next hog does.
        let log = on_worker(|| async {
            let (sender, receiver) = UnixDatagram::pair().unwrap();
            receiver.set_nonblocking(true).unwrap();
            let (sender, receiver) = (Rc::new(sender), tokio::net::UnixDatagram::from_std(receiver).unwrap());
            let log = Rc::new(RefCell::new(Vec::new()));
            let seen = log.clone();
            let reader = tokio::task::spawn_local(async move {
                for _ in 0..HOGS * SLICES {
                    let mut byte = [0];
                    receiver.recv(&mut byte).await.unwrap();
                    seen.borrow_mut().push(format!("heard {}", byte[0]));
                }
            });
            for hog in 0..HOGS {
                let (sender, log) = (sender.clone(), log.clone());
                tokio::task::spawn_local(coroutine(STACK, move || {
                    for _ in 0..SLICES {
                        sender.send(&[hog as u8]).unwrap();
                        log.borrow_mut().push(format!("sent {hog}"));
                        yield_now();
                    }
                }));
            }
            reader.await.unwrap();
            log.take()
        });
        // Until they first give the thread away, they do not count as computing.
        let expect = (HOGS..HOGS * SLICES).flat_map(|turn| {
            let hog = turn % HOGS;
            [format!("sent {hog}"), format!("heard {hog}")]
        });
        assert_eq!(log[2 * HOGS..], expect.collect::<Vec<_>>());
    }

    #[test]
    fn timers_end_between_two_slices() {
        let slices = on_worker(|| async {
            let slices = Rc::new(Cell::new(0));
            let is_over = Rc::new(Cell::new(false));
            for _ in 0..HOGS {
                let (slices, is_over) = (slices.clone(), is_over.clone());
                tokio::task::spawn_local(coroutine(STACK, move || {
                    while !is_over.get() {
                        slices.set(slices.get() + 1);
                        std::thread::sleep(Duration::from_millis(2));
                        yield_now();
                    }
                }));
            }
            tokio::task::yield_now().await;
            let mut most = 0;
            for _ in 0..20 {
                let at = SystemClock::now() + Duration::from_micros(100);
                let before = slices.get();
                crate::timer::sleep_until(at).await;
                most = most.max(slices.get() - before);
            }
            is_over.set(true);
            most
        });
        assert!(
            slices <= 2,
            "{slices} slices were over before a timer was served that was due within the first"
        );
    }

    #[test]
    fn a_thread_that_is_always_busy_does_not_forget_who_computes() {
        let turns = on_worker(|| async {
            let is_over = Rc::new(Cell::new(false));
            // More of them are ready at any time than are polled at once.
            for _ in 0..200 {
                let is_over = is_over.clone();
                tokio::task::spawn_local(poll_fn(move |cx| {
                    cx.waker().wake_by_ref();
                    if is_over.get() { Poll::Ready(()) } else { Poll::Pending }
                }));
            }
            let hog = coroutine(STACK, || {
                (0..50).for_each(|_| yield_now());
                crate::suspensions()
            });
            let turns = tokio::task::spawn_local(hog).await.unwrap().unwrap();
            is_over.set(true);
            turns
        });
        assert_eq!(turns, 50);
    }

    thread_local! {
        static LOG: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    }

    fn log(name: &'static str) {
        LOG.with_borrow_mut(|log| log.push(name));
    }

    #[test]
    fn a_round_ends_when_all_that_is_ready_has_run() {
        let log = on_worker(|| async {
            for name in ["a", "b", "c"] {
                tokio::task::spawn_local(async move {
                    log(name);
                    at_end_of_round(|| log("end"));
                });
            }
            let socket = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
            socket.send_to(b"x", socket.local_addr().unwrap()).await.unwrap();
            socket.recv(&mut [0]).await.unwrap();
            log("event");
            LOG.take()
        });
        assert_eq!(log, ["a", "b", "c", "end", "event"]);
    }

    #[test]
    fn a_round_ends_where_a_coroutine_has_computed_for_long() {
        let log = on_worker(|| async {
            let hog = coroutine(STACK, || {
                at_end_of_round(|| log("end"));
                log("slice");
                yield_now();
                log("slice");
            });
            tokio::task::spawn_local(hog).await.unwrap().unwrap();
            LOG.take()
        });
        assert_eq!(log, ["slice", "end", "slice"]);
    }

    #[test]
    fn only_workers_have_rounds() {
        assert!(!has_rounds());
        assert!(crate::run_here(async { has_rounds() }).unwrap());
        assert!(!has_rounds());
    }

    #[test]
    fn other_events_give_no_turn() {
        let order = on_worker(|| async {
            let order = Rc::new(RefCell::new(Vec::new()));
            let wakers = Rc::new(RefCell::new(Vec::<Waker>::new()));
            let hogs = ["a", "b"].map(|name| {
                let (order, wakers) = (order.clone(), wakers.clone());
                let hog = coroutine(STACK, move || {
                    crate::block_on(poll_fn(|cx| {
                        wakers.borrow_mut().push(cx.waker().clone());
                        Poll::Ready(())
                    }))
                    .unwrap();
                    for _ in 0..3 {
                        order.borrow_mut().push(name);
                        // All are woken all the time.
                        wakers.borrow().iter().for_each(Waker::wake_by_ref);
                        yield_now();
                    }
                });
                tokio::task::spawn_local(hog)
            });
            for hog in hogs {
                hog.await.unwrap().unwrap();
            }
            order.take()
        });
        assert_eq!(order, ["a", "b", "a", "b", "a", "b"]);
    }

    #[test]
    fn one_that_is_called_off_does_not_wait_for_its_turn() {
        let is_off = on_worker(|| async {
            let hog = coroutine(STACK, || {
                while !crate::is_interrupted() {
                    yield_now();
                }
            });
            let interrupter = hog.interrupter();
            let hog = tokio::task::spawn_local(hog);
            tokio::task::yield_now().await;
            interrupter.interrupt();
            hog.await.unwrap().is_ok()
        });
        assert!(is_off);
    }
}
