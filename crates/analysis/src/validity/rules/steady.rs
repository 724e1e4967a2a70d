//! A load that stays the same and a target whose times do not: one number for the whole run then means little.

use model::{Amount, Fault};

use crate::steady::{Steady, Unsteady, steady_part};
use crate::validity::judge::{Case, Limits, Ruling, ranges};

/// A smaller change of level is a remark. It is the target's and no fault of the measurement, so it is never invalid.
const CHANGE: Limits = Limits::new(0.25, f64::INFINITY);

/// Smaller changes are imperceptible, milliseconds.
const CHANGE_MS_MIN: f64 = 1.0;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let is_constant = case.facts.scenarios.iter().all(|scenario| scenario.is_constant);
    let timed = case.seconds.iter().filter(|second| second.timed > 0);
    let levels: Vec<(u32, f64)> =
        timed.map(|second| (second.index, second.duration_ms / second.timed as f64)).collect();
    let values: Vec<f64> = levels.iter().map(|(_, level)| *level).collect();
    let Steady::Never(why) = steady_part(&values) else { return Ruling::Fine };
    let (at, before, after) = match why {
        _ if !is_constant => return Ruling::NotApplicable,
        Unsteady::TooShort { .. } => return Ruling::NotApplicable,
        Unsteady::StillWarmingUp => {
            let (first, second) = values.split_at(values.len() / 2);
            (first.len(), mean(first), mean(second))
        }
        Unsteady::LevelShift { at_s, before, after } => (at_s, before, after),
    };
    let is_felt = (after - before).abs() > CHANGE_MS_MIN;
    let change = if is_felt { (after - before).abs() / before.max(f64::MIN_POSITIVE) } else { 0.0 };
    let ruling = case.by_run(Fault::Unsteady, Amount::Share, CHANGE, change);
    let Ruling::Bad(reason, _) = ruling else { return ruling };
    // Where it changed; neither side of it is worse than the other.
    let windows = ranges(levels.get(at).map(|(index, _)| *index).into_iter());
    Ruling::Bad(model::Reason { windows, ..reason }, Vec::new())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use model::Grade;

    use super::*;
    use crate::validity::testing::{Run, grade, ruling};

    /// Times that wander a little, and from the middle of the run on are this much longer.
    fn shifting(by: f64) -> Run {
        Run::clean(60).change(|index, second| {
            second.duration_ms = 20.0 + f64::from(index * 7 % 5) / 5.0;
            if index >= 30 {
                second.duration_ms *= by;
            }
        })
    }

    #[test]
    fn a_level_that_changes_is_told() {
        assert_eq!(grade(Fault::Unsteady, &shifting(1.0)), Grade::Valid);
        assert_eq!(grade(Fault::Unsteady, &shifting(1.2)), Grade::Valid);
        assert_eq!(grade(Fault::Unsteady, &shifting(1.4)), Grade::Degraded);
        assert_eq!(grade(Fault::Unsteady, &shifting(9.0)), Grade::Degraded);
    }

    #[test]
    fn changing_load_changes_times() {
        let mut facts = shifting(1.4).facts();
        facts.scenarios[0].is_constant = false;
        assert_eq!(ruling(Fault::Unsteady, &Case::new(&facts)), Ruling::NotApplicable);
    }

    #[test]
    fn a_short_run_has_no_level() {
        let mut run = shifting(1.4);
        run.seconds.truncate(19);
        assert_eq!(ruling(Fault::Unsteady, &Case::new(&run.facts())), Ruling::NotApplicable);
    }
}
