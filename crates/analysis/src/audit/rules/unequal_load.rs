//! Versions that are compared under loads of different size.

use model::{Figure, Finding, Severity, Strength, Unit};

use super::{Rule, say};
use crate::audit::kinds::{Facts, Version};

pub(super) const RULE: Rule =
    Rule { name: "unequal-load", about: "versions are compared at different loads", judge };

/// How much more one version may be offered than another.
const DIFFERENCE_MAX: f64 = 0.05;

fn judge(facts: &Facts) -> Vec<Finding> {
    let timed: Vec<&Version> = facts.versions.iter().filter(|version| version.p95.is_some()).collect();
    let by_load = |a: &&&Version, b: &&&Version| a.offered.total_cmp(&b.offered);
    let (Some(least), Some(most)) = (timed.iter().min_by(by_load), timed.iter().max_by(by_load)) else {
        return Vec::new();
    };
    if least.offered <= 0.0 || most.offered <= least.offered * (1.0 + DIFFERENCE_MAX) {
        return Vec::new();
    }
    let figures = timed.iter().flat_map(|version| {
        let p95 =
            Figure::new(format!("{}: p95", version.version), version.p95.unwrap_or_default(), Unit::Seconds);
        [Figure::new(format!("{}: offered", version.version), version.offered, Unit::PerSecond), p95]
    });
    vec![Finding {
        rule: RULE.name,
        severity: Severity::Warning,
        strength: Strength::Arithmetic,
        claim: format!(
            "response times are compared at different loads: {} and {}, a factor of {}",
            say(least.offered, Unit::PerSecond),
            say(most.offered, Unit::PerSecond),
            say(most.offered / least.offered, Unit::Count)
        ),
        evidence: figures.collect(),
        implies: "response time depends on load, so the effect of the version cannot be separated from the effect of the load"
            .to_owned(),
        remedy: "test each version at the same load, or compare the service demand per request (utilisation × processors ÷ throughput)"
            .to_owned(),
        caveats: vec!["a version that is faster at higher load is an improvement, but its size is unknown".to_owned()],
        place: least.place.clone(),
    }]
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;
    use super::*;

    #[test]
    fn versions_meet_the_same_load() {
        let versions = |b: &str| format!("version,offered_per_s,p95_ms\na,100,1700\nb,{b}\n");
        check(judge, &versions("105,700"), false);
        check(judge, &versions("106,700"), true);
        check(judge, &versions("400,"), false);
        check(judge, "version,offered_per_s,p95_ms\na,100,1700\n", false);
    }
}
