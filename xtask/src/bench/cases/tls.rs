//! 100 VUs over TLS 1.3, connections kept.

use crate::bench::clients::Client;
use crate::bench::page::Report;
use crate::bench::{Bench, contest};

pub(super) fn run(bench: &Bench) -> anyhow::Result<Report> {
    let Some(url) = bench.server.tls_url("/list") else {
        return Ok(Report::skipped("openssl is not installed"));
    };
    let all = contest::run(bench, &bench.everybody(), &bench.load("script.js", url, 100))?;
    Ok(contest::report(&all, |client| match client {
        Client::K6(_) => Some("k6, TLS"),
        _ => None,
    }))
}
