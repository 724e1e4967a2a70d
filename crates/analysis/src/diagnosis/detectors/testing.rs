//! Runs detectors on cases for tests.

use model::diagnosis::Hypothesis;

use super::super::case::{Case, Level};
use super::super::case_view::View;
use super::super::observation::{Detector, Observation};

/// Returns the hypotheses of one detector for a single run.
pub(super) fn fires(detect: Detector, level: &Level) -> Vec<Hypothesis> {
    let case = Case { levels: vec![level.clone()] };
    let view = View::new(&case).expect("a run");
    let found = detect(&view).into_iter().filter_map(|observations| match observations {
        Observation::Found(hypothesis, _) => Some(*hypothesis),
        Observation::RuledOut(_) | Observation::Missing(_) => None,
    });
    found.collect()
}

/// That it finds this, as `label: place`, and nothing else.
#[track_caller]
pub(super) fn check(detect: Detector, level: &Level, expect: &[&str]) {
    let found: Vec<String> =
        fires(detect, level).iter().map(|it| format!("{}: {}", it.fault().as_str(), it.place)).collect();
    assert_eq!(found, expect);
}
