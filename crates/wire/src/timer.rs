//! Deadlines without a timer per exchange.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use model::{Instant, SystemClock};
use tokio::time::Sleep;

/// A timer is never set further ahead, because the runtime's clock cannot count to the end of ours.
const AHEAD_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// A timer that is set anew only when it must be: a deadline later than the one it is set to waits for that one to
/// pass. Requests with the same timeout, one after the other, touch the runtime's timers once per timeout.
#[derive(Default)]
pub(crate) struct Timer {
    set: Option<Set>,
}

struct Set {
    sleep: Pin<Box<Sleep>>,
    until: Instant,
    /// Whom the sleep wakes.
    waker: Option<Waker>,
}

impl Timer {
    /// The result of `work`, or `None` when the deadline comes first.
    ///
    /// The work is pinned where it was made, because it is large and would be moved otherwise.
    pub(crate) fn limit<F: Future>(
        &mut self,
        deadline: Instant,
        mut work: Pin<&mut F>,
    ) -> impl Future<Output = Option<F::Output>> {
        poll_fn(move |cx| match work.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if self.poll_passed(cx, deadline) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        })
    }

    fn poll_passed(&mut self, cx: &mut Context<'_>, deadline: Instant) -> bool {
        let set = self.set.get_or_insert_with(|| Set::new(deadline));
        if set.until > deadline {
            set.move_to(deadline);
        }
        while set.is_over(cx) {
            if SystemClock::now() >= deadline {
                return true;
            }
            set.move_to(deadline);
        }
        false
    }
}

impl Set {
    fn new(deadline: Instant) -> Set {
        let (ahead, until) = ahead(deadline);
        Set { sleep: Box::pin(tokio::time::sleep(ahead)), until, waker: None }
    }

    /// Whether the sleep is over; if not, it wakes the task. It is asked to only once: one VU has one task, and the sleep
    /// outlives many exchanges.
    fn is_over(&mut self, cx: &mut Context<'_>) -> bool {
        if self.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            return self.sleep.is_elapsed();
        }
        let is_over = self.sleep.as_mut().poll(cx).is_ready();
        self.waker = (!is_over).then(|| cx.waker().clone());
        is_over
    }

    fn move_to(&mut self, deadline: Instant) {
        let (ahead, until) = ahead(deadline);
        self.sleep.as_mut().reset(tokio::time::Instant::now() + ahead);
        self.until = until;
        // Setting it again loses no waker, but only a poll registers one.
        self.waker = None;
    }
}

fn ahead(deadline: Instant) -> (Duration, Instant) {
    let now = SystemClock::now();
    let ahead = deadline.since(now).min(AHEAD_MAX);
    (ahead, now + ahead)
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use super::*;

    async fn limited(timer: &mut Timer, limit_ms: u64, work_ms: u64) -> (bool, u128) {
        let started = SystemClock::now();
        let work = tokio::time::sleep(Duration::from_millis(work_ms));
        let limit = started + Duration::from_millis(limit_ms);
        let is_done = timer.limit(limit, pin!(work)).await.is_some();
        (is_done, SystemClock::now().since(started).as_millis())
    }

    #[tokio::test]
    async fn one_timer_serves_all_deadlines() {
        let mut timer = Timer::default();
        let check = |(is_done, took_ms): (bool, u128), expect, about_ms: u128| {
            assert_eq!(is_done, expect);
            assert!((about_ms..about_ms + 1000).contains(&took_ms), "{took_ms} ms instead of {about_ms}");
        };
        check(limited(&mut timer, 10_000, 1).await, true, 1);
        check(limited(&mut timer, 20, 10_000).await, false, 20);
        check(limited(&mut timer, 40, 1).await, true, 1);
        // The timer is still set to the deadline before, which passes without ending this one.
        check(limited(&mut timer, 150, 10_000).await, false, 150);
        check(limited(&mut timer, 0, 10_000).await, false, 0);
    }

    #[tokio::test]
    async fn no_deadline_is_too_far() {
        let work = pin!(tokio::task::yield_now());
        assert_eq!(Timer::default().limit(Instant::MAX, work).await, Some(()));
    }
}
