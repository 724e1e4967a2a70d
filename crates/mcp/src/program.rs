//! The program as a process: its words, its time and its output within limits.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use model::{Instant, SystemClock};

/// Bytes of a document that a process prints; longer ones are refused, since no assistant reads them.
const OUTPUT_BYTES_MAX: u64 = 8 << 20;

/// Bytes of log lines that are read from a process; the rest is counted.
const LOG_BYTES_MAX: u64 = 256 << 10;

/// Time of a call that runs no test.
const READING_TIME_MAX: Duration = Duration::from_secs(60);

/// Time of a run beyond the limit of its duration: loading, `setup()`, graceful stop, `teardown()` and the summary.
const RUN_TIME_EXTRA: Duration = Duration::from_secs(240);

/// Time between the request to end and the end.
const END_TIME_MAX: Duration = Duration::from_secs(15);

/// Pause between two looks at a process.
const PAUSE: Duration = Duration::from_millis(20);

/// Variables of the server that its processes have, too. Others may be secrets of the user.
const VARIABLES_KEPT: &[&str] =
    &["HOME", "LANG", "LC_ALL", "PATH", "TMPDIR", "TZ", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"];

/// How the program is called.
#[derive(Clone, Debug)]
pub struct Program {
    /// The program.
    pub path: PathBuf,
    /// Its version.
    pub version: String,
    /// Words of every call: where runs are stored, sources of secrets.
    pub words: Vec<String>,
    /// Words that hold a test within the user's limits.
    pub limits: Vec<String>,
    /// The limit of a test's duration.
    pub duration_max: Duration,
    /// The limit of iterations and requests per second.
    pub rate_max: u32,
    /// Folder of the scripts, absolute and without links.
    pub folder: PathBuf,
    /// Variables of scripts (`__ENV`), which the user gives.
    pub variables: Vec<(String, String)>,
    /// Whether assistants read what scripts log.
    pub has_console: bool,
}

/// The time that a call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// A document is read.
    Reading,
    /// A test runs.
    Run,
}

/// Output and end of a process.
#[derive(Debug)]
pub(crate) struct Printed {
    /// The exit code; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) out: Vec<u8>,
    /// Whether there was more of it.
    pub(crate) is_out_cut: bool,
    /// Standard error.
    pub(crate) err: Vec<u8>,
    /// Whether it took too long and was ended.
    pub(crate) is_late: bool,
}

/// Why no process ran.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgramError {
    /// It cannot be started.
    #[error("start {program}: {source}")]
    Start {
        /// Its path.
        program: String,
        /// The reason.
        source: std::io::Error,
    },
    /// It cannot be waited for.
    #[error("wait for the program: {0}")]
    Wait(std::io::Error),
}

impl Program {
    /// Runs the program to its end, at most as long as it may take, or until the call is cancelled. `look` is called while it
    /// runs, with the time since its start.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn run(
        &self,
        words: &[String],
        patience: Patience,
        cancelled: &AtomicBool,
        mut look: impl FnMut(Duration),
    ) -> Result<Printed, ProgramError> {
        let mut child = self.start(words)?;
        let out = read(child.stdout.take(), OUTPUT_BYTES_MAX);
        let err = read(child.stderr.take(), LOG_BYTES_MAX);
        let time_max = match patience {
            Patience::Reading => READING_TIME_MAX,
            Patience::Run => self.duration_max.saturating_add(RUN_TIME_EXTRA),
        };
        let (status, is_late) = wait(&mut child, time_max, cancelled, &mut look)?;
        let (out, is_out_cut) = out.and_then(|out| out.join().ok()).unwrap_or_default();
        let (err, _) = err.and_then(|err| err.join().ok()).unwrap_or_default();
        Ok(Printed { code: status.code(), out, is_out_cut, err, is_late })
    }

    fn start(&self, words: &[String]) -> Result<Child, ProgramError> {
        let mut command = Command::new(&self.path);
        command.env_clear();
        for name in VARIABLES_KEPT {
            command.envs(std::env::var_os(name).map(|value| (*name, value)));
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.args(words).args(&self.words).current_dir(&self.folder);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = self.path.display().to_string();
        command.spawn().map_err(|source| ProgramError::Start { program, source })
    }

    /// Returns the path of a script, which must lie in the folder.
    ///
    /// # Errors
    /// It does not, or does not exist.
    pub(crate) fn script(&self, name: &str) -> Result<String, String> {
        let path = Path::new(name);
        let found = self.folder.join(path).canonicalize();
        let found =
            found.map_err(|error| format!("no script {name:?} in {}: {error}", self.folder.display()))?;
        if !found.starts_with(&self.folder) {
            let folder = self.folder.display();
            return Err(format!("{name:?} is not in {folder}, the folder of scripts (--folder)"));
        }
        match found.to_str() {
            Some(path) if found.is_file() => Ok(path.to_owned()),
            _ => Err(format!("{name:?} is no file")),
        }
    }
}

