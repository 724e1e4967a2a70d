//! 1000 VUs that ask for 1.2 KB of JSON as fast as they are answered.

use crate::bench::clients::Client;
use crate::bench::page::Report;
use crate::bench::{Bench, contest};

pub(super) fn run(bench: &Bench) -> anyhow::Result<Report> {
    let load = bench.load("script.js", bench.server.url("/list"), 1000);
    let all = contest::run(bench, &bench.everybody(), &load)?;
    Ok(contest::report(&all, |client| match client {
        Client::K6(_) => Some("k6, 1000 VUs"),

        _ => None,
    }))
}
