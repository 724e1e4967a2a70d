//! Deadlocks of a database, which ends one of the transactions that wait for each other. The evidence is the database's own counter.
//!
//! Not: sessions that wait for locks and get them, which `locks` finds.

use model::diagnosis::{Claim, CostClass, FigureName, Hypothesis, Remedy, Role};
use model::{SignalRole, Strength, Unit};

use super::super::case_view::View;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::series;
use super::super::thresholds::deadlocks::OF_REQUESTS_MIN;

/// Finds databases that report deadlocks.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let found = view.signals(&SignalRole::Deadlocks.signals()).into_iter().filter_map(|signal| {
        let per_s = series::mean(view.level, signal)?;
        let place = series::place(signal).to_owned();
        if per_s <= view.level.requests_per_s() * OF_REQUESTS_MIN {
            return None;
        }
        let hypothesis = Hypothesis {
            role: Role::Contributes,
            strength: Strength::Limit,
            numbers: vec![exact(FigureName::DoneRate, per_s, Unit::PerSecond)],
            queries: vec![view.query(signal)],
            cost: CostClass::Logic,
            ..draft(Claim::Deadlocks { place: place.clone(), per_s }, Remedy::ShortenTransactions, place)
        };
        Some(Observation::Found(Box::new(hypothesis), Depth::Cause))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, with_evidence};
    use super::super::testing::check;
    use super::*;

    #[test]
    fn deadlocks_count_by_the_requests_that_are_made() {
        let case =
            |per_s| with_evidence(level(10, 100, 0.1), vec![flat("deadlocks", &[], 10, per_s)], Vec::new());
        check(detect, &case(2.0), &["row lock contention: source"]);
        check(detect, &case(0.01), &[]);
    }
}
