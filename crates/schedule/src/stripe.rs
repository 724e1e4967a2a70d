//! This instance's part of the whole test.

/// The part of one instance that runs everything.
#[derive(Clone, Debug, Default)]
pub struct Stripe;

impl Stripe {
    /// How many of `whole` are this instance's.
    pub fn scale(&self, whole: u64) -> u64 {
        whole
    }

    /// The index in the whole test of this instance's `local`-th item; none beyond what an index can hold.
    pub fn global_index(&self, local: u64) -> Option<u64> {
        Some(local)
    }

    /// How many of `whole` belong to the instances before this one, and to those up to and with it.
    pub fn scaled_range(&self, whole: u64) -> (u64, u64) {
        (0, whole)
    }
}
