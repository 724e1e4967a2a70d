//! Memory of one more VU: the slope between a run with few VUs and one with many.

use std::path::Path;

use crate::bench::Bench;
use crate::bench::bars::judge;
use crate::bench::page::Report;
use crate::bench::stats::{estimate, median};

/// Rounds: memory is nearly the same in each.
const ROUNDS: u32 = 3;

const VUS_FEW: u32 = 100;
const VUS_MANY: u32 = 1000;

/// Measures a script whose VUs ask once a second.
pub(super) fn measure(bench: &Bench, script: &Path, bar: &str) -> anyhow::Result<Report> {
    let titles = ["client", "KB per VU", "RSS MB at 1000 VUs"].map(str::to_owned).to_vec();
    let mut report = Report { rows: vec![titles], ..Report::default() };
    for (index, client) in bench.scripted().iter().enumerate() {
        let (mut per_vu_kb, mut many_mb) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let resident = |vus| {
                let mut load = bench.load("small.js", bench.server.url("/list"), vus);
                load.script = script.to_path_buf();
                let outcome = client.run(&load, &bench.server, &bench.folder, |_| ())?;
                anyhow::Ok(outcome.cost.resident_max as f64)
            };
            let (few, many) = (resident(VUS_FEW)?, resident(VUS_MANY)?);
            per_vu_kb.push((many - few) / f64::from(VUS_MANY - VUS_FEW) / 1e3);
            many_mb.push(many / 1e6);
            bench.progress(&format!("round {} of {ROUNDS}: {}", round + 1, client.name()));
        }
        report.rows.push(vec![
            client.name().to_owned(),
            format!("{:.0}", median(&per_vu_kb)),
            format!("{:.0}", median(&many_mb)),
        ]);
        if index == 0 {
            report.verdicts.extend(estimate(&per_vu_kb).map(|found| judge(bar, found)));
        }
    }
    report
        .notes
        .push(format!("The slope of the largest resident memory between {VUS_FEW} and {VUS_MANY} VUs."));
    Ok(report)
}
