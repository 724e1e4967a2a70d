//! Local ports run out long before anything else does when connections are not kept: each waits a minute after its end.
//!
//! The number of sockets is that of the network namespace, and an upper bound: a target in the same namespace counts with its
//! own, and ports are counted for each target apart.

use model::{Amount, Fault};

use crate::validity::judge::{Case, Limits, Ruling};

const LIMITS: Limits = Limits::new(0.80, 0.95);

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    case.by_second(Fault::Ports, Amount::Share, LIMITS, |second| second.pulse.ports)
}

#[cfg(test)]
mod tests {
    use model::{Fault, Grade, Vital};

    use crate::validity::testing::check_vital;

    #[test]
    fn its_limits_are_where_they_are_said_to_be() {
        let expect = [
            (22_000.0, Grade::Valid),
            (23_000.0, Grade::Degraded),
            (26_500.0, Grade::Degraded),
            (27_000.0, Grade::Invalid),
        ];
        check_vital(Fault::Ports, Vital::Ports, &expect);
    }
}
