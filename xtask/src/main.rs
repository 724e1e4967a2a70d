//! Automation of this repository, as `cargo xtask`.
fn main() {}
