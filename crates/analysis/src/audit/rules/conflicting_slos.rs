//! Two limits for one figure.

use model::audit::AuditClaim;
use model::{AuditRule, Figure, FigureLabel, Finding, Severity, Strength};

use super::{Rule, figure, unit_of};
use crate::audit::kinds::{Criterion, Facts};

pub(super) const RULE: Rule =
    Rule { id: AuditRule::ConflictingSlos, input: |facts| facts.criteria.len(), judge };

/// Criteria that are compared with each other. Each is compared with all before it.
const CRITERIA_MAX: usize = 1_000;

fn judge(facts: &Facts) -> Vec<Finding> {
    let criteria = &facts.criteria[..facts.criteria.len().min(CRITERIA_MAX)];
    let pairs = criteria.iter().enumerate().filter_map(|(index, later)| {
        let earlier = criteria[..index].iter().find(|earlier| conflict(earlier, later))?;
        Some(find(earlier, later))
    });
    pairs.collect()
}

fn conflict(a: &Criterion, b: &Criterion) -> bool {
    let is_same = a.metric.eq_ignore_ascii_case(&b.metric) && a.statistic.eq_ignore_ascii_case(&b.statistic);
    is_same && a.target.family == b.target.family && a.target.value != b.target.value
}

fn find(earlier: &Criterion, later: &Criterion) -> Finding {
    let limit = |criterion: &Criterion| {
        Figure::new(
            FigureLabel::LimitIn(criterion.place.clone()),
            criterion.target.value,
            unit_of(criterion.target.family),
        )
    };
    let measured = later.measured.or(earlier.measured);
    let mut evidence = vec![limit(earlier), limit(later)];
    evidence.extend(measured.map(|it| Figure::new(FigureLabel::Measured, it.value, unit_of(it.family))));
    Finding {
        severity: Severity::Warning,
        strength: Strength::Arithmetic,
        claim: AuditClaim::LimitsConflict {
            statistic: later.statistic.clone(),
            metric: later.metric.clone(),
            first: figure(earlier.target),
            second: figure(later.target),
        },
        evidence,
        place: later.place.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;
    use super::*;

    #[test]
    fn a_figure_has_one_limit() {
        let criteria = |metric: &str, statistic: &str, target: &str| {
            format!(
                "metric,statistic,target,measured\ne2e,p95,30s,83.3s\n{metric},{statistic},{target},83.3s\n"
            )
        };
        check(judge, &criteria("E2E", "P95", "60s"), true);
        check(judge, &criteria("e2e", "p95", "30000ms"), false);
        check(judge, &criteria("e2e", "avg", "20s"), false);
        check(judge, &criteria("poll", "p95", "500ms"), false);
    }
}
