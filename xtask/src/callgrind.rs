//! Instructions per request, counted and compared with the committed figure.
//!
//! Time on a shared machine cannot tell a regression of 3 % from a neighbour; a count of instructions can. The release
//! binary runs the same script twice under valgrind with different numbers of requests, and the difference belongs to
//! the requests alone, without the start and the end.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail, ensure};
use lexopt::Arg;
use serde_json::{Value, json};

use crate::workspace;

/// The figure may move this much before the check fails.
const TOLERANCE: f64 = 0.03;

/// Requests of the two runs: few enough to end within half a minute though valgrind is about fifty times slower.
const REQUESTS_FEW: u32 = 1_000;
const REQUESTS_MANY: u32 = 21_000;

/// The committed figure.
const FIGURE: &str = "xtask/callgrind.json";

const USAGE: &str = "\
cargo xtask callgrind: counts instructions per request and compares them with xtask/callgrind.json
  --write    keeps the new figure
";

pub(crate) fn main(mut parser: lexopt::Parser) -> anyhow::Result<()> {
    let mut write = false;
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("write") => write = true,
            Arg::Long("help") => {
                print!("{USAGE}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("skipped: valgrind is not installed, so instructions are not counted");
        return Ok(());
    }
    let found = instructions_per_request()?;
    let path = workspace::root().join(FIGURE);
    if write {
        let text = format!("{:#}\n", json!({ "instructions_per_request": found.round() }));
        return std::fs::write(&path, text).with_context(|| format!("write {FIGURE}"));
    }
    compare(found, committed(&path)?)
}

fn committed(path: &Path) -> anyhow::Result<f64> {
    let text = std::fs::read(path).with_context(|| format!("read {FIGURE} (make it with --write)"))?;
    let figure: Value = serde_json::from_slice(&text).with_context(|| format!("parse {FIGURE}"))?;
    figure["instructions_per_request"].as_f64().with_context(|| format!("find the figure in {FIGURE}"))
}

/// A change for the better fails too: the figure is then moved, so that the gain cannot be lost unseen.
fn compare(found: f64, committed: f64) -> anyhow::Result<()> {
    let change = found / committed - 1.0;
    let told = format!("{found:.0} instructions per request, {:+.2} % from {committed:.0}", change * 100.0);
    println!("{told}");
    ensure!(
        change.abs() <= TOLERANCE,
        "keep within {} %: {told}; explain it and run cargo xtask callgrind --write",
        TOLERANCE * 100.0
    );
    Ok(())
}

fn instructions_per_request() -> anyhow::Result<f64> {
    let built = workspace::cargo()
        .args(["build", "--release", "--quiet", "--package", "plimsoll", "--package", "testkit"])
        .status()
        .context("run cargo build")?;
    ensure!(built.success(), "build the release binaries");
    let release = workspace::target_directory()?.join("release");
    let server = Server::start(&release.join("testkit"))?;
    instructions_of(&release.join("plimsoll"), &server.url, &[])
}

/// Instructions per request of a program that asks this URL, with these flags.
pub(crate) fn instructions_of(plimsoll: &Path, url: &str, flags: &[&str]) -> anyhow::Result<f64> {
    let few = count(plimsoll, url, flags, REQUESTS_FEW)?;
    let many = count(plimsoll, url, flags, REQUESTS_MANY)?;
    Ok((many - few) / f64::from(REQUESTS_MANY - REQUESTS_FEW))
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
        ensure!(read.context("read the test server's address")? > 0, "have the test server tell its address");
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
fn count(program: &Path, url: &str, flags: &[&str], requests: u32) -> anyhow::Result<f64> {
    let script: PathBuf = workspace::root().join("xtask/bench/count.js");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["run", "--quiet", "--workers", "1"])
        .args(flags)
        .args(["-e", &format!("URL={url}"), "-e", &format!("REQUESTS={requests}")])
        .arg(script)
        // What is stored per second is no part of a request, and nobody's runs should get longer by these.
        .env("PLIMSOLL_NO_STORE", "true")
        .stdin(Stdio::null())
        .output()
        .context("run valgrind")?;
    let text = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("have the run pass under valgrind ({}):\n{text}", output.status);
    }
    collected(&text).with_context(|| format!("find the count in what valgrind printed:\n{text}"))
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
    fn three_percent_either_way_is_too_much() {
        let check = |found: f64, expect: bool| assert_eq!(compare(found, 1000.0).is_ok(), expect, "{found}");
        check(1029.0, true);
        check(1031.0, false);
        check(971.0, true);
        check(969.0, false);
    }
}
