//! `/evidence`: server-side metrics on the run's time axis.

use server::PageError;

use super::scope::Scope;
use super::traces::all_kept;
use super::{failed, json};

pub(super) fn answer(scope: &Scope) -> Result<String, PageError> {
    let (window, _) = scope.sum()?;
    let all = scope.study.collected(|| runs::collected(&scope.reader)).map_err(failed)?;
    let traces = runs::between(all_kept(scope)?, window.start, window.end);
    let collected = runs::collected_in(&scope.reader, all, &traces, scope.zero, window);
    json(&collected.shown(scope.lang, scope.detail.points_max as usize))
}
