//! The search for the maximum load: the load, the length and the purpose of each next level.
//!
//! First a ramp, each load a multiple of the one before, until an objective breaks: it finds the line's magnitude. It is steeper at
//! low loads. Then noisy bisection: a posterior over the line, in the logarithm of the load. Each level updates it with the
//! probability that its objectives hold, and its median is the next load (probabilistic bisection; R. Waeber, P. Frazier and S. Henderson, 2013). When the fitted
//! line's interval is narrow enough, the search holds its lower bound for longer, expects a load above its upper bound to break, and
//! repeats the lower bound, because a system that broke may recover late. A level at which throughput falls ends the ramp
//! for good. The search performs no I/O: the driver asks [`Search::next`] for a level and reports its result to [`Search::record`].

use model::capacity::{Confirmation, Estimate, LoadUnit, Place, Purpose, SURE};

use super::ladder;
use super::line::{self, Found};
use super::points::Point;
use super::sight::{Rule, Sight};

/// Loads on the ramp are this many times the one before.
const RAMP_FACTOR: f64 = 2.0;

/// Up to this load, VUs or per second, the ramp is steeper: so few harm no target.
const LOW: f64 = 16.0;

/// There, loads are this many times the one before.
const RAMP_FACTOR_LOW: f64 = 4.0;

/// Places of the posterior.
const PLACES: usize = 400;

/// A level says at most this much for or against a place: what looked certain was seen for a minute.
const BELIEF_MAX: f64 = 0.98;

/// Levels between the ramp and the hold at most.
const NARROW_MAX: usize = 12;

/// Levels between the ramp and the hold at least: a line through two levels cannot be wrong.
const NARROW_MIN: usize = 2;

/// Levels that say nothing, one after the other, until the search gives up.
const UNKNOWN_MAX: usize = 3;

/// Times that a hold may break, each of which is one more level, before the search ends without a confirmation.
const HOLDS_MAX: usize = 3;

/// The load above the line is this many times the upper bound.
const ABOVE_FACTOR: f64 = 1.1;

/// Maximum number of steps down if the first load already breaks an objective.
const DOWN_MAX: usize = 6;

/// Settings of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchSettings {
    /// Unit of loads; VUs are whole numbers.
    pub unit: LoadUnit,
    /// The first load.
    pub from: f64,
    /// No load is higher.
    pub to: f64,
    /// Target width of the line's interval: upper bound ÷ lower bound, less 1.
    pub tolerance: f64,
    /// Confidence level of intervals.
    pub confidence: f64,
    /// Warm-up at the start of each level, excluded from its statistics, seconds.
    pub warm_up_s: f64,
    /// Minimum measured length of a level, seconds.
    pub least_s: f64,
    /// And at most.
    pub most_s: f64,
    /// Length of the confirming hold, seconds; zero skips it.
    pub hold_s: f64,
    /// The time that all levels together may take, in seconds.
    pub budget_s: f64,
}

/// Levels of the shortest search that can have a result: a line needs as many loads.
const LEVELS_MIN: f64 = 3.0;

impl SearchSettings {
    /// Returns the shortest budget with which the search can have a result, seconds.
    pub fn budget_s_min(&self) -> f64 {
        LEVELS_MIN * (self.warm_up_s + self.least_s)
    }
}

/// A level to be measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The load.
    pub load: f64,
    /// Purpose of the level.
    pub purpose: Purpose,
    /// Warm-up excluded from the statistics, seconds.
    pub warm_up_s: f64,
    /// It may end after so long, without its beginning, if its objectives surely hold or surely do not.
    pub least_s: f64,
    /// And ends after so long.
    pub most_s: f64,
}

/// A level as it was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// The load.
    pub load: f64,
    /// Purpose of the level.
    pub purpose: Purpose,
    /// How long its load lasted, warm-up included, in seconds.
    pub spent_s: f64,
    /// The time that it takes from the budget, in seconds: also starting, stopping, resting and discarded attempts.
    pub charged_s: f64,
    /// Throughput, per second.
    pub throughput_per_s: f64,
    /// The measurement of each objective; empty if the level is invalid.
    pub sights: Vec<Sight>,
}

