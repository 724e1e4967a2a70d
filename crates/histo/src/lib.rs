//! The one mergeable histogram, and the sums and exact values that go with it.
//!
//! Everything in this crate adds up in any order: [`Histogram`] counts in buckets, [`FixedSum`] adds in fixed point, and
//! [`Values`] keeps raw values while they are few. Two machines that saw the same samples hold equal numbers, bit for
//! bit, however the samples were split. The crate knows nothing of time or of metrics.

mod borrowed;
mod bucket;
mod codec;
mod histogram;
mod pages;
mod sum;
mod values;

pub use borrowed::{BorrowedValues, Buckets};
pub use bucket::{INDEX_MAX, INDEX_MIN, SCALE, bounds, index_of};
pub use codec::DecodeError;
pub use histogram::{Bucket, Histogram};
pub use sum::FixedSum;
pub use values::{EXACT_MAX, Values};
