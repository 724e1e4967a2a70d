//! Losses in the load generator: seconds that are not stored, threads that never delivered their samples.

use model::{Amount, Fault, Grade, Reason};

use crate::validity::judge::{Case, Limits, Ruling};

const WINDOWS: Limits = Limits::new(0.0, 0.01);

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let losses = case.facts.losses;
    if losses.workers > 0 {
        let reason = Reason {
            fault: Fault::WorkersLost,
            grade: Grade::Invalid,
            observed: Amount::Count(losses.workers as f64),
            limit: Amount::Count(0.0),
            windows: Vec::new(),
        };
        return Ruling::Bad(reason, Vec::new());
    }
    if losses.agents > 0 {
        let reason = Reason {
            fault: Fault::AgentsLost,
            grade: Grade::Degraded,
            observed: Amount::Count(losses.agents as f64),
            limit: Amount::Count(0.0),
            windows: Vec::new(),
        };
        return Ruling::Bad(reason, Vec::new());
    }
    let windows = losses.windows as f64 / (losses.windows + case.all.len() as u64).max(1) as f64;
    case.by_run(Fault::WindowsLost, Amount::Share, WINDOWS, windows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validity::facts::Losses;
    use crate::validity::testing::{Run, grade};

    #[test]
    fn what_is_lost_counts() {
        let check = |workers, windows, agents, expect: Grade| {
            let mut run = Run::clean(99);
            run.losses = Losses { workers, windows, agents };
            assert_eq!(
                grade(Fault::WindowsLost, &run),
                expect,
                "{workers} workers, {windows} windows, {agents} agents"
            );
        };
        check(0, 0, 0, Grade::Valid);
        check(0, 1, 0, Grade::Degraded);
        check(0, 2, 0, Grade::Invalid);
        check(1, 0, 0, Grade::Invalid);
        check(0, 0, 2, Grade::Degraded);
        check(1, 0, 2, Grade::Invalid);
    }
}