impl Made {
    /// Returns the probability that all objectives hold, as that of the weakest; `None` without a measurement.
    pub fn holds(&self) -> Option<f64> {
        let each: Option<Vec<f64>> = self.sights.iter().map(Sight::holds).collect();
        each?.into_iter().reduce(f64::min)
    }

    fn is_kept(&self) -> Option<bool> {
        self.holds().map(|holds| holds >= 0.5)
    }
}

/// The reason why there is no next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Everything was found out.
    Done,
    /// The budget is used up.
    Budget,
    /// One level after the other said nothing.
    Unknown,
}

/// A search.
#[derive(Clone, Debug)]
pub struct Search {
    wanted: SearchSettings,
    made: Vec<Made>,
    /// Throughput fell here; no further load is as high.
    collapse: Option<f64>,
    /// The line of all objectives together, as far as it is known.
    line: Option<Found>,
}

impl Search {
    /// A search that has not begun.
    pub fn new(wanted: SearchSettings) -> Search {
        let from = wanted.from.max(least_load(wanted.unit));
        Search {
            wanted: SearchSettings { from, to: wanted.to.max(from), ..wanted },
            made: Vec::new(),
            collapse: None,
            line: None,
        }
    }

    /// Returns the next level to measure.
    ///
    /// # Errors
    /// The reason why the search is over.
    pub fn next(&self) -> Result<Step, Over> {
        let silent = self.made.iter().rev().take_while(|made| made.holds().is_none()).count();
        if silent >= UNKNOWN_MAX {
            return Err(Over::Unknown);
        }
        let step = self.wished().ok_or(Over::Done)?;
        let left_s = self.wanted.budget_s - self.charged_s();
        if left_s < step.warm_up_s + step.least_s {
            return Err(Over::Budget);
        }
        let most_s = step.most_s.min(left_s - step.warm_up_s);
        // A hold that is cut short is no hold.
        if step.purpose == Purpose::Hold && most_s < step.most_s / 2.0 {
            return Err(Over::Budget);
        }
        Ok(Step { most_s, least_s: step.least_s.min(most_s), ..step })
    }

    /// Takes what a step measured.
    pub fn record(&mut self, made: Made) {
        if made.holds().is_some() && self.has_fallen(&made) {
            self.collapse = Some(self.collapse.map_or(made.load, |known| known.min(made.load)));
        }
        self.made.push(made);
        self.line = self.fitted();
    }

    /// Returns all measured levels, in order.
    pub fn made(&self) -> &[Made] {
        &self.made
    }

    /// The time taken from the budget so far, in seconds.
    pub fn charged_s(&self) -> f64 {
        self.made.iter().map(|made| made.charged_s).sum()
    }

    /// Returns the estimated remaining time, seconds; never more than the budget leaves.
    pub fn left_s(&self) -> f64 {
        let Ok(next) = self.next() else { return 0.0 };
        let wanted = &self.wanted;
        let level_s = wanted.warm_up_s + (wanted.least_s + wanted.most_s) / 2.0;
        let narrow = |done: usize| NARROW_MAX.div_ceil(2).saturating_sub(done) as f64 * level_s;
        let holds_s =
            if wanted.hold_s > 0.0 { 2.0 * (wanted.warm_up_s + wanted.hold_s) + level_s } else { 0.0 };
        let further_s = match next.purpose {
            Purpose::Asked | Purpose::Ramp => 2.0 * level_s + narrow(0) + holds_s,
            Purpose::Narrow => narrow(self.count(Purpose::Narrow)) + holds_s,
            Purpose::Hold => holds_s,
            Purpose::Above => level_s + wanted.hold_s,
            Purpose::Descent => wanted.warm_up_s + wanted.hold_s,
        };
        further_s.min(wanted.budget_s - self.charged_s()).max(0.0)
    }

