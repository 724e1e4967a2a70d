//! Levels whose measurement is DEGRADED: the seconds and the objectives that the fault does not touch count, with less weight.

use std::collections::BTreeSet;

use analysis::capacity::sight::{Rule, Sight, WEIGHT_DEGRADED};
use model::capacity::LoadUnit;
use model::{Fault, Grade, Reason, Validity};

use super::{Held, OF_TARGET};

/// The measurements that a fault of the load generator changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Touch {
    /// None: it came near a limit, or is about the wall clock.
    Nothing,
    /// Times, which it makes longer.
    Times,
    /// All: load was not offered, requests failed in the generator, or data is lost.
    Everything,
}

const fn touch(fault: Fault) -> Touch {
    match fault {
        Fault::Ports | Fault::Descriptors | Fault::Clock => Touch::Nothing,
        Fault::StartLag
        | Fault::WorkerCpu
        | Fault::Throttled
        | Fault::RunDelay
        | Fault::Steal
        | Fault::TimerLag => Touch::Times,
        _ => Touch::Everything,
    }
}

/// At most this part of a level is left out because its generator was late; of a level that was late more often, nothing counts.
const DISTURBED_MAX: f64 = 1.0 / 3.0;

/// Returns the windows in which the generator was late, where the others count without them: they are few, and nothing else is wrong.
/// Empty where there are none, or the rest does not count.
pub(super) fn disturbed(validity: &Validity) -> BTreeSet<u32> {
    let bad = || validity.reasons.iter().filter(|reason| reason.grade > Grade::Valid);
    let is_late = |reason: &&Reason| !is_of_target(reason.fault) && touch(reason.fault) == Touch::Times;
    let windows: BTreeSet<u32> =
        bad().filter(is_late).flat_map(|it| it.windows.iter().cloned().flatten()).collect();
    let is_apart = validity.grade == Grade::Degraded
        && bad().filter(is_late).all(|reason| !reason.windows.is_empty())
        && windows.len() as f64 <= validity.windows.len() as f64 * DISTURBED_MAX;
    if is_apart { windows } else { BTreeSet::new() }
}

fn is_of_target(fault: Fault) -> bool {
    OF_TARGET.contains(&fault)
}

/// Returns the weight of an objective's measurement at a level of this validity, which is not that of a valid level: none
/// where a fault touches it, otherwise less than a valid one. A fault does not touch what was measured without the seconds of
/// [`disturbed`], where there are any (`is_apart`).
///
/// A fault that makes times longer proves no violation. A time that is within its limit all the same is within it without the
/// fault, if the load was offered: an arrival rate is, and VUs that wait for a core offer less.
pub(super) fn weighed(
    sight: Sight,
    held: Option<&Held>,
    validity: &Validity,
    unit: LoadUnit,
    is_apart: bool,
) -> Sight {
    let nothing = |sight: Sight| Sight { rule: Rule::Whole { holds: None }, seconds: Vec::new(), ..sight };
    if validity.grade != Grade::Degraded {
        return nothing(sight);
    }
    let bad = validity.reasons.iter().filter(|reason| reason.grade > Grade::Valid);
    let is_time = held.is_none_or(|held| held.is_time() || !held.is_share());
    let is_kept = sight.holds().is_some_and(|holds| holds >= 0.5);
    let holds_anyway = unit == LoadUnit::PerSecond && held.is_some_and(Held::is_upper) && is_kept;
    let touches = |fault: Fault| match touch(fault) {
        _ if is_of_target(fault) => false,
        Touch::Nothing => false,
        Touch::Times => is_time && !holds_anyway && !is_apart,
        Touch::Everything => true,
    };
    if bad.map(|reason| reason.fault).any(touches) {
        return nothing(sight);
    }
    Sight { weight: WEIGHT_DEGRADED, ..sight }
}

#[cfg(test)]
mod tests {
    use analysis::capacity::sight::WEIGHT_FULL;
    use model::{Amount, MetricRegistry};

