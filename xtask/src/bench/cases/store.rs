//! What storing a run costs: CPU per request with and without it, under the same load.

use crate::bench::Bench;
use crate::bench::bars::judge;
use crate::bench::page::Report;
use crate::bench::stats::{median, ratio};

const VUS: u32 = 100;

pub(super) fn run(bench: &Bench) -> anyhow::Result<Report> {
    let flags = [vec![], vec!["--no-store".to_owned()]];
    let mut cpu_us = [Vec::new(), Vec::new()];
    for round in 0..bench.rounds {
        // Every round begins with the other one.
        for turn in 0..flags.len() {
            let index = (round as usize + turn) % flags.len();
            let mut load = bench.load("script.js", bench.server.url("/list"), VUS);
            load.flags = flags[index].clone();
            let outcome = bench.plimsoll().run(&load, &bench.server, &bench.folder, |_| ())?;
            cpu_us[index].push(outcome.cost.cpu_s * 1e6 / outcome.requests as f64);
        }
        bench.progress(&format!("round {} of {}", round + 1, bench.rounds));
    }
    let [stored, not_stored] = cpu_us;
    let row = |what: &str, figures: &[f64]| vec![what.to_owned(), format!("{:.2}", median(figures))];
    let titles = ["run", "CPU µs/request"].map(str::to_owned).to_vec();
    Ok(Report {
        rows: vec![titles, row("stored", &stored), row("`--no-store`", &not_stored)],
        verdicts: ratio(&stored, &not_stored)
            .map(|found| judge("stored against not stored", found))
            .into_iter()
            .collect(),
        notes: vec![format!(
            "{VUS} VUs as fast as they are answered; writing the file and compacting it are included."
        )],
    })
}
