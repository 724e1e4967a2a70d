//! What was asked for, made exact: options from every source, merged, checked and turned into a [`model::Plan`].

pub mod segment;
pub mod stripe;

pub use segment::{SegmentError, parse_segment, parse_sequence};
pub use stripe::Stripe;

/// The most VUs that one number in the options may ask for. It bounds every list that has an entry per VU.
pub const VUS_MAX: u64 = 1_000_000;
