//! The gallery: systems made of other projects' programs, described by `gallery/STACK/stack.toml`. [`stack`] is the data, [`system`]
//! runs a stack, and [`provenance`] names the commits that a measurement belongs to.

pub(super) mod provenance;
pub(super) mod stack;
pub(super) mod system;
