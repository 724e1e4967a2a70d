//! Little's law as a check for time missing from requests' durations: requests in flight = rate × duration.
//!
//! The left side is integrated over starts and ends of requests, the right side is the sum of recorded durations. The
//! difference is time that the generator spent on requests and that no metric records.

use model::{Amount, Fault};

use crate::validity::judge::{Case, Limits, Ruling};

const LIMITS: Limits = Limits::new(0.05, 0.20);

/// Minimum difference per request that is reported, milliseconds: building the response objects takes time too.
const RESIDUAL_MS_MIN: f64 = 1.0;

/// Fewer requests say nothing, and more without a time would make up the difference.
const REQUESTS_MIN: u64 = 50;
const UNTIMED_SHARE_MAX: f64 = 0.01;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let sum = |of: fn(&crate::validity::second::Second) -> f64| case.all.iter().map(of).sum::<f64>();
    let requests: u64 = case.all.iter().map(|second| second.requests_finished).sum();
    let untimed: u64 = case.all.iter().map(|second| second.untimed).sum();
    let in_flight_ms = sum(|second| second.in_flight_ms);
    let is_judged = case.facts.is_over()
        && !case.facts.forgets_cut
        && requests >= REQUESTS_MIN
        && untimed as f64 <= UNTIMED_SHARE_MAX * requests as f64
        && in_flight_ms > 0.0;
    if !is_judged {
        return Ruling::NotApplicable;
    }
    let residual_ms = (in_flight_ms - sum(|second| second.recorded_ms)).abs();
    let is_felt = residual_ms / requests as f64 > RESIDUAL_MS_MIN;
    let share = if is_felt { residual_ms / in_flight_ms } else { 0.0 };
    case.by_run(Fault::Little, Amount::Share, LIMITS, share)
}

#[cfg(test)]
mod tests {
    use model::Grade;

    use super::*;
    use crate::validity::testing::{Run, grade, ruling};

    #[track_caller]
    fn check(duration_ms: f64, in_flight_ms: f64, expect: Grade) {
        let run = Run::clean(30).change(|_, second| {
            (second.duration_ms, second.in_flight_ms) = (duration_ms, in_flight_ms * 100.0);
        });
        assert_eq!(
            grade(Fault::Little, &run),
            expect,
            "{in_flight_ms} ms under way, {duration_ms} ms recorded"
        );
    }

    #[test]
    fn time_under_way_is_time_told() {
        check(20.0, 20.0, Grade::Valid);
        check(20.0, 21.04, Grade::Valid);
        check(20.0, 21.2, Grade::Degraded);
        check(20.0, 24.8, Grade::Degraded);
        check(20.0, 25.2, Grade::Invalid);
        check(20.0, 15.0, Grade::Invalid);
    }

    #[test]
    fn requests_under_way_are_no_missing_time() {
        // 100 tasks of 60 s each began at once: after 30 s none has ended, and quick requests run beside them.
        let run = Run::clean(30).change(|_, second| second.in_flight_ms += 100_000.0);
        let mut facts = run.facts();
        assert!(matches!(judge(&Case::new(&facts)), Ruling::Bad(..)), "at the end of a run that is missing");
        facts.scenarios_ended = None;
        assert_eq!(judge(&Case::new(&facts)), Ruling::NotApplicable, "in a run in progress it is not");
    }

    #[test]
    fn little_of_little_is_nothing() {
        check(0.2, 1.1, Grade::Valid);
        check(0.2, 1.3, Grade::Invalid);
        let mut few = Run::clean(30);
        few.seconds.truncate(0);
        assert_eq!(ruling(Fault::Little, &Case::new(&few.facts())), Ruling::NotApplicable);
    }
}
