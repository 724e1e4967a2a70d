//! A reading of one moment that is used as evidence about a run, and was taken outside of it.

use model::{Figure, Finding, Severity, Strength, Unit};

use super::{Rule, say};
use crate::audit::kinds::{Facts, Snapshot};
use crate::audit::moment;

pub(super) const RULE: Rule =
    Rule { name: "snapshot-outside", about: "a snapshot was taken outside the run", judge };

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
            "{} was read {} {side}: it does not describe the run",
            snapshot.what,
            say(off_s, Unit::Seconds)
        ),
        evidence: vec![
            Figure::text("read at", moment::show(snapshot.taken)),
            Figure::text("run start", moment::show(snapshot.started)),
            Figure::text("run end", moment::show(snapshot.ended)),
            Figure::new("time outside the run", off_s, Unit::Seconds),
        ],
        implies: "the snapshot shows an idle system; the headroom in it was not available under load"
            .to_owned(),
        remedy: "use a time series over the run's window, and its maximum instead of its last value"
            .to_owned(),
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
