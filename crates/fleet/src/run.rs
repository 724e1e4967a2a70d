//! A run on agents, in the shape of `engine::run`.

use std::net::TcpListener;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use engine::{AbortReason, ProgramError, RunConfig, RunOutcome};
use model::plan::Plan;
use model::{RunEvent, SystemClock};
use tokio::sync::mpsc::UnboundedSender;

use crate::book::{Book, Effect};
use crate::convert::{self, ReasonKind};
use crate::message::Steer;
use crate::serve::Service;
use crate::tls::HubCertificate;
use crate::{HubEnd, HubEvent, HubInput, HubSettings};

/// Interval at which requests from outside are looked for.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Time in which local agents exit after the end of the run; then they are killed.
const CHILDREN_PATIENCE: Duration = Duration::from_secs(3);

/// Interval at which local agents are looked at.
const CHILDREN_LOOK_EVERY: Duration = Duration::from_millis(20);

/// The hub of a run, ready to begin.
pub struct Fleet {
    /// The facts for the hub.
    pub settings: HubSettings,
    /// The socket that agents connect to.
    pub listener: TcpListener,
    /// The certificate, where connections are encrypted.
    pub certificate: Option<HubCertificate>,
    /// Agents that run as processes of this machine, with their names.
    pub children: Vec<(String, Command)>,
    /// Takes the way to report about agents that others run, such as pods of a cluster.
    pub on_start: Option<OnStart>,
    /// Learns the secrets that agents' scripts have seen, before anything is written that may hold them.
    pub on_secrets: OnSecrets,
}

/// Takes secrets that have to be hidden.
pub type OnSecrets = Box<dyn Fn(Vec<String>) + Send>;

/// Takes the way to report about agents, when the hub serves them.
pub type OnStart = Box<dyn FnOnce(AgentReports) + Send>;

/// Reports to the hub about agents that others run.
#[derive(Debug)]
pub struct AgentReports(UnboundedSender<HubInput>);

impl AgentReports {
    /// The process of an agent has ended, and another one may take its place.
    pub fn vanished(&self, name: String, why: String) {
        self.pass(HubInput::Vanished(name, why));
    }

    /// No further process takes the place of an agent.
    pub fn gave_up(&self, name: String, why: String) {
        self.pass(HubInput::Exited(name, why));
    }

    /// The reasons that keep agents from starting, in place of the earlier ones; empty once there are none.
    pub fn hindered(&self, why: String) {
        self.pass(HubInput::Hindered(why));
    }

    /// The agents are ended from outside: the run ends with what they hand over, as a failure.
    pub fn ended(&self, why: String) {
        let reason = convert::reason(ReasonKind::Listener, Some(why));
        self.pass(HubInput::Stop { reason, is_kill: false });
    }

    /// Whether the run is over.
    pub fn is_over(&self) -> bool {
        self.0.is_closed()
    }

    fn pass(&self, input: HubInput) {
        // A hub that is over needs no reports.
        let _ = self.0.send(input);
    }
}

/// Runs a plan on agents, from their joining to the end of `teardown()`.
///
/// The calling thread merges and calls `listener`; a slow listener delays windows and thresholds, never agents.
pub fn run(
    plan: Arc<Plan>,
    fleet: Fleet,
    config: RunConfig,
    listener: &mut dyn FnMut(RunEvent),
) -> RunOutcome {
    let control = config.control.clone();
    control.prepare_for(&plan);
    let Fleet { settings, listener: socket, certificate, children, on_start, on_secrets } = fleet;
    let (sender, events) = channel();
    let book = Book::new(plan, config);
    let service = match Service::start(settings, socket, certificate, sender) {
        Ok(service) => service,
        Err(error) => {
            let text =
                format!("serve agents: {error}; see the limits of threads and descriptors (`ulimit -a`)");
            return conclude(book, unfit(text), listener);
        }
    };
    let mut children = match Children::start(children, &service.handle()) {
        Ok(children) => children,
        Err(text) => {
            service.input(HubInput::Stop {
                reason: convert::of_abort(&AbortReason::Listener(text.clone().into())),
                is_kill: true,
            });
            let passed = Passed::default();
            let desk = Desk { book, control, service: &service, on_secrets, listener, passed };
            let (book, _) = desk.work(&events);
            service.join();
            return conclude(book, unfit(text), listener);
        }
    };
    if let Some(on_start) = on_start {
        on_start(AgentReports(service.handle()));
    }
    let passed = Passed::default();
    let desk = Desk { book, control, service: &service, on_secrets, listener: &mut *listener, passed };
    let (book, end) = desk.work(&events);
    service.join();
    children.end();
    conclude(book, end, listener)
}

fn unfit(text: String) -> HubEnd {
    let failure = convert::of_program(&ProgramError::System(text));
    HubEnd { unfit: Some(failure), ended: Some(SystemClock::now()), ..HubEnd::default() }
}

