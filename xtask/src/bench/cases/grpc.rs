//! 50 VUs that make gRPC calls without pause, each over a connection of its own.

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::bench::Bench;
use crate::bench::bars::judge;
use crate::bench::clients::Client;
use crate::bench::page::Report;
use crate::bench::stats::{median, ratio};
use crate::bench::testkit::Testkit;

const VUS: u32 = 50;

/// The results of one client, round by round.
struct Rounds {
    client: Client,
    per_s: Vec<f64>,
    cpu_us: Vec<f64>,
}

pub(super) fn run(bench: &Bench) -> anyhow::Result<Report> {
    let server = Testkit::start("serve")?;
    let load = bench.load("grpc.js", server.url.replace("http://", ""), VUS);
    let empty = |client| Rounds { client, per_s: Vec::new(), cpu_us: Vec::new() };
    let mut all: Vec<Rounds> = bench.scripted().into_iter().map(empty).collect();
    for round in 0..bench.rounds {
        for turn in 0..all.len() {
            let index = (round as usize + turn) % all.len();
            let rounds = &mut all[index];
            let outcome = rounds.client.run_unchecked(&load, &bench.folder, |_| ())?;
            let (answered, failed) = checks(&outcome.summary).context("find the checks")?;
            ensure!(failed == 0.0, "have {} pass: {failed} calls failed", rounds.client.name());
            rounds.per_s.push(answered / f64::from(load.seconds));
            rounds.cpu_us.push(outcome.cost.cpu_s * 1e6 / answered);
            bench.progress(&format!("round {} of {}: {}", round + 1, bench.rounds, rounds.client.name()));
        }
    }
    let titles = ["client", "calls/s", "CPU µs/call", "ours ÷ its, per CPU-second", "≥ (95 %)"];
    let mut report = Report { rows: vec![titles.map(str::to_owned).to_vec()], ..Report::default() };
    for rounds in &all {
        // Calls per CPU-second are the inverse of the CPU per call.
        let compared = ratio(&rounds.cpu_us, &all[0].cpu_us).filter(|_| rounds.client != all[0].client);
        let cell = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.2}"));
        report.rows.push(vec![
            rounds.client.name().to_owned(),
            format!("{:.0}", median(&rounds.per_s)),
            format!("{:.2}", median(&rounds.cpu_us)),
            cell(compared.map(|ratio| ratio.mean)),
            cell(compared.map(|ratio| ratio.lower)),
        ]);
        report.verdicts.extend(compared.map(|ratio| judge("k6, gRPC", ratio)));
    }
    Ok(report)
}

/// Passes and fails of all checks.
fn checks(summary: &Value) -> Option<(f64, f64)> {
    let checks = &summary["metrics"]["checks"];
    Some((checks["passes"].as_f64()?, checks["fails"].as_f64()?))
}
