//! `plimsoll run`: runs a test from a script.

use std::collections::BTreeMap;
use std::num::NonZeroU16;

use engine::RunControl;
use model::LogLevel;
use output::OutputSpec;
use plan::CliOptions;
use report::summary::Layout;
use runfile::StudyFacts;
use runs::{Exit, Failure};
use session::Context;
use session::RecordSettings;
use session::live::LiveSettings;
use session::reports::CiOutputs;
use session::signals::{self, Running, Turn};
use session::summary::SummarySettings;
use session::test::Test;
use session::{self, Finished, Observer, SessionSettings};

use crate::flags::{RecordFlags, ResultFlags, RunFlags};
use crate::settings;

/// Runs the subcommand.
///
/// # Errors
/// The test could not begin.
pub(crate) fn run(flags: &RunFlags, context: &Context) -> Result<Exit, Failure> {
    let (turn, running) = (Turn::default(), Running::default());
    signals::listen(turn.clone(), running.clone(), context.logger.clone());
    if flags.series.is_wanted() {
        return super::series::run(flags, context, &turn, &running);
    }
    Ok(one(flags, context, turn.first(), running, Aside::default())?.exit)
}

/// The context of a run in a series or study.
#[derive(Default)]
pub(super) struct Aside {
    /// Additional tags of the run's file.
    pub(super) tags: BTreeMap<String, String>,
    /// The study that the run is a level of.
    pub(super) study: Option<StudyFacts>,
    /// The observer of its events.
    pub(super) observer: Option<Observer>,
}

/// Runs a single test.
///
/// # Errors
/// The test could not begin.
pub(super) fn one(
    flags: &RunFlags,
    context: &Context,
    control: RunControl,
    running: Running,
    aside: Aside,
) -> Result<Finished, Failure> {
    session::browser_spans::check(flags.traces_output.as_deref(), context)?;
    if context.env.switch("WEB_DASHBOARD")?.unwrap_or(false) {
        let text =
            "K6_WEB_DASHBOARD has no effect: every run has a web page (--no-page=false without a terminal)";
        context.logger.say(LogLevel::Warn, text);
    }
    settings::refuse_kinds(&flags.script, context)?;
    let outputs = outputs(&flags.results, context)?;
    let summary = summary(&flags.results, context)?;
    let reports = CiOutputs::new(&flags.record.report, context)?;
    let lab = settings::lab_script(&flags.script.script);
    let is_kept = !record(&flags.record, context)?.is_off || reports.is_wanted();
    // Without a run file, traces would be lost.
    let traces = lab.as_ref().and_then(|lab| lab.traces.clone()).filter(|_| is_kept);
    let receive = settings::receive_settings(&flags.otlp, traces, context)?;
    let evidence = session::project::sources(
        &flags.evidence.asked(),
        lab.as_ref().map(|lab| lab.sources.clone()).unwrap_or_default(),
        context,
    )?;
    let Aside { tags, study, observer } = aside;
    let record = RecordSettings { tags, study, ..record(&flags.record, context)? };
    let compat = settings::compat(flags.script.compat, context)?;
    let ignores_thresholds =
        flags.results.no_thresholds.or(context.env.switch("NO_THRESHOLDS")?).unwrap_or(false);
    let limits = settings::limits(&flags.limits)?;
    let source = settings::source_within(&flags.script, &limits, context)?;
    let mut env = source.env(settings::script_env(&flags.script, context, true)?);
    if let Some((name, url)) = lab.map(|lab| lab.variable) {
        env.entry(name).or_insert(url);
    }
    let is_kept = |name: &String| record.stored_variables.contains(name);
    for (name, value) in env.iter().filter(|(name, _)| !is_kept(name)) {
        context.redactor.add_variable(name, value);
    }
    let cli = CliOptions { limits, ..flags.options.to_cli_options() };
    let test = Test::prepare(source, context, env, &cli, compat, ignores_thresholds)?;
    if let Some(study) = &record.study {
        runs::study::check(&study.objectives, &test.script.metrics)?;
    }
    let requires_valid =
        flags.results.require_valid.or(context.env.switch("REQUIRE_VALID")?).unwrap_or(false);
    let workers = flags.workers.and_then(NonZeroU16::new);
    let lingers = flags.linger.or(context.env.switch("LINGER")?).unwrap_or(false);
    let live = LiveSettings::resolve(&test.plan, context, lingers);
    if control.is_stopped() {
        return Err(Failure::new(Exit::Signal, "the run did not start: stopped by a signal"));
    }
    let agents = flags.agents.resolve()?;
    if agents.is_some() && (!flags.limits.allow_host.is_empty() || flags.limits.limit_rate.is_some()) {
        let text = "failed to use --agents with --allow-host or --limit-rate: agents do not have these limits; leave one out";
        return Err(Failure::new(Exit::InvalidConfig, text));
    }
    let page = settings::page_settings(flags, context, !record.is_off)?;
    let wanted = SessionSettings {
        workers,
        outputs,
        summary,
        receive,
        record,
        evidence,
        reports,
        requires_valid,
        page,
        live,
        agents,
        control,
        running,
        observer,
        hides_banner: false,
    };
    session::run(&test, context, wanted)
}

