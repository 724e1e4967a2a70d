//! Runs the fuzz targets of `fuzz/` one after another, on the stable compiler.
//!
//! Fuzzing needs compiler flags that are not stable. `RUSTC_BOOTSTRAP=1` makes the stable compiler take them, for this build
//! alone, so that no second toolchain is needed.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, bail, ensure};
use lexopt::{Arg, ValueExt};

use crate::workspace;

/// How long each target is run, unless it is said.
const SECONDS: u32 = 180;

/// Memory of the process, in MiB. A parser that takes more for an input of some kilobytes has no limit.
const MEMORY_MIB_MAX: u32 = 2048;

/// Seconds for one input. Decoding a bomb up to its limit takes about one.
const SECONDS_PER_INPUT_MAX: u32 = 20;

const USAGE: &str = "\
cargo xtask fuzz [TARGET…]: runs fuzz targets, all of them by default
  --seconds N    for each target; 180 by default
  --replay FILE  runs one target with one input
  --list         names the targets
";

#[derive(Default)]
struct Options {
    targets: Vec<String>,
    seconds: Option<u32>,
    replay: Option<PathBuf>,
}

pub(crate) fn main(mut parser: lexopt::Parser) -> anyhow::Result<()> {
    let known = targets()?;
    let mut options = Options::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("seconds") => options.seconds = Some(parser.value()?.parse()?),
            Arg::Long("replay") => options.replay = Some(parser.value()?.into()),
            Arg::Long("list") => {
                println!("{}", known.join("\n"));
                return Ok(());
            }
            Arg::Long("help") => {
                print!("{USAGE}");
                return Ok(());
            }
            Arg::Value(name) => options.targets.push(name.string()?),
            other => return Err(other.unexpected().into()),
        }
    }
    if let Some(unknown) = options.targets.iter().find(|name| !known.contains(name)) {
        bail!("find the fuzz target {unknown:?} among {}", known.join(", "));
    }
    let is_installed = Command::new("cargo-fuzz").arg("--version").output().is_ok();
    ensure!(is_installed, "find cargo-fuzz: install it with `cargo install cargo-fuzz`");
    if let Some(input) = options.replay {
        let [target] = &options.targets[..] else { bail!("replay an input: name its target") };
        return replay(target, &input);
    }
    let chosen = if options.targets.is_empty() { known } else { options.targets };
    run_all(&chosen, options.seconds.unwrap_or(SECONDS))
}

/// The names of the targets: their files.
fn targets() -> anyhow::Result<Vec<String>> {
    let folder = workspace::root().join("fuzz/fuzz_targets");
    let entries = std::fs::read_dir(&folder).with_context(|| format!("list {}", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let path = entry.context("list the fuzz targets")?.path();
        names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}

fn run_all(targets: &[String], seconds: u32) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    for target in targets {
        let row = run(target, seconds)?;
        rows.push((target, row));
    }
    println!("\n{:<20} {:>12} {:>10}  result", "target", "executions", "coverage");
    for (target, row) in &rows {
        let result = row.crash.as_ref().map_or_else(
            || "held".to_owned(),
            |crash| format!("broken: cargo xtask fuzz {target} --replay {}", crash.display()),
        );
        println!("{target:<20} {:>12} {:>10}  {result}", row.executions, row.coverage);
    }
    let broken = rows.iter().filter(|(_, row)| row.crash.is_some()).count();
    ensure!(broken == 0, "find all properties to hold: {broken} broken");
    Ok(())
}

/// The result of a run of one target.
#[derive(Debug, Default, PartialEq, Eq)]
struct Row {
    executions: u64,
    /// Edges of the program's control flow that were seen.
    coverage: u64,
    /// The input that breaks the property.
    crash: Option<PathBuf>,
}

impl Row {
    /// Takes what a line of libFuzzer says.
    fn take(&mut self, line: &str) {
        const ARTIFACT: &str = "Test unit written to ";
        if let Some((_, path)) = line.split_once(ARTIFACT) {
            self.crash = Some(path.trim().into());
        }
        let Some(rest) = line.strip_prefix('#') else { return };
        let mut words = rest.split_ascii_whitespace();
        self.executions = words.next().and_then(|number| number.parse().ok()).unwrap_or(self.executions);
        let mut words = words.skip_while(|word| *word != "cov:").skip(1);
        self.coverage = words.next().and_then(|number| number.parse().ok()).unwrap_or(self.coverage);
    }
}

fn run(target: &str, seconds: u32) -> anyhow::Result<Row> {
    // Findings are kept below `target`, which no other tool looks into.
    let [corpus, artifacts] = ["corpus", "artifacts"].map(|kind| format!("fuzz/target/{kind}/{target}/"));
    for folder in [&corpus, &artifacts] {
        let path = workspace::root().join(folder);
        std::fs::create_dir_all(&path).with_context(|| format!("make {folder}"))?;
    }
    let mut command = cargo_fuzz(target);
    command.args([&corpus, &format!("fuzz/corpus-seeds/{target}"), "--"]);
    command.arg(format!("-max_total_time={seconds}")).arg(format!("-artifact_prefix={artifacts}"));
    command.args(limits()).stderr(Stdio::piped());
    let mut child = command.spawn().context("run cargo-fuzz")?;
    let mut row = Row::default();
    let lines = child.stderr.take().context("read what the fuzzer says")?;
    for line in BufReader::new(lines).split(b'\n') {
        let line = line.context("read what the fuzzer says")?;
        let line = String::from_utf8_lossy(&line);
        eprintln!("{line}");
        row.take(&line);
    }
    let status = child.wait().context("wait for the fuzzer")?;
    ensure!(status.success() || row.crash.is_some(), "run the fuzz target {target}: {status}");
    Ok(row)
}

fn replay(target: &str, input: &Path) -> anyhow::Result<()> {
    let status: ExitStatus =
        cargo_fuzz(target).arg(input).arg("--").args(limits()).status().context("run cargo-fuzz")?;
    ensure!(status.success(), "hold the property {target} with {}", input.display());
    Ok(())
}

fn limits() -> [String; 2] {
    [format!("-rss_limit_mb={MEMORY_MIB_MAX}"), format!("-timeout={SECONDS_PER_INPUT_MAX}")]
}

/// Optimized, and with overflow checks and assertions, which a release has not.
fn cargo_fuzz(target: &str) -> Command {
    let mut command = Command::new("cargo-fuzz");
    command.current_dir(workspace::root()).env("RUSTC_BOOTSTRAP", "1");
    command.args(["run", "--fuzz-dir", "fuzz", "--debug-assertions", target]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_fuzzer_are_read() {
        let mut row = Row::default();
        row.take("INFO: seed corpus: files: 3 min: 1b max: 9b");
        row.take("#4\tINITED cov: 20 ft: 21 corp: 2/3b exec/s: 0 rss: 40Mb");
        row.take(
            "#128\tNEW    cov: 33 ft: 40 corp: 3/5b lim: 4 exec/s: 0 rss: 41Mb L: 2/3 MS: 1 ChangeByte-",
        );
        assert_eq!(row, Row { executions: 128, coverage: 33, crash: None });
        row.take("artifact_prefix='a/'; Test unit written to a/crash-0123");
        assert_eq!(row.crash, Some("a/crash-0123".into()));
        row.take("#1000\tDONE   cov: 34 ft: 41 corp: 3/5b lim: 4 exec/s: 500 rss: 50Mb");
        assert_eq!((row.executions, row.coverage), (1000, 34));
    }

    #[test]
    fn there_are_targets() {
        assert!(targets().expect("a folder of targets").contains(&"http_response".to_owned()));
    }
}
