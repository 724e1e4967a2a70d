//! What the system is for and does not happen: an outcome of tasks that the script names and that none of them had, although all
//! were technically well. It limits nothing, and is worth more than a percentile.
//!
//! Not: outcomes that are rare; so few tasks that none of them need have had it.

use model::diagnosis::{CostClass, Hypothesis, Role};
use model::{Strength, Unit};

use super::super::view::{Depth, Says, View, draft, exact};

const NAME: &str = "outcome-zero";

/// Fewer tasks say nothing about what did not happen.
const TASKS_MIN: u64 = 50;

/// Outcomes that are to be zero.
const BAD: [&str; 4] = ["fail", "error", "timeout", "timed"];

/// What never happened.
pub(super) fn detect(view: &View<'_>) -> Vec<Says> {
    let Some(tasks) = &view.level.tasks else { return Vec::new() };
    let all: u64 = tasks.outcomes.values().sum();
    if all < TASKS_MIN {
        return Vec::new();
    }
    let never = tasks.outcomes.iter().filter(|(name, count)| **count == 0 && !super::says(name, &BAD));
    never.map(|(name, _)| Says::Found(Box::new(of(name, all)), Depth::Cause)).collect()
}

fn of(name: &str, all: u64) -> Hypothesis {
    // None of n: the share is below 3/n with 95 % confidence (Hanley and Lippman-Hand, 1983).
    let at_most = 3.0 / all as f64;
    Hypothesis {
        title: format!("no task ended as {name:?}"),
        summary: format!("none of {all} tasks"),
        claim: format!("none of {all} tasks ended as {name:?}, which the script names as an outcome"),
        role: Role::Outcome,
        strength: Strength::Arithmetic,
        numbers: vec![
            exact("tasks", all as f64, Unit::Count),
            exact(&format!("ended as {name:?}"), 0.0, Unit::Count),
            exact("at most, of all tasks", at_most * 100.0, Unit::Percent).noted("with 95 % confidence"),
        ],
        caveats: vec!["it changes no capacity".to_owned()],
        remedy: "find out why it never happens: the requests are well, what they are for is not".to_owned(),
        cost: CostClass::Logic,
        ..draft(NAME, "business outcome is zero", name)
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
