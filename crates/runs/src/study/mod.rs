//! A study: levels of load that are runs of their own, and what they say together.
//!
//! Every level is a run in the catalogue like any other, and its header says which study it is a level of. So a study is found
//! again from any of its runs, needs no file of its own, and goes on where it was interrupted.

mod gathered;
mod levels;
mod meter;
mod next;
mod objective;
mod tables;

pub use gathered::{Gathered, of_run, variant};
pub use levels::{Read, Stored, read, stored_levels};
pub use meter::Meter;
pub use next::next_command;
pub use objective::{Asked, Held, parse_all};
pub use tables::of_tables;

use model::{Fault, Grade, Validity};

/// What intervals of studies cover.
pub const CONFIDENCE: f64 = 0.95;

/// Faults that are the target's: at a level that is too high they are what was to be found out.
const OF_TARGET: [Fault; 5] = [
    Fault::DroppedByTarget,
    Fault::Unsteady,
    Fault::Connects,
    Fault::Retransmission,
    Fault::DroppedWhileStarting,
];

/// Whether a level's numbers say something about the target. One that is not valid decides nothing, unless all that is wrong
/// with it is the target's doing.
pub fn decides(validity: &Validity) -> bool {
    let is_bad = |reason: &&model::Reason| reason.grade > Grade::Valid;
    let mut bad = validity.reasons.iter().filter(is_bad);
    validity.grade != Grade::Unmeasured && bad.all(|reason| OF_TARGET.contains(&reason.fault))
}

#[cfg(test)]
mod tests {
    use model::{Amount, Reason};

    use super::*;

    #[test]
    fn what_the_target_did_is_no_flaw_of_the_measurement() {
        let check = |grade, reasons: &[(Fault, Grade)], expect: bool| {
            let reason = |(fault, grade): &(Fault, Grade)| Reason {
                fault: *fault,
                grade: *grade,
                observed: Amount::Count(2.0),
                limit: Amount::Count(1.0),
                windows: Vec::new(),
            };
            let reasons = reasons.iter().map(reason).collect();
            let validity = Validity { grade, reasons, ..Validity::default() };
            assert_eq!(decides(&validity), expect, "{validity:?}");
        };
        check(Grade::Valid, &[], true);
        check(Grade::Valid, &[(Fault::StartLag, Grade::Valid)], true);
        check(Grade::Unmeasured, &[], false);
        check(Grade::Degraded, &[(Fault::DroppedByTarget, Grade::Degraded)], true);
        check(Grade::Degraded, &[(Fault::StartLag, Grade::Degraded)], false);
        let both = [(Fault::StartLag, Grade::Invalid), (Fault::Unsteady, Grade::Degraded)];
        check(Grade::Invalid, &both, false);
    }
}
