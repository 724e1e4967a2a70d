//! `/diagnosis`: the bottleneck and its evidence, always for the whole run.

use analysis::diagnosis::{Case, diagnose};
use runs::diagnosis;
use server::PageError;

use super::scope::Scope;
use super::{failed, json};

pub(super) fn answer(scope: &Scope) -> Result<String, PageError> {
    let level = diagnosis::level(&scope.reader, None).map_err(failed)?;
    let clocks = [diagnosis::clock(&scope.reader, &level)];
    let found = diagnose(&Case { levels: vec![level] });
    json(&report::diagnosis::document(&found, &clocks, scope.lang))
}
