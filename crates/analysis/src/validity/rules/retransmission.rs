//! TCP segments that had to be sent again. They are those of the network namespace: others in it count with the run.

use model::{Amount, Fault};

use crate::validity::judge::{Case, Limits, Ruling};
use crate::validity::second::Second;

const LIMITS: Limits = Limits::new(0.01, 0.10);

/// Fewer repeated segments in a second are an accident, whatever their share is.
const REPEATED_MIN: f64 = 5.0;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    case.by_second(Fault::Retransmission, Amount::Share, LIMITS, share)
}

fn share(second: &Second) -> Option<f64> {
    let (segments, repeated) = second.pulse.segments.zip(second.pulse.segments_repeated)?;
    Some(if repeated < REPEATED_MIN { 0.0 } else { repeated / segments.max(repeated) })
}

#[cfg(test)]
mod tests {
    use model::{Fault, Grade, Vital};

    use crate::validity::testing::{Run, check_vital, grade};

    #[test]
    fn one_in_a_hundred_is_tolerated() {
        let expect = [
            (10.0, Grade::Valid),
            (11.0, Grade::Degraded),
            (111.0, Grade::Degraded),
            (112.0, Grade::Invalid),
        ];
        check_vital(Fault::Retransmission, Vital::SegmentsRepeated, &expect);
    }

    #[test]
    fn a_few_of_a_few_are_an_accident() {
        let run = Run::clean(30).change(|_, second| {
            second.set(Vital::SegmentsSent, 10.0);
            second.set(Vital::SegmentsRepeated, 4.0);
        });
        assert_eq!(grade(Fault::Retransmission, &run), Grade::Valid);
    }
}
