//! Whether the windows are of the time in which the run ran: none missing, none of another time, none long.

use model::{Amount, Fault, Grade, Reason};

use crate::validity::judge::{Case, Limits, Ruling};

/// The part of the run's time that no window covers.
const UNCOVERED: Limits = Limits::new(0.01, 0.10);

/// A window is as long as its coordinator slept, milliseconds. One that is much longer was not watched closely.
const LENGTH_MS: Limits = Limits::new(1_250.0, 3_000.0);

/// Less time than this is not missed, seconds: a run that ends between two windows.
const SLACK_S: f64 = 0.5;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let Some((start, end)) = case.span() else { return Ruling::Unmeasured };
    let long = case.by_second(Fault::LongWindows, Amount::Milliseconds, LENGTH_MS, |second| {
        Some(second.length_s() * 1_000.0)
    });
    if !case.facts.is_whole {
        return long;
    }
    let covered: f64 =
        case.all.iter().map(|second| second.end.min(end).since(second.start.max(start)).as_secs_f64()).sum();
    let length_s = end.since(start).as_secs_f64();
    let uncovered_s = length_s - covered;
    if uncovered_s <= SLACK_S {
        return long;
    }
    let run = case.by_run(Fault::Coverage, Amount::Share, UNCOVERED, uncovered_s / length_s);
    match (run, long) {
        (Ruling::Bad(reason, _), Ruling::Bad(of_windows, bad)) => {
            let grade: Grade = reason.grade.max(of_windows.grade);
            Ruling::Bad(Reason { grade, ..reason }, bad)
        }
        (run @ Ruling::Bad(..), _) => run,
        (_, long) => long,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validity::testing::{Run, grade};

    #[track_caller]
    fn check(missing: &[u32], expect: Grade) {
        let mut run = Run::clean(60);
        run.missing = missing.to_vec();
        assert_eq!(grade(Fault::Coverage, &run), expect, "without {missing:?}");
    }

    #[test]
    fn windows_cover_the_run() {
        check(&[], Grade::Valid);
        check(&[59], Grade::Degraded);
        check(&[3, 20, 21, 22, 23, 24], Grade::Degraded);
        check(&[0, 1, 2, 3, 4, 5, 6], Grade::Invalid);
    }

    #[test]
    fn windows_of_another_time_cover_nothing() {
        let mut facts = Run::clean(60).facts();
        let shift = std::time::Duration::from_secs(40);
        facts.scenarios_started = facts.scenarios_started.map(|at| at + shift);
        facts.scenarios_ended = facts.scenarios_ended.map(|at| at + shift);
        let ruling = judge(&Case::new(&facts));
        assert!(matches!(&ruling, Ruling::Bad(reason, _) if reason.grade == Grade::Invalid), "{ruling:?}");
    }

    #[test]
    fn a_long_window_is_a_blind_one() {
        let with_length = |length_ms| {
            let run = Run::clean(60).change(|_, second| second.length_ms = length_ms);
            grade(Fault::Coverage, &run)
        };
        assert_eq!(with_length(1_250), Grade::Valid);
        assert_eq!(with_length(1_260), Grade::Degraded);
        assert_eq!(with_length(3_010), Grade::Invalid);
    }
}
