//! Limits of the memory that scripts hold: of one VU, and of all VUs of the process together.
//!
//! The allocator of the JavaScript heaps counts what it gives out ([`crate::js::heap`]), and responses that scripts keep are
//! charged beside it. A VU asks the process's pool only when its memory has changed by [`STEP_BYTES`], so that worker threads
//! share nothing for an ordinary request.
//!
//! At a limit large blocks are refused, which JavaScript sees as an "out of memory" error. Small ones are still given from a
//! reserve, so that the engine can unwind: the interrupt handler ends the iteration, and no script can catch that.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Change of a VU's memory after which the process's pool is asked, bytes.
const STEP_BYTES: usize = 256 << 10;

/// Memory beyond a limit for unwinding, bytes. Between two looks of the interrupt handler a script allocates less.
const RESERVE_BYTES: usize = 4 << 20;

/// The longest block that the reserve gives, bytes. A script that catches errors and tries again fails soon.
const RESERVE_BLOCK_BYTES_MAX: usize = 64 << 10;

/// Limit of one VU where the machine has plenty, bytes. A VU of an ordinary script holds 1 to 5 MB.
const VU_BYTES_DEFAULT: u64 = 512 << 20;

/// Memory of a machine that does not report it, bytes.
const MACHINE_BYTES_UNKNOWN: u64 = 4 << 30;

/// The limits of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimits {
    /// Of one VU, bytes.
    pub vu_bytes: u64,
    /// Of all VUs together, bytes. Each may always hold its share of it.
    pub process_bytes: u64,
}

impl MemoryLimits {
    /// The limits that are given, or else defaults for a machine: half of its memory for all VUs, a quarter of that for one,
    /// up to 512 MiB.
    pub fn resolve(vu: Option<u64>, process: Option<u64>, machine_bytes: Option<u64>) -> MemoryLimits {
        let process_bytes = process.unwrap_or(machine_bytes.unwrap_or(MACHINE_BYTES_UNKNOWN) / 2);
        let vu_bytes = vu.unwrap_or(VU_BYTES_DEFAULT.min(process_bytes / 4));
        MemoryLimits { vu_bytes, process_bytes }
    }
}

/// The limit that a VU has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ceiling {
    /// The VU's own.
    Vu,
    /// The process's, and the VU holds more than its share.
    Process,
}

/// The memory of all VUs.
pub(crate) struct MemoryPool {
    limits: MemoryLimits,
    held_bytes: AtomicU64,
    vus: AtomicUsize,
}

impl MemoryPool {
    pub(crate) fn new(limits: MemoryLimits) -> Arc<MemoryPool> {
        Arc::new(MemoryPool { limits, held_bytes: AtomicU64::new(0), vus: AtomicUsize::new(0) })
    }

    /// The limit of a VU that is alone in the process.
    pub(crate) fn process_bytes(&self) -> usize {
        usize::try_from(self.limits.process_bytes).unwrap_or(usize::MAX)
    }

    /// Memory that each VU may hold whatever the others do.
    fn share_bytes(&self) -> u64 {
        self.limits.process_bytes / (self.vus.load(Ordering::Relaxed).max(1) as u64)
    }

    /// Changes the memory of one VU, as far as the pool knows it.
    fn change(&self, before: usize, after: usize) {
        // The sum of all VUs is never negative: each takes off what it has put on.
        self.held_bytes.fetch_add((after as u64).wrapping_sub(before as u64), Ordering::Relaxed);
    }
}

/// The memory of one VU.
pub(crate) struct MemoryAccount {
    pool: Arc<MemoryPool>,
    /// The VU's number in the test; 0 outside of VUs.
    vu: Cell<u64>,
    limit: Cell<usize>,
    held: Cell<usize>,
    /// The part of `held` that the pool knows.
    known: Cell<usize>,
    /// Beyond it the pool or the limit is asked.
    upper: Cell<usize>,
    /// Below it the pool is updated.
    lower: Cell<usize>,
    reached: Cell<Option<Ceiling>>,
    /// The end of the reserve, once a limit was reached.
    reserve_end: Cell<usize>,
}

