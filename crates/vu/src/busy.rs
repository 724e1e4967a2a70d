//! When the thread was last away from its sockets for so long that what came meanwhile has a wrong time.
//!
//! A thread polls its tasks and then looks at its sockets, in rounds. What arrives during a round is seen at the end of it. As
//! long as rounds are short that is no matter; after a long one a reader of a socket should ask the kernel for the time of
//! arrival, which costs more than an ordinary read.

use std::cell::Cell;
use std::time::Duration;

use model::{Instant, SystemClock};

/// A round that lasts for longer is a long one: the times of what arrived in it would be wrong by more than this. Rounds of a thread
/// with many ordinary VUs are shorter, so that these pay nothing.
const ROUND_SHORT_MAX: Duration = Duration::from_micros(400);

thread_local! {
    /// When the present round began; zero until it was noted.
    static BEGAN: Cell<Instant> = const { Cell::new(Instant::ZERO) };
    /// The end of the last long round.
    static BUSY_UNTIL: Cell<Instant> = const { Cell::new(Instant::ZERO) };
}

/// Notes that the thread's event queue has woken something at `now`. Who wakes on its behalf and has read the clock saves the
/// thread a look at it.
#[inline]
pub fn note_wake(now: Instant) {
    if BEGAN.get() == Instant::ZERO {
        BEGAN.set(now);
    }
}

/// The end of the thread's last long round; zero when it had none.
#[inline]
pub fn busy_until() -> Instant {
    BUSY_UNTIL.get()
}

/// When the thread's present round began; zero outside of one.
#[inline]
pub fn round_began() -> Instant {
    BEGAN.get()
}

/// A round begins.
pub(crate) fn begin_round() {
    if BEGAN.get() == Instant::ZERO {
        BEGAN.set(SystemClock::now());
    }
}

/// A round ends.
pub(crate) fn end_round() {
    let now = SystemClock::now();
    if now.since(BEGAN.replace(Instant::ZERO)) > ROUND_SHORT_MAX {
        BUSY_UNTIL.set(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_rounds_are_noted() {
        let round = |lasts: Duration| {
            note_wake(SystemClock::now());
            begin_round();
            std::thread::sleep(lasts);
            end_round();
        };
        assert_eq!(busy_until(), Instant::ZERO);
        let before = SystemClock::now();
        round(Duration::from_millis(2));
        let first = busy_until();
        assert!(first > before);
        round(Duration::ZERO);
        // A machine that is busy may make any round a long one, but it makes none long that was not.
        assert!(busy_until() == first || busy_until().since(first) > ROUND_SHORT_MAX);
    }
}
