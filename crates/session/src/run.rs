//! One run with its listeners, from the banner to the exit code.

use std::io::{IsTerminal, Write};
use std::num::NonZeroU16;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use catalogue::RunId;
use engine::{AbortReason, RunConfig, RunControl, RunOutcome};
use model::{LogLevel, MetricRegistry, RunEvent, RunProgress, SystemClock, TagInterner, Validity};
use output::OutputSpec;
use report::Lang;
use runs::{Exit, Failure, calibration};

use crate::Context;
use crate::agents::{AgentsSettings, OpenHub};
use crate::evidence::{EvidenceListener, Sources};
use crate::exit::{self, Iterations};
use crate::explain::explain;
use crate::header::RecordSettings;
use crate::listener::{Listener, LoadOver, Recorder, Records, Terminal};
use crate::live::{LiveRun, LiveSettings};
use crate::logger::{self, Ticker};
use crate::outputs::Outputs;
use crate::page::PageSettings;
use crate::program::{ScriptControl, ScriptProgram};
use crate::receiving::{ReceiveSettings, Receiving, TraceListener};
use crate::recording::{Flaw, Recording};
use crate::reports::CiOutputs;
use crate::signals::Running;
use crate::summary::{self, SummarySettings};
use crate::test::Test;
use crate::watch::Watch;

/// The names of metrics and tags in a run's windows.
pub struct Names {
    /// Metrics by their ids.
    pub metrics: Arc<MetricRegistry>,
    /// Tag sets by their ids.
    pub tags: Arc<TagInterner>,
}

/// A callback for the events of a run.
pub type Observer = Box<dyn FnMut(&RunEvent, &Names)>;

/// The settings of a run besides the test itself.
pub struct SessionSettings {
    /// Number of worker threads; one per core if unset.
    pub workers: Option<NonZeroU16>,
    /// Exports.
    pub outputs: Vec<OutputSpec>,
    /// The summary at the end.
    pub summary: SummarySettings,
    /// The receiver of traces that servers send.
    pub receive: ReceiveSettings,
    /// The facts of the run's file.
    pub record: RecordSettings,
    /// Evidence sources.
    pub evidence: Sources,
    /// Reports at the end.
    pub reports: CiOutputs,
    /// Whether an invalid measurement makes the run fail.
    pub requires_valid: bool,
    /// Settings of the live page.
    pub page: PageSettings,
    /// The REST API, if it is served.
    pub live: Option<LiveSettings>,
    /// Agents that share the test; `None` if this process runs it.
    pub agents: Option<AgentsSettings>,
    /// The handle that ends the run early.
    pub control: RunControl,
    /// Whether signals can end the run gracefully.
    pub running: Running,
    /// An additional listener.
    pub observer: Option<Observer>,
    /// Whether the banner is left out, although the context is not quiet: the caller prints its own.
    pub hides_banner: bool,
}

/// A run that is over and shown.
pub struct Finished {
    /// The exit of the process.
    pub exit: Exit,
    /// The outcome from the engine.
    pub outcome: RunOutcome,
    /// Validity of the measurement.
    pub validity: Validity,
    /// The run's id, if it is stored.
    pub id: Option<RunId>,
}

/// Runs a test and shows its results.
///
/// # Errors
/// An export cannot be opened, or an address is unavailable.
pub fn run(test: &Test, context: &Context, settings: SessionSettings) -> Result<Finished, Failure> {
    let (session, config, program) = Session::open(test, context, settings)?;
    Ok(session.run(config, program))
}

/// A run that is ready to begin.
struct Session<'a> {
    test: &'a Test,
    context: &'a Context,
    id: RunId,
    workers: usize,
    shared: Arc<script::RunContext>,
    tags: Arc<TagInterner>,
    progress: Arc<RunProgress>,
    records: Records,
    listeners: Vec<Box<dyn Listener + 'a>>,
    served: Option<server::Server>,
    is_stored: bool,
    /// The reason why the run's store lacks the run, or a part of it.
    flaw: Option<Flaw>,
    running: Running,
    summary: SummarySettings,
    reports: CiOutputs,
    requires_valid: bool,
    live: Option<LiveSettings>,
    hub: Option<OpenHub>,
}

