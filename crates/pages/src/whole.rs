//! `/report`: the whole report on a run, chapter by chapter, always for the whole run.

use std::path::Path;

use catalogue::Catalogue;
use report::{Lang, markdown};
use server::{PageError, Question};

use super::{failed, json};

pub(super) fn answer(path: &Path, catalogue: &Catalogue, question: &Question) -> Result<String, PageError> {
    let lang = question.get("lang").and_then(Lang::parse).unwrap_or_default();
    let reader = runs::open(path).map_err(failed)?;
    let (report, _) = runs::complete(&reader, catalogue, lang).map_err(failed)?;
    json(&markdown::document(&report, lang))
}

/// Returns the report on a part of a run, which has no diagnosis and is compared with nothing.
pub(super) fn of_part(path: &Path, range: std::ops::Range<u32>, lang: Lang) -> Result<String, PageError> {
    let reader = runs::open(path).map_err(failed)?;
    let all = reader.range().map_err(super::damaged)?;
    let range = all.start.saturating_add(range.start)..all.start.saturating_add(range.end).min(all.end);
    let window = reader.sum(range.clone()).map_err(super::damaged)?;
    let length = window.end.since(window.start);
    let report = runs::document(&reader, &window, length, Some(range)).map_err(failed)?;
    json(&markdown::document(&report, lang))
}
