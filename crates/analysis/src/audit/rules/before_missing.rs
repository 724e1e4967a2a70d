//! A comparison with nothing.

use model::{Figure, Finding, Severity, Strength};

use super::{Rule, say_measure, unit_of};
use crate::audit::kinds::{Change, Facts};

pub(super) const RULE: Rule = Rule { name: "before-missing", about: "a comparison has no baseline", judge };

fn judge(facts: &Facts) -> Vec<Finding> {
    facts.changes.iter().filter(|change| change.before.is_none()).map(find).collect()
}

fn find(change: &Change) -> Finding {
    let mut evidence = vec![Figure::new("after", change.after.value, unit_of(change.after.family))];
    evidence.extend(change.change.map(|it| Figure::new("reported change", it.value, unit_of(it.family))));
    Finding {
        rule: RULE.name,
        severity: Severity::Warning,
        strength: Strength::Arithmetic,
        claim: match change.change {
            Some(printed) => {
                format!(
                    "{}: a change of {} is reported without its baseline",
                    change.metric,
                    say_measure(printed)
                )
            }
            None => format!("{}: {} has no baseline", change.metric, say_measure(change.after)),
        },
        evidence,
        implies: "the change cannot be verified, nor whether it is an improvement or a regression".to_owned(),
        remedy: "add the baseline with its run, load and duration, or remove the row from the comparison"
            .to_owned(),
        caveats: Vec::new(),
        place: change.place.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;
    use super::*;

    #[test]
    fn changes_have_a_before() {
        let change = |before: &str, printed: &str| {
            format!("metric,before,after,change\nsubmitted,{before},1336,{printed}\n")
        };
        check(judge, &change("-", "+426%"), true);
        check(judge, &change("", ""), true);
        check(judge, &change("0", "N/A"), false);
        check(judge, &change("254", "+426%"), false);
    }
}
