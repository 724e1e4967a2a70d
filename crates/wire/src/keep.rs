//! Memory for bodies that the allocator does not give back between two of them.
//!
//! The bodies of one load have about one size, and a thread often holds only one of them at a time. An allocator that
//! returns a page once nothing is left in it then fetches a fresh page, cold in every cache, for nearly every response. One
//! block of each size that is common keeps those pages.

use std::cell::OnceCell;

/// Sizes of blocks in bytes: four per doubling, as allocators round them.
const STEPS_PER_DOUBLING: usize = 4;
const BYTES_MIN: usize = 512;
const BYTES_MAX: usize = 32 << 10;

thread_local! {
    static KEPT: OnceCell<Vec<Vec<u8>>> = const { OnceCell::new() };
}

/// Keeps this thread's pages, once. The blocks are never written to, so that they take hardly any memory.
pub(crate) fn pages() {
    KEPT.with(|kept| {
        kept.get_or_init(|| sizes().map(Vec::with_capacity).collect());
    });
}

fn sizes() -> impl Iterator<Item = usize> {
    let doublings = std::iter::successors(Some(BYTES_MIN), |bytes| Some(bytes * 2));
    doublings
        .take_while(|bytes| *bytes < BYTES_MAX)
        .flat_map(|bytes| (1..=STEPS_PER_DOUBLING).map(move |step| bytes + bytes / STEPS_PER_DOUBLING * step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_common_size_has_a_block() {
        let sizes: Vec<usize> = sizes().collect();
        assert_eq!(sizes[..5], [640, 768, 896, 1024, 1280]);
        assert_eq!(sizes.last(), Some(&BYTES_MAX));
    }
}
