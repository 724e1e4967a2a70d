//! The commands on a lab from other processes: start it, read its state, plant a fault in it, end it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use model::SystemClock;
use rustix::process::Signal;
use serde_json::Value;

use crate::error::LabError;
use crate::process::{self, Identity};
use crate::servers::Server;
use crate::state::{self, Phase, State};
use crate::supervisor::{Order, SUPERVISE_WORD};
use crate::system::System;
use crate::{faults, http, sweep};

/// Longer than a supervisor gives its parts, so that it can say which did not start.
const UP_LIMIT: Duration = Duration::from_secs(75);

/// A supervisor that has not ended this long after it was asked is killed.
const DOWN_LIMIT: Duration = Duration::from_secs(5);

/// How long a fault may take until it acts: an index is made anew when one is removed.
const FAULT_LIMIT: Duration = Duration::from_secs(15);

/// How often is looked whether something has happened.
const PERIOD: Duration = Duration::from_millis(20);

/// The command that installs packages.
const INSTALL: &[&str] = &["apt-get", "install"];
/// The environment of an unattended installation: Debian's scripts ask for no input, and start no service at run level 1.
const UNATTENDED: &[&str] = &["env", "RUNLEVEL=1", "DEBIAN_FRONTEND=noninteractive"];

/// How a lab is started.
#[derive(Clone, Debug, Default)]
pub struct UpSettings {
    /// The variant, where it is not the first.
    pub variant: Option<String>,
    /// Whether it is bound to one core, the last that this process may use.
    pub pin: bool,
    /// The base URL that spans go to; without one they go to where a run on this machine listens, as far as it asks for them.
    pub otlp: Option<String>,
    /// Seconds between two runs of what the system does periodically.
    pub refresh_s: u64,
}

/// How a lab stands.
#[derive(Clone, Debug)]
pub struct Status {
    /// The state that its supervisor wrote last.
    pub state: State,
    /// Whether that still runs.
    pub is_supervised: bool,
    /// The faults that are on; `None` where the service does not answer.
    pub faults_on: Option<Vec<String>>,
}

impl Status {
    /// Whether all of it works.
    pub fn is_well(&self) -> bool {
        let is_whole = self.state.parts.iter().all(|part| part.ended.is_none());
        self.state.phase == Phase::Ready && self.is_supervised && is_whole && self.faults_on.is_some()
    }
}

/// Starts a system and waits until all of it answers.
///
/// # Errors
/// Something is missing, it is up already, or a part of it does not start; then nothing of it stays.
pub fn up(system: &System, settings: &UpSettings) -> Result<State, LabError> {
    let variant = system.variant(settings.variant.as_deref())?;
    check_installed(system)?;
    let core = if settings.pin { Some(last_core()?) } else { None };
    let directory = claim(system, variant.name)?;
    let order = Order {
        variant: variant.name.to_owned(),
        core,
        otlp: settings.otlp.clone(),
        refresh_s: settings.refresh_s,
    };
    let log = directory.join("supervisor.log");
    let mut supervisor = start_supervisor(system, &directory, &order, &log).inspect_err(|_| {
        let _ = remove(&directory);
    })?;
    let asked = SystemClock::now();
    loop {
        // In this order, or its last words could come between the two.
        let has_ended = matches!(supervisor.try_wait(), Ok(Some(_)) | Err(_));
        match State::read(&directory)? {
            Some(state) if state.phase == Phase::Ready => return Ok(state),
            Some(State { phase: Phase::Failed, error, .. }) => {
                // It writes that last.
                let _ = supervisor.wait();
                remove(&directory)?;
                return Err(LabError::Other(error.unwrap_or_default()));
            }
            None if has_ended => {
                return Err(LabError::start(system.name, "it was taken down while it started"));
            }
            _ => {}
        }
        if has_ended || SystemClock::now().since(asked) > UP_LIMIT {
            let why = crate::supervisor::end_of(&log);
            down(system)?;
            return Err(LabError::start("the supervisor", format!("it ended{why}")));
        }
        std::thread::sleep(PERIOD);
    }
}

