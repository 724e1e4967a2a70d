//! A service downstream that takes so many calls per second and refuses the rest.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Calls per second while it is limited, and how many may come at once.
pub(crate) const RATE: f64 = 100.0;
const BURST: f64 = 10.0;

/// How long a refused call waits before the first further try; each time twice as long, up to the most.
const BACKOFF: Duration = Duration::from_millis(50);
const BACKOFF_MAX: Duration = Duration::from_millis(800);

/// Tries of one call.
pub(crate) const TRIES_MAX: u32 = 20;

/// A bucket of tokens.
#[derive(Debug)]
pub(crate) struct Limiter {
    is_on: AtomicBool,
    bucket: Mutex<Bucket>,
}

#[derive(Debug)]
struct Bucket {
    tokens: f64,
    filled_at: Instant,
}

impl Limiter {
    pub(crate) fn new() -> Limiter {
        let bucket = Mutex::new(Bucket { tokens: BURST, filled_at: Instant::now() });
        Limiter { is_on: AtomicBool::new(false), bucket }
    }

    pub(crate) fn set(&self, is_on: bool) {
        self.is_on.store(is_on, Ordering::Relaxed);
    }

    /// Whether it takes a call now.
    pub(crate) fn takes(&self, now: Instant) -> bool {
        if !self.is_on.load(Ordering::Relaxed) {
            return true;
        }
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let passed_s = now.saturating_duration_since(bucket.filled_at).as_secs_f64();
        bucket.tokens = (bucket.tokens + passed_s * RATE).min(BURST);
        bucket.filled_at = now;
        if bucket.tokens < 1.0 {
            return false;
        }
        bucket.tokens -= 1.0;
        true
    }
}

/// How long to wait after so many refusals.
pub(crate) fn backoff(refusals: u32) -> Duration {
    (BACKOFF * 2_u32.saturating_pow(refusals.saturating_sub(1).min(10))).min(BACKOFF_MAX)
}