impl MemoryAccount {
    pub(crate) fn new(pool: Arc<MemoryPool>) -> Rc<MemoryAccount> {
        pool.vus.fetch_add(1, Ordering::Relaxed);
        let limit = usize::try_from(pool.limits.vu_bytes).unwrap_or(usize::MAX);
        Rc::new(MemoryAccount {
            pool,
            vu: Cell::new(0),
            limit: Cell::new(limit),
            held: Cell::new(0),
            known: Cell::new(0),
            upper: Cell::new(0),
            lower: Cell::new(0),
            reached: Cell::new(None),
            reserve_end: Cell::new(0),
        })
    }

    /// Makes this the account of a VU.
    pub(crate) fn set_vu(&self, id: u64) {
        self.vu.set(id);
    }

    /// Lets the first init use all memory: no VU runs beside it, and it may read data that all VUs share.
    pub(crate) fn use_whole_pool(&self) {
        self.limit.set(self.pool.process_bytes());
    }

    /// Makes the next iteration start anew.
    pub(crate) fn begin(&self) {
        self.reached.set(None);
    }

    /// The limit that was reached since [`Self::begin`].
    pub(crate) fn reached(&self) -> Option<Ceiling> {
        self.reached.get()
    }

    /// Bytes that the VU holds.
    #[cfg(test)]
    pub(crate) fn held_bytes(&self) -> usize {
        self.held.get()
    }

    /// Whether the VU may hold so many bytes more.
    #[inline]
    pub(crate) fn admits(&self, bytes: usize) -> bool {
        self.held.get().saturating_add(bytes) <= self.upper.get() || self.ask(bytes)
    }

    /// Counts bytes that the VU holds from now on.
    #[inline]
    pub(crate) fn add(&self, bytes: usize) {
        self.held.set(self.held.get() + bytes);
    }

    /// Counts bytes that the VU holds no more.
    #[inline]
    pub(crate) fn subtract(&self, bytes: usize) {
        let held = self.held.get().saturating_sub(bytes);
        self.held.set(held);
        if held < self.lower.get() {
            self.settle(held);
        }
    }

    #[cold]
    fn ask(&self, bytes: usize) -> bool {
        let wanted = self.held.get().saturating_add(bytes);
        if self.reached.get().is_none() {
            let Some(ceiling) = self.exceeded(wanted) else {
                self.settle(wanted);
                return true;
            };
            self.reached.set(Some(ceiling));
            self.reserve_end.set(self.held.get().saturating_add(RESERVE_BYTES));
            // From now on every block is asked for.
            self.upper.set(0);
        }
        bytes <= RESERVE_BLOCK_BYTES_MAX && wanted <= self.reserve_end.get()
    }

    /// The limit that so many bytes would exceed.
    fn exceeded(&self, wanted: usize) -> Option<Ceiling> {
        if wanted > self.limit.get() {
            return Some(Ceiling::Vu);
        }
        let others = self.pool.held_bytes.load(Ordering::Relaxed).saturating_sub(self.known.get() as u64);
        let is_full = others.saturating_add(wanted as u64) > self.pool.limits.process_bytes;
        (is_full && wanted as u64 > self.pool.share_bytes()).then_some(Ceiling::Process)
    }

    /// Updates the pool: the VU holds so many bytes.
    fn settle(&self, held: usize) {
        self.pool.change(self.known.replace(held), held);
        if self.reached.get().is_none() {
            self.upper.set(held.saturating_add(STEP_BYTES).min(self.limit.get()));
        }
        self.lower.set(held.saturating_sub(STEP_BYTES));
    }

    /// The error of the iteration that has reached a limit.
    pub(crate) fn explain(&self) -> String {
        let vu = match self.vu.get() {
            0 => "code outside of VUs (init, setup, teardown or summary)".to_owned(),
            id => format!("VU {id}"),
        };
        let mebibytes = |bytes: u64| format!("{} MiB", bytes >> 20);
        match self.reached.get() {
            Some(Ceiling::Process) => format!(
                "memory limit reached: all VUs together hold {}, and {vu} more than its share of {}; keep less in arrays, \
                 strings, buffers and responses, or raise the limit with --memory",
                mebibytes(self.pool.limits.process_bytes),
                mebibytes(self.pool.share_bytes())
            ),
            _ => {
                let limit = self.limit.get() as u64;
                let flag = if limit == self.pool.limits.vu_bytes { "--vu-memory" } else { "--memory" };
                format!(
                    "memory limit reached: {vu} holds {}; keep less in arrays, strings, buffers and responses, or raise the \
                     limit with {flag}",
                    mebibytes(limit)
                )
            }
        }
    }
}

