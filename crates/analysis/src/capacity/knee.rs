//! The load at which queueing begins, by every method. The methods differ, and the ratio of their answers is reported.

mod kneedle;
mod segments;
mod usl;

use model::capacity::{Estimate, Knee, KneeMethod, LoadUnit};

use super::points::{Point, ceilings, cycle_s};

/// Methods in order of precedence: those that follow from laws come before curve fits, and fits before those that pick the best of a
/// few levels. The scalability law is reported but never chosen, because its maximum throughput usually lies beyond the measured
/// levels.
const BELIEVED: [KneeMethod; 4] =
    [KneeMethod::AsymptoticBounds, KneeMethod::TwoSegments, KneeMethod::Kneedle, KneeMethod::Power];

/// Returns the knees by all methods, and the index of the chosen one. Points are in ascending order of load, one per load;
/// `service_s` is the time of a piece of work without queueing, if known.
pub(super) fn knees(points: &[Point], unit: LoadUnit, service_s: Option<f64>) -> (Vec<Knee>, Option<usize>) {
    let knees = vec![
        knee(KneeMethod::AsymptoticBounds, asymptotic(points, unit, service_s)),
        knee(KneeMethod::Power, power(points)),
        knee(KneeMethod::Kneedle, kneedle::knee(points)),
        knee(KneeMethod::TwoSegments, segments::knee(points)),
        knee(KneeMethod::Usl, usl::knee(points, unit)),
    ];
    let answers = |method: &KneeMethod| knees.iter().position(|it| it.method == *method && it.load.is_some());
    let chosen = BELIEVED.iter().find_map(answers);
    (knees, chosen)
}

fn knee(method: KneeMethod, found: Result<Estimate, &'static str>) -> Knee {
    match found {
        Ok(load) => Knee { method, load: Some(load), why: "" },
        Err(why) => Knee { method, load: None, why },
    }
}

/// Where the line without any waiting meets the ceiling: from the time of service alone up to the time that the lowest level
/// took, which may hold some waiting already.
fn asymptotic(points: &[Point], unit: LoadUnit, service_s: Option<f64>) -> Result<Estimate, &'static str> {
    if unit == LoadUnit::PerSecond {
        return Err("in an open loop the ceiling is the knee");
    }
    let (low, high) = ceilings(points).ok_or("time does not grow along a line yet")?;
    let cycle_s = cycle_s(points).ok_or("nothing was done at the lowest level")?;
    let (lower, upper) = (low * service_s.unwrap_or(cycle_s).min(cycle_s), high * cycle_s);
    Ok(Estimate { value: low * cycle_s, lower, upper })
}

/// The level whose throughput ÷ time is largest, between its neighbours.
fn power(points: &[Point]) -> Result<Estimate, &'static str> {
    let at = strongest(points)?;
    let load = |index: usize| points[index.min(points.len() - 1)].load;
    Ok(Estimate { value: load(at), lower: load(at.saturating_sub(1)), upper: load(at + 1) })
}

/// Returns the index of the level whose throughput ÷ time is largest.
///
/// # Errors
/// Says why there is none.
pub(super) fn strongest(points: &[Point]) -> Result<usize, &'static str> {
    if points.len() < 3 {
        return Err("there are fewer than 3 levels");
    }
    if points.iter().any(|point| point.time_s <= 0.0) {
        return Err("a level has no time");
    }
    let strongest = (0..points.len()).max_by(|a, b| points[*a].power().total_cmp(&points[*b].power()));
    strongest.ok_or("there are no levels")
}

#[cfg(test)]
mod tests {
    use super::super::points::tests::ideal;
    use super::*;
    use crate::laws::testing::close;

    #[test]
    fn an_ideal_loop_has_its_knee_where_the_lines_meet() {
        let (knees, chosen) = knees(&ideal(), LoadUnit::Vus, None);
        let chosen = &knees[chosen.expect("a knee")];
        assert_eq!(chosen.method, KneeMethod::AsymptoticBounds);
        close(chosen.load.expect("a load").value, 10.0, 1e-9);
        let power = knees.iter().find(|knee| knee.method == KneeMethod::Power).expect("it is tried");
        assert_eq!(power.load, Some(Estimate { value: 10.0, lower: 5.0, upper: 20.0 }));
    }

    #[test]
    fn the_time_of_service_makes_a_range_of_it() {
        let found = asymptotic(&ideal(), LoadUnit::Vus, Some(0.5)).expect("a knee");
        close(found.lower, 5.0, 1e-9);
        close(found.upper, 10.0, 1e-9);
    }

    #[test]
    fn what_has_no_knee_says_why() {
        let (knees, chosen) = knees(&ideal()[..2], LoadUnit::Vus, None);
        assert_eq!(chosen, None);
        assert!(knees.iter().all(|knee| knee.load.is_none() && !knee.why.is_empty()), "{knees:?}");
    }
}
