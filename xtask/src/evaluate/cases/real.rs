//! The same as the simulated pairs, with the program itself against a server whose service times are known.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use analysis::compare::{LoadSecond, Measure, Options, Run, Series, Verdict, compare};
use anyhow::{Context, ensure};
use histo::Histogram;
use serde_json::{Value, json};

use super::generator_faults::{FIRST, command_after};
use crate::evaluate::page::{Bar, Table};
use crate::evaluate::simulate::two_sigma;
use crate::workspace;

/// Five pairs each, so that little is lost when one is cut off.
pub(super) const PARTS: &[&str] = &["1", "2", "3", "4", "5", "6"];

const PAIRS_PER_PART: usize = 5;
const SECONDS: usize = 30;
const RATE: usize = 100;
const FALSE_MAX: f64 = 0.05;

pub(super) fn measure(_: &str) -> anyhow::Result<Value> {
    let (plimsoll, testkit) = (binary("PLIMSOLL_BIN")?, binary("TESTKIT_BIN")?);
    let folder = std::env::temp_dir().join(format!("plimsoll-evaluate-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    // Both come before whatever else the machine does, so that both sides are alike.
    let mut server = Server::start_with(FIRST, &testkit)?;
    let pairs: anyhow::Result<Vec<Value>> = (0..PAIRS_PER_PART)
        .map(|pair| {
            eprintln!("  pair {} of {PAIRS_PER_PART}", pair + 1);
            let side = || one_run(&plimsoll, &server.url, &folder.join("samples.csv"));
            Ok(judged(&[side()?], &[side()?]))
        })
        .collect();
    let stopped = server.stop();
    std::fs::remove_dir_all(&folder).with_context(|| format!("remove {}", folder.display()))?;
    stopped?;
    Ok(json!({ "seconds": SECONDS, "rate": RATE, "pairs": pairs? }))
}

pub(in crate::evaluate) fn binary(variable: &str) -> anyhow::Result<PathBuf> {
    let path = std::env::var_os(variable).filter(|path| !path.is_empty());
    path.map(PathBuf::from).with_context(|| format!("find the program to run: {variable} is not set"))
}

/// The server, which ends with its standard input.
pub(super) struct Server {
    child: Child,
    pub(super) url: String,
}

impl Server {
    /// Starts it by programs that become it.
    pub(super) fn start_with(before: &[&str], testkit: &Path) -> anyhow::Result<Server> {
        Server::start_as("hold", before, testkit)
    }

    /// The same with another of the test kit's servers.
    pub(super) fn start_as(kind: &str, before: &[&str], testkit: &Path) -> anyhow::Result<Server> {
        let mut command = command_after(before, testkit);
        command.arg(kind).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("start the server")?;
        let stdout = child.stdout.take().context("read from the server")?;
        let mut address = String::new();
        BufReader::new(stdout).read_line(&mut address).context("read the server's address")?;
        Ok(Server { child, url: address.trim().to_owned() })
    }

    pub(super) fn stop(&mut self) -> anyhow::Result<()> {
        drop(self.child.stdin.take());
        self.child.wait().map(drop).context("wait for the server to end")
    }
}

fn one_run(plimsoll: &Path, url: &str, samples: &Path) -> anyhow::Result<Run> {
    let mut command = command_after(FIRST, plimsoll);
    command.args(["run", "--quiet", "--no-store", "--out"]).arg(format!("csv={}", samples.display()));
    for (name, value) in [("URL", url), ("RATE", &RATE.to_string()), ("SECONDS", &SECONDS.to_string())] {
        command.arg("--env").arg(format!("{name}={value}"));
    }
    command.arg(workspace::root().join("xtask/evaluate/hold.js")).stdout(Stdio::null());
    ensure!(command.status().context("run the program")?.success(), "run the script to its end");
    let text = std::fs::read_to_string(samples).context("read the samples")?;
    run_of(&text)
}

/// A run from the rows of `--out csv`: metric, whole second, value.
fn run_of(samples: &str) -> anyhow::Result<Run> {
    let durations: Vec<(u64, f64)> = samples
        .lines()
        .filter_map(|line| line.strip_prefix("http_req_duration,"))
        .filter_map(|line| {
            let mut cells = line.split(',');
            Some((cells.next()?.parse().ok()?, cells.next()?.parse().ok()?))
        })
        .collect();
    let first = durations.iter().map(|(second, _)| *second).min().context("find samples")?;
    let mut seconds = vec![(Histogram::default(), 0.0); SECONDS];
    for (second, value_ms) in durations {
        // Requests that end after the last whole second belong to a second that was not loaded in full.
        let Some((histogram, sum)) = seconds.get_mut((second - first) as usize) else { continue };
        histogram.record(value_ms);
        *sum += value_ms;
    }
    let mut run = Run { series: vec![Series::new("hold")], ..Run::default() };
    // The first second of the clock is a part of one.
    for (histogram, sum) in &seconds[1..] {
        run.series[0].sheet.push(histogram, *sum, 0);
        let finished = histogram.count();
        run.load.push(LoadSecond { started: finished, finished, offered: Some(RATE as f64) });
    }
    Ok(run)
}

fn judged(a: &[Run], b: &[Run]) -> Value {
    let comparison = compare(a, b, &Options::default());
    let changed =
        comparison.rows.iter().filter(|row| matches!(row.verdict, Verdict::Improved | Verdict::Regressed));
    let p95 = comparison.rows.iter().find(|row| row.measure == Measure::Quantile(0.95));
    let interval = p95.and_then(|row| row.ratio).map(|ratio| [ratio.interval.lower, ratio.interval.upper]);
    json!({
        "changed": changed.map(|row| format!("{:?}", row.measure)).collect::<Vec<_>>(),
        "p95_interval": interval,
    })
}

pub(super) fn table(results: &[(&str, Value)]) -> Table {
    let pairs: Vec<&Value> =
        results.iter().filter_map(|(_, result)| result["pairs"].as_array()).flatten().collect();
    let count = |is: &dyn Fn(&Value) -> bool| pairs.iter().filter(|pair| is(pair)).count() as f64;
    let changed = count(&|pair| pair["changed"].as_array().is_some_and(|rows| !rows.is_empty()));
    let judged = count(&|pair| pair["p95_interval"].is_array());
    let covered = count(&|pair| {
        let bound = |at: usize| pair["p95_interval"][at].as_f64();
        bound(0).zip(bound(1)).is_some_and(|(lower, upper)| lower <= 1.0 && 1.0 <= upper)
    });
    let all = pairs.len() as f64;
    let titles = ["pairs", "any row: changed", "p95: judged", "p95: covered"].map(str::to_owned).to_vec();
    let row = [all, changed, judged, covered].map(|count| count.to_string()).to_vec();
    let bar = Bar {
        line: format!("{changed} of {all} real pairs have a false change (at most 5 % + 2 σ)"),
        reached: changed / all.max(1.0) <= FALSE_MAX + two_sigma(FALSE_MAX, all.max(1.0)),
    };
    Table { rows: vec![titles, row], bars: vec![bar], ..Table::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_become_seconds() {
        let text = "metric_name,timestamp,metric_value\nhttp_reqs,100,1\nhttp_req_duration,100,5\n\
                    http_req_duration,101,7,x\nhttp_req_duration,101,9,x\nhttp_req_duration,500,9,x\n";
        let run = run_of(text).expect("samples");
        let counts: Vec<(u64, u64)> = run.series[0].sheet.counts().collect();
        assert_eq!((counts.len(), counts[0], counts[1]), (SECONDS - 1, (2, 0), (0, 0)));
        assert!(run_of("").is_err());
    }
}
