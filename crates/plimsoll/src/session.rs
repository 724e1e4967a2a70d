//! One run with its listeners, from the banner to the exit code.

use std::io::{IsTerminal, Write};
use std::num::NonZeroU16;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use catalogue::RunId;
use engine::{AbortReason, LifecycleError, ProgramError, RunConfig, RunControl, RunOutcome};
use model::plan::Compat;
use model::{LogLevel, LogLine, MetricRegistry, RunEvent, SystemClock, TagInterner};
use output::{Output, OutputSpec};
use report::Lang;
use runs::{Exit, Failure, calibration};

use crate::common::Common;
use crate::evidence::Wanted;

use crate::exit::{self, Iterations};
use crate::live::{LiveRun, LiveSettings};
use crate::logger::{self, Ticker};
use crate::page::{PageSettings, Recorders};
use crate::program::{ScriptControl, ScriptProgram};
use crate::receiving::{ReceiveSettings, Receiving};
use crate::signals::Running;
use crate::stored::{CiOutputs, RecordSettings, Recording};
use crate::summary::{self, SummarySettings};
use crate::test::Test;
use crate::watch::Watch;

/// The names behind the numbers that a run's windows have.
pub(crate) struct Names {
    pub(crate) metrics: Arc<MetricRegistry>,
    pub(crate) tags: Arc<TagInterner>,
}

/// Looks at the events of a run while it goes on.
pub(crate) type Observer = Box<dyn FnMut(&RunEvent, &Names)>;

/// What a run is told beside the test itself.
pub(crate) struct SessionSettings {
    /// Worker threads; one per core if unset.
    pub(crate) workers: Option<NonZeroU16>,
    /// Exports.
    pub(crate) outputs: Vec<OutputSpec>,
    /// The summary.
    pub(crate) summary: SummarySettings,
    /// Traces that servers send meanwhile.
    pub(crate) receive: ReceiveSettings,
    /// The run's file.
    pub(crate) record: RecordSettings,
    /// What servers are asked meanwhile.
    pub(crate) evidence: Wanted,
    /// Reports at the end.
    pub(crate) reports: CiOutputs,
    /// Numbers that cannot be trusted make the run fail.
    pub(crate) requires_valid: bool,
    /// Whether there is a page to look at.
    pub(crate) page: PageSettings,
    /// The REST API, where one is wanted.
    pub(crate) live: Option<LiveSettings>,
    /// Ends the run early.
    pub(crate) control: RunControl,
    /// Told when signals can end the run in order.
    pub(crate) running: Running,
    /// Whoever else looks at it.
    pub(crate) observer: Option<Observer>,
}

/// What is left of a run once everything was shown.
pub(crate) struct Finished {
    pub(crate) exit: Exit,
    pub(crate) outcome: RunOutcome,
    /// The id by which it is stored, if it is.
    pub(crate) id: Option<RunId>,
}

