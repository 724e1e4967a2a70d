//! The planted bottleneck: a pool of slots, each held for a fixed time, with a bounded queue in front.
//!
//! Since every hold takes the same time and the queue is first come, first served, a job's start and finish are
//! known when it arrives: the earliest free slot takes it. So the pool is a calculation, not a set of locks, and
//! its capacity is exactly slots / hold however late the machine wakes anybody.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use model::Instant;

/// Slots, their hold, and how many jobs may wait for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolConfig {
    /// Jobs held at a time.
    pub slots: usize,
    /// How long a job holds its slot.
    pub hold: Duration,
    /// Jobs that may wait; one more is refused.
    pub queue_limit: usize,
}

impl PoolConfig {
    /// Jobs per second that the pool completes at most.
    pub fn capacity_per_second(&self) -> f64 {
        self.slots as f64 / self.hold.as_secs_f64()
    }
}

/// When a job has its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// The slot is taken.
    pub start: Instant,
    /// The slot is given back, and the job is done.
    pub finish: Instant,
}

/// Counters and state of the pool at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolState {
    /// Jobs that hold a slot.
    pub in_use: usize,
    /// Jobs that wait for one.
    pub waiting: usize,
    /// Jobs that are done.
    pub completed: u64,
    /// Jobs that found the queue full.
    pub refused: u64,
    /// Nanoseconds that the started jobs waited, together.
    pub waited_ns: u64,
}

/// The pool. Times must not go backwards from call to call.
#[derive(Debug)]
pub struct Pool {
    config: PoolConfig,
    /// When each slot is free.
    free: BinaryHeap<Reverse<Instant>>,
    /// Arrivals and reservations that are not done, by start and thus by finish.
    pending: VecDeque<(Instant, Reservation)>,
    /// How many of `pending`, from the front, have started.
    started: usize,
    completed: u64,
    refused: u64,
    waited_ns: u64,
}

impl Pool {
    /// An idle pool. A pool without slots has one.
    pub fn new(config: PoolConfig) -> Pool {
        let config = PoolConfig { slots: config.slots.max(1), ..config };
        Pool {
            config,
            free: (0..config.slots).map(|_| Reverse(Instant::ZERO)).collect(),
            pending: VecDeque::new(),
            started: 0,
            completed: 0,
            refused: 0,
            waited_ns: 0,
        }
    }

    /// Takes the slot that is free first for a job that arrives now; nothing when the queue is full.
    pub fn reserve(&mut self, now: Instant) -> Option<Reservation> {
        self.advance(now);
        let Reverse(free) = *self.free.peek()?;
        let start = free.max(now);
        if start > now && self.pending.len() - self.started >= self.config.queue_limit {
            self.refused += 1;
            return None;
        }
        let reservation = Reservation { start, finish: start + self.config.hold };
        self.free.pop();
        self.free.push(Reverse(reservation.finish));
        self.pending.push_back((now, reservation));
        self.advance(now);
        Some(reservation)
    }

    /// The pool's state now.
    pub fn state(&mut self, now: Instant) -> PoolState {
        self.advance(now);
        PoolState {
            in_use: self.started,
            waiting: self.pending.len() - self.started,
            completed: self.completed,
            refused: self.refused,
            waited_ns: self.waited_ns,
        }
    }

    fn advance(&mut self, now: Instant) {
        while let Some((arrived, reservation)) = self.pending.get(self.started)
            && reservation.start <= now
        {
            self.waited_ns += reservation.start.since(*arrived).as_nanos() as u64;
            self.started += 1;
        }
        while let Some((_, reservation)) = self.pending.front()
            && reservation.finish <= now
        {
            self.pending.pop_front();
            self.started -= 1;
            self.completed += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: PoolConfig = PoolConfig { slots: 2, hold: Duration::from_millis(10), queue_limit: 3 };

    fn ms(ms: u64) -> Instant {
        Instant::from_ns(ms * 1_000_000)
    }

    /// Jobs that arrive at these milliseconds finish at those; `None` was refused.
    #[track_caller]
    fn check(arrivals: &[u64], finishes: &[Option<u64>]) {
        let mut pool = Pool::new(CONFIG);
        let got: Vec<_> = arrivals.iter().map(|&at| pool.reserve(ms(at)).map(|slot| slot.finish)).collect();
        let expect: Vec<_> = finishes.iter().map(|finish| finish.map(ms)).collect();
        assert_eq!(got, expect);
    }

    #[test]
    fn jobs_are_served_first_come_first_served() {
        check(&[0, 1, 2, 3], &[Some(10), Some(11), Some(20), Some(21)]);
        check(&[0, 0, 50, 51, 52], &[Some(10), Some(10), Some(60), Some(61), Some(70)]);
    }

    #[test]
    fn the_queue_has_a_limit() {
        check(
            &[0, 0, 0, 0, 0, 0, 9, 10, 10],
            &[Some(10), Some(10), Some(20), Some(20), Some(30), None, None, Some(30), Some(40)],
        );
    }

    #[test]
    fn overloaded_throughput_is_the_capacity_exactly() {
        let mut pool = Pool::new(CONFIG);
        for at_ms in 0..10_000 {
            let _ = pool.reserve(ms(at_ms));
        }
        let state = pool.state(ms(10_000));
        assert_eq!(CONFIG.capacity_per_second(), 200.0);
        // Two slots started at 0 and at 1 ms and never idled.
        assert_eq!(state.completed, 1999);
        // At this very instant a slot was given back and taken by a waiting job.
        assert_eq!((state.in_use, state.waiting), (2, 2));
        assert_eq!(state.completed + state.refused + 4, 10_000);
    }

    #[test]
    fn waits_add_up() {
        let mut pool = Pool::new(CONFIG);
        for _ in 0..4 {
            pool.reserve(ms(5));
        }
        assert_eq!(pool.state(ms(5)).waited_ns, 0);
        assert_eq!(pool.state(ms(15)).waited_ns, 20_000_000);
        assert_eq!(
            pool.state(ms(15)),
            PoolState { in_use: 2, waiting: 0, completed: 2, refused: 0, waited_ns: 20_000_000 }
        );
    }
}
