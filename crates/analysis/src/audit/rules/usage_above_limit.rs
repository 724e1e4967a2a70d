//! More is used than can be.

use model::audit::AuditClaim;
use model::{AuditRule, Figure, FigureLabel, FigureValue, Finding, Severity, Strength, Unit};

use super::{Rule, figure, unit_of};
use crate::audit::kinds::{Facts, Usage};

pub(super) const RULE: Rule =
    Rule { id: AuditRule::UsageAboveLimit, input: |facts| facts.usages.len(), judge };

/// A rate over an interval may run over by what one period of the scheduler allows at its ends.
const OVER_SHARE_MAX: f64 = 0.05;

fn judge(facts: &Facts) -> Vec<Finding> {
    facts.usages.iter().filter_map(find).collect()
}

fn find(usage: &Usage) -> Option<Finding> {
    let (used, limit) = (usage.usage, usage.limit);
    if used.family != limit.family || limit.value <= 0.0 || used.value <= limit.value * (1.0 + OVER_SHARE_MAX)
    {
        return None;
    }
    let share = used.value / limit.value;
    let half = used.value / 2.0;
    let unit = unit_of(used.family);
    // Each container's cgroup is counted again in the pod's: a sum over both is twice the truth.
    let halved = (half <= limit.value).then(|| {
        (FigureValue::number(half, unit), FigureValue::number(half / limit.value * 100.0, Unit::Percent))
    });
    Some(Finding {
        severity: Severity::Error,
        strength: Strength::Limit,
        claim: AuditClaim::UsageAboveLimit {
            resource: usage.resource.clone(),
            used: figure(used),
            limit: figure(limit),
            half: halved,
        },
        evidence: vec![
            Figure::new(FigureLabel::Usage, used.value, unit),
            Figure::new(FigureLabel::Limit, limit.value, unit),
            Figure::new(FigureLabel::UsageOfLimit, share * 100.0, Unit::Percent),
            Figure::new(FigureLabel::HalfOfUsage, half, unit),
        ],
        place: usage.place.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;
    use super::*;

    #[test]
    fn usage_is_held_to_its_limit() {
        let usage = |used: &str, limit: &str| format!("resource,usage,limit\npod,{used},{limit}\n");
        check(judge, &usage("1.84", "1"), true);
        check(judge, &usage("1.05", "1"), false);
        check(judge, &usage("1.06", "1"), true);
        check(judge, &usage("1.62GB", "1Gi"), true);
        check(judge, &usage("1.07GB", "1Gi"), false);
        // Units that cannot be compared, and no limit at all.
        check(judge, &usage("1.62GB", "1 core"), false);
        check(judge, &usage("1.62GB", "0 B"), false);
    }
}
