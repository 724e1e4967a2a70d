//! Memory of the JavaScript heaps of a thread: what was freed last is given out first.
//!
//! QuickJS-ng keeps arenas of its own in each runtime for what takes up to 512 bytes. Longer blocks, such as the body of a
//! response, it asks for one by one, and there a general allocator has its slow path and goes through all free blocks of a
//! page before it uses one again. Here the next iteration, mostly another VU's, gets the block that the last one had.

use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::rc::Rc;

use rquickjs::allocator::Allocator;

use crate::memory::MemoryAccount;

/// Blocks that are no longer than this seldom come here: they are in the engine's arenas.
const BYTES_MIN: usize = 512;

/// The longest block that is kept.
const BYTES_MAX: usize = 2048;

/// Sizes of blocks that are kept: the shortest, and four in each doubling up to the longest.
const SIZES: usize = 9;

/// Freed blocks of one size that a thread keeps; further ones go back to the program's allocator.
const SPARES_MAX: usize = 62;

/// The allocator of a runtime: the program's, with spare blocks of each thread in front of it. It counts what the runtime holds,
/// and refuses blocks beyond its limit.
pub(crate) struct Recycling(pub(crate) Rc<MemoryAccount>);

/// Freed blocks of one size, the last one last.
struct Spares {
    count: usize,
    blocks: [*mut u8; SPARES_MAX],
}

struct AllSpares([Spares; SIZES]);

thread_local! {
    static SPARES: UnsafeCell<AllSpares> = const {
        UnsafeCell::new(AllSpares([const { Spares { count: 0, blocks: [null_mut(); SPARES_MAX] } }; SIZES]))
    };
}

impl Spares {
    fn take(&mut self) -> Option<*mut u8> {
        self.count = self.count.checked_sub(1)?;
        Some(self.blocks[self.count])
    }

    /// Whether the block was kept.
    fn keep(&mut self, block: *mut u8) -> bool {
        let Some(place) = self.blocks.get_mut(self.count) else { return false };
        *place = block;
        self.count += 1;
        true
    }
}

impl Drop for AllSpares {
    fn drop(&mut self) {
        for spares in &mut self.0 {
            while let Some(block) = spares.take() {
                // SAFETY: it came from `malloc` and has been freed by its owner: no other pointer to it is in use.
                unsafe { libc::free(block.cast()) };
            }
        }
    }
}

/// Does something with this thread's spare blocks of a size; `None` when the thread is about to end.
fn with_spares<R>(size: usize, act: impl FnOnce(&mut Spares) -> R) -> Option<R> {
    // SAFETY: `act` never allocates here, so that no call comes back to these spares meanwhile.
    SPARES.try_with(|spares| act(unsafe { &mut (&mut *spares.get()).0[size] })).ok()
}

/// Whether blocks of so many bytes are kept.
fn is_kept(bytes: usize) -> bool {
    (BYTES_MIN..=BYTES_MAX).contains(&bytes)
}

/// The index of the smallest size that holds so many bytes, which are as many as are kept.
fn holding(bytes: usize) -> usize {
    if bytes == BYTES_MIN {
        return 0;
    }
    let last = bytes - 1;
    let doubling = last.ilog2() as usize;
    1 + (doubling - 9) * 4 + ((last >> (doubling - 2)) & 3)
}

/// The index of the largest size that fits into a block of so many bytes.
fn fitting(bytes: usize) -> usize {
    holding(bytes + 1) - 1
}

/// The bytes of a size.
fn bytes_of(size: usize) -> usize {
    let (doubling, quarters) = (size / 4 + 9, size % 4);
    (1 << doubling) + (quarters << (doubling - 2))
}

impl Recycling {
    /// Counts a new block.
    fn count(&self, block: *mut u8) -> *mut u8 {
        if !block.is_null() {
            // SAFETY: the block is ours, and has no other owner yet.
            self.0.add(unsafe { Self::usable_size(block) });
        }
        block
    }
}

/// A block of at least so many bytes: a spare one, or a new one.
fn block_of(bytes: usize) -> *mut u8 {
    let rounded = if is_kept(bytes) {
        let size = holding(bytes);
        if let Some(block) = with_spares(size, Spares::take).flatten() {
            return block;
        }
        bytes_of(size)
    } else {
        bytes
    };
    // SAFETY: asks for memory only.
    unsafe { libc::malloc(rounded) }.cast()
}

