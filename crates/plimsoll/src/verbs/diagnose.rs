//! `plimsoll diagnose`: finds the bottleneck, with evidence and a testable prediction.

use std::io::IsTerminal;

use analysis::diagnosis::{Level, diagnose};
use api::diagnosis::DiagnosisReport;
use model::Diagnosis;
use report::Lang;
use report::capacity::StudyReport;
use report::diagnosis::{Clock, document, text};
use runfile::Reader;
use runs::diagnosis::{self, Looked};
use runs::{Exit, Failure, WindowRange};
use session::Context;
use session::logger;

use crate::flags::{DiagnoseFlags, Left};

/// Maximum number of runs diagnosed together: the levels of a sweep.
const RUNS_MAX: usize = 50;

/// Runs of a study that are diagnosed: the lowest load and the highest ones.
const STUDY_RUNS_MAX: usize = 8;

/// Runs the subcommand.
///
/// # Errors
/// A run does not exist or cannot be read.
pub(crate) fn run(flags: &DiagnoseFlags, context: &Context) -> Result<Exit, Failure> {
    if flags.levels.len() > RUNS_MAX {
        let text = format!("failed to diagnose {} runs: the limit is {RUNS_MAX}", flags.levels.len());
        return Err(Failure::new(Exit::Other, text));
    }
    let catalogue = context.catalogue()?;
    let open = |run: &String| {
        let path = catalogue.find(run).map_err(|error| runs::failed(&error))?;
        runs::open(&path)
    };
    let readers = flags.levels.iter().map(open).collect::<Result<Vec<Reader>, Failure>>()?;
    let part = flags.window.as_deref().map(WindowRange::parse).transpose()?;
    let look = |reader| Ok((reader, part.map(|part| part.range(reader)).transpose()?));
    let looked = readers.iter().map(look).collect::<Result<Vec<Looked>, Failure>>()?;
    let (_, diagnosis) = diagnose_runs_without(&flags.without, looked, Lang::En)?;
    if flags.json {
        session::terminal::print(&report::diagnosis::json(&diagnosis));
    } else {
        print(&diagnosis, flags.all, context);
    }
    Ok(Exit::Ok)
}

/// Diagnoses these runs, or parts of them, and returns the document in a language as well.
///
/// # Errors
/// A file is damaged.
pub(super) fn diagnose_runs(
    looked: Vec<Looked>,
    lang: Lang,
) -> Result<(Diagnosis, DiagnosisReport), Failure> {
    diagnose_runs_without(&[], looked, lang)
}

fn diagnose_runs_without(
    without: &[Left],
    looked: Vec<Looked>,
    lang: Lang,
) -> Result<(Diagnosis, DiagnosisReport), Failure> {
    let readers: Vec<&Reader> = looked.iter().map(|(reader, _)| *reader).collect();
    let mut case = diagnosis::case(looked)?;
    case.levels.iter_mut().for_each(|level| without.iter().for_each(|kind| leave_out(level, *kind)));
    let clocks: Vec<Clock> = case
        .levels
        .iter()
        .filter_map(|level| {
            let reader = readers.iter().find(|reader| reader.header().run_id == level.id)?;
            Some(diagnosis::clock(reader, level))
        })
        .collect();
    let found = diagnose(&case);
    let diagnosis = document(&found, &clocks, lang);
    Ok((found, diagnosis))
}

fn leave_out(level: &mut Level, kind: Left) {
    match kind {
        Left::Traces => level.leave_out_traces(),
        Left::Metrics => level.leave_out_metrics(),
    }
}

/// Diagnoses the runs of a study; nothing where no step says anything about the target.
///
/// # Errors
/// A run is missing or damaged.
pub(super) fn of_study(
    study: &StudyReport,
    lang: Lang,
    context: &Context,
) -> Result<Option<DiagnosisReport>, Failure> {
    let ids = runs_of_study(study);
    if ids.is_empty() {
        return Ok(None);
    }
    let catalogue = context.catalogue()?;
    let open = |run: &&str| {
        let path = catalogue.find(run).map_err(|error| runs::failed(&error))?;
        runs::open(&path)
    };
    let readers = ids.iter().map(open).collect::<Result<Vec<_>, Failure>>()?;
    let looked: Vec<Looked> = readers.iter().map(|reader| (reader, None)).collect();
    diagnose_runs(looked, lang).map(|(_, document)| Some(document))
}

/// The lowest load and the highest ones, in ascending order: a diagnosis explains what grew between them.
pub(super) fn runs_of_study(study: &StudyReport) -> Vec<&str> {
    let levels = study.parts.iter().flat_map(|part| &part.levels).filter(|level| level.decides);
    let mut ids: Vec<&str> = levels.map(|level| level.run.as_str()).collect();
    if ids.len() > STUDY_RUNS_MAX {
        ids.drain(1..=ids.len() - STUDY_RUNS_MAX);
    }
    ids
}

/// Prints the diagnosis as text.
pub(super) fn print(diagnosis: &DiagnosisReport, is_whole: bool, context: &Context) {
    let style = logger::style(context.may_colour && std::io::stdout().is_terminal());
    session::terminal::print(&text(diagnosis, Lang::En, is_whole, style));
}
