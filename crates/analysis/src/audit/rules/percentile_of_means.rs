//! A percentile of means that is presented as one of requests.

use model::{Figure, Finding, Severity, Strength, Unit};

use super::Rule;
use crate::audit::kinds::{Facts, QuantileClaim};

pub(super) const RULE: Rule = Rule {
    name: "percentile-of-means",
    about: "a percentile of means is presented as a percentile of requests",
    judge,
};

fn judge(facts: &Facts) -> Vec<Finding> {
    facts.quantiles.iter().filter_map(find).collect()
}

fn find(claim: &QuantileClaim) -> Option<Finding> {
    let is_of_means = claim.of.to_lowercase().contains("mean");
    let presented = claim.presented_as.as_deref()?;
    if !is_of_means || presented.to_lowercase().contains("mean") {
        return None;
    }
    let mut evidence =
        vec![Figure::text("computed from", claim.of.clone()), Figure::text("presented as", presented)];
    evidence.extend(claim.samples.map(|samples| Figure::new("means", samples, Unit::Count)));
    Some(Finding {
        rule: RULE.name,
        severity: Severity::Error,
        strength: Strength::Arithmetic,
        claim: format!("p{} of {} is computed from {}, not from {presented}", claim.quantile, claim.metric, claim.of),
        evidence,
        implies: "means hide slow requests: the percentile of requests is higher than the reported one, by an amount the means do not reveal"
            .to_owned(),
        remedy: "compute percentiles of requests from mergeable histograms, or label this one as a percentile of means".to_owned(),
        caveats: Vec::new(),
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
