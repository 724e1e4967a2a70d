//! Systems of the lab for the cases that need a real one: started by the program itself (`PLIMSOLL_BIN`), loaded, and diagnosed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use crate::workspace;

/// The exit codes of a run that was measured to its end, whatever thresholds and validity say.
const MEASURED: [i32; 2] = [0, 99];

/// Those of a study: as well where no level was measured validly.
const STUDIED: [i32; 3] = [0, 99, 120];

/// At the end of a run, so long is waited for requests that are under way.
const GRACE: &str = "GRACE=2s";

/// Where the spans of a system go, which is where a run receives them.
const SPANS_AT: &str = "http://127.0.0.1:4318";

/// A system that is up. What it needs on the disk is in a folder of its own; both are gone when this is dropped.
pub(super) struct Lab {
    plimsoll: PathBuf,
    folder: PathBuf,
    system: String,
    url: String,
    /// The core that all of it runs on.
    core: u64,
}

/// How a run is made.
#[derive(Clone, Debug)]
pub(super) struct Load<'a> {
    /// A script of the system's folder.
    pub(super) script: &'a str,
    /// Users.
    pub(super) vus: &'a str,
    /// How long, as the script's variable DURATION takes it.
    pub(super) duration: &'a str,
    /// Of the requests, this share is in traces.
    pub(super) share: &'a str,
    /// Whether the generator is on the system's own core.
    pub(super) is_beside: bool,
    /// Whether no evidence source is connected.
    pub(super) is_unobserved: bool,
}

impl Lab {
    /// Starts a variant of a system.
    pub(super) fn up(system: &str, variant: &str) -> anyhow::Result<Lab> {
        let folder = std::env::temp_dir().join(format!("plimsoll-evaluate-{}", std::process::id()));
        std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
        let plimsoll = super::cases::binary("PLIMSOLL_BIN")?;
        let mut lab = Lab { plimsoll, folder, system: system.to_owned(), url: String::new(), core: 0 };
        lab.ask(&["up", system, "--variant", variant, "--pin", "--otlp", SPANS_AT])?;
        let status: Value = serde_json::from_str(&lab.ask(&["status", "--json", system])?)?;
        lab.url = status[0]["url"].as_str().context("find the system's address")?.to_owned();
        lab.core = status[0]["core"].as_u64().context("find the system's core")?;
        Ok(lab)
    }

    /// Plants a fault, or takes it away.
    pub(super) fn fault(&self, name: &str, is_on: bool) -> anyhow::Result<()> {
        self.ask(&["fault", &self.system, name, if is_on { "on" } else { "off" }]).map(drop)
    }

    /// One run, and the diagnosis of it.
    pub(super) fn run(&self, load: &Load<'_>) -> anyhow::Result<Value> {
        self.load(load)?;
        self.diagnosed(&["@last"])
    }

    /// A run at a lower load and one at a higher, and the diagnosis of both.
    pub(super) fn run_both(&self, low: &Load<'_>, high: &Load<'_>) -> anyhow::Result<Value> {
        self.load(low)?;
        self.load(high)?;
        self.diagnosed(&["@prev", "@last"])
    }

    fn load(&self, load: &Load<'_>) -> anyhow::Result<()> {
        let script = self.script(load)?;
        let mut command = self.command(load.is_beside);
        command.args(["run", "--quiet", "--runs"]).arg(self.runs());
        if !load.is_unobserved {
            command.args(["--otlp", "--trace-sample", load.share, "--evidence", "host=local"]);
        }
        let (vus, duration) = (format!("VUS={}", load.vus), format!("DURATION={}", load.duration));
        for variable in [self.address().as_str(), &vus, &duration, GRACE] {
            command.args(["--env", variable]);
        }
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let status = command.arg(script).status().context("run the program")?;
        ensure!(
            status.code().is_some_and(|code| MEASURED.contains(&code)),
            "run the script to its end: {status}"
        );
        Ok(())
    }

