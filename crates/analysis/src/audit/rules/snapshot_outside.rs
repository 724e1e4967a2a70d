//! A reading of one moment that is used as evidence about a run, and was taken outside of it.

use model::{Figure, Finding, Severity, Strength, Unit};

use super::{Rule, say};
use crate::audit::kinds::{Facts, Snapshot};
use crate::audit::moment;

pub(super) const RULE: Rule =
    Rule { name: "snapshot-outside", about: "a reading of one moment was taken outside of the run", judge };

fn judge(facts: &Facts) -> Vec<Finding> {
    facts.snapshots.iter().filter_map(find).collect()
}

fn find(snapshot: &Snapshot) -> Option<Finding> {
    let (before_s, after_s) = (snapshot.started - snapshot.taken, snapshot.taken - snapshot.ended);
    let (off_s, side) =
        if after_s > 0.0 { (after_s, "after its end") } else { (before_s, "before its start") };
    if off_s <= 0.0 || snapshot.ended < snapshot.started {
        return None;
    }
    Some(Finding {
        rule: RULE.name,
        severity: Severity::Warning,
        strength: Strength::Arithmetic,
        claim: format!(
            "{} was read {} {side}, and says nothing about the run",
            snapshot.what,
            say(off_s, Unit::Seconds)
        ),
        evidence: vec![
            Figure::text("read at", moment::show(snapshot.taken)),
            Figure::text("the run began", moment::show(snapshot.started)),
            Figure::text("the run ended", moment::show(snapshot.ended)),
            Figure::new("outside of the run by", off_s, Unit::Seconds),
        ],
        implies: "an idle system was read: headroom that was seen there was not there under load".to_owned(),
        remedy: "use a series over the run's own window, its largest value and not its last".to_owned(),
        caveats: Vec::new(),
        place: snapshot.place.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;
    use super::*;

    #[test]
    fn readings_belong_into_the_run() {
        let snapshot =
            |taken: u32| format!("what,taken,started,ended\nnodes,{taken},1769486191,1769486409\n");
        check(judge, &snapshot(1_769_486_191), false);
        check(judge, &snapshot(1_769_486_409), false);
        check(judge, &snapshot(1_769_486_410), true);
        check(judge, &snapshot(1_769_486_190), true);
    }
}
