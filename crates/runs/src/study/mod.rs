//! A study: levels of load, each a run of its own, and their combined result.
//!
//! Every level is a run in the catalogue, and its header names the study. A study is therefore found from any of its runs, needs no
//! file of its own, and continues where it was interrupted.

mod degraded;
mod gathered;
mod levels;
mod meter;
mod next;
mod objective;
mod tables;

pub use gathered::{Gathered, of_level, of_run, variant};
pub use levels::{Read, Stored, read, stored_levels, unit};
pub use meter::{Meter, patience_s};
pub use next::next_command;
pub use objective::{Asked, Held, check, parse_all};
pub use tables::of_tables;

use model::{Fault, Grade, Validity};
use runfile::StudyFacts;

/// Coverage of the confidence intervals of studies.
pub const CONFIDENCE: f64 = 0.95;

/// Faults of the target: at a level that is too high they are the expected result.
const OF_TARGET: [Fault; 5] = [
    Fault::DroppedByTarget,
    Fault::Unsteady,
    Fault::Connects,
    Fault::Retransmission,
    Fault::DroppedWhileStarting,
];

/// Returns the load of a level with its unit: `164 VUs`, `20/s`.
pub fn load(facts: &StudyFacts) -> String {
    report::capacity::level_name(facts.load, unit(facts), "")
}

/// Returns true if a level's numbers count. An invalid level decides nothing, unless the target alone caused all of its faults.
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
