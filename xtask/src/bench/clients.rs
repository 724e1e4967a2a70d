//! The clients that are compared, and how each says what it did.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::Value;

use super::process::{self, Cost};
use super::server::{Server, agree};

/// The time that a client may take beyond the length of its load.
const GRACE: Duration = Duration::from_secs(90);

/// A client.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Client {
    /// Ours.
    Plimsoll(PathBuf),
    /// k6 as it comes.
    K6(PathBuf),
    /// k6 without thresholds and summary, as its guide to large tests advises, and with a lazier collector.
    K6Tuned(PathBuf),
    /// wrk: no script, no metrics but its own; what is possible.
    Wrk(PathBuf),
    /// oha.
    Oha(PathBuf),
}

/// A load that every client understands, or every client with scripts.
#[derive(Clone, Debug)]
pub(super) struct Load {
    /// The script's path.
    pub(super) script: PathBuf,
    /// Where to.
    pub(super) url: String,
    /// VUs, or connections.
    pub(super) vus: u32,
    /// How long.
    pub(super) seconds: u32,
    /// Further variables of the script.
    pub(super) variables: Vec<(&'static str, String)>,
    /// Further flags of ours.
    pub(super) flags: Vec<String>,
    /// Where the client runs, as `taskset` writes it.
    pub(super) cores: String,
}

/// The results of a client under a load.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// Requests, counted by the client.
    pub(super) requests: u64,
    /// Their cost.
    pub(super) cost: Cost,
    /// The client's summary as JSON; null where it makes none.
    pub(super) summary: Value,
}

impl Client {
    /// Its name in tables.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Client::Plimsoll(_) => "plimsoll",
            Client::K6(_) => "k6",
            Client::K6Tuned(_) => "k6, tuned",
            Client::Wrk(_) => "wrk",
            Client::Oha(_) => "oha",
        }
    }

    /// Whether it runs scripts.
    pub(super) fn is_scripted(&self) -> bool {
        matches!(self, Client::Plimsoll(_) | Client::K6(_) | Client::K6Tuned(_))
    }

    /// Runs a load and checks the client's count against the server's.
    pub(super) fn run(
        &self,
        load: &Load,
        server: &Server,
        folder: &Path,
        watch: impl FnMut(f64),
    ) -> anyhow::Result<Outcome> {
        let before = server.requests()?;
        let mut outcome = self.run_unchecked(load, folder, watch)?;
        let seen = server.requests()? - before;
        if let Client::K6Tuned(_) = self {
            // Without a summary it does not count; its load ends by itself, so the server's count is exact.
            outcome.requests = seen;
        }
        let open_max = if self.is_scripted() { 0 } else { load.vus.into() };
        agree(self.name(), outcome.requests, seen, open_max)?;
        Ok(outcome)
    }

    /// Runs a load against a server whose count is not asked for. Requests are 0 where the client counts none.
    pub(super) fn run_unchecked(
        &self,
        load: &Load,
        folder: &Path,
        watch: impl FnMut(f64),
    ) -> anyhow::Result<Outcome> {
        let summary = folder.join("summary.json");
        // A client that died would leave the summary of the one before it.
        let _ = std::fs::remove_file(&summary);
        let limit = Duration::from_secs(load.seconds.into()) + GRACE;
        let cost = process::run(&mut self.command(load, &summary), folder, limit, watch)?;
        let name = self.name();
        if !cost.status.success() {
            bail!("have {name} pass ({}): {}{}", cost.status, tail(&cost.stdout), tail(&cost.stderr));
        }
        let summary = std::fs::read(&summary).map_or(Ok(Value::Null), |bytes| serde_json::from_slice(&bytes));
        let summary = summary.with_context(|| format!("parse the summary of {name}"))?;
        let requests = self.counted(&cost, &summary).unwrap_or(0);
        Ok(Outcome { requests, cost, summary })
    }

    fn command(&self, load: &Load, summary: &Path) -> Command {
        let mut command = process::pinned(&load.cores, self.path());
        match self {
            Client::Plimsoll(_) => {
                command.args(["run", "--quiet"]).arg("--summary-export").arg(summary).args(&load.flags);
                script(&mut command, load);
            }
            Client::K6(_) => {
                command.args(["run", "--quiet", "--no-usage-report"]).arg("--summary-export").arg(summary);
                script(&mut command, load);
            }
            Client::K6Tuned(_) => {
                command.env("GOGC", "400").args(["run", "--quiet", "--no-usage-report"]);
                command.args(["--no-thresholds", "--summary-mode=disabled"]);
                script(&mut command, load);
            }
            Client::Wrk(_) => {
                command.arg("-t1").arg(format!("-c{}", load.vus)).arg(format!("-d{}s", load.seconds));
                command.arg(&load.url);
            }
            Client::Oha(_) => {
                command.args(["--no-tui", "--insecure", "--output-format", "json"]);
                command.arg("-c").arg(load.vus.to_string()).arg("-z").arg(format!("{}s", load.seconds));
                command.arg(&load.url);
            }
        }
        command
    }

    fn path(&self) -> &Path {
        match self {
            Client::Plimsoll(path)
            | Client::K6(path)
            | Client::K6Tuned(path)
            | Client::Wrk(path)
            | Client::Oha(path) => path,
        }
    }

    /// How many requests the client says it made.
    fn counted(&self, cost: &Cost, summary: &Value) -> Option<u64> {
        match self {
            Client::Plimsoll(_) | Client::K6(_) | Client::K6Tuned(_) => counter(summary, "http_reqs"),
            Client::Wrk(_) => wrk_requests(&cost.stdout),
            Client::Oha(_) => oha_requests(&cost.stdout),
        }
    }
}

/// A counter of a summary in k6's export format.
pub(super) fn counter(summary: &Value, metric: &str) -> Option<u64> {
    summary["metrics"][metric]["count"].as_f64().map(|count| count as u64)
}

fn script(command: &mut Command, load: &Load) {
    let own =
        [("URL", load.url.clone()), ("VUS", load.vus.to_string()), ("SECONDS", load.seconds.to_string())];
    for (name, value) in own.iter().chain(&load.variables) {
        command.arg("-e").arg(format!("{name}={value}"));
    }
    command.arg(&load.script);
}

/// `  149521 requests in 10.00s, 0.21GB read`.
fn wrk_requests(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.trim().split_once(" requests in ")?.0.parse().ok())
}

/// The sum of oha's counts by status.
fn oha_requests(text: &str) -> Option<u64> {
    let summary: Value = serde_json::from_str(text).ok()?;
    Some(summary["statusCodeDistribution"].as_object()?.values().filter_map(Value::as_u64).sum())
}

/// The last lines of an output.
fn tail(text: &str) -> String {
    /// Enough for an error and its hint.
    const LINES: usize = 12;
    let lines: Vec<&str> = text.lines().collect();
    let tail = &lines[lines.len().saturating_sub(LINES)..];
    tail.iter().map(|line| format!("\n{line}")).collect()
}

/// A program on the PATH.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_from_what_clients_print() {
        assert_eq!(wrk_requests("  2 threads\n  149521 requests in 10.00s, 0.2GB read\n"), Some(149_521));
        assert_eq!(wrk_requests("nothing"), None);
        assert_eq!(oha_requests(r#"{"statusCodeDistribution": {"200": 41, "503": 1}}"#), Some(42));
        let summary = serde_json::json!({"metrics": {"http_reqs": {"count": 7, "rate": 1.5}}});
        assert_eq!(counter(&summary, "http_reqs"), Some(7));
        assert_eq!(counter(&summary, "iterations"), None);
    }
}
