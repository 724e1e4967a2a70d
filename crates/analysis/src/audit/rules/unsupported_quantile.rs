//! A percentile that needs more samples than there are.

use model::{Figure, Finding, Severity, Strength, Unit};

use super::{Rule, say};
use crate::audit::kinds::{Facts, QuantileClaim};
use crate::laws::dependence;

pub(super) const RULE: Rule =
    Rule { name: "unsupported-quantile", about: "a percentile needs more samples than there are", judge };

fn judge(facts: &Facts) -> Vec<Finding> {
    facts.quantiles.iter().filter_map(find).collect()
}

fn find(claim: &QuantileClaim) -> Option<Finding> {
    let samples = claim.samples?;
    let needed = dependence::samples_for_quantile(claim.quantile / 100.0)?;
    let lag1 = claim.lag1.unwrap_or(0.0);
    let independent = dependence::independent(samples, lag1)?;
    (independent < needed).then(|| Finding {
        rule: RULE.name,
        severity: Severity::Warning,
        strength: Strength::Statistics,
        claim: format!(
            "p{} of {} needs {} independent samples and has {}",
            claim.quantile,
            claim.metric,
            say(needed, Unit::Count),
            say(independent.floor(), Unit::Count)
        ),
        evidence: vec![
            Figure::new("values", samples, Unit::Count),
            Figure::new("lag-1 autocorrelation", lag1, Unit::Count),
            Figure::new("effective sample size", independent, Unit::Count),
            Figure::new("samples needed for a 95 % upper bound", needed, Unit::Count),
        ],
        implies: format!(
            "p{} rests on a few extreme values: repeating the run changes it, so a difference is not evidence of a regression",
            claim.quantile
        ),
        remedy: format!("measure longer, or report a percentile that {} samples support", say(independent.floor(), Unit::Count)),
        caveats: Vec::new(),
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
