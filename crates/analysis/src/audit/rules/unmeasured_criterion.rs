//! A run that is called a success while a part of the criterion was never measured.

use model::{Figure, Finding, Severity, Strength, Unit};

use super::{Rule, say, say_measure};
use crate::audit::kinds::{Criterion, Facts};

pub(super) const RULE: Rule =
    Rule { name: "unmeasured-criterion", about: "a success criterion was not measured", judge };

fn judge(facts: &Facts) -> Vec<Finding> {
    facts.criteria.iter().filter(|criterion| criterion.measured.is_none()).map(|it| find(it, facts)).collect()
}

fn find(criterion: &Criterion, facts: &Facts) -> Finding {
    let all = facts.criteria.len();
    let measured = facts.criteria.iter().filter(|criterion| criterion.measured.is_some()).count();
    Finding {
        rule: RULE.name,
        severity: Severity::Error,
        strength: Strength::Arithmetic,
        claim: format!(
            "success criterion not measured: {} of {} (limit {})",
            criterion.statistic,
            criterion.metric,
            say_measure(criterion.target)
        ),
        evidence: vec![
            Figure::new("criteria", all as f64, Unit::Count),
            Figure::new("criteria with a measured value", measured as f64, Unit::Count),
        ],
        implies: format!(
            "the verdict is inconclusive: {} of {} criteria were measured, and the others may have failed",
            say(measured as f64, Unit::Count),
            say(all as f64, Unit::Count)
        ),
        remedy: "measure it in the same run, and report the verdict as incomplete until then".to_owned(),
        caveats: Vec::new(),
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
