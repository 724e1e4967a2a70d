//! Ten minutes at 20,000 requests a second: memory must not follow the number of requests.

use crate::bench::Bench;
use crate::bench::bars::judge;
use crate::bench::page::Report;
use crate::bench::process::mean_between;
use crate::bench::stats::Estimate;

const PER_S: u32 = 20_000;
const SECONDS: u32 = 605;
const VUS: u32 = 100;

/// Memory is averaged over this long before and after a moment: over a minute, since each of them is compacted at its end, which takes
/// some MB and gives them back.
const AROUND_S: f64 = 30.0;

pub(super) fn run(bench: &Bench) -> anyhow::Result<Report> {
    if !bench.long {
        return Ok(Report::skipped("it takes ten minutes; use --long"));
    }
    let mut load = bench.load("open.js", bench.server.url("/list"), VUS);
    load.seconds = SECONDS;
    load.variables = vec![("RATE", PER_S.to_string())];
    let outcome = bench.plimsoll().run(&load, &bench.server, &bench.folder, |_| ())?;
    let around = |minute: f64| {
        let at_s = minute * 60.0;
        mean_between(&outcome.cost.resident, at_s - AROUND_S, at_s + AROUND_S).unwrap_or(f64::NAN) / 1e3
    };
    let (first_kb, last_kb) = (around(1.0), around(10.0));
    let grown_kb = last_kb - first_kb;
    let titles = ["requests/s", "KB at minute 1", "KB at minute 10", "growth KB"].map(str::to_owned).to_vec();
    let per_s = outcome.requests as f64 / f64::from(SECONDS);
    let figures = vec![
        format!("{per_s:.0}"),
        format!("{first_kb:.0}"),
        format!("{last_kb:.0}"),
        format!("{grown_kb:.0}"),
    ];
    let found = Estimate { mean: grown_kb, lower: grown_kb, upper: grown_kb };
    Ok(Report {
        rows: vec![titles, figures],
        verdicts: vec![judge("memory growth, minute 1 to 10", found)],
        notes: vec![format!("One run; each figure is the mean over {} s.", 2.0 * AROUND_S)],
    })
}
