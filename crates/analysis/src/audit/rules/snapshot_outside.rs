//! A reading of one moment that is used as evidence about a run, and was taken outside of it.

use model::audit::AuditClaim;
use model::{AuditRule, Figure, FigureLabel, Finding, Severity, Strength, Unit};

use super::Rule;
use crate::audit::kinds::{Facts, Snapshot};
use crate::audit::moment;

pub(super) const RULE: Rule =
    Rule { id: AuditRule::SnapshotOutside, input: |facts| facts.snapshots.len(), judge };

fn judge(facts: &Facts) -> Vec<Finding> {
    facts.snapshots.iter().filter_map(find).collect()
}

fn find(snapshot: &Snapshot) -> Option<Finding> {
    let (before_s, after_s) = (snapshot.started - snapshot.taken, snapshot.taken - snapshot.ended);
    let off_s = if after_s > 0.0 { after_s } else { before_s };
    if off_s <= 0.0 || snapshot.ended < snapshot.started {
        return None;
    }
    Some(Finding {
        severity: Severity::Warning,
        strength: Strength::Arithmetic,
        claim: AuditClaim::SnapshotOutside { reading: snapshot.what.clone(), off_s, is_after: after_s > 0.0 },
        evidence: vec![
            Figure::text(FigureLabel::ReadAt, moment::show(snapshot.taken)),
            Figure::text(FigureLabel::RunStart, moment::show(snapshot.started)),
            Figure::text(FigureLabel::RunEnd, moment::show(snapshot.ended)),
            Figure::new(FigureLabel::TimeOutsideTheRun, off_s, Unit::Seconds),
        ],
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