/// Waits for a process; one that is cancelled or takes too long is asked to end, and killed if it does not.
fn wait(
    child: &mut Child,
    time_max: Duration,
    cancelled: &AtomicBool,
    look: &mut impl FnMut(Duration),
) -> Result<(ExitStatus, bool), ProgramError> {
    let started = SystemClock::now();
    let mut asked: Option<Instant> = None;
    let mut is_late = false;
    loop {
        if let Some(status) = child.try_wait().map_err(ProgramError::Wait)? {
            return Ok((status, is_late));
        }
        let now = SystemClock::now();
        let elapsed = now.since(started);
        is_late |= elapsed > time_max;
        match asked {
            None if is_late || cancelled.load(Ordering::Relaxed) => {
                ask_to_end(child);
                asked = Some(now);
            }
            Some(since) if now.since(since) > END_TIME_MAX => {
                // One that has ended meanwhile is found by the next look.
                let _ = child.kill();
            }
            _ => {}
        }
        look(elapsed);
        std::thread::sleep(PAUSE);
    }
}

/// Sends the signal that ends a run gracefully, so that it is stored.
fn ask_to_end(child: &Child) {
    // A process that has ended meanwhile is found by the next look.
    let _ =
        rustix::process::kill_process(rustix::process::Pid::from_child(child), rustix::process::Signal::TERM);
}

/// Reads a stream to its end in a thread of its own, and keeps its beginning.
fn read(stream: Option<impl Read + Send + 'static>, bytes_max: u64) -> Option<JoinHandle<(Vec<u8>, bool)>> {
    let mut stream = stream?;
    Some(std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before a failure is what there is.
        let _ = stream.by_ref().take(bytes_max).read_to_end(&mut bytes);
        let rest = std::io::copy(&mut stream, &mut std::io::sink()).unwrap_or(0);
        (bytes, rest > 0)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(folder: &Path) -> Program {
        Program {
            path: "/bin/sh".into(),
            version: "1".into(),
            words: Vec::new(),
            limits: Vec::new(),
            duration_max: Duration::ZERO,
            rate_max: 1,
            folder: folder.canonicalize().unwrap(),
            variables: vec![("GIVEN".into(), "by the user".into())],
            has_console: false,
        }
    }

    fn run(script: &str) -> Printed {
        let folder = tempfile::tempdir().unwrap();
        let words = ["-c".to_owned(), script.to_owned()];
        shell(folder.path()).run(&words, Patience::Reading, &AtomicBool::new(false), |_| {}).unwrap()
    }

    #[test]
    fn a_process_leaves_its_output() {
        let printed = run("echo out; echo err >&2; exit 3");
        assert_eq!((printed.code, printed.out, printed.err), (Some(3), b"out\n".to_vec(), b"err\n".to_vec()));
        assert!(!printed.is_late && !printed.is_out_cut);
    }

    #[test]
    fn processes_have_no_variable_that_the_user_did_not_give() {
        let printed = run("env");
        let text = String::from_utf8(printed.out).unwrap();
        assert!(text.contains("GIVEN=by the user"), "{text}");
        // Cargo sets it for this test.
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some() && !text.contains("CARGO"), "{text}");
    }

    #[test]
    fn a_cancelled_process_is_asked_to_end() {
        let folder = tempfile::tempdir().unwrap();
        let script = "trap 'echo stored; exit 105' TERM; touch ready; while :; do sleep 0.01; done";
        let words = ["-c".to_owned(), script.to_owned()];
        let cancelled = AtomicBool::new(false);
        let look = |_| {
            // Before that the signal would end it at once.
            cancelled.fetch_or(folder.path().join("ready").exists(), Ordering::Relaxed);
        };
        let printed = shell(folder.path()).run(&words, Patience::Reading, &cancelled, look).unwrap();
        assert_eq!((printed.code, printed.out), (Some(105), b"stored\n".to_vec()));
    }

    #[test]
    fn long_output_is_cut() {
        let bytes = OUTPUT_BYTES_MAX + 1;
        let printed = run(&format!("head -c {bytes} /dev/zero"));
        assert!(printed.is_out_cut);
        assert_eq!(printed.out.len() as u64, OUTPUT_BYTES_MAX);
    }

    #[test]
    fn scripts_lie_in_the_folder() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("scripts");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("a.js"), "").unwrap();
        std::fs::write(outer.path().join("b.js"), "").unwrap();
        std::os::unix::fs::symlink(outer.path().join("b.js"), folder.join("c.js")).unwrap();
        let program = shell(&folder);
        assert!(program.script("a.js").unwrap().ends_with("/scripts/a.js"));
        for name in ["../b.js", "c.js", "none.js", ".", outer.path().join("b.js").to_str().unwrap()] {
            assert!(program.script(name).is_err(), "{name}");
        }
    }
}
