//! Less is on record than was sent.

use model::{Figure, Finding, Severity, Strength, Unit};

use super::{Rule, say};
use crate::audit::kinds::{Facts, Record};

pub(super) const RULE: Rule = Rule {
    name: "lost-points",
    about: "points were overwritten or lost: fewer were recorded than sent",
    judge,
};

fn judge(facts: &Facts) -> Vec<Finding> {
    facts.records.iter().filter_map(find).collect()
}

fn find(record: &Record) -> Option<Finding> {
    let lost = record.sent - record.recorded;
    if lost == 0.0 {
        return None;
    }
    let claim = match lost > 0.0 {
        true => format!(
            "{} of {} {} were not recorded",
            say(lost, Unit::Count),
            say(record.sent, Unit::Count),
            record.what
        ),
        false => format!("{} more {} were recorded than sent", say(-lost, Unit::Count), record.what),
    };
    Some(Finding {
        rule: RULE.name,
        severity: Severity::Error,
        strength: Strength::Arithmetic,
        claim,
        evidence: vec![
            Figure::new("sent", record.sent, Unit::Count),
            Figure::new("recorded", record.recorded, Unit::Count),
            Figure::new("difference", lost, Unit::Count),
        ],
        implies: "counts and rates are off by at least this share, percentiles by an unknown amount: losses concentrate in busy moments, where points share a timestamp"
            .to_owned(),
        remedy: "store aggregates per interval, or give each point a unique key; stores keyed by timestamp and tags overwrite duplicates"
            .to_owned(),
        caveats: Vec::new(),
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
