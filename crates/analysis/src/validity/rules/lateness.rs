//! Iterations that start after they are due: the load generator's own delay, which wrk2 corrects for.

use model::{Amount, Fault, Grade, Reason};

use crate::validity::judge::{Case, Limits, Ruling};

/// Less is below what timers and a busy machine do anyway, milliseconds.
const FLOOR_MS: f64 = 1.0;

/// Parts of what requests typically take.
const DEGRADED_SHARE: f64 = 0.05;
const INVALID_SHARE: f64 = 0.20;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    if !case.has_open_scenario() {
        return Ruling::NotApplicable;
    }
    let limits = limits(case.facts.whole.typical_ms.unwrap_or(0.0));
    let seconds =
        case.by_second(Fault::StartLag, Amount::Milliseconds, limits, |second| second.lateness_p99_ms);
    let Some(whole) = case.facts.whole.lateness_p99_ms else { return seconds };
    let run = case.by_run(Fault::StartLag, Amount::Milliseconds, limits, whole);
    match (run, seconds) {
        // Readers quote the percentile of the whole run. If few seconds determine it, excluding them fixes it.
        (Ruling::Bad(reason, _), Ruling::Bad(of_seconds, bad)) => {
            let grade = of_seconds.grade.max(Grade::Degraded);
            Ruling::Bad(Reason { grade, windows: of_seconds.windows, ..reason }, bad)
        }
        (run @ Ruling::Bad(..), _) => run,
        (_, Ruling::Bad(reason, bad)) => {
            let grade = of_seconds_alone(&bad, case.seconds.len());
            Ruling::Bad(Reason { grade, ..reason }, bad)
        }
        (_, seconds) => seconds,
    }
}

/// The grade by late seconds of a run whose own percentile is fine, and so fewer than one start in a hundred late. A second's
/// percentile is one or two of its hundred starts, and says nothing about the run; many invalid seconds do, where few
/// iterations were due in them.
fn of_seconds_alone(bad: &[(u32, Grade)], of: usize) -> Grade {
    let invalid = bad.iter().filter(|(_, grade)| *grade == Grade::Invalid).count();
    if invalid as f64 > INVALID_SECONDS_MAX * of as f64 { Grade::Degraded } else { Grade::Valid }
}

/// More seconds than this share whose starts were far too late are more than remarks.
const INVALID_SECONDS_MAX: f64 = 0.20;

/// Both limits keep their ratio where the floor takes over, so that a fast target's lag of a millisecond is no verdict.
fn limits(typical_ms: f64) -> Limits {
    let degraded = FLOOR_MS.max(DEGRADED_SHARE * typical_ms);
    let invalid = (FLOOR_MS * INVALID_SHARE / DEGRADED_SHARE).max(INVALID_SHARE * typical_ms);
    Limits::new(degraded, invalid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validity::testing::{Run, grade, ruling};

    #[track_caller]
    fn check(lateness_ms: f64, duration_ms: f64, expect: Grade) {
        let run = Run::clean(30).change(|_, second| {
            (second.lateness_ms, second.duration_ms) = (lateness_ms, duration_ms);
        });
        assert_eq!(grade(Fault::StartLag, &run), expect, "{lateness_ms} ms late, {duration_ms} ms long");
    }

    #[test]
    fn lag_counts_beside_what_requests_take() {
        check(1.0, 2.0, Grade::Valid);
        check(1.1, 2.0, Grade::Degraded);
        check(4.1, 2.0, Grade::Invalid);
        check(4.9, 100.0, Grade::Valid);
        check(5.2, 100.0, Grade::Degraded);
        check(19.8, 100.0, Grade::Degraded);
        check(20.2, 100.0, Grade::Invalid);
    }

    #[test]
    fn a_closed_loop_has_no_due_times() {
        let mut run = Run::clean(30);
        run.is_open = false;
        assert_eq!(ruling(Fault::StartLag, &Case::new(&run.facts())), Ruling::NotApplicable);
    }

    #[test]
    fn late_seconds_of_a_run_that_is_in_time_are_remarks() {
        let late = |seconds: u32, lateness_ms: f64| {
            let run = Run::clean(30).change(|index, second| {
                if index < seconds {
                    second.lateness_ms = lateness_ms;
                }
            });
            let mut facts = run.facts();
            // As if other seconds had far more starts than these.
            facts.whole.lateness_p99_ms = Some(0.2);
            match ruling(Fault::StartLag, &Case::new(&facts)) {
                Ruling::Bad(reason, bad) => (reason.grade, bad.len()),
                other => panic!("seconds are late: {other:?}"),
            }
        };
        assert_eq!(late(10, 2.0), (Grade::Valid, 10));
        assert_eq!(late(6, 300.0), (Grade::Valid, 6));
        assert_eq!(late(7, 300.0), (Grade::Degraded, 7));
    }

    #[test]
    fn one_late_second_of_a_long_run_is_a_remark() {
        let run = Run::clean(300).change(|index, second| {
            if index == 7 {
                second.lateness_ms = 300.0;
            }
        });
        let facts = run.facts();
        let Ruling::Bad(reason, bad) = ruling(Fault::StartLag, &Case::new(&facts)) else {
            panic!("it is late in one second")
        };
        assert_eq!((reason.grade, bad), (Grade::Valid, vec![(7, Grade::Invalid)]));
    }
}
