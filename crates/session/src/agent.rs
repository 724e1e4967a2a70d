//! An agent: runs a part of a test for a hub.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use bytes::Bytes;
use engine::{AbortReason, Pile, ProgramError, RunConfig, RunControl, RunOutcome, Start};
use fleet::agent::SETUP_DATA_BYTES_MAX;
use fleet::convert::{self, FailureKind, ReasonKind};
use fleet::dial::{Reporter, Runner, join, reports};
use fleet::message::{Body, Counters, Ended, FunctionEnd, Lease, Preparing, Secrets, Segment, Steer};
use fleet::window::Outbound;
use fleet::{AgentSettings, Farewell, Task, part_of};
use model::plan::{Compat, Executor, Plan};
use model::{Grade, Instant, LogLine, Metadata, RunEvent, RunProgress, Sample, TagInterner};
use plan::Stripe;
use report::Lang;
use runs::{Exit, Failure};
use script::TraceSample;

use crate::Context;
pub use crate::agent_options::AgentOptions;
use crate::agents::Assignment;
use crate::program::{ScriptControl, ScriptProgram};
use crate::run::raise_descriptor_limit;
use crate::signals::{self, Running, Turn};
use crate::source::{MemorySettings, Source};
use crate::test::{Test, check_demand};
use crate::watch::Watch;

/// Raw samples per frame.
const SAMPLES_PER_FRAME: usize = 1024;

/// Shared iterations are asked for when those that are left last for so many looks, each 100 ms: longer than a round trip takes.
const LOOKS_AHEAD: u64 = 5;

/// Log lines per look at them; further ones wait, and what does not fit into the log's queue is counted.
const LINES_PER_LOOK: usize = 1000;

/// Serves a hub until its run is over.
///
/// # Errors
/// The hub refuses the agent, or is lost.
pub fn run(options: AgentOptions, context: &Context) -> Result<Exit, Failure> {
    let (turn, running) = (Turn::default(), Running::default());
    signals::listen(turn.clone(), running.clone(), context.logger.clone());
    raise_descriptor_limit();
    let tap = Mutex::new(context.logger.tap());
    let lines = Arc::new(Lines { context: context.clone(), tap, offset_ns: AtomicI64::new(0) });
    let process = Arc::new(AgentProcess { options, lines, turn, sessions: Mutex::default() });
    let farewell = loop {
        match process.serve(0)? {
            // The hub has given it up, and may have load for it all the same.
            Farewell::Lost(why) => process.note(&format!("{why}; joining again")),
            farewell => break farewell,
        }
    };
    process.join_sessions();
    let hub = &process.options.hub;
    let (exit, text) = match farewell {
        Farewell::Finished => return Ok(Exit::Ok),
        Farewell::Refused(why) | Farewell::Lost(why) => {
            (Exit::InvalidConfig, format!("the hub at {hub} refused this agent: {why}"))
        }
        Farewell::HubLost { after, had_joined: true } => {
            let text =
                format!("the hub at {hub} did not answer for {} s; the load has ended", after.as_secs());
            (Exit::HubLost, text)
        }
        Farewell::HubLost { after, had_joined: false } => {
            let text = format!(
                "no hub answered at {hub} for {} s; check the address, and that the token file is that of the running hub",
                after.as_secs()
            );
            (Exit::HubLost, text)
        }
    };
    Err(Failure::new(exit, text))
}

/// The process of an agent: a session with the hub, and further ones for the load of agents that were lost.
struct AgentProcess {
    options: AgentOptions,
    lines: Arc<Lines>,
    turn: Turn,
    sessions: Mutex<Vec<JoinHandle<()>>>,
}

impl AgentProcess {
    /// Serves the hub in a session of its own; with a ticket it continues another agent's load.
    fn serve(self: &Arc<Self>, ticket: u32) -> Result<Farewell, Failure> {
        let failed = |what: &str, error: &dyn std::fmt::Display| {
            Failure::new(Exit::Other, format!("failed to {what}: {error}"))
        };
        let mut session = [0; 8];
        getrandom::fill(&mut session).map_err(|error| failed("read random numbers", &error))?;
        let AgentOptions { hub, token, name } = &self.options;
        let settings = AgentSettings {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            token: token.secret.clone(),
            session: u64::from_le_bytes(session),
            name: if ticket == 0 { name.clone() } else { format!("{name}+{ticket}") },
            cores: std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
            ticket,
        };
        let (reporter, reports) = reports();
        let mut agent = AgentRunner::start(self, &reporter, ticket > 0)?;
        let farewell = join(settings, hub, token.certificate, (reporter, reports), &mut agent);
        // An engine that still waits for its start has nothing to wait for.
        agent.stop(AbortReason::Enough, true);
        farewell.map_err(|error| failed("start the agent", &error))
    }

