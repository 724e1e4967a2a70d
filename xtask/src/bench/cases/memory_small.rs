//! Memory per VU of a 45-line script.

use super::memory;
use crate::bench::page::Report;
use crate::bench::{Bench, script_path};

pub(super) fn run(bench: &Bench) -> anyhow::Result<Report> {
    memory::measure(bench, &script_path("small.js"), "memory, small script")
}
