//! A wall clock that is set while the run goes on. Times of requests are of the monotonic clock and do not suffer; what
//! happened when, beside the target's own records, does.

use model::{Amount, Fault, Grade};

use crate::validity::facts::ClockAnchor;
use crate::validity::judge::{Case, Limits, Ruling};

/// A clock that is only slewed moves half a millisecond a second (adjtimex(2)), milliseconds.
const STEP_MS: Limits = Limits::new(100.0, f64::INFINITY);

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let anchors = case.facts.anchors();
    if anchors.len() < 2 {
        return Ruling::Unmeasured;
    }
    let steps = anchors.windows(2).map(|pair| (pair[1], step_ms(pair[0], pair[1]).abs()));
    let bad: Vec<(ClockAnchor, f64)> = steps.filter(|(_, step)| *step > STEP_MS.degraded).collect();
    let worst = bad.iter().map(|(_, step)| *step).fold(0.0, f64::max);
    let ruling = case.by_run(Fault::Clock, Amount::Milliseconds, STEP_MS, worst);
    let Ruling::Bad(reason, _) = ruling else { return ruling };
    let window = |(anchor, _): &(ClockAnchor, f64)| {
        case.all.iter().rev().find(|second| second.start < anchor.at).map(|second| second.index)
    };
    let indexes: Vec<u32> = bad.iter().filter_map(window).collect();
    let windows = crate::validity::judge::ranges(indexes.iter().copied());
    let bad = indexes.into_iter().map(|index| (index, Grade::Degraded)).collect();
    Ruling::Bad(model::Reason { windows, ..reason }, bad)
}

/// By how much the wall clock moved more than the monotonic one.
fn step_ms(from: ClockAnchor, to: ClockAnchor) -> f64 {
    let wall_ns = i128::from(to.wall_unix_ns) - i128::from(from.wall_unix_ns);
    let monotonic_ns = i128::from(to.at.as_ns()) - i128::from(from.at.as_ns());
    (wall_ns - monotonic_ns) as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validity::testing::{Run, grade, ruling};

    #[track_caller]
    fn check(step_ms: i64, expect: Grade) {
        let run = Run::clean(30).change(|index, second| {
            if index == 9 {
                second.clock_step_ms = step_ms;
            }
        });
        assert_eq!(grade(Fault::Clock, &run), expect, "a step of {step_ms} ms");
    }

    #[test]
    fn a_step_is_seen_in_both_directions() {
        check(0, Grade::Valid);
        check(100, Grade::Valid);
        check(101, Grade::Degraded);
        check(-3_600_000, Grade::Degraded);
    }

    #[test]
    fn the_window_of_the_step_is_named() {
        let run = Run::clean(30).change(|index, second| {
            if index == 9 {
                second.clock_step_ms = 5_000;
            }
        });
        let facts = run.facts();
        let Ruling::Bad(reason, _) = ruling(Fault::Clock, &Case::new(&facts)) else {
            panic!("it was stepped")
        };
        assert_eq!(
            (reason.windows, reason.observed),
            (std::iter::once(9..10).collect(), Amount::Milliseconds(5_000.0))
        );
    }

    #[test]
    fn one_look_at_the_clock_says_nothing() {
        assert_eq!(grade(Fault::Clock, &Run::clean(1)), Grade::Unmeasured);
    }
}