fn conclude(book: Book, end: HubEnd, listener: &mut dyn FnMut(RunEvent)) -> RunOutcome {
    let (outcome, effects) = book.finish(SystemClock::now(), end);
    for effect in effects {
        if let Effect::Event(event) = effect {
            listener(event);
        }
    }
    outcome
}

/// Requests from outside that the hub has.
#[derive(Default)]
struct Passed {
    is_stopped: bool,
    is_killed: bool,
    steered: Option<(bool, Option<u64>)>,
}

/// Carries events to the book and its effects to the listener.
struct Desk<'a> {
    book: Book,
    control: engine::RunControl,
    service: &'a Service,
    on_secrets: OnSecrets,
    listener: &'a mut dyn FnMut(RunEvent),
    passed: Passed,
}

impl Desk<'_> {
    fn work(mut self, events: &Receiver<HubEvent>) -> (Book, HubEnd) {
        loop {
            self.pass_control();
            let now = SystemClock::now();
            let wait = self.book.deadline(now).since(now).min(LOOK_EVERY);
            let effects = match events.recv_timeout(wait) {
                Ok(HubEvent::Over(end)) => {
                    if let Some(reason) = end.aborted.clone() {
                        self.control.stop(convert::to_abort(reason));
                    }
                    self.control.publish_setup_data(end.setup_data.as_deref().map(Into::into));
                    return (self.book, end);
                }
                Ok(HubEvent::Secrets(secrets)) => {
                    (self.on_secrets)(secrets);
                    continue;
                }
                Ok(event) => self.book.on(SystemClock::now(), event),
                Err(RecvTimeoutError::Timeout) => self.book.tick(SystemClock::now()),
                // Only a panic of the hub's thread leaves no end behind; joining it passes that on.
                Err(RecvTimeoutError::Disconnected) => return (self.book, HubEnd::default()),
            };
            for effect in effects {
                match effect {
                    Effect::Event(event) => (self.listener)(event),
                    Effect::Stop(reason) => self.control.stop(reason),
                    Effect::MarkFailed => self.control.mark_failed(),
                }
            }
        }
    }

    /// Passes on what was asked for since the last look.
    fn pass_control(&mut self) {
        let (control, passed) = (&self.control, &mut self.passed);
        let is_killed = control.is_killed();
        if control.is_stopped() && (!passed.is_stopped || is_killed && !passed.is_killed) {
            (passed.is_stopped, passed.is_killed) = (true, is_killed);
            let reason = control.reason().unwrap_or(AbortReason::Remote);
            self.service.input(HubInput::Stop { reason: convert::of_abort(&reason), is_kill: is_killed });
        }
        let steered = control.steered();
        if passed.steered.replace(steered) != Some(steered) {
            let (is_paused, vus) = steered;
            self.service.input(HubInput::Steer(Steer { is_paused, vus }));
        }
    }
}

/// Agents that run as processes of this machine.
struct Children(Vec<std::thread::JoinHandle<()>>, Vec<u32>);

impl Children {
    fn start(commands: Vec<(String, Command)>, hub: &UnboundedSender<HubInput>) -> Result<Children, String> {
        let mut children = Children(Vec::new(), Vec::new());
        for (name, mut command) in commands {
            let child = command.spawn().map_err(|error| format!("start the agent {name}: {error}"))?;
            children.1.push(child.id());
            let hub = hub.clone();
            let watch = move || watch(name, child, &hub);
            let thread = std::thread::Builder::new().name("agent".into()).spawn(watch);
            children.0.push(thread.map_err(|error| format!("watch an agent: {error}"))?);
        }
        Ok(children)
    }

    /// Waits for the agents to exit. Those that do not are killed.
    fn end(&mut self) {
        let until = SystemClock::now() + CHILDREN_PATIENCE;
        while self.0.iter().any(|thread| !thread.is_finished()) && SystemClock::now() < until {
            std::thread::sleep(CHILDREN_LOOK_EVERY);
        }
    }
}

/// Passes the end of an agent's process to the hub, which ignores it where the run is over.
fn watch(name: String, mut child: Child, hub: &UnboundedSender<HubInput>) {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => {
                let _ = hub.send(HubInput::Exited(name, format!("its process ended ({status})")));
                return;
            }
            Ok(None) if hub.is_closed() => break,
            Ok(None) => std::thread::sleep(CHILDREN_LOOK_EVERY),
            Err(_) => break,
        }
    }
    let until = SystemClock::now() + CHILDREN_PATIENCE;
    while SystemClock::now() < until {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        std::thread::sleep(CHILDREN_LOOK_EVERY);
    }
    // It has not obeyed, or stands still.
    let _ = child.kill();
    let _ = child.wait();
}
