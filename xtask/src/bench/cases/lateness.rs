//! How late iterations start when the client's core is half busy.

use anyhow::Context;

use crate::bench::Bench;
use crate::bench::bars::judge;
use crate::bench::clients::Load;
use crate::bench::page::Report;
use crate::bench::stats::{estimate, median};

const VUS: u32 = 200;

/// How busy the client's core shall be.
const SHARE: f64 = 0.5;

/// The run that finds out what a request of an open schedule costs.
const CALIBRATION_SECONDS: u32 = 3;
const CALIBRATION_PER_S: f64 = 8_000.0;

/// Requests per second of an open schedule at which the client's core is half busy.
pub(super) fn half_load_per_s(bench: &Bench) -> anyhow::Result<f64> {
    let mut calibration = open(bench, CALIBRATION_PER_S);
    calibration.seconds = CALIBRATION_SECONDS;
    let outcome = bench.plimsoll().run(&calibration, &bench.server, &bench.folder, |_| ())?;
    Ok(outcome.requests as f64 / outcome.cost.cpu_s * SHARE)
}

fn open(bench: &Bench, per_s: f64) -> Load {
    let mut load = bench.load("open.js", bench.server.url("/list"), VUS);
    load.variables = vec![("RATE", format!("{per_s:.0}"))];
    load
}

pub(super) fn run(bench: &Bench) -> anyhow::Result<Report> {
    let rate = half_load_per_s(bench)?;
    let (mut p99_ms, mut max_ms, mut busy) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..bench.rounds {
        let outcome = bench.plimsoll().run(&open(bench, rate), &bench.server, &bench.folder, |_| ())?;
        let lateness = &outcome.summary["metrics"]["iteration_lateness"];
        p99_ms.push(lateness["p(99)"].as_f64().context("find the p(99) of iteration_lateness")?);
        max_ms.push(lateness["max"].as_f64().context("find the max of iteration_lateness")?);
        busy.push(outcome.cost.cpu_s / outcome.cost.wall_s);
        bench.progress(&format!("round {} of {}", round + 1, bench.rounds));
    }
    let titles = ["iterations/s", "CPU of the core", "lateness p99 ms", "max ms"].map(str::to_owned).to_vec();
    let figures = vec![
        format!("{rate:.0}"),
        format!("{:.0} %", median(&busy) * 100.0),
        format!("{:.3}", median(&p99_ms)),
        format!("{:.2}", median(&max_ms)),
    ];
    let verdicts = estimate(&p99_ms).map(|found| judge("lateness p99 at half load", found));
    Ok(Report { rows: vec![titles, figures], verdicts: verdicts.into_iter().collect(), notes: Vec::new() })
}