/// Runs a test and shows how it went.
///
/// # Errors
/// An export cannot be opened.
pub(crate) fn run(test: &Test, common: &Common, mut settings: SessionSettings) -> Result<Finished, Failure> {
    let mut config = RunConfig::new(test.plan.scenarios.len());
    if let Some(workers) = settings.workers {
        config.workers = usize::from(workers.get());
    }
    let workers = config.workers;
    config.registry = test.script.metrics.clone();
    config.thresholds = test.thresholds.clone();
    config.control = settings.control.clone();
    let id = RunId::random(SystemClock::now().as_ns() ^ u64::from(std::process::id()));
    let mut outputs = open_outputs(test, common, &settings.outputs, &config, &id)?;
    config.wants_samples = outputs.iter().any(|output| output.wants_samples());
    let tags = config.tags.clone();
    let names = Names { metrics: config.registry.clone(), tags: tags.clone() };
    let mut observer = settings.observer.take();
    let receiving = Receiving::start(&settings.receive, &test.plan, common)?;
    let program = program(test, common, &config, &settings.receive, receiving.as_ref());
    let run = program.run.clone();
    let live = LiveRun::new(test, &config, &run, &settings.running);
    let served = settings.live.as_ref().map(|wanted| wanted.serve(&live, common)).transpose()?.flatten();
    let mut recording =
        Recording::begin(test, common, &config, &settings.record, &id, settings.reports.is_wanted());
    let door: Arc<dyn server::Live> = live.clone();
    let mut page = settings.page.start(test, common, &config, &door, recording.as_ref());
    raise_descriptor_limit();
    if !common.is_quiet {
        print_banner(test, common, &outputs, receiving.as_ref());
        common.logger.show_progress(&test.plan);
    }
    let mut gathering = match &recording {
        Some(_) => settings.evidence.start(common),
        None => {
            settings.evidence.decline(common);
            None
        }
    };
    let progress = config.progress.clone();
    let mut watch = Watch::begin(&test.plan);
    let mut outcome = {
        let _ticker =
            (!common.is_quiet).then(|| Ticker::start(common.logger.clone(), config.progress.clone()));
        settings.running.set(true);
        let mut listener = |event: RunEvent| {
            common.logger.on_event(&event);
            if served.is_some() {
                live.on_event(&event);
            }
            if let RunEvent::Log(line) = &event {
                script::Log::log(&*common.logger, line.clone());
            }
            if let Some(recording) = &mut recording {
                recording.on_event(&event, common);
            }
            if let Some(receiving) = &receiving {
                receiving.on_event(&event, recording.as_mut());
            }
            if let (Some(gathering), Some(recording), RunEvent::Window(window)) =
                (&mut gathering, &mut recording, &event)
            {
                gathering.on_window(window);
                recording.evidence(gathering.take(common));
            }
            watch.on_event(&event, recording.as_mut());
            if let Some(page) = &mut page {
                page.on_event(&event, &mut Recorders { watch: &mut watch, recording: recording.as_mut() });
            }
            if let Some(observer) = &mut observer {
                observer(&event, &names);
            }
            outputs.iter_mut().for_each(|output| output.on_event(&event));
        };
        let outcome = engine::run(test.plan.clone(), Arc::new(program), config, &mut listener);
        settings.running.set(false);
        outcome
    };
    let over = SystemClock::now();
    finish_outputs(outputs, common);
    let iterations = Iterations {
        completed: progress.iterations_completed.load(Ordering::Relaxed),
        failed: progress.iterations_failed.load(Ordering::Relaxed),
    };
    let busiest_per_s = watch.busiest_per_s();
    let validity = watch.finish(&outcome);
    let exit = exit::of_run(&outcome, iterations, test.plan.compat);
    let exit = exit::of_judged(exit, validity.grade, settings.requires_valid);
    if exit == Exit::NotValid {
        let line = report::validity::line(&validity, Lang::En);
        common.logger.say(LogLevel::Error, format!("the measurement is not valid: {line}"));
    }
    if outcome.init_error.is_none() {
        summary::show(test, common, &run, &settings.summary, &mut outcome, validity);
    }
    explain(&outcome, iterations, test.plan.compat, exit, common);
    let calibrated = calibration::load(common.calibration_file().as_deref(), workers);
    if let Some(warning) = calibrated.and_then(|known| calibration::warning(busiest_per_s, &known)) {
        common.logger.say(LogLevel::Warn, warning);
    }
    if let (Some(gathering), Some(recording)) = (gathering, &mut recording) {
        recording.evidence(gathering.finish(common));
    }
    if let Some(receiving) = receiving {
        let was_signalled = matches!(outcome.aborted, Some(AbortReason::Signal));
        let hurries = || was_signalled || settings.running.is_left();
        receiving.finish(over, &hurries, recording.as_mut(), common);
    }
    let stored = recording.is_some() && !settings.record.is_off;
    if let Some(recording) = recording {
        if let Some(page) = &page {
            page.before_finish();
        }
        let recorded = recording.finish(&outcome, exit, common, &tags);
        if let Some(page) = &page {
            page.after_finish();
        }
        settings.reports.write(&recorded.path, common);
        recorded.keep(common);
    }
    if let Some(wanted) = settings.live.filter(|wanted| wanted.lingers) {
        common.logger.say(LogLevel::Info, wanted.farewell(served.as_ref()));
        settings.running.linger();
    }
    Ok(Finished { exit, outcome, id: stored.then_some(id) })
}

fn program(
    test: &Test,
    common: &Common,
    config: &RunConfig,
    receive: &ReceiveSettings,
    receiving: Option<&Receiving>,
) -> ScriptProgram {
    let control = ScriptControl { control: config.control.clone(), log: common.logger.clone() };
    let run = script::RunShared {
        plan: test.plan.clone(),
        tags: config.tags.clone(),
        progress: config.progress.clone(),
        epoch: common.epoch,
        network: test.network.clone(),
        exported_options_json: test.exported_options_json.clone(),
        rate: test.plan.rps.map(script::RateGate::new),
        traces: receive.sample(receiving),
        spans: receiving.map(Receiving::own),
        control: Arc::new(control),
    };
    ScriptProgram { bundle: test.script.bundle.clone(), run: Arc::new(run) }
}

fn open_outputs(
    test: &Test,
    common: &Common,
    specs: &[OutputSpec],
    config: &RunConfig,
    id: &RunId,
) -> Result<Vec<Box<dyn Output>>, Failure> {
    let env = common.env.clone();
    let env_names = env.all().keys().cloned().collect();
    let context = output::Context {
        metrics: config.registry.clone(),
        tags: config.tags.clone(),
        epoch: common.epoch,
        system_tags: test.plan.system_tags,
        thresholds: test.plan.thresholds.clone(),
        env: Arc::new(move |name: &str| env.get(name).map(str::to_owned)),
        env_names,
        run_id: id.to_string(),
    };
    let open = |spec: &OutputSpec| {
        spec.open(&context).map_err(|error| {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
            Failure::new(Exit::Other, format!("failed to {error}{}", cause.unwrap_or_default()))
        })
    };
    specs.iter().map(open).collect()
}

