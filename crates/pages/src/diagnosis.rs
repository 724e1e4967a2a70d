//! `/diagnosis`: the bottleneck and its evidence, always for the whole run.

use server::PageError;

use super::scope::Scope;
use super::{failed, json};

pub(super) fn answer(scope: &Scope) -> Result<String, PageError> {
    json(&runs::diagnosis::of_run(&scope.reader, scope.lang).map_err(failed)?)
}
