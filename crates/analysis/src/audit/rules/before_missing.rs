//! A comparison with nothing.

use model::audit::AuditClaim;
use model::{AuditRule, Figure, FigureLabel, Finding, Severity, Strength};

use super::{Rule, figure, unit_of};
use crate::audit::kinds::{Change, Facts};

pub(super) const RULE: Rule =
    Rule { id: AuditRule::BeforeMissing, input: |facts| facts.changes.len(), judge };

fn judge(facts: &Facts) -> Vec<Finding> {
    facts.changes.iter().filter(|change| change.before.is_none()).map(find).collect()
}

fn find(change: &Change) -> Finding {
    let mut evidence =
        vec![Figure::new(FigureLabel::After, change.after.value, unit_of(change.after.family))];
    evidence.extend(
        change.change.map(|it| Figure::new(FigureLabel::ReportedChange, it.value, unit_of(it.family))),
    );
    Finding {
        severity: Severity::Warning,
        strength: Strength::Arithmetic,
        claim: match change.change {
            Some(printed) => {
                AuditClaim::ChangeWithoutBaseline { metric: change.metric.clone(), change: figure(printed) }
            }
            None => AuditClaim::ValueWithoutBaseline {
                metric: change.metric.clone(),
                after: figure(change.after),
            },
        },
        evidence,
        place: change.place.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;
    use super::*;

    #[test]
    fn changes_have_a_before() {
        let change = |before: &str, printed: &str| {
            format!("metric,before,after,change\nsubmitted,{before},1336,{printed}\n")
        };
        check(judge, &change("-", "+426%"), true);
        check(judge, &change("", ""), true);
        check(judge, &change("0", "N/A"), false);
        check(judge, &change("254", "+426%"), false);
    }
}
