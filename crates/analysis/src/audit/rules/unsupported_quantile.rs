//! A quantile that lies beyond what so few values can tell.

use model::{Figure, Finding, Severity, Strength, Unit};

use super::{Rule, say};
use crate::audit::kinds::{Facts, QuantileClaim};
use crate::laws::dependence;

pub(super) const RULE: Rule =
    Rule { name: "unsupported-quantile", about: "a quantile needs more values than there are", judge };

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
            "p{} of {} needs {} independent values and has {}",
            claim.quantile,
            claim.metric,
            say(needed, Unit::Count),
            say(independent.floor(), Unit::Count)
        ),
        evidence: vec![
            Figure::new("values", samples, Unit::Count),
            Figure::new("correlation of neighbours", lag1, Unit::Count),
            Figure::new("worth this many independent ones", independent, Unit::Count),
            Figure::new("needed for an upper bound with 95 % confidence", needed, Unit::Count),
        ],
        implies: format!(
            "p{} is a few extreme values of this run: another run of the same system gives another figure, and a change of it \
             proves nothing",
            claim.quantile
        ),
        remedy: format!("measure longer, or report the quantile that {} values support", say(independent.floor(), Unit::Count)),
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
