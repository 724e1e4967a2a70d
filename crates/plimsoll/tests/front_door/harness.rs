//! Runs the binary with a script and reads its results.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use model::SystemClock;
use serde_json::Value;

/// Timeout of a run, after which it counts as hung.
const PATIENCE: Duration = Duration::from_secs(90);

/// Prefixes of environment variables that would change the tests.
const FOREIGN: [&str; 4] = ["K6_", "PLIMSOLL_", "GITHUB_", "AWS_"];

/// A run to start: a script and its files.
pub(crate) struct Plimsoll {
    script: String,
    words: Vec<String>,
    env: Vec<(String, String)>,
    stdin: Option<String>,
    /// Shell commands before the program starts: `ulimit -n 64`.
    before: Option<String>,
    folder: PathBuf,
    /// Whether the folder is deleted with the results.
    owns_folder: bool,
}

/// `plimsoll run -q <script>`
pub(crate) fn plimsoll(script: &str) -> Plimsoll {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let number = RUNS.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("plimsoll-front-door-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let words = ["run", "-q"].map(str::to_owned).to_vec();
    Plimsoll {
        script: script.to_owned(),
        words,
        env: Vec::new(),
        stdin: None,
        before: None,
        folder,
        owns_folder: true,
    }
}

/// `plimsoll <words>`, without a script.
pub(crate) fn verb(words: &str) -> Plimsoll {
    let words = words.split_whitespace().map(str::to_owned).collect();
    Plimsoll { words, ..plimsoll("") }
}

/// `plimsoll -q <words>` in the folder of another run.
fn beside(folder: &Path, words: &str) -> Plimsoll {
    let words = std::iter::once("-q").chain(words.split_whitespace()).map(str::to_owned).collect();
    let (env, script) = (Vec::new(), String::new());
    Plimsoll { script, words, env, stdin: None, before: None, folder: folder.to_owned(), owns_folder: false }
}

impl Plimsoll {
    /// Adds one argument, whatever characters it has.
    pub(crate) fn word(mut self, word: &str) -> Plimsoll {
        self.words.push(word.to_owned());
        self
    }

    /// Adds flags, split at spaces.
    pub(crate) fn flags(mut self, flags: &str) -> Plimsoll {
        self.words.extend(flags.split_whitespace().map(str::to_owned));
        self
    }

    /// Sets an environment variable.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Plimsoll {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets `__ENV.URL` to this server.
    pub(crate) fn against(self, server: &testkit::Server) -> Plimsoll {
        let url = server.url("");
        self.env("URL", url.trim_end_matches('/'))
    }

    /// Creates a file beside the script.
    pub(crate) fn file(self, name: &str, text: &str) -> Plimsoll {
        std::fs::write(self.folder.join(name), text).expect("a file for the test");
        self
    }

    /// Sets standard input.
    pub(crate) fn stdin(mut self, text: &str) -> Plimsoll {
        self.stdin = Some(text.to_owned());
        self
    }

    /// Limits the number of file descriptors.
    pub(crate) fn descriptors(self, most: u32) -> Plimsoll {
        self.before(&format!("ulimit -n {most}"))
    }

    /// Sets shell commands to run before the program.
    pub(crate) fn before(mut self, commands: &str) -> Plimsoll {
        self.before = Some(commands.to_owned());
        self
    }

    /// Returns the run's folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts the program.
    pub(crate) fn start(self) -> Running {
        let mut words = self.words.clone();
        if !self.script.is_empty() {
            std::fs::write(self.folder.join("script.js"), &self.script).expect("a script for the test");
            words.extend(["--summary-export", "summary.json", "script.js"].map(str::to_owned));
        }
        let binary = env!("CARGO_BIN_EXE_plimsoll");
        let mut command = match &self.before {
            None => Command::new(binary),
            Some(before) => {
                let mut shell = Command::new("sh");
                shell.args(["-c", &format!("{before}; exec \"$0\" \"$@\""), binary]);
                shell
            }
        };
        let foreign =
            std::env::vars().filter(|(name, _)| FOREIGN.iter().any(|prefix| name.starts_with(prefix)));
        foreign.for_each(|(name, _)| {
            command.env_remove(name);
        });
        // The user's config file, stored runs and caches must not influence the tests.
        command
            .env("XDG_CONFIG_HOME", &self.folder)
            .env("XDG_DATA_HOME", &self.folder)
            .env("XDG_CACHE_HOME", &self.folder)
            .env_remove("NO_COLOR");
        command
            .args(words)
            .current_dir(&self.folder)
            .envs(self.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let mut stdin = child.stdin.take().expect("it is piped");
        // A program may end before it has read everything.
        let _ = stdin.write_all(self.stdin.as_deref().unwrap_or_default().as_bytes());
        drop(stdin);
        let out = reader(child.stdout.take().expect("it is piped"));
        let err = reader(child.stderr.take().expect("it is piped"));
        let (folder, owns_folder) = (self.folder, self.owns_folder);
        Running { child: Owned(child), out, err, started: SystemClock::now(), folder, owns_folder }
    }

    /// Runs the program to its end.
    pub(crate) fn run(self) -> Ran {
        self.start().wait()
    }
}

fn reader(mut stream: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("a pipe can be read");
        String::from_utf8(bytes).expect("what is printed is UTF-8")
    })
}