    /// Opens a further session.
    fn enlist(self: &Arc<Self>, ticket: u32) {
        let process = self.clone();
        let body = move || {
            // The hub, which waits in vain, asks another agent.
            if let Err(failure) = process.serve(ticket) {
                process.note(&failure.text);
            }
        };
        match std::thread::Builder::new().name("session".into()).spawn(body) {
            Ok(thread) => self.sessions.lock().unwrap_or_else(PoisonError::into_inner).push(thread),
            Err(error) => self.note(&format!("failed to start a thread: {error}")),
        }
    }

    fn join_sessions(&self) {
        let sessions = std::mem::take(&mut *self.sessions.lock().unwrap_or_else(PoisonError::into_inner));
        // A panic has shown its message.
        sessions.into_iter().for_each(|session| drop(session.join()));
    }

    fn note(&self, text: &str) {
        self.lines.context.logger.report(text);
    }
}

/// A test that was loaded.
struct Loaded {
    test: Test,
    context: Context,
    assignment: Assignment,
    tags: Arc<TagInterner>,
    outbound: Mutex<Outbound>,
}

/// The runs in progress, as the network thread sees them.
#[derive(Default)]
struct Present {
    /// The scenarios.
    load: Option<(RunControl, Arc<RunProgress>)>,
    /// By scenario: the shared iterations that the hub hands out.
    leases: Vec<Option<Leases>>,
    /// `setup()` or `teardown()`.
    function: Option<RunControl>,
    has_asked_to_stop: bool,
    has_marked_failed: bool,
}

/// The shared iterations of one scenario.
#[derive(Clone, Default)]
struct Leases {
    pile: Arc<Pile>,
    /// Whether the hub was asked for more, and has not answered.
    is_asked: bool,
    /// Iterations that had been started at the last look.
    taken: u64,
}

impl Leases {
    /// How many more to ask for, where those that are left would be used up before the answer comes.
    fn wanted(&mut self, vus: u64) -> Option<u64> {
        let (left, taken, is_closed) = self.pile.level();
        let since = taken - std::mem::replace(&mut self.taken, taken);
        let used = since.saturating_mul(LOOKS_AHEAD).max(vus);
        let wants = !is_closed && !self.is_asked && left <= used;
        self.is_asked |= wants;
        wants.then_some(used)
    }
}

/// Runs the test's parts on threads of their own, one job after the other.
struct AgentRunner {
    process: Arc<AgentProcess>,
    jobs: Sender<Job>,
    present: Arc<Mutex<Present>>,
    /// Whether it is a further session, whose runs the signal handler does not know.
    is_further: bool,
}

/// Log lines on their way to the hub.
struct Lines {
    context: Context,
    tap: Mutex<Receiver<LogLine>>,
    offset_ns: AtomicI64,
}

impl Lines {
    /// Takes the lines since the last call, up to `most`.
    fn take(&self, most: usize) -> Vec<Body> {
        let tap = self.tap.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<LogLine> = tap.try_iter().take(most).collect();
        let lost = self.context.logger.take_tap_lost();
        let mut clock = Outbound::new(Arc::default(), Arc::default());
        clock.set_offset(self.offset_ns.load(Relaxed));
        clock.log(&lines, lost)
    }
}

enum Job {
    Task(Task, i64),
}

impl AgentRunner {
    fn start(
        process: &Arc<AgentProcess>,
        reporter: &Reporter,
        is_further: bool,
    ) -> Result<AgentRunner, Failure> {
        let (jobs, inbox) = channel();
        let present = Arc::<Mutex<Present>>::default();
        let worker = Worker {
            lines: process.lines.clone(),
            context: process.lines.context.clone(),
            reporter: reporter.clone(),
            present: present.clone(),
            turn: (!is_further).then(|| process.turn.clone()),
            loaded: None,
            load: None,
        };
        let body = move || worker.work(&inbox);
        let thread = std::thread::Builder::new().name("test".into()).spawn(body);
        thread.map_err(|error| Failure::new(Exit::Other, format!("failed to start a thread: {error}")))?;
        Ok(AgentRunner { process: process.clone(), jobs, present, is_further })
    }

