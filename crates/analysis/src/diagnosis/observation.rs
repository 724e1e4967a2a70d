//! The observations that detectors return.

use model::diagnosis::{
    Claim, CostClass, FigureName, Hypothesis, Measured, MissingKind, Remedy, Role, RuledOut,
};
use model::{Strength, Unit};

use super::case_view::View;

/// An observation of a detector.
pub(super) enum Observation {
    /// The fault is there.
    Found(Box<Hypothesis>, Depth),
    /// The suspect was checked and ruled out.
    RuledOut(RuledOut),
    /// The evidence for a check was not collected.
    Missing(MissingKind),
}

/// Distance of a claim from the root cause, in ascending order: a saturated CPU is the consequence of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Depth {
    /// A resource is used up.
    Resource,
    /// Something takes the time, and nothing says that it should not.
    Part,
    /// Code or a setting that someone can change.
    Cause,
}

/// A detector.
pub(super) type Detector = fn(&View<'_>) -> Vec<Observation>;

/// Returns a finding with a claim and its remedy, and without evidence yet.
pub(super) fn draft(claim: Claim, remedy: Remedy, place: impl Into<String>) -> Hypothesis {
    Hypothesis {
        claim,
        place: place.into(),
        role: Role::Limits,
        strength: Strength::Pattern,
        explains: None,
        numbers: Vec::new(),
        demand: None,
        queries: Vec::new(),
        exemplars: Vec::new(),
        ruled_out: Vec::new(),
        flags: Vec::new(),
        caveats: Vec::new(),
        remedy,
        cost: CostClass::Logic,
        prediction: None,
    }
}

/// Returns a number without an interval.
pub(super) const fn exact(name: FigureName, value: f64, unit: Unit) -> Measured {
    Measured::exact(name, value, unit)
}
