//! CPU steal: time in which the hypervisor ran another virtual machine although this one was runnable. No thread of this machine can
//! see such a pause, because its own clock stops for it; requests appear slower without a visible cause.

use model::{Amount, Fault};

use crate::validity::judge::{Case, Limits, Ruling};

const LIMITS: Limits = Limits::new(0.05, 0.20);

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    case.by_second(Fault::Steal, Amount::Share, LIMITS, |second| second.pulse.steal)
}

#[cfg(test)]
mod tests {
    use model::{Fault, Grade, Vital};

    use crate::validity::testing::check_vital;

    #[test]
    fn its_limits_are_where_they_are_said_to_be() {
        let expect =
            [(0.05, Grade::Valid), (0.06, Grade::Degraded), (0.20, Grade::Degraded), (0.21, Grade::Invalid)];
        check_vital(Fault::Steal, Vital::HostSteal, &expect);
    }
}
