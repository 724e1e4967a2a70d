//! Slabs: memory for short blocks, which all VUs of a thread share.
//!
//! A slab holds blocks of one size. What one VU frees is what the next one gets, still in the processor's cache, and a free place serves
//! every VU. Sizes go in steps of 8 bytes up to 128, and of an eighth of a doubling beyond. Slabs are Bonwick's ("The Slab
//! Allocator: An Object-Caching Kernel Memory Allocator", USENIX 1994), with a list of free blocks for each, as mimalloc has.

use std::cell::{Cell, RefCell};
use std::ptr::null_mut;
use std::rc::{Rc, Weak};

use super::range::{self, SLAB_BYTES};

/// The longest block of a slab, bytes.
pub(super) const BYTES_MAX: usize = 8 << 10;

/// Sizes of blocks: 16 up to 128 bytes, then 8 in each doubling.
const SIZES: usize = 64;

/// Empty slabs that a thread keeps for the next that needs one.
const SPARES_MAX: usize = 16;

/// The index of the size that holds so many times 8 bytes.
const SIZE_OF_EIGHTS: [u8; BYTES_MAX / 8 + 1] = {
    let mut sizes = [0; BYTES_MAX / 8 + 1];
    let (mut eights, mut size) = (1, 0);
    while eights < sizes.len() {
        if bytes_of(size) < eights * 8 {
            size += 1;
        }
        sizes[eights] = size as u8;
        eights += 1;
    }
    sizes
};

/// The bytes of a size.
const fn bytes_of(size: usize) -> usize {
    if size < 16 {
        return (size + 1) * 8;
    }
    let (doubling, eighths) = (size / 8 + 5, size % 8 + 1);
    (1 << doubling) + (eighths << (doubling - 3))
}

/// A free block, which leads to the one that was freed before it.
struct Free {
    next: *mut Free,
}

/// The descriptor of a slab; one line of a cache.
#[repr(C, align(64))]
pub(super) struct Slab {
    free: *mut Free,
    /// Blocks in use.
    used: u32,
    /// Where the part begins that was never in use, bytes from the slab's beginning.
    fresh: u32,
    block_bytes: u32,
    size: u8,
    /// Whether the slab is in its size's list.
    is_listed: bool,
    previous: *mut Slab,
    next: *mut Slab,
}

/// The slabs of a thread.
pub(crate) struct Slabs {
    /// Of each size, slabs that may have free blocks. Blocks are taken from the first.
    lists: [Cell<*mut Slab>; SIZES],
    /// Slabs without blocks.
    spares: RefCell<Vec<*mut Slab>>,
}

thread_local! {
    static OF_THREAD: RefCell<Weak<Slabs>> = const { RefCell::new(Weak::new()) };
}

impl Slabs {
    /// The slabs of this thread, for all its heaps.
    pub(super) fn of_thread() -> Rc<Slabs> {
        OF_THREAD.with_borrow_mut(|known| {
            known.upgrade().unwrap_or_else(|| {
                let lists = [const { Cell::new(null_mut()) }; SIZES];
                let slabs = Rc::new(Slabs { lists, spares: RefCell::default() });
                *known = Rc::downgrade(&slabs);
                slabs
            })
        })
    }

    /// A block for at least so many bytes, of which there are at most [`BYTES_MAX`], and its length; null where there is none.
    #[inline]
    pub(super) fn take(&self, bytes: usize) -> (*mut u8, usize) {
        let size = usize::from(SIZE_OF_EIGHTS[bytes.div_ceil(8)]) % SIZES;
        let slab = self.lists[size].get();
        if slab.is_null() {
            return self.take_slowly(size);
        }
        // SAFETY: a listed slab is this thread's, and nothing else refers to its descriptor now.
        let slab = unsafe { &mut *slab };
        match slab.take_free() {
            Some(block) => (block, slab.block_bytes as usize),
            None => self.take_slowly(size),
        }
    }

    #[cold]
    #[inline(never)]
    fn take_slowly(&self, size: usize) -> (*mut u8, usize) {
        loop {
            let slab = self.lists[size].get();
            if slab.is_null() {
                if !self.add(size) {
                    return (null_mut(), 0);
                }
                continue;
            }
            // SAFETY: as in `take`.
            let descriptor = unsafe { &mut *slab };
            if let Some(block) =
                descriptor.take_free().or_else(|| descriptor.take_fresh(range::first_block(slab)))
            {
                return (block, descriptor.block_bytes as usize);
            }
            self.unlist(slab);
        }
    }

