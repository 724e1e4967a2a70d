//! The case that QuickJS is known to be slow at: a global regular expression that finds little in 10 KB.

use std::path::Path;
use std::time::Duration;

use crate::bench::page::Report;
use crate::bench::stats::median;
use crate::bench::{Bench, CLIENT_CORE, process, script_path};

const SCANS: u32 = 5_000;
const ROUNDS: u32 = 3;
const LIMIT: Duration = Duration::from_secs(300);

pub(super) fn run(bench: &Bench) -> anyhow::Result<Report> {
    let titles = ["client", "CPU µs/scan"].map(str::to_owned).to_vec();
    let mut report = Report { rows: vec![titles], ..Report::default() };
    let programs = [Some(("plimsoll", &bench.plimsoll)), bench.k6.as_ref().map(|path| ("k6", path))];
    for (name, program) in programs.into_iter().flatten() {
        let mut per_scan_us = Vec::new();
        for _ in 0..ROUNDS {
            let rest_s = cpu_s(bench, program, 1)?;
            per_scan_us.push((cpu_s(bench, program, 1 + SCANS)? - rest_s) * 1e6 / f64::from(SCANS));
        }
        report.rows.push(vec![name.to_owned(), format!("{:.0}", median(&per_scan_us))]);
    }
    report.notes.push(
        "The difference between a run of many scans and a run of one, with the iteration around it.".into(),
    );
    Ok(report)
}

fn cpu_s(bench: &Bench, program: &Path, scans: u32) -> anyhow::Result<f64> {
    let mut command = process::pinned(CLIENT_CORE, program);
    command.args(["run", "--quiet", "-e", &format!("SCANS={scans}")]).arg(script_path("regex.js"));
    Ok(process::run(&mut command, &bench.folder, LIMIT, |_| ())?.cpu_s)
}
