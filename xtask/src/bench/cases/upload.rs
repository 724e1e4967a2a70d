//! 50 VUs that send 100 KB with each request.

use crate::bench::page::Report;
use crate::bench::{Bench, contest};

pub(super) fn run(bench: &Bench) -> anyhow::Result<Report> {
    let all =
        contest::run(bench, &bench.scripted(), &bench.load("upload.js", bench.server.url("/upload"), 50))?;
    Ok(contest::report(&all, |_| None))
}
