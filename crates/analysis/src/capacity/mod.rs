//! Capacity: the maximum load from several levels of load, and the next load to measure.
//!
//! One file per question: [`points`] has the bounds that operational laws put on a curve, [`ladder`] a word for each level, [`line`]
//! the highest load that keeps an objective, `knee` where waiting begins, [`demand`] what work takes of each resource, [`search`]
//! the next load. [`assess`] puts their answers together.

mod bracket;
pub mod demand;
mod knee;
pub mod ladder;
pub mod line;
pub mod points;
pub mod search;
pub mod sight;
mod squares;

use model::Grade;
use model::capacity::{
    Capacity, Ceiling, Confirmation, Estimate, Level, Line, LoadUnit, Measured, Missing, Objective, Place,
    Recommended, Verdict,
};

use self::demand::Usage;
use self::line::{Found, Seen};
use self::points::{Point, ceilings, cycle_s, interpolated, plateau};
use self::search::Attempt;
use self::sight::{Sight, WEIGHT_FULL};

/// Maximum number of levels per assessment.
pub const LEVELS_MAX: usize = 1_000;

/// With fewer levels on each side a line is a guess.
const LEVELS_NEEDED: usize = 3;

/// Ratio between knees above which the methods are reported to disagree.
const AGREEMENT_MAX: f64 = 2.0;

/// Free VUs beyond the mean number of busy ones, in square roots of that number.
const SPREAD_OF_BUSY: f64 = 3.0;

/// A distance from the limit that falls between two levels by more than so many standard errors did not fall by chance.
const FALL_ERRORS_MAX: f64 = 3.0;

/// Settings of a capacity assessment.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Name of this variant of the target.
    pub variant: String,
    /// Unit of loads.
    pub unit: LoadUnit,
    /// The SLOs; the assessment fills in their maximum loads.
    pub objectives: Vec<Objective>,
    /// The part of the line's lower bound to plan for.
    pub head_room: f64,
    /// Confidence level of intervals.
    pub confidence: f64,
    /// The time of a piece of work without queueing, seconds, if known.
    pub service_s: Option<f64>,
    /// Whether the time under load was over before everything was found out.
    pub is_cut: bool,
}

/// A level with what was seen there.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// The level; what the objectives measured and the verdict are filled in.
    pub level: Level,
    /// The measurement of each objective, in their order.
    pub sights: Vec<Sight>,
    /// The use of each resource.
    pub usages: Vec<Usage>,
}

impl Observed {
    /// Returns whether some objective does not count in full.
    fn is_weighed(&self) -> bool {
        self.sights.iter().any(|sight| sight.weight < WEIGHT_FULL || sight.holds().is_none())
    }

    /// Returns whether all objectives hold, more likely than not; `None` without a valid measurement.
    pub fn is_kept(&self) -> Option<bool> {
        let each: Option<Vec<f64>> = self.sights.iter().map(Sight::holds).collect();
        let weakest = each.filter(|_| self.level.decides)?.into_iter().reduce(f64::min)?;
        Some(weakest >= 0.5)
    }
}

