//! A printed change that does not follow from the figures beside it.

use model::audit::AuditClaim;
use model::{AuditRule, Figure, FigureLabel, Finding, Severity, Strength, Unit};

use super::{Rule, figure, unit_of};
use crate::audit::kinds::{Change, Facts};
use crate::laws::change::{self, Recomputed};

pub(super) const RULE: Rule =
    Rule { id: AuditRule::ChangeArithmetic, input: |facts| facts.changes.len(), judge };

fn judge(facts: &Facts) -> Vec<Finding> {
    facts.changes.iter().flat_map(|it| [unexplained(it), mismarked(it)]).flatten().collect()
}

/// The percentage does not follow.
fn unexplained(change: &Change) -> Option<Finding> {
    let before = change.before?;
    let found = change::recompute(change)?;
    let Recomputed { printed, exact, allowed, points } = found;
    if found.follows() {
        return None;
    }
    let off = (printed - exact).abs();
    let mut evidence = vec![
        Figure::new(FigureLabel::Before, before.value, unit_of(before.family)),
        Figure::new(FigureLabel::After, change.after.value, unit_of(change.after.family)),
        Figure::new(FigureLabel::ReportedChange, printed, Unit::Percent),
        Figure::new(FigureLabel::ActualChange, exact, Unit::Percent),
        Figure::new(FigureLabel::ChangeDifference, off, Unit::Points),
        Figure::new(FigureLabel::RoundingTolerance, allowed, Unit::Points),
    ];
    evidence.extend(points.map(|points| Figure::new(FigureLabel::PointsDifference, points, Unit::Points)));
    Some(Finding {
        severity: Severity::Error,
        strength: Strength::Arithmetic,
        claim: AuditClaim::ChangeWrong {
            metric: change.metric.clone(),
            before: figure(before),
            after: figure(change.after),
            actual_percent: exact,
            reported_percent: printed,
        },
        evidence,
        place: change.place.clone(),
    })
}

/// The change is marked good where the metric says bad, or the other way round.
fn mismarked(change: &Change) -> Option<Finding> {
    let (before, mark, good_when) = (change.before?, change.mark.as_deref()?, change.good_when.as_deref()?);
    if before.family != change.after.family || before.value == change.after.value {
        return None;
    }
    let is_up = change.after.value > before.value;
    let is_good = match good_when {
        "up" => is_up,
        "down" => !is_up,
        _ => return None,
    };
    let is_marked_good = match mark {
        "good" => true,
        "bad" => false,
        _ => return None,
    };
    (is_good != is_marked_good).then(|| Finding {
        severity: Severity::Error,
        strength: Strength::Arithmetic,
        claim: AuditClaim::ChangeMismarked {
            metric: change.metric.clone(),
            before: figure(before),
            after: figure(change.after),
            is_marked_good,
            is_higher_better: good_when == "up",
        },
        evidence: vec![
            Figure::new(FigureLabel::Before, before.value, unit_of(before.family)),
            Figure::new(FigureLabel::After, change.after.value, unit_of(change.after.family)),
        ],
        place: change.place.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;
    use super::*;

    #[test]
    fn changes_follow_from_their_figures() {
        let change = |before: &str, after: &str, printed: &str| {
            format!("metric,before,after,change\nm,{before},{after},{printed}\n")
        };
        check(judge, &change("58.82", "88.51", "50.27%"), true);
        check(judge, &change("58.82", "88.51", "50.48%"), false);
        check(judge, &change("100", "110", "10.10%"), false);
        check(judge, &change("100.0", "110.0", "10.20%"), true);
        // Printed in whole percent, and in points.
        check(judge, &change("94.0%", "100.0%", "+6%"), false);
        check(judge, &change("94.0%", "100.0%", "+8%"), true);
        check(judge, &change("90.00%", "99.90%", "+9.9%"), false);
        // Nothing to divide by.
        check(judge, &change("0", "3", "N/A"), false);
        check(judge, &change("0", "3", "12%"), false);
    }

    #[test]
    fn marks_follow_from_the_direction() {
        let change = |after: &str, good_when: &str, mark: &str| {
            format!("metric,before,after,good_when,mark\nm,100,{after},{good_when},{mark}\n")
        };
        check(judge, &change("110", "up", "good"), false);
        check(judge, &change("110", "up", "bad"), true);
        check(judge, &change("110", "down", "bad"), false);
        check(judge, &change("90", "down", "bad"), true);
        check(judge, &change("100", "down", "bad"), false);
        check(judge, &change("90", "sideways", "bad"), false);
    }
}
