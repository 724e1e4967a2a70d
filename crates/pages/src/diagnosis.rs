//! `/diagnosis`: the bottleneck and its evidence, always for the whole run.

use server::PageError;

use super::scope::Scope;
use super::{failed, json};

pub(super) fn answer(scope: &Scope) -> Result<String, PageError> {
    if !scope.is_whole() {
        return json(&runs::diagnosis::of_run(&scope.reader, scope.lang).map_err(failed)?);
    }
    // What the run's page shows is known already, or is read once for both.
    let (window, elapsed) = scope.sum()?;
    let diagnosis = runs::diagnosis::of_judged(&scope.reader, window, elapsed, scope.validity()?, scope.lang);
    json(&diagnosis.map_err(failed)?)
}
