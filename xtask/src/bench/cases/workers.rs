//! CPU per request with one worker thread and with two, at the same rate on the same cores.

use crate::bench::bars::judge;
use crate::bench::page::Report;
use crate::bench::stats::{median, ratio};
use crate::bench::{ALL_CORES, Bench};

/// Well below what one worker can do beside the server.
const PER_S: u32 = 10_000;
const VUS: u32 = 100;

pub(super) fn run(bench: &Bench) -> anyhow::Result<Report> {
    let mut cpu_us = [Vec::new(), Vec::new()];
    for round in 0..bench.rounds {
        for (workers, cpu_us) in (1..).zip(&mut cpu_us) {
            let mut load = bench.load("open.js", bench.server.url("/list"), VUS);
            load.variables = vec![("RATE", PER_S.to_string())];
            load.flags = vec!["--workers".to_owned(), workers.to_string()];
            load.cores = ALL_CORES;
            let outcome = bench.plimsoll().run(&load, &bench.server, &bench.folder, |_| ())?;
            cpu_us.push(outcome.cost.cpu_s * 1e6 / outcome.requests as f64);
        }
        bench.progress(&format!("round {} of {}", round + 1, bench.rounds));
    }
    let [one, two] = cpu_us;
    let row = |workers: &str, figures: &[f64]| vec![workers.to_owned(), format!("{:.2}", median(figures))];
    let titles = ["workers", "CPU µs/request"].map(str::to_owned).to_vec();
    Ok(Report {
        rows: vec![titles, row("1", &one), row("2", &two)],
        verdicts: ratio(&two, &one)
            .map(|found| judge("two workers against one", found))
            .into_iter()
            .collect(),
        notes: vec![format!(
            "{PER_S} requests/s from an open schedule; the server shares one of the two cores."
        )],
    })
}
