//! The maximum load: the highest load that keeps an objective, with its interval.
//!
//! The log odds of breaking a limit are nearly a straight line over load near the limit (of M/M/1 the logarithm of the share is
//! exactly one), so that levels on both sides of the line say more together than the two next to it. A line is fitted to the
//! levels around the crossing, each with a weight that falls with its error and with its distance from the crossing, and
//! inverted. The interval holds every load at which the fit does not exclude the limit itself (E. C. Fieller, 1954).
//!
//! Three things would make the line too high, or its interval too narrow, and are seen to. A share that is counted in bursts has a
//! logarithm that is too low on average ([`Sight::distance_under`]). A level that happened to see few requests break the limit
//! also seems less noisy than it is: errors are those of the fit, and the size of bursts is that of all levels near the line.
//! And levels that disagree with the line by more than their errors make the errors larger.

use std::ops::Range;

use model::capacity::{Estimate, LineMethod, Place, SURE};
use stats::student_quantile;

use super::bracket::Bracket;
use super::points::{crossing, isotonic};
use super::sight::{Distance, Noise, Sight};

/// By how much the log odds leave the straight line at a distance in the logarithm of the load: this times its square.
const CURVATURE: f64 = 3.0;

/// And by how much at a distance from the limit itself: this times its square. Where most requests break the limit, their log odds
/// rise more steeply than near the line.
const BEND_OF_ODDS: f64 = 0.4;

/// Levels this far from a load, in its logarithm, count little for how noisy it is there.
const NEAR: f64 = 0.15;

/// No level is known better than this, or one whose seconds are all the same would count alone.
const VARIANCE_MIN: f64 = 1e-6;

/// Maximum number of refinements of the crossing.
const ROUNDS: usize = 4;

/// Halvings until a bound is known.
const HALVINGS: usize = 40;

/// A fitted crossing farther outside the two levels around it than this share is not believed.
const OUTSIDE_MAX: f64 = 0.25;

/// Nor one beyond a level that is this surely on the other side. Of many levels near the line some are wrong with less, and a level
/// that was to end as soon as it was sure had many tries.
pub(super) const BEYOND_SURE: f64 = 0.999;

/// A level: its load and what was seen there.
pub type Seen<'a> = (f64, &'a Sight);

/// The maximum load with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The load and its interval.
    pub load: Estimate,
    /// Position of the line relative to the measured levels.
    pub place: Place,
    /// Method of the estimate.
    pub method: LineMethod,
    /// Confidence level of the interval; 0 if it is only the two levels around the line.
    pub confidence: f64,
}

/// The line of one objective; `None` where no level says anything. Levels may come in any order.
///
/// The line agrees with the levels one by one ([`Bracket`]): it is above all of them only if none of the highest breaks the objective,
/// and below all of them only if none below those that break it keeps it.
pub fn find(levels: &[Seen<'_>], confidence: f64) -> Option<Found> {
    let mut levels: Vec<Seen<'_>> =
        levels.iter().filter(|level| level.1.holds().is_some()).copied().collect();
    levels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let highest = levels.last()?.0;
    let judged: Vec<(f64, f64)> =
        levels.iter().filter_map(|level| Some((level.0, level.1.holds()?))).collect();
    let has_distances = levels.iter().all(|level| level.1.distance().is_some());
    let has_errors = levels.iter().any(|level| level.1.distance().is_some_and(|it| it.error > 0.0));
    let is_fitted = has_distances && has_errors;
    let softened = |found: Found| if is_fitted { softened(found, &levels) } else { found };
    let (floor, cap) = match Bracket::of(&judged) {
        Bracket { floor: Some(floor), cap: Some(cap) } => (floor, cap),
        Bracket { floor: None, cap } => {
            let lowest = judged.iter().filter(|level| level.1 < 0.5).map(|level| level.0).reduce(f64::min);
            let load = lowest.or(cap)?;
            return Some(softened(found(Estimate { value: load, lower: 0.0, upper: load }, Place::BelowAll)));
        }
        Bracket { floor: Some(_), cap: None } => {
            let load = Estimate { value: highest, lower: highest, upper: f64::INFINITY };
            return Some(softened(found(load, Place::AboveAll)));
        }
    };
    let inside = match is_fitted {
        true => fitted(&levels, confidence),
        false if has_distances => interpolated(&levels, floor, cap),
        false => None,
    };
    Some(match inside {
        Some(inside) => within(inside, floor, cap),
        None => found(Estimate { value: floor, lower: floor, upper: cap }, Place::Inside),
    })
}

/// Moves a line between the two levels around it, which its interval includes: of a limit that breaks all at once, nothing shows
/// where between the two it is.
fn within(line: Found, floor: f64, cap: f64) -> Found {
    let Estimate { value, lower, upper } = line.load;
    let load = Estimate { value: value.clamp(floor, cap), lower: lower.min(floor), upper: upper.max(cap) };
    Found { load, ..line }
}

/// Between the two levels around the crossing, of figures without an error.
fn interpolated(levels: &[Seen<'_>], floor: f64, cap: f64) -> Option<Found> {
    let values: Vec<f64> = levels.iter().filter_map(|level| Some(level.1.distance()?.value)).collect();
    let curve: Vec<(f64, f64)> = levels.iter().map(|level| level.0).zip(isotonic(&values)).collect();
    let value = crossing(&curve, 0.0)?;
    Some(found(Estimate { value, lower: floor, upper: cap }, Place::Inside))
}

fn found(load: Estimate, place: Place) -> Found {
    Found { load, place, method: LineMethod::Isotonic, confidence: 0.0 }
}

/// The levels that a line is fitted to.
struct Levels<'a> {
    levels: Vec<Level<'a>>,
    around: Range<f64>,
}

/// A level, and what is known of it before anything is fitted.
struct Level<'a> {
    load: f64,
    sight: &'a Sight,
    distance: Distance,
    noise: Option<Noise>,
    /// The size of bursts at its load, estimated from all levels.
    burst: f64,
}

