//! A percentile of means that is presented as one of requests.

use model::audit::AuditClaim;
use model::{AuditRule, Figure, FigureLabel, Finding, Severity, Strength, Unit};

use super::Rule;
use crate::audit::kinds::{Facts, QuantileClaim};

pub(super) const RULE: Rule =
    Rule { id: AuditRule::PercentileOfMeans, input: |facts| facts.quantiles.len(), judge };

fn judge(facts: &Facts) -> Vec<Finding> {
    facts.quantiles.iter().filter_map(find).collect()
}

fn find(claim: &QuantileClaim) -> Option<Finding> {
    let is_of_means = claim.of.to_lowercase().contains("mean");
    let presented = claim.presented_as.as_deref()?;
    if !is_of_means || presented.to_lowercase().contains("mean") {
        return None;
    }
    let mut evidence = vec![
        Figure::text(FigureLabel::ComputedFrom, claim.of.clone()),
        Figure::text(FigureLabel::PresentedAs, presented),
    ];
    evidence.extend(claim.samples.map(|samples| Figure::new(FigureLabel::Means, samples, Unit::Count)));
    Some(Finding {
        severity: Severity::Error,
        strength: Strength::Arithmetic,
        claim: AuditClaim::PercentileOfMeans {
            metric: claim.metric.clone(),
            quantile: claim.quantile,
            source: claim.of.clone(),
            presented_as: presented.to_owned(),
        },
        evidence,
        place: claim.place.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;
    use super::*;

    #[test]
    fn means_are_named_as_such() {
        let claim = |of: &str, presented: &str| {
            format!("metric,quantile,of,presented_as\nttfb,95,{of},{presented}\n")
        };
        check(judge, &claim("1-s means", "requests"), true);
        check(judge, &claim("1-s means", "1-s means"), false);
        check(judge, &claim("requests", "requests"), false);
        check(judge, &claim("1-s means", ""), false);
    }
}
