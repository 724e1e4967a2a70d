//! `/report`: the whole report on a run, chapter by chapter, always for the whole run.

use std::ops::Range;
use std::path::Path;

use api::page::ReportDocument;
use catalogue::Catalogue;
use report::{Lang, RunReport, markdown};
use runfile::Reader;
use server::{PageError, Question};

use super::{damaged, failed, json};

pub(super) fn answer(path: &Path, catalogue: &Catalogue, question: &Question) -> Result<String, PageError> {
    let lang = question.get("lang").and_then(Lang::parse).unwrap_or_default();
    json(&document(path, catalogue, lang)?)
}

/// Returns the report on a whole run.
///
/// # Errors
/// The run's file is damaged.
pub(super) fn document(path: &Path, catalogue: &Catalogue, lang: Lang) -> Result<ReportDocument, PageError> {
    let reader = runs::open(path).map_err(failed)?;
    let (report, _) = runs::complete(&reader, catalogue, lang).map_err(failed)?;
    Ok(drawable(&reader, &report, lang))
}

/// Returns the report on a part of a run, which has no diagnosis and is compared with nothing.
///
/// # Errors
/// The run's file is damaged.
pub(super) fn of_part(path: &Path, range: Range<u32>, lang: Lang) -> Result<ReportDocument, PageError> {
    let reader = runs::open(path).map_err(failed)?;
    let all = reader.range().map_err(damaged)?;
    let at = |second: u32| all.start.saturating_add(second).min(all.end);
    let range = at(range.start)..at(range.end);
    let window = reader.sum(range.clone()).map_err(damaged)?;
    let length = window.end.since(window.start);
    let report = runs::document(&reader, &window, length, Some(range)).map_err(failed)?;
    Ok(drawable(&reader, &report, lang))
}

/// Returns the document; an objective on a metric that the run does not have cannot be drawn.
fn drawable(reader: &Reader, report: &RunReport, lang: Lang) -> ReportDocument {
    let document = markdown::document(report, lang);
    let objective = document.objective.filter(|known| reader.registry().find(&known.metric).is_some());
    ReportDocument { objective, ..document }
}