/// It outlives this process: it soon leads a session of its own.
fn start_supervisor(system: &System, directory: &Path, order: &Order, log: &Path) -> Result<Child, LabError> {
    order.write(directory)?;
    let create = |error| LabError::file("create", log, error);
    let output = std::fs::File::create(log).map_err(create)?;
    let errors = output.try_clone().map_err(create)?;
    let fail = |error: std::io::Error| LabError::start("the supervisor", error.to_string());
    let mut command = Command::new(std::env::current_exe().map_err(fail)?);
    command.args(["lab", SUPERVISE_WORD, system.name]).arg(directory);
    command.stdin(Stdio::null()).stdout(output).stderr(errors).spawn().map_err(fail)
}

/// How a system's lab stands; `None` where there is none.
///
/// # Errors
/// There is one whose state cannot be read.
pub fn status(system: &System) -> Result<Option<Status>, LabError> {
    let directory = state::directory()?.join(system.name);
    let Some(state) = State::read(&directory)? else { return Ok(None) };
    let is_supervised = state.is_supervised();
    let faults_on = if is_supervised { faults_on(&state).ok() } else { None };
    Ok(Some(Status { state, is_supervised, faults_on }))
}

/// Turns a fault on or off while the system runs, and waits until it acts.
///
/// # Errors
/// There is no such fault, the system is not up, or its service does not do it.
pub fn set_fault(system: &System, fault: &str, is_on: bool) -> Result<(), LabError> {
    if !faults::faults_of(system.name).any(|known| known.name == fault) {
        let known: Vec<&str> = faults::faults_of(system.name).map(|fault| fault.name.as_str()).collect();
        let (system, fault, known) = (system.name.to_owned(), fault.to_owned(), known.join(", "));
        return Err(LabError::NoFault { system, fault, known });
    }
    let name = || system.name.to_owned();
    let Some(status) = status(system)? else { return Err(LabError::NotUp(name())) };
    if !status.is_supervised {
        return Err(LabError::SupervisorGone(name()));
    }
    let url = format!("{}/faults/{fault}", status.state.control_url);
    let what = format!("turn {fault} {}", if is_on { "on" } else { "off" });
    let refuse = |why: String| LabError::Service { system: name(), what: what.clone(), why };
    match http::put(&url, if is_on { "on" } else { "off" }, FAULT_LIMIT) {
        Ok((200, _)) => Ok(()),
        Ok((status, body)) => Err(refuse(format!("it answered {status}: {}", body.trim()))),
        Err(why) => {
            let ended = status.state.parts.iter().find_map(|part| Some((part, part.ended.as_ref()?)));
            Err(refuse(ended.map_or(why, |(part, how)| format!("{}: {how}", part.name))))
        }
    }
}

/// Ends a system's lab, whatever state it is in, and removes all of it; whether there was one.
///
/// # Errors
/// Its directory cannot be removed.
pub fn down(system: &System) -> Result<bool, LabError> {
    let directory = state::directory()?.join(system.name);
    let state = match State::read(&directory) {
        Ok(Some(state)) => state,
        Ok(None) if !directory.exists() => return Ok(false),
        // Without a state nothing is known to run.
        Ok(None) | Err(_) => return remove(&directory).map(|()| true),
    };
    if state.is_supervised() {
        state.supervisor.signal(Signal::TERM);
        let asked = SystemClock::now();
        while state.supervisor.is_alive() && SystemClock::now().since(asked) < DOWN_LIMIT {
            std::thread::sleep(PERIOD);
        }
        state.supervisor.signal(Signal::KILL);
    }
    // Processes that the supervisor started in the meantime are in the state by now.
    let state = State::read(&directory).ok().flatten().unwrap_or(state);
    sweep::sweep(&state, &directory, system.servers);
    remove(&directory)?;
    Ok(true)
}

/// Installs what a system needs and is not there.
///
/// # Errors
/// It does not succeed.
pub fn install(system: &System) -> Result<(), LabError> {
    let missing = missing(system);
    if missing.is_empty() {
        return Ok(());
    }
    let root: &[&str] = if process::is_root() { &[] } else { &["sudo"] };
    let packages = missing.iter().map(|server| server.package());
    let words: Vec<&str> =
        root.iter().chain(UNATTENDED).chain(INSTALL).chain(&["-y", "-qq"]).copied().chain(packages).collect();
    let fail = |why: String| LabError::Other(format!("install with `{}`: {why}", words.join(" ")));
    match Command::new(words[0]).args(&words[1..]).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(fail(status.to_string())),
        Err(error) => Err(fail(error.to_string())),
    }
}

fn missing(system: &System) -> Vec<&'static dyn Server> {
    system.servers.iter().copied().filter(|server| !server.is_installed()).collect()
}