/// A process that does not outlive its test, whatever fails.
struct Owned(Child);

impl Drop for Owned {
    fn drop(&mut self) {
        // Of a process that has ended there is nothing to end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A run in progress.
pub(crate) struct Running {
    child: Owned,
    out: JoinHandle<String>,
    err: JoinHandle<String>,
    started: model::Instant,
    folder: PathBuf,
    owns_folder: bool,
}

impl Running {
    /// `plimsoll -q <words>` in the same folder during the run.
    pub(crate) fn and(&self, words: &str) -> Plimsoll {
        beside(&self.folder, words)
    }

    /// Returns the run's folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the processes that this one has started.
    pub(crate) fn children(&self) -> Vec<rustix::process::Pid> {
        let parent = format!(" {} ", self.child.0.id());
        let mut children = Vec::new();
        for entry in std::fs::read_dir("/proc").expect("a /proc").flatten() {
            let Ok(number) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
            let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            // Its name may hold anything; its state and its parent follow the last parenthesis (proc(5)).
            let is_child = stat
                .rsplit_once(')')
                .is_some_and(|(_, rest)| rest.get(2..).is_some_and(|rest| rest.starts_with(&parent)));
            children.extend(rustix::process::Pid::from_raw(number).filter(|_| is_child));
        }
        children.sort_unstable_by_key(|pid| pid.as_raw_nonzero());
        children
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child.0);
        rustix::process::kill_process(pid, signal).expect("it is running");
    }

    /// Waits for the end.
    pub(crate) fn wait(self) -> Ran {
        self.wait_for(PATIENCE)
    }

    /// Waits for the end of a run that takes longer than most.
    pub(crate) fn wait_for(mut self, patience: Duration) -> Ran {
        let mut resident_max_kib = None;
        let status = loop {
            resident_max_kib = resident_max(&self.child.0).or(resident_max_kib);
            if let Some(status) = self.child.0.try_wait().expect("it is our child") {
                break status;
            }
            if SystemClock::now().since(self.started) > patience {
                self.child.0.kill().expect("it is our child");
                panic!("it hangs; so far it said: {}", self.err.join().unwrap_or_default());
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let elapsed = SystemClock::now().since(self.started);
        let text = std::fs::read_to_string(self.folder.join("summary.json")).unwrap_or_default();
        let summary = serde_json::from_str(&text).unwrap_or(Value::Null);
        let ran = Ran {
            code: status.code(),
            out: self.out.join().expect("the reader does not panic"),
            err: self.err.join().expect("the reader does not panic"),
            summary,
            elapsed,
            resident_max_kib,
            folder: self.folder,
            owns_folder: self.owns_folder,
        };
        assert!(!ran.err.contains("panicked at"), "it panicked: {}", ran.err);
        ran
    }
}

/// Returns the peak memory of a running process, in KiB (`VmHWM` of `proc(5)`).
fn resident_max(child: &Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// A port of loopback for a program to listen on.
pub(crate) fn free_port() -> u16 {
    lab::free_ports(1).expect("a free port")[0]
}

/// An address of loopback for a program to listen on.
pub(crate) fn free_address() -> String {
    format!("127.0.0.1:{}", free_port())
}

/// Waits until a condition holds.
pub(crate) fn eventually(what: &str, holds: impl Fn() -> bool) {
    let started = SystemClock::now();
    while !holds() {
        assert!(SystemClock::now().since(started) < PATIENCE, "{what} never happened");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The results of a run.
pub(crate) struct Ran {
    /// The exit code; `None` if a signal ended the process.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
    /// Duration of the process.
    pub(crate) elapsed: Duration,
    /// Peak memory, sampled until a few milliseconds before the end; `None` if the kernel does not report it.
    pub(crate) resident_max_kib: Option<u64>,
    summary: Value,
    folder: PathBuf,
    owns_folder: bool,
}

impl Ran {
    /// Fails unless the exit code is `code`.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.out, self.err);
        self
    }

    /// Fails unless standard error contains this text.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Ran {
        assert!(self.err.contains(text), "{text:?} is not in: {}", self.err);
        self
    }

    /// Fails unless standard output contains this text.
    #[track_caller]
    pub(crate) fn prints(self, text: &str) -> Ran {
        assert!(self.out.contains(text), "{text:?} is not in: {}", self.out);
        self
    }

    /// Returns a value of a metric in the exported summary, if present.
    pub(crate) fn value(&self, metric: &str, name: &str) -> Option<f64> {
        self.summary["metrics"][metric][name].as_f64()
    }

    /// Returns the value of a counter; 0 if it is absent.
    pub(crate) fn count(&self, metric: &str) -> u64 {
        self.value(metric, "count").unwrap_or(0.0) as u64
    }

    /// `plimsoll -q <words>` in the same folder, with the same stored runs.
    pub(crate) fn and(&self, words: &str) -> Plimsoll {
        beside(&self.folder, words)
    }

    /// Returns the run's folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reads a file that the run wrote.
    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.join(name)).expect("it wrote the file")
    }
}

impl Drop for Ran {
    fn drop(&mut self) {
        if self.owns_folder {
            // Leftovers in the temporary folder are harmless.
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}
