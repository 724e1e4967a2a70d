//! Processes: which one a number means, and how they are started so that none outlives its parent.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, PidfdFlags, Signal};
use serde::{Deserialize, Serialize};

use crate::error::LabError;

/// A process: its number, and when it started, because numbers are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its number.
    pub pid: i32,
    /// When it started, in the kernel's ticks since boot (field 22 of proc(5)'s `stat`).
    pub started_ticks: u64,
}

/// The fields of `/proc/PID/stat` that matter here (proc(5)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) state: char,
    pub(crate) session: i32,
    pub(crate) started_ticks: u64,
}

impl Identity {
    /// The process that has this number now.
    pub fn from_pid(pid: i32) -> Option<Identity> {
        stat(pid).map(|stat| Identity { pid, started_ticks: stat.started_ticks })
    }

    /// This process.
    pub(crate) fn own() -> Option<Identity> {
        Identity::from_pid(rustix::process::getpid().as_raw_nonzero().get())
    }

    /// Whether it still runs. One that ended and was not waited for does not.
    pub fn is_alive(&self) -> bool {
        stat(self.pid)
            .is_some_and(|stat| stat.started_ticks == self.started_ticks && !matches!(stat.state, 'Z' | 'X'))
    }

    /// Sends a signal to this process and to no other that came to its number; whether there was one to send to.
    pub(crate) fn signal(&self, signal: Signal) -> bool {
        let Some(pid) = Pid::from_raw(self.pid) else { return false };
        // The handle is opened first and its owner checked after: from then on it cannot come to mean another process.
        let Ok(handle) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return false };
        self.is_alive() && rustix::process::pidfd_send_signal(&handle, signal).is_ok()
    }
}

/// The kernel's state of a process; `None` where there is none.
pub(crate) fn stat(pid: i32) -> Option<Stat> {
    parse_stat(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The second field is the program's name in brackets, and may hold brackets and blanks of its own.
fn parse_stat(text: &str) -> Option<Stat> {
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    Some(Stat {
        state: fields.first()?.chars().next()?,
        session: fields.get(3)?.parse().ok()?,
        started_ticks: fields.get(19)?.parse().ok()?,
    })
}

/// The boot that process numbers and ticks belong to; empty where the kernel does not expose it.
pub(crate) fn boot_id() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_owned()
}

/// A user and group to run as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

/// The user of this name in passwd(5).
pub(crate) fn user(name: &str) -> Option<User> {
    let passwd = std::fs::read_to_string("/etc/passwd").ok()?;
    let fields = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let mut named = fields.filter(|fields| fields.first() == Some(&name));
    let fields = named.next()?;
    Some(User { name: name.to_owned(), uid: fields.get(2)?.parse().ok()?, gid: fields.get(3)?.parse().ok()? })
}

/// Whether this process has root's rights.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// How to start a process.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Its name in the state and in errors.
    pub(crate) name: String,
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    /// Whom to run it as, where that is not this user.
    pub(crate) user: Option<User>,
    /// The signal that ends it gracefully, and that the kernel sends when its parent has ended.
    pub(crate) stop_signal: Signal,
    /// The name of `stop_signal` for setpriv(1).
    pub(crate) stop_signal_name: &'static str,
    /// Whether it ends when its standard input does.
    pub(crate) holds_stdin: bool,
}

impl Launch {
    /// A program that is ended with SIGTERM.
    pub fn new(name: &str, program: impl Into<PathBuf>) -> Launch {
        Launch {
            name: name.to_owned(),
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            user: None,
            stop_signal: Signal::TERM,
            stop_signal_name: "TERM",
            holds_stdin: false,
        }
    }