    use super::super::parse_all;
    use super::*;

    #[test]
    fn objectives_that_a_fault_does_not_touch_count_with_less_weight() {
        let check = |objective: &str, share: f64, faults: &[Fault], unit, expect: Option<f64>| {
            let asked = parse_all(&[objective.to_owned()]).expect("an objective");
            let held = asked[0].held(&MetricRegistry::default()).expect("a condition");
            let rule = held.as_ref().expect("a built-in metric").rule();
            let sight = Sight {
                rule,
                value: Some(42.0),
                seconds: vec![(share * 20.0, 20.0); 20],
                weight: WEIGHT_FULL,
            };
            let reason = |fault: &Fault| Reason {
                fault: *fault,
                grade: Grade::Degraded,
                observed: Amount::Count(2.0),
                limit: Amount::Count(1.0),
                windows: Vec::new(),
            };
            let reasons = faults.iter().map(reason).collect();
            let validity = Validity { grade: Grade::Degraded, reasons, ..Validity::default() };
            let weighed = weighed(sight, held.as_ref(), &validity, unit, false);
            let weight = weighed.holds().map(|_| weighed.weight);
            assert_eq!(weight, expect, "{objective} {share} {faults:?}");
        };
        use LoadUnit::{PerSecond, Vus};
        let (time, failed) = ("http_req_duration: p(95)<800", "http_req_failed: rate<0.01");
        check(time, 0.0, &[Fault::RunDelay], PerSecond, Some(WEIGHT_DEGRADED));
        check(time, 0.0, &[Fault::RunDelay], Vus, None);
        check(time, 1.0, &[Fault::RunDelay], PerSecond, None);
        check("http_req_duration: p(95)>800", 0.0, &[Fault::RunDelay], PerSecond, None);
        check(failed, 1.0, &[Fault::RunDelay, Fault::DroppedByTarget], Vus, Some(WEIGHT_DEGRADED));
        check(failed, 0.0, &[Fault::Exhausted], PerSecond, None);
        check(failed, 0.0, &[Fault::RunDelay, Fault::WindowsLost], PerSecond, None);
        check(time, 1.0, &[Fault::Ports], Vus, Some(WEIGHT_DEGRADED));
        check("http_reqs: rate>5", 0.0, &[Fault::RunDelay], Vus, None);
    }
    #[test]
    fn few_seconds_in_which_the_generator_was_late_are_left_out() {
        let check = |grade, reasons: &[(Fault, &[std::ops::Range<u32>])], expect: &[u32]| {
            let reason = |(fault, windows): &(Fault, &[std::ops::Range<u32>])| Reason {
                fault: *fault,
                grade,
                observed: Amount::Milliseconds(18.5),
                limit: Amount::Milliseconds(10.0),
                windows: windows.to_vec(),
            };
            let reasons = reasons.iter().map(reason).collect();
            let windows = (0..20).map(|index| (index, Grade::Valid)).collect();
            let validity = Validity { grade, reasons, windows, ..Validity::default() };
            let found: Vec<u32> = disturbed(&validity).into_iter().collect();
            assert_eq!(found, expect, "{validity:?}");
        };
        let (few, many) = ([3..4, 12..14], [0..4, 5..9]);
        check(Grade::Degraded, &[(Fault::TimerLag, &few)], &[3, 12, 13]);
        check(Grade::Degraded, &[(Fault::TimerLag, &few), (Fault::Unsteady, &many)], &[3, 12, 13]);
        check(Grade::Degraded, &[(Fault::TimerLag, &many)], &[]);
        check(Grade::Degraded, &[(Fault::TimerLag, &few), (Fault::WorkerCpu, &[])], &[]);
        check(Grade::Invalid, &[(Fault::TimerLag, &few)], &[]);
        check(Grade::Degraded, &[(Fault::Exhausted, &few)], &[]);
    }
}
