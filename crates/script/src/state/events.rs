//! Pending work of one VU: tasks, timers, rejected promises.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use futures_util::stream::FuturesUnordered;
use model::{Instant, SystemClock};
use rquickjs::{Ctx, Function, Persistent, Value};

/// The JavaScript side of a task's completion.
pub(crate) type Completion = Box<dyn for<'js> FnOnce(&Ctx<'js>) -> rquickjs::Result<()>>;

/// Timers pending at once in one VU. A script that starts more leaks them.
const TIMERS_MAX: usize = 100_000;

/// Pending work of one VU.
#[derive(Default)]
pub(crate) struct EventLoop {
    pub(crate) tasks: RefCell<FuturesUnordered<LocalBoxFuture<'static, Completion>>>,
    timers: RefCell<Timers>,
    pub(crate) rejections: RefCell<Vec<Rejection>>,
    /// Set whenever something was added, so that an iteration without any of it pays one look.
    is_used: Cell<bool>,
}

/// A promise that was rejected without a handler.
pub(crate) struct Rejection {
    promise: Persistent<Value<'static>>,
    reason: Persistent<Value<'static>>,
}

#[derive(Default)]
struct Timers {
    heap: BinaryHeap<Reverse<(Instant, u64)>>,
    /// Callbacks by id; a cleared timer is gone from here and still in the heap.
    callbacks: std::collections::HashMap<u64, Timer>,
    next_id: u64,
}

struct Timer {
    call: TimerCall,
    interval: Option<std::time::Duration>,
}

/// The call that a timer makes when it is due.
#[derive(Clone)]
pub(crate) struct TimerCall {
    /// The script's function.
    pub(crate) callback: Persistent<Function<'static>>,
    /// Its arguments.
    pub(crate) arguments: Vec<Persistent<Value<'static>>>,
    /// The group in which the timer was started, where groups are followed.
    pub(crate) group: Option<Arc<str>>,
}

impl EventLoop {
    /// Adds a task; its completion runs on the loop.
    pub(crate) fn spawn(&self, task: LocalBoxFuture<'static, Completion>) {
        self.is_used.set(true);
        self.tasks.borrow().push(task);
    }

    /// Starts a timer and returns its id; `None` when there are too many.
    pub(crate) fn start_timer(
        &self,
        call: TimerCall,
        delay: std::time::Duration,
        repeats: bool,
    ) -> Option<u64> {
        self.is_used.set(true);
        let mut timers = self.timers.borrow_mut();
        if timers.callbacks.len() >= TIMERS_MAX {
            return None;
        }
        timers.next_id += 1;
        let id = timers.next_id;
        timers.heap.push(Reverse((SystemClock::now() + delay, id)));
        timers.callbacks.insert(id, Timer { call, interval: repeats.then_some(delay) });
        Some(id)
    }

    /// Stops a timer; unknown ids are ignored, as in browsers.
    pub(crate) fn clear_timer(&self, id: u64) {
        self.timers.borrow_mut().callbacks.remove(&id);
    }

    /// Notes that a promise was rejected without a handler, or got one late.
    pub(crate) fn track_rejection<'js>(
        &self,
        ctx: &Ctx<'js>,
        promise: Value<'js>,
        reason: Value<'js>,
        handled: bool,
    ) {
        let mut rejections = self.rejections.borrow_mut();
        if handled {
            rejections.retain(|rejection| {
                rejection.promise.clone().restore(ctx).is_ok_and(|known| known != promise)
            });
            return;
        }
        self.is_used.set(true);
        rejections.push(Rejection {
            promise: Persistent::save(ctx, promise),
            reason: Persistent::save(ctx, reason),
        });
    }

    /// Forgets all pending work.
    pub(crate) fn clear(&self) {
        if !self.is_used.replace(false) {
            return;
        }
        self.tasks.borrow_mut().clear();
        let mut timers = self.timers.borrow_mut();
        timers.heap.clear();
        timers.callbacks.clear();
        self.rejections.borrow_mut().clear();
    }

    /// The reason of the first unhandled rejection.
    pub(crate) fn take_rejection<'js>(&self, ctx: &Ctx<'js>) -> Option<Value<'js>> {
        if !self.is_used.get() {
            return None;
        }
        let first = std::mem::take(&mut *self.rejections.borrow_mut()).into_iter().next()?;
        first.reason.restore(ctx).ok()
    }

    /// Whether no task and no timer is pending.
    pub(crate) fn is_idle(&self) -> bool {
        !self.is_used.get() || (self.tasks.borrow().is_empty() && self.timers.borrow().callbacks.is_empty())
    }

    /// The next timer's time, cleared ones skipped.
    pub(crate) fn next_timer(&self) -> Option<Instant> {
        let mut timers = self.timers.borrow_mut();
        while let Some(Reverse((at, id))) = timers.heap.peek().copied() {
            if timers.callbacks.contains_key(&id) {
                return Some(at);
            }
            timers.heap.pop();
        }
        None
    }

    /// Takes the first timer that is due; an interval is started again.
    pub(crate) fn take_timer(&self, now: Instant) -> Option<TimerCall> {
        if self.next_timer()? > now {
            return None;
        }
        let mut timers = self.timers.borrow_mut();
        let Reverse((_, id)) = timers.heap.pop()?;
        let timer = timers.callbacks.remove(&id)?;
        let taken = timer.call.clone();
        if let Some(interval) = timer.interval {
            timers.heap.push(Reverse((now + interval, id)));
            timers.callbacks.insert(id, timer);
        }
        Some(taken)
    }
}
