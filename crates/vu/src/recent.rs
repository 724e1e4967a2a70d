//! Memory that gives a worker thread the block that it freed last.
//!
//! An iteration takes the same few blocks as the one before it, of another VU. The program's allocator gives out all free blocks of
//! a page before one comes again, so that with many VUs each has left the processor's cache by then. Here the last one comes first. The
//! few that each size keeps are a magazine of Bonwick and Adams ("Magazines and Vmem", USENIX 2001).
#![expect(unsafe_code, reason = "an allocator; each block states its invariant")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::null_mut;

/// The step between sizes, bytes. No block that is kept asks for a greater alignment.
const STEP_BYTES: usize = 16;

/// The longest block that is kept, bytes.
const BYTES_MAX: usize = 2 << 10;

const SIZES: usize = BYTES_MAX / STEP_BYTES;

/// Blocks of one size that a thread keeps: with their number they fill a line of the cache.
const BLOCKS_MAX: usize = 7;

/// The program's allocator with magazines in front, which worker threads have.
#[derive(Clone, Copy, Debug)]
pub struct Recent;

/// Lets this thread keep blocks until it is dropped.
pub(crate) struct Keeping(());

/// A size of blocks, by its number.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Size(usize);

/// Free blocks of one size.
#[repr(align(64))]
struct Magazine {
    count: Cell<usize>,
    blocks: [Cell<*mut u8>; BLOCKS_MAX],
}

struct Magazines {
    is_open: Cell<bool>,
    of_size: [Magazine; SIZES],
}

thread_local! {
    // Without a destructor, so that it can be used at any time in the life of a thread. `Keeping` empties it.
    static MAGAZINES: Magazines = const {
        Magazines { is_open: Cell::new(false), of_size: [const { Magazine::new() }; SIZES] }
    };
}

// SAFETY: blocks come from the system's allocator with a size and an alignment of at least what was asked for, are given to one owner
// at a time, and go back there with the layout that they were taken with. Nothing here panics.
unsafe impl GlobalAlloc for Recent {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(size) = Size::of(layout) else {
            // SAFETY: passed on as it came.
            return unsafe { System.alloc(layout) };
        };
        let kept = MAGAZINES.with(|magazines| magazines.of_size[size.0].take());
        if kept.is_null() {
            // SAFETY: no size is zero.
            return unsafe { System.alloc(size.layout()) };
        }
        kept
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(size) = Size::of(layout) else {
            // SAFETY: passed on as it came; such a layout has gone to the system in `alloc`, too.
            return unsafe { System.dealloc(block, layout) };
        };
        let is_kept =
            MAGAZINES.with(|magazines| magazines.is_open.get() && magazines.of_size[size.0].put(block));
        if !is_kept {
            // SAFETY: every block of this size was taken with this layout.
            unsafe { System.dealloc(block, size.layout()) };
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if Size::of(layout).is_none() {
            // SAFETY: passed on as it came.
            return unsafe { System.alloc_zeroed(layout) };
        }
        // SAFETY: as in `alloc`; the block is as long as the layout says.
        unsafe {
            let block = self.alloc(layout);
            if !block.is_null() {
                block.write_bytes(0, layout.size());
            }
            block
        }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: the caller promises that the new size is valid for this alignment.
        let wanted = unsafe { Layout::from_size_align_unchecked(bytes, layout.align()) };
        match (Size::of(layout), Size::of(wanted)) {
            // SAFETY: passed on as it came.
            (None, None) => unsafe { System.realloc(block, layout, bytes) },
            (old, new) if old == new => block,
            // SAFETY: both blocks are as long as what is copied, and the old one is no longer used.
            _ => unsafe {
                let moved = self.alloc(wanted);
                if !moved.is_null() {
                    moved.copy_from_nonoverlapping(block, layout.size().min(bytes));
                    self.dealloc(block, layout);
                }
                moved
            },
        }
    }
}

impl Keeping {
    pub(crate) fn start() -> Keeping {
        MAGAZINES.with(|magazines| magazines.is_open.set(true));
        Keeping(())
    }
}

impl Drop for Keeping {
    fn drop(&mut self) {
        MAGAZINES.with(|magazines| {
            magazines.is_open.set(false);
            for (size, magazine) in magazines.of_size.iter().enumerate() {
                while let block = magazine.take()
                    && !block.is_null()
                {
                    // SAFETY: the block was freed, and every block of this size was taken with this layout.
                    unsafe { System.dealloc(block, Size(size).layout()) };
                }
            }
        });
    }
}

impl Size {
    /// The size that holds such a block; `None` if none does.
    #[inline]
    fn of(layout: Layout) -> Option<Size> {
        // A layout of no bytes, which must not be asked for, has no size either.
        let size = layout.size().wrapping_sub(1) / STEP_BYTES;
        (size < SIZES && layout.align() <= STEP_BYTES).then_some(Size(size))
    }

