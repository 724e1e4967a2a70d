//! Requests sent are requests recorded: what was counted where requests are made must be what the numbers are made of.

use model::Amount;

use crate::validity::judge::{Case, Limits, Ruling};

const LIMITS: Limits = Limits::new(0.0, 0.001);

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    if !case.facts.is_whole {
        // A request may end in one part and be recorded in the next.
        return Ruling::NotApplicable;
    }
    let finished: u64 = case.all.iter().map(|second| second.requests_finished).sum();
    let recorded: u64 = case.all.iter().map(|second| second.requests_recorded).sum();
    if finished == 0 && recorded == 0 {
        return Ruling::NotApplicable;
    }
    let apart = finished.abs_diff(recorded) as f64 / finished.max(recorded) as f64;
    case.by_run("recorded", Amount::Share, LIMITS, apart)
}

#[cfg(test)]
mod tests {
    use model::Grade;

    use crate::validity::testing::{Run, grade};

    #[test]
    fn none_may_be_lost_and_none_made_up() {
        let check = |seconds: usize, recorded: u64, expect: Grade| {
            let mut run = Run::clean(seconds);
            run.seconds[0].recorded = recorded;
            assert_eq!(grade("recorded", &run), expect, "{recorded} of 100 in the first of {seconds} s");
        };
        check(30, 100, Grade::Valid);
        check(30, 99, Grade::Degraded);
        check(30, 101, Grade::Degraded);
        check(30, 90, Grade::Invalid);
    }
}
