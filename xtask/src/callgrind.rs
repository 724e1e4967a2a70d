//! Instructions per request, counted and compared with the committed figure.
//!
//! Time on a shared machine cannot distinguish a regression of 3 % from a neighbour; a count of instructions can. The release
//! binary runs the same script twice under valgrind with different numbers of requests, and the difference belongs to
//! the requests alone, without the start and the end.
//!
//! Instructions do not show how much memory a request touches, which is what a thousand busy VUs pay for. [`caches`] counts that.

mod caches;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail, ensure};
use lexopt::Arg;
use serde_json::Value;

use crate::workspace;

/// The figure may move this much before the check fails.
const TOLERANCE: f64 = 0.03;

/// So often it is counted before it counts as too much: what is done per second, not per request, only adds, and a busy machine
/// takes more seconds.
const COUNTS_MAX: usize = 3;

/// Requests of the two runs: few enough to end within half a minute though valgrind is about fifty times slower.
const REQUESTS_FEW: u32 = 1_000;
const REQUESTS_MANY: u32 = 21_000;

/// The committed figure.
const FIGURE: &str = "xtask/callgrind.json";

const USAGE: &str = "\
cargo xtask callgrind: counts instructions per request and compares them with xtask/callgrind.json
  --caches   counts cache misses per request of 1,000 VUs instead, in one to three minutes
  --write    keeps the new figure, the least of three counts
";

/// A figure in [`FIGURE`], and how it is counted.
struct Figure {
    key: &'static str,
    unit: &'static str,
    count: fn(&Counter) -> anyhow::Result<f64>,
    /// Largest share by which it may change.
    tolerance: f64,
}

const INSTRUCTIONS: Figure = Figure {
    key: "instructions_per_request",
    unit: "instructions per request",
    count: Counter::count,
    tolerance: TOLERANCE,
};

pub(crate) fn main(mut parser: lexopt::Parser) -> anyhow::Result<()> {
    let (mut write, mut figure) = (false, INSTRUCTIONS);
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("write") => write = true,
            Arg::Long("caches") => figure = caches::MISSES,
            Arg::Long("help") => {
                print!("{USAGE}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("skipped: valgrind is not installed, so {} are not counted", figure.unit);
        return Ok(());
    }
    let counter = Counter::start()?;
    let path = workspace::root().join(FIGURE);
    if write {
        let least = (0..COUNTS_MAX)
            .try_fold(f64::MAX, |least, _| anyhow::Ok(least.min((figure.count)(&counter)?)))?;
        return keep(&path, figure.key, least);
    }
    let committed = committed(&path, figure.key)?;
    let mut found = (figure.count)(&counter)?;
    for _ in 1..COUNTS_MAX {
        if found <= committed * (1.0 + figure.tolerance) {
            break;
        }
        eprintln!("{found:.0} {} are too many: counted once more", figure.unit);
        found = found.min((figure.count)(&counter)?);
    }
    compare(&figure, found, committed)
}

fn figures(path: &Path) -> anyhow::Result<Value> {
    let text = std::fs::read(path).with_context(|| format!("read {FIGURE} (make it with --write)"))?;
    serde_json::from_slice(&text).with_context(|| format!("parse {FIGURE}"))
}

fn committed(path: &Path, key: &str) -> anyhow::Result<f64> {
    figures(path)?[key].as_f64().with_context(|| format!("find {key} in {FIGURE} (make it with --write)"))
}

/// Keeps a figure beside the others.
fn keep(path: &Path, key: &str, figure: f64) -> anyhow::Result<()> {
    let mut figures = figures(path)?;
    figures[key] = figure.round().into();
    std::fs::write(path, format!("{figures:#}\n")).with_context(|| format!("write {FIGURE}"))
}

/// An improvement fails too: the figure must then be updated, so that a later loss of the gain is noticed.
fn compare(figure: &Figure, found: f64, committed: f64) -> anyhow::Result<()> {
    let (change, tolerance) = (found / committed - 1.0, figure.tolerance);
    let summary = format!("{found:.0} {}, {:+.2} % from {committed:.0}", figure.unit, change * 100.0);
    println!("{summary}");
    ensure!(
        change.abs() <= tolerance,
        "keep within {} %: {summary}; explain it and repeat the command with --write",
        tolerance * 100.0
    );
    Ok(())
}

/// The release binary, and the server that it asks.
struct Counter {
    plimsoll: PathBuf,
    server: Server,
}

impl Counter {
    fn start() -> anyhow::Result<Counter> {
        let built = workspace::cargo()
            .args(["build", "--release", "--quiet", "--package", "plimsoll", "--package", "testkit"])
            .status()
            .context("run cargo build")?;
        ensure!(built.success(), "build the release binaries");
        let release = workspace::target_directory()?.join("release");
        let server = Server::start(&release.join("testkit"))?;
        Ok(Counter { plimsoll: release.join("plimsoll"), server })
    }

    fn count(&self) -> anyhow::Result<f64> {
        Ok(instructions_of(&self.plimsoll, &self.server.url, &[])?.all)
    }
}

/// Instructions of a program: in a whole run, or per request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Instructions {
    /// Of all its threads.
    pub(crate) all: f64,
    /// Of the one that has most of them, which is the only one that sends the load.
    pub(crate) of_load: f64,
}

