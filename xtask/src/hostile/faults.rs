//! Faults of the machine and of the target, as real runs of the program.

use std::collections::BTreeMap;
use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::Context;
use model::SystemClock;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::hour::Target;
use super::suite::Outcome;

/// Time after which a run of three seconds counts as hung.
const RUN_MAX: Duration = Duration::from_secs(40);

/// Time between two looks at the program's memory.
const LOOK: Duration = Duration::from_millis(20);

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

/// A fault: its name, the limits of the program, and the event during the run.
struct Fault {
    name: &'static str,
    /// Shell commands before the program starts.
    before: &'static str,
    /// A command that starts the program; empty for none.
    wrap: &'static str,
    /// The target of the run's requests; empty for none.
    url: &'static str,
    event: Event,
    /// Exit codes that are right.
    codes: &'static [&'static str],
    /// Whether the run must be readable afterwards.
    is_stored: bool,
}

/// An event during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    None,
    Kill,
    Stop,
    RemoveRuns,
    RestartTarget,
}

/// A run that is not disturbed, for the parts that a fault leaves alone.
const SOUND: Fault =
    Fault { name: "", before: ":", wrap: "", url: "", event: Event::None, codes: &["0"], is_stored: true };

/// The URL of faults whose target is a server of their own.
const OWN_TARGET: &str = "own";

const FAULTS: &[Fault] = &[
    Fault { name: "Fault: killed (SIGKILL)", event: Event::Kill, codes: &["signal"], ..SOUND },
    Fault { name: "Fault: stopped for a second (SIGSTOP)", event: Event::Stop, ..SOUND },
    Fault {
        name: "Fault: disk full (file size limit)",
        before: "trap '' XFSZ; ulimit -f 64",
        codes: &["123"],
        is_stored: false,
        ..SOUND
    },
    Fault {
        name: "Fault: directory of runs removed",
        event: Event::RemoveRuns,
        codes: &["123"],
        is_stored: false,
        ..SOUND
    },
    Fault {
        name: "Fault: 24 file descriptors",
        before: "ulimit -n 24",
        url: OWN_TARGET,
        codes: &["0"],
        is_stored: false,
        ..SOUND
    },
    Fault {
        name: "Fault: 4 threads",
        wrap: "prlimit --nproc=4 setpriv --reuid=65534 --regid=65534 --clear-groups",
        codes: &["255"],
        is_stored: false,
        ..SOUND
    },
    Fault {
        // The program itself takes 100 MB.
        name: "Fault: address space of 90 MB",
        before: "ulimit -v 90000",
        // Too few stacks for threads are an error; without memory for an allocation the process aborts, as every Rust program.
        codes: &["255", "signal"],
        is_stored: false,
        ..SOUND
    },
    Fault { name: "Fault: no DNS", url: "http://nowhere.invalid/", ..SOUND },
    Fault { name: "Fault: target refuses connections", url: "http://127.0.0.1:9/", ..SOUND },
    Fault { name: "Fault: target restarted", url: OWN_TARGET, event: Event::RestartTarget, ..SOUND },
];

/// The names of all faults.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FAULTS.iter().map(|fault| fault.name)
}

/// Runs the program with each fault.
pub(super) fn run(program: &Path) -> anyhow::Result<Vec<Outcome>> {
    FAULTS.iter().map(|fault| one(fault, program).with_context(|| format!("run {:?}", fault.name))).collect()
}

