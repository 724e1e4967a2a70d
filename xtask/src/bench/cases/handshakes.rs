//! Full TLS 1.3 handshakes: a new connection for each request, and a server that resumes no session.

use crate::bench::page::Report;
use crate::bench::{Bench, contest};

pub(super) fn run(bench: &Bench) -> anyhow::Result<Report> {
    let Some(url) = bench.server.tls_url("/list") else {
        return Ok(Report::skipped("openssl is not installed"));
    };
    let all = contest::run(bench, &bench.scripted(), &bench.load("handshake.js", url, 50))?;
    Ok(contest::report(&all, |_| None))
}
