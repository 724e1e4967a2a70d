//! A control group whose quota is used up is stopped until its next period, whatever its load average says.

use model::{Amount, Fault};

use crate::validity::judge::{Case, Limits, Ruling};

const LIMITS: Limits = Limits::new(0.01, 0.10);

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    case.by_second(Fault::Throttled, Amount::Share, LIMITS, |second| second.pulse.throttled)
}

#[cfg(test)]
mod tests {
    use model::{Fault, Grade, Vital};

    use crate::validity::testing::check_vital;

    #[test]
    fn its_limits_are_where_they_are_said_to_be() {
        let expect =
            [(0.01, Grade::Valid), (0.02, Grade::Degraded), (0.10, Grade::Degraded), (0.11, Grade::Invalid)];
        check_vital(Fault::Throttled, Vital::Throttled, &expect);
    }
}
