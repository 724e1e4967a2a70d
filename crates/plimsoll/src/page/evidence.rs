//! `/evidence`: what the servers did meanwhile, on the run's time axis.

use server::PageError;

use super::scope::Scope;
use super::traces::all_kept;
use super::{failed, json};
use crate::stored;

pub(super) fn answer(scope: &Scope) -> Result<String, PageError> {
    let (window, _) = scope.sum()?;
    let all = scope.study.collected(|| stored::collected(&scope.reader)).map_err(failed)?;
    let traces = stored::between(all_kept(scope)?, window.start, window.end);
    let told = stored::told(&scope.reader, all, &traces, scope.zero, window);
    json(&told.shown(scope.lang, scope.detail.points_max as usize))
}