    /// The study of a script of the system: `capacity` or `sweep` with its flags.
    pub(super) fn study(&self, script: &str, slo: &str, words: &[&str]) -> anyhow::Result<Value> {
        let mut command = self.searching(script, slo, words);
        let output = command.args(["--quiet", "--json"]).output().context("run the program")?;
        ensure!(
            output.status.code().is_some_and(|code| STUDIED.contains(&code)),
            "plimsoll {}: {}",
            words.join(" "),
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_slice(&output.stdout).context("read what the study found")
    }

    /// The command that searches the load of a script of the system.
    pub(super) fn searching(&self, script: &str, slo: &str, words: &[&str]) -> Command {
        let mut command = self.command(false);
        command.args(words).args(["--slo", slo, "--runs"]).arg(self.runs());
        command.args(["--env", &self.address(), "--env", GRACE]);
        command.arg(workspace::root().join("lab").join(&self.system).join(script));
        command
    }

    /// The program, on the cores that are not the lab's, or on the lab's own.
    fn command(&self, is_beside: bool) -> Command {
        let below = format!("0-{}", self.core.saturating_sub(1));
        let cores = if is_beside { self.core.to_string() } else { below };
        let mut command = Command::new("taskset");
        command.args(["--cpu-list", &cores]).arg(&self.plimsoll).env("PLIMSOLL_LAB_DIR", self.labs());
        command
    }

    /// Where scripts find the system.
    fn address(&self) -> String {
        format!("{}={}", self.system.to_uppercase(), self.url)
    }

    fn diagnosed(&self, runs: &[&str]) -> anyhow::Result<Value> {
        let mut command = Command::new(&self.plimsoll);
        command.arg("diagnose").args(runs).args(["--json", "--runs"]).arg(self.runs());
        let output = command.output().context("run the program")?;
        ensure!(output.status.success(), "diagnose: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).context("read the diagnosis")
    }

    /// The script. One in another folder is not recognised as the lab's, so that no sources are connected.
    fn script(&self, load: &Load<'_>) -> anyhow::Result<PathBuf> {
        let folder = workspace::root().join("lab").join(&self.system);
        if !load.is_unobserved {
            return Ok(folder.join(load.script));
        }
        let elsewhere = self.folder.join("elsewhere");
        std::fs::create_dir_all(&elsewhere).context("create a folder")?;
        for entry in std::fs::read_dir(&folder).context("list the scripts")? {
            let path = entry.context("list the scripts")?.path();
            if let Some(file) = path.file_name().filter(|_| path.extension().is_some_and(|it| it == "js")) {
                std::fs::copy(&path, elsewhere.join(file)).context("copy a script")?;
            }
        }
        Ok(elsewhere.join(load.script))
    }

    /// Where its runs are.
    pub(super) fn runs(&self) -> PathBuf {
        self.folder.join("runs")
    }

    fn labs(&self) -> PathBuf {
        self.folder.join("labs")
    }

    fn ask(&self, words: &[&str]) -> anyhow::Result<String> {
        let mut command = Command::new(&self.plimsoll);
        command.arg("lab").args(words).env("PLIMSOLL_LAB_DIR", self.labs());
        let output = command.output().context("run the program")?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "run plimsoll lab {}: {complaint}", words.join(" "));
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // Whatever went wrong, nothing of it stays.
        let _ = self.ask(&["down"]);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The script that shows the faults of a system, and the share of its requests that is in traces.
pub(super) fn usual(system: &str) -> anyhow::Result<(&'static str, &'static str)> {
    Ok(match system {
        "appstore" => ("browse.js", "50%"),
        "feed" => ("steady.js", "50%"),
        "ingress" => ("users.js", "50%"),
        "scan" => ("trickle.js", "100%"),
        other => bail!("load the system {other:?}"),
    })
}

/// The variant in which nothing but the fault limits. Where each statement costs a round trip, N+1 queries and a small pool limit
/// before the database's only core does.
pub(super) fn variant_of(system: &str, fault: &str) -> &'static str {
    match (system, fault) {
        ("appstore", "n-plus-one" | "pool-too-small") => "matview-remote",
        ("appstore", _) => "matview",
        ("feed", _) => "cached",
        ("ingress", _) => "two",
        _ => "warm",
    }
}

/// The catalogue of faults.
pub(super) fn catalogue() -> anyhow::Result<String> {
    read(&workspace::root().join("lab/faults.toml"))
}

fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))
}

/// The label that the catalogue has for a fault of a system.
pub(super) fn label_of(catalogue: &str, system: &str, name: &str) -> Option<String> {
    let entries = catalogue.split("[[").filter(|entry| entry.starts_with("fault]]"));
    let text = |entry: &str, key: &str| {
        let lines =
            entry.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'));
        lines.map(str::to_owned).next()
    };
    let mut found = entries.filter(|entry| {
        text(entry, "system").as_deref() == Some(system) && text(entry, "name").as_deref() == Some(name)
    });
    text(found.next()?, "label")
}