    fn present(&self) -> MutexGuard<'_, Present> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_lease(&self, lease: Lease) {
        let mut present = self.present();
        let Some(Some(leases)) = present.leases.get_mut(lease.scenario as usize) else { return };
        leases.is_asked = false;
        match lease.count {
            0 => leases.pile.close(),
            count => leases.pile.grant(lease.first..lease.first.saturating_add(count)),
        }
    }

    fn stop(&self, reason: AbortReason, is_kill: bool) {
        let mut present = self.present();
        // The hub knows why.
        present.has_asked_to_stop = true;
        let load = present.load.as_ref().map(|(control, _)| control);
        for control in load.into_iter().chain(&present.function) {
            if is_kill { control.kill(reason.clone()) } else { control.stop(reason.clone()) }
        }
    }
}

impl Runner for AgentRunner {
    fn act(&mut self, task: Task, offset_ns: i64) {
        self.process.lines.offset_ns.store(offset_ns, Relaxed);
        match task {
            Task::Enlist(ticket) => self.process.enlist(ticket),
            Task::Lease(lease) => self.take_lease(lease),
            Task::Stop(reason) => self.stop(convert::to_abort(reason), false),
            Task::Kill(reason) => self.stop(convert::to_abort(reason), true),
            // The thread of the jobs ends with the process.
            task => drop(self.jobs.send(Job::Task(task, offset_ns))),
        }
    }

    fn counters(&self) -> Option<Counters> {
        self.present().load.as_ref().map(|(_, progress)| convert::of_progress(progress))
    }

    fn set_fence(&mut self, at: Instant) {
        if let Some((control, _)) = &self.present().load {
            control.set_fence(at);
        }
    }

    fn look(&mut self) -> Vec<Body> {
        let mut bodies = self.process.lines.take(LINES_PER_LOOK);
        let mut present = self.present();
        let Some((control, progress)) = present.load.clone() else { return bodies };
        if progress.started_ns.load(Relaxed) > 0 {
            for (scenario, leases) in present.leases.iter_mut().enumerate() {
                let vus = u64::from(progress.vus_initialized.load(Relaxed));
                if let Some(count) = leases.as_mut().and_then(|leases| leases.wanted(vus)) {
                    bodies.push(want(scenario, count));
                }
            }
        }
        if self.is_further && self.process.turn.first().reason() == Some(AbortReason::Signal) {
            control.stop(AbortReason::Signal);
        }
        let reason = control.reason().filter(|_| !present.has_asked_to_stop);
        if let Some(reason) = reason {
            present.has_asked_to_stop = true;
            bodies.push(Body::Request(convert::of_abort(&reason)));
        }
        if control.is_marked_failed() && !std::mem::replace(&mut present.has_marked_failed, true) {
            bodies.push(Body::Request(convert::reason(ReasonKind::MarkedFailed, None)));
        }
        bodies
    }
}

/// The thread that carries out the hub's orders.
struct Worker {
    lines: Arc<Lines>,
    context: Context,
    reporter: Reporter,
    present: Arc<Mutex<Present>>,
    /// Hands out the runs that a signal ends.
    turn: Option<Turn>,
    loaded: Option<Arc<Loaded>>,
    load: Option<Load>,
}

/// The engine that waits for the start, or runs.
struct Load {
    control: RunControl,
    thread: std::thread::JoinHandle<()>,
}

impl Worker {
    fn work(mut self, inbox: &Receiver<Job>) {
        while let Ok(Job::Task(task, offset_ns)) = inbox.recv() {
            match task {
                Task::Load { test, archive } => self.load(&test.settings, &archive),
                Task::Prepare(segment) => self.prepare(segment),
                Task::SetUp => self.set_up(offset_ns),
                Task::Start { at, from, hub_ns, numbers, setup_data } => {
                    let Some((loaded, load)) = self.loaded.as_ref().zip(self.load.as_ref()) else { continue };
                    loaded.outbound().set_offset(hub_ns.wrapping_sub(from.as_ns()) as i64);
                    self.ask_for_leases();
                    // A run that has ended meanwhile takes no start.
                    if load.control.set_setup_data(setup_data.map(Into::into)).is_ok() {
                        let start = Start { scenarios: at, from, numbers: numbers.into() };
                        let _ = load.control.join_at(start);
                    }
                }
                Task::TearDown(data) => self.tear_down(data),
                // After the start, and not before: a pause that ends would begin the test.
                Task::Steer(steer) => self.steer(steer),
                Task::Stop(_) | Task::Kill(_) | Task::Enlist(_) | Task::Lease(_) => {}
            }
        }
    }

