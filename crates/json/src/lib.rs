//! JSON that a server sent, asked with the GJSON paths that k6's `json()` takes.
//!
//! Neither is to be trusted: a body nested a hundred thousand deep must not overflow the stack of the VU that asks it. The
//! library walks values and paths by calling itself, so both are measured before it sees them.

mod find;
mod keys;

pub use find::{DEPTH_MAX, Found, PATH_BYTES_MAX, PATH_PARTS_MAX, find};