fn one(fault: &Fault, program: &Path) -> anyhow::Result<Outcome> {
    let folder = tempfile::tempdir().context("create a folder")?;
    let folder = folder.path();
    // The program may run as another user.
    std::fs::set_permissions(folder, Permissions::from_mode(0o777)).context("open the folder to others")?;
    std::fs::write(folder.join("script.js"), SCRIPT).context("write the script")?;
    let mut target = match fault.url {
        OWN_TARGET => Some(Target::start(0)?),
        _ => None,
    };
    let mut child = start(fault, program, folder, target.as_ref())?;
    let (began, mut has_happened) = (SystemClock::now(), false);
    let mut outcome = Outcome { tried: 1, tests: 1, ..Outcome::new(fault.name) };
    let status = loop {
        outcome.peak_kib = outcome.peak_kib.max(super::peak_kib(child.id()).unwrap_or(0));
        if let Some(status) = child.try_wait().context("wait for the program")? {
            break status;
        }
        let elapsed = SystemClock::now().since(began);
        if elapsed > BEFORE && !has_happened {
            has_happened = true;
            happen(fault.event, &child, folder, target.as_mut())?;
        }
        if elapsed > RUN_MAX {
            outcome.hangs = 1;
            // It fails only if the program ended meanwhile.
            let _ = child.kill();
        }
        std::thread::sleep(LOOK);
    };
    if let Some(target) = &mut target {
        target.end()?;
    }
    let code = status.code().map_or_else(|| "signal".to_owned(), |code| code.to_string());
    let text = output(folder, "stderr")? + &output(folder, "stdout")?;
    let is_explained = ["failed to", "level=error", "level=warning"].iter().any(|word| text.contains(word));
    outcome.panics = text.matches("panicked at").count() as u64;
    outcome.silent_losses = u64::from(!is_stored(program, folder)? && (fault.is_stored || !is_explained));
    outcome.failed = u64::from(!fault.codes.contains(&code.as_str()));
    outcome.exit_codes = BTreeMap::from([(code, 1)]);
    Ok(outcome)
}

fn start(fault: &Fault, program: &Path, folder: &Path, target: Option<&Target>) -> anyhow::Result<Child> {
    let create = |name: &str| File::create(folder.join(name)).context("create a file for the output");
    let url = match target {
        Some(target) => format!("http://127.0.0.1:{}/r/1/1", target.port),
        None => fault.url.to_owned(),
    };
    Command::new("sh")
        .args(["-c", &format!("{}; exec {} \"$0\" \"$@\"", fault.before, fault.wrap)])
        .arg(program)
        .args(["run", "--no-color", "--no-page", "--summary-export", "summary.json", "script.js"])
        .current_dir(folder)
        .env("PLIMSOLL_RUNS", folder.join("runs"))
        .env("URL", url)
        .stdin(Stdio::null())
        .stdout(create("stdout")?)
        .stderr(create("stderr")?)
        .spawn()
        .context("start the program")
}

fn happen(event: Event, child: &Child, folder: &Path, target: Option<&mut Target>) -> anyhow::Result<()> {
    match (event, target) {
        (Event::Kill, _) => signal(child, Signal::SIGKILL),
        (Event::Stop, _) => {
            signal(child, Signal::SIGSTOP)?;
            std::thread::sleep(Duration::from_secs(1));
            signal(child, Signal::SIGCONT)
        }
        (Event::RemoveRuns, _) => std::fs::remove_dir_all(folder.join("runs")).context("remove the runs"),
        (Event::RestartTarget, Some(target)) => {
            let port = target.port;
            target.end()?;
            *target = Target::start(port)?;
            Ok(())
        }
        (Event::RestartTarget | Event::None, _) => Ok(()),
    }
}

fn signal(child: &Child, signal: Signal) -> anyhow::Result<()> {
    let pid = Pid::from_raw(i32::try_from(child.id()).context("read a process id")?);
    kill(pid, signal).context("send a signal")
}

/// Returns true if the run can be shown.
fn is_stored(program: &Path, folder: &Path) -> anyhow::Result<bool> {
    let shown = Command::new(program)
        .args(["show", "@last"])
        .current_dir(folder)
        .env("PLIMSOLL_RUNS", folder.join("runs"))
        .stdin(Stdio::null())
        .output()
        .context("show the run")?;
    Ok(shown.status.success())
}

fn output(folder: &Path, name: &str) -> anyhow::Result<String> {
    let path: PathBuf = folder.join(name);
    let bytes = std::fs::read(&path).with_context(|| format!("read {}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
