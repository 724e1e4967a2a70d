//! The pod's side: takes a test, runs the program with it, and hands over what it prints and writes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fleet::tls::HubCertificate;
use fleet::token::TOKEN_FILE_BYTES_MAX;
use kubernetes::client::POD_TOKEN_HEADER;
use model::{Instant, LogLevel, SystemClock};
use runs::{Exit, Failure};
use rustix::process::{Pid, Signal, kill_process};
use server::{Calls, Server};
use signal_hook::consts::{SIGINT, SIGTERM};

use super::{Call, News, PART_BYTES, Written, is_below, join, split};
use crate::Context;

/// A command that is silent for so long is gone: the test ends, because no one could end it.
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// Time for the program to end after an interrupt without its command; then it is killed.
const ENDING_MAX: Duration = Duration::from_secs(25);

/// The longest wait for news in one call.
const NEWS_MAX: Duration = Duration::from_secs(2);

/// Interval at which news are looked for.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The most of one text per call, bytes.
const TEXT_BYTES: u64 = 256 << 10;

/// The most files that are handed over.
const FILES_MAX: usize = 10_000;

/// Settings of a hub in a pod.
#[derive(Clone, Debug)]
pub struct HubPodOptions {
    /// The address for the calls of the command: IP:PORT.
    pub listen: String,
    /// The file with the token of these calls.
    pub token_file: PathBuf,
    /// The folder for the test and its results.
    pub folder: PathBuf,
}

/// Serves the command that started this pod until it leaves.
///
/// # Errors
/// The folder or the address cannot be used, or the command is gone.
pub fn serve(options: &HubPodOptions, context: &Context) -> Result<Exit, Failure> {
    let failed = |what: &str, error: &dyn std::fmt::Display| {
        Failure::new(Exit::Other, format!("failed to {what}: {error}"))
    };
    let token = files::read_given_text(&options.token_file, TOKEN_FILE_BYTES_MAX)
        .map_err(|error| failed(&format!("read {}", options.token_file.display()), &error))?;
    let signals = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        let registered = signal_hook::flag::register(signal, signals.clone());
        registered.map_err(|error| failed("listen to signals", &error))?;
    }
    let desk = Desk::open(&options.folder).map_err(|error| failed("make the folders of the hub", &error))?;
    let desk = Arc::new(desk);
    let certificate = HubCertificate::generate().map_err(|error| failed("make a certificate", &error))?;
    let header = (POD_TOKEN_HEADER, token.trim());
    let _server = Server::start_calls(&options.listen, header, certificate.acceptor(), desk.clone())
        .map_err(|error| Failure::new(Exit::CannotServe, format!("failed to {error}")))?;
    context.logger.say(LogLevel::Info, format!("waiting for the test at {}", options.listen));
    desk.attend(&signals)
}

/// The state of the hub.
struct Desk {
    folder: PathBuf,
    heard: Mutex<Instant>,
    has_left: AtomicBool,
    program: Mutex<Program>,
}

/// The program that runs the test.
#[derive(Default)]
struct Program {
    child: Option<Child>,
    exit: Option<u8>,
    /// Files of the test, below the folder of the program.
    given: BTreeSet<String>,
}

impl Desk {
    fn open(folder: &Path) -> std::io::Result<Desk> {
        for name in ["work", "runs", "tmp"] {
            std::fs::create_dir_all(folder.join(name))?;
        }
        for name in ["out", "err"] {
            File::create(folder.join(name))?;
        }
        Ok(Desk {
            folder: folder.to_owned(),
            heard: Mutex::new(SystemClock::now()),
            has_left: AtomicBool::new(false),
            program: Mutex::default(),
        })
    }

    /// Waits until the command leaves, is gone, or the pod is to end.
    fn attend(&self, signals: &AtomicBool) -> Result<Exit, Failure> {
        loop {
            std::thread::sleep(LOOK_EVERY);
            if self.has_left.load(Relaxed) {
                return Ok(Exit::Ok);
            }
            if signals.load(Relaxed) {
                self.end();
                // The command still reads what the program wrote at its end.
                self.linger();
                return Err(Failure::new(Exit::Signal, "the pod of the hub was ended"));
            }
            if SystemClock::now().since(*lock(&self.heard)) > SILENCE_MAX {
                self.end();
                let text = format!(
                    "nothing was heard from the command for {} s; the test has ended",
                    SILENCE_MAX.as_secs()
                );
                return Err(Failure::new(Exit::HubLost, text));
            }
        }
    }

