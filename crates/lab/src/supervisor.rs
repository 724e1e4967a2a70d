//! The process that is the parent of all that a lab runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use model::{Instant, SystemClock};
use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::assignment::Assignment;
use crate::error::LabError;
use crate::process::{self, Identity, Launch};
use crate::running::{self, Running};
use crate::servers::{self, Around, Place, Server};
use crate::state::{self, LabProcess, Phase, State};
use crate::system::System;
use crate::{http, parts, ports, sweep};

/// The arguments that make the program a supervisor: `plimsoll lab supervise …`. Hidden from help.
pub const SUPERVISE_WORD: &str = "supervise";

/// The arguments that make the program serve a system: `plimsoll lab serve …`. Hidden from help.
pub const SERVE_WORD: &str = "serve";

/// A lab whose parts do not all answer by then has failed.
const START_LIMIT: Duration = Duration::from_secs(60);

/// How often the parts are looked at.
const PERIOD: Duration = Duration::from_millis(20);

/// The end of a log that goes into an error.
const LOG_LINES_SHOWN: usize = 12;

/// A log is read from its end, and no further back.
const LOG_BYTES_READ: usize = 16 << 10;

/// The file within a lab's directory that says what it is to be.
const ORDER_FILE: &str = "order.json";

/// The settings of a new lab.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) variant: String,
    pub(crate) core: Option<usize>,
    pub(crate) otlp: Option<String>,
    pub(crate) refresh_s: u64,
}

impl Order {
    pub(crate) fn write(&self, directory: &Path) -> Result<(), LabError> {
        let text = serde_json::to_vec(self).map_err(|error| LabError::Other(error.to_string()))?;
        state::write_privately(&directory.join(ORDER_FILE), &text)
    }

    fn read(directory: &Path) -> Result<Order, LabError> {
        let path = directory.join(ORDER_FILE);
        let text = std::fs::read(&path).map_err(|error| LabError::file("read", &path, error))?;
        serde_json::from_slice(&text).map_err(|error| LabError::file("read", &path, error.into()))
    }
}

/// Starts a system in the directory that [`crate::up`] made, and runs until it is asked to stop. To be called on the thread
/// that lasts as long as the process.
///
/// # Errors
/// It cannot be started; the same stands in the state.
pub fn supervise(system: &System, directory: &Path) -> Result<(), LabError> {
    process::close_inherited();
    let order = Order::read(directory)?;
    // Its children are recognised by the session it leads.
    rustix::process::setsid().map_err(|error| LabError::Other(format!("lead a session: {error}")))?;
    let mut signals = Signals::new([SIGTERM, SIGINT])
        .map_err(|error| LabError::Other(format!("listen for signals: {error}")))?;
    let mut lab = Lab::begin(system, directory, &order)?;
    let mut is_stopped = || signals.pending().next().is_some();
    match lab.start(&order, &mut is_stopped) {
        Ok(true) => lab.watch(&mut is_stopped)?,
        Ok(false) => {}
        Err(error) => {
            lab.stop();
            lab.state.phase = Phase::Failed;
            lab.state.error = Some(error.to_string());
            return lab.state.write(directory);
        }
    }
    lab.stop();
    std::fs::remove_dir_all(directory).map_err(|error| LabError::file("remove", directory, error))
}

/// Serves a system in the directory of its lab; with a part, as one of the processes that its service has asked for.
///
/// # Errors
/// It cannot begin, or cannot go on.
pub fn serve(system: &System, directory: &Path, part: Option<&str>) -> Result<(), LabError> {
    let assignment = Assignment::read(directory)?;
    let assignment = match part {
        Some(part) => assignment.for_part(part),
        None => assignment,
    };
    (system.serve)(&assignment).map_err(LabError::Other)
}

struct Lab<'a> {
    system: &'a System,
    directory: &'a Path,
    /// The servers that the variant needs, and where each is.
    servers: Vec<&'static dyn Server>,
    state: State,
    children: Vec<Running>,
    /// The names of the processes that the service has asked for, whatever became of them.
    parts: BTreeSet<String>,
    places: Vec<Place>,
    service_port: u16,
    control_port: u16,
    began: Instant,
}

