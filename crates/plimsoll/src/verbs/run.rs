//! `plimsoll run`: a test from a script.

use std::collections::BTreeMap;
use std::num::NonZeroU16;

use engine::RunControl;
use model::LogLevel;
use output::OutputSpec;
use report::summary::Layout;
use runfile::StudyFacts;
use runs::{Exit, Failure};

use crate::common::Common;
use crate::evidence::Wanted;
use crate::flags::{RecordFlags, ResultFlags, RunFlags};
use crate::live::LiveSettings;
use crate::of_lab::OfLab;
use crate::page::PageSettings;
use crate::receiving::ReceiveSettings;
use crate::session::{self, Finished, Observer, SessionSettings};
use crate::signals::{self, Running, Turn};
use crate::source::Source;
use crate::stored::{CiOutputs, RecordSettings};
use crate::summary::SummarySettings;
use crate::test::{self, Test};
use crate::traces;

/// Runs the verb.
///
/// # Errors
/// The test could not begin.
pub(crate) fn run(flags: &RunFlags, common: &Common) -> Result<Exit, Failure> {
    let (turn, running) = (Turn::default(), Running::default());
    signals::listen(turn.clone(), running.clone(), common.logger.clone());
    if flags.series.is_wanted() {
        return super::series::run(flags, common, &turn, &running);
    }
    Ok(one(flags, common, turn.first(), running, Aside::default())?.exit)
}

/// What a run is part of, and who looks at it.
#[derive(Default)]
pub(super) struct Aside {
    /// Tags of its file beside its own.
    pub(super) tags: BTreeMap<String, String>,
    /// The study that it is a level of.
    pub(super) study: Option<StudyFacts>,
    /// Whoever looks at its events.
    pub(super) observer: Option<Observer>,
}

/// Makes one run.
///
/// # Errors
/// The test could not begin.
pub(super) fn one(
    flags: &RunFlags,
    common: &Common,
    control: RunControl,
    running: Running,
    aside: Aside,
) -> Result<Finished, Failure> {
    traces::check(flags.traces_output.as_deref(), common)?;
    if common.env.switch("WEB_DASHBOARD")?.unwrap_or(false) {
        let text = "K6_WEB_DASHBOARD has no effect: a run has a page of its own (--no-page=false without a terminal)";
        common.logger.say(LogLevel::Warn, text);
    }
    test::refuse_kinds(&flags.script, &common.env)?;
    let outputs = outputs(&flags.results, common)?;
    let summary = summary(&flags.results, common)?;
    let reports = CiOutputs::new(&flags.record.report, common)?;
    let lab = OfLab::of(&flags.script.script);
    let is_kept = !record(&flags.record, common)?.is_off || reports.is_wanted();
    // Without a file nobody would ever see the traces.
    let traces = lab.as_ref().and_then(OfLab::traces).filter(|_| is_kept);
    let receive = ReceiveSettings::of(&flags.otlp, traces, common)?;
    let evidence = Wanted::of(&flags.evidence, lab.as_ref(), common)?;
    let hidden = evidence.credentials.iter().chain(&receive.token).cloned().collect();
    let Aside { tags, study, observer } = aside;
    let record = RecordSettings { tags, study, hidden, ..record(&flags.record, common)? };
    let compat = common.compat(flags.script.compat)?;
    let ignores_thresholds =
        flags.results.no_thresholds.or(common.env.switch("NO_THRESHOLDS")?).unwrap_or(false);
    let source = Source::read(&flags.script, common)?;
    let mut env = source.env(test::script_env(&flags.script, &common.env, true)?);
    if let Some((name, url)) = lab.as_ref().map(OfLab::variable) {
        env.entry(name).or_insert(url);
    }
    let cli = flags.options.to_cli_options();
    let test = Test::prepare(source, common, env, &cli, compat, ignores_thresholds)?;
    let requires_valid = flags.results.require_valid.or(common.env.switch("REQUIRE_VALID")?).unwrap_or(false);
    let workers = flags.workers.and_then(NonZeroU16::new);
    let lingers = flags.linger.or(common.env.switch("LINGER")?).unwrap_or(false);
    let live = LiveSettings::of(&test.plan, common, lingers);
    if control.is_stopped() {
        return Err(Failure::new(Exit::Signal, "failed to begin the run: a signal came first"));
    }
    let page = PageSettings::of(flags, common, !record.is_off)?;
    let settings = SessionSettings {
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
        control,
        running,
        observer,
    };
    session::run(&test, common, settings)
}

/// What the flags say about the run's file.
///
/// # Errors
/// The variable is neither on nor off.
pub(crate) fn record(flags: &RecordFlags, common: &Common) -> Result<RecordSettings, Failure> {
    Ok(RecordSettings {
        is_off: flags.no_store.or(common.env.switch("NO_STORE")?).unwrap_or(false),
        name: flags.name.clone(),
        notes: flags.note.clone(),
        target_version: flags.target_version.clone(),
        tags: BTreeMap::new(),
        study: None,
        hidden: Vec::new(),
    })
}

/// The exports that were asked for, as they were written.
pub(super) fn output_texts(flags: &ResultFlags, common: &Common) -> Vec<String> {
    let of_env = common.env.setting("OUT").map(|text| text.split(',').map(str::to_owned).collect());
    if flags.out.is_empty() { of_env.unwrap_or_default() } else { flags.out.clone() }
}

fn outputs(flags: &ResultFlags, common: &Common) -> Result<Vec<OutputSpec>, Failure> {
    let texts = output_texts(flags, common);
    let parse = |text: &String| {
        OutputSpec::parse(text).map_err(|error| Failure::new(Exit::Other, format!("failed to {error}")))
    };
    texts.iter().map(parse).collect()
}

fn summary(flags: &ResultFlags, common: &Common) -> Result<SummarySettings, Failure> {
    let env = &common.env;
    let is_refused = flags.no_summary.or(env.switch("NO_SUMMARY")?).unwrap_or(false);
    if is_refused {
        common.logger.say(LogLevel::Warn, "--no-summary is now spelled --summary-mode=disabled");
    }
    let mode = flags.summary_mode.as_deref().or_else(|| env.setting("SUMMARY_MODE")).unwrap_or("compact");
    let layout = match mode {
        "disabled" => None,
        _ => Some(Layout::parse(mode).ok_or_else(|| {
            let text = format!(
                "failed to read --summary-mode: {mode:?} is none of compact, full, legacy and disabled"
            );
            Failure::new(Exit::Other, text)
        })?),
    };
    let export = flags.summary_export.clone().or_else(|| env.setting("SUMMARY_EXPORT").map(Into::into));
    let is_machine_readable =
        flags.new_machine_readable_summary.or(env.switch("NEW_MACHINE_READABLE_SUMMARY")?).unwrap_or(false);
    Ok(SummarySettings { layout: layout.filter(|_| !is_refused), export, is_machine_readable })
}