/// Resolves the flags about the run's file.
///
/// # Errors
/// The variable has no boolean value.
pub(crate) fn record(flags: &RecordFlags, context: &Context) -> Result<RecordSettings, Failure> {
    Ok(RecordSettings {
        is_off: flags.no_store.or(context.env.switch("NO_STORE")?).unwrap_or(false),
        name: flags.name.clone(),
        notes: flags.note.clone(),
        target_version: flags.target_version.clone(),
        tags: BTreeMap::new(),
        study: None,
        stored_variables: stored_variables(flags, context),
    })
}

/// Returns the names of variables whose values the run's file keeps.
fn stored_variables(flags: &RecordFlags, context: &Context) -> Vec<String> {
    let of_env = context.env.get("PLIMSOLL_STORE_ENV").unwrap_or_default().split(',').map(str::to_owned);
    if flags.store_env.is_empty() { of_env.collect() } else { flags.store_env.clone() }
}

/// Returns the requested exports as the user wrote them.
pub(super) fn output_texts(flags: &ResultFlags, context: &Context) -> Vec<String> {
    let of_env = context.env.setting("OUT").map(|text| text.split(',').map(str::to_owned).collect());
    if flags.out.is_empty() { of_env.unwrap_or_default() } else { flags.out.clone() }
}

fn outputs(flags: &ResultFlags, context: &Context) -> Result<Vec<OutputSpec>, Failure> {
    let texts = output_texts(flags, context);
    let parse = |text: &String| {
        OutputSpec::parse(text).map_err(|error| Failure::new(Exit::Other, format!("failed to {error}")))
    };
    texts.iter().map(parse).collect()
}

fn summary(flags: &ResultFlags, context: &Context) -> Result<SummarySettings, Failure> {
    let env = &context.env;
    let is_refused = flags.no_summary.or(env.switch("NO_SUMMARY")?).unwrap_or(false);
    if is_refused {
        context.logger.say(LogLevel::Warn, "--no-summary is now spelled --summary-mode=disabled");
    }
    let mode = flags.summary_mode.as_deref().or_else(|| env.setting("SUMMARY_MODE")).unwrap_or("compact");
    let layout = match mode {
        "disabled" => None,
        _ => Some(Layout::parse(mode).ok_or_else(|| {
            let text = format!(
                "failed to read --summary-mode: invalid mode {mode:?}: expected compact, full, legacy or disabled"
            );
            Failure::new(Exit::Other, text)
        })?),
    };
    let export = flags.summary_export.clone().or_else(|| env.setting("SUMMARY_EXPORT").map(Into::into));
    let is_machine_readable =
        flags.new_machine_readable_summary.or(env.switch("NEW_MACHINE_READABLE_SUMMARY")?).unwrap_or(false);
    Ok(SummarySettings { layout: layout.filter(|_| !is_refused), export, is_machine_readable })
}