    /// Returns for each objective how many requests break its limit together near a load, estimated from the measured levels. A level
    /// in progress uses it to find out whether it is decided ([`is_decided`]).
    pub fn bursts(&self, load: f64) -> Vec<f64> {
        let objectives = self.made.iter().map(|made| made.sights.len()).max().unwrap_or(0);
        let of = |objective: usize| {
            let seen =
                self.made.iter().filter_map(|made| Some((made.load, made.sights.get(objective)?.noise()?)));
            line::burst_at(seen, load).0
        };
        (0..objectives).map(of).collect()
    }

    /// The line of all objectives together, as far as it is known.
    pub fn line(&self) -> Option<Found> {
        self.line
    }

    fn fitted(&self) -> Option<Found> {
        let objectives = self.made.iter().map(|made| made.sights.len()).max().unwrap_or(0);
        let of = |objective: usize| {
            let seen: Vec<line::Seen<'_>> =
                self.made.iter().filter_map(|made| Some((made.load, made.sights.get(objective)?))).collect();
            line::find(&seen, self.wanted.confidence)
        };
        lowest(&(0..objectives).map(of).collect::<Vec<Option<Found>>>())
    }

    /// Whether the line was held.
    pub fn confirmation(&self) -> Confirmation {
        let level = |made: &Made| Attempt {
            purpose: made.purpose,
            load: made.load,
            for_s: made.spent_s - self.wanted.warm_up_s,
            is_kept: made.is_kept(),
        };
        confirmation(&self.made.iter().map(level).collect::<Vec<Attempt>>())
    }

    /// The next step, whatever time is left; `None` at the end.
    fn wished(&self) -> Option<Step> {
        if let Some(load) = self.on_ramp() {
            return Some(self.step(load, Purpose::Ramp));
        }
        let narrowed = self.count(Purpose::Narrow);
        let line = self.line?;
        if line.place != Place::Inside {
            // A load that held above one that broke: neither is sure, and more levels decide.
            let is_disputed =
                line.place == Place::BelowAll && self.made.iter().any(|made| made.is_kept() == Some(true));
            return (is_disputed && narrowed < NARROW_MAX).then(|| self.step(self.median(), Purpose::Narrow));
        }
        if let Some(step) = self.confirming(&line) {
            return step;
        }
        let is_narrow = line.load.upper <= line.load.lower * (1.0 + self.wanted.tolerance);
        let may_narrow = !is_narrow && narrowed < NARROW_MAX && !self.is_time_to_hold();
        if narrowed < NARROW_MIN {
            return Some(self.step(self.median(), Purpose::Narrow));
        }
        if let Some(load) = self.narrowing(&line.load).filter(|_| may_narrow) {
            return Some(self.step(load, Purpose::Narrow));
        }
        (self.wanted.hold_s > 0.0).then(|| self.step(self.rounded_down(line.load.lower), Purpose::Hold))
    }

    /// Returns the load that says most about the line: the median of the posterior. If that was measured twice, it is one on the wider
    /// side of the interval, and `None` if those were, too.
    fn narrowing(&self, line: &Estimate) -> Option<f64> {
        let median = self.median();
        let is_lower_wider = line.value - line.lower > line.upper - line.value;
        let bounds = if is_lower_wider { [line.lower, line.upper] } else { [line.upper, line.lower] };
        let beside = bounds.map(|bound| self.rounded((line.value * bound).sqrt().min(self.highest())));
        [median].into_iter().chain(beside).find(|load| !self.is_worn(*load))
    }