    fn load(&mut self, settings: &[u8], archive: &Bytes) {
        match load(&self.context, settings, archive) {
            Ok(loaded) => self.loaded = Some(Arc::new(loaded)),
            Err(failure) => self.unfit(failure),
        }
    }

    /// Asks for the first shared iterations, which come before the start.
    fn ask_for_leases(&self) {
        let mut present = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        for (scenario, leases) in present.leases.iter_mut().enumerate() {
            if let Some(leases) = leases {
                leases.is_asked = true;
                self.reporter.report(want(scenario, 0));
            }
        }
    }

    fn unfit(&self, failure: Failure) {
        let kind = match failure.exit {
            Exit::ScriptException => FailureKind::Exception,
            Exit::ScriptAborted => FailureKind::Aborted,
            _ => FailureKind::System,
        };
        let text = std::iter::once(failure.text).chain(failure.below).collect::<Vec<_>>().join("\n");
        self.reporter.report(Body::Unfit(convert::failure(kind, text)));
    }

    /// Initialises the VUs of a part, and forgets another.
    fn prepare(&mut self, segment: Segment) {
        if let Some(load) = self.load.take() {
            load.control.kill(AbortReason::Enough);
            // A panic of the engine ends the process with its message.
            let _ = load.thread.join();
        }
        let Some(loaded) = self.loaded.clone() else { return };
        let plan = Arc::new(loaded.plan_of(segment));
        if let Err(failure) = check_demand(&plan) {
            return self.unfit(failure);
        }
        let control = self.turn.as_ref().map_or_else(RunControl::default, Turn::next);
        let mut config = loaded.config(&control, plan.scenarios.len());
        let leases = leases_of(&plan);
        config.piles = leases.iter().map(|leases| leases.as_ref().map(|it| it.pile.clone())).collect();
        {
            let mut present = self.present.lock().unwrap_or_else(PoisonError::into_inner);
            *present = Present {
                load: Some((control.clone(), config.progress.clone())),
                leases,
                ..Present::default()
            };
        }
        let program = loaded.program(&plan, &config);
        let (reporter, lines, own) = (self.reporter.clone(), self.lines.clone(), control.clone());
        let vus = |scenario: &model::Scenario| schedule::vus(&scenario.executor, &plan.segment).0;
        let is_empty = plan.scenarios.iter().map(vus).all(|vus| vus == 0);
        let body = move || {
            let mut listener = EngineListener::new(&loaded, reporter, segment, config.progress.clone());
            listener.watch = Some(Watch::begin(&plan));
            if is_empty {
                listener.reporter.report(Body::Armed(segment.count));
            }
            let outcome = engine::run(plan, Arc::new(program), config, &mut |event| listener.on_event(event));
            lines.take(usize::MAX).into_iter().for_each(|body| listener.reporter.report(body));
            // A run that was killed for another part has no end to report.
            if outcome.aborted != Some(AbortReason::Enough) {
                listener.end(&outcome);
            }
        };
        match std::thread::Builder::new().name("engine".into()).spawn(body) {
            Ok(thread) => self.load = Some(Load { control: own, thread }),
            Err(error) => {
                self.unfit(Failure::new(Exit::Other, format!("failed to start a thread: {error}")));
            }
        }
    }

    fn steer(&self, steer: Steer) {
        let Some(Load { control, .. }) = &self.load else { return };
        // A request that changes nothing is refused, and nothing has to change.
        let _ = match (steer.is_paused, control.is_paused()) {
            (true, false) => control.pause(),
            (false, true) => control.resume(),
            _ => Ok(()),
        };
        if let Some(vus) = steer.vus {
            let _ = control.scale(vus);
        }
    }