impl<'a> Session<'a> {
    /// Opens the exports, receivers, file and page of a run.
    fn open(
        test: &'a Test,
        context: &'a Context,
        settings: SessionSettings,
    ) -> Result<(Session<'a>, RunConfig, ScriptProgram), Failure> {
        let mut config = run_config(test, &settings);
        let id = RunId::random(SystemClock::now().as_ns() ^ u64::from(std::process::id()));
        let outputs = Outputs::open(test, context, &settings.outputs, &config, &id)?;
        config.wants_samples = outputs.want_samples();
        let receiving = Receiving::start(&settings.receive, &test.plan, context)?;
        let program = program(test, context, &config, &settings.receive, receiving.as_ref());
        let share = if program.run.traces.is_some() { settings.receive.share } else { 0.0 };
        let open = |agents: &AgentsSettings| agents.open(test, context, &config, id.as_str(), share);
        let hub = settings.agents.as_ref().map(open).transpose()?;
        let live = LiveRun::new(test, &config, &program.run, &settings.running);
        let served = settings.live.as_ref().map(|wanted| wanted.serve(&live, context)).transpose()?.flatten();
        let is_needed = settings.reports.is_wanted();
        let begun = Recording::begin(test, context, &config, &settings.record, &id, is_needed);
        let recording = begun.recording;
        let page = settings.page.start(test, context, &config, &live, recording.as_ref());
        raise_descriptor_limit();
        if !context.is_quiet {
            if !settings.hides_banner {
                print_banner(test, context, &outputs, receiving.as_ref());
            }
            context.logger.show_progress(&test.plan);
        }
        let gathering = match &recording {
            Some(_) => settings.evidence.start(context),
            None => {
                settings.evidence.decline(context);
                None
            }
        };
        let names = Names { metrics: config.registry.clone(), tags: config.tags.clone() };
        let observing = settings.observer.map(|observer| Observing { observer, names });
        // The order matters: events are recorded before the page reads them.
        let listeners: Vec<Option<Box<dyn Listener + 'a>>> = vec![
            Some(Box::new(Terminal(context.logger.clone()))),
            served.as_ref().map(|_| Box::new(live) as _),
            Some(Box::new(Recorder(context))),
            gathering.map(|gathering| Box::new(EvidenceListener::new(gathering, context)) as _),
            receiving.map(|receiving| Box::new(TraceListener::new(receiving, context)) as _),
            page.map(|page| Box::new(page) as _),
            observing.map(|observing| Box::new(observing) as _),
            Some(Box::new(outputs)),
        ];
        let session = Session {
            test,
            context,
            id,
            workers: config.workers,
            shared: program.run.clone(),
            tags: config.tags.clone(),
            progress: config.progress.clone(),
            is_stored: recording.as_ref().is_some_and(|recording| !recording.is_temporary()),
            flaw: begun.flaw,
            records: Records { recording, watch: Watch::begin(&test.plan) },
            listeners: listeners.into_iter().flatten().collect(),
            served,
            running: settings.running,
            summary: settings.summary,
            reports: settings.reports,
            requires_valid: settings.requires_valid,
            live: settings.live,
            hub,
        };
        Ok((session, config, program))
    }

    fn run(mut self, config: RunConfig, program: ScriptProgram) -> Finished {
        let mut outcome = self.load(config, program);
        let at = SystemClock::now();
        self.listeners.iter_mut().for_each(|listener| listener.on_load_over());
        let (exit, validity) = self.judge_and_show(&mut outcome);
        let was_signalled = matches!(outcome.aborted, Some(AbortReason::Signal));
        let over = LoadOver { at, was_signalled, running: &self.running };
        for listener in &mut self.listeners {
            listener.finish(&over, &mut self.records);
        }
        let exit = self.close_file(&outcome, exit);
        if let Some(wanted) = self.live.as_ref().filter(|wanted| wanted.lingers) {
            self.context.logger.say(LogLevel::Info, wanted.farewell(self.served.as_ref()));
            self.running.linger();
        }
        Finished { exit, outcome, validity, id: self.is_stored.then_some(self.id) }
    }

    /// Runs the load, with all listeners.
    fn load(&mut self, config: RunConfig, program: ScriptProgram) -> RunOutcome {
        let (context, plan) = (self.context, self.test.plan.clone());
        let _ticker =
            (!context.is_quiet).then(|| Ticker::start(context.logger.clone(), config.progress.clone()));
        self.running.set(true);
        let (listeners, records) = (&mut self.listeners, &mut self.records);
        let mut listen = |event: RunEvent| {
            listeners.iter_mut().for_each(|listener| listener.on_event(&event, records));
        };
        let outcome = match self.hub.take() {
            Some(hub) => fleet::run(plan, hub.fleet, config, &mut listen),
            None => engine::run(plan, Arc::new(program), config, &mut listen),
        };
        self.running.set(false);
        outcome
    }

    /// Judges validity, decides the exit code, and shows the summary.
    fn judge_and_show(&self, outcome: &mut RunOutcome) -> (Exit, Validity) {
        let (test, context, compat) = (self.test, self.context, self.test.plan.compat);
        let iterations = Iterations {
            completed: self.progress.iterations_completed.load(Ordering::Relaxed),
            failed: self.progress.iterations_failed.load(Ordering::Relaxed),
        };
        let busiest_per_s = self.records.watch.busiest_per_s();
        let validity = self.records.watch.validity(outcome);
        let exit = exit::of_run(outcome, iterations, compat);
        let exit = exit::of_judged(exit, validity.grade, self.requires_valid);
        if exit == Exit::NotValid {
            let line = report::validity::line(&validity, Lang::En);
            context.logger.say(LogLevel::Error, format!("the measurement is not valid: {line}"));
        }
        if outcome.init_error.is_none() {
            summary::show(test, context, &self.shared, &self.summary, outcome, validity.clone());
        }
        explain(outcome, iterations, compat, exit, context);
        let calibrated = calibration::load(context.calibration_file().as_deref(), self.workers);
        if let Some(warning) = calibrated.and_then(|known| calibration::warning(busiest_per_s, &known)) {
            context.logger.say(LogLevel::Warn, warning);
        }
        (exit, validity)
    }

    /// Closes the run's file, writes reports from it, and adds it to the catalogue. Returns the exit of the run, which depends on
    /// whether it is stored.
    fn close_file(&mut self, outcome: &RunOutcome, exit: Exit) -> Exit {
        let incomplete = exit::of_unstored(exit, self.test.plan.compat);
        let are_reported = match self.records.recording.take() {
            Some(recording) => {
                let exit = if self.flaw.is_some() { incomplete } else { exit };
                self.listeners.iter().for_each(|listener| listener.on_file_closing());
                let recorded = recording.finish(outcome, exit, incomplete, self.context, &self.tags);
                self.listeners.iter().for_each(|listener| listener.on_file_closed());
                self.is_stored &= !matches!(recorded.flaw, Some(Flaw::Missing(_)));
                self.flaw = self.flaw.take().or(recorded.flaw.clone());
                let are_reported = self.reports.write(&recorded.path, self.context);
                recorded.keep(self.context);
                are_reported
            }
            None => self.reports.decline(self.context),
        };
        let Some(flaw) = &self.flaw else { return if are_reported { exit } else { incomplete } };
        let level = if incomplete == Exit::Ok { LogLevel::Warn } else { LogLevel::Error };
        let note = if incomplete == exit { "" } else { " (--compat strict would exit with 0)" };
        self.context.logger.say(level, format!("{}{note}", flaw.line()));
        incomplete
    }
}

