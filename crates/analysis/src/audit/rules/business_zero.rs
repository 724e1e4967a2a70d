//! All requests succeed, and the business outcome never occurs.

use model::audit::AuditClaim;
use model::{AuditRule, Figure, FigureLabel, Finding, Severity, Strength, Unit};

use super::Rule;
use crate::audit::kinds::{Facts, Outcome};

pub(super) const RULE: Rule =
    Rule { id: AuditRule::BusinessZero, input: |facts| facts.outcomes.len(), judge };

/// From here on technical success is called complete, in percent.
const TECHNICAL_MIN: f64 = 99.0;

fn judge(facts: &Facts) -> Vec<Finding> {
    let technical = facts.outcomes.iter().filter(|outcome| outcome.level == "technical");
    let Some(technical) = technical.min_by(|a, b| a.share.total_cmp(&b.share)) else { return Vec::new() };
    if technical.share < TECHNICAL_MIN {
        return Vec::new();
    }
    let business =
        facts.outcomes.iter().filter(|outcome| outcome.level == "business" && outcome.share == 0.0);
    business.map(|business| find(technical, business)).collect()
}

fn find(technical: &Outcome, business: &Outcome) -> Finding {
    Finding {
        severity: Severity::Error,
        strength: Strength::Arithmetic,
        claim: AuditClaim::OutcomeZero {
            business: business.outcome.clone(),
            technical: technical.outcome.clone(),
            technical_percent: technical.share,
        },
        evidence: vec![
            Figure::new(FigureLabel::Named(technical.outcome.clone()), technical.share, Unit::Percent),
            Figure::new(FigureLabel::Named(business.outcome.clone()), business.share, Unit::Percent),
        ],
        place: business.place.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;
    use super::*;

    #[test]
    fn success_includes_the_outcome() {
        let outcomes = |technical: &str, business: &str| {
            format!("outcome,level,share\nsuccess,technical,{technical}\nreward,business,{business}\n")
        };
        check(judge, &outcomes("100%", "0.0%"), true);
        check(judge, &outcomes("99%", "0%"), true);
        check(judge, &outcomes("98.9%", "0%"), false);
        check(judge, &outcomes("100%", "0.1%"), false);
        check(judge, "outcome,level,share\nreward,business,0%\n", false);
    }
}