    /// Whether the rest of the budget is enough for the hold and what confirms it, and not for another level before.
    fn is_time_to_hold(&self) -> bool {
        let wanted = &self.wanted;
        let level_s = wanted.warm_up_s + wanted.most_s;
        let holds_s = wanted.warm_up_s + wanted.hold_s + 2.0 * level_s;
        let spent_s: f64 = self.made.iter().map(|made| made.spent_s).sum();
        // What starting and stopping takes, measured so far.
        let factor = self.charged_s() / spent_s.max(f64::MIN_POSITIVE);
        let left_s = wanted.budget_s - self.charged_s();
        wanted.hold_s > 0.0 && (holds_s..holds_s + level_s).contains(&(left_s / factor))
    }

    /// Returns the step after a hold; `None` before the first, and after a hold that broke, when the line is narrowed down again.
    fn confirming(&self, line: &Found) -> Option<Option<Step>> {
        let last = self.made.iter().rev().find(|made| made.holds().is_some())?;
        match (last.purpose, last.is_kept()) {
            (Purpose::Hold, Some(true)) => {
                let load = self.rounded(line.load.upper.min(last.load * RAMP_FACTOR) * ABOVE_FACTOR);
                let is_possible = load <= self.highest() && load > last.load;
                Some(is_possible.then(|| self.step(load, Purpose::Above)))
            }
            (Purpose::Hold, _) if self.count(Purpose::Hold) >= HOLDS_MAX => Some(None),
            // The line is lower than the hold: the search narrows it down again with this level included.
            (Purpose::Hold, _) => Some(Some(self.step(self.median(), Purpose::Narrow))),
            (Purpose::Above, _) => {
                let held = self.last(Purpose::Hold)?.load;
                Some(Some(self.step(held, Purpose::Descent)))
            }
            (Purpose::Descent, _) => Some(None),
            _ => None,
        }
    }

    /// The next load of the ramp; `None` once there is a level on both sides of the line, or none to come.
    fn on_ramp(&self) -> Option<f64> {
        let ramp = || self.made.iter().filter(|made| made.purpose == Purpose::Ramp);
        let Some(last) = ramp().next_back() else { return Some(self.rounded(self.wanted.from)) };
        let is_broken = |made: &&Made| made.is_kept() == Some(false);
        let kept = ramp().filter(|made| made.is_kept() == Some(true)).map(|made| made.load).reduce(f64::max);
        // What broke below a load that held, broke by chance.
        if kept.is_some_and(|kept| ramp().any(|made| is_broken(&made) && made.load > kept)) {
            return None;
        }
        let broken = ramp().filter(is_broken).count();
        // One slow request of the few that a low load makes says little.
        let is_chance =
            broken == 1 && last.load < LOW && last.holds().is_some_and(|holds| holds > 1.0 - SURE);
        match last.is_kept() {
            // A load next to it, since a repeated load is not an independent level.
            None => Some(self.rounded(last.load * 1.05)).filter(|load| *load <= self.highest()),
            Some(is_kept) if is_kept || is_chance => {
                let up = self.rounded(higher(last.load).min(self.highest()));
                (last.load < self.highest()).then_some(up)
            }
            Some(_) => {
                let lower = self.rounded_down(last.load / RAMP_FACTOR);
                let is_lowest = lower >= last.load || broken > DOWN_MAX;
                (!is_lowest).then_some(lower)
            }
        }
    }

    fn step(&self, load: f64, purpose: Purpose) -> Step {
        let wanted = &self.wanted;
        let (least_s, most_s) = match purpose {
            Purpose::Hold => (wanted.hold_s, wanted.hold_s),
            // Far from the line a level adds little information.
            Purpose::Ramp => (wanted.least_s, (wanted.least_s + wanted.most_s) / 2.0),
            _ => (wanted.least_s, wanted.most_s),
        };
        Step { load, purpose, warm_up_s: wanted.warm_up_s, least_s, most_s }
    }

