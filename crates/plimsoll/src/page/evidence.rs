//! `/evidence`: what the servers did meanwhile, on the run's time axis.

use server::PageError;

use super::scope::Scope;
use super::{failed, json};
use crate::stored;

pub(super) fn answer(scope: &Scope) -> Result<String, PageError> {
    let (window, _) = scope.sum()?;
    // Also where all of the run is looked at: servers work on before and after it.
    let part = window.start..window.end;
    let told = stored::told(&scope.reader, scope.zero, part).map_err(failed)?;
    json(&told.shown(scope.lang, scope.detail.points_max as usize))
}