impl<'a> Lab<'a> {
    fn begin(system: &'a System, directory: &'a Path, order: &Order) -> Result<Lab<'a>, LabError> {
        let began = SystemClock::now();
        if let Some(core) = order.core {
            bind_to(core)?;
        }
        let own = Identity::own().ok_or_else(|| LabError::Other("find this process in /proc".to_owned()))?;
        let servers = system.servers.iter().copied();
        let servers: Vec<_> = servers.filter(|server| server.is_needed(&order.variant)).collect();
        let needed: usize = servers.iter().map(|server| server.port_count()).sum();
        let mut free = ports::free_ports(needed + 2)?;
        let (service_port, control_port) = (free.pop().unwrap_or_default(), free.pop().unwrap_or_default());
        let mut around = Around {
            system: system.name.to_owned(),
            variant: order.variant.clone(),
            service_port,
            otlp: order.otlp.clone(),
            refresh_s: order.refresh_s,
            ports: BTreeMap::new(),
        };
        for server in &servers {
            around.ports.insert(server.name(), free.split_off(free.len() - server.port_count()));
        }
        let mut places = Vec::new();
        for server in &servers {
            places.push(Place {
                directory: directory.join(server.name()),
                ports: around.ports[server.name()].clone(),
                password: servers::password()?,
                service_control_port: control_port,
                around: around.clone(),
            });
        }
        let mut with_places = servers.iter().zip(&places);
        let front =
            with_places.find(|(server, _)| server.is_front()).map(|(server, place)| server.url(place));
        let state = State {
            system: system.name.to_owned(),
            variant: order.variant.clone(),
            phase: Phase::Starting,
            error: None,
            supervisor: own,
            boot_id: process::boot_id(),
            parts: Vec::new(),
            url: front.unwrap_or_else(|| format!("http://127.0.0.1:{service_port}")),
            control_url: format!("http://127.0.0.1:{control_port}"),
            servers: BTreeMap::new(),
            offers: BTreeMap::new(),
            otlp: order.otlp.clone(),
            core: order.core,
            ready_after_ms: None,
        };
        let (children, parts) = (Vec::new(), BTreeSet::new());
        let lab = Lab {
            system,
            directory,
            servers,
            state,
            children,
            parts,
            places,
            service_port,
            control_port,
            began,
        };
        lab.state.write(directory)?;
        Ok(lab)
    }

    /// Starts everything; returns whether all started before it was asked to stop.
    fn start(&mut self, order: &Order, is_stopped: &mut dyn FnMut() -> bool) -> Result<bool, LabError> {
        let (servers, places) = (self.servers.clone(), self.places.clone());
        for (server, place) in servers.iter().zip(&places) {
            state::make_enterable(&place.directory)?;
            for launch in server.prepare(place)? {
                self.spawn(launch, &place.directory)?;
            }
            if is_stopped() {
                return Ok(false);
            }
        }
        for (server, place) in servers.iter().zip(&places) {
            if !self.wait(server.name(), is_stopped, || server.is_ready(place))? {
                return Ok(false);
            }
        }
        let urls = servers::urls(servers.iter().copied().zip(&places));
        self.state.servers.clone_from(&urls);
        self.state.offers = servers::offers(servers.iter().copied().zip(&places));
        self.start_service(order, urls)?;
        let ready = format!("{}/ready", self.state.control_url);
        let is_ready =
            || http::get(&ready, None, Duration::from_millis(500)).is_ok_and(|(status, _)| status == 200);
        if !self.wait(self.system.name, is_stopped, is_ready)? {
            return Ok(false);
        }
        self.state.phase = Phase::Ready;
        let took = SystemClock::now().since(self.began);
        self.state.ready_after_ms = Some(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        self.state.write(self.directory)?;
        Ok(true)
    }

    fn start_service(&mut self, order: &Order, servers: BTreeMap<String, String>) -> Result<(), LabError> {
        let assignment = Assignment {
            system: self.system.name.to_owned(),
            variant: order.variant.clone(),
            part: String::new(),
            port: self.service_port,
            control_port: self.control_port,
            log: self.directory.join(format!("{}.jsonl", self.system.name)),
            otlp: order.otlp.clone(),
            refresh_s: order.refresh_s,
            servers,
        };
        assignment.write(self.directory)?;
        let launch = self.own_launch(self.system.name)?;
        self.spawn(launch, self.directory)
    }

    /// This program, to serve the system.
    fn own_launch(&self, name: &str) -> Result<Launch, LabError> {
        let own = std::env::current_exe().map_err(|error| LabError::start(name, error.to_string()))?;
        let launch = Launch::new(name, own).args(["lab", SERVE_WORD, self.system.name]);
        Ok(launch.args([self.directory.display().to_string()]))
    }

    /// Starts what the service asks for beside itself, and ends what it no longer asks for.
    fn follow_service(&mut self) -> Result<(), LabError> {
        let Some(asked) = parts::asked(self.directory) else { return Ok(()) };
        let now = SystemClock::now();
        let is_over = |running: &mut Running| running.is_retired() && running.ended().is_some();
        if let Some(index) = self.children.iter_mut().position(is_over) {
            self.children.remove(index);
            self.state.parts.remove(index);
            self.state.write(self.directory)?;
        }
        for (running, part) in self.children.iter_mut().zip(&self.state.parts) {
            let is_part = self.parts.contains(running.name());
            if is_part && part.ended.is_none() && !asked.iter().any(|name| name == running.name()) {
                running.retire(now);
            }
        }
        for name in asked {
            if self.children.iter().all(|running| running.name() != name) {
                let launch = self.own_launch(&name)?.args([name.clone()]);
                self.parts.insert(name);
                self.spawn(launch, self.directory)?;
            }
        }
        Ok(())
    }

    fn spawn(&mut self, launch: Launch, directory: &Path) -> Result<(), LabError> {
        let log = self.directory.join(format!("{}.log", launch.name));
        let running = Running::start(launch, directory, &log)?;
        let (name, identity) = (running.name().to_owned(), running.identity());
        self.state.parts.push(LabProcess { name, identity, log, ended: None });
        self.children.push(running);
        self.state.write(self.directory)
    }

    /// Waits for something; returns whether it came before the lab was asked to stop.
    fn wait(
        &mut self,
        what: &str,
        is_stopped: &mut dyn FnMut() -> bool,
        is_ready: impl Fn() -> bool,
    ) -> Result<bool, LabError> {
        loop {
            if is_stopped() {
                return Ok(false);
            }
            if let Some(index) = self.first_ended() {
                let part = &self.state.parts[index];
                let why = part.ended.clone().unwrap_or_default();
                return Err(LabError::start(&part.name, format!("{why}{}", end_of(&part.log))));
            }
            self.follow_service()?;
            if is_ready() {
                return Ok(true);
            }
            if SystemClock::now().since(self.began) > START_LIMIT {
                let log = self.directory.join(format!("{what}.log"));
                let why = format!("it did not answer within {} s{}", START_LIMIT.as_secs(), end_of(&log));
                return Err(LabError::start(what, why));
            }
            std::thread::sleep(PERIOD);
        }
    }

    /// Runs, and notes which processes end without being asked to.
    fn watch(&mut self, is_stopped: &mut dyn FnMut() -> bool) -> Result<(), LabError> {
        while !is_stopped() {
            self.follow_service()?;
            let before = self.ended_count();
            self.first_ended();
            if self.ended_count() != before {
                self.state.write(self.directory)?;
            }
            std::thread::sleep(PERIOD);
        }
        Ok(())
    }

    fn ended_count(&self) -> usize {
        self.state.parts.iter().filter(|part| part.ended.is_some()).count()
    }

    /// Notes which parts have ended, and gives the first of them.
    fn first_ended(&mut self) -> Option<usize> {
        for (running, part) in self.children.iter_mut().zip(&mut self.state.parts) {
            if part.ended.is_none()
                && !running.is_retired()
                && let Some(status) = running.ended()
            {
                part.ended = Some(describe(status));
            }
        }
        self.state.parts.iter().position(|part| part.ended.is_some())
    }

    /// Ends everything: the service first, so that it does not see its servers go.
    fn stop(&mut self) {
        running::stop(&mut self.children);
        for identity in sweep::session_of(&self.state.supervisor) {
            identity.signal(Signal::KILL);
        }
        self.servers.iter().zip(&self.places).for_each(|(server, place)| server.sweep(&place.directory));
    }
}

/// Binds this process to a core; what it starts inherits that.
fn bind_to(core: usize) -> Result<(), LabError> {
    let mut cores = rustix::thread::CpuSet::new();
    if core >= rustix::thread::CpuSet::MAX_CPU {
        return Err(LabError::Other(format!("bind the lab to core {core}: there are fewer")));
    }
    cores.set(core);
    rustix::thread::sched_setaffinity(None, &cores)
        .map_err(|error| LabError::Other(format!("bind the lab to core {core}: {error}")))
}

fn describe(status: ExitStatus) -> String {
    match std::os::unix::process::ExitStatusExt::signal(&status) {
        Some(signal) => format!("it was ended by signal {signal}"),
        None => format!("it ended with exit code {}", status.code().unwrap_or_default()),
    }
}

/// The end of a log, on lines of its own; empty where there is none.
pub(crate) fn end_of(log: &PathBuf) -> String {
    let bytes = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(LOG_BYTES_READ)..]).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    let shown = &lines[lines.len().saturating_sub(LOG_LINES_SHOWN)..];
    if shown.is_empty() { String::new() } else { format!("; its log ends with:\n  {}", shown.join("\n  ")) }
}
