//! Sides that went through the same plan of varying load.

use stats::PlanStrata;

use super::Run;

/// With fewer seconds in common nothing is known of the noise.
const PAIRED_SECONDS_MIN: usize = 10;

/// The strata of the plan that all runs have, if its load varies and they have enough of it in common.
///
/// A plan of constant load is left to the steady parts of the runs: warm-ups differ from run to run.
pub(super) fn strata(a: &[Run], b: &[Run]) -> Option<PlanStrata> {
    let plan = a.first()?.facts.plan.as_ref().filter(|plan| !plan.is_constant)?;
    b.first()?;
    let runs = || a.iter().chain(b);
    let have_it = runs().all(|run| run.facts.plan.as_ref().is_some_and(|of_run| of_run.text == plan.text));
    let seconds = runs().map(Run::seconds).min().unwrap_or(0);
    (have_it && seconds >= PAIRED_SECONDS_MIN).then(|| PlanStrata::new(&plan.stages, seconds))
}
