//! Less is on record than was sent.

use model::audit::AuditClaim;
use model::{AuditRule, Figure, FigureLabel, Finding, Severity, Strength, Unit};

use super::Rule;
use crate::audit::kinds::{Facts, Record};

pub(super) const RULE: Rule = Rule { id: AuditRule::LostPoints, input: |facts| facts.records.len(), judge };

fn judge(facts: &Facts) -> Vec<Finding> {
    facts.records.iter().filter_map(find).collect()
}

fn find(record: &Record) -> Option<Finding> {
    let lost = record.sent - record.recorded;
    if lost == 0.0 {
        return None;
    }
    let kind = record.what.clone();
    let claim = match lost > 0.0 {
        true => AuditClaim::PointsLost { kind, lost, sent: record.sent },
        false => AuditClaim::PointsGained { kind, gained: -lost },
    };
    Some(Finding {
        severity: Severity::Error,
        strength: Strength::Arithmetic,
        claim,
        evidence: vec![
            Figure::new(FigureLabel::Sent, record.sent, Unit::Count),
            Figure::new(FigureLabel::Recorded, record.recorded, Unit::Count),
            Figure::new(FigureLabel::Difference, lost, Unit::Count),
        ],
        place: record.place.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;
    use super::*;

    #[test]
    fn sent_is_recorded() {
        let record = |recorded: u32| format!("what,sent,recorded\nrequests,60000,{recorded}\n");
        check(judge, &record(60_000), false);
        check(judge, &record(59_999), true);
        check(judge, &record(60_001), true);
    }
}
