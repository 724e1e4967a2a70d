//! The state of the service, and the parts of it that can be switched.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use labkit::{Log, Metrics, Tracer};
use model::{Instant, SystemClock};

use crate::cache::Cache;
use crate::database::Pool;

/// The round trip to a database in another zone.
const ROUND_TRIP: Duration = Duration::from_millis(1);

/// Which of the three ways the lists are made, and where the database is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    TwoQueries,
    Projection,
    Matview,
    /// The same with the database in another zone.
    MatviewRemote,
}

impl Variant {
    /// All, in the order of the system's own list.
    pub(crate) const ALL: [Variant; 4] =
        [Variant::TwoQueries, Variant::Projection, Variant::Matview, Variant::MatviewRemote];

    /// The variant of a name.
    pub(crate) fn from_name(name: &str) -> Option<Variant> {
        let index = crate::SYSTEM.variants.iter().position(|variant| variant.name == name)?;
        Variant::ALL.get(index).copied()
    }

    /// Whether ratings and downloads come from views.
    pub(crate) fn has_views(self) -> bool {
        matches!(self, Variant::Matview | Variant::MatviewRemote)
    }

    /// The round trip to the database beyond this machine's own.
    pub(crate) fn round_trip(self) -> Duration {
        if self == Variant::MatviewRemote { ROUND_TRIP } else { Duration::ZERO }
    }
}

/// All that requests share.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) variant: Variant,
    pub(crate) pool: Pool,
    pub(crate) cache: Cache,
    pub(crate) switches: Switches,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) tracer: Tracer,
    pub(crate) log: Log,
}

/// Faults that requests look at on their way.
#[derive(Debug, Default)]
pub(crate) struct Switches {
    /// Each app of a list asks for its category.
    pub(crate) n_plus_one: AtomicBool,
    /// Answers carry fifty times what is shown.
    pub(crate) chatty: AtomicBool,
    /// The service may use a fifth of a core.
    pub(crate) cpu_limit: AtomicBool,
    period: Mutex<Period>,
    periods: AtomicU64,
    periods_throttled: AtomicU64,
}

/// CPU time per period while the service is limited, and the length of the period (as CPU quotas of Linux, in their default
/// period).
const QUOTA: Duration = Duration::from_millis(20);
const QUOTA_PERIOD: Duration = Duration::from_millis(100);

impl Switches {
    /// Holds the service's thread until its next period where it has used up its share of this one; how long that was.
    ///
    /// The whole thread stands still, as a throttled one does.
    pub(crate) fn throttle(&self) -> Duration {
        if !self.cpu_limit.load(Ordering::Relaxed) {
            return Duration::ZERO;
        }
        let (now, used) = (SystemClock::now(), Switches::cpu_used());
        let mut period = self.period.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = now.since(period.began);
        if passed >= QUOTA_PERIOD {
            *period = Period { began: now, cpu_before: used };
            self.periods.fetch_add(1, Ordering::Relaxed);
            return Duration::ZERO;
        }
        if used.saturating_sub(period.cpu_before) < QUOTA {
            return Duration::ZERO;
        }
        let left = QUOTA_PERIOD.saturating_sub(passed);
        std::thread::sleep(left);
        // Time used beyond its share counts in the next period.
        *period = Period { began: SystemClock::now(), cpu_before: used.min(period.cpu_before + QUOTA) };
        self.periods.fetch_add(1, Ordering::Relaxed);
        self.periods_throttled.fetch_add(1, Ordering::Relaxed);
        left
    }

    /// The share of its core that it may use, as the kernel would count it.
    pub(crate) fn quota(&self) -> Quota {
        let is_limited = self.cpu_limit.load(Ordering::Relaxed);
        Quota {
            // It has one thread, which is on one core.
            quota: if is_limited { QUOTA } else { QUOTA_PERIOD },
            period: QUOTA_PERIOD,
            periods: self.periods.load(Ordering::Relaxed),
            periods_throttled: self.periods_throttled.load(Ordering::Relaxed),
        }
    }

    /// CPU time of this thread so far.
    pub(crate) fn cpu_used() -> Duration {
        let used = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        let (seconds, ns) = (u64::try_from(used.tv_sec), u32::try_from(used.tv_nsec));
        Duration::new(seconds.unwrap_or_default(), ns.unwrap_or_default())
    }
}

/// A limit of CPU, and the periods so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quota {
    pub(crate) quota: Duration,
    pub(crate) period: Duration,
    pub(crate) periods: u64,
    pub(crate) periods_throttled: u64,
}

/// A period of the limit.
#[derive(Clone, Copy, Debug, Default)]
struct Period {
    began: Instant,
    cpu_before: Duration,
}
