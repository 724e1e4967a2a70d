//! The addresses of slabs: one range for the process, so that an address says whether a block is a slab's, and whose.
//!
//! At the beginning of the range lie the descriptors of all slabs, side by side. In the slabs themselves they would all fall into the same
//! lines of the processor's caches. Memory that was not touched costs nothing. The range is opened step by step, so that systems
//! that count what may be written count no more than that.

use std::ptr::{null_mut, with_exposed_provenance_mut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::slabs::Slab;

/// The length of a slab, bytes.
pub(super) const SLAB_BYTES: usize = 64 << 10;

/// The length of the range, bytes: as much as valgrind can reserve. Beyond it blocks are the general allocator's.
const RANGE_BYTES: usize = 32 << 30;

/// The length of all descriptors, bytes. The slabs in their place are never used.
const DESCRIPTORS_BYTES: usize = RANGE_BYTES / SLAB_BYTES * size_of::<Slab>();

/// So much is opened at once, bytes: sixteen large pages.
const STEP_BYTES: usize = 32 << 20;

/// The length of a large page, bytes.
const LARGE_PAGE_BYTES: usize = 2 << 20;

/// Where the range begins. Before it is known, and where there is none, it is so high that no program has an address there.
static START: AtomicUsize = AtomicUsize::new(1 << (usize::BITS - 1));

static RANGE: OnceLock<Mutex<Range>> = OnceLock::new();

/// The unused part of the range.
struct Range {
    /// The next slab that was never used.
    next: usize,
    /// The end of what was opened.
    opened: usize,
    end: usize,
    /// Slabs that threads have given back.
    returned: Vec<usize>,
}

impl Range {
    /// Without addresses.
    const NONE: Range = Range { next: 0, opened: 0, end: 0, returned: Vec::new() };

    /// Reserves the range. Where addresses are limited (`ulimit -v`) they are left to everything else.
    fn reserve() -> Range {
        if rustix::process::getrlimit(rustix::process::Resource::As).current.is_some() {
            return Range::NONE;
        }
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let bytes = RANGE_BYTES + LARGE_PAGE_BYTES;
        // SAFETY: a new mapping, wherever the kernel puts it.
        let mapped = unsafe { libc::mmap(null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
        if mapped == libc::MAP_FAILED {
            return Range::NONE;
        }
        let start = mapped.expose_provenance().next_multiple_of(LARGE_PAGE_BYTES);
        if !open(start, DESCRIPTORS_BYTES) {
            return Range::NONE;
        }
        START.store(start, Ordering::Relaxed);
        let first = (start + DESCRIPTORS_BYTES).next_multiple_of(LARGE_PAGE_BYTES);
        Range { next: first, opened: first, end: start + RANGE_BYTES, returned: Vec::new() }
    }

    fn take(&mut self) -> Option<usize> {
        if let Some(address) = self.returned.pop() {
            return Some(address);
        }
        if self.next == self.opened {
            if self.end - self.opened < STEP_BYTES || !open(self.opened, STEP_BYTES) {
                return None;
            }
            // Fewer entries for the processor to keep, of addresses that it has looked up. Where that is not to be had, small pages do.
            // SAFETY: it changes how the memory is held, and nothing of its contents.
            unsafe {
                libc::madvise(with_exposed_provenance_mut(self.opened), STEP_BYTES, libc::MADV_HUGEPAGE)
            };
            self.opened += STEP_BYTES;
        }
        self.next += SLAB_BYTES;
        Some(self.next - SLAB_BYTES)
    }
}

/// Has a part of the range read and written.
fn open(start: usize, bytes: usize) -> bool {
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the part is the range's, and nothing was put there yet.
    unsafe { libc::mprotect(with_exposed_provenance_mut(start), bytes, rights) == 0 }
}

fn range() -> MutexGuard<'static, Range> {
    let range = RANGE.get_or_init(|| Mutex::new(Range::reserve()));
    // It is whole between any two statements that could panic.
    range.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes an unused slab; `None` where there are no further addresses or no memory.
pub(super) fn take_slab() -> Option<*mut Slab> {
    let address = range().take()?;
    slab_of(with_exposed_provenance_mut(address))
}

/// Gives an unused slab back, and its memory to the system.
pub(super) fn return_slab(slab: *mut Slab) {
    let block = first_block(slab);
    // SAFETY: no block of the slab is in use.
    unsafe { libc::madvise(block.cast(), SLAB_BYTES, libc::MADV_DONTNEED) };
    range().returned.push(block.addr());
}

/// The slab that has the block; `None` where none has it.
#[inline]
pub(super) fn slab_of(block: *mut u8) -> Option<*mut Slab> {
    let start = START.load(Ordering::Relaxed);
    let offset = block.addr().wrapping_sub(start);
    (offset < RANGE_BYTES)
        .then(|| with_exposed_provenance_mut(start + offset / SLAB_BYTES * size_of::<Slab>()))
}

/// Where the blocks of a slab begin.
#[inline]
pub(super) fn first_block(slab: *mut Slab) -> *mut u8 {
    let start = START.load(Ordering::Relaxed);
    let number = (slab.addr() - start) / size_of::<Slab>();
    with_exposed_provenance_mut(start + number * SLAB_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_slabs_lead_to_each_other() {
        let (one, other) = (take_slab().expect("a slab"), take_slab().expect("a slab"));
        assert_ne!(one, other);
        for slab in [one, other] {
            let first = first_block(slab);
            assert_eq!(slab_of(first), Some(slab));
            let last = first.wrapping_add(SLAB_BYTES - 1);
            assert_eq!(slab_of(last), Some(slab));
            // SAFETY: the slab is this test's.
            unsafe { first.write_bytes(7, SLAB_BYTES) };
            return_slab(slab);
        }
        assert_eq!(slab_of((&raw const START).cast_mut().cast()), None);
        assert_eq!(slab_of(null_mut()), None);
    }

    #[test]
    fn without_addresses_there_are_no_slabs() {
        let mut none = Range::NONE;
        assert_eq!(none.take(), None);
    }
}
