//! Decoding that shares its thread: in slices, within the request's deadline, a few large bodies at a time.
//!
//! A brotli decoder gives out its whole window at a time, 4 MiB usually and 16 MiB at most, which takes longer than a slice.
//! Therefore a large brotli body is decoded on a thread of its own, and the kernel shares the cores.

use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use model::{Instant, SystemClock};
use tokio::sync::{Semaphore, oneshot};

use super::begin;
use super::layers::Decoding;
use crate::budget::{BodyBudget, Hold};
use crate::error::{Error, ErrorCode, Kind, Stage};
use crate::headers::Headers;

/// Time that a body is decoded before the neighbours on the thread have their turn. Nearly every body is done in one.
const SLICE: Duration = Duration::from_millis(1);

/// Bodies of more than one slice that a thread decodes at the same time. Each has decoders with windows of up to 16 MiB, so
/// that others wait, without any, until one is done.
const LONG_DECODINGS_MAX: usize = 4;

thread_local! {
    static LONG_DECODINGS: Rc<Semaphore> = Rc::new(Semaphore::new(LONG_DECODINGS_MAX));
}

/// A decoded body, and how long this thread computed for it.
pub(crate) struct Decoded {
    pub(crate) body: Bytes,
    pub(crate) computed: Duration,
}

/// As [`super::decode`], giving the thread to others between slices, until `deadline`.
///
/// # Errors
/// Those of [`super::decode`], that the deadline passed, or that the bodies of all clients take too much memory.
pub(crate) async fn decode_by(
    headers: &Headers,
    body: &Bytes,
    deadline: Instant,
    budget: &Arc<BodyBudget>,
) -> Result<Option<Decoded>, Error> {
    let started = SystemClock::now();
    let Some(mut work) = Work::begin(headers, body, budget)? else { return Ok(None) };
    let done = match work.slice()? {
        Some(body) => Some(Decoded { body, computed: SystemClock::now().since(started) }),
        // Boxed, because it is rare and large: the future of a fetch lives on a VU's stack.
        None => Some(Box::pin(go_on(work, headers, body, deadline, budget)).await?),
    };
    Ok(done)
}

/// Decodes a body of more than one slice.
async fn go_on(
    work: Work<'_>,
    headers: &Headers,
    body: &Bytes,
    deadline: Instant,
    budget: &Arc<BodyBudget>,
) -> Result<Decoded, Error> {
    let turns = LONG_DECODINGS.with(Rc::clone);
    let has_long_steps = work.decoding.has_long_steps();
    let mut work = Some(work);
    let _turn = match turns.try_acquire() {
        Ok(turn) => turn,
        Err(_) => {
            // It begins anew when it is its turn: one that waits holds nothing.
            work = None;
            let left = deadline.since(SystemClock::now());
            let waited = tokio::time::timeout(left, turns.acquire()).await;
            waited.ok().and_then(Result::ok).ok_or_else(|| Error::timed_out(Stage::Receive))?
        }
    };
    if has_long_steps {
        work = None;
        if let Some(done) = on_own_thread(headers, body, deadline, budget) {
            return done.await;
        }
    }
    let work = match work {
        Some(work) => work,
        None => match Work::begin(headers, body, budget)? {
            Some(work) => work,
            None => return Ok(Decoded { body: body.clone(), computed: Duration::ZERO }),
        },
    };
    in_slices(work, deadline).await
}

async fn in_slices(mut work: Work<'_>, deadline: Instant) -> Result<Decoded, Error> {
    let mut computed = SLICE;
    loop {
        tokio::task::yield_now().await;
        let started = SystemClock::now();
        if started >= deadline {
            return Err(Error::timed_out(Stage::Receive));
        }
        let decoded = work.slice()?;
        computed += SystemClock::now().since(started);
        if let Some(body) = decoded {
            return Ok(Decoded { body, computed });
        }
    }
}

/// Decodes on a thread of its own, until the deadline or until its request has ended; `None` where the system has no thread.
fn on_own_thread(
    headers: &Headers,
    body: &Bytes,
    deadline: Instant,
    budget: &Arc<BodyBudget>,
) -> Option<impl Future<Output = Result<Decoded, Error>>> {
    let (sender, receiver) = oneshot::channel();
    let (headers, body, budget) = (headers.clone(), body.clone(), budget.clone());
    let work = move || {
        let started = SystemClock::now();
        let decoded =
            decode_while(&headers, &body, &budget, || SystemClock::now() < deadline && !sender.is_closed());
        let computed = SystemClock::now().since(started);
        // The request may have ended meanwhile.
        let _ = sender.send(decoded.map(|body| Decoded { body, computed }));
    };
    std::thread::Builder::new().name("decoder".to_owned()).spawn(work).ok()?;
    Some(async {
        receiver.await.unwrap_or_else(|_| {
            Err(Error::new(ErrorCode::DECOMPRESSION, Stage::Receive, Kind::Other, "the decoder ended early"))
        })
    })
}

/// Decodes as long as `goes_on`.
fn decode_while(
    headers: &Headers,
    body: &Bytes,
    budget: &Arc<BodyBudget>,
    goes_on: impl Fn() -> bool,
) -> Result<Bytes, Error> {
    let Some(mut work) = Work::begin(headers, body, budget)? else { return Ok(body.clone()) };
    while goes_on() {
        if let Some(body) = work.slice()? {
            return Ok(body);
        }
    }
    Err(Error::timed_out(Stage::Receive))
}

