//! Whether errors rose between two runs, however small they look beside the number of requests.

use model::audit::{LawClaim, ShiftVerdict};
use model::{Derived, Figure, FigureLabel, Unit};

use super::neighbours;
use crate::audit::{Facts, Run};

/// Beyond this many standard deviations a rise is no chance; errors come in bursts, so the usual two would say too much.
const Z_MIN: f64 = 4.0;

/// Standard deviations by which the errors of the second run exceed those that the first one's rate would give it: with the
/// sum of both given, the second count is binomial (J. Przyborowski and H. Wilenski, 1940). `None` without errors or requests.
pub fn z(errors: (f64, f64), requests: (f64, f64)) -> Option<f64> {
    let (both, all) = (errors.0 + errors.1, requests.0 + requests.1);
    if both <= 0.0 || requests.0 <= 0.0 || requests.1 <= 0.0 {
        return None;
    }
    let share = requests.1 / all;
    Some((errors.1 - both * share) / (both * share * (1.0 - share)).sqrt())
}

/// Each run against the one before it in its table, where both had the same number of VUs.
pub fn derive(facts: &Facts) -> Vec<Derived> {
    neighbours(&facts.runs, of_pair)
}

fn of_pair(before: &Run, after: &Run) -> Option<Derived> {
    if before.vus != after.vus {
        return None;
    }
    let errors = (before.errors?, after.errors?);
    let requests = (before.requests?, after.requests?);
    let z = z(errors, requests)?;
    let trend = match z {
        z if z >= Z_MIN => ShiftVerdict::Regressed,
        z if z <= -Z_MIN => ShiftVerdict::Improved,
        _ => ShiftVerdict::Inconclusive,
    };
    Some(Derived {
        claim: LawClaim::ErrorShift {
            before: before.run.clone(),
            after: after.run.clone(),
            errors_before: errors.0,
            errors_after: errors.1,
            trend,
        },
        figures: vec![
            Figure::new(FigureLabel::ErrorsBefore, errors.0, Unit::Count),
            Figure::new(FigureLabel::RequestsBefore, requests.0, Unit::Count),
            Figure::new(FigureLabel::ErrorsAfter, errors.1, Unit::Count),
            Figure::new(FigureLabel::RequestsAfter, requests.1, Unit::Count),
            Figure::new(FigureLabel::StandardDeviations, z, Unit::Count),
        ],
        place: after.place.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::close;
    use super::*;

    #[test]
    fn errors_are_judged_by_their_number() {
        close(z((3.0, 206.0), (240_587.0, 259_702.0)).expect("errors"), 13.5, 0.05);
        close(z((50.0, 50.0), (1000.0, 1000.0)).expect("errors"), 0.0, 1e-9);
        assert_eq!(z((0.0, 0.0), (10.0, 10.0)), None);
        assert_eq!(z((1.0, 0.0), (0.0, 10.0)), None);
    }
}
