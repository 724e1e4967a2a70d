//! Faults of the machine and of the target, as real runs of the program.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::Context;
use model::SystemClock;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::suite::Outcome;

/// Time after which a run of three seconds counts as hung.
const RUN_MAX: Duration = Duration::from_secs(40);

/// Time from the start of a run to its fault.
const BEFORE: Duration = Duration::from_millis(1_500);

/// A run of three seconds that counts its iterations and prints the count at its end.
const SCRIPT: &str = "\
import http from 'k6/http';
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';
const done = new Counter('done');
export const options = { vus: 4, duration: '3s' };
export default function () {
    if (__ENV.URL) http.get(__ENV.URL, { timeout: '1s', tags: { name: 'r' } });
    done.add(1);
    sleep(0.02);
}
";

/// A fault: its name, shell commands before the program starts, and what happens during the run.
struct Fault {
    name: &'static str,
    before: &'static str,
    /// The target of the run's requests; empty for none.
    url: &'static str,
    act: fn(&Child, &Path) -> anyhow::Result<()>,
    /// Exit codes that are right.
    codes: &'static [&'static str],
    /// Whether the run must be readable afterwards.
    is_stored: bool,
}

fn nothing(_: &Child, _: &Path) -> anyhow::Result<()> {
    Ok(())
}

fn signal(child: &Child, signal: Signal) -> anyhow::Result<()> {
    let pid = Pid::from_raw(i32::try_from(child.id()).context("read a process id")?);
    kill(pid, signal).context("send a signal")
}

const FAULTS: &[Fault] = &[
    Fault {
        name: "Killed (SIGKILL)",
        before: ":",
        url: "",
        act: |child, _| signal(child, Signal::SIGKILL),
        codes: &["signal"],
        is_stored: true,
    },
    Fault {
        name: "Stopped for a second (SIGSTOP)",
        before: ":",
        url: "",
        act: |child, _| {
            signal(child, Signal::SIGSTOP)?;
            std::thread::sleep(Duration::from_secs(1));
            signal(child, Signal::SIGCONT)
        },
        codes: &["0"],
        is_stored: true,
    },
    Fault {
        name: "Disk full (file size limit)",
        before: "trap '' XFSZ; ulimit -f 64",
        url: "",
        act: nothing,
        codes: &["0"],
        is_stored: false,
    },
    Fault {
        name: "Directory of runs removed",
        before: ":",
        url: "",
        act: |_, folder| std::fs::remove_dir_all(folder.join("runs")).context("remove the runs"),
        codes: &["0"],
        is_stored: false,
    },
    Fault {
        name: "32 file descriptors",
        before: "ulimit -n 32",
        url: "http://127.0.0.1:9/",
        act: nothing,
        codes: &["0", "108"],
        is_stored: false,
    },
    Fault {
        name: "Too little memory (address space of 300 MB)",
        before: "ulimit -v 300000",
        url: "",
        act: nothing,
        codes: &["0", "1", "108"],
        is_stored: false,
    },
    Fault {
        name: "No DNS",
        before: ":",
        url: "http://nowhere.invalid/",
        act: nothing,
        codes: &["0"],
        is_stored: true,
    },
    Fault {
        name: "Target that refuses connections",
        before: ":",
        url: "http://127.0.0.1:9/",
        act: nothing,
        codes: &["0"],
        is_stored: true,
    },
];

/// Runs the program with each fault.
pub(super) fn run(program: &Path) -> anyhow::Result<Vec<Outcome>> {
    FAULTS.iter().map(|fault| one(fault, program).with_context(|| format!("run {:?}", fault.name))).collect()
}

fn one(fault: &Fault, program: &Path) -> anyhow::Result<Outcome> {
    let folder = tempfile::tempdir().context("create a folder")?;
    let folder = folder.path();
    std::fs::write(folder.join("script.js"), SCRIPT).context("write the script")?;
    let create = |name: &str| File::create(folder.join(name)).context("create a file for the output");
    let mut child = Command::new("sh")
        .args(["-c", &format!("{}; exec \"$0\" \"$@\"", fault.before)])
        .arg(program)
        .args(["run", "--no-color", "--no-page", "--summary-export", "summary.json", "script.js"])
        .current_dir(folder)
        .env("PLIMSOLL_RUNS", folder.join("runs"))
        .env("URL", fault.url)
        .stdin(Stdio::null())
        .stdout(create("stdout")?)
        .stderr(create("stderr")?)
        .spawn()
        .context("start the program")?;
    let (began, mut has_acted) = (SystemClock::now(), false);
    let mut outcome = Outcome { tried: 1, tests: 1, ..Outcome::new(fault.name) };
    let status = loop {
        outcome.peak_kib = outcome.peak_kib.max(super::peak_kib(child.id()).unwrap_or(0));
        if let Some(status) = child.try_wait().context("wait for the program")? {
            break status;
        }
        let elapsed = SystemClock::now().since(began);
        if elapsed > BEFORE && !has_acted {
            has_acted = true;
            (fault.act)(&child, folder)?;
        }
        if elapsed > RUN_MAX {
            outcome.hangs = 1;
            // It fails only if the program ended meanwhile.
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let code = status.code().map_or_else(|| "signal".to_owned(), |code| code.to_string());
    let text = output(folder, "stderr")? + &output(folder, "stdout")?;
    outcome.panics = text.matches("panicked at").count() as u64;
    outcome.silent_losses = u64::from(is_silent_loss(fault, program, folder, &code, &text)?);
    outcome.failed = u64::from(!fault.codes.contains(&code.as_str()));
    outcome.exit_codes = BTreeMap::from([(code, 1)]);
    Ok(outcome)
}

/// Returns true if the run lost data without a word: it is neither stored nor reported as lost.
fn is_silent_loss(
    fault: &Fault,
    program: &Path,
    folder: &Path,
    code: &str,
    text: &str,
) -> anyhow::Result<bool> {
    let shown = Command::new(program)
        .args(["show", "@last"])
        .current_dir(folder)
        .env("PLIMSOLL_RUNS", folder.join("runs"))
        .stdin(Stdio::null())
        .output()
        .context("show the run")?;
    let is_stored = shown.status.success();
    let is_reported =
        code != "0" || ["failed to", "not stored", "lost", "removed"].iter().any(|word| text.contains(word));
    Ok(!is_stored && (fault.is_stored || !is_reported))
}

fn output(folder: &Path, name: &str) -> anyhow::Result<String> {
    let path: PathBuf = folder.join(name);
    let bytes = std::fs::read(&path).with_context(|| format!("read {}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
