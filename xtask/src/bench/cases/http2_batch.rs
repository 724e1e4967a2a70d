//! 20 VUs that send batches of twenty over HTTP/2, each over one connection.

use crate::bench::page::Report;
use crate::bench::{Bench, contest};

const VUS: u32 = 20;

pub(super) fn run(bench: &Bench) -> anyhow::Result<Report> {
    let Some(url) = bench.server.http2_url("/list") else {
        return Ok(Report::skipped("openssl is not installed"));
    };
    let all = contest::run(bench, &bench.scripted(), &bench.load("http2-batch.js", url, VUS))?;
    Ok(contest::report(&all, |_| None))
}