    /// Takes a block back, and returns its length.
    ///
    /// # Safety
    /// The block is the slab's, which is this thread's, and in no other use.
    #[inline]
    pub(super) unsafe fn give(&self, slab: *mut Slab, block: *mut u8) -> usize {
        // SAFETY: the slab is this thread's, and nothing else refers to its descriptor now.
        let descriptor = unsafe { &mut *slab };
        let free: *mut Free = block.cast();
        // SAFETY: the block is at least 8 bytes long, begins at a multiple of 8, and has no other owner.
        unsafe { free.write(Free { next: descriptor.free }) };
        descriptor.free = free;
        descriptor.used -= 1;
        let bytes = descriptor.block_bytes as usize;
        if descriptor.used == 0 || !descriptor.is_listed {
            self.settle(slab);
        }
        bytes
    }

    /// Lists a slab that was full, and keeps one that is empty for another size; the first of a list stays where it is.
    #[cold]
    fn settle(&self, slab: *mut Slab) {
        // SAFETY: the slab is this thread's.
        let (used, is_listed) = unsafe { ((*slab).used, (*slab).is_listed) };
        if !is_listed {
            self.list(slab);
        }
        // SAFETY: as above.
        let is_first = unsafe { (*slab).previous.is_null() };
        if used > 0 || is_first {
            return;
        }
        self.unlist(slab);
        let mut spares = self.spares.borrow_mut();
        if spares.len() < SPARES_MAX {
            spares.push(slab);
        } else {
            range::return_slab(slab);
        }
    }

    /// Adds a slab for blocks of a size; `false` if there is none.
    fn add(&self, size: usize) -> bool {
        let spare = self.spares.borrow_mut().pop();
        let Some(slab) = spare.or_else(range::take_slab) else { return false };
        let empty = Slab {
            free: null_mut(),
            used: 0,
            fresh: 0,
            block_bytes: bytes_of(size) as u32,
            size: size as u8,
            is_listed: false,
            previous: null_mut(),
            next: null_mut(),
        };
        // SAFETY: the slab is unused, so that nothing refers to its descriptor.
        unsafe { slab.write(empty) };
        self.list(slab);
        true
    }

    /// Puts a slab behind the first of its list.
    fn list(&self, slab: *mut Slab) {
        // SAFETY: all slabs of the list are this thread's, and nothing refers to their descriptors now.
        unsafe {
            let first = &self.lists[(*slab).size as usize];
            (*slab).is_listed = true;
            (*slab).previous = first.get();
            if first.get().is_null() {
                (*slab).next = null_mut();
                first.set(slab);
                return;
            }
            let next = (*first.get()).next;
            (*slab).next = next;
            (*first.get()).next = slab;
            if !next.is_null() {
                (*next).previous = slab;
            }
        }
    }

    /// Takes a slab out of its list.
    fn unlist(&self, slab: *mut Slab) {
        // SAFETY: as in `list`.
        unsafe {
            let (previous, next) = ((*slab).previous, (*slab).next);
            (*slab).is_listed = false;
            if previous.is_null() {
                self.lists[(*slab).size as usize].set(next);
            } else {
                (*previous).next = next;
            }
            if !next.is_null() {
                (*next).previous = previous;
            }
        }
    }
}

impl Slab {
    /// The block that was freed last.
    #[inline]
    fn take_free(&mut self) -> Option<*mut u8> {
        if self.free.is_null() {
            return None;
        }
        let block = self.free;
        // SAFETY: a free block of this slab has no owner, and was written when it was freed.
        self.free = unsafe { (*block).next };
        self.used += 1;
        Some(block.cast())
    }

    /// A block that was never in use.
    fn take_fresh(&mut self, slab: *mut u8) -> Option<*mut u8> {
        let end = self.fresh + self.block_bytes;
        if end as usize > SLAB_BYTES {
            return None;
        }
        let block = slab.wrapping_add(self.fresh as usize);
        self.fresh = end;
        self.used += 1;
        Some(block)
    }
}

/// The length of the blocks of a slab.
///
/// # Safety
/// The slab has blocks in use, and is this thread's.
#[inline]
pub(super) unsafe fn block_bytes(slab: *mut Slab) -> usize {
    // SAFETY: the descriptor of a slab with blocks in use is there.
    unsafe { (*slab).block_bytes as usize }
}