    /// The median of the posterior over the line, as a load that can be made.
    fn median(&self) -> f64 {
        let (least, most) = (self.lowest_possible(), self.highest().max(self.wanted.from) * RAMP_FACTOR);
        let place = |at: usize| (least.ln() + (most / least).ln() * at as f64 / (PLACES - 1) as f64).exp();
        let mut logs = vec![0.0f64; PLACES];
        for made in &self.made {
            let Some(holds) = self.holds(made).map(|holds| holds.clamp(1.0 - BELIEF_MAX, BELIEF_MAX)) else {
                continue;
            };
            for (at, log) in logs.iter_mut().enumerate() {
                *log += if place(at) > made.load { holds } else { 1.0 - holds }.ln();
            }
        }
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let masses: Vec<f64> = logs.iter().map(|log| (log - top).exp()).collect();
        let half = masses.iter().sum::<f64>() / 2.0;
        let mut sum = 0.0;
        let at = masses.iter().position(|mass| {
            sum += mass;
            sum >= half
        });
        self.rounded(place(at.unwrap_or(PLACES / 2)).min(self.highest()))
    }

    /// Returns the probability that all objectives hold at a level, given the bursts of neighbouring levels.
    fn holds(&self, made: &Made) -> Option<f64> {
        let sights = made.sights.iter().zip(self.bursts(made.load));
        let each: Option<Vec<f64>> = sights.map(|(sight, burst)| sight.holds_under(burst)).collect();
        each?.into_iter().reduce(f64::min)
    }

    fn lowest_possible(&self) -> f64 {
        let lowest = self.made.iter().map(|made| made.load).fold(self.wanted.from, f64::min);
        (lowest / RAMP_FACTOR).max(least_load(self.wanted.unit) / RAMP_FACTOR)
    }

    /// Returns the highest allowed load: the upper limit of the settings, or the load at which throughput fell.
    fn highest(&self) -> f64 {
        self.collapse.map_or(self.wanted.to, |collapse| collapse.min(self.wanted.to))
    }

    /// Whether a load was measured twice already: whole VUs leave nothing between them to ask about.
    fn is_worn(&self, load: f64) -> bool {
        self.wanted.unit == LoadUnit::Vus && self.made.iter().filter(|made| made.load == load).count() > 1
    }

    fn has_fallen(&self, made: &Made) -> bool {
        let mut points: Vec<Point> = self.made.iter().filter(|it| it.holds().is_some()).map(point).collect();
        points.push(point(made));
        ladder::is_collapse(&points, points.len() - 1)
    }

    fn count(&self, purpose: Purpose) -> usize {
        self.made.iter().filter(|made| made.purpose == purpose).count()
    }

    fn last(&self, purpose: Purpose) -> Option<&Made> {
        self.made.iter().rev().find(|made| made.purpose == purpose)
    }

    fn rounded(&self, load: f64) -> f64 {
        rounded(load, self.wanted.unit, f64::round)
    }

    fn rounded_down(&self, load: f64) -> f64 {
        rounded(load, self.wanted.unit, f64::floor)
    }
}

/// How sure a level must be to end early: with less it could never bound the line's interval.
const STEP_SURE: f64 = line::BEYOND_SURE;

/// Whether a level may end: an objective surely breaks, or all surely hold and no length was promised.
/// `bursts` are those that [`Search::bursts`] knows of: a level that ends before it saw one would seem to hold, and a line that is
/// found with such levels is too high.
pub fn is_decided(purpose: Purpose, sights: &[Sight], bursts: &[f64]) -> bool {
    let is_promised = matches!(purpose, Purpose::Hold | Purpose::Descent);
    let likely = |at: usize| sights[at].holds_under(bursts.get(at).copied().unwrap_or(1.0));
    let breaks = |at: usize| likely(at).is_some_and(|holds| holds <= 1.0 - STEP_SURE);
    let holds = |at: usize| {
        // What nothing may break is never quite sure to hold, and no more so for waiting a little longer.
        let sure = if sights[at].rule == (Rule::Share { allowed: 0.0 }) { SURE } else { STEP_SURE };
        likely(at).is_some_and(|holds| holds >= sure)
    };
    let may_end = purpose != Purpose::Asked && !sights.is_empty();
    may_end && ((0..sights.len()).any(breaks) || !is_promised && (0..sights.len()).all(holds))
}

