//! Decoding that shares its thread: in slices, within the request's deadline, a few large bodies at a time.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use model::{Instant, SystemClock};
use tokio::sync::Semaphore;

use super::layers::Decoding;
use super::{DecodeError, begin};
use crate::budget::{BodyBudget, Hold};
use crate::error::{Error, Stage};
use crate::headers::Headers;

/// Time that a body is decoded before the neighbours on the thread have their turn. Nearly every body is done in one. A
/// brotli decoder gives out its whole window at a time, which may take longer: 4 MiB usually, and 16 MiB at most.
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
    let Some(mut decoding) = begin(headers, body, budget.decoded_bytes_max())? else { return Ok(None) };
    let mut hold = Hold::new(budget);
    let decoded = match slice(&mut decoding, &mut hold)? {
        Some(decoded) => decoded,
        // Boxed, because it is rare and large: the future of a fetch lives on a VU's stack.
        None => return Box::pin(go_on(decoding, hold, headers, body, deadline, budget)).await.map(Some),
    };
    Ok(Some(Decoded { body: hold.wrap(decoded), computed: SystemClock::now().since(started) }))
}

async fn go_on(
    mut decoding: Decoding,
    mut hold: Hold<'_>,
    headers: &Headers,
    body: &Bytes,
    deadline: Instant,
    budget: &Arc<BodyBudget>,
) -> Result<Decoded, Error> {
    let turns = LONG_DECODINGS.with(Rc::clone);
    let mut computed = SLICE;
    let _turn = match turns.try_acquire() {
        Ok(turn) => turn,
        Err(_) => {
            // It begins anew when it is its turn: one that waits holds nothing.
            drop((decoding, hold));
            let left = deadline.since(SystemClock::now());
            let waited = tokio::time::timeout(left, turns.acquire()).await;
            let turn = waited.ok().and_then(Result::ok).ok_or_else(|| Error::timed_out(Stage::Receive))?;
            decoding = match begin(headers, body, budget.decoded_bytes_max())? {
                Some(decoding) => decoding,
                None => return Ok(Decoded { body: body.clone(), computed }),
            };
            hold = Hold::new(budget);
            turn
        }
    };
    loop {
        tokio::task::yield_now().await;
        let started = SystemClock::now();
        if started >= deadline {
            return Err(Error::timed_out(Stage::Receive));
        }
        let decoded = slice(&mut decoding, &mut hold)?;
        computed += SystemClock::now().since(started);
        if let Some(decoded) = decoded {
            return Ok(Decoded { body: hold.wrap(decoded), computed });
        }
    }
}

/// One slice, and what its result takes.
fn slice(decoding: &mut Decoding, hold: &mut Hold<'_>) -> Result<Option<Vec<u8>>, Error> {
    let decoded = decoding.run(SLICE).map_err(|error: DecodeError| Error::from(error))?;
    let held_bytes =
        decoded.as_ref().map_or_else(|| decoding.held_bytes(), |decoded| decoded.capacity() as u64);
    hold.grow_to(held_bytes).map_err(|fault| *fault)?;
    Ok(decoded)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tokio::task::{JoinSet, spawn_local};

    use super::super::encode;
    use super::*;
    use crate::error::{ErrorCode, Kind};
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
            // A slice is a millisecond; one that the machine interrupts is longer.
            for (coding, turns_min) in [("br", 0.04), ("gzip", 0.2), ("zstd", 0.2), ("gzip, zstd", 0.2)] {
                let (headers, body) = coded(100 * MIB, coding);
                let turns = decode_beside_a_neighbour(&headers, &body).await;
                assert!(turns > turns_min, "{coding}: {turns} turns per millisecond");
            }
        });
    }

    #[test]
    fn the_deadline_ends_a_decoding() {
        local(async {
            let (headers, body) = coded(100 * MIB, "br");
            let budget = BodyBudget::of_memory(None);
            let error = decode_by(&headers, &body, SystemClock::now(), &budget).await.err().unwrap();
            assert_eq!((error.code, error.kind), (ErrorCode::REQUEST_TIMEOUT, Kind::TimedOut));
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
