//! A peak read from a handful of points.

use model::{Figure, Finding, Severity, Strength, Unit};

use super::{Rule, say};
use crate::audit::kinds::{Facts, Scrape};

pub(super) const RULE: Rule =
    Rule { name: "too-few-points", about: "a peak or a trend is based on too few points", judge };

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
        rule: RULE.name,
        severity: Severity::Warning,
        strength: Strength::Statistics,
        claim: format!(
            "{} has {} points over {}: too few to identify a peak",
            scrape.series,
            say(points, Unit::Count),
            say(scrape.span, Unit::Seconds)
        ),
        evidence: vec![
            Figure::new("step", scrape.step, Unit::Seconds),
            Figure::new("points", points, Unit::Count),
            Figure::new(
                "share of the run below the largest point (95 % confidence)",
                share * 100.0,
                Unit::Percent,
            ),
            Figure::new("points needed for 90 %", needed, Unit::Count),
        ],
        implies: format!(
            "the true peak may be missing, and the time of the observed peak is uncertain by ±{}",
            say(scrape.step, Unit::Seconds)
        ),
        remedy: format!(
            "scrape at least every {}, with a rate() range of at least four scrape intervals",
            say((scrape.span / needed).floor().max(1.0), Unit::Seconds)
        ),
        caveats: vec!["autocorrelated points carry even less information".to_owned()],
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
