//! Slots of computable capacity: each is taken for a time that passes, not for cycles that are burnt.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// So many things at a time, in the order in which they came.
#[derive(Debug)]
pub(crate) struct Slots {
    free_at: Mutex<Vec<Instant>>,
}

impl Slots {
    pub(crate) fn new(count: usize) -> Slots {
        Slots { free_at: Mutex::new(vec![Instant::now(); count.max(1)]) }
    }

    /// Takes the slot that is free first; when it is done. What a timer is late is made up for by the next.
    pub(crate) fn reserve(&self, now: Instant, takes: Duration) -> Instant {
        let mut free_at = self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
        match free_at.iter_mut().min() {
            Some(first) => {
                *first = now.max(*first) + takes;
                *first
            }
            None => now + takes,
        }
    }
}
