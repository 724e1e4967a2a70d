//! Versions that are compared under loads of different size.

use model::audit::AuditClaim;
use model::{AuditRule, Figure, FigureLabel, Finding, Severity, Strength, Unit};

use super::Rule;
use crate::audit::kinds::{Facts, Version};

pub(super) const RULE: Rule = Rule { id: AuditRule::UnequalLoad, input: |facts| facts.versions.len(), judge };

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
        let p95 = Figure::new(
            FigureLabel::P95Of(version.version.clone()),
            version.p95.unwrap_or_default(),
            Unit::Seconds,
        );
        [Figure::new(FigureLabel::OfferedTo(version.version.clone()), version.offered, Unit::PerSecond), p95]
    });
    vec![Finding {
        severity: Severity::Warning,
        strength: Strength::Arithmetic,
        claim: AuditClaim::LoadsDiffer { least_per_s: least.offered, most_per_s: most.offered },
        evidence: figures.collect(),
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
