//! Which outcomes have a tag of their own: a bounded number per run, because scripts may make them up.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Outcomes that get a tag of their own in one process. Further ones are counted together.
pub(crate) const OUTCOMES_MAX: usize = 64;

/// The outcome that stands for those without a tag of their own.
pub(crate) const OTHER: &str = "other";

/// The outcomes that all VUs have seen.
#[derive(Debug, Default)]
pub(crate) struct Outcomes {
    known: Mutex<(BTreeSet<Box<str>>, bool)>,
}

/// The outcome that another is counted as, and whether it is the first beyond the limit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Counted<'a> {
    pub(crate) as_outcome: Cow<'a, str>,
    pub(crate) is_first_beyond: bool,
}

impl Outcomes {
    /// The outcome that `outcome` is counted as. Where the script has `declared` some, every other is [`OTHER`].
    pub(crate) fn count<'a>(&self, outcome: &'a str, declared: &[Box<str>]) -> Counted<'a> {
        let as_is = Counted { as_outcome: outcome.into(), is_first_beyond: false };
        if declared.iter().any(|known| **known == *outcome) || outcome == OTHER {
            return as_is;
        }
        let other = Counted { as_outcome: OTHER.into(), is_first_beyond: false };
        if !declared.is_empty() {
            return other;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.0.contains(outcome) {
            return as_is;
        }
        if known.0.len() >= OUTCOMES_MAX {
            let has_warned = std::mem::replace(&mut known.1, true);
            return Counted { is_first_beyond: !has_warned, ..other };
        }
        known.0.insert(outcome.into());
        as_is
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_bounded() {
        let outcomes = Outcomes::default();
        let check = |outcome: &str, declared: &[&str], expect: &str, is_first_beyond: bool| {
            let declared: Vec<Box<str>> = declared.iter().map(|&one| one.into()).collect();
            let counted = outcomes.count(outcome, &declared);
            assert_eq!(
                (&*counted.as_outcome, counted.is_first_beyond),
                (expect, is_first_beyond),
                "{outcome}"
            );
        };
        for index in 0..OUTCOMES_MAX {
            let outcome = format!("outcome {index}");
            check(&outcome, &[], &outcome, false);
        }
        check("one more", &[], OTHER, true);
        check("two more", &[], OTHER, false);
        check("outcome 5", &[], "outcome 5", false);
        check("rewarded", &["rewarded", "refused"], "rewarded", false);
        check("reworded", &["rewarded", "refused"], OTHER, false);
        check(OTHER, &["rewarded"], OTHER, false);
    }
}
