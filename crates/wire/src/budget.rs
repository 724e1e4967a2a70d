//! Memory for the bodies of responses: one body's limit, and one for all clients of a process together.
//!
//! A server decides how large a body is, and every VU may receive one at the same time. Bodies count from the moment they
//! are large until nothing refers to them any more, the script included.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use crate::error::{Error, ErrorCode, Kind, Stage};
use crate::fault::Fault;
use crate::limits::{
    BODY_BYTES_MAX, BODY_DOUBLED_BYTES_MAX, BODY_FREE_BYTES, BODY_RESERVE_BYTES_MAX, DECODED_BYTES_MAX,
    SPARE_BODIES_BYTES_MAX,
};

thread_local! {
    static SPARE_BODIES: RefCell<Spare> = const { RefCell::new(Spare { memories: Vec::new(), bytes: 0 }) };
}

/// The share of the machine's memory that bodies may take, as its reciprocal. The other three quarters are for what scripts
/// make of them, the VUs themselves and the metrics.
const MEMORY_SHARE: u64 = 4;

/// The least and the most that all bodies may take, bytes. A small container still receives pages and files; a large machine
/// that needs more than 16 GiB for bodies keeps them without need.
const BUDGET_BYTES_MIN: u64 = 128 << 20;
/// See [`BUDGET_BYTES_MIN`].
const BUDGET_BYTES_MAX: u64 = 16 << 30;

/// A body may take this share of the budget, as its reciprocal, so that one endless body leaves the others theirs.
const BODY_SHARE: u64 = 2;

/// Where the memory of a machine is not known.
const MEMORY_BYTES_ASSUMED: u64 = 4 << 30;

/// Memory that all bodies of a process share.
pub struct BodyBudget {
    bytes_max: u64,
    held_bytes: AtomicU64,
}

impl fmt::Debug for BodyBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BodyBudget")
            .field("bytes_max", &self.bytes_max)
            .field("held_bytes", &self.held_bytes())
            .finish()
    }
}

impl BodyBudget {
    /// A budget for a machine, or a container, with so much memory: a quarter of it, between 128 MiB and 16 GiB.
    pub fn of_memory(memory_bytes: Option<u64>) -> Arc<BodyBudget> {
        let share = memory_bytes.unwrap_or(MEMORY_BYTES_ASSUMED) / MEMORY_SHARE;
        BodyBudget::new(share.clamp(BUDGET_BYTES_MIN, BUDGET_BYTES_MAX))
    }

    pub(crate) fn new(bytes_max: u64) -> Arc<BodyBudget> {
        Arc::new(BodyBudget { bytes_max, held_bytes: AtomicU64::new(0) })
    }

    /// Bytes of large bodies that are held now.
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes.load(Ordering::Relaxed)
    }

    /// Bytes that one body may have.
    pub fn body_bytes_max(&self) -> u64 {
        BODY_BYTES_MAX.min(self.bytes_max / BODY_SHARE)
    }

    /// Bytes that one body may have once decoded.
    pub(crate) fn decoded_bytes_max(&self) -> u64 {
        DECODED_BYTES_MAX.min(self.body_bytes_max())
    }

    /// Refuses a body that has more than it may.
    fn check(&self, body_bytes: u64) -> Result<(), Fault> {
        let bytes_max = self.body_bytes_max();
        if body_bytes <= bytes_max {
            return Ok(());
        }
        let message = format!(
            "response body exceeds {bytes_max} bytes, the most that is kept; \
             use `responseType: 'none'` or `discardResponseBodies` to read it without keeping it"
        );
        Err(Box::new(Error::new(ErrorCode::BODY_TOO_LARGE, Stage::Receive, Kind::TooLarge, message)))
    }

    fn exhausted(&self) -> Fault {
        let message = format!(
            "the response bodies of all VUs exceed {} bytes, a quarter of this machine's memory; \
             use `responseType: 'none'`, `discardResponseBodies` or fewer VUs",
            self.bytes_max
        );
        Box::new(Error::new(ErrorCode::BODIES_EXHAUSTED, Stage::Receive, Kind::Exhausted, message))
    }
}