    fn set_up(&mut self, offset_ns: i64) {
        let Some(loaded) = self.loaded.clone() else { return };
        loaded.outbound().set_offset(offset_ns);
        let outcome = self.run_function(&loaded, None, |lifecycle| {
            (lifecycle.no_setup, lifecycle.no_teardown) = (false, true);
        });
        let failure = function_failure(&outcome, outcome.setup_error.as_ref());
        let data = outcome.setup_data.map(|data| data.to_string());
        let too_large = data.as_ref().filter(|data| data.len() > SETUP_DATA_BYTES_MAX).map(|data| {
            let text = format!(
                "setup() returned {} bytes, and agents take {SETUP_DATA_BYTES_MAX}; return less, or read it in init code",
                data.len()
            );
            convert::failure(FailureKind::Data, text)
        });
        let data = data.filter(|_| too_large.is_none());
        self.report_lines();
        self.reporter.report(Body::SetUp(FunctionEnd { data, failure: failure.or(too_large) }));
    }

    fn tear_down(&mut self, data: Option<String>) {
        let Some(loaded) = self.loaded.clone() else { return };
        let outcome = self.run_function(&loaded, data, |lifecycle| {
            (lifecycle.no_setup, lifecycle.no_teardown) = (true, false);
        });
        let failure = function_failure(&outcome, outcome.teardown_error.as_ref());
        self.report_lines();
        self.reporter.report(Body::TornDown(FunctionEnd { data: None, failure }));
    }

    /// Reports the lines so far, so that they are there before what follows.
    fn report_lines(&self) {
        self.lines.take(usize::MAX).into_iter().for_each(|body| self.reporter.report(body));
    }

    /// Runs `setup()` or `teardown()` as a test without scenarios.
    fn run_function(
        &self,
        loaded: &Arc<Loaded>,
        data: Option<String>,
        choose: impl FnOnce(&mut model::plan::Lifecycle),
    ) -> RunOutcome {
        let mut plan = Plan::clone(&loaded.test.plan);
        plan.scenarios.clear();
        plan.lifecycle.paused = false;
        choose(&mut plan.lifecycle);
        let control = RunControl::default();
        let config = RunConfig { workers: 1, ..loaded.config(&control, 0) };
        let program = FunctionProgram {
            program: loaded.program(&loaded.test.plan, &config),
            data: data.map(Into::into),
        };
        self.present.lock().unwrap_or_else(PoisonError::into_inner).function = Some(control.clone());
        let segment = Segment::part(0, 1);
        let mut listener = EngineListener::new(loaded, self.reporter.clone(), segment, Arc::default());
        let outcome =
            engine::run(Arc::new(plan), Arc::new(program), config, &mut |event| listener.on_event(event));
        self.present.lock().unwrap_or_else(PoisonError::into_inner).function = None;
        if let Some(reason @ AbortReason::Script(_)) = &outcome.aborted {
            self.reporter.report(Body::Request(convert::of_abort(reason)));
        }
        if outcome.marked_failed {
            self.reporter.report(Body::Request(convert::reason(ReasonKind::MarkedFailed, None)));
        }
        outcome
    }
}

fn function_failure(
    outcome: &RunOutcome,
    error: Option<&engine::LifecycleError>,
) -> Option<fleet::message::Failure> {
    let init = outcome.init_error.as_ref().map(convert::of_program);
    init.or_else(|| error.map(convert::of_lifecycle))
}

fn load(context: &Context, settings: &[u8], archive: &[u8]) -> Result<Loaded, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::new(Exit::Other, format!("failed to {error}"));
    let assignment: Assignment = serde_json::from_slice(settings)
        .map_err(|error| failed(&format!("read the settings of the hub: {error}")))?;
    let archive = archive::read(archive).map_err(|error| failed(&error))?;
    for (name, value) in &assignment.env {
        context.redactor.add_variable(name, value);
    }
    let sources =
        script::Handover { known: assignment.secrets.clone(), servers: assignment.secret_servers.clone() };
    let secrets = crate::secrets::handed_over(sources, &context.redactor)?;
    let context = Context { secrets: Arc::new(secrets), ..context.clone() };
    let memory = MemorySettings { vu_bytes: assignment.vu_bytes, process_bytes: assignment.process_bytes };
    let compat = if assignment.is_strict { Compat::Strict } else { Compat::Honest };
    let selected = (assignment.is_once, assignment.selected_scenarios.clone());
    let source = Source::unpack(archive, memory);
    let test = Test::unpack(source, &context, assignment.env.clone(), compat, selected)?;
    let tags = Arc::<TagInterner>::default();
    let outbound = Mutex::new(Outbound::new(test.script.metrics.clone(), tags.clone()));
    Ok(Loaded { test, context, assignment, tags, outbound })
}

