//! `/audit`: measurement errors that arithmetic shows.

use analysis::audit::{audit, facts_of_run};
use report::findings::{self, Findings};
use server::PageError;

use super::failed;
use super::scope::Scope;

pub(super) fn answer(scope: &Scope) -> Result<String, PageError> {
    let facts = runs::audit_facts(&scope.reader).map_err(failed)?;
    let sources = [facts.name.clone()];
    let found = audit(&facts_of_run(&facts));
    let audit = Findings {
        sources: &sources,
        findings: &found.findings,
        beyond: &found.beyond,
        derived: &found.derived,
        checked: &found.checked,
        remarks: &[],
        remarks_beyond: 0,
    };
    Ok(findings::json_in(&audit, scope.lang))
}
