//! 50 VUs that read 1 MB with each request.

use crate::bench::page::Report;
use crate::bench::{Bench, contest};

pub(super) fn run(bench: &Bench) -> anyhow::Result<Report> {
    let all =
        contest::run(bench, &bench.scripted(), &bench.load("script.js", bench.server.url("/1mb.bin"), 50))?;
    Ok(contest::report(&all, |_| None))
}