/// Instructions per request of a program that asks this URL, with these flags.
pub(crate) fn instructions_of(plimsoll: &Path, url: &str, flags: &[&str]) -> anyhow::Result<Instructions> {
    let few = count(plimsoll, url, flags, REQUESTS_FEW)?;
    let many = count(plimsoll, url, flags, REQUESTS_MANY)?;
    let per_request = |few: f64, many: f64| (many - few) / f64::from(REQUESTS_MANY - REQUESTS_FEW);
    Ok(Instructions { all: per_request(few.all, many.all), of_load: per_request(few.of_load, many.of_load) })
}

/// The test server in a process of its own, so that its instructions are not counted.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(program: &Path) -> anyhow::Result<Server> {
        let mut child = Command::new(program)
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("start {}", program.display()))?;
        let mut address = String::new();
        let stdout = child.stdout.take().context("read the test server's address")?;
        let read = BufReader::new(stdout).read_line(&mut address);
        let server = Server { child, url: format!("{}/bytes/1200", address.trim()) };
        ensure!(
            read.context("read the test server's address")? > 0,
            "read the test server's address from its output"
        );
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail only if it ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Instructions of one whole run.
fn count(program: &Path, url: &str, flags: &[&str], requests: u32) -> anyhow::Result<Instructions> {
    let folder = tempfile::tempdir().context("make a folder for what valgrind counts")?;
    let out = format!("--callgrind-out-file={}", folder.path().join("counted").display());
    let load = Load { url, vus: 1, iterations: requests, flags };
    let text = run(program, &load, &["--separate-threads=yes", &out])?;
    let all =
        collected(&text).with_context(|| format!("find the count in what valgrind printed:\n{text}"))?;
    Ok(Instructions { all, of_load: busiest(folder.path())? })
}

/// The requests of one run, one for each iteration of each VU.
struct Load<'a> {
    url: &'a str,
    vus: u32,
    iterations: u32,
    /// Further flags of the program.
    flags: &'a [&'a str],
}

/// Runs the program under callgrind with these flags of callgrind, and returns what valgrind printed.
fn run(program: &Path, load: &Load<'_>, callgrind: &[&str]) -> anyhow::Result<String> {
    let script: PathBuf = workspace::root().join("xtask/bench/count.js");
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .args(callgrind)
        .arg(program)
        .args(["run", "--quiet", "--workers", "1"])
        .args(load.flags)
        .args(["-e", &format!("URL={}", load.url), "-e", &format!("VUS={}", load.vus)])
        .args(["-e", &format!("REQUESTS={}", load.iterations)])
        .arg(script)
        // Work per stored second belongs to no request, and would only make longer runs look better.
        .env("PLIMSOLL_NO_STORE", "true")
        .stdin(Stdio::null())
        .output()
        .context("run valgrind")?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        bail!("have the run pass under valgrind ({}):\n{text}", output.status);
    }
    Ok(text)
}

/// Of the files that there are of each thread, the highest count.
fn busiest(folder: &Path) -> anyhow::Result<f64> {
    let files = std::fs::read_dir(folder).context("look for the counts of threads")?;
    let mut highest: Option<f64> = None;
    for file in files {
        let path = file.context("look for the counts of threads")?.path();
        let text = std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        let total = text.lines().find_map(|line| line.strip_prefix("totals: ")?.trim().parse::<f64>().ok());
        highest = total.into_iter().chain(highest).reduce(f64::max);
    }
    highest.context("find the count of any thread")
}

/// `==42== Collected : 123456`.
fn collected(text: &str) -> Option<f64> {
    text.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read_from_what_valgrind_prints() {
        assert_eq!(collected("==42== Events    : Ir\n==42== Collected : 123456\n"), Some(123_456.0));
        assert_eq!(collected("==42== Events    : Ir\n"), None);
    }

    #[test]
    fn the_busiest_thread_sends_the_load() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(busiest(folder.path()).is_err());
        for (name, text) in
            [("counted", ""), ("counted-01", "totals: 7\n"), ("counted-02", "thread: 2\ntotals: 90\n")]
        {
            std::fs::write(folder.path().join(name), text).expect("written");
        }
        assert_eq!(busiest(folder.path()).ok(), Some(90.0));
    }

    #[test]
    fn a_figure_is_kept_beside_the_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("figures.json");
        std::fs::write(&path, r#"{"one": 1.0}"#).expect("written");
        assert!(committed(&path, "two").is_err());
        keep(&path, "two", 2.4).expect("kept");
        assert_eq!((committed(&path, "one").ok(), committed(&path, "two").ok()), (Some(1.0), Some(2.0)));
    }

    #[test]
    fn three_percent_either_way_is_too_much() {
        let check = |found: f64, expect: bool| {
            assert_eq!(compare(&INSTRUCTIONS, found, 1000.0).is_ok(), expect, "{found}")
        };
        check(1029.0, true);
        check(1031.0, false);
        check(971.0, true);
        check(969.0, false);
    }
}
