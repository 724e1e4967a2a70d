//! A peak read from a handful of points.

use model::audit::AuditClaim;
use model::{AuditRule, Figure, FigureLabel, Finding, Severity, Strength, Unit};

use super::Rule;
use crate::audit::kinds::{Facts, Scrape};

pub(super) const RULE: Rule = Rule { id: AuditRule::TooFewPoints, input: |facts| facts.scrapes.len(), judge };

/// The error that a statement about the largest point may have.
const ERROR_MAX: f64 = 0.05;

/// The share of the run that the largest point has to be above to be called its peak.
const SHARE_MIN: f64 = 0.9;

fn judge(facts: &Facts) -> Vec<Finding> {
    facts.scrapes.iter().filter_map(find).collect()
}

fn find(scrape: &Scrape) -> Option<Finding> {
    if scrape.step <= 0.0 || scrape.span <= 0.0 {
        return None;
    }
    let points = (scrape.span / scrape.step).floor().max(1.0);
    // The largest of n points lies below the quantile q with probability qⁿ (order statistics, Wilks 1941).
    let share = ERROR_MAX.powf(1.0 / points);
    let needed = (ERROR_MAX.ln() / SHARE_MIN.ln()).ceil();
    (points < needed).then(|| Finding {
        severity: Severity::Warning,
        strength: Strength::Statistics,
        claim: AuditClaim::TooFewPoints {
            series: scrape.series.clone(),
            points,
            span_s: scrape.span,
            step_s: scrape.step,
            step_max_s: (scrape.span / needed).floor().max(1.0),
        },
        evidence: vec![
            Figure::new(FigureLabel::Step, scrape.step, Unit::Seconds),
            Figure::new(FigureLabel::Points, points, Unit::Count),
            Figure::new(FigureLabel::ShareBelowLargest, share * 100.0, Unit::Percent),
            Figure::new(FigureLabel::PointsNeeded, needed, Unit::Count),
        ],
        place: scrape.place.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;
    use super::*;

    #[test]
    fn peaks_need_points() {
        let scrape = |step: &str, span: &str| format!("series,step,span\nx,{step},{span}\n");
        check(judge, &scrape("30s", "243s"), true);
        check(judge, &scrape("1s", "28s"), true);
        check(judge, &scrape("1s", "29s"), false);
        check(judge, &scrape("0s", "243s"), false);
    }
}
