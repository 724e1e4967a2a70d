//! Two sources report different values for the same fact.

use std::collections::BTreeMap;

use model::audit::AuditClaim;
use model::{AuditRule, Figure, FigureLabel, Finding, Severity, Strength};

use super::{Rule, figure, unit_of};
use crate::audit::kinds::{Facts, Source};

pub(super) const RULE: Rule =
    Rule { id: AuditRule::SourcesDisagree, input: |facts| facts.sources.len(), judge };

/// How far apart two sources may be by default, as a share of the larger.
const DIFFERENCE_MAX: f64 = 0.01;

/// Sources of one fact that are shown.
const SHOWN_MAX: usize = 10;

fn judge(facts: &Facts) -> Vec<Finding> {
    let mut by_fact: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in &facts.sources {
        by_fact.entry(&source.fact).or_default().push(source);
    }
    by_fact.values().filter_map(|sources| find(sources)).collect()
}

fn find(sources: &[&Source]) -> Option<Finding> {
    let family = sources.first()?.value.family;
    if sources.iter().any(|source| source.value.family != family) {
        return None;
    }
    let by_value = |a: &&&Source, b: &&&Source| a.value.value.total_cmp(&b.value.value);
    let (low, high) = (sources.iter().min_by(by_value)?, sources.iter().max_by(by_value)?);
    let given = sources.iter().filter_map(|source| source.tolerance).map(|it| it.value).reduce(f64::max);
    let larger = low.value.value.abs().max(high.value.value.abs());
    if high.value.value - low.value.value <= given.unwrap_or(larger * DIFFERENCE_MAX) {
        return None;
    }
    let shown = sources.iter().take(SHOWN_MAX);
    Some(Finding {
        severity: Severity::Warning,
        strength: Strength::Arithmetic,
        claim: AuditClaim::SourcesDisagree {
            fact: low.fact.clone(),
            low: figure(low.value),
            low_source: low.source.clone(),
            high: figure(high.value),
            high_source: high.source.clone(),
        },
        evidence: shown
            .map(|it| {
                Figure::new(FigureLabel::Named(it.source.clone()), it.value.value, unit_of(it.value.family))
            })
            .collect(),
        place: high.place.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;
    use super::*;

    #[test]
    fn sources_agree() {
        let sources = |value: &str, tolerance: &str| {
            format!("fact,source,value,tolerance\nflows,k6,1336,{tolerance}\nflows,logs,{value},\n")
        };
        check(judge, &sources("300", ""), true);
        check(judge, &sources("1323", ""), false);
        check(judge, &sources("1322", ""), true);
        check(judge, &sources("1322", "14"), false);
        check(judge, &sources("300 s", ""), false);
    }
}
