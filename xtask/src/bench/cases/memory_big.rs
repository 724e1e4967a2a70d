//! Memory per VU of a script that brings lodash and moment.

use super::{libraries, memory};
use crate::bench::Bench;
use crate::bench::page::Report;

pub(super) fn run(bench: &Bench) -> anyhow::Result<Report> {
    match libraries::beside(bench, "big.js") {
        Ok(script) => memory::measure(bench, &script, "memory, big script"),
        Err(error) => Ok(Report::skipped(format!("{error:#}"))),
    }
}
