//! The rules, one file each. Every one of them was a real mistake in a published load test.

mod before_missing;
mod business_zero;
mod censored_timeout;
mod change_arithmetic;
mod closed_loop;
mod conflicting_slos;
mod failed_as_fast;
mod lost_points;
mod percentile_of_means;
mod queue_in_service;
mod snapshot_outside;
mod sources_disagree;
mod syn_retransmission;
mod time_zone;
mod too_few_points;
mod unequal_load;
mod unmeasured_criterion;
mod unsupported_quantile;
mod usage_above_limit;
mod wrong_window;

use model::{AuditRule, FigureValue, Finding, Unit};

use super::kinds::Facts;
use super::quantity::{Family, Measure};

/// A rule.
pub struct Rule {
    /// Its name.
    pub id: AuditRule,
    /// The number of facts that it looks at.
    pub input: fn(&Facts) -> usize,
    /// Finds every case.
    pub judge: fn(&Facts) -> Vec<Finding>,
}

/// All rules.
pub const RULES: &[Rule] = &[
    wrong_window::RULE,
    time_zone::RULE,
    usage_above_limit::RULE,
    snapshot_outside::RULE,
    too_few_points::RULE,
    lost_points::RULE,
    queue_in_service::RULE,
    percentile_of_means::RULE,
    unsupported_quantile::RULE,
    unequal_load::RULE,
    unmeasured_criterion::RULE,
    conflicting_slos::RULE,
    closed_loop::RULE,
    failed_as_fast::RULE,
    censored_timeout::RULE,
    syn_retransmission::RULE,
    business_zero::RULE,
    sources_disagree::RULE,
    before_missing::RULE,
    change_arithmetic::RULE,
];

/// A measure with the unit of its family.
fn figure(measure: Measure) -> FigureValue {
    FigureValue::number(measure.value, unit_of(measure.family))
}

/// The unit of a family's base.
fn unit_of(family: Family) -> Unit {
    match family {
        Family::Plain => Unit::Count,
        Family::Share => Unit::Percent,
        Family::Time => Unit::Seconds,
        Family::Rate => Unit::PerSecond,
        Family::Cores => Unit::Cores,
        Family::Bytes => Unit::Bytes,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn rules_have_names_of_their_own() {
        let names: BTreeSet<AuditRule> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(names, AuditRule::ALL.iter().copied().collect(), "each rule is listed once");
        assert_eq!(names.len(), RULES.len());
    }

    #[test]
    fn without_facts_nothing_is_said() {
        for rule in RULES {
            assert!((rule.judge)(&Facts::default()).is_empty(), "{:?}", rule.id);
        }
    }
}