/// The listener that passes events to the caller's observer.
struct Observing {
    observer: Observer,
    names: Names,
}

impl Listener for Observing {
    fn on_event(&mut self, event: &RunEvent, _: &mut Records) {
        (self.observer)(event, &self.names);
    }
}

fn run_config(test: &Test, settings: &SessionSettings) -> RunConfig {
    let mut config = RunConfig::new(test.plan.scenarios.len());
    if let Some(workers) = settings.workers {
        config.workers = usize::from(workers.get());
    }
    config.registry = test.script.metrics.clone();
    config.thresholds = test.thresholds.clone();
    config.control = settings.control.clone();
    config
}

fn program(
    test: &Test,
    context: &Context,
    config: &RunConfig,
    receive: &ReceiveSettings,
    receiving: Option<&Receiving>,
) -> ScriptProgram {
    let control = ScriptControl { control: config.control.clone(), log: context.logger.clone() };
    let run = script::RunContext {
        plan: test.plan.clone(),
        share: crate::share::of(&test.plan),
        tags: config.tags.clone(),
        progress: config.progress.clone(),
        epoch: context.epoch,
        network: test.network.clone(),
        exported_options_json: test.exported_options_json.clone(),
        rate: test.plan.rps.map(script::RateGate::new),
        traces: receive.sample(receiving),
        spans: receiving.map(Receiving::own),
        control: Arc::new(control),
    };
    ScriptProgram { bundle: test.script.bundle.clone(), run: Arc::new(run) }
}

fn print_banner(test: &Test, context: &Context, outputs: &Outputs, receiving: Option<&Receiving>) {
    let outputs = outputs.descriptions();
    let traces = receiving.map(Receiving::place);
    let (total, scenarios) = (plan::describe_header(&test.plan), plan::describe_scenarios(&test.plan));
    let header = report::header::Header {
        version: env!("CARGO_PKG_VERSION"),
        script: &test.script.source.name,
        outputs: &outputs,
        traces: traces.as_deref(),
        scenarios: (&total, &scenarios),
    };
    let style = logger::style(context.may_colour && std::io::stdout().is_terminal());
    // A closed standard output is no error.
    let _ = std::io::stdout().write_all(report::header::render(&header, style).as_bytes());
}

/// Raises the soft limit of file descriptors to the hard one: every connection needs one, and the soft limit is often 1024.
pub(crate) fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        // If it cannot be raised, the first connection beyond the limit reports it.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    }
}