// SAFETY: every block comes from `malloc`, `calloc` or `realloc` of the program's allocator, which align it for everything and
// know its length. A spare block is at least as long as its size says, and has no other owner.
unsafe impl Allocator for Recycling {
    fn alloc(&mut self, bytes: usize) -> *mut u8 {
        if !self.0.admits(bytes) {
            return null_mut();
        }
        self.count(block_of(bytes))
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        let Some(bytes) = count.checked_mul(size).filter(|&bytes| self.0.admits(bytes)) else {
            return null_mut();
        };
        if !is_kept(bytes) {
            // SAFETY: asks for memory only.
            return self.count(unsafe { libc::calloc(count, size) }.cast());
        }
        let block = block_of(bytes);
        if !block.is_null() {
            // SAFETY: the block is ours, and as long as was asked for.
            unsafe { block.write_bytes(0, bytes) };
        }
        self.count(block)
    }

    unsafe fn dealloc(&mut self, block: *mut u8) {
        // SAFETY: the caller got it from here, and gives it up.
        let bytes = unsafe { Self::usable_size(block) };
        self.0.subtract(bytes);
        if is_kept(bytes) && with_spares(fitting(bytes), |spares| spares.keep(block)) == Some(true) {
            return;
        }
        // SAFETY: as above.
        unsafe { libc::free(block.cast()) };
    }

    unsafe fn realloc(&mut self, block: *mut u8, bytes: usize) -> *mut u8 {
        // SAFETY: the caller got it from here.
        let before = unsafe { Self::usable_size(block) };
        if bytes > before && !self.0.admits(bytes - before) {
            return null_mut();
        }
        // SAFETY: as above; the caller gives it up for what it gets.
        let moved = self.count(unsafe { libc::realloc(block.cast(), bytes) }.cast());
        if !moved.is_null() {
            self.0.subtract(before);
        }
        moved
    }

    unsafe fn usable_size(block: *mut u8) -> usize {
        // SAFETY: the caller got it from here.
        unsafe { libc::malloc_usable_size(block.cast()) }
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;
    use crate::memory::{MemoryLimits, MemoryPool};

    #[test]
    fn sizes_hold_what_they_say() {
        for bytes in BYTES_MIN..=BYTES_MAX {
            let size = holding(bytes);
            assert!(size < SIZES && bytes_of(size) >= bytes, "{bytes}");
            assert!(size == 0 || bytes_of(size - 1) < bytes, "{bytes} would fit into a smaller one");
            assert!(bytes_of(fitting(bytes)) <= bytes, "{bytes}");
        }
        assert_eq!((bytes_of(SIZES - 1), fitting(BYTES_MAX)), (BYTES_MAX, SIZES - 1));
    }

    #[test]
    fn what_was_freed_last_comes_first() {
        let account =
            MemoryAccount::new(MemoryPool::new(MemoryLimits { vu_bytes: 1 << 40, process_bytes: 1 << 40 }));
        let mut heap = Recycling(account.clone());
        let blocks: Vec<_> = (0..SPARES_MAX + 10).map(|_| heap.alloc(1000)).collect();
        // SAFETY: each block is written within its length, and freed once.
        unsafe {
            for block in &blocks {
                block.write_bytes(7, 1000);
                assert!(Recycling::usable_size(*block) >= 1000);
            }
            heap.dealloc(blocks[3]);
            heap.dealloc(blocks[5]);
            assert_eq!((heap.alloc(1024), heap.alloc(897)), (blocks[5], blocks[3]));
            blocks.iter().for_each(|block| heap.dealloc(*block));
            // Cleared memory is clear, also where the block was used before.
            let clear = heap.calloc(100, 10);
            assert!(std::slice::from_raw_parts(clear, 1000).iter().all(|byte| *byte == 0));
            let longer = heap.realloc(clear, 5000);
            assert!(Recycling::usable_size(longer) >= 5000);
            heap.dealloc(longer);
        }
        assert_eq!(account.held_bytes(), 0, "what was freed is not held");
        let first = heap.alloc(100_000);
        assert!(account.held_bytes() >= 100_000);
        // SAFETY: freed once.
        unsafe { heap.dealloc(first) };
        // A compiler may leave out a `malloc` whose block is never seen, and then it never fails.
        assert!(black_box(heap.calloc(usize::MAX, 2)).is_null());
        assert!(black_box(heap.alloc(usize::MAX / 2)).is_null());
    }
}
