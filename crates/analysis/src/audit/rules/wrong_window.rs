//! The analysed time is not the run's.

use model::{Figure, Finding, Severity, Strength, Unit};

use super::{Rule, say};
use crate::audit::kinds::{Facts, Window};
use crate::audit::moment;

pub(super) const RULE: Rule =
    Rule { name: "wrong-window", about: "the analysed window does not match the run", judge };

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
        rule: RULE.name,
        severity: Severity::Error,
        strength: Strength::Arithmetic,
        claim: format!(
            "the analysed window does not match the run: it begins {} and ends {}",
            offset(late_s, "after its start", "before its start"),
            offset(over_s, "after its end", "before its end"),
        ),
        evidence: vec![
            Figure::text("run start", moment::show(window.started)),
            Figure::text("run end", moment::show(window.ended)),
            Figure::new("run duration", run_s, Unit::Seconds),
            Figure::text("analysis start", moment::show(window.claimed_from)),
            Figure::text("analysis end", moment::show(window.claimed_to)),
            Figure::new("share of the window outside the run", outside_s / claimed_s * 100.0, Unit::Percent),
        ],
        implies: format!(
            "over the analysed {}, rates are {} of the run's, start values are not the run's, and averages include idle time",
            say(claimed_s, Unit::Seconds),
            say(run_s / claimed_s * 100.0, Unit::Percent),
        ),
        remedy: "take start and end from the load generator's record, and query every series with these two timestamps"
            .to_owned(),
        caveats: Vec::new(),
        place: window.place.clone(),
    })
}

fn offset(off_s: f64, after: &str, before: &str) -> String {
    format!("{} {}", say(off_s.abs(), Unit::Seconds), if off_s < 0.0 { before } else { after })
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
