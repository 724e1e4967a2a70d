//! Iterations that were planned and never started, and whose fault that is.
//!
//! Nighthawk asks that at least 99 % of the planned rate is achieved. When every VU is busy and the generator is idle, the
//! target is slow and the run is right to say so, though at another load than planned; when the generator is busy, the
//! number says nothing about the target.

use model::{Amount, Fault, Grade, Reason};

use crate::validity::judge::{Case, Limits, Ruling};
use crate::validity::second::Second;

const MISSED_SHARE_MAX: f64 = 0.01;

/// When the generator counts as busy in a second.
const BUSY_CPU: f64 = 0.80;
const BUSY_DELAY: f64 = 0.20;
const BUSY_THROTTLED: f64 = 0.10;
const BUSY_LAG_MS: f64 = 50.0;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    if !case.has_open_scenario() {
        return Ruling::NotApplicable;
    }
    let ruling =
        case.by_second(Fault::Dropped, Amount::Share, Limits::new(MISSED_SHARE_MAX, f64::INFINITY), missed);
    let Ruling::Bad(reason, mut bad) = ruling else { return ruling };
    let (mut started, mut dropped) = (0, 0);
    case.seconds.iter().for_each(|second| {
        started += second.started;
        dropped += second.dropped;
    });
    let share = dropped as f64 / (started + dropped).max(1) as f64;
    let is_missed = share > MISSED_SHARE_MAX;
    let (fault, blamed) = blame(case);
    bad.iter_mut().for_each(|(_, grade)| *grade = blamed);
    let grade = if is_missed { blamed } else { reason.grade };
    let observed = if is_missed { Amount::Share(share) } else { reason.observed };
    Ruling::Bad(Reason { fault, grade, observed, ..reason }, bad)
}

/// The share of a second's iterations that did not start.
fn missed(second: &Second) -> Option<f64> {
    let planned = second.started + second.dropped;
    Some(if planned == 0 { 0.0 } else { second.dropped as f64 / planned as f64 })
}

fn blame(case: &Case<'_>) -> (Fault, Grade) {
    let with_drops = || case.seconds.iter().filter(|second| second.dropped > 0);
    let dropped: u64 = with_drops().map(|second| second.dropped).sum();
    let while_busy: u64 = with_drops().filter(|second| is_busy(second)).map(|second| second.dropped).sum();
    let of_agents = case.facts.drops.map_or(0, |drops| drops.agent_lost);
    if of_agents * 2 > dropped {
        return (Fault::Dropped, Grade::Degraded);
    }
    if with_drops().all(|second| second.pulse.worker_cpu.is_none()) {
        return (Fault::Dropped, Grade::Degraded);
    }
    if while_busy * 2 > dropped {
        return (Fault::DroppedByGenerator, Grade::Invalid);
    }
    let is_starting = case.facts.drops.is_some_and(|drops| drops.vu_starting > drops.vus_exhausted);
    (if is_starting { Fault::DroppedWhileStarting } else { Fault::DroppedByTarget }, Grade::Degraded)
}

fn is_busy(second: &Second) -> bool {
    let pulse = &second.pulse;
    let above = |value: Option<f64>, limit: f64| value.is_some_and(|value| value > limit);
    above(pulse.worker_cpu, BUSY_CPU)
        || above(pulse.run_delay, BUSY_DELAY)
        || above(pulse.throttled, BUSY_THROTTLED)
        || above(pulse.timer_lag_ms, BUSY_LAG_MS)
}

#[cfg(test)]
mod tests {
    use model::Vital;

    use super::*;
    use crate::validity::facts::DropTotals;
    use crate::validity::testing::{Run, grade, ruling};

    fn dropping(dropped: u64) -> Run {
        Run::clean(30).change(|_, second| second.dropped = dropped)
    }

    #[track_caller]
    fn check(run: &Run, expect: (Fault, Grade)) {
        let facts = run.facts();
        let Ruling::Bad(reason, _) = ruling(Fault::Dropped, &Case::new(&facts)) else { panic!("it dropped") };
        assert_eq!((reason.fault, reason.grade), expect);
    }

    #[test]
    fn ninety_nine_of_a_hundred_are_enough() {
        assert_eq!(grade(Fault::Dropped, &dropping(0)), Grade::Valid);
        assert_eq!(grade(Fault::Dropped, &dropping(1)), Grade::Valid);
        assert_eq!(grade(Fault::Dropped, &dropping(2)), Grade::Degraded);
    }

    #[test]
    fn whose_fault_it_is_decides() {
        let busy = |vital, value| dropping(20).change(|_, second| second.set(vital, value));
        check(&dropping(20), (Fault::DroppedByTarget, Grade::Degraded));
        check(&busy(Vital::WorkerCpu, 0.81), (Fault::DroppedByGenerator, Grade::Invalid));
        check(&busy(Vital::TimerLag, 51.0), (Fault::DroppedByGenerator, Grade::Invalid));
        let mut starting = dropping(20);
        starting.drops = Some(DropTotals { vu_starting: 9, vus_exhausted: 1, agent_lost: 0 });
        check(&starting, (Fault::DroppedWhileStarting, Grade::Degraded));
        let mut lost = busy(Vital::WorkerCpu, 0.81);
        lost.drops = Some(DropTotals { vu_starting: 0, vus_exhausted: 9, agent_lost: 400 });
        check(&lost, (Fault::Dropped, Grade::Degraded));
        let unwatched = dropping(20).change(|_, second| second.vitals.clear());
        check(&unwatched, (Fault::Dropped, Grade::Degraded));
    }
}
