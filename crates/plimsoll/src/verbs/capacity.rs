//! `plimsoll capacity`: finds the maximum load that meets the SLOs, by a search or from stored measurements.

use std::io::IsTerminal;
use std::path::Path;

use analysis::capacity::search::{self, Made, Over, Search, Step};
use model::capacity::{LoadUnit, Place};
use model::{LogLevel, SystemClock};
use report::capacity::{self, StudyKind, StudyReport};
use report::{Lang, Style};
use runs::study::{self, CONFIDENCE, Read};
use runs::{Exit, Failure};
use session::Context;
use session::logger;
use tables::Format;

use super::audit::text_of;
use super::diagnose;
use super::level_runner::{LevelRunner, LevelSpec, seconds};
use crate::flags::{CapacityFlags, OptionFlags};

/// Maximum number of tables.
const FILES_MAX: usize = 100;

/// Runs the subcommand.
///
/// # Errors
/// The flags are invalid, the first level could not begin, or a run or a table cannot be read.
pub(crate) fn run(flags: &CapacityFlags, context: &Context) -> Result<Exit, Failure> {
    if !flags.of.is_empty() {
        return report_stored(flags, context);
    }
    let unit = if flags.rate { LoadUnit::PerSecond } else { LoadUnit::Vus };
    let goal = search_goal(flags, unit)?;
    let mut levels = LevelRunner::new(&flags.study, StudyKind::Capacity, unit, context)?;
    if levels.asked.is_empty() {
        return Err(fail("search for the maximum load without an SLO: set at least one, such as --slo 'http_req_duration: p(95)<800'".to_owned()));
    }
    let report = searched(&mut levels, goal)?;
    answer(&report, &levels, flags.study.level.json, context);
    if !flags.study.level.json
        && let Some(diagnosis) = diagnose::of_study(&report, Lang::En, context)?
    {
        session::terminal::print(&report::find::cause(&diagnosis, Lang::En, style(context)));
    }
    Ok(exit(&report, levels.exit, true))
}

/// Measures the steps that a search asks for until it ends, and returns its study.
///
/// # Errors
/// The first run could not begin, or a run cannot be read.
pub(super) fn searched(
    levels: &mut LevelRunner<'_>,
    goal: search::SearchSettings,
) -> Result<StudyReport, Failure> {
    let mut gathered = levels.gathered(StudyKind::Capacity);
    let mut search = Search::new(goal);
    let over = loop {
        let step = match search.next() {
            Ok(step) => step,
            Err(over) => break Some(over),
        };
        let length_s = step.warm_up_s + step.most_s;
        let spec = LevelSpec {
            load: step.load,
            purpose: step.purpose,
            least_s: step.least_s,
            most_s: step.most_s,
            change: String::new(),
            bursts: search.bursts(step.load),
            left_s: (search.left_s() - length_s).max(0.0),
        };
        let began = SystemClock::now();
        let Some(read) = levels.measure(&spec)? else { break None };
        gathered.add(&levels.variant(""), &read);
        search.record(made(&step, read, SystemClock::now().since(began).as_secs_f64()));
    };
    levels.end();
    gathered.is_cut = over == Some(Over::Budget);
    if over == Some(Over::Unknown) {
        levels.warn("three steps in a row could not be measured: stop other programs on this machine");
    }
    Ok(gathered.report())
}

/// Prints the result, and the command that shows it again.
pub(super) fn answer(report: &StudyReport, levels: &LevelRunner<'_>, is_json: bool, context: &Context) {
    print(report, is_json, context);
    let again = report.parts.iter().flat_map(|part| &part.levels).next_back();
    if let Some(level) = again {
        let runs = context.runs_words();
        levels.report(&format!("study: {}  plimsoll capacity --of {}{runs}", levels.name(), level.run));
    }
}

/// Returns the exit of the process: that of its runs, or whether a load meets the SLOs.
pub(super) fn exit(report: &StudyReport, of_runs: Exit, is_asked: bool) -> Exit {
    if of_runs != Exit::Ok {
        return of_runs;
    }
    let levels = || report.parts.iter().flat_map(|part| &part.levels);
    if !levels().any(|level| level.decides) {
        return Exit::NotValid;
    }
    let is_below = |part: &model::capacity::Capacity| match part.line {
        Some(line) => line.place == Place::BelowAll,
        None => is_asked,
    };
    if is_asked && report.parts.iter().any(is_below) { Exit::ThresholdsFailed } else { Exit::Ok }
}

