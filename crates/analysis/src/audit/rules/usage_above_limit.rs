//! More is used than can be.

use model::{Figure, Finding, Severity, Strength, Unit};

use super::{Rule, say, say_measure, unit_of};
use crate::audit::kinds::{Facts, Usage};

pub(super) const RULE: Rule =
    Rule { name: "usage-above-limit", about: "usage exceeds the resource's limit", judge };

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
    let halved = match half <= limit.value {
        true => format!(
            "; if it adds the pod's and the container's cgroup, the true usage is half: {}, or {} of the limit",
            say(half, unit),
            say(half / limit.value * 100.0, Unit::Percent)
        ),
        false => String::new(),
    };
    Some(Finding {
        rule: RULE.name,
        severity: Severity::Error,
        strength: Strength::Limit,
        claim: format!(
            "{}: usage of {} exceeds its limit of {}, which is impossible",
            usage.resource,
            say_measure(used),
            say_measure(limit)
        ),
        evidence: vec![
            Figure::new("usage", used.value, unit),
            Figure::new("limit", limit.value, unit),
            Figure::new("usage relative to the limit", share * 100.0, Unit::Percent),
            Figure::new("half of the usage", half, unit),
        ],
        implies: format!("the series sums more than this resource{halved}"),
        remedy: "sum over containers alone (container!=\"\", image!=\"\"), check the label `container` for sidecars, and read limits by the same label"
            .to_owned(),
        caveats: vec!["sidecars in the same pod have their own limits and could explain part of the excess".to_owned()],
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
