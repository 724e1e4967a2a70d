//! A worker thread that has no core to spare makes its VUs wait for each other: by thread, since one full thread of many hides in
//! every average.

use model::{Amount, Fault};

use crate::validity::judge::{Case, Limits, Ruling};

const LIMITS: Limits = Limits::new(0.80, 0.95);

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    case.by_second(Fault::WorkerCpu, Amount::Share, LIMITS, |second| second.pulse.worker_cpu)
}

#[cfg(test)]
mod tests {
    use model::{Fault, Grade, Vital};

    use crate::validity::testing::check_vital;

    #[test]
    fn its_limits_are_where_they_are_said_to_be() {
        let expect =
            [(0.80, Grade::Valid), (0.81, Grade::Degraded), (0.95, Grade::Degraded), (0.96, Grade::Invalid)];
        check_vital(Fault::WorkerCpu, Vital::WorkerCpu, &expect);
    }
}
