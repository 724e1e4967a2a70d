//! The counters of likes: each is changed by one request at a time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::data;

/// How long one like holds the counter.
const HELD: Duration = Duration::from_millis(20);

/// One counter for each post.
#[derive(Debug)]
pub(crate) struct Keys {
    counters: Vec<Mutex<u64>>,
    is_hot: AtomicBool,
}

impl Keys {
    pub(crate) fn new() -> Keys {
        let counters = (0..data::POSTS).map(|_| Mutex::new(0)).collect();
        Keys { counters, is_hot: AtomicBool::new(false) }
    }

    /// From now on all posts share one counter.
    pub(crate) fn set_hot(&self, is_hot: bool) {
        self.is_hot.store(is_hot, Ordering::Relaxed);
    }

    /// Counts a like of a post: how many there are, and how long it waited for its turn.
    pub(crate) async fn like(&self, post: usize) -> (u64, Duration) {
        let key = if self.is_hot.load(Ordering::Relaxed) { 0 } else { post % self.counters.len() };
        let came = Instant::now();
        let mut count = self.counters[key].lock().await;
        let waited = came.elapsed();
        tokio::time::sleep(HELD).await;
        *count += 1;
        (*count, waited)
    }
}
