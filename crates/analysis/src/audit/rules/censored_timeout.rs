//! Timeouts that are treated as values.

use model::{Figure, Finding, Severity, Strength, Unit};

use super::{Rule, say};
use crate::audit::kinds::{Facts, Summary};

pub(super) const RULE: Rule = Rule {
    name: "censored-timeout",
    about: "timed-out requests are counted with the timeout as their duration",
    judge,
};

/// Time that a timed-out request may take beyond the timeout, as a share of it.
const OVER_SHARE_MAX: f64 = 0.01;

fn judge(facts: &Facts) -> Vec<Finding> {
    facts.summaries.iter().filter_map(find).collect()
}

fn find(summary: &Summary) -> Option<Finding> {
    let (timeout, max) = (summary.timeout.filter(|timeout| *timeout > 0.0)?, summary.max?);
    if !(timeout..=timeout * (1.0 + OVER_SHARE_MAX)).contains(&max) {
        return None;
    }
    let mut evidence =
        vec![Figure::new("maximum time", max, Unit::Seconds), Figure::new("timeout", timeout, Unit::Seconds)];
    evidence.extend(summary.failed.map(|failed| Figure::new("failed requests", failed, Unit::Count)));
    Some(Finding {
        rule: RULE.name,
        severity: Severity::Warning,
        strength: Strength::Limit,
        claim: format!(
            "{}: the maximum equals the timeout of {}, so it is a lower bound (≥), not a measurement",
            summary.metric,
            say(timeout, Unit::Seconds)
        ),
        evidence,
        implies: "timed-out requests would have taken longer: the mean, the maximum and every percentile among them are lower bounds"
            .to_owned(),
        remedy: "treat timed-out requests as right-censored: percentiles below them stay exact, percentiles among them are lower bounds, and the mean is undefined"
            .to_owned(),
        caveats: Vec::new(),
        place: summary.place.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;
    use super::*;

    #[test]
    fn the_timeout_is_a_bound() {
        let summary = |timeout: &str, max: &str| format!("metric,timeout,max\nduration,{timeout},{max}\n");
        check(judge, &summary("60s", "1m0s"), true);
        check(judge, &summary("60s", "60.6s"), true);
        check(judge, &summary("60s", "60.7s"), false);
        check(judge, &summary("60s", "59.9s"), false);
        check(judge, &summary("", "60s"), false);
    }
}
