//! A run that is called a success while a part of the criterion was never measured.

use model::audit::AuditClaim;
use model::{AuditRule, Figure, FigureLabel, Finding, Severity, Strength, Unit};

use super::{Rule, figure};
use crate::audit::kinds::{Criterion, Facts};

pub(super) const RULE: Rule =
    Rule { id: AuditRule::UnmeasuredCriterion, input: |facts| facts.criteria.len(), judge };

fn judge(facts: &Facts) -> Vec<Finding> {
    facts.criteria.iter().filter(|criterion| criterion.measured.is_none()).map(|it| find(it, facts)).collect()
}

fn find(criterion: &Criterion, facts: &Facts) -> Finding {
    let all = facts.criteria.len();
    let measured = facts.criteria.iter().filter(|criterion| criterion.measured.is_some()).count();
    Finding {
        severity: Severity::Error,
        strength: Strength::Arithmetic,
        claim: AuditClaim::CriterionUnmeasured {
            statistic: criterion.statistic.clone(),
            metric: criterion.metric.clone(),
            limit: figure(criterion.target),
            measured,
            criteria: all,
        },
        evidence: vec![
            Figure::new(FigureLabel::Criteria, all as f64, Unit::Count),
            Figure::new(FigureLabel::CriteriaMeasured, measured as f64, Unit::Count),
        ],
        place: criterion.place.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;
    use super::*;

    #[test]
    fn every_criterion_is_measured() {
        let criteria = |measured: &str| {
            format!("metric,statistic,target,measured\nttfb,p95,800ms,700ms\nerrors,share,0%,{measured}\n")
        };
        check(judge, &criteria("0%"), false);
        check(judge, &criteria("3%"), false);
        check(judge, &criteria("-"), true);
        check(judge, &criteria(""), true);
    }
}