impl Drop for Slabs {
    /// All heaps of the thread have ended, and with them their blocks. A slab with a block that was forgotten stays as it is.
    fn drop(&mut self) {
        for list in &self.lists {
            let mut slab = list.get();
            while !slab.is_null() {
                // SAFETY: as in `list`.
                let (next, used) = unsafe { ((*slab).next, (*slab).used) };
                if used == 0 {
                    range::return_slab(slab);
                }
                slab = next;
            }
        }
        self.spares.get_mut().drain(..).for_each(range::return_slab);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// # Safety
    /// As of [`Slabs::give`].
    unsafe fn give(slabs: &Slabs, block: *mut u8) -> usize {
        // SAFETY: promised by the caller.
        unsafe { slabs.give(range::slab_of(block).expect("a slab"), block) }
    }

    #[test]
    fn sizes_hold_what_they_say() {
        for bytes in 1..=BYTES_MAX {
            let size = SIZE_OF_EIGHTS[bytes.div_ceil(8)] as usize;
            assert!(size < SIZES && bytes_of(size) >= bytes, "{bytes}");
            assert!(size == 0 || bytes_of(size - 1) < bytes, "{bytes} would fit into a smaller one");
            assert!(bytes_of(size) < bytes + 8 + bytes / 8, "{bytes}: too much is lost");
        }
        assert_eq!(bytes_of(SIZES - 1), BYTES_MAX);
    }

    #[test]
    fn blocks_are_apart_and_the_last_freed_comes_first() {
        let slabs = Slabs::of_thread();
        let taken: Vec<*mut u8> = (0..5000).map(|_| slabs.take(100).0).collect();
        let mut sorted = taken.clone();
        sorted.sort();
        assert!(sorted.windows(2).all(|pair| pair[1].addr() - pair[0].addr() >= 104));
        // SAFETY: each block is written within its length, and given back once.
        unsafe {
            taken.iter().for_each(|block| block.write_bytes(7, 104));
            assert_eq!(give(&slabs, taken[4998]), 104);
            assert_eq!(give(&slabs, taken[4999]), 104);
            assert_eq!([slabs.take(97).0, slabs.take(104).0], [taken[4999], taken[4998]]);
            // A slab that was full has a free block again, and serves after the first.
            give(&slabs, taken[0]);
            let mut others = (0..5000).map(|_| slabs.take(100).0);
            assert!(others.any(|block| block == taken[0]));
            taken[1..].iter().for_each(|block| assert_eq!(give(&slabs, *block), 104));
        }
    }

    #[test]
    fn empty_slabs_serve_other_sizes_and_go_back() {
        let slabs = Slabs::of_thread();
        let fill = |bytes: usize| -> Vec<*mut u8> {
            (0..40 * SLAB_BYTES / bytes).map(|_| slabs.take(bytes).0).collect()
        };
        let free = |blocks: Vec<*mut u8>| {
            // SAFETY: each was just taken.
            blocks.into_iter().for_each(|block| unsafe {
                give(&slabs, block);
            });
        };
        free(fill(64));
        assert_eq!(slabs.spares.borrow().len(), SPARES_MAX);
        let others = fill(1024);
        assert!(slabs.spares.borrow().is_empty(), "those without blocks were used first");
        free(others);
        let listed: usize = slabs.lists.iter().map(|list| usize::from(!list.get().is_null())).sum();
        assert_eq!(listed, 2, "one of each size stays");
    }

    /// Blocks of any sizes, taken and given back in any order, never overlap and keep their contents.
    #[test]
    fn no_block_is_given_out_twice() {
        let slabs = Slabs::of_thread();
        let mut random = fastrand::Rng::with_seed(7);
        let mut held: Vec<(*mut u8, usize, u8)> = Vec::new();
        for step in 0..200_000 {
            if held.len() > 3000 || (random.bool() && !held.is_empty()) {
                let (block, bytes, mark) = held.swap_remove(random.usize(..held.len()));
                // SAFETY: the block is held, and that long.
                let contents = unsafe { std::slice::from_raw_parts(block, bytes) };
                assert!(contents.iter().all(|byte| *byte == mark), "step {step}");
                // SAFETY: it is held no more.
                unsafe { give(&slabs, block) };
                continue;
            }
            let scale = random.usize(..9);
            let bytes = random.usize(1..=BYTES_MAX >> scale);
            let (block, length) = slabs.take(bytes);
            assert!(length >= bytes && block.addr().is_multiple_of(8));
            let mark = random.u8(..);
            // SAFETY: the block is held, and that long.
            unsafe { block.write_bytes(mark, length) };
            held.push((block, length, mark));
        }
        // SAFETY: each is held.
        held.into_iter().for_each(|(block, ..)| unsafe {
            give(&slabs, block);
        });
    }
}