/// Assesses the capacity from levels in the order in which they were measured; levels beyond [`LEVELS_MAX`] are ignored.
pub fn assess(question: &Question, observed: &[Observed]) -> Capacity {
    let confirmation = confirmation(observed);
    let mut observed: Vec<&Observed> = observed.iter().take(LEVELS_MAX).collect();
    observed.sort_by(|a, b| a.level.load.total_cmp(&b.level.load));
    let deciding: Vec<&Observed> = observed.iter().filter(|one| one.level.decides).copied().collect();
    let lines: Vec<Option<Found>> = (0..question.objectives.len())
        .map(|objective| line::find(&seen(&deciding, objective), question.confidence))
        .collect();
    let points = curve(&deciding);
    let (knees, knee) = knee::knees(&points, question.unit, question.service_s);
    let works: Vec<(f64, &[Usage])> =
        deciding.iter().map(|one| (one.level.throughput_per_s, &*one.usages)).collect();
    let demands = demand::demands(&works, question.confidence);
    let line = search::lowest(&lines);
    let throughput = |load: f64| {
        let levels: Vec<(f64, f64)> =
            deciding.iter().map(|one| (one.level.load, one.level.throughput_per_s)).collect();
        interpolated(&levels, load).unwrap_or(0.0)
    };
    let line_of = |found: Found| Line {
        load: found.load,
        place: found.place,
        method: found.method,
        confidence: found.confidence,
        throughput_per_s: throughput(found.load.value),
    };
    let binding = search::rank(&lines).filter(|_| line.is_some_and(|line| line.place != Place::AboveAll));
    let objectives = question.objectives.iter().zip(&lines);
    let mut capacity = Capacity {
        variant: question.variant.clone(),
        unit: question.unit,
        levels: levels(&observed, &deciding, &points),
        objectives: objectives
            .map(|(objective, found)| Objective { line: found.map(line_of), ..objective.clone() })
            .collect(),
        line: line.map(line_of),
        binding,
        recommended: line.and_then(|line| recommended(&line, question, &deciding)),
        ceiling: ceiling(&points, question.unit),
        knees,
        knee,
        end: demand::end(&demands),
        demands,
        confirmation,
        missing: Vec::new(),
    };
    capacity.missing = missing(&capacity, question, &deciding);
    capacity
}

fn confirmation(observed: &[Observed]) -> Confirmation {
    let attempt = |one: &Observed| Attempt {
        purpose: one.level.purpose,
        load: one.level.load,
        for_s: one.level.measured_s.unwrap_or(0.0),
        is_kept: one.is_kept(),
    };
    search::confirmation(&observed.iter().map(attempt).collect::<Vec<Attempt>>())
}

/// Returns the measurement of one objective at each level.
fn seen<'a>(observed: &[&'a Observed], objective: usize) -> Vec<Seen<'a>> {
    observed.iter().filter_map(|one| Some((one.level.load, one.sights.get(objective)?))).collect()
}

/// The levels as a curve: of levels with the same load their mean, and only those with throughput and time.
fn curve(observed: &[&Observed]) -> Vec<Point> {
    let points: Vec<Point> = observed
        .iter()
        .map(|one| Point {
            load: one.level.load,
            throughput_per_s: one.level.throughput_per_s,
            time_s: one.level.time_s.unwrap_or(0.0),
        })
        .filter(|point| point.load > 0.0 && point.throughput_per_s > 0.0 && point.time_s > 0.0)
        .collect();
    points.chunk_by(|a, b| a.load == b.load).map(mean).collect()
}

fn mean(points: &[Point]) -> Point {
    let of = |pick: fn(&Point) -> f64| points.iter().map(pick).sum::<f64>() / points.len() as f64;
    Point {
        load: points[0].load,
        throughput_per_s: of(|point| point.throughput_per_s),
        time_s: of(|point| point.time_s),
    }
}

/// Every level with what its objectives measured and a verdict. Levels of one load are judged by their mean throughput.
fn levels(observed: &[&Observed], deciding: &[&Observed], points: &[Point]) -> Vec<Level> {
    let measured = |one: &Observed| -> Vec<Measured> {
        // What decides nothing is not said to hold, or not to.
        let holds = |sight: &Sight| sight.holds().filter(|_| one.level.decides);
        one.sights.iter().map(|sight| Measured { value: sight.value, holds: holds(sight) }).collect()
    };
    let is_broken = |one: &Observed| measured(one).iter().any(|it| it.is_kept() == Some(false));
    let of_load = |load: f64| deciding.iter().filter(move |one| one.level.load == load);
    let broken: Vec<bool> =
        points.iter().map(|point| of_load(point.load).any(|one| is_broken(one))).collect();
    let verdicts = ladder::verdicts(points, &broken);
    let verdict = |one: &Observed| {
        if !one.level.decides {
            return Verdict::Unknown;
        }
        let at = points.iter().position(|point| point.load == one.level.load);
        match at.and_then(|at| verdicts.get(at)) {
            // Of two measurements of one load each has its own word on the objectives.
            Some(Verdict::SloExceeded) if !is_broken(one) => Verdict::Saturated,
            Some(verdict) => *verdict,
            None if is_broken(one) => Verdict::SloExceeded,
            None => Verdict::Unknown,
        }
    };
    observed
        .iter()
        .map(|one| Level { measured: measured(one), verdict: verdict(one), ..one.level.clone() })
        .collect()
}

