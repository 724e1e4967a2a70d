//! 10,000 VUs: how soon the first request leaves, and whether each then asks once a second.

use std::cell::Cell;

use super::libraries;
use crate::bench::bars::judge;
use crate::bench::clients::Load;
use crate::bench::memory_latency::first_touch_s_per_gb;
use crate::bench::page::Report;
use crate::bench::stats::{estimate, median};
use crate::bench::{ALL_CORES, Bench};

const VUS: u32 = 10_000;

/// Rounds: enough for a bound.
const ROUNDS: u32 = 5;

/// The load lasts at least this long, so that the rush of the first second fades.
const SECONDS_MIN: u32 = 20;

/// Of the small script.
pub(super) fn small(bench: &Bench) -> anyhow::Result<Report> {
    measure(bench, bench.load("small.js", bench.server.url("/list"), VUS), "ready, 10,000 VUs")
}

/// Of the script that brings lodash and moment.
pub(super) fn big(bench: &Bench) -> anyhow::Result<Report> {
    let mut load = bench.load("big.js", bench.server.url("/list"), VUS);
    load.script = match libraries::beside(bench, "big.js") {
        Ok(script) => script,
        Err(error) => return Ok(Report::skipped(format!("{error:#}"))),
    };
    measure(bench, load, "ready, 10,000 big VUs")
}

fn measure(bench: &Bench, mut load: Load, bar: &str) -> anyhow::Result<Report> {
    load.seconds = bench.seconds.max(SECONDS_MIN);
    load.cores = ALL_CORES.to_owned();
    let (mut ready_s, mut per_s, mut resident_mb) = (Vec::new(), Vec::new(), Vec::new());
    let s_per_gb = first_touch_s_per_gb();
    for round in 0..ROUNDS {
        let first_s = Cell::new(None);
        let before = bench.server.requests()?;
        let outcome = bench.plimsoll().run(&load, &bench.server, &bench.folder, |elapsed_s| {
            if first_s.get().is_some() {
                return;
            }
            if bench.server.requests().is_ok_and(|seen| seen > before) {
                first_s.set(Some(elapsed_s));
            }
        });
        let outcome = outcome?;
        ready_s.push(first_s.get().unwrap_or(f64::NAN));
        per_s.push(outcome.requests as f64 / f64::from(load.seconds));
        resident_mb.push(outcome.cost.resident_max as f64 / 1e6);
        bench.progress(&format!("round {} of {ROUNDS}", round + 1));
    }
    let titles = ["VUs", "ready s", "requests/s held", "RSS MB"].map(str::to_owned).to_vec();
    let figures = vec![
        VUS.to_string(),
        format!("{:.2}", median(&ready_s)),
        format!("{:.0}", median(&per_s)),
        format!("{:.0}", median(&resident_mb)),
    ];
    let verdicts = estimate(&ready_s).map(|found| judge(bar, found));
    let notes = vec![format!(
        "Ready is when the server sees the first request, counted from the start of the process, on both cores. Each \
         VU sleeps for 1 s between requests, for {} s. Before, the machine took {s_per_gb:.1} s to give a gigabyte of \
         unused memory.",
        load.seconds
    )];
    Ok(Report { rows: vec![titles, figures], verdicts: verdicts.into_iter().collect(), notes })
}
