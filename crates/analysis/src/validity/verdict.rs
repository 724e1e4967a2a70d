//! All rules together.

use std::collections::BTreeMap;

use model::{Grade, Reason, Validity};

use super::facts::Facts;
use super::judge::{Case, Ruling};
use super::rules;

/// The validity of the run's numbers.
pub fn judge(facts: &Facts) -> Validity {
    let case = Case::new(facts);
    let mut windows: BTreeMap<u32, Grade> =
        case.seconds.iter().map(|second| (second.index, Grade::Valid)).collect();
    let mut reasons: Vec<Reason> = Vec::new();
    let mut unmeasured = Vec::new();
    let mut lacks_core = case.seconds.is_empty();
    for rule in rules::ALL {
        match (rule.judge)(&case) {
            Ruling::NotApplicable | Ruling::Fine => {}
            Ruling::Unmeasured => {
                unmeasured.push(rule.fault);
                lacks_core |= rule.is_core;
            }
            Ruling::Bad(reason, bad) => {
                reasons.push(reason);
                for (index, grade) in bad {
                    let known = windows.entry(index).or_insert(grade);
                    *known = grade.max(*known);
                }
            }
        }
    }
    if lacks_core {
        windows.values_mut().for_each(|grade| *grade = Grade::Unmeasured.max(*grade));
    }
    // Stable: among equals, the order of the rules.
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.grade));
    let worst = reasons.first().map_or(Grade::Valid, |reason| reason.grade);
    let grade = if lacks_core { worst.max(Grade::Unmeasured) } else { worst };
    Validity { grade, reasons, unmeasured, windows: windows.into_iter().collect() }
}

#[cfg(test)]
mod tests {
    use model::{Fault, Vital};

    use super::super::testing::Run;
    use super::*;

    #[test]
    fn a_watched_run_without_fault_is_valid() {
        let verdict = judge(&Run::clean(30).facts());
        assert_eq!(verdict.grade, Grade::Valid, "{verdict:?}");
        assert_eq!((verdict.reasons.len(), verdict.count(Grade::Valid)), (0, 30));
        assert_eq!(verdict.unmeasured, []);
    }

    #[test]
    fn silence_makes_nothing_valid() {
        let verdict = judge(&Run::clean(30).change(|_, second| second.vitals.clear()).facts());
        assert_eq!(verdict.grade, Grade::Unmeasured, "{verdict:?}");
        assert!(verdict.unmeasured.contains(&Fault::WorkerCpu), "{verdict:?}");
        assert_eq!(judge(&Run::clean(0).facts()).grade, Grade::Unmeasured);
        assert_eq!(judge(&Facts::default()).grade, Grade::Unmeasured);
    }

    #[test]
    fn silence_hides_no_fault() {
        let run = Run::clean(30).change(|_, second| {
            second.vitals.clear();
            second.lateness_ms = 500.0;
        });
        assert_eq!(judge(&run.facts()).grade, Grade::Invalid);
    }

    #[test]
    fn only_the_bad_windows_are_named() {
        let run = Run::clean(30).change(|index, second| {
            if (12..14).contains(&index) {
                second.lateness_ms = 500.0;
            }
        });
        let verdict = judge(&run.facts());
        assert_eq!(verdict.grade, Grade::Degraded, "{verdict:?}");
        assert!(verdict.reasons[0].windows.iter().eq(&std::iter::once(12..14).collect::<Vec<_>>()));
        assert_eq!((verdict.count(Grade::Invalid), verdict.count(Grade::Valid)), (2, 28));
    }

    #[test]
    fn the_worst_reason_comes_first() {
        let run = Run::clean(30).change(|_, second| {
            second.set(Vital::WorkerCpu, 0.85);
            second.set(Vital::TimerLag, 500.0);
        });
        let rules: Vec<_> = judge(&run.facts()).reasons.iter().map(|reason| reason.fault).collect();
        assert_eq!(rules, [Fault::TimerLag, Fault::WorkerCpu]);
    }
}