/// A level as the fit sees it.
#[derive(Clone, Copy, Debug)]
struct Datum {
    load: f64,
    distance: f64,
    variance: f64,
}

/// How far a load is from the limit, by the line through the levels around it.
#[derive(Clone, Copy, Debug)]
struct Fit {
    distance: f64,
    error: f64,
    slope: f64,
    /// The degrees of freedom of the error.
    dof: f64,
}

/// The fitted crossing, with its interval; `None` where the levels together lie on one side of the limit.
fn fitted(levels: &[Seen<'_>], confidence: f64) -> Option<Found> {
    let mut known: Vec<Level<'_>> = levels.iter().filter_map(Level::new).collect();
    let bursts: Vec<f64> = known.iter().map(|level| burst_at(noises(&known), level.load).0).collect();
    known.iter_mut().zip(bursts).for_each(|(level, burst)| level.burst = burst);
    let values: Vec<f64> = known.iter().map(|level| level.distance.value).collect();
    let curve: Vec<(f64, f64)> = known.iter().map(|level| level.load).zip(isotonic(&values)).collect();
    let first = crossing(&curve, 0.0)?;
    let levels = Levels { around: around(&known, &curve, first), levels: known };
    let value = levels.crossing(first);
    let tail = (1.0 - confidence.clamp(0.0, 1.0)) / 2.0;
    let load = Estimate {
        value,
        lower: levels.bound(value, levels.around.start, tail),
        upper: levels.bound(value, levels.around.end, tail),
    };
    Some(Found { load, place: Place::Inside, method: LineMethod::LogLinear, confidence })
}

impl<'a> Level<'a> {
    fn new(&(load, sight): &Seen<'a>) -> Option<Level<'a>> {
        Some(Level { load, sight, distance: sight.distance()?, noise: sight.noise(), burst: 1.0 })
    }
}

impl Levels<'_> {
    /// Where the line through the levels around a first guess crosses the limit; the guess itself where it does so far away.
    fn crossing(&self, first: f64) -> f64 {
        (0..ROUNDS).fold(first, |load, _| {
            let next = self.fit(load).map(|fit| load - fit.distance / fit.slope);
            next.filter(|next| self.around.contains(next)).unwrap_or(load)
        })
    }

    /// The load towards `end` from which on the limit is excluded; the end where it never is.
    fn bound(&self, value: f64, end: f64, tail: f64) -> f64 {
        let is_excluded = |load: f64| {
            self.fit(load).is_some_and(|fit| {
                let far = student_quantile(1.0 - tail, fit.dof) * fit.error;
                if load < value { fit.distance < -far } else { fit.distance > far }
            })
        };
        if !is_excluded(end) {
            return end;
        }
        let (mut inside, mut outside) = (value, end);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(inside, outside);
            if is_excluded(middle) { outside = middle } else { inside = middle }
        }
        outside
    }

    /// The fit around a load; `None` where it does not rise.
    fn fit(&self, load: f64) -> Option<Fit> {
        let (_, dof) = burst_at(noises(&self.levels), load);
        let data = |expected: &dyn Fn(&Level<'_>) -> f64| -> Vec<Datum> {
            let datum = |level: &Level<'_>| {
                let Distance { value, error } = match level.noise {
                    Some(_) => level.sight.distance_under(level.burst, expected(level))?,
                    None => level.distance,
                };
                let bent = bend(level.load, load).hypot(BEND_OF_ODDS * expected(level).powi(2));
                let variance = error.powi(2) + bent.powi(2);
                Some(Datum { load: level.load, distance: value, variance: variance.max(VARIANCE_MIN) })
            };
            self.levels.iter().filter_map(datum).collect()
        };
        let fit = on_line(&data(&|level| level.distance.value), load, dof)?;
        on_line(&data(&|level| fit.distance + fit.slope * (level.load - load)), load, dof)
    }
}

