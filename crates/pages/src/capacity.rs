//! `/capacity`: the maximum load that the target sustains, from the study that the run belongs to.

use std::path::Path;

use api::page::CapacityPage;
use catalogue::Catalogue;
use report::{Lang, capacity};
use runs::{open, study};
use server::{PageError, Question};

use super::{failed, json};

pub(super) fn answer(path: &Path, catalogue: &Catalogue, question: &Question) -> Result<String, PageError> {
    let lang = question.get("lang").and_then(Lang::parse).unwrap_or_default();
    let report = study::of_run(path, catalogue).map_err(failed)?;
    let command = study::next_command(open(path).map_err(failed)?.header(), report.as_ref());
    json(&CapacityPage { study: report.map(|report| capacity::document(&report, lang)), command })
}
