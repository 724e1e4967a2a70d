//! A percentile that needs more samples than there are.

use model::audit::AuditClaim;
use model::{AuditRule, Figure, FigureLabel, Finding, Severity, Strength, Unit};

use super::Rule;
use crate::audit::kinds::{Facts, QuantileClaim};
use crate::laws::dependence;

pub(super) const RULE: Rule =
    Rule { id: AuditRule::UnsupportedQuantile, input: |facts| facts.quantiles.len(), judge };

fn judge(facts: &Facts) -> Vec<Finding> {
    facts.quantiles.iter().filter_map(find).collect()
}

fn find(claim: &QuantileClaim) -> Option<Finding> {
    let samples = claim.samples?;
    let needed = dependence::samples_for_quantile(claim.quantile / 100.0)?;
    let lag1 = claim.lag1.unwrap_or(0.0);
    let independent = dependence::independent(samples, lag1)?;
    (independent < needed).then(|| Finding {
        severity: Severity::Warning,
        strength: Strength::Statistics,
        claim: AuditClaim::QuantileUnsupported {
            metric: claim.metric.clone(),
            quantile: claim.quantile,
            needed,
            independent: independent.floor(),
        },
        evidence: vec![
            Figure::new(FigureLabel::Values, samples, Unit::Count),
            Figure::new(FigureLabel::Autocorrelation, lag1, Unit::Count),
            Figure::new(FigureLabel::EffectiveSampleSize, independent, Unit::Count),
            Figure::new(FigureLabel::SamplesNeeded, needed, Unit::Count),
        ],
        place: claim.place.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;
    use super::*;

    #[test]
    fn quantiles_need_values() {
        let claim = |quantile: &str, samples: u32, lag1: &str| {
            format!("metric,quantile,of,samples,lag1\nttfb,{quantile},requests,{samples},{lag1}\n")
        };
        check(judge, &claim("95", 59, ""), false);
        check(judge, &claim("95", 58, ""), true);
        check(judge, &claim("99.9", 2995, ""), false);
        check(judge, &claim("99.9", 2994, ""), true);
        check(judge, &claim("95", 586, "0.87"), true);
        check(judge, &claim("95", 586, "0.5"), false);
        check(judge, &claim("100", 1, ""), false);
    }
}
