//! Requests sent are requests recorded: what was counted where requests are made must be what the numbers are made of.

use model::{Amount, Fault};

use crate::validity::judge::{Case, Limits, Ruling};
use crate::validity::second::Second;

const LIMITS: Limits = Limits::new(0.0, 0.001);

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    if !case.facts.is_over() || case.facts.forgets_cut {
        // A request may end in one part and be recorded in the next, or has not ended yet.
        return Ruling::NotApplicable;
    }
    let finished: u64 = case.all.iter().map(|second| second.requests_finished).sum();
    let recorded: u64 = case.all.iter().map(|second| second.requests_recorded).sum();
    if finished == 0 && recorded == 0 {
        return Ruling::NotApplicable;
    }
    // A request cancelled while it waits for its connection was in flight, and is in no metric.
    let apart = match finished.checked_sub(recorded) {
        Some(missing) => missing.saturating_sub(under_way_max(case)),
        None => recorded - finished,
    };
    let apart = apart as f64 / finished.max(recorded) as f64;
    case.by_run(Fault::Recorded, Amount::Share, LIMITS, apart)
}

/// As many requests as were ever under way at once.
fn under_way_max(case: &Case<'_>) -> u64 {
    let under_way = |second: &Second| second.in_flight_ms / (second.length_s() * 1_000.0).max(1.0);
    case.all.iter().map(under_way).fold(0.0, f64::max).ceil() as u64
}

#[cfg(test)]
mod tests {
    use model::{Fault, Grade};

    use crate::validity::testing::{Run, grade};

    #[test]
    fn none_may_be_lost_and_none_made_up() {
        let check = |seconds: usize, recorded: u64, expect: Grade| {
            let mut run = Run::clean(seconds);
            run.seconds[0].recorded = recorded;
            assert_eq!(grade(Fault::Recorded, &run), expect, "{recorded} of 100 in the first of {seconds} s");
        };
        check(30, 100, Grade::Valid);
        // Two are under way at a time.
        check(30, 98, Grade::Valid);
        check(30, 97, Grade::Degraded);
        check(30, 101, Grade::Degraded);
        check(30, 90, Grade::Invalid);
    }
}
