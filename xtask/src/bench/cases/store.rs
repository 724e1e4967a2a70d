//! The cost of storing a run: CPU per request with and without it, under the same load.

use anyhow::{Context, ensure};

use crate::bench::Bench;
use crate::bench::bars::judge;
use crate::bench::page::Report;
use crate::bench::stats::{median, ratio};

const VUS: u32 = 100;

/// Runs are short and rounds are many, since the two are compared within a round and the machine's mood changes meanwhile.
const RUN_S: u32 = 4;

/// Rounds here for each that was asked for.
const ROUNDS_FACTOR: u32 = 3;

/// Which of the two runs when in a round: a machine that becomes slower or faster meanwhile favours neither.
const TURNS: [usize; 4] = [0, 1, 1, 0];

/// Names and flags of the two.
const KINDS: [(&str, &[&str]); 2] = [("stored", &[]), ("`--no-store`", &["--no-store"])];

pub(super) fn run(bench: &Bench) -> anyhow::Result<Report> {
    // The first run of all pays for caches that the others find warm.
    costs(bench, 0)?;
    let mut cpu_us = [Vec::new(), Vec::new()];
    let rounds = bench.rounds * ROUNDS_FACTOR;
    for round in 0..rounds {
        let mut sums = [(0.0, 0.0); KINDS.len()];
        for turn in TURNS {
            // Every round begins with the other one.
            let kind = (round as usize + turn) % KINDS.len();
            let (cpu_s, requests) = costs(bench, kind)?;
            sums[kind].0 += cpu_s;
            sums[kind].1 += requests;
        }
        let figures = sums.map(|(cpu_s, requests)| cpu_s * 1e6 / requests);
        cpu_us.iter_mut().zip(figures).for_each(|(all, figure)| all.push(figure));
        bench.progress(&format!(
            "round {} of {}: {:.2} µs/request stored, {:.2} not stored, ratio {:.3}",
            round + 1,
            rounds,
            figures[0],
            figures[1],
            figures[0] / figures[1]
        ));
    }
    let [stored, not_stored] = cpu_us;
    let row =
        |kind: usize, figures: &[f64]| vec![KINDS[kind].0.to_owned(), format!("{:.2}", median(figures))];
    let titles = ["run", "CPU µs/request"].map(str::to_owned).to_vec();
    Ok(Report {
        rows: vec![titles, row(0, &stored), row(1, &not_stored)],
        verdicts: ratio(&stored, &not_stored)
            .map(|found| judge("stored against not stored", found))
            .into_iter()
            .collect(),
        notes: vec![format!(
            "{VUS} VUs as fast as they are answered, {rounds} rounds of two runs each of {RUN_S} s; writing the file and compacting it are included."
        )],
    })
}

/// CPU seconds and requests of one run; a run without requests measures nothing.
fn costs(bench: &Bench, kind: usize) -> anyhow::Result<(f64, f64)> {
    let (name, flags) = KINDS[kind];
    let mut load = bench.load("script.js", bench.server.url("/list"), VUS);
    load.seconds = RUN_S;
    load.flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
    let runs = bench.folder.join("runs");
    if runs.exists() {
        std::fs::remove_dir_all(&runs).context("remove the runs before")?;
    }
    let outcome = bench.plimsoll().run(&load, &bench.server, &bench.folder, |_| ())?;
    ensure!(outcome.requests > 0, "make any request in a run that is {name}");
    let is_stored = runs.read_dir().is_ok_and(|mut runs| runs.next().is_some());
    ensure!(is_stored == (kind == 0), "have a run that is {name}: a file is there: {is_stored}");
    Ok((outcome.cost.cpu_s, outcome.requests as f64))
}