/// The load to plan for, and what it comes to.
fn recommended(line: &Found, question: &Question, deciding: &[&Observed]) -> Option<Recommended> {
    // The levels around a line that was never fitted are no bounds of it: the line itself is the best that is known.
    let bound = if line.confidence > 0.0 { line.load.lower } else { line.load.value };
    if line.place == Place::BelowAll || bound <= 0.0 {
        return None;
    }
    let load = match question.unit {
        // A part of a VU cannot be started; one whole VU is the least there is.
        LoadUnit::Vus if bound < 1.0 => return None,
        LoadUnit::Vus => (bound * question.head_room).floor().max(1.0),
        LoadUnit::PerSecond => bound * question.head_room,
    };
    // More VUs bring no more throughput than the levels above the line show. An arrival rate is its throughput up to the line, and above
    // it queues grow, which are no part of what it needs below.
    let highest = if question.unit == LoadUnit::Vus { f64::INFINITY } else { line.load.value };
    let at = |pick: fn(&Level) -> Option<f64>| at_load(load, highest, deciding, pick);
    Some(Recommended {
        load,
        vus: if question.unit == LoadUnit::Vus { Some(load) } else { at(|level| level.vus).map(vus_for) },
        throughput_per_s: at(|level| Some(level.throughput_per_s))?,
        requests_per_s: at(|level| level.requests_per_s),
        head_room: question.head_room,
    })
}

/// A figure at a load, from the levels up to the highest that counts, or from all where none does. Outside of these levels figures are
/// taken to be in proportion to the load.
fn at_load(load: f64, highest: f64, deciding: &[&Observed], pick: fn(&Level) -> Option<f64>) -> Option<f64> {
    let known = |highest: f64| -> Vec<(f64, f64)> {
        let levels = deciding.iter().filter(|one| one.level.load <= highest);
        levels.filter_map(|one| Some((one.level.load, pick(&one.level)?))).collect()
    };
    let levels =
        Some(known(highest)).filter(|levels| !levels.is_empty()).unwrap_or_else(|| known(f64::INFINITY));
    let (lowest, highest) = (levels.first()?, levels.last()?);
    match load {
        load if load < lowest.0 => Some(lowest.1 * load / lowest.0),
        load if load > highest.0 => Some(highest.1 * load / highest.0),
        load => interpolated(&levels, load),
    }
}

/// The VUs for an arrival rate at which so many are busy on average (Little's law, as measured). Arrivals and times vary, and
/// concurrency with them by about its square root; three times that leaves one iteration in a thousand without a VU (A. K. Erlang).
fn vus_for(busy: f64) -> f64 {
    (busy + SPREAD_OF_BUSY * busy.sqrt()).ceil().max(1.0)
}

