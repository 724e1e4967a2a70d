//! Memory of request bodies: bounded in total, and held only by bytes that came.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use model::{Instant, SystemClock};

/// Bytes of bodies that are held at the same time. Eight of the largest fit.
const BODIES_BYTES_MAX: usize = 256 << 20;

/// The bodies that are read at present.
#[derive(Default)]
pub(crate) struct Bodies(Mutex<Pool>);

#[derive(Default)]
struct Pool {
    bytes: usize,
    next: u64,
    held: HashMap<u64, HeldBody>,
}

/// A body that is read.
struct HeldBody {
    bytes: usize,
    began: Instant,
    /// Whether the body gave its memory back before it was complete.
    gave_way: bool,
    waker: Option<Waker>,
}

impl Bodies {
    /// Registers a request.
    pub(crate) fn hold(self: &Arc<Bodies>) -> Hold {
        let mut pool = self.pool();
        let number = pool.next;
        pool.next += 1;
        let began = SystemClock::now();
        pool.held.insert(number, HeldBody { bytes: 0, began, gave_way: false, waker: None });
        drop(pool);
        Hold(Arc::new(Share { bodies: self.clone(), number }))
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pool {
    /// Adds bytes to a body. If there are too many in total, the oldest other bodies give way.
    fn add(&mut self, number: u64, bytes: usize) {
        let Some(held) = self.held.get_mut(&number) else { return };
        held.bytes += bytes;
        self.bytes += bytes;
        while self.bytes > BODIES_BYTES_MAX {
            let others = self.held.iter().filter(|(other, held)| **other != number && held.bytes > 0);
            let Some((oldest, _)) = others.min_by_key(|(other, held)| (held.began, **other)) else { return };
            let oldest = *oldest;
            self.give_way(oldest);
        }
    }

    fn give_way(&mut self, number: u64) {
        let Some(held) = self.held.get_mut(&number) else { return };
        self.bytes -= held.bytes;
        held.bytes = 0;
        held.gave_way = true;
        if let Some(waker) = held.waker.take() {
            waker.wake();
        }
    }
}

/// The registration of a request, until it is answered.
pub(crate) struct Hold(Arc<Share>);

struct Share {
    bodies: Arc<Bodies>,
    number: u64,
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut pool = self.bodies.pool();
        if let Some(held) = pool.held.remove(&self.number) {
            pool.bytes -= held.bytes;
        }
    }
}

impl Hold {
    /// Returns a body whose bytes are counted.
    pub(crate) fn body(&self, body: axum::body::Body) -> Counted {
        Counted { body, share: self.0.clone() }
    }

    /// Waits until the body gave way to newer ones.
    pub(crate) async fn gave_way(&self) {
        poll_fn(|context| {
            let mut pool = self.0.bodies.pool();
            let Some(held) = pool.held.get_mut(&self.0.number) else { return Poll::Pending };
            held.waker = Some(context.waker().clone());
            if held.gave_way { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

/// A body whose bytes are counted.
pub(crate) struct Counted {
    body: axum::body::Body,
    share: Arc<Share>,
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
        {
            self.share.bodies.pool().add(self.share.number, data.len());
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds bytes to new bodies, and returns which of them gave way.
    fn gave_way(sizes: &[usize]) -> Vec<usize> {
        let bodies = Arc::new(Bodies::default());
        let holds: Vec<Hold> = sizes.iter().map(|_| bodies.hold()).collect();
        for (hold, bytes) in holds.iter().zip(sizes) {
            bodies.pool().add(hold.0.number, *bytes);
        }
        let gone = |hold: &Hold| bodies.pool().held.get(&hold.0.number).is_some_and(|held| held.gave_way);
        let gone = holds.iter().enumerate().filter(|(_, hold)| gone(hold)).map(|(place, _)| place).collect();
        assert!(bodies.pool().bytes <= BODIES_BYTES_MAX);
        drop(holds);
        let pool = bodies.pool();
        assert_eq!((pool.bytes, pool.held.len()), (0, 0));
        gone
    }

    #[test]
    fn the_oldest_bodies_give_way_when_memory_is_used_up() {
        let part = BODIES_BYTES_MAX / 4;
        assert!(gave_way(&[part, part, part, part]).is_empty());
        assert_eq!(gave_way(&[part, part, part, part, 1]), [0]);
        assert_eq!(gave_way(&[1, 0, part, part, part, part]), [0]);
        assert_eq!(gave_way(&[part, part, part, part, 2 * part]), [0, 1]);
    }
}
