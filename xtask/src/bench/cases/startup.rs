//! From start to exit of a script that does nothing.

use std::time::Duration;

use crate::bench::page::Report;
use crate::bench::stats::median;
use crate::bench::{Bench, CLIENT_CORE, process, script_path};

/// Short runs, so many of them.
const RUNS: u32 = 20;

const LIMIT: Duration = Duration::from_secs(30);

pub(super) fn run(bench: &Bench) -> anyhow::Result<Report> {
    let titles = ["client", "wall ms", "CPU ms"].map(str::to_owned).to_vec();
    let mut report = Report { rows: vec![titles], ..Report::default() };
    let programs = [Some(("plimsoll", &bench.plimsoll)), bench.k6.as_ref().map(|path| ("k6", path))];
    for (name, program) in programs.into_iter().flatten() {
        let (mut wall_ms, mut cpu_ms) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            let mut command = process::pinned(CLIENT_CORE, program);
            command.args(["run", "--quiet"]).arg(script_path("nothing.js"));
            let cost = process::run(&mut command, &bench.folder, LIMIT, |_| ())?;
            wall_ms.push(cost.wall_s * 1e3);
            cpu_ms.push(cost.cpu_s * 1e3);
        }
        report.rows.push(vec![
            name.to_owned(),
            format!("{:.1}", median(&wall_ms)),
            format!("{:.1}", median(&cpu_ms)),
        ]);
    }
    report.notes.push(format!("One VU, one iteration, no request; medians of {RUNS} runs."));
    Ok(report)
}