    /// With further arguments.
    #[must_use]
    pub fn args<T: Into<String>>(mut self, args: impl IntoIterator<Item = T>) -> Launch {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// With a further variable; of the lab's own environment it sees the `PATH` alone.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Launch {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// Starts it in `directory`, with what it prints in `log`.
    ///
    /// setpriv(1) becomes the program after it has dropped rights and asked the kernel for the signal that comes when the
    /// parent has ended. The parent is a thread, so this must be called on one that lasts.
    ///
    /// # Errors
    /// The log cannot be written or setpriv is not there. A missing program shows in the log.
    pub(crate) fn spawn(&self, directory: &Path, log: &Path) -> Result<Child, LabError> {
        let output = File::create(log).map_err(|error| LabError::file("create", log, error))?;
        let errors = output.try_clone().map_err(|error| LabError::file("open", log, error))?;
        let mut command = self.command(directory);
        command.stdin(if self.holds_stdin { Stdio::piped() } else { Stdio::null() });
        command
            .stdout(output)
            .stderr(errors)
            .spawn()
            .map_err(|error| LabError::start(&self.name, error.to_string()))
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// It does not succeed; the text is what it printed.
    pub(crate) fn run(&self, directory: &Path) -> Result<(), LabError> {
        let output = self.command(directory).stdin(Stdio::null()).output();
        let output = output.map_err(|error| LabError::start(&self.name, error.to_string()))?;
        if output.status.success() {
            return Ok(());
        }
        let text = [output.stdout, output.stderr].concat();
        Err(LabError::start(
            &self.name,
            format!("{}: {}", output.status, String::from_utf8_lossy(&text).trim()),
        ))
    }

    fn command(&self, directory: &Path) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", self.stop_signal_name]);
        if let Some(user) = &self.user {
            command.args([
                "--reuid",
                &user.uid.to_string(),
                "--regid",
                &user.gid.to_string(),
                "--init-groups",
            ]);
        }
        command.arg("--").arg(&self.program).args(&self.args);
        command.env_clear().envs(self.env.iter().map(|(name, value)| (name, value)));
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/sbin:/usr/bin:/sbin:/bin".into());
        command.env("PATH", path).env("HOME", directory).env("LC_ALL", "C.UTF-8").current_dir(directory);
        // A group of its own, so that a signal from the terminal reaches the supervisor alone.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }
}

/// Closes what this process inherited besides its standard streams. A lab outlives its caller, and an open file of the caller would
/// keep its lock, its port or its pipe.
///
/// This process opens all its files with `O_CLOEXEC` (open(2)), and what had that flag was not inherited, so that the flag distinguishes
/// both.
pub(crate) fn close_inherited() {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let numbers: Vec<i32> = numbers.collect();
    for number in numbers.into_iter().filter(|number| *number > STANDARD_ERROR && is_inherited(*number)) {
        // One that cannot be closed is none.
        let _ = nix::unistd::close(number);
    }
}

/// The number of standard error; what was opened has higher ones.
const STANDARD_ERROR: i32 = 2;

/// `O_CLOEXEC` in the flags of `/proc/self/fdinfo`.
const CLOSE_ON_EXEC: u32 = 0o2_000_000;

fn is_inherited(number: i32) -> bool {
    let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{number}")).unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & CLOSE_ON_EXEC == 0)
}

/// The program of this name on the PATH or in a place where Debian keeps servers.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/usr/bin"].map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_name_cannot_forge_fields() {
        let tail = "S 1 7 42 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 12345 99";
        let expect = Some(Stat { state: 'S', session: 42, started_ticks: 12345 });
        for name in ["sleep", "a b", "a) Z 9 9 9", "("] {
            assert_eq!(parse_stat(&format!("77 ({name}) {tail}")), expect, "{name}");
        }
        for torn in ["", "77 (sleep", "77 (sleep) S 1", "77 (sleep) S 1 7 x"] {
            assert_eq!(parse_stat(torn), None, "{torn:?}");
        }
    }

    #[test]
    fn users_are_found_by_their_whole_name() {
        let root = User { name: "root".to_owned(), uid: 0, gid: 0 };
        assert_eq!(user("root"), Some(root));
        assert_eq!((user("roo"), user("")), (None, None));
    }

    #[test]
    fn a_number_that_came_to_another_process_is_not_the_process() {
        let mut child = Command::new("sleep").arg("30").spawn().expect("sleep is there");
        let pid = i32::try_from(child.id()).expect("a process number");
        let own = Identity::from_pid(pid).expect("it runs");
        let earlier = Identity { started_ticks: own.started_ticks - 1, ..own };
        assert!(own.is_alive() && !earlier.is_alive());
        assert!(!earlier.signal(Signal::KILL), "no signal goes to the process that has the number now");
        assert!(own.is_alive());
        assert!(own.signal(Signal::KILL));
        child.wait().expect("it ends");
        assert!(!own.is_alive() && !own.signal(Signal::KILL));
    }

    #[test]
    fn what_was_started_ends_with_its_parent() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("log");
        // The thread is the parent; it ends right after.
        let (directory, file) = (folder.path().to_owned(), log.clone());
        let parent = std::thread::spawn(move || {
            let child = Launch::new("sleep", "sleep")
                .args(["30"])
                .spawn(&directory, &file)
                .expect("setpriv is there");
            let pid = i32::try_from(child.id()).expect("a process number");
            let identity = Identity::from_pid(pid).expect("it runs");
            // Only after it has become the program has the kernel been asked.
            while std::fs::read_to_string(format!("/proc/{pid}/comm"))
                .is_ok_and(|name| name.trim() != "sleep")
            {
                std::thread::yield_now();
            }
            (child, identity)
        });
        let (mut child, identity) = parent.join().expect("no panic");
        let status = child.wait().expect("it ends");
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(Signal::TERM.as_raw()));
        assert!(!identity.is_alive());
    }
}
