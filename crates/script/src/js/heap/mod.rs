//! Memory of the JavaScript heaps of a thread.
//!
//! Short blocks come from [`slabs`] that all VUs of a thread share, and longer ones, such as the body of a response, from the
//! program's allocator. The engine asks for every block: see `engine/stdbool.h` in this crate.

mod range;
mod slabs;

use std::ptr::null_mut;
use std::rc::Rc;

use rquickjs::allocator::Allocator;

use self::slabs::Slabs;
use crate::memory::MemoryAccount;

/// The allocator of a runtime. It counts what the runtime holds, and refuses blocks beyond its limit.
pub(crate) struct Heap {
    account: Rc<MemoryAccount>,
    slabs: Rc<Slabs>,
}

impl Heap {
    pub(crate) fn new(account: Rc<MemoryAccount>) -> Heap {
        Heap { account, slabs: Slabs::of_thread() }
    }

    /// A short block, counted; null where there are no slabs.
    #[inline]
    fn take(&self, bytes: usize) -> *mut u8 {
        if bytes > slabs::BYTES_MAX {
            return null_mut();
        }
        let (block, length) = self.slabs.take(bytes);
        self.account.add(length);
        block
    }

    /// Counts a new block of the program's allocator.
    fn count(&self, block: *mut u8) -> *mut u8 {
        if !block.is_null() {
            // SAFETY: the block is ours, and has no other owner yet.
            self.account.add(unsafe { Self::usable_size(block) });
        }
        block
    }
}

// SAFETY: every block comes from the slabs of the runtime's thread, which has the runtime until it ends, or from `malloc`, `calloc`
// or `realloc` of the program's allocator. Both know the length of a block, and its address says whose it is. Both align blocks for
// what the engine keeps in them: its own allocator, too, aligns them to 8 bytes.
unsafe impl Allocator for Heap {
    #[inline]
    fn alloc(&mut self, bytes: usize) -> *mut u8 {
        if !self.account.admits(bytes) {
            return null_mut();
        }
        let block = self.take(bytes);
        if !block.is_null() {
            return block;
        }
        // SAFETY: asks for memory only.
        self.count(unsafe { libc::malloc(bytes) }.cast())
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        let Some(bytes) = count.checked_mul(size).filter(|&bytes| self.account.admits(bytes)) else {
            return null_mut();
        };
        let block = self.take(bytes);
        if block.is_null() {
            // SAFETY: asks for memory only.
            return self.count(unsafe { libc::calloc(count, size) }.cast());
        }
        // SAFETY: the block is ours, and as long as was asked for.
        unsafe { block.write_bytes(0, bytes) };
        block
    }

    #[inline]
    unsafe fn dealloc(&mut self, block: *mut u8) {
        if let Some(slab) = range::slab_of(block) {
            // SAFETY: the caller got it from here, and gives it up.
            self.account.subtract(unsafe { self.slabs.give(slab, block) });
            return;
        }
        // SAFETY: as above.
        self.account.subtract(unsafe { Self::usable_size(block) });
        // SAFETY: as above.
        unsafe { libc::free(block.cast()) };
    }

    unsafe fn realloc(&mut self, block: *mut u8, bytes: usize) -> *mut u8 {
        // SAFETY: the caller got it from here.
        let before = unsafe { Self::usable_size(block) };
        if range::slab_of(block).is_some() {
            if (before / 2..=before).contains(&bytes) {
                return block;
            }
            let moved = self.alloc(bytes);
            if !moved.is_null() {
                // SAFETY: both blocks are the caller's, and at least as long as what is copied. It gives the first one up.
                unsafe {
                    moved.copy_from_nonoverlapping(block, before.min(bytes));
                    self.dealloc(block);
                }
            }
            return moved;
        }
        if bytes > before && !self.account.admits(bytes - before) {
            return null_mut();
        }
        // SAFETY: the caller got it from here, and gives it up for what it gets.
        let moved = self.count(unsafe { libc::realloc(block.cast(), bytes) }.cast());
        if !moved.is_null() {
            self.account.subtract(before);
        }
        moved
    }

    #[inline]
    unsafe fn usable_size(block: *mut u8) -> usize {
        if let Some(slab) = range::slab_of(block) {
            // SAFETY: the caller got it from here.
            return unsafe { slabs::block_bytes(slab) };
        }
        // SAFETY: as above.
        unsafe { libc::malloc_usable_size(block.cast()) }
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;
    use crate::memory::{MemoryLimits, MemoryPool};

    fn account(bytes: u64) -> Rc<MemoryAccount> {
        MemoryAccount::new(MemoryPool::new(MemoryLimits { vu_bytes: bytes, process_bytes: bytes }))
    }

    #[test]
    fn blocks_grow_and_shrink_and_keep_their_contents() {
        let account = account(1 << 40);
        let mut heap = Heap::new(account.clone());
        let lengths = [1, 8, 100, 5000, slabs::BYTES_MAX, slabs::BYTES_MAX + 1, 100_000, 20_000, 3000, 16];
        let mut block = heap.alloc(1);
        let mut kept = 1;
        // SAFETY: the block is written and read within its length, and freed once.
        unsafe {
            block.write(0);
            for bytes in lengths {
                block = heap.realloc(block, bytes);
                assert!(Heap::usable_size(block) >= bytes && account.held_bytes() >= bytes);
                kept = bytes.min(kept);
                assert!((0..kept).all(|at| block.add(at).read() == at as u8), "{bytes}");
                (0..bytes).for_each(|at| block.add(at).write(at as u8));
                kept = bytes;
            }
            heap.dealloc(block);
        }
        assert_eq!(account.held_bytes(), 0, "what was freed is not held");
    }

    #[test]
    fn cleared_memory_is_clear_also_where_a_block_was_before() {
        let mut heap = Heap::new(account(1 << 40));
        for bytes in [10, 1000, 100_000] {
            let block = heap.alloc(bytes);
            // SAFETY: both are written and read within their length, and freed once.
            unsafe {
                block.write_bytes(7, bytes);
                heap.dealloc(block);
                let clear = heap.calloc(bytes, 1);
                assert!(std::slice::from_raw_parts(clear, bytes).iter().all(|byte| *byte == 0));
                heap.dealloc(clear);
            }
        }
    }

    #[test]
    fn what_exceeds_the_limit_is_refused() {
        let account = account(1 << 20);
        let mut heap = Heap::new(account.clone());
        assert!(heap.alloc(2 << 20).is_null() && heap.calloc(2, 1 << 20).is_null());
        let block = heap.alloc(100);
        // SAFETY: it is freed once; growing it fails and leaves it.
        unsafe {
            assert!(heap.realloc(block, 2 << 20).is_null());
            heap.dealloc(block);
        }
        assert_eq!(account.held_bytes(), 0);
        // A compiler may leave out a `malloc` whose block is never seen, and then it never fails.
        let mut unlimited = Heap::new(self::account(u64::MAX));
        assert!(black_box(unlimited.calloc(usize::MAX, 2)).is_null());
        assert!(black_box(unlimited.alloc(usize::MAX / 2)).is_null());
    }
}