/// A body that is being decoded, and what it takes of the budget.
struct Work<'b> {
    decoding: Decoding,
    hold: Hold<'b>,
}

impl<'b> Work<'b> {
    fn begin(
        headers: &Headers,
        body: &Bytes,
        budget: &'b Arc<BodyBudget>,
    ) -> Result<Option<Work<'b>>, Error> {
        let decoding = begin(headers, body, budget.decoded_bytes_max())?;
        Ok(decoding.map(|decoding| Work { decoding, hold: Hold::new(budget) }))
    }

    /// Decodes for a slice; returns the body when it is complete.
    fn slice(&mut self) -> Result<Option<Bytes>, Error> {
        let decoded = self.decoding.run(SLICE)?;
        let held_bytes =
            decoded.as_ref().map_or(self.decoding.held_bytes(), |decoded| decoded.capacity() as u64);
        self.hold.grow_to(held_bytes).map_err(|fault| *fault)?;
        Ok(decoded.map(|decoded| {
            let body_bytes = decoded.len();
            self.hold.take(decoded, body_bytes)
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tokio::task::{JoinSet, spawn_local};

    use super::super::encode;
    use super::*;
    use crate::testing::local;

    const MIB: usize = 1 << 20;

    fn coded(bytes: usize, coding: &str) -> (Headers, Bytes) {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n\r\n");
        let body = encode(&vec![0; bytes], coding).unwrap().unwrap().body;
        (Headers::new(head.into(), Default::default()), body.into())
    }

    fn in_a_while() -> Instant {
        SystemClock::now() + Duration::from_secs(10)
    }

    /// Decodes beside a neighbour; returns its turns for each millisecond that the decoding computed.
    async fn decode_beside_a_neighbour(headers: &Headers, body: &Bytes) -> f64 {
        let turns = Rc::new(Cell::new(0_u32));
        let counted = turns.clone();
        let neighbour = spawn_local(async move {
            loop {
                counted.set(counted.get() + 1);
                tokio::task::yield_now().await;
            }
        });
        let decoded = decode_by(headers, body, in_a_while(), &BodyBudget::of_memory(None)).await.unwrap();
        neighbour.abort();
        let computed = decoded.unwrap().computed;
        assert!(computed > 8 * SLICE, "a bomb takes more than {computed:?}");
        f64::from(turns.get()) / (computed.as_secs_f64() * 1e3)
    }

    #[test]
    fn bombs_leave_neighbours_their_turns() {
        local(async {
            // A slice is a millisecond; one that a busy machine interrupts is much longer. Without slices there is one turn in all.
            for coding in ["br", "gzip", "zstd", "gzip, zstd"] {
                let (headers, body) = coded(100 * MIB, coding);
                let turns = decode_beside_a_neighbour(&headers, &body).await;
                assert!(turns > 0.05, "{coding}: {turns} turns per millisecond");
            }
        });
    }

    #[test]
    fn the_deadline_ends_a_decoding() {
        local(async {
            for coding in ["br", "gzip"] {
                let (headers, body) = coded(100 * MIB, coding);
                let budget = BodyBudget::of_memory(None);
                let error = decode_by(&headers, &body, SystemClock::now(), &budget).await.err().unwrap();
                assert_eq!((error.code, error.kind), (ErrorCode::REQUEST_TIMEOUT, Kind::TimedOut));
                assert_eq!(budget.held_bytes(), 0);
            }
        });
    }

    #[test]
    fn a_decoding_that_nobody_waits_for_ends() {
        local(async {
            let (headers, body) = coded(100 * MIB, "br");
            let budget = BodyBudget::of_memory(None);
            let soon = Duration::from_millis(1);
            let decoding = decode_by(&headers, &body, in_a_while(), &budget);
            assert!(tokio::time::timeout(soon, decoding).await.is_err(), "it takes longer");
            // The thread notices it at its next slice, and gives its memory and the body back.
            while Arc::strong_count(&budget) > 1 {
                tokio::time::sleep(soon).await;
            }
            assert_eq!(budget.held_bytes(), 0);
        });
    }

    #[test]
    fn many_bombs_share_the_memory_and_each_gets_its_turn() {
        local(async {
            let budget = BodyBudget::new(256 << 20);
            let bomb = Rc::new(coded(10 * MIB, "gzip"));
            let mut tasks = JoinSet::new();
            for _ in 0..12 {
                let (bomb, budget) = (bomb.clone(), budget.clone());
                tasks.spawn_local(async move {
                    let decoded = decode_by(&bomb.0, &bomb.1, in_a_while(), &budget).await.unwrap().unwrap();
                    assert!(budget.held_bytes() <= (LONG_DECODINGS_MAX * 2 * 16 * MIB) as u64);
                    decoded.body.len()
                });
            }
            assert_eq!(tasks.join_all().await, [10 * MIB; 12]);
            assert_eq!(budget.held_bytes(), 0);
            let small = BodyBudget::new(4 << 20);
            let error = decode_by(&bomb.0, &bomb.1, in_a_while(), &small).await.err().unwrap();
            assert_eq!((error.code, error.kind), (ErrorCode::BODY_TOO_LARGE, Kind::TooLarge));
        });
    }
}