/// A step that took `took_s` seconds of wall time; one that was stored already counts its load.
fn made(step: &Step, read: Read, took_s: f64) -> Made {
    let decides = read.observed.level.decides;
    Made {
        load: step.load,
        purpose: step.purpose,
        spent_s: read.spent_s,
        charged_s: took_s.max(read.spent_s),
        throughput_per_s: read.observed.level.throughput_per_s,
        sights: if decides { read.observed.sights } else { Vec::new() },
    }
}

fn search_goal(flags: &CapacityFlags, unit: LoadUnit) -> Result<search::SearchSettings, Failure> {
    let (from, to) = range((flags.from, flags.to), &flags.study.options, unit)?;
    if !(flags.tolerance > 0.0 && flags.tolerance <= 1.0) {
        return Err(fail(format!("read --tolerance {}: it is a share above 0, up to 1", flags.tolerance)));
    }
    let least_s = seconds("--step-min", &flags.step_min)?;
    let goal = search::SearchSettings {
        unit,
        from,
        to,
        tolerance: flags.tolerance,
        confidence: CONFIDENCE,
        warm_up_s: seconds("--warm-up", &flags.study.level.warm_up)?,
        least_s,
        most_s: seconds("--step-max", &flags.step_max)?.max(least_s),
        hold_s: seconds("--hold", &flags.hold)?,
        budget_s: seconds("--budget", &flags.budget)?,
    };
    if goal.budget_s < goal.budget_s_min() {
        return Err(fail(format!(
            "search within --budget {}: three steps with --warm-up {} and --step-min {} take {} s; set --budget to that or more",
            flags.budget,
            flags.study.level.warm_up,
            flags.step_min,
            goal.budget_s_min()
        )));
    }
    Ok(goal)
}

/// The loads of a search, from the flags or the defaults of the unit.
///
/// # Errors
/// They are no range, or the options set the load.
pub(super) fn range(
    (from, to): (Option<f64>, Option<f64>),
    options: &OptionFlags,
    unit: LoadUnit,
) -> Result<(f64, f64), Failure> {
    if options.vus.is_some() {
        return Err(fail(
            "search with --vus: the search chooses the loads; set --from and --to instead".to_owned(),
        ));
    }
    let most = match unit {
        LoadUnit::Vus => 2_000.0,
        LoadUnit::PerSecond => 10_000.0,
    };
    let (from, to) = (from.unwrap_or(1.0), to.unwrap_or(most));
    if from > 0.0 && to >= from && to <= plan::VUS_MAX as f64 {
        return Ok((from, to));
    }
    Err(fail(format!("search from {from} to {to}: expected 0 < --from <= --to")))
}

/// Reports earlier measurements: tables, or the study of a run.
fn report_stored(flags: &CapacityFlags, context: &Context) -> Result<Exit, Failure> {
    let level = &flags.study.level;
    let is_table = |name: &String| Format::of_name(name).is_some();
    let report = match flags.of.as_slice() {
        names if names.len() > FILES_MAX => {
            return Err(fail(format!("read {} files: at most {FILES_MAX}", names.len())));
        }
        names if names.iter().all(is_table) => of_tables(names, &level.slo, level.head_room, context)?,
        [run] => {
            let catalogue = context.catalogue()?;
            let path = catalogue.find(run).map_err(|error| runs::failed(&error))?;
            let none = || fail(format!("find the study of {run}: it does not belong to a study"));
            study::of_run(&path, &catalogue)?.ok_or_else(none)?
        }
        _ => return Err(fail("read several runs: name one run of the study".to_owned())),
    };
    print(&report, level.json, context);
    Ok(Exit::Ok)
}

fn of_tables(
    names: &[String],
    slos: &[String],
    head_room: f64,
    context: &Context,
) -> Result<StudyReport, Failure> {
    let mut all = Vec::new();
    for name in names {
        let text = text_of(Path::new(name))?;
        let format = Format::of_name(name).unwrap_or(Format::Csv);
        let read = tables::read(name, &text, format)
            .map_err(|error| Failure::new(Exit::Other, format!("failed to {error} (in {name})")))?;
        all.extend(read.tables);
    }
    let (report, remarks) = study::of_tables(&names.join(", "), &all, slos, head_room)?;
    for remark in &remarks.texts {
        context.logger.say(LogLevel::Warn, report::escape::terminal(remark));
    }
    Ok(report)
}

fn print(report: &StudyReport, is_json: bool, context: &Context) {
    match is_json {
        true => session::terminal::print(&capacity::json(report)),
        false => session::terminal::print(&capacity::text(report, Lang::En, style(context))),
    }
}

/// The style of standard output.
pub(super) fn style(context: &Context) -> Style {
    logger::style(context.may_colour && std::io::stdout().is_terminal())
}

fn fail(what: String) -> Failure {
    Failure::new(Exit::InvalidConfig, format!("failed to {what}"))
}
