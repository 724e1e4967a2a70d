//! `plimsoll capacity`: the highest load that keeps what is asked, searched for, or read from what was measured.

use std::io::IsTerminal;
use std::path::Path;

use analysis::capacity::search::{self, Made, Over, Search, Step};
use model::LogLevel;
use model::capacity::{LoadUnit, Place};
use report::Lang;
use report::capacity::{self, StudyKind, StudyReport};
use runs::study::{self, CONFIDENCE, Read};
use runs::{Exit, Failure};
use tables::Format;

use super::audit::text_of;
use super::levels::{Levels, Wanted, seconds};
use crate::flags::CapacityFlags;
use session::Context;
use session::logger;

/// Files of tables at most.
const FILES_MAX: usize = 100;

/// Runs the verb.
///
/// # Errors
/// The flags cannot be understood, the first level could not begin, or a run or a table cannot be read.
pub(crate) fn run(flags: &CapacityFlags, context: &Context) -> Result<Exit, Failure> {
    if !flags.of.is_empty() {
        return of(flags, context);
    }
    let unit = if flags.rate { LoadUnit::PerSecond } else { LoadUnit::Vus };
    let wanted = wanted(flags, unit)?;
    let mut levels = Levels::new(&flags.study, StudyKind::Capacity, unit, context)?;
    if levels.asked.is_empty() {
        return Err(fail("search for a load line without an SLO: set at least one, such as --slo 'http_req_duration: p(95)<800'".to_owned()));
    }
    let mut gathered = levels.gathered(StudyKind::Capacity);
    let mut search = Search::new(wanted);
    let over = loop {
        let step = match search.next() {
            Ok(step) => step,
            Err(over) => break Some(over),
        };
        let length_s = step.warm_up_s + step.most_s;
        let wanted = Wanted {
            load: step.load,
            purpose: step.purpose,
            least_s: step.least_s,
            most_s: step.most_s,
            change: String::new(),
            bursts: search.bursts(step.load),
            left_s: (search.left_s() - length_s).max(0.0),
        };
        let Some(read) = levels.measure(&wanted)? else { break None };
        gathered.add(&levels.variant(""), &read);
        search.tell(made(&step, read));
    };
    levels.end();
    gathered.is_cut = over == Some(Over::Budget);
    let report = gathered.report();
    answer(&report, &levels, flags.study.level.json, context);
    Ok(exit(&report, levels.exit, true))
}

/// What was found, and how to come back to it.
pub(super) fn answer(report: &StudyReport, levels: &Levels<'_>, is_json: bool, context: &Context) {
    print(report, is_json, context);
    let again = report.parts.iter().flat_map(|part| &part.levels).next_back();
    if let Some(level) = again {
        let runs = context.runs_words();
        levels.tell(&format!("study: {}  plimsoll capacity --of {}{runs}", levels.name(), level.run));
    }
}

/// How the process ends: as its runs did, or by whether a load keeps what was asked.
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

fn made(step: &Step, read: Read) -> Made {
    let decides = read.observed.level.decides;
    Made {
        load: step.load,
        purpose: step.purpose,
        spent_s: read.spent_s,
        throughput_per_s: read.observed.level.throughput_per_s,
        sights: if decides { read.observed.sights } else { Vec::new() },
    }
}

fn wanted(flags: &CapacityFlags, unit: LoadUnit) -> Result<search::SearchSettings, Failure> {
    let (from, to) = match unit {
        LoadUnit::Vus => (flags.from.unwrap_or(1.0), flags.to.unwrap_or(2_000.0)),
        LoadUnit::PerSecond => (flags.from.unwrap_or(1.0), flags.to.unwrap_or(10_000.0)),
    };
    if !(from > 0.0 && to >= from && to <= plan::VUS_MAX as f64) {
        return Err(fail(format!("search from {from} to {to}: expected 0 < --from <= --to")));
    }
    if flags.study.options.vus.is_some() {
        return Err(fail(
            "search with --vus: the search chooses the loads; set --from and --to instead".to_owned(),
        ));
    }
    if !(flags.tolerance > 0.0 && flags.tolerance <= 1.0) {
        return Err(fail(format!("read --tolerance {}: it is a share above 0, up to 1", flags.tolerance)));
    }
    let least_s = seconds("--step-min", &flags.step_min)?;
    Ok(search::SearchSettings {
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
    })
}

/// What was measured before: tables, or the study of a run.
fn of(flags: &CapacityFlags, context: &Context) -> Result<Exit, Failure> {
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
    let style = logger::style(context.may_colour && std::io::stdout().is_terminal());
    match is_json {
        true => session::terminal::print(&capacity::json(report)),
        false => session::terminal::print(&capacity::text(report, Lang::En, style)),
    }
}

fn fail(what: String) -> Failure {
    Failure::new(Exit::InvalidConfig, format!("failed to {what}"))
}
