//! A thread that was not woken in time: the process, its machine or the scheduler was stopped.

use model::{Amount, Fault};

use crate::validity::judge::{Case, Limits, Ruling};

const LIMITS: Limits = Limits::new(10.0, 50.0);

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    case.by_second(Fault::TimerLag, Amount::Milliseconds, LIMITS, |second| second.pulse.timer_lag_ms)
}

#[cfg(test)]
mod tests {
    use model::{Fault, Grade, Vital};

    use crate::validity::testing::check_vital;

    #[test]
    fn its_limits_are_where_they_are_said_to_be() {
        let expect =
            [(10.0, Grade::Valid), (10.1, Grade::Degraded), (50.0, Grade::Degraded), (50.1, Grade::Invalid)];
        check_vital(Fault::TimerLag, Vital::TimerLag, &expect);
    }
}
