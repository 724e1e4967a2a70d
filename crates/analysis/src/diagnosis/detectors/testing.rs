//! What a detector says of a case, in a line.

use model::diagnosis::Hypothesis;

use super::super::case::{Case, Level};
use super::super::view::{Detector, Says, View};

/// What it finds in a run, alone.
pub(super) fn fires(detect: Detector, level: &Level) -> Vec<Hypothesis> {
    let case = Case { levels: vec![level.clone()] };
    let view = View::of(&case).expect("a run");
    let found = detect(&view).into_iter().filter_map(|says| match says {
        Says::Found(hypothesis, _) => Some(*hypothesis),
        Says::RuledOut(_) | Says::Missing(_) => None,
    });
    found.collect()
}

/// That it finds this, as `label: place`, and nothing else.
#[track_caller]
pub(super) fn check(detect: Detector, level: &Level, expect: &[&str]) {
    let found: Vec<String> =
        fires(detect, level).iter().map(|it| format!("{}: {}", it.label, it.place)).collect();
    assert_eq!(found, expect);
}
