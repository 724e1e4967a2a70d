//! The auditor: arithmetic and measurement errors in runs and in result tables.
//!
//! [`gather`] makes facts of tables and [`facts_of_run`] of a run; [`audit`] applies every rule of [`RULES`] and every law of
//! [`laws::LAWS`](crate::laws::LAWS) to them. A rule is one file and one line in the list, a pure function of facts, and
//! silent where a fact is missing: nothing is guessed.

mod gather;
mod kinds;
mod moment;
mod quantity;
mod rules;
mod run;
#[cfg(test)]
mod seeds;
#[cfg(test)]
pub(crate) mod testing;

use model::{AuditRule, Derived, Finding};

pub use gather::{REMARKS_MAX, Remarks, gather};
pub use kinds::{
    Change, Column, Criterion, Facts, KINDS, Kind, Outcome, QuantileClaim, Queue, Record, Run, Scrape, Slots,
    Snapshot, Source, Stage, Stamp, Summary, Usage, Version, Window,
};
pub use quantity::{Family, Measure, Quantity};
pub use rules::{RULES, Rule};
pub use run::{ClosedLoopFact, RunFacts, ThresholdFact, TwiceFact, UsageFact, facts_of_run};

/// Findings of one rule listed at most; further ones are counted.
pub const FINDINGS_PER_RULE_MAX: usize = 50;

/// The results of an audit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Audit {
    /// The findings, the worst first.
    pub findings: Vec<Finding>,
    /// The numbers of findings that are not listed, by rule.
    pub beyond: Vec<(AuditRule, usize)>,
    /// The derived figures.
    pub derived: Vec<Derived>,
    /// Every rule, with the number of facts that it looked at: with none it could find nothing.
    pub checked: Vec<(AuditRule, usize)>,
}

/// Applies every rule and every law.
pub fn audit(facts: &Facts) -> Audit {
    let mut audit = Audit { derived: crate::laws::derive(facts), ..Audit::default() };
    for rule in RULES {
        audit.checked.push((rule.id, (rule.input)(facts)));
        let mut found = (rule.judge)(facts);
        if found.len() > FINDINGS_PER_RULE_MAX {
            audit.beyond.push((rule.id, found.len() - FINDINGS_PER_RULE_MAX));
            found.truncate(FINDINGS_PER_RULE_MAX);
        }
        audit.findings.extend(found);
    }
    // Stable, so that within a severity the order of the rules stays.
    audit.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    audit
}