fn finish_outputs(outputs: Vec<Box<dyn Output>>, common: &Common) {
    for output in outputs {
        let report = output.finish();
        if let Some(warning) = report.warning() {
            common.logger.say(LogLevel::Error, warning);
        }
        if let Some(note) = report.note {
            common.logger.say(LogLevel::Info, format!("{}: {note}", report.description));
        }
    }
}

fn print_banner(test: &Test, common: &Common, outputs: &[Box<dyn Output>], receiving: Option<&Receiving>) {
    let outputs: Vec<String> = outputs.iter().map(|output| output.description().to_owned()).collect();
    let traces = receiving.map(Receiving::place);
    let (total, scenarios) = (plan::describe_header(&test.plan), plan::describe_scenarios(&test.plan));
    let header = report::header::Header {
        version: env!("CARGO_PKG_VERSION"),
        script: &test.script.source.name,
        outputs: &outputs,
        traces: traces.as_deref(),
        scenarios: (&total, &scenarios),
    };
    let style = logger::style(common.may_colour && std::io::stdout().is_terminal());
    // Whoever closed standard output does not want the banner.
    let _ = std::io::stdout().write_all(report::header::render(&header, style).as_bytes());
}

/// Every connection takes a descriptor, and the soft limit is often 1024 where the hard one allows a million.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        // Where it may not be raised, the first connection too many names the limit.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    }
}

/// Says why the exit code is not zero.
fn explain(outcome: &RunOutcome, iterations: Iterations, compat: Compat, exit: Exit, common: &Common) {
    let error = |text: String| common.logger.say(LogLevel::Error, text);
    if let Some(why) = &outcome.init_error {
        explain_program("initialise the VUs", why, common);
    }
    if let Some(why) = &outcome.setup_error {
        explain_lifecycle("setup", why, common);
    }
    if let Some(why) = &outcome.teardown_error {
        explain_lifecycle("teardown", why, common);
    }
    match &outcome.aborted {
        Some(AbortReason::Signal) => error("test run was aborted by a signal".into()),
        Some(AbortReason::Script(message)) => {
            error(message.as_deref().unwrap_or("test aborted").to_owned());
        }
        Some(AbortReason::Remote) => error("test run was stopped through the REST API".into()),
        Some(AbortReason::Listener(why)) => error(format!("test run was aborted: {why}")),
        Some(AbortReason::Threshold | AbortReason::Enough) | None => {}
    }
    if outcome.marked_failed {
        error("test run was marked as failed".into());
    }
    let crossed = outcome.thresholds.crossed();
    if !crossed.is_empty() {
        let early = match outcome.aborted {
            Some(AbortReason::Threshold) => "; one of them ended the test before its time",
            _ => "",
        };
        error(format!("thresholds on metrics '{}' have been crossed{early}", crossed.join(", ")));
    }
    if iterations.all_threw() && compat == Compat::Honest {
        let note = if exit == Exit::ScriptException { " (--compat strict would exit with 0)" } else { "" };
        error(format!("all {} iterations ended in an exception{note}", iterations.completed));
    }
    let began = outcome.init_error.is_none() && outcome.setup_error.is_none();
    if began && iterations.completed == 0 {
        let text = "not one iteration ran to its end; a longer duration or gracefulStop would let them";
        common.logger.say(LogLevel::Warn, text);
    }
    if outcome.samples_lost > 0 {
        error(format!(
            "{} samples did not reach the outputs, which were too slow; the summary has them all",
            outcome.samples_lost
        ));
    }
}

fn explain_lifecycle(function: &str, error: &LifecycleError, common: &Common) {
    match error {
        LifecycleError::TimedOut(limit) => {
            let seconds = limit.as_secs_f64();
            let text = format!("{function}() execution timed out after {seconds} seconds");
            let mut line = LogLine::new(SystemClock::now(), LogLevel::Error, text);
            let hint = format!("the time limit is the option {function}Timeout");
            line.fields = vec![("hint", hint)];
            script::Log::log(&*common.logger, line);
        }
        LifecycleError::Failed(error) => explain_program(&format!("run {function}()"), error, common),
    }
}

fn explain_program(what: &str, error: &ProgramError, common: &Common) {
    match error {
        ProgramError::Exception(text) => {
            let mut line = LogLine::new(SystemClock::now(), LogLevel::Error, text.clone());
            line.source = "stacktrace";
            line.fields = vec![("hint", "script exception".to_owned())];
            script::Log::log(&*common.logger, line);
        }
        ProgramError::Data(_) => common.logger.say(LogLevel::Error, format!("failed to {error}")),
        // The reason for the abort is told by itself.
        ProgramError::Interrupted | ProgramError::Aborted => {}
        ProgramError::Panicked(_) => {
            common
                .logger
                .say(LogLevel::Error, format!("failed to {what}: this is a bug of plimsoll: {error}"));
        }
    }
}
