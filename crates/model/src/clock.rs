//! Time. Pure crates take an [`Instant`] as an argument; only [`SystemClock`] asks the operating system.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A point on the monotonic clock: nanoseconds since an origin before the process first asked for the time.
///
/// It says nothing about the wall clock; [`Epoch`] ties the two together for a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The clock's origin.
    pub const ZERO: Instant = Instant(0);
    /// Later than every instant that can occur.
    pub const MAX: Instant = Instant(u64::MAX);

    /// The instant `ns` nanoseconds after the origin.
    pub const fn from_ns(ns: u64) -> Instant {
        Instant(ns)
    }

    /// Nanoseconds since the origin.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Time passed since `earlier`; zero when `earlier` is later.
    pub const fn since(self, earlier: Instant) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// Milliseconds since `earlier` as k6 reports durations; zero when `earlier` is later.
    pub fn ms_since(self, earlier: Instant) -> f64 {
        self.0.saturating_sub(earlier.0) as f64 / 1e6
    }
}

impl std::ops::Add<Duration> for Instant {
    type Output = Instant;
    fn add(self, rhs: Duration) -> Instant {
        Instant(self.0.saturating_add(u64::try_from(rhs.as_nanos()).unwrap_or(u64::MAX)))
    }
}

/// A source of the current time: the machine, or a test.
pub trait Clock: Send + Sync {
    /// The monotonic time now.
    fn now(&self) -> Instant;
    /// The wall clock now, in nanoseconds since the Unix epoch. It may step; never measure with it.
    fn wall_unix_ns(&self) -> i64;
}

/// The machine's clock. All instances share one origin, which lies [`SystemClock::AGE`] before its first reading.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl SystemClock {
    /// The first reading of the clock: 52 days.
    ///
    /// A process can be younger than the test that it joins, and instants are not negative. As many days again are exact as
    /// floating-point numbers.
    pub const AGE: Duration = Duration::from_nanos(1 << 52);

    /// The monotonic time now.
    ///
    /// Asked a dozen times per request, so it takes the kernel's number as it is instead of going through a type that
    /// subtracts and normalizes.
    #[inline]
    pub fn now() -> Instant {
        static ORIGIN_NS: OnceLock<u64> = OnceLock::new();
        let now_ns = monotonic_ns();
        // The origin may lie before the machine's own, so it wraps.
        let origin_ns = *ORIGIN_NS.get_or_init(|| now_ns.wrapping_sub(SystemClock::AGE.as_nanos() as u64));
        Instant(now_ns.wrapping_sub(origin_ns))
    }
}

#[inline]
fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        SystemClock::now()
    }

    #[expect(clippy::disallowed_types, reason = "the one place that asks the system for the time")]
    fn wall_unix_ns(&self) -> i64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    }
}

/// A clock that tests move by hand; its wall clock runs along from a chosen start and can be stepped.
#[derive(Debug, Default)]
pub struct SimulatedClock {
    now_ns: AtomicU64,
    wall_offset_ns: AtomicU64,
}

impl SimulatedClock {
    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        self.now_ns.fetch_add(by.as_nanos() as u64, Ordering::SeqCst);
    }

    /// Sets what the wall clock says now; the monotonic clock does not notice.
    pub fn set_wall_unix_ns(&self, wall_unix_ns: u64) {
        let offset = wall_unix_ns.wrapping_sub(self.now_ns.load(Ordering::SeqCst));
        self.wall_offset_ns.store(offset, Ordering::SeqCst);
    }
}

impl Clock for SimulatedClock {
    fn now(&self) -> Instant {
        Instant(self.now_ns.load(Ordering::SeqCst))
    }

    fn wall_unix_ns(&self) -> i64 {
        self.now_ns.load(Ordering::SeqCst).wrapping_add(self.wall_offset_ns.load(Ordering::SeqCst)) as i64
    }
}

/// Where a run's monotonic clock meets the wall clock.
///
/// Anchored once, so that a step of the wall clock during the run can neither move nor reorder samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch {
    /// The monotonic instant of the anchor.
    pub at: Instant,
    /// The wall clock at the anchor, nanoseconds since the Unix epoch.
    pub wall_unix_ns: i64,
}

impl Epoch {
    /// Reads both clocks at once.
    pub fn anchor(clock: &dyn Clock) -> Epoch {
        Epoch { at: clock.now(), wall_unix_ns: clock.wall_unix_ns() }
    }

    /// The wall-clock time of `instant`, nanoseconds since the Unix epoch.
    pub fn wall_unix_ns(&self, instant: Instant) -> i64 {
        let delta = i128::from(instant.0) - i128::from(self.at.0);
        (i128::from(self.wall_unix_ns) + delta).clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process that has just begun can name instants before its start.
    #[test]
    fn a_young_process_has_a_past() {
        let now = SystemClock::now();
        assert!(now >= Instant::ZERO + SystemClock::AGE);
        assert!(now.since(Instant::ZERO + SystemClock::AGE) < Duration::from_secs(600), "{now:?}");
    }

    /// A wall clock that is set while a run is under way, to an hour ago or to a year ahead.
    #[test]
    fn a_step_of_the_wall_clock_moves_no_sample() {
        const START_NS: i64 = 1_700_000_000_000_000_000;
        let check = |stepped_to_ns: i64| {
            let clock = SimulatedClock::default();
            clock.set_wall_unix_ns(START_NS as u64);
            let epoch = Epoch::anchor(&clock);
            clock.advance(Duration::from_secs(1));
            let before = clock.now();
            clock.set_wall_unix_ns(stepped_to_ns as u64);
            assert_eq!(clock.wall_unix_ns(), stepped_to_ns, "the clock was set");
            clock.advance(Duration::from_secs(1));
            assert_eq!(clock.now().since(before), Duration::from_secs(1));
            assert_eq!(epoch.wall_unix_ns(before), START_NS + 1_000_000_000);
            assert_eq!(epoch.wall_unix_ns(clock.now()), START_NS + 2_000_000_000);
        };
        check(START_NS - 3_600_000_000_000);
        check(START_NS + 31_536_000_000_000_000);
    }
}