/// The size of bursts near a load, and the degrees of freedom that it is known with.
pub(super) fn burst_at(noises: impl Iterator<Item = (f64, Noise)>, load: f64) -> (f64, f64) {
    let (mut variance, mut independent, mut uncertain) = (0.0, 0.0, 0.0);
    for (at, noise) in noises {
        let weight = (-((at / load).ln() / NEAR).powi(2) / 2.0).exp();
        variance += weight * noise.variance;
        independent += weight * noise.independent;
        uncertain += (weight * noise.variance).powi(2) / noise.dof;
    }
    if variance <= independent || uncertain <= 0.0 {
        return (1.0, f64::INFINITY);
    }
    // F. E. Satterthwaite, 1946.
    (variance / independent, variance * variance / uncertain)
}

fn noises<'a>(levels: &'a [Level<'_>]) -> impl Iterator<Item = (f64, Noise)> + 'a {
    levels.iter().filter_map(|level| Some((level.load, level.noise?)))
}

/// The weighted line through the levels, at a load.
fn on_line(data: &[Datum], at: f64, dof: f64) -> Option<Fit> {
    let sum = |of: &dyn Fn(&Datum) -> f64| data.iter().map(|datum| of(datum) / datum.variance).sum::<f64>();
    let all = sum(&|_| 1.0);
    let (load, distance) = (sum(&|datum| datum.load) / all, sum(&|datum| datum.distance) / all);
    let across = sum(&|datum| (datum.load - load) * (datum.distance - distance));
    let along = sum(&|datum| (datum.load - load).powi(2));
    let slope = across / along;
    if !(slope > 0.0 && slope.is_finite()) {
        return None;
    }
    let apart = sum(&|datum| (datum.distance - distance - slope * (datum.load - load)).powi(2));
    let spare = data.len() as f64 - 2.0;
    let scale = if spare > 0.0 { (apart / spare).max(1.0) } else { 1.0 };
    let variance = scale * (all.recip() + (at - load).powi(2) / along);
    Some(Fit { distance: distance + slope * (at - load), error: variance.sqrt(), slope, dof })
}

/// Where all levels lie on one side, the bound on that side is the last level that is surely there.
fn softened(at: Found, levels: &[Seen<'_>]) -> Found {
    let is_sure = |level: &&Seen<'_>| {
        level.1.holds().is_some_and(|holds| match at.place {
            Place::BelowAll => holds <= 1.0 - SURE,
            Place::AboveAll | Place::Inside => holds >= SURE,
        })
    };
    let load = match at.place {
        Place::BelowAll => {
            let upper = levels.iter().find(is_sure).map_or(f64::INFINITY, |level| level.0);
            Estimate { upper, ..at.load }
        }
        Place::AboveAll | Place::Inside => {
            let lower = levels.iter().rev().find(is_sure).map_or(0.0, |level| level.0);
            Estimate { lower, ..at.load }
        }
    };
    Found { load, ..at }
}

fn bend(load: f64, around: f64) -> f64 {
    CURVATURE * (load / around).ln().powi(2)
}

/// Where a fitted crossing is believed: between the two levels around the first guess, and a little beyond, but not beyond a level
/// that surely is on the other side: where a limit is broken all at once, no straight line fits.
fn around(levels: &[Level<'_>], curve: &[(f64, f64)], first: f64) -> Range<f64> {
    let below = curve.iter().rev().find(|level| level.1 <= 0.0).map_or(first, |level| level.0);
    let above = curve.iter().find(|level| level.1 > 0.0).map_or(first, |level| level.0);
    let sure = |is_sure: fn(f64) -> bool| {
        let holds = |level: &Level<'_>| level.sight.holds_under(level.burst);
        levels.iter().filter(move |level| holds(level).is_some_and(is_sure)).map(|level| level.load)
    };
    let kept = sure(|holds| holds >= BEYOND_SURE).filter(|load| *load <= first).fold(0.0, f64::max);
    let broken =
        sure(|holds| holds <= 1.0 - BEYOND_SURE).filter(|load| *load >= first).fold(f64::INFINITY, f64::min);
    (below * (1.0 - OUTSIDE_MAX)).max(kept)..(above * (1.0 + OUTSIDE_MAX)).min(broken)
}

#[cfg(test)]
mod tests {
    use stats::Random;

    use super::super::sight::{Rule, WEIGHT_FULL};
    use super::*;
    use crate::laws::testing::close;

    const MU_PER_S: f64 = 100.0;

    /// M/M/1 with 100 jobs a second and a limit that 5 % may break: the share that takes longer is exp(−(μ − λ)·T).
    fn level(per_s: f64, limit_s: f64, random: &mut Random) -> Sight {
        let share = (-(MU_PER_S - per_s).max(0.0) * limit_s).exp();
        let second = |_| {
            let all = random.poisson(per_s) as f64;
            (random.poisson(all * share).min(all as u64) as f64, all)
        };
        Sight {
            rule: Rule::Share { allowed: 0.05 },
            value: None,
            seconds: (0..60).map(second).collect(),
            weight: WEIGHT_FULL,
        }
    }

    #[test]
    fn the_line_of_a_queue_is_found() {
        let truth = MU_PER_S - 20f64.ln() / 0.1;
        let mut random = Random::new(1);
        let loads = [40.0, 55.0, 65.0, 75.0, 90.0];
        let sights: Vec<Sight> = loads.iter().map(|load| level(*load, 0.1, &mut random)).collect();
        let seen: Vec<Seen<'_>> = loads.into_iter().zip(&sights).collect();
        let found = find(&seen, 0.95).expect("a line");
        assert_eq!((found.place, found.method), (Place::Inside, LineMethod::LogLinear));
        close(found.load.value, truth, 2.0);
        assert!(found.load.lower < truth && truth < found.load.upper, "{found:?}");
        assert!(found.load.upper - found.load.lower < 0.15 * truth, "{found:?}");
    }

    #[test]
    fn a_limit_that_is_broken_all_at_once_is_between_its_levels() {
        let level = |per_s: f64| {
            let over = if per_s <= 40.4 { 0.0 } else { 0.1 * per_s };
            Sight {
                rule: Rule::Share { allowed: 0.05 },
                value: None,
                seconds: (0..10).map(|_| (over, per_s)).collect(),
                weight: WEIGHT_FULL,
            }
        };
        let loads = [10.0, 20.0, 40.0, 40.4, 41.2, 43.1, 47.3, 56.4, 80.0];
        let sights = loads.map(level);
        let seen: Vec<Seen<'_>> = loads.into_iter().zip(&sights).collect();
        let found = find(&seen, 0.95).expect("a line");
        assert!((40.4..=41.2).contains(&found.load.value), "{found:?}");
    }

    #[test]
    fn levels_on_one_side_bound_it_on_that_side() {
        let mut random = Random::new(2);
        let (low, high) = (level(30.0, 0.1, &mut random), level(90.0, 0.1, &mut random));
        let below = find(&[(30.0, &low)], 0.95).expect("a line");
        assert_eq!((below.place, below.load.lower, below.load.upper), (Place::AboveAll, 30.0, f64::INFINITY));
        let above = find(&[(90.0, &high)], 0.95).expect("a line");
        assert_eq!((above.place, above.load.lower, above.load.upper), (Place::BelowAll, 0.0, 90.0));
        assert_eq!(find(&[], 0.95), None);
    }

    #[test]
    fn what_was_stated_is_interpolated() {
        let stated = |value| Sight {
            rule: Rule::Stated { limit: 30.0, is_upper: true },
            value: Some(value),
            seconds: Vec::new(),
            weight: WEIGHT_FULL,
        };
        let sights = [17.7, 33.2, 40.5].map(stated);
        let seen: Vec<Seen<'_>> = [50.0, 200.0, 250.0].into_iter().zip(&sights).collect();
        let found = find(&seen, 0.95).expect("a line");
        close(found.load.value, 169.0, 0.1);
        assert_eq!((found.load.lower, found.load.upper, found.confidence), (50.0, 200.0, 0.0));
    }

    #[test]
    fn what_is_kept_or_not_lies_between_levels() {
        let whole = |holds| Sight {
            rule: Rule::Whole { holds: Some(holds) },
            value: None,
            seconds: Vec::new(),
            weight: WEIGHT_FULL,
        };
        let sights = [true, true, false, true].map(whole);
        let seen: Vec<Seen<'_>> = [10.0, 20.0, 30.0, 40.0].into_iter().zip(&sights).collect();
        let found = find(&seen, 0.95).expect("a line");
        assert_eq!(found.load, Estimate { value: 20.0, lower: 20.0, upper: 30.0 });
        assert_eq!(find(&seen[2..3], 0.95).expect("a line").place, Place::BelowAll);
    }
}