/// The part of the budget that one body takes. A small body takes none, so that requests of different threads do not meet
/// here.
pub(crate) struct Hold<'b> {
    budget: &'b Arc<BodyBudget>,
    held: Option<Held>,
}

impl<'b> Hold<'b> {
    pub(crate) fn new(budget: &'b Arc<BodyBudget>) -> Hold<'b> {
        Hold { budget, held: None }
    }

    /// Takes so much in all.
    ///
    /// # Errors
    /// The budget is exhausted.
    pub(crate) fn grow_to(&mut self, bytes: u64) -> Result<(), Fault> {
        if bytes <= BODY_FREE_BYTES {
            return Ok(());
        }
        let held = self.held.get_or_insert_with(|| Held::new(self.budget.clone()));
        if held.grow_to(bytes) { Ok(()) } else { Err(self.budget.exhausted()) }
    }

    /// The first bytes of a memory as a body, with what it holds until nothing refers to it.
    pub(crate) fn take(&mut self, mut memory: Vec<u8>, body_bytes: usize) -> Bytes {
        match self.held.take() {
            Some(held) => held.wrap(Spared { memory, body_bytes }),
            None => {
                memory.truncate(body_bytes);
                Bytes::from(memory)
            }
        }
    }
}

/// The body of a response while it is received.
pub(crate) struct BodyBuffer<'b> {
    /// All of it is initialized, so that sockets are read into it; the body has the first `filled_bytes`.
    bytes: Vec<u8>,
    filled_bytes: usize,
    hold: Hold<'b>,
}

