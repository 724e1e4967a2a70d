//! A business outcome that never occurs: an outcome of tasks that the script names and that no task had, although all
//! were technically successful. It limits no throughput, but makes the performance figures meaningless.
//!
//! Not: rare outcomes, when the tasks are too few to expect one.

use model::diagnosis::{Caveat, Claim, CostClass, FigureName, Hypothesis, Note, Remedy, Role};
use model::{Strength, Unit};

use super::super::case_view::View;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::thresholds::missing_outcome::TASKS_MIN;

/// Outcomes that are expected to be zero.
const BAD: [&str; 4] = ["fail", "error", "timeout", "timed"];

/// Finds outcomes that never occurred.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let Some(tasks) = &view.level.tasks else { return Vec::new() };
    let all: u64 = tasks.outcomes.values().sum();
    if all < TASKS_MIN {
        return Vec::new();
    }
    let never =
        tasks.outcomes.iter().filter(|(name, count)| **count == 0 && !super::contains_any(name, &BAD));
    never.map(|(name, _)| Observation::Found(Box::new(finding(name, all)), Depth::Cause)).collect()
}

fn finding(name: &str, all: u64) -> Hypothesis {
    // None of n: the share is below 3/n with 95 % confidence (Hanley and Lippman-Hand, 1983).
    let at_most = 3.0 / all as f64;
    Hypothesis {
        role: Role::Outcome,
        strength: Strength::Arithmetic,
        numbers: vec![
            exact(FigureName::Tasks, all as f64, Unit::Count),
            exact(FigureName::TasksEndedAs(name.to_owned()), 0.0, Unit::Count),
            exact(FigureName::UpperBound, at_most * 100.0, Unit::Percent).noted(Note::Confidence95),
        ],
        caveats: vec![Caveat::NoCapacityEffect],
        cost: CostClass::Logic,
        ..draft(
            Claim::OutcomeNeverOccurs { outcome: name.to_owned(), tasks: all },
            Remedy::CheckOutcome,
            name,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::case::{Level, Tasks};
    use super::super::super::testing::level;
    use super::super::testing::check;
    use super::*;

    #[test]
    fn what_never_happened_is_told() {
        let case = |rewarded, failed| {
            let outcomes = [("rewarded", rewarded), ("unrewarded", 1000), ("failed", failed)];
            let outcomes = outcomes.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
            Level { tasks: Some(Tasks { done: 1000, mean_s: Some(1.0), outcomes }), ..level(10, 10, 0.1) }
        };
        check(detect, &case(0, 0), &["business outcome is zero: rewarded"]);
        check(detect, &case(3, 0), &[]);
    }
}
