//! Several clients under the same load, in turns.

use super::Bench;
use super::bars::judge;
use super::clients::{Client, Load};
use super::memory_latency::MemoryLatency;
use super::page::Report;
use super::stats::{median, ratio};

/// The results of one client, round by round.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    client: Client,
    /// Requests per second of user and system time.
    per_cpu_s: Vec<f64>,
    /// Requests per second of the load.
    per_s: Vec<f64>,
    /// The largest resident memory, MB.
    resident_mb: Vec<f64>,
}

/// The results of all clients.
pub(super) struct Contest {
    rounds: Vec<Rounds>,
    /// How long a load from memory took before each round, nanoseconds.
    memory_ns: Vec<f64>,
}

/// Runs the load with each client in turn, as many rounds as asked for. Every round begins with another client, so that
/// none is always the one after the heaviest.
pub(super) fn run(bench: &Bench, clients: &[Client], load: &Load) -> anyhow::Result<Contest> {
    let empty = |client: &Client| Rounds {
        client: client.clone(),
        per_cpu_s: Vec::new(),
        per_s: Vec::new(),
        resident_mb: Vec::new(),
    };
    let mut all: Vec<Rounds> = clients.iter().map(empty).collect();
    let mut memory = MemoryLatency::new(bench.patience);
    for round in 0..bench.rounds {
        memory.wait_for_calm();
        for turn in 0..all.len() {
            let index = (round as usize + turn) % all.len();
            let rounds = &mut all[index];
            let outcome = rounds.client.run(load, &bench.server, &bench.folder, |_| ())?;
            rounds.per_cpu_s.push(outcome.requests as f64 / outcome.cost.cpu_s);
            rounds.per_s.push(outcome.requests as f64 / f64::from(load.seconds));
            rounds.resident_mb.push(outcome.cost.resident_max as f64 / 1e6);
            bench.progress(&format!("round {} of {}: {}", round + 1, bench.rounds, rounds.client.name()));
        }
        bench.progress(&format!("a load from memory took {:.0} ns", memory.seen_ns[round as usize]));
    }
    Ok(Contest { rounds: all, memory_ns: memory.seen_ns })
}

/// The rounds as a table: the first client is ours and is compared with each other one.
pub(super) fn report(contest: &Contest, bar_of: impl Fn(&Client) -> Option<&'static str>) -> Report {
    let titles =
        ["client", "requests/s", "CPU µs/request", "RSS MB", "ours ÷ its, per CPU-second", "≥ (95 %)"];
    let Contest { rounds: all, memory_ns } = contest;
    let note = format!(
        "{} rounds; a load from 4 MB of memory took {:.0} ns before them (median).",
        memory_ns.len(),
        median(memory_ns)
    );
    let mut report =
        Report { rows: vec![titles.map(str::to_owned).to_vec()], notes: vec![note], ..Report::default() };
    for rounds in all {
        let compared = ratio(&all[0].per_cpu_s, &rounds.per_cpu_s).filter(|_| rounds.client != all[0].client);
        let cell = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.2}"));
        report.rows.push(vec![
            rounds.client.name().to_owned(),
            format!("{:.0}", median(&rounds.per_s)),
            format!("{:.2}", 1e6 / median(&rounds.per_cpu_s)),
            format!("{:.0}", median(&rounds.resident_mb)),
            cell(compared.map(|ratio| ratio.mean)),
            cell(compared.map(|ratio| ratio.lower)),
        ]);
        let verdict = bar_of(&rounds.client).zip(compared).map(|(bar, ratio)| judge(bar, ratio));
        report.verdicts.extend(verdict);
    }
    report
}
