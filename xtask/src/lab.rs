//! Whether the systems of the lab behave as their stories say, at a length that a night has time for.

mod scan;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use lexopt::Arg;
use serde_json::Value;

use crate::workspace;

const USAGE: &str = "\
cargo xtask lab: runs the lab's systems and checks that they behave as docs/lab.md says
  PLIMSOLL_BIN is the program to run; without it a release is built
";

/// The variants of the app store, each cheaper than the one before.
const VARIANTS: [&str; 3] = ["two-queries", "projection", "matview"];

/// How many times slower a variant is than the next, at the least.
const RATIO_MIN: f64 = 1.2;

/// Requests per second that every variant bears, and for how long.
const RATE: &str = "8";
const HOLD: &str = "30s";

/// Each variant is measured so often, in turn, so that what changes meanwhile meets all of them.
const ROUNDS: usize = 3;

/// A run that is not valid is no evidence; it is repeated so often before it is left out.
const TRIES_MAX: usize = 3;

/// The exit code of a measurement that is not valid.
const NOT_VALID: i32 = 120;

/// The exit code of thresholds that were crossed, which says nothing against the measurement.
const THRESHOLDS_CROSSED: i32 = 99;

pub(crate) fn main(mut parser: lexopt::Parser) -> anyhow::Result<()> {
    match parser.next().context("read the arguments")? {
        None => {}
        Some(Arg::Long("help")) => {
            print!("{USAGE}");
            return Ok(());
        }
        Some(argument) => bail!("lab: {}", argument.unexpected()),
    }
    let folder = std::env::temp_dir().join(format!("plimsoll-xtask-lab-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let bench = Bench { plimsoll: binary()?, folder };
    let ranked = ranking(&bench).and_then(|()| scan::story(&bench));
    // Whatever went wrong, nothing of it stays.
    let _ = bench.lab(&["down"]);
    std::fs::remove_dir_all(&bench.folder).with_context(|| format!("remove {}", bench.folder.display()))?;
    ranked
}

/// The app store's variants rank as in their story while none is overloaded.
fn ranking(bench: &Bench) -> anyhow::Result<()> {
    let mut means_ms: [Vec<f64>; 3] = Default::default();
    let mut excluded = 0;
    for round in 0..ROUNDS {
        for (variant, means_ms) in VARIANTS.iter().zip(&mut means_ms) {
            eprintln!("round {} of {ROUNDS}: {variant}", round + 1);
            let mean_ms = bench.measure(variant)?;
            excluded += usize::from(mean_ms.is_none());
            means_ms.extend(mean_ms);
        }
    }
    println!("| Variant | Mean response time at {RATE} requests/s | Runs |\n|---|---|---|");
    let mut middles_ms = Vec::new();
    for (variant, means_ms) in VARIANTS.iter().zip(&mut means_ms) {
        means_ms.sort_by(f64::total_cmp);
        let middle_ms =
            *means_ms.get(means_ms.len() / 2).with_context(|| format!("measure {variant} validly"))?;
        println!("| {variant} | {middle_ms:.2} ms | {} |", means_ms.len());
        middles_ms.push(middle_ms);
    }
    println!("\nLeft out because they were not valid: {excluded}");
    for (names, middles) in VARIANTS.windows(2).zip(middles_ms.windows(2)) {
        let ratio = middles[0] / middles[1];
        println!("{} takes {ratio:.2} times as long as {}", names[0], names[1]);
        ensure!(ratio >= RATIO_MIN, "see {} take {RATIO_MIN} times as long as {}", names[0], names[1]);
    }
    Ok(())
}

struct Bench {
    plimsoll: PathBuf,
    folder: PathBuf,
}

impl Bench {
    /// The mean response time of a variant in milliseconds; nothing where no run was valid.
    fn measure(&self, variant: &str) -> anyhow::Result<Option<f64>> {
        self.lab(&["up", "appstore", "--variant", variant, "--pin", "--refresh", "10"])?;
        let status: Value =
            serde_json::from_str(&self.lab(&["status", "--json"])?).context("read the status")?;
        let url = status[0]["url"].as_str().context("find the app store's URL")?;
        let core = status[0]["core"].as_u64().context("find the app store's core")?;
        let mut mean_ms = None;
        for _ in 0..TRIES_MAX {
            mean_ms = self.run(url, core)?;
            if mean_ms.is_some() {
                break;
            }
        }
        self.lab(&["down", "appstore"])?;
        Ok(mean_ms)
    }

    /// Runs the script on the cores that are not the lab's.
    fn run(&self, url: &str, core: u64) -> anyhow::Result<Option<f64>> {
        let summary = self.folder.join("summary.json");
        let mut command = Command::new("taskset");
        command.args(["--cpu-list", &format!("0-{}", core.saturating_sub(1))]).arg(&self.plimsoll);
        command.args(["run", "--quiet", "--no-store", "--require-valid", "--summary-export"]).arg(&summary);
        for (name, value) in [("APPSTORE", url), ("RATE", RATE), ("HOLD", HOLD)] {
            command.arg("--env").arg(format!("{name}={value}"));
        }
        command.arg(workspace::root().join("lab/appstore/first-page.js")).stdout(Stdio::null());
        let status = command.status().context("run the program")?;
        match status.code() {
            Some(NOT_VALID) => return Ok(None),
            Some(0 | THRESHOLDS_CROSSED) => {}
            _ => bail!("run the script to its end: {status}"),
        }
        let text = std::fs::read(&summary).context("read the summary")?;
        let summary: Value = serde_json::from_slice(&text).context("read the summary")?;
        let failed = summary["metrics"]["http_req_failed"]["value"].as_f64().unwrap_or(1.0);
        ensure!(failed == 0.0, "have every request answered: {failed} of them failed");
        let mean_ms = summary["metrics"]["http_req_duration"]["avg"].as_f64();
        mean_ms.context("find the mean response time in the summary").map(Some)
    }

    fn lab(&self, words: &[&str]) -> anyhow::Result<String> {
        let mut command = Command::new(&self.plimsoll);
        command.arg("lab").args(words).env("PLIMSOLL_LAB_DIR", self.folder.join("labs"));
        let output = command.output().context("run the program")?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "run plimsoll lab {}: {complaint}", words.join(" "));
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

fn binary() -> anyhow::Result<PathBuf> {
    if let Some(path) = std::env::var_os("PLIMSOLL_BIN").filter(|path| !path.is_empty()) {
        return Ok(Path::new(&path).to_owned());
    }
    let status = workspace::cargo().args(["build", "--release", "-p", "plimsoll"]).status();
    ensure!(status.context("run cargo")?.success(), "build the program");
    Ok(workspace::target_directory()?.join("release/plimsoll"))
}
