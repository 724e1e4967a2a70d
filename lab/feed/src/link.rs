//! The way out: a network of so many bytes per second, when it is limited.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use tokio::time::Instant;

use crate::metrics;
use crate::state::Feed;

/// Bytes sent per second while it is limited.
const BYTES_PER_SECOND: u32 = 1_000_000;

/// Bytes sent at once.
const CHUNK_BYTES: usize = 4096;

/// The way out of the backend.
#[derive(Debug)]
pub(crate) struct Link {
    is_limited: AtomicBool,
    free_at: Mutex<Instant>,
}

impl Link {
    pub(crate) fn new() -> Link {
        Link { is_limited: AtomicBool::new(false), free_at: Mutex::new(Instant::now()) }
    }

    pub(crate) fn set_limited(&self, is_limited: bool) {
        self.is_limited.store(is_limited, Ordering::Relaxed);
    }

    /// Waits until so many bytes have gone out, behind those before; how long that was.
    async fn pass(&self, length: usize) -> Duration {
        if !self.is_limited.load(Ordering::Relaxed) {
            return Duration::ZERO;
        }
        let now = Instant::now();
        let takes = Duration::from_secs(1) * u32::try_from(length).unwrap_or(u32::MAX) / BYTES_PER_SECOND;
        let gone_at = {
            let mut free_at = self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
            *free_at = now.max(*free_at) + takes;
            *free_at
        };
        tokio::time::sleep_until(gone_at).await;
        gone_at.saturating_duration_since(now)
    }
}

/// A body that goes out over the link of the backend, piece by piece.
pub(crate) fn body(feed: Arc<Feed>, bytes: Bytes) -> Body {
    if !feed.link.is_limited.load(Ordering::Relaxed) {
        return Body::from(bytes);
    }
    Body::from_stream(futures_util::stream::unfold((feed, bytes), |(feed, mut rest)| async move {
        if rest.is_empty() {
            return None;
        }
        let chunk = rest.split_to(rest.len().min(CHUNK_BYTES));
        let waited = feed.link.pass(chunk.len()).await;
        feed.metrics.add(metrics::LINK_WAIT_SECONDS, "", waited.as_secs_f64());
        Some((Ok::<Bytes, Infallible>(chunk), (feed, rest)))
    }))
}