impl<'b> BodyBuffer<'b> {
    pub(crate) fn new(budget: &'b Arc<BodyBudget>) -> BodyBuffer<'b> {
        BodyBuffer { bytes: Vec::new(), filled_bytes: 0, hold: Hold::new(budget) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.filled_bytes == 0
    }

    /// Refuses a body that has more than it may.
    pub(crate) fn check(&self, body_bytes: u64) -> Result<(), Fault> {
        self.hold.budget.check(body_bytes)
    }

    /// Adds a piece. `announced_bytes` is the size that the server says the rest has, or zero.
    pub(crate) fn push(&mut self, piece: &[u8], announced_bytes: u64) -> Result<(), Fault> {
        self.reserve(piece.len(), announced_bytes)?;
        self.bytes[self.filled_bytes..][..piece.len()].copy_from_slice(piece);
        self.filled_bytes += piece.len();
        Ok(())
    }

    /// Where the next `bytes` may be read to, so that they need not be copied; then [`Self::filled`] adds them.
    pub(crate) fn room(&mut self, bytes: usize) -> Result<&mut [u8], Fault> {
        self.reserve(bytes, 0)?;
        Ok(&mut self.bytes[self.filled_bytes..][..bytes])
    }

    /// So many bytes were read there.
    pub(crate) fn filled(&mut self, bytes: usize) {
        self.filled_bytes += bytes;
    }

    fn reserve(&mut self, bytes: usize, announced_bytes: u64) -> Result<(), Fault> {
        let known = self.bytes.len();
        if bytes <= known - self.filled_bytes {
            return Ok(());
        }
        let wanted = match known {
            0 => bytes + announced_bytes.min(BODY_RESERVE_BYTES_MAX) as usize,
            1..BODY_DOUBLED_BYTES_MAX => (known * 2).max(self.filled_bytes + bytes),
            _ => (known + known / 2).max(self.filled_bytes + bytes),
        };
        let mut memory = memory_for(wanted);
        memory[..self.filled_bytes].copy_from_slice(&self.bytes[..self.filled_bytes]);
        self.bytes = memory;
        self.hold.grow_to(self.bytes.len() as u64)
    }

    /// Takes the body.
    pub(crate) fn take(&mut self) -> Bytes {
        self.hold.take(std::mem::take(&mut self.bytes), std::mem::take(&mut self.filled_bytes))
    }
}

/// Initialized memory for at least so many bytes of a body.
fn memory_for(bytes: usize) -> Vec<u8> {
    let is_large = bytes as u64 > BODY_FREE_BYTES;
    let spare = if is_large { SPARE_BODIES.with_borrow_mut(|spare| spare.take(bytes)) } else { None };
    spare.unwrap_or_else(|| vec![0; bytes])
}

/// The part of the budget that something owns which changes its size.
pub(crate) struct Held {
    budget: Arc<BodyBudget>,
    bytes: u64,
}

impl Held {
    /// Nothing yet.
    pub(crate) fn new(budget: Arc<BodyBudget>) -> Held {
        Held { budget, bytes: 0 }
    }

    /// Takes so much in all, or gives back what is more than that. Returns false when the budget is exhausted.
    pub(crate) fn set_to(&mut self, bytes: u64) -> bool {
        let bytes = if bytes <= BODY_FREE_BYTES { 0 } else { bytes };
        if bytes >= self.bytes {
            return bytes == self.bytes || self.grow_to(bytes);
        }
        self.budget.held_bytes.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        self.bytes = bytes;
        true
    }

    /// `body`, with what is held until nothing refers to it.
    fn wrap(self, body: impl AsRef<[u8]> + Send + 'static) -> Bytes {
        Bytes::from_owner(HeldBody { body, _held: self })
    }

    /// A message, which takes a part of the same budget until nothing refers to it; `None` when that is exhausted.
    pub(crate) fn of_message(&self, message: Bytes) -> Option<Bytes> {
        let bytes = message.len() as u64;
        if bytes <= BODY_FREE_BYTES {
            return Some(message);
        }
        let mut held = Held::new(self.budget.clone());
        held.grow_to(bytes).then(|| held.wrap(message))
    }

    fn grow_to(&mut self, bytes: u64) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        let before = self.budget.held_bytes.fetch_add(more, Ordering::Relaxed);
        self.bytes += more;
        before.saturating_add(more) <= self.budget.bytes_max
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.budget.held_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A large body. Its memory serves the next one of the thread where this one ends: given back to the allocator, it would go to the
/// operating system and come back as new pages, which have to be cleared first.
struct Spared {
    memory: Vec<u8>,
    body_bytes: usize,
}

impl AsRef<[u8]> for Spared {
    fn as_ref(&self) -> &[u8] {
        &self.memory[..self.body_bytes]
    }
}

impl Drop for Spared {
    fn drop(&mut self) {
        let memory = std::mem::take(&mut self.memory);
        // A thread that ends keeps nothing.
        let _ = SPARE_BODIES.try_with(|spare| spare.borrow_mut().put(memory));
    }
}

/// Memory of large bodies that are gone.
struct Spare {
    memories: Vec<Vec<u8>>,
    bytes: usize,
}

impl Spare {
    /// The memory with at least so many bytes that was given back last.
    fn take(&mut self, bytes: usize) -> Option<Vec<u8>> {
        let at = self.memories.iter().rposition(|memory| memory.len() >= bytes)?;
        let memory = self.memories.remove(at);
        self.bytes -= memory.capacity();
        Some(memory)
    }

    fn put(&mut self, memory: Vec<u8>) {
        if self.bytes + memory.capacity() <= SPARE_BODIES_BYTES_MAX {
            self.bytes += memory.capacity();
            self.memories.push(memory);
        }
    }
}

struct HeldBody<T> {
    body: T,
    _held: Held,
}

impl<T: AsRef<[u8]>> AsRef<[u8]> for HeldBody<T> {
    fn as_ref(&self) -> &[u8] {
        self.body.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_a_quarter_of_the_memory_within_bounds() {
        let check = |memory_bytes, expect: (u64, u64)| {
            let budget = BodyBudget::of_memory(memory_bytes);
            assert_eq!((budget.bytes_max, budget.body_bytes_max()), expect, "{memory_bytes:?}");
        };
        check(Some(16 << 30), (4 << 30, BODY_BYTES_MAX));
        check(Some(1 << 30), (256 << 20, 128 << 20));
        check(Some(0), (BUDGET_BYTES_MIN, 64 << 20));
        check(Some(1 << 40), (BUDGET_BYTES_MAX, BODY_BYTES_MAX));
        check(None, (1 << 30, BODY_BYTES_MAX));
    }

    #[test]
    fn the_memory_of_a_large_body_serves_the_next_one() {
        let budget = BodyBudget::new(1 << 30);
        let body = |bytes: usize| {
            let mut buffer = BodyBuffer::new(&budget);
            buffer.push(&[1; 10], bytes as u64 - 10).unwrap();
            let address = buffer.bytes.as_ptr();
            buffer.push(&vec![1; bytes - 10], 0).unwrap();
            (buffer.take(), address)
        };
        let (first, first_address) = body(1 << 20);
        let (second, second_address) = body(1 << 20);
        assert_ne!(first_address, second_address, "both are in use");
        drop(first);
        let (third, third_address) = body(100 << 10);
        assert_eq!(third_address, first_address);
        assert_eq!(third, vec![1; 100 << 10]);
        let (fourth, fourth_address) = body(100);
        assert!(fourth.len() == 100 && fourth_address != first_address);
        let many: Vec<Bytes> = (0..40).map(|_| body(1 << 20).0).collect();
        drop((second, third, many, body(200 << 20)));
        assert_eq!(budget.held_bytes(), 0);
        SPARE_BODIES.with_borrow(|spare| {
            let kept_bytes: usize = spare.memories.iter().map(Vec::capacity).sum();
            assert_eq!(kept_bytes, spare.bytes);
            assert!((SPARE_BODIES_BYTES_MAX - (2 << 20)..=SPARE_BODIES_BYTES_MAX).contains(&kept_bytes));
        });
    }

    #[test]
    fn bodies_grow_as_far_as_they_come() {
        let budget = BodyBudget::new(1 << 30);
        let mut buffer = BodyBuffer::new(&budget);
        let mut expect = Vec::new();
        for piece in 0..200_u8 {
            let bytes = 1 + usize::from(piece) * 300;
            if piece % 3 == 0 {
                let room = buffer.room(bytes + 5).unwrap();
                assert_eq!(room.len(), bytes + 5);
                room[..bytes].fill(piece);
                buffer.filled(bytes);
            } else {
                buffer.push(&vec![piece; bytes], 0).unwrap();
            }
            expect.extend(vec![piece; bytes]);
        }
        assert!(buffer.take() == expect && buffer.is_empty() && buffer.take().is_empty());
    }

    #[test]
    fn bodies_count_until_nothing_refers_to_them() {
        let budget = BodyBudget::new(10 << 20);
        let body = |bytes: usize| {
            let mut hold = Hold::new(&budget);
            hold.grow_to(bytes as u64).map(|()| hold.take(vec![0; bytes], bytes))
        };
        let small = body(BODY_FREE_BYTES as usize).expect("it is small");
        assert_eq!(budget.held_bytes(), 0);
        let first = body(6 << 20).expect("the budget has capacity");
        let shared = first.slice(1..2);
        let error = body(6 << 20).expect_err("there is none");
        assert_eq!((error.code, error.kind), (ErrorCode::BODIES_EXHAUSTED, Kind::Exhausted));
        drop(first);
        assert_eq!(budget.held_bytes(), 6 << 20, "a part of it is in use");
        drop((shared, small));
        assert_eq!(budget.held_bytes(), 0);
        body(6 << 20).expect("the budget has capacity again");
        let mut held = Held::new(budget.clone());
        assert!(held.set_to(8 << 20) && held.set_to(6 << 20) && held.set_to(6 << 20));
        assert_eq!(budget.held_bytes(), 6 << 20);
        assert!(held.set_to(10) && budget.held_bytes() == 0);
        assert!(!held.set_to(11 << 20));
        drop(held);
        assert_eq!(budget.held_bytes(), 0);
    }
}
