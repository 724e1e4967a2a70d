//! The frame of the rules: a case, limits, and the effect of bad seconds on the run.

use std::ops::Range;

use model::{Amount, Fault, Grade, Instant, Reason};

use super::facts::Facts;
use super::second::Second;

/// Shorter windows, such as a run's last, are too short for shares of time.
const JUDGED_SECONDS_MIN: f64 = 0.5;

/// More invalid seconds than this share of the run make all of it invalid: what is left is not what was planned.
const INVALID_SHARE: f64 = 0.10;

/// More invalid seconds than this share make the run one to be used with care, leaving them out.
const INVALID_TOLERATED_SHARE: f64 = 0.01;

/// The same for seconds that are degraded or worse. One alone is an accident.
const DEGRADED_TOLERATED_SHARE: f64 = 0.05;

/// A run as the rules see it.
#[derive(Debug)]
pub(super) struct Case<'a> {
    pub(super) facts: &'a Facts,
    /// The windows in which scenarios ran, long enough to be judged.
    pub(super) seconds: Vec<Second>,
    /// All windows.
    pub(super) all: Vec<Second>,
}

/// The judgement of a rule.
#[derive(Debug, PartialEq)]
pub(super) enum Ruling {
    /// It does not concern such a run.
    NotApplicable,
    /// It does, and there is no evidence.
    Unmeasured,
    /// There is, and nothing is wrong.
    Fine,
    /// Something is.
    Bad(Reason, Vec<(u32, Grade)>),
}

/// Where good ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) degraded: f64,
    pub(super) invalid: f64,
}

impl Limits {
    pub(super) const fn new(degraded: f64, invalid: f64) -> Limits {
        Limits { degraded, invalid }
    }

    /// A value at the limit is still good.
    pub(super) fn grade(self, value: f64) -> Grade {
        match value {
            value if value > self.invalid => Grade::Invalid,
            value if value > self.degraded => Grade::Degraded,
            _ => Grade::Valid,
        }
    }
}

impl<'a> Case<'a> {
    pub(super) fn new(facts: &'a Facts) -> Case<'a> {
        let all = facts.seconds();
        let span = span(facts, &all);
        let overlap_s = |second: &Second, span: &(Instant, Instant)| {
            second.end.min(span.1).since(second.start.max(span.0)).as_secs_f64()
        };
        let is_judged = |second: &&Second| {
            span.as_ref().is_some_and(|span| overlap_s(second, span) >= JUDGED_SECONDS_MIN)
        };
        let seconds = all.iter().filter(is_judged).cloned().collect();
        Case { facts, seconds, all }
    }

    /// From the start of the scenarios to their end, as far as is known.
    pub(super) fn span(&self) -> Option<(Instant, Instant)> {
        span(self.facts, &self.all)
    }

    pub(super) fn has_open_scenario(&self) -> bool {
        self.facts.scenarios.iter().any(|scenario| scenario.is_open)
    }

    /// Judges each second by a number of its own. Seconds without one are left out.
    pub(super) fn by_second(
        &self,
        fault: Fault,
        amount: fn(f64) -> Amount,
        limits: Limits,
        value: impl Fn(&Second) -> Option<f64>,
    ) -> Ruling {
        let values: Vec<(u32, f64)> = self
            .seconds
            .iter()
            .filter_map(|second| Some((second.index, value(second).filter(|value| value.is_finite())?)))
            .collect();
        if values.is_empty() {
            return Ruling::Unmeasured;
        }
        let grades: Vec<(u32, Grade)> =
            values.iter().map(|(index, value)| (*index, limits.grade(*value))).collect();
        let bad: Vec<(u32, Grade)> =
            grades.iter().copied().filter(|(_, grade)| *grade != Grade::Valid).collect();
        if bad.is_empty() {
            return Ruling::Fine;
        }
        let worst = values.iter().map(|(_, value)| *value).fold(f64::MIN, f64::max);
        let grade = of_run(&bad, values.len());
        let limit = if grade == Grade::Invalid { limits.invalid } else { limits.degraded };
        let windows = ranges(bad.iter().map(|(index, _)| *index));
        Ruling::Bad(Reason { fault, grade, observed: amount(worst), limit: amount(limit), windows }, bad)
    }

    /// Judges the run by one number.
    pub(super) fn by_run(
        &self,
        fault: Fault,
        amount: fn(f64) -> Amount,
        limits: Limits,
        value: f64,
    ) -> Ruling {
        let grade = limits.grade(value);
        if grade == Grade::Valid {
            return Ruling::Fine;
        }
        let limit = if grade == Grade::Invalid { limits.invalid } else { limits.degraded };
        let (observed, limit) = (amount(value), amount(limit));
        Ruling::Bad(Reason { fault, grade, observed, limit, windows: Vec::new() }, Vec::new())
    }
}

fn span(facts: &Facts, all: &[Second]) -> Option<(Instant, Instant)> {
    let started = facts.scenarios_started?;
    let ended = facts.scenarios_ended.or_else(|| all.last().map(|second| second.end))?;
    (ended > started).then_some((started, ended))
}

/// The grade of a run with so many bad seconds.
fn of_run(bad: &[(u32, Grade)], of: usize) -> Grade {
    let invalid = bad.iter().filter(|(_, grade)| *grade == Grade::Invalid).count();
    let share = |count: usize| count as f64 / of.max(1) as f64;
    if share(invalid) > INVALID_SHARE {
        return Grade::Invalid;
    }
    let is_degraded = share(invalid) > INVALID_TOLERATED_SHARE
        || (bad.len() >= 2 && share(bad.len()) > DEGRADED_TOLERATED_SHARE);
    if is_degraded { Grade::Degraded } else { Grade::Valid }
}

/// Ascending numbers as ranges.
pub(super) fn ranges(numbers: impl Iterator<Item = u32>) -> Vec<Range<u32>> {
    let mut ranges: Vec<Range<u32>> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some(range) if range.end == number => range.end += 1,
            _ => ranges.push(number..number + 1),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_seconds_count_by_their_share_of_the_run() {
        let check = |invalid: usize, degraded: usize, of: usize, expect: Grade| {
            let grades = [vec![(0, Grade::Invalid); invalid], vec![(0, Grade::Degraded); degraded]].concat();
            assert_eq!(of_run(&grades, of), expect, "{invalid} invalid and {degraded} degraded of {of}");
        };
        check(1, 0, 30, Grade::Degraded);
        check(3, 0, 30, Grade::Degraded);
        check(4, 0, 30, Grade::Invalid);
        check(0, 1, 10, Grade::Valid);
        check(0, 2, 30, Grade::Degraded);
        check(0, 30, 600, Grade::Valid);
        check(6, 0, 600, Grade::Valid);
        check(7, 0, 600, Grade::Degraded);
    }

    #[test]
    fn neighbours_are_one_range() {
        assert_eq!(ranges([1, 2, 3, 7, 9].into_iter()), [1..4, 7..8, 9..10]);
        assert_eq!(ranges(std::iter::empty()), []);
    }

    #[test]
    fn a_value_at_its_limit_is_good() {
        let limits = Limits::new(1.0, 4.0);
        let grades = [1.0, 1.001, 4.0, 4.001].map(|value| limits.grade(value));
        assert_eq!(grades, [Grade::Valid, Grade::Degraded, Grade::Degraded, Grade::Invalid]);
    }
}
