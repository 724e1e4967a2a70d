//! The error of VUs while another VU of their thread computes, against a server that reports how long it held each request.

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::bench::Bench;
use crate::bench::bars::judge;
use crate::bench::clients::{Client, Load};
use crate::bench::page::Report;
use crate::bench::stats::{estimate, median};
use crate::bench::testkit::Testkit;

/// VUs that send requests.
const VUS: u32 = 5;

/// The two loads: whether a further VU computes.
const LOADS: [&str; 2] = ["no", "yes"];

/// The results of one client under one load, round by round, in milliseconds.
struct Rounds {
    client: Client,
    computes: &'static str,
    measured: Percentiles,
    held: Percentiles,
    per_s: Vec<f64>,
}

#[derive(Default)]
struct Percentiles {
    p95_ms: Vec<f64>,
    p99_ms: Vec<f64>,
}

impl Percentiles {
    fn add(&mut self, summary: &Value, metric: &str) -> anyhow::Result<()> {
        let percentile = |name: &str| {
            summary["metrics"][metric][name].as_f64().with_context(|| format!("find the {name} of {metric}"))
        };
        self.p95_ms.push(percentile("p(95)")?);
        self.p99_ms.push(percentile("p(99)")?);
        Ok(())
    }
}

pub(super) fn run(bench: &Bench) -> anyhow::Result<Report> {
    let server = Testkit::start("hold")?;
    let clients = bench.scripted();
    let mut all: Vec<Rounds> = clients
        .iter()
        .flat_map(|client| LOADS.map(|computes| (client.clone(), computes)))
        .map(|(client, computes)| Rounds {
            client,
            computes,
            measured: Percentiles::default(),
            held: Percentiles::default(),
            per_s: Vec::new(),
        })
        .collect();
    for round in 0..bench.rounds {
        for turn in 0..all.len() {
            let index = (round as usize + turn) % all.len();
            measure(bench, &load(bench, &server, all[index].computes), &mut all[index])?;
        }
        bench.progress(&format!("round {} of {}", round + 1, bench.rounds));
    }
    Ok(report(&all))
}

fn load(bench: &Bench, server: &Testkit, computes: &str) -> Load {
    let mut load = bench.load("neighbour.js", server.url.clone(), VUS);
    load.variables = vec![("COMPUTES", computes.to_owned())];
    load.flags = vec!["--workers".to_owned(), "1".to_owned()];
    load
}

fn measure(bench: &Bench, load: &Load, rounds: &mut Rounds) -> anyhow::Result<()> {
    let outcome = rounds.client.run_unchecked(load, &bench.folder, |_| ())?;
    ensure!(outcome.requests > 0, "have {} send requests", rounds.client.name());
    rounds.measured.add(&outcome.summary, "http_req_duration")?;
    rounds.held.add(&outcome.summary, "held")?;
    rounds.per_s.push(outcome.requests as f64 / f64::from(load.seconds));
    Ok(())
}

fn errors(measured_ms: &[f64], held_ms: &[f64]) -> Vec<f64> {
    measured_ms.iter().zip(held_ms).map(|(measured, held)| measured - held).collect()
}

fn report(all: &[Rounds]) -> Report {
    let titles =
        ["client", "computes", "p95 ms", "error", "largest", "p99 ms", "error", "largest", "requests/s"];
    let mut report = Report { rows: vec![titles.map(str::to_owned).to_vec()], ..Report::default() };
    for rounds in all {
        let p95 = errors(&rounds.measured.p95_ms, &rounds.held.p95_ms);
        let p99 = errors(&rounds.measured.p99_ms, &rounds.held.p99_ms);
        let ms = |value: f64| format!("{value:.2}");
        let largest = |errors: &[f64]| ms(errors.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        report.rows.push(vec![
            rounds.client.name().to_owned(),
            rounds.computes.to_owned(),
            ms(median(&rounds.measured.p95_ms)),
            ms(median(&p95)),
            largest(&p95),
            ms(median(&rounds.measured.p99_ms)),
            ms(median(&p99)),
            largest(&p99),
            format!("{:.0}", median(&rounds.per_s)),
        ]);
        let is_judged = rounds.client == all[0].client && rounds.computes == "yes";
        for (name, errors) in [("p95", p95), ("p99", p99)].into_iter().filter(|_| is_judged) {
            let name = format!("error of {name} beside a VU that computes");
            report.verdicts.extend(estimate(&errors).map(|found| judge(&name, found)));
        }
    }
    report
}
