//! The analysed time is not the run's.

use model::audit::AuditClaim;
use model::{AuditRule, Figure, FigureLabel, Finding, Severity, Strength, Unit};

use super::Rule;
use crate::audit::kinds::{Facts, Window};
use crate::audit::moment;

pub(super) const RULE: Rule = Rule { id: AuditRule::WrongWindow, input: |facts| facts.windows.len(), judge };

/// Tolerance of each end, as a share of the run: averages change by no more than that.
const OFF_SHARE_MAX: f64 = 0.02;

/// Tolerance of each end in any case, in seconds: clocks of different machines, and times without fractions.
const OFF_MAX_S: f64 = 1.0;

fn judge(facts: &Facts) -> Vec<Finding> {
    facts.windows.iter().filter_map(find).collect()
}

fn find(window: &Window) -> Option<Finding> {
    let run_s = window.ended - window.started;
    let (late_s, over_s) = (window.claimed_from - window.started, window.claimed_to - window.ended);
    let is_off = |off_s: f64| off_s.abs() > OFF_MAX_S && off_s.abs() > OFF_SHARE_MAX * run_s;
    // A window within the run is a choice, and says so by its figures; one that reaches beyond is a mistake.
    let is_inside = late_s >= 0.0 && over_s <= 0.0;
    if run_s <= 0.0 || is_inside || !(is_off(late_s) || is_off(over_s)) {
        return None;
    }
    let claimed_s = window.claimed_to - window.claimed_from;
    let before_s = (window.started - window.claimed_from).max(0.0);
    let outside_s = (before_s + over_s.max(0.0)).min(claimed_s);
    Some(Finding {
        severity: Severity::Error,
        strength: Strength::Arithmetic,
        claim: AuditClaim::WindowDiffers {
            begins_late_s: late_s,
            ends_late_s: over_s,
            analysed_s: claimed_s,
            rates_percent: run_s / claimed_s * 100.0,
        },
        evidence: vec![
            Figure::text(FigureLabel::RunStart, moment::show(window.started)),
            Figure::text(FigureLabel::RunEnd, moment::show(window.ended)),
            Figure::new(FigureLabel::RunDuration, run_s, Unit::Seconds),
            Figure::text(FigureLabel::AnalysisStart, moment::show(window.claimed_from)),
            Figure::text(FigureLabel::AnalysisEnd, moment::show(window.claimed_to)),
            Figure::new(FigureLabel::ShareOutsideRun, outside_s / claimed_s * 100.0, Unit::Percent),
        ],
        place: window.place.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;
    use super::*;

    #[test]
    fn windows_are_compared_with_the_run() {
        let window = |from: i64, to: i64| {
            let zero = 1_769_486_000;
            format!(
                "claimed_from,claimed_to,started,ended\n{},{},{zero},{}\n",
                zero + from,
                zero + to,
                zero + 200
            )
        };
        check(judge, &window(0, 200), false);
        check(judge, &window(-4, 204), false);
        check(judge, &window(-5, 200), true);
        check(judge, &window(0, 205), true);
        // The steady part of a run is a window too.
        check(judge, &window(60, 150), false);
        check(judge, &window(60, 205), true);
    }
}
