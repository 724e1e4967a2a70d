//! Connections that took as long as a SYN retransmission: their first packet was lost, because the target's queue of connections
//! to accept was full or the network dropped it. Their requests' times are made of TCP's patience.

use model::{Amount, Fault};

use crate::validity::judge::{Case, Limits, Ruling};

const LIMITS: Limits = Limits::new(0.001, 0.05);

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let connects: u64 = case.seconds.iter().map(|second| second.connects).sum();
    if connects == 0 {
        return Ruling::NotApplicable;
    }
    let repeated: u64 = case.seconds.iter().map(|second| second.connects_repeated).sum();
    let ruling = case.by_run(Fault::Connects, Amount::Share, LIMITS, repeated as f64 / connects as f64);
    let Ruling::Bad(reason, _) = ruling else { return ruling };
    let bad = case.seconds.iter().filter(|second| second.connects_repeated > 0);
    let bad: Vec<_> = bad.map(|second| (second.index, reason.grade)).collect();
    let windows = crate::validity::judge::ranges(bad.iter().map(|(index, _)| *index));
    Ruling::Bad(model::Reason { windows, ..reason }, bad)
}

#[cfg(test)]
mod tests {
    use model::Grade;

    use super::*;
    use crate::validity::testing::{Run, grade, ruling};

    #[track_caller]
    fn check(slow_ms: f64, slow: usize, of: usize, expect: Grade) {
        let mut run = Run::clean(10);
        run.seconds.iter_mut().for_each(|second| second.connects_ms = vec![0.4; of / 10]);
        run.seconds[3].connects_ms[..slow].fill(slow_ms);
        assert_eq!(grade(Fault::Connects, &run), expect, "{slow} of {of} took {slow_ms} ms");
    }

    #[test]
    fn the_seconds_of_tcp_are_known() {
        check(1_030.0, 1, 1_000, Grade::Valid);
        check(1_030.0, 2, 1_000, Grade::Degraded);
        check(3_040.0, 51, 1_000, Grade::Invalid);
        check(7_100.0, 2, 1_000, Grade::Degraded);
        check(2_030.0, 51, 1_000, Grade::Invalid);
        check(4_030.0, 2, 1_000, Grade::Degraded);
        check(2_600.0, 51, 1_000, Grade::Valid);
        check(900.0, 51, 1_000, Grade::Valid);
    }

    #[test]
    fn without_connections_there_is_nothing_to_look_at() {
        let run = Run::clean(10).change(|_, second| second.connects_ms = vec![0.0; 5]);
        assert_eq!(ruling(Fault::Connects, &Case::new(&run.facts())), Ruling::NotApplicable);
    }
}