fn check_installed(system: &System) -> Result<(), LabError> {
    let missing = missing(system);
    if missing.is_empty() {
        return Ok(());
    }
    let packages = missing.iter().map(|server| server.package());
    let root: &[&str] = if process::is_root() { &[] } else { &["sudo"] };
    let words: Vec<&str> = root.iter().chain(INSTALL).copied().chain(packages).collect();
    let names = missing.iter().map(|server| server.name().to_owned()).collect();
    Err(LabError::Missing { missing: names, command: words.join(" ") })
}

/// Makes the directory of a new lab, its state in it, in one step: of two that try, one finds it there.
fn claim(system: &System, variant: &str) -> Result<PathBuf, LabError> {
    let root = state::directory()?;
    let directory = root.join(system.name);
    if let Some(state) = State::read(&directory)? {
        if state.is_supervised() {
            return Err(LabError::AlreadyUp(system.name.to_owned()));
        }
        down(system)?;
    }
    let own = Identity::own().ok_or_else(|| LabError::Other("find this process in /proc".to_owned()))?;
    let state = State {
        system: system.name.to_owned(),
        variant: variant.to_owned(),
        phase: Phase::Starting,
        error: None,
        supervisor: own,
        boot_id: process::boot_id(),
        parts: Vec::new(),
        url: String::new(),
        control_url: String::new(),
        servers: Default::default(),
        offers: Default::default(),
        otlp: None,
        core: None,
        ready_after_ms: None,
    };
    let prepared = root.join(format!(".{}.{}", system.name, own.pid));
    state::make_enterable(&prepared)?;
    state.write(&prepared)?;
    if let Err(error) = std::fs::rename(&prepared, &directory) {
        remove(&prepared)?;
        return Err(match error.kind() {
            std::io::ErrorKind::DirectoryNotEmpty => LabError::AlreadyUp(system.name.to_owned()),
            _ => LabError::file("create", &directory, error),
        });
    }
    Ok(directory)
}

fn remove(directory: &Path) -> Result<(), LabError> {
    match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(LabError::file("remove", directory, error))
        }
        _ => Ok(()),
    }
}

fn faults_on(state: &State) -> Result<Vec<String>, String> {
    let (_, body) = http::get(&format!("{}/faults", state.control_url), None, Duration::from_secs(2))?;
    let on: Value = serde_json::from_str(&body).map_err(|error| error.to_string())?;
    let names = on.as_array().into_iter().flatten().filter_map(Value::as_str);
    Ok(names.map(str::to_owned).collect())
}

/// The last core that this process may run on, of at least two.
fn last_core() -> Result<usize, LabError> {
    let cores = rustix::thread::sched_getaffinity(None)
        .map_err(|error| LabError::Other(format!("find the cores of this machine: {error}")))?;
    if cores.count() < 2 {
        return Err(LabError::Other("bind the lab to a core of its own: there is only one".to_owned()));
    }
    let found = (0..rustix::thread::CpuSet::MAX_CPU).rev().find(|core| cores.is_set(*core));
    found.ok_or_else(|| LabError::Other("find the cores of this machine".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Launch;
    use crate::servers::Place;
    use crate::system::Variant;

    /// A server that is not installed.
    #[derive(Debug)]
    struct Absent;

    impl Server for Absent {
        fn name(&self) -> &'static str {
            "absent"
        }

        fn package(&self) -> &'static str {
            "absent-server"
        }

        fn program(&self) -> &'static str {
            "a-program-that-nobody-has"
        }

        fn prepare(&self, _: &Place) -> Result<Vec<Launch>, LabError> {
            Ok(Vec::new())
        }

        fn is_ready(&self, _: &Place) -> bool {
            false
        }

        fn url(&self, _: &Place) -> String {
            String::new()
        }
    }

    #[test]
    fn what_is_missing_is_named_with_what_installs_it() {
        let system = System {
            name: "nowhere",
            summary: "",
            variants: &[Variant { name: "plain", summary: "" }],
            servers: &[&Absent],
            scripts: &[],
            serve: |_| Ok(()),
        };
        let error = up(&system, &UpSettings::default()).expect_err("nothing can be started").to_string();
        assert!(error.starts_with("find absent: install with `"), "{error}");
        assert!(error.contains("apt-get install absent-server`, or add --install"), "{error}");
    }
}
