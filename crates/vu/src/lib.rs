//! A VU's body: a stack of its own that can stop in the middle of anything and go on later.
//!
//! JavaScript calls `http.get()` and expects the answer when the call returns; a thread per VU would allow that and
//! cost megabytes each. Here a VU runs on a *stackful coroutine*: [`block_on`] polls an ordinary future, and where
//! the future is not ready it suspends the whole stack, JavaScript frames included, and hands the thread to another
//! VU. To the async runtime a [`Coroutine`] is just one more future.
//!
//! The crate holds all stack `unsafe` of the project, and the allocator that suits its threads. It knows nothing of k6 or HTTP.

pub mod busy;
mod coroutine;
pub mod preempt;
mod recent;
pub mod slices;
pub mod timer;
pub mod turns;
mod workers;

pub use coroutine::{
    Coroutine, Interrupted, Interrupter, LeftBehind, block_on, block_on_always, clear_interrupt, coroutine,
    in_coroutine, is_interrupted, shrink_stack, stack_bytes, suspensions, yield_after_slice, yield_now,
};
pub use recent::Recent;
pub use workers::{Spawner, Workers, run_here};

/// Coroutines that fit into this process: each stack takes two memory mappings of the kernel's limit.
///
/// `None` where the limit cannot be read. Raise it with `sysctl vm.max_map_count`.
pub fn coroutines_max() -> Option<u64> {
    /// Mappings left for everything that is not a stack.
    const MAPPINGS_RESERVED: u64 = 2_000;
    let text = std::fs::read_to_string("/proc/sys/vm/max_map_count").ok()?;
    let mappings: u64 = text.trim().parse().ok()?;
    Some(mappings.saturating_sub(MAPPINGS_RESERVED) / 2)
}
