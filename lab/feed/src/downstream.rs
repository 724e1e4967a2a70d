//! The service that notifies people of likes, and its name server. Both take a fixed time; the worker
//! waits for them, as one that calls without threads does.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long a call takes, and how long where the service is slow.
const CALL: Duration = Duration::from_micros(800);
const SLOW_CALL: Duration = Duration::from_millis(25);

/// How long it takes to find the service, and how long where the name server is slow.
const LOOKUP: Duration = Duration::from_millis(1);
const SLOW_LOOKUP: Duration = Duration::from_millis(40);

/// How long what was found is believed; while the name server is slow, it says not to.
const LOOKUP_KEPT: Duration = Duration::from_secs(30);

/// The service that is called after a like.
#[derive(Debug, Default)]
pub(crate) struct Downstream {
    pub(crate) is_slow: AtomicBool,
    pub(crate) is_lookup_slow: AtomicBool,
    found_at: Mutex<Option<Instant>>,
}

/// How long the parts of a call take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Takes {
    pub(crate) lookup: Duration,
    pub(crate) call: Duration,
}

impl Downstream {
    /// The duration of a call at this time.
    pub(crate) fn call(&self, now: Instant) -> Takes {
        let call = if self.is_slow.load(Ordering::Relaxed) { SLOW_CALL } else { CALL };
        if self.is_lookup_slow.load(Ordering::Relaxed) {
            return Takes { lookup: SLOW_LOOKUP, call };
        }
        let mut found_at = self.found_at.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = found_at.is_some_and(|found_at| now.duration_since(found_at) < LOOKUP_KEPT);
        if is_known {
            return Takes { lookup: Duration::ZERO, call };
        }
        *found_at = Some(now);
        Takes { lookup: LOOKUP, call }
    }
}
