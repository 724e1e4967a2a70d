//! Groups of tests with hostile input, run with their long forms and measured.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use model::SystemClock;

use super::suite::Outcome;
use crate::workspace;

/// A group of tests: those of a crate that match a filter.
pub(super) struct Group {
    pub(super) name: &'static str,
    krate: &'static str,
    filter: &'static str,
}

const fn group(name: &'static str, krate: &'static str, filter: &'static str) -> Group {
    Group { name, krate, filter }
}

/// All groups.
pub(super) const GROUPS: &[Group] = &[
    group("Parsers: damaged copies of seeds", "hostile", ""),
    group("Run files: damaged at random places", "runfile", "hostile"),
    group("Runs: killed, stopped, not storable, few descriptors, clock step", "plimsoll", "run_survives"),
    group("Responses: misbehaving HTTP/1.1, HTTP/2, TLS servers and bombs", "wire", "hostile"),
    group("Span senders: silent, slow, malformed, flooding", "otlp", "hostile"),
    group("Connections: decisions under load", "listen", ""),
    group("Page: clients, hosts, origins, paths, heads, framings", "server", "hostile"),
    group("Page: parameters of every view", "pages", "hostile"),
    group("Reports: names that inject into Markdown, XML, JSON, workflows, terminals", "report", "hostile"),
    group("Exports: names that are formulas or break rows", "export", "hostile"),
    group("Script hogs: loops, native calls, promise floods", "script", "turns"),
    group("Script hogs: memory", "script", "ceilings"),
];

/// Time that the tests of a group may take.
const GROUP_MAX: Duration = Duration::from_secs(900);

/// Time between two looks at the memory of a test process.
const LOOK: Duration = Duration::from_millis(1);

/// Number of damaged copies of each seed in the long form.
const COPIES: &str = "2000";

/// The workspace's test programs.
pub(super) struct Programs {
    /// Crate and file of each.
    all: Vec<(String, PathBuf)>,
}

impl Programs {
    /// Builds them all at once, as `cargo test --workspace` does, so that what it has built is not built again with other features.
    pub(super) fn build(profile: &str) -> anyhow::Result<Programs> {
        let output = workspace::cargo()
            .args(["test", "--workspace", "--lib", "--tests", "--no-run", "--message-format=json"])
            .args(["--profile", profile])
            .stderr(Stdio::inherit())
            .output()
            .context("build the tests")?;
        ensure!(output.status.success(), "build the tests");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let messages = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let tests = messages.filter(|message| message["profile"]["test"] == true);
        let of = |message: &serde_json::Value| {
            let manifest = PathBuf::from(message["manifest_path"].as_str()?);
            let krate = manifest.parent()?.file_name()?.to_string_lossy().into_owned();
            Some((krate, PathBuf::from(message["executable"].as_str()?)))
        };
        Ok(Programs { all: tests.filter_map(|message| of(&message)).collect() })
    }

    fn of<'a>(&'a self, krate: &'a str) -> impl Iterator<Item = &'a PathBuf> {
        self.all.iter().filter(move |(name, _)| name == krate).map(|(_, program)| program)
    }
}

impl Group {
    /// Runs the group's tests, the ignored ones included.
    pub(super) fn run(&self, programs: &Programs) -> anyhow::Result<Outcome> {
        let mut outcome = Outcome::new(self.name);
        for program in programs.of(self.krate) {
            outcome.add(&run(program, self.filter)?);
        }
        Ok(outcome)
    }
}

fn run(program: &PathBuf, filter: &str) -> anyhow::Result<Outcome> {
    let folder = tempfile::tempdir().context("create a folder")?;
    let (out, err) = (folder.path().join("out"), folder.path().join("err"));
    let create = |path: &PathBuf| std::fs::File::create(path).context("create a file for the output");
    let mut child = Command::new(program)
        .args([filter, "--include-ignored", "--nocapture"])
        .current_dir(workspace::root())
        .env("PLIMSOLL_HOSTILE_COPIES", COPIES)
        .stdin(Stdio::null())
        .stdout(create(&out)?)
        .stderr(create(&err)?)
        .spawn()
        .with_context(|| format!("start {}", program.display()))?;
    let (began, mut peak_kib, mut hangs) = (SystemClock::now(), 0, 0);
    let status = loop {
        if let Some(status) = child.try_wait().context("wait for tests")? {
            break status;
        }
        peak_kib = peak_kib.max(super::peak_kib(child.id()).unwrap_or(0));
        if SystemClock::now().since(began) > GROUP_MAX {
            hangs = 1;
            // It fails only if the tests ended meanwhile.
            let _ = child.kill();
        }
        std::thread::sleep(LOOK);
    };
    let text = std::fs::read(&out).context("read the tests' output")?;
    let Counts { passed, failed, tried, peak_kib: peak_kib_of_children } =
        counts(&String::from_utf8_lossy(&text));
    let code = status.code().map_or_else(|| "signal".to_owned(), |code| code.to_string());
    Ok(Outcome {
        tests: passed + failed,
        tried: if tried > 0 { tried } else { passed + failed },
        failed,
        // A failed test panicked: in the test itself, or in the program's code.
        panics: failed,
        hangs,
        peak_kib: peak_kib.max(peak_kib_of_children),
        exit_codes: if passed + failed > 0 { BTreeMap::from([(code, 1)]) } else { BTreeMap::new() },
        ..Outcome::default()
    })
}

/// The results that tests print.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    passed: u64,
    failed: u64,
    /// Inputs that the tests say they tried.
    tried: u64,
    /// The largest resident memory of processes that the tests started.
    peak_kib: u64,
}

fn counts(text: &str) -> Counts {
    let number = |line: &str, word: &str| -> u64 {
        let (before, _) = line.split_once(word).unwrap_or_default();
        before.trim().rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
    };
    // A test's name may stand before it on the same line.
    let after = |line: &str, word: &str| -> u64 {
        line.rsplit_once(word).and_then(|(_, number)| number.trim().parse().ok()).unwrap_or(0)
    };
    let mut counts = Counts::default();
    for line in text.lines() {
        if line.starts_with("test result:") {
            counts.passed += number(line, " passed");
            counts.failed += number(line, " failed");
        }
        counts.tried += after(line, "tried ");
        counts.peak_kib = counts.peak_kib.max(after(line, "peak KiB "));
    }
    counts
}

#[cfg(test)]
mod own {
    use super::*;

    #[test]
    fn results_of_tests_are_read() {
        let text = "test a ... tried 500\nok\ntried 7\npeak KiB 2048\npeak KiB 12\n\
            test result: FAILED. 12 passed; 3 failed; 0 ignored; 0 measured; 1 filtered out\n";
        assert_eq!(counts(text), Counts { passed: 12, failed: 3, tried: 507, peak_kib: 2048 });
        assert_eq!(counts("nothing"), Counts::default());
    }
}
