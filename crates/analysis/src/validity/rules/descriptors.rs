//! Every connection takes a file descriptor, and the process may have only so many.

use model::{Amount, Fault};

use crate::validity::judge::{Case, Limits, Ruling};

const LIMITS: Limits = Limits::new(0.80, 0.95);

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    case.by_second(Fault::Descriptors, Amount::Share, LIMITS, |second| second.pulse.descriptors)
}

#[cfg(test)]
mod tests {
    use model::{Fault, Grade, Vital};

    use crate::validity::testing::check_vital;

    #[test]
    fn its_limits_are_where_they_are_said_to_be() {
        let expect = [
            (819.0, Grade::Valid),
            (830.0, Grade::Degraded),
            (972.0, Grade::Degraded),
            (980.0, Grade::Invalid),
        ];
        check_vital(Fault::Descriptors, Vital::Descriptors, &expect);
    }
}