impl Loaded {
    fn outbound(&self) -> MutexGuard<'_, Outbound> {
        self.outbound.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The plan of a part of the test, which waits for its start.
    fn plan_of(&self, segment: Segment) -> Plan {
        let mut plan = Plan::clone(&self.test.plan);
        plan.segment = part_of(segment);
        plan.lifecycle.paused = true;
        (plan.lifecycle.no_setup, plan.lifecycle.no_teardown) = (true, true);
        if segment.is_continued {
            plan.scenarios.iter_mut().for_each(leave_counted_iterations);
        }
        let share = |rps: u32| Stripe::new(&plan.segment).scale(rps.into()).max(1) as u32;
        plan.rps = plan.rps.map(share);
        plan
    }

    fn config(&self, control: &RunControl, scenarios: usize) -> RunConfig {
        let mut config = RunConfig::new(scenarios);
        if let Some(workers) = self.assignment.workers {
            config.workers = workers;
        }
        config.registry = self.test.script.metrics.clone();
        config.tags = self.tags.clone();
        config.control = control.clone();
        config.wants_samples = self.assignment.wants_samples;
        config
    }

    fn program(&self, plan: &Arc<Plan>, config: &RunConfig) -> ScriptProgram {
        let control = ScriptControl { control: config.control.clone(), log: self.context.logger.clone() };
        let run = script::RunContext {
            plan: plan.clone(),
            share: crate::share::of(plan),
            tags: self.tags.clone(),
            progress: config.progress.clone(),
            epoch: self.context.epoch,
            network: self.test.network.clone(),
            exported_options_json: self.test.exported_options_json.clone(),
            rate: plan.rps.map(script::RateGate::new),
            traces: TraceSample::from_share(self.assignment.trace_share),
            spans: None,
            control: Arc::new(control),
        };
        ScriptProgram { bundle: self.test.script.bundle.clone(), run: Arc::new(run) }
    }
}

fn want(scenario: usize, count: u64) -> Body {
    Body::Want(Lease { scenario: scenario as u32, first: 0, count })
}

/// Leaves out the iterations of a scenario whose VUs have a number of them: which ones another agent began is not known.
fn leave_counted_iterations(scenario: &mut model::Scenario) {
    if let Executor::PerVuIterations { iterations, .. } = &mut scenario.executor {
        *iterations = 0;
    }
}

/// The shared iterations of each scenario that has VUs here.
fn leases_of(plan: &Plan) -> Vec<Option<Leases>> {
    let of = |scenario: &model::Scenario| {
        let is_shared = matches!(scenario.executor, Executor::SharedIterations { .. });
        (is_shared && schedule::vus(&scenario.executor, &plan.segment).0 > 0).then(Leases::default)
    };
    plan.scenarios.iter().map(of).collect()
}

/// The script's `setup()`, or its `teardown()` with the data of a `setup()` that ran elsewhere.
struct FunctionProgram {
    program: ScriptProgram,
    data: Option<Arc<str>>,
}

impl engine::Program for FunctionProgram {
    fn create_vu(&self, seat: engine::Seat) -> Result<Box<dyn engine::Vu>, ProgramError> {
        self.program.create_vu(seat)
    }

    fn has_setup(&self) -> bool {
        self.program.has_setup()
    }

    fn setup(&self, seat: engine::Seat) -> Result<Option<Arc<str>>, ProgramError> {
        self.program.setup(seat)
    }

    fn has_teardown(&self) -> bool {
        self.program.has_teardown()
    }

    fn teardown(&self, seat: engine::Seat, _: Option<&Arc<str>>) -> Result<(), ProgramError> {
        self.program.teardown(seat, self.data.as_ref())
    }
}

/// Turns the engine's events into reports.
struct EngineListener {
    loaded: Arc<Loaded>,
    reporter: Reporter,
    segment: Segment,
    progress: Arc<RunProgress>,
    /// The generator's readings on this machine, while the scenarios run.
    watch: Option<Watch>,
    has_started: bool,
    samples_lost: u64,
}

