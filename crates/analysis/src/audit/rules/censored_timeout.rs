//! Timeouts that are treated as values.

use model::audit::AuditClaim;
use model::{AuditRule, Figure, FigureLabel, Finding, Severity, Strength, Unit};

use super::Rule;
use crate::audit::kinds::{Facts, Summary};

pub(super) const RULE: Rule =
    Rule { id: AuditRule::CensoredTimeout, input: |facts| facts.summaries.len(), judge };

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
    let mut evidence = vec![
        Figure::new(FigureLabel::MaximumTime, max, Unit::Seconds),
        Figure::new(FigureLabel::Timeout, timeout, Unit::Seconds),
    ];
    evidence
        .extend(summary.failed.map(|failed| Figure::new(FigureLabel::FailedRequests, failed, Unit::Count)));
    Some(Finding {
        severity: Severity::Warning,
        strength: Strength::Limit,
        claim: AuditClaim::MaximumIsTimeout { metric: summary.metric.clone(), timeout_s: timeout },
        evidence,
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