    /// Ends the program: gracefully, or after a while at once.
    fn end(&self) {
        let until = SystemClock::now() + ENDING_MAX;
        // Without a program there is nothing to end.
        let _ = self.interrupt();
        while self.program().is_running() && SystemClock::now() < until {
            std::thread::sleep(LOOK_EVERY);
        }
        if let Some(child) = &mut self.program().child {
            // It may have ended just now.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    fn linger(&self) {
        let until = SystemClock::now() + ENDING_MAX;
        while !self.has_left.load(Relaxed) && SystemClock::now() < until {
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn program(&self) -> MutexGuard<'_, Program> {
        lock(&self.program)
    }

    fn write(&self, name: &str, at: u64, bytes: &[u8]) -> Result<(), String> {
        if !is_below(name) {
            return Err(format!("invalid name `{name}`"));
        }
        let path = self.folder.join("work").join(name);
        let write = || {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            let mut file = File::options().create(true).write(true).truncate(at == 0).open(&path)?;
            file.seek(SeekFrom::Start(at))?;
            file.write_all(bytes)
        };
        write().map_err(|error| format!("failed to write {name}: {error}"))?;
        self.program().given.insert(format!("work/{name}"));
        Ok(())
    }

    fn begin(&self, words: &[String], env: &BTreeMap<String, String>) -> Result<(), String> {
        let mut program = self.program();
        if program.child.is_some() {
            return Err("the test has begun already".to_owned());
        }
        let failed = |error: std::io::Error| format!("failed to start the test: {error}");
        let append = |name: &str| File::options().append(true).open(self.folder.join(name)).map_err(failed);
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        command.args(words).envs(env).current_dir(self.folder.join("work")).stdin(Stdio::null());
        command.env("HOME", &self.folder).env("TMPDIR", self.folder.join("tmp"));
        command.env("PLIMSOLL_RUNS", self.folder.join("runs")).env_remove("K6_RUNS");
        // Signals of the pod reach it through the hub alone.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.stdout(append("out")?).stderr(append("err")?).spawn().map_err(failed)?;
        program.child = Some(child);
        Ok(())
    }

    fn follow(&self, out: u64, err: u64) -> Result<Vec<u8>, String> {
        let until = SystemClock::now() + NEWS_MAX;
        loop {
            // The end is looked for first: all output from before it is in the files then.
            let has_ended = !self.program().is_running();
            let (out, err) = (self.text("out", out)?, self.text("err", err)?);
            let is_news = !out.is_empty() || !err.is_empty();
            if is_news || has_ended || SystemClock::now() >= until {
                let exit = self.program().exit.filter(|_| has_ended && !is_news);
                let news = News { out_bytes: out.len(), err_bytes: err.len(), exit };
                return join(&news, &[out, err].concat());
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn text(&self, name: &str, at: u64) -> Result<Vec<u8>, String> {
        part(&self.folder.join(name), at, TEXT_BYTES)
    }

    fn interrupt(&self) -> Result<(), String> {
        let mut program = self.program();
        if !program.is_running() {
            return Ok(());
        }
        let child = program.child.as_ref().and_then(|child| i32::try_from(child.id()).ok());
        let Some(pid) = child.and_then(Pid::from_raw) else { return Ok(()) };
        kill_process(pid, Signal::INT).map_err(|error| format!("failed to stop the test: {error}"))
    }

    /// The run files, and what the program wrote into its folder.
    fn list(&self) -> Result<Vec<Written>, String> {
        let given = self.program().given.clone();
        let mut found = Vec::new();
        let mut folders = vec!["runs".to_owned(), "work".to_owned()];
        while let Some(folder) = folders.pop() {
            let failed = |error: std::io::Error| format!("failed to list {folder}: {error}");
            for entry in std::fs::read_dir(self.folder.join(&folder)).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let Ok(name) = entry.file_name().into_string() else { continue };
                let (name, kind) = (format!("{folder}/{name}"), entry.file_type().map_err(failed)?);
                if kind.is_dir() {
                    folders.push(name);
                } else if kind.is_file() && !given.contains(&name) && found.len() < FILES_MAX {
                    found.push(Written { name, bytes: entry.metadata().map_err(failed)?.len() });
                }
            }
        }
        Ok(found)
    }

    fn read(&self, name: &str, at: u64) -> Result<Vec<u8>, String> {
        if !is_below(name) || !(name.starts_with("runs/") || name.starts_with("work/")) {
            return Err(format!("invalid name `{name}`"));
        }
        part(&self.folder.join(name), at, PART_BYTES as u64)
    }
}

impl Calls for Desk {
    fn call(&self, message: Vec<u8>) -> Result<Vec<u8>, String> {
        let (call, bytes) = split::<Call>(&message).map_err(|error| format!("invalid call: {error}"))?;
        *lock(&self.heard) = SystemClock::now();
        match call {
            Call::Write { name, at } => self.write(&name, at, bytes).map(|()| Vec::new()),
            Call::Begin { words, env } => self.begin(&words, &env).map(|()| Vec::new()),
            Call::Follow { out, err } => self.follow(out, err),
            Call::Interrupt => self.interrupt().map(|()| Vec::new()),
            Call::List => join(&self.list()?, &[]),
            Call::Read { name, at } => self.read(&name, at),
            Call::Leave => {
                self.has_left.store(true, Relaxed);
                Ok(Vec::new())
            }
        }
    }
}

impl Program {
    /// Looks whether the program runs; takes its exit code if it has just ended.
    fn is_running(&mut self) -> bool {
        if self.exit.is_some() {
            return false;
        }
        let Some(child) = &mut self.child else { return false };
        match child.try_wait() {
            Ok(None) => return true,
            Ok(Some(status)) => self.exit = Some(code(status)),
            Err(_) => self.exit = Some(Exit::Other.code()),
        }
        false
    }
}

fn code(status: ExitStatus) -> u8 {
    let by_signal = || status.signal().map(|signal| 128 + signal);
    status.code().or_else(by_signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(Exit::Other.code())
}

fn part(path: &Path, at: u64, bytes_max: u64) -> Result<Vec<u8>, String> {
    let read = || {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(at))?;
        let mut bytes = Vec::new();
        file.take(bytes_max).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error: std::io::Error| format!("failed to read {}: {error}", path.display()))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