/// A level as a confirmation looks at it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempt {
    /// Purpose of the level.
    pub purpose: Purpose,
    /// The load.
    pub load: f64,
    /// Measured length, seconds.
    pub for_s: f64,
    /// Whether all objectives hold; `None` without a measurement.
    pub is_kept: Option<bool>,
}

/// Whether the line was held, from all levels in the order in which they were made.
pub fn confirmation(levels: &[Attempt]) -> Confirmation {
    let last = |purpose: Purpose| levels.iter().rev().find(|level| level.purpose == purpose);
    let Some(hold) = last(Purpose::Hold) else { return Confirmation::Untried };
    let is_kept = |purpose: Purpose| last(purpose).and_then(|level| level.is_kept);
    match hold.is_kept {
        None => Confirmation::Untried,
        Some(false) => Confirmation::Broke { load: hold.load },
        Some(true) => Confirmation::Held {
            load: hold.load,
            for_s: hold.for_s,
            above_broke: is_kept(Purpose::Above).map(|is_kept| !is_kept),
            recovered: is_kept(Purpose::Descent),
        },
    }
}

/// The lowest of the objectives' lines, up to which all of them are met. Its bounds are the lowest of theirs; an objective that no
/// level broke bounds it only where it was not measured. The two levels around a line that was never fitted stay its own.
pub fn lowest(lines: &[Option<Found>]) -> Option<Found> {
    let first = rank(lines).and_then(|at| lines[at])?;
    if first.place == Place::Inside && first.confidence <= 0.0 {
        return Some(first);
    }
    let known = || lines.iter().flatten();
    let lower_of = |line: &Found| match (first.place, line.place) {
        (Place::Inside | Place::BelowAll, Place::AboveAll) => line.load.value,
        _ => line.load.lower,
    };
    let value = first.load.value;
    let lower = known().map(lower_of).fold(value, f64::min);
    let upper = known().map(|line| line.load.upper).fold(f64::INFINITY, f64::min).max(value);
    Some(Found { load: Estimate { value, lower, upper }, ..first })
}

/// Which of the objectives' lines binds: one with levels on both sides comes before one that no level broke.
pub fn rank(lines: &[Option<Found>]) -> Option<usize> {
    let known = lines.iter().enumerate().filter_map(|(at, line)| Some((at, (*line)?)));
    let order = |a: &(usize, Found), b: &(usize, Found)| {
        let is_above = |line: &Found| line.place == Place::AboveAll;
        is_above(&a.1).cmp(&is_above(&b.1)).then(a.1.load.value.total_cmp(&b.1.load.value))
    };
    known.min_by(order).map(|(at, _)| at)
}

fn point(made: &Made) -> Point {
    Point { load: made.load, throughput_per_s: made.throughput_per_s, time_s: 0.0 }
}

/// The load after one of the ramp that held.
fn higher(load: f64) -> f64 {
    let steep = (load * RAMP_FACTOR_LOW).min(LOW);
    steep.max(load * RAMP_FACTOR)
}

fn least_load(unit: LoadUnit) -> f64 {
    match unit {
        LoadUnit::Vus => 1.0,
        LoadUnit::PerSecond => 0.1,
    }
}

/// A load that can be made: whole VUs, and three digits of a rate.
fn rounded(load: f64, unit: LoadUnit, round: fn(f64) -> f64) -> f64 {
    if unit == LoadUnit::Vus {
        return round(load).max(1.0);
    }
    let digits = 2 - load.max(least_load(unit)).log10().floor() as i32;
    // Dividing by a whole number keeps decimal fractions as short as they look.
    let rounded = match 10f64.powi(digits.abs()) {
        factor if digits >= 0 => round(load * factor) / factor,
        factor => round(load / factor) * factor,
    };
    rounded.max(least_load(unit))
}

#[cfg(test)]
mod tests;
