//! Whether the systems of the lab behave as their stories say, at a length that a night has time for.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use lexopt::Arg;
use serde_json::Value;

use crate::workspace;

mod appstore;
mod feed;
mod ingress;
mod scan;

const USAGE: &str = "\
cargo xtask lab [SYSTEM]: runs the lab's systems, or one of them, and checks that they behave as docs/lab.md says
  PLIMSOLL_BIN is the program to run; without it a release is built
";

/// The promises of a system, by its name.
type Promise = (&'static str, fn(&Bench) -> anyhow::Result<()>);

/// The systems, one file each.
const SYSTEMS: &[Promise] = &[
    ("appstore", appstore::check),
    ("feed", feed::check),
    ("ingress", ingress::check),
    ("scan", scan::check),
];

/// A run that is not valid is no evidence; it is repeated so often before it is left out.
const TRIES_MAX: usize = 3;

/// The exit code of a measurement that is not valid.
const NOT_VALID: i32 = 120;

/// The exit code of thresholds that were crossed, which says nothing against the measurement.
const THRESHOLDS_CROSSED: i32 = 99;

pub(crate) fn main(mut parser: lexopt::Parser) -> anyhow::Result<()> {
    let mut chosen = None;
    while let Some(argument) = parser.next().context("read the arguments")? {
        match argument {
            Arg::Long("help") => {
                print!("{USAGE}");
                return Ok(());
            }
            Arg::Value(name) if chosen.is_none() => chosen = Some(name.to_string_lossy().into_owned()),
            other => bail!("lab: {}", other.unexpected()),
        }
    }
    let is_chosen = |name: &str| chosen.as_deref().is_none_or(|chosen| chosen == name);
    let systems: Vec<&Promise> = SYSTEMS.iter().filter(|(name, _)| is_chosen(name)).collect();
    ensure!(!systems.is_empty(), "find the system {:?}", chosen.unwrap_or_default());
    let folder = std::env::temp_dir().join(format!("plimsoll-xtask-lab-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let bench = Bench { plimsoll: binary()?, folder };
    let kept = systems.into_iter().try_for_each(|(name, check)| {
        println!("\n## {name}\n");
        check(&bench).with_context(|| format!("find {name} as its story says"))
    });
    // Whatever went wrong, nothing of it stays.
    let _ = bench.lab(&["down"]);
    std::fs::remove_dir_all(&bench.folder).with_context(|| format!("remove {}", bench.folder.display()))?;
    kept
}

struct Bench {
    plimsoll: PathBuf,
    folder: PathBuf,
}

/// A system that is up.
struct Up<'a> {
    bench: &'a Bench,
    system: &'static str,
    url: String,
    control_url: String,
    core: u64,
}

impl Bench {
    /// Starts a variant of a system on a core of its own, with further words for `lab up`.
    fn up(&self, system: &'static str, variant: &str, words: &[&str]) -> anyhow::Result<Up<'_>> {
        self.lab(&[&["up", system, "--variant", variant, "--pin"], words].concat())?;
        let status = self.lab(&["status", "--json", system])?;
        let status: Value = serde_json::from_str(&status).context("read the status")?;
        let text = |name: &str| status[0][name].as_str().map(str::to_owned);
        let (url, control_url) = text("url").zip(text("control_url")).context("find the system's address")?;
        let core = status[0]["core"].as_u64().context("find the system's core")?;
        Ok(Up { bench: self, system, url, control_url, core })
    }

    /// A section of a run's report.
    fn section(&self, run: &Path, title: &str) -> anyhow::Result<String> {
        let mut command = Command::new(&self.plimsoll);
        let output = command.arg("report").arg(run).args(["--format", "md"]).output();
        let output = output.context("run the program")?;
        ensure!(output.status.success(), "report the run: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8_lossy(&output.stdout);
        let (_, rest) = text.split_once(title).with_context(|| format!("find {title:?} in the report"))?;
        let end = ["\n### ", "\n<details>"].iter().filter_map(|next| rest.find(next)).min();
        Ok(rest[..end.unwrap_or(rest.len())].trim().to_owned())
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

impl Up<'_> {
    /// The summary of a valid run of one of the system's scripts; nothing where no run was valid.
    fn measure(&self, script: &str, variables: &[(&str, &str)]) -> anyhow::Result<Option<Value>> {
        until_valid(|| self.run(script, variables))
    }

    /// Runs `plimsoll capacity` on a script with these further flags, on the cores that are not the lab's. `None` if no level was valid.
    fn capacity(&self, script: &str, flags: &[&str]) -> anyhow::Result<Option<Value>> {
        let mut command = self.command();
        command.args(["capacity", "--quiet", "--json", "--runs"]).arg(self.bench.folder.join("runs"));
        command.arg("--env").arg(format!("{}={}", self.system.to_uppercase(), self.url)).args(flags);
        let output = command.arg(self.script(script)).output().context("run the program")?;
        match output.status.code() {
            Some(NOT_VALID) => return Ok(None),
            Some(0 | THRESHOLDS_CROSSED) => {}
            _ => bail!("search for the maximum load: {}", String::from_utf8_lossy(&output.stderr)),
        }
        serde_json::from_slice(&output.stdout).context("read what was found").map(Some)
    }

    /// The program on the cores that are not the lab's.
    fn command(&self) -> Command {
        let mut command = Command::new("taskset");
        command.args(["--cpu-list", &format!("0-{}", self.core.saturating_sub(1))]).arg(&self.bench.plimsoll);
        command.env("PLIMSOLL_LAB_DIR", self.bench.folder.join("labs"));
        command
    }

    fn script(&self, name: &str) -> PathBuf {
        workspace::root().join("lab").join(self.system).join(name)
    }

    fn down(self) -> anyhow::Result<()> {
        self.bench.lab(&["down", self.system]).map(|_| ())
    }

    /// Runs the script on the cores that are not the lab's.
    fn run(&self, script: &str, variables: &[(&str, &str)]) -> anyhow::Result<Option<Value>> {
        self.run_with(script, variables, &["--no-store"])
    }

    /// The same with everything that is known of a run that is kept: its summary, and its file.
    fn run_kept(&self, script: &str) -> anyhow::Result<Option<(Value, PathBuf)>> {
        let runs = self.bench.folder.join("runs");
        if runs.exists() {
            std::fs::remove_dir_all(&runs).context("remove the runs before")?;
        }
        let Some(summary) = self.run_with(script, &[], &[])? else { return Ok(None) };
        let files = runs.read_dir().context("look for the run")?.filter_map(Result::ok);
        let mut runs =
            files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|it| it == "plimsoll"));
        Ok(Some((summary, runs.next().context("find the run's file")?)))
    }

    fn run_with(
        &self,
        script: &str,
        variables: &[(&str, &str)],
        flags: &[&str],
    ) -> anyhow::Result<Option<Value>> {
        let summary = self.bench.folder.join("summary.json");
        let mut command = self.command();
        command.args(["run", "--quiet", "--require-valid", "--summary-export"]).arg(&summary).args(flags);
        command.env("PLIMSOLL_RUNS", self.bench.folder.join("runs"));
        let variable = self.system.to_uppercase();
        for (name, value) in [(variable.as_str(), self.url.as_str())].iter().chain(variables) {
            command.arg("--env").arg(format!("{name}={value}"));
        }
        let status =
            command.arg(self.script(script)).stdout(Stdio::null()).status().context("run the program")?;
        match status.code() {
            Some(NOT_VALID) => return Ok(None),
            Some(0 | THRESHOLDS_CROSSED) => {}
            _ => bail!("run the script to its end: {status}"),
        }
        let text = std::fs::read(&summary).context("read the summary")?;
        serde_json::from_slice(&text).context("read the summary").map(Some)
    }
}

/// The measurement; nothing where no try was valid.
fn until_valid<T>(measure: impl Fn() -> anyhow::Result<Option<T>>) -> anyhow::Result<Option<T>> {
    for _ in 0..TRIES_MAX {
        if let Some(measured) = measure()? {
            return Ok(Some(measured));
        }
    }
    Ok(None)
}

/// A number of a summary.
fn number(summary: &Value, metric: &str, field: &str) -> anyhow::Result<f64> {
    let found = summary["metrics"][metric][field].as_f64();
    found.with_context(|| format!("find {field} of {metric} in the summary"))
}

fn binary() -> anyhow::Result<PathBuf> {
    if let Some(path) = std::env::var_os("PLIMSOLL_BIN").filter(|path| !path.is_empty()) {
        return Ok(Path::new(&path).to_owned());
    }
    let status = workspace::cargo().args(["build", "--release", "-p", "plimsoll"]).status();
    ensure!(status.context("run cargo")?.success(), "build the program");
    Ok(workspace::target_directory()?.join("release/plimsoll"))
}
