//! 100 VUs of the script that brings lodash and moment, as fast as they are answered.

use super::libraries;
use crate::bench::page::Report;
use crate::bench::{Bench, contest};

pub(super) fn run(bench: &Bench) -> anyhow::Result<Report> {
    let script = match libraries::beside(bench, "busy-big.js") {
        Ok(script) => script,
        Err(error) => return Ok(Report::skipped(format!("{error:#}"))),
    };
    let mut load = bench.load("busy-big.js", bench.server.url("/list"), 100);
    load.script = script;
    let all = contest::run(bench, &bench.scripted(), &load)?;
    Ok(contest::report(&all, |_| None))
}