    /// The layout that the system is asked for, whatever the block is for.
    #[inline]
    fn layout(self) -> Layout {
        // SAFETY: the alignment is a power of two, and the size is far from the end of all addresses.
        unsafe { Layout::from_size_align_unchecked((self.0 + 1) * STEP_BYTES, STEP_BYTES) }
    }
}

impl Magazine {
    const fn new() -> Magazine {
        Magazine { count: Cell::new(0), blocks: [const { Cell::new(null_mut()) }; BLOCKS_MAX] }
    }

    /// The block that was put here last; null if there is none.
    #[inline]
    fn take(&self) -> *mut u8 {
        let Some(last) = self.count.get().checked_sub(1) else { return null_mut() };
        self.count.set(last);
        self.blocks[last % BLOCKS_MAX].get()
    }

    /// Keeps a block; returns `false` if the magazine is full.
    #[inline]
    fn put(&self, block: *mut u8) -> bool {
        let count = self.count.get();
        let Some(place) = self.blocks.get(count) else { return false };
        place.set(block);
        self.count.set(count + 1);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(bytes: usize, align: usize) -> Layout {
        Layout::from_size_align(bytes, align).unwrap()
    }

    /// A block filled with a number.
    fn filled(layout: Layout, number: u8) -> *mut u8 {
        // SAFETY: the block is as long as its layout says.
        unsafe {
            let block = Recent.alloc(layout);
            block.write_bytes(number, layout.size());
            block
        }
    }

    /// Whether the block holds the number everywhere.
    fn holds(block: *mut u8, bytes: usize, number: u8) -> bool {
        // SAFETY: called with blocks that are in use and so long.
        unsafe { std::slice::from_raw_parts(block, bytes) }.iter().all(|byte| *byte == number)
    }

    fn free(block: *mut u8, layout: Layout) {
        // SAFETY: called once for each block, with its layout.
        unsafe { Recent.dealloc(block, layout) };
    }

    #[test]
    fn what_was_freed_last_comes_first() {
        let _keeping = Keeping::start();
        let (one, other) = (filled(layout(100, 8), 1), filled(layout(112, 16), 2));
        assert_ne!(one, other);
        free(one, layout(100, 8));
        free(other, layout(112, 16));
        let again = [filled(layout(97, 1), 3), filled(layout(112, 8), 4)];
        assert_eq!(again, [other, one]);
        assert!(holds(other, 97, 3) && holds(one, 112, 4));
        free(again[0], layout(97, 1));
        free(again[1], layout(112, 8));
    }

    #[test]
    fn threads_keep_few_blocks_and_only_while_they_work() {
        let kept = || MAGAZINES.with(|magazines| magazines.of_size[6].count.get());
        let pass = || {
            let blocks: Vec<_> = (0..20).map(|number| filled(layout(100, 8), number)).collect();
            blocks.into_iter().for_each(|block| free(block, layout(100, 8)));
        };
        pass();
        assert_eq!(kept(), 0);
        let keeping = Keeping::start();
        pass();
        assert_eq!(kept(), BLOCKS_MAX);
        drop(keeping);
        assert_eq!(kept(), 0);
        pass();
        assert_eq!(kept(), 0);
    }

    #[test]
    fn blocks_keep_their_contents_whatever_is_taken_beside_them() {
        let _keeping = Keeping::start();
        let mut random = 7_u64;
        let mut next = |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % below
        };
        let mut blocks: Vec<(*mut u8, Layout, u8)> = Vec::new();
        for round in 0..50_000 {
            let number = round as u8;
            let is_short = next(4) > 0;
            let bytes = 1 + next(if is_short { 200 } else { 5_000 });
            match next(3) {
                0 if blocks.len() > 200 => {
                    let (block, layout, number) = blocks.swap_remove(next(blocks.len()));
                    assert!(holds(block, layout.size(), number), "{layout:?}");
                    free(block, layout);
                }
                1 if !blocks.is_empty() => {
                    let place = next(blocks.len());
                    let (block, old, number) = blocks[place];
                    // SAFETY: the block is in use and has this layout.
                    let moved = unsafe { Recent.realloc(block, old, bytes) };
                    assert!(holds(moved, old.size().min(bytes), number), "{old:?} to {bytes}");
                    // SAFETY: the block is so long now.
                    unsafe { moved.write_bytes(number, bytes) };
                    blocks[place] = (moved, layout(bytes, old.align()), number);
                }
                _ => {
                    let layout = layout(bytes, 1 << next(7));
                    // SAFETY: no layout is empty.
                    let block = unsafe { Recent.alloc_zeroed(layout) };
                    assert!(block.addr().is_multiple_of(layout.align()) && holds(block, bytes, 0));
                    // SAFETY: the block is so long.
                    unsafe { block.write_bytes(number, bytes) };
                    blocks.push((block, layout, number));
                }
            }
        }
        for (block, layout, number) in blocks {
            assert!(holds(block, layout.size(), number), "{layout:?}");
            free(block, layout);
        }
    }
}