/// The ceiling: of a closed loop from the slope of time, of an open one the throughput of the plateau, where there is one.
fn ceiling(points: &[Point], unit: LoadUnit) -> Option<Ceiling> {
    let plateau = plateau(points);
    let least = plateau.iter().map(|point| point.throughput_per_s).fold(f64::INFINITY, f64::min);
    let most = plateau.iter().map(|point| point.throughput_per_s).fold(0.0, f64::max);
    let (per_s, cycle_s) = match unit {
        LoadUnit::Vus => {
            let (lower, upper) = ceilings(points)?;
            // A level may do a little more than the slope of the others stands for, and was seen to.
            let upper = upper.max(most);
            (Estimate { value: upper, lower, upper }, cycle_s(points)?)
        }
        LoadUnit::PerSecond => {
            let kept_up = |point: &&Point| point.throughput_per_s >= point.load * 0.95;
            // While everything that is offered is done, nothing is known of a ceiling.
            plateau.iter().find(|point| !kept_up(point))?;
            (Estimate { value: most, lower: least, upper: most }, 0.0)
        }
    };
    Some(Ceiling { per_s, plateau_least_per_s: least, plateau_most_per_s: most, cycle_s })
}

/// Returns the gaps that weaken the answer, most important first.
fn missing(capacity: &Capacity, question: &Question, deciding: &[&Observed]) -> Vec<Missing> {
    let mut missing = Vec::new();
    let mut add = |holds: bool, what: Missing| missing.extend(holds.then_some(what));
    let is_run = capacity.levels.iter().any(|level| level.grade.is_some());
    let mut loads: Vec<f64> = deciding.iter().map(|one| one.level.load).collect();
    loads.dedup();
    add(question.objectives.is_empty(), Missing::Objectives);
    add(loads.len() < LEVELS_NEEDED, Missing::Levels { have: loads.len(), needed: LEVELS_NEEDED });
    let place = capacity.line.map(|line| line.place);
    add(place == Some(Place::AboveAll), Missing::LoadAbove);
    add(place == Some(Place::BelowAll), Missing::LoadBelow);
    let useless = capacity.levels.len() - deciding.len();
    add(useless > 0, Missing::ValidLevels { count: useless });
    let is_weighed = |one: &&&Observed| one.level.grade == Some(Grade::Degraded) && one.is_weighed();
    let weighed = deciding.iter().filter(is_weighed).count();
    add(weighed > 0, Missing::FullWeight { count: weighed });
    for (objective, searched) in capacity.objectives.iter().enumerate() {
        // Of steps that do not count it is not known whether they measured it.
        add(searched.line.is_none() && !deciding.is_empty(), Missing::Measurement { objective });
    }
    add(question.is_cut, Missing::Budget);
    let has_fallen = (0..question.objectives.len()).any(|objective| falls(&seen(deciding, objective)));
    add(has_fallen, Missing::Monotony);
    let is_unheld = matches!(capacity.confirmation, Confirmation::Untried);
    add(is_run && is_unheld && place == Some(Place::Inside), Missing::Hold);
    let knees: Vec<f64> = capacity.knees.iter().filter_map(|knee| knee.load).map(|load| load.value).collect();
    let (least, most) =
        (knees.iter().copied().fold(f64::INFINITY, f64::min), knees.iter().copied().fold(0.0, f64::max));
    add(most > least * AGREEMENT_MAX, Missing::Agreement);
    let has_usages = deciding.iter().any(|one| !one.usages.is_empty());
    add(!has_usages, Missing::Evidence);
    add(has_usages && capacity.demands.iter().all(|demand| demand.limit.is_none()), Missing::Limits);
    add(is_run && !loads.is_empty() && loads.len() == deciding.len(), Missing::Repeats);
    missing
}

/// Whether a level is farther on the good side than a lower one, by more than chance.
fn falls(levels: &[Seen<'_>]) -> bool {
    let distances: Vec<(f64, f64)> = levels
        .iter()
        .filter_map(|level| level.1.distance())
        .map(|distance| (distance.value, distance.error))
        .collect();
    distances.windows(2).any(|pair| {
        let error = pair[0].1.hypot(pair[1].1);
        error > 0.0 && pair[0].0 > 0.0 && pair[1].0 < 0.0 && pair[0].0 - pair[1].0 > FALL_ERRORS_MAX * error
    })
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod random_studies;
