//! CPU per request with one worker thread, with two and with more, at the same rate on the same cores.
//!
//! Where the machine has more than two cores, the server has the first one for itself. On two cores it shares them with the workers.

use std::thread::available_parallelism;

use anyhow::Context;

use crate::bench::bars::judge;
use crate::bench::page::Report;
use crate::bench::stats::{median, ratio};
use crate::bench::{ALL_CORES, Bench};

/// Well below what one worker can do beside the server.
const PER_S: u32 = 10_000;
const VUS: u32 = 100;

/// Numbers of workers that are compared, as far as there are cores.
const WORKERS: [usize; 5] = [1, 2, 4, 8, 16];

pub(super) fn run(bench: &Bench) -> anyhow::Result<Report> {
    let cores = available_parallelism().context("count the cores")?.get();
    let (counts, own_cores) = placed(cores);
    let mut cpu_us = vec![Vec::new(); counts.len()];
    for round in 0..bench.rounds {
        for (workers, cpu_us) in counts.iter().zip(&mut cpu_us) {
            let mut load = bench.load("open.js", bench.server.url("/list"), VUS);
            load.variables = vec![("RATE", PER_S.to_string())];
            load.flags = vec!["--workers".to_owned(), workers.to_string()];
            load.cores = own_cores.clone();
            let outcome = bench.plimsoll().run(&load, &bench.server, &bench.folder, |_| ())?;
            cpu_us.push(outcome.cost.cpu_s * 1e6 / outcome.requests as f64);
        }
        bench.progress(&format!("round {} of {}", round + 1, bench.rounds));
    }
    let titles = ["workers", "CPU µs/request"].map(str::to_owned).to_vec();
    let rows = counts.iter().zip(&cpu_us).map(|(workers, figures)| row(*workers, figures));
    let shares = if cores > 2 { "has a core of its own" } else { "shares one of the two cores" };
    Ok(Report {
        rows: std::iter::once(titles).chain(rows).collect(),
        verdicts: ratio(&cpu_us[1], &cpu_us[0])
            .map(|found| judge("two workers against one", found))
            .into_iter()
            .collect(),
        notes: vec![format!(
            "{PER_S} requests/s from an open schedule; {cores} cores, of which the server {shares}."
        )],
    })
}

fn row(workers: usize, figures: &[f64]) -> Vec<String> {
    vec![workers.to_string(), format!("{:.2}", median(figures))]
}

/// The numbers of workers for a machine with so many cores, and the workers' cores, as `taskset` writes them.
fn placed(cores: usize) -> (Vec<usize>, String) {
    if cores <= 2 {
        return (WORKERS[..2].to_vec(), ALL_CORES.to_owned());
    }
    let own = cores - 1;
    (WORKERS.into_iter().filter(|&count| count <= own).collect(), format!("1-{own}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_have_the_cores_that_the_server_has_not() {
        assert_eq!(placed(2), (vec![1, 2], "0,1".to_owned()));
        assert_eq!(placed(4), (vec![1, 2], "1-3".to_owned()));
        assert_eq!(placed(5), (vec![1, 2, 4], "1-4".to_owned()));
        assert_eq!(placed(64), (vec![1, 2, 4, 8, 16], "1-63".to_owned()));
    }
}
