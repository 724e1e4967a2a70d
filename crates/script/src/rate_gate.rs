//! The option `rps`: a limit on the requests of all VUs together.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use model::Instant;

/// Gives each request a slot, evenly spaced. Shared by all threads.
#[derive(Debug)]
pub struct RateGate {
    spacing_ns: u64,
    /// The next free slot, nanoseconds on the monotonic clock.
    next_ns: AtomicU64,
}

impl RateGate {
    /// A gate that lets `per_second` requests through each second; zero counts as one.
    pub fn new(per_second: u32) -> RateGate {
        RateGate { spacing_ns: 1_000_000_000 / u64::from(per_second.max(1)), next_ns: AtomicU64::new(0) }
    }

    /// Takes a slot and returns the wait for it. Unused slots expire: a pause is no credit.
    pub(crate) fn wait(&self, now: Instant) -> Duration {
        let now_ns = now.as_ns();
        let after = |next_ns: u64| Some(next_ns.max(now_ns) + self.spacing_ns);
        let taken = self.next_ns.fetch_update(Ordering::AcqRel, Ordering::Acquire, after);
        let slot_ns = taken.unwrap_or_else(|next_ns| next_ns).max(now_ns);
        Duration::from_nanos(slot_ns - now_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_evenly_spaced_and_a_pause_is_no_credit() {
        let gate = RateGate::new(10);
        let at = |ms: u64| gate.wait(Instant::from_ns(ms * 1_000_000)).as_millis();
        assert_eq!([at(1000), at(1000), at(1000), at(1250)], [0, 100, 200, 50]);
        assert_eq!([at(5000), at(5000)], [0, 100]);
    }
}
