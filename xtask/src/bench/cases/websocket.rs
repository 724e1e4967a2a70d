//! 100 WebSockets that echo without pause: what a message costs, sent and received.

use anyhow::{Context, ensure};

use crate::bench::Bench;
use crate::bench::clients::{Client, counter};
use crate::bench::page::Report;
use crate::bench::stats::{median, ratio};
use crate::bench::testkit::Testkit;

const VUS: u32 = 50;

/// Two for each VU.
const SOCKETS: u64 = 100;

/// The results of one client, round by round.
struct Rounds {
    client: Client,
    per_s: Vec<f64>,
    cpu_us: Vec<f64>,
}

pub(super) fn run(bench: &Bench) -> anyhow::Result<Report> {
    let echo = Testkit::start("serve")?;
    let url = format!("{}/ws/echo", echo.url.replace("http://", "ws://"));
    let load = bench.load("websocket.js", url, VUS);
    let empty = |client| Rounds { client, per_s: Vec::new(), cpu_us: Vec::new() };
    let mut all: Vec<Rounds> = bench.scripted().into_iter().map(empty).collect();
    for round in 0..bench.rounds {
        for turn in 0..all.len() {
            let index = (round as usize + turn) % all.len();
            let rounds = &mut all[index];
            let outcome = rounds.client.run(&load, &bench.server, &bench.folder, |_| ())?;
            // k6 counts close frames among what it sends.
            let counted =
                |metric| counter(&outcome.summary, metric).with_context(|| format!("find {metric}"));
            let (sent, echoes) = (counted("ws_msgs_sent")?, counted("ws_msgs_received")?);
            ensure!(
                (echoes..=echoes + SOCKETS).contains(&sent),
                "believe {echoes} echoes of {sent} messages"
            );
            rounds.per_s.push(echoes as f64 / f64::from(load.seconds));
            rounds.cpu_us.push(outcome.cost.cpu_s * 1e6 / echoes as f64);
            bench.progress(&format!("round {} of {}: {}", round + 1, bench.rounds, rounds.client.name()));
        }
    }
    let titles = ["client", "echoes/s", "CPU µs/echo", "ours ÷ its, per CPU-second", "≥ (95 %)"];
    let mut report = Report { rows: vec![titles.map(str::to_owned).to_vec()], ..Report::default() };
    for rounds in &all {
        // Echoes per CPU-second are the inverse of the CPU per echo.
        let compared = ratio(&rounds.cpu_us, &all[0].cpu_us).filter(|_| rounds.client != all[0].client);
        let cell = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.2}"));
        report.rows.push(vec![
            rounds.client.name().to_owned(),
            format!("{:.0}", median(&rounds.per_s)),
            format!("{:.2}", median(&rounds.cpu_us)),
            cell(compared.map(|ratio| ratio.mean)),
            cell(compared.map(|ratio| ratio.lower)),
        ]);
    }
    Ok(report)
}