impl EngineListener {
    fn new(
        loaded: &Arc<Loaded>,
        reporter: Reporter,
        segment: Segment,
        progress: Arc<RunProgress>,
    ) -> EngineListener {
        let loaded = loaded.clone();
        EngineListener {
            loaded,
            reporter,
            segment,
            progress,
            watch: None,
            has_started: false,
            samples_lost: 0,
        }
    }

    fn on_event(&mut self, event: RunEvent) {
        if let Some(watch) = &mut self.watch {
            watch.on_event(&event, None);
        }
        match event {
            RunEvent::Initializing { ready, planned } => {
                self.reporter.report(Body::Preparing(Preparing { ready, planned }));
                if ready >= planned {
                    self.reporter.report(Body::Armed(self.segment.count));
                }
            }
            RunEvent::Window(window) => {
                self.report_secrets();
                let bodies = self.loaded.outbound().window(&window);
                bodies.into_iter().for_each(|body| self.reporter.report(body));
                let state = self.watch.as_ref().and_then(Watch::last_state);
                let reading = state.map(|state| self.loaded.outbound().reading(state));
                reading.into_iter().for_each(|body| self.reporter.report(body));
                self.report_start();
            }
            RunEvent::Samples(samples) => self.pass_on(&samples),
            RunEvent::SamplesLost { count } => self.samples_lost += count,
            RunEvent::Log(line) => script::Log::log(&*self.loaded.context.logger, line),
            RunEvent::SetupStarted
            | RunEvent::ScenariosStarted { .. }
            | RunEvent::Thresholds { .. }
            | RunEvent::AgentReading { .. }
            | RunEvent::Agents(_)
            | RunEvent::ScenariosEnded { .. }
            | RunEvent::TeardownStarted
            | RunEvent::Ended => {}
        }
    }

    /// Reports once how late the scenarios began that start with the test.
    fn report_start(&mut self) {
        let scenarios = &self.loaded.test.plan.scenarios;
        if self.progress.scenarios.is_empty() || self.has_started {
            return;
        }
        let first = scenarios.iter().zip(&self.progress.scenarios).filter(|(it, _)| it.start_time.is_zero());
        let late =
            first.filter_map(|(_, progress)| progress.started_late_ns.load(Relaxed).checked_sub(1)).max();
        if let Some(late_ns) = late {
            self.has_started = true;
            self.reporter.report(Body::Started(i64::try_from(late_ns).unwrap_or(i64::MAX)));
        }
    }

    /// Reports the secrets that the script has seen, before names that may hold them: the hub hides them in what it writes.
    fn report_secrets(&self) {
        let values = self.loaded.context.secrets.take_revealed();
        if !values.is_empty() {
            self.reporter.report(Body::Secrets(Secrets { values }));
        }
    }

    fn pass_on(&mut self, samples: &[(Sample, Option<Metadata>)]) {
        self.report_secrets();
        for samples in samples.chunks(SAMPLES_PER_FRAME) {
            if !self.reporter.has_capacity() {
                self.samples_lost += samples.len() as u64;
                continue;
            }
            let lost = std::mem::take(&mut self.samples_lost);
            let bodies = self.loaded.outbound().samples(samples, lost);
            bodies.into_iter().for_each(|body| self.reporter.report(body));
        }
    }

    /// The validity of this machine's part, where it is in doubt. The hub judges the whole, and sees only its own machine.
    fn doubts(&self, outcome: &RunOutcome) -> String {
        let validity = self.watch.as_ref().map(|watch| watch.validity(outcome));
        let doubted = validity.filter(|validity| validity.grade > Grade::Unmeasured);
        doubted.map_or_else(String::new, |validity| report::validity::line(&validity, Lang::En))
    }

    fn end(&mut self, outcome: &RunOutcome) {
        if let Some(error) = &outcome.init_error {
            return self.reporter.report(Body::Unfit(convert::of_program(error)));
        }
        self.reporter.report(Body::Ended(Ended {
            aborted: outcome.aborted.as_ref().map(convert::of_abort),
            marked_failed: outcome.marked_failed,
            drops: outcome.drops.iter().map(convert::of_drops).collect(),
            samples_lost: outcome.samples_lost + self.samples_lost,
            workers_lost: outcome.workers_lost as u64,
            counters: Some(convert::of_progress(&self.progress)),
            doubts: self.doubts(outcome),
        }));
    }
}