impl Drop for MemoryAccount {
    fn drop(&mut self) {
        self.pool.change(self.known.get(), 0);
        self.pool.vus.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Memory outside of the JavaScript heap that a VU's object holds.
pub(crate) struct Charge {
    account: Rc<MemoryAccount>,
    bytes: usize,
}

impl Charge {
    /// Counts the bytes; `None` where they reach a limit.
    pub(crate) fn of(account: &Rc<MemoryAccount>, bytes: usize) -> Option<Charge> {
        if !account.admits(bytes) {
            return None;
        }
        account.add(bytes);
        Some(Charge { account: account.clone(), bytes })
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.account.subtract(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn defaults_follow_the_machine() {
        let check = |given: [Option<u64>; 2], machine: Option<u64>, expect: [u64; 2]| {
            let limits = MemoryLimits::resolve(given[0], given[1], machine);
            assert_eq!([limits.vu_bytes, limits.process_bytes], expect);
        };
        check([None, None], Some(16 << 30), [512 * MIB, 8 << 30]);
        check([None, None], Some(1 << 30), [128 * MIB, 512 * MIB]);
        check([None, None], None, [512 * MIB, 2 << 30]);
        check([Some(MIB), Some(9 * MIB)], Some(1 << 30), [MIB, 9 * MIB]);
        check([None, Some(400 * MIB)], Some(1 << 40), [100 * MIB, 400 * MIB]);
    }

    fn pool(vu_bytes: u64, process_bytes: u64) -> Arc<MemoryPool> {
        MemoryPool::new(MemoryLimits { vu_bytes, process_bytes })
    }

    fn take(account: &MemoryAccount, bytes: u64) -> bool {
        let is_admitted = account.admits(bytes as usize);
        if is_admitted {
            account.add(bytes as usize);
        }
        is_admitted
    }

    #[test]
    fn a_vu_has_a_limit_and_a_reserve_beyond_it() {
        let account = MemoryAccount::new(pool(10 * MIB, 100 * MIB));
        account.set_vu(7);
        assert!(take(&account, 9 * MIB) && account.reached().is_none());
        assert!(!take(&account, 20 * MIB));
        assert_eq!(account.reached(), Some(Ceiling::Vu));
        assert!(account.explain().contains("VU 7 holds 10 MiB"), "{}", account.explain());
        assert!(!take(&account, MIB), "the reserve is for small blocks");
        let taken = (0..1000).take_while(|_| take(&account, 32 << 10)).count();
        assert_eq!(taken, 128, "the reserve has an end");
        account.subtract((13 * MIB) as usize);
        account.begin();
        assert!(take(&account, 9 * MIB) && account.reached().is_none());
    }

    #[test]
    fn a_full_process_refuses_those_above_their_share() {
        let pool = pool(99 * MIB, 100 * MIB);
        let [hog, other] = [(); 2].map(|()| MemoryAccount::new(pool.clone()));
        assert!(take(&hog, 80 * MIB) && take(&other, 10 * MIB));
        assert!(!take(&hog, 15 * MIB));
        assert_eq!(hog.reached(), Some(Ceiling::Process));
        assert!(hog.explain().contains("more than its share of 50 MiB"), "{}", hog.explain());
        // The other one goes on up to its share.
        assert!(take(&other, 30 * MIB) && other.reached().is_none());
        drop(hog);
        assert!(take(&other, 49 * MIB) && other.reached().is_none());
        drop(other);
        assert_eq!(pool.held_bytes.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn small_changes_do_not_reach_the_pool() {
        let pool = pool(90 * MIB, 100 * MIB);
        let account = MemoryAccount::new(pool.clone());
        assert!(take(&account, 10 * MIB));
        let known = pool.held_bytes.load(Ordering::Relaxed);
        for _ in 0..1000 {
            assert!(take(&account, 100 << 10));
            account.subtract(100 << 10);
        }
        assert_eq!(pool.held_bytes.load(Ordering::Relaxed), known);
    }
}
