//! A sweep of the load: the ceiling, the knee, the load at which an SLO is crossed, and a verdict for each level.
//!
//! In a closed loop that is saturated, N = X·(R + Z) with X constant, so R grows by 1/X with each VU: the slope of time over
//! VUs is the ceiling (asymptotic bounds, P. J. Denning and J. P. Buzen, 1978). Two sets of rows are fitted, those on the
//! plateau of throughput and those beyond the knee, and the two ceilings are told as a range.

use model::{Derived, Figure, Unit};

use super::by_table;
use crate::audit::{Criterion, Facts, Run};

/// Rows below the largest throughput by no more than this are its plateau.
const PLATEAU_SHARE: f64 = 0.1;

/// A straight line needs more points than the two that it always fits.
const ROWS_MIN: usize = 3;

/// What a line must explain of the variance to be called one.
const FIT_MIN: f64 = 0.99;

/// Throughput that falls below the largest before it by more than this has collapsed.
const COLLAPSE_SHARE: f64 = 0.1;

/// Below this, more load brings hardly more throughput: the exponent of throughput over load between two levels.
const ELASTICITY_SATURATED: f64 = 0.2;

/// One level of load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// VUs.
    pub vus: f64,
    /// Throughput, per second.
    pub throughput_per_s: f64,
    /// The time that the SLO is about, seconds.
    pub time_s: f64,
}

/// What a level of load is worth, from good to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The lowest level: what the others are compared with.
    Baseline,
    /// More load brings more throughput, at a price worth it.
    Normal,
    /// Throughput ÷ time is at its largest (L. Kleinrock's power, 1979).
    Knee,
    /// Time grows faster than throughput.
    PastKnee,
    /// More load brings hardly more throughput.
    Saturated,
    /// The SLO does not hold. Said before any word about saturation.
    SloExceeded,
    /// More load brings less throughput.
    Collapse,
}

impl Verdict {
    /// Its words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Verdict::Baseline => "baseline",
            Verdict::Normal => "normal",
            Verdict::Knee => "knee",
            Verdict::PastKnee => "past the knee",
            Verdict::Saturated => "saturated",
            Verdict::SloExceeded => "SLO exceeded",
            Verdict::Collapse => "collapse",
        }
    }
}

/// Throughput ÷ time (L. Kleinrock, 1979).
pub fn power(level: Level) -> f64 {
    level.throughput_per_s / level.time_s
}

/// The ceiling of throughput from the slope of time over VUs, per second; `None` where the levels lie on no rising line.
pub fn ceiling(levels: &[Level]) -> Option<f64> {
    if levels.len() < ROWS_MIN {
        return None;
    }
    let count = levels.len() as f64;
    let mean = |of: fn(&Level) -> f64| levels.iter().map(of).sum::<f64>() / count;
    let (vus, time) = (mean(|level| level.vus), mean(|level| level.time_s));
    let sum = |of: &dyn Fn(&Level) -> f64| levels.iter().map(of).sum::<f64>();
    let across = sum(&|level| (level.vus - vus) * (level.time_s - time));
    let (along, up) = (sum(&|level| (level.vus - vus).powi(2)), sum(&|level| (level.time_s - time).powi(2)));
    let is_line = across > 0.0 && across * across >= FIT_MIN * along * up;
    is_line.then(|| along / across)
}

/// The levels whose throughput is that of the plateau.
pub fn plateau(levels: &[Level]) -> Vec<Level> {
    let most = levels.iter().map(|level| level.throughput_per_s).fold(0.0, f64::max);
    levels.iter().filter(|level| level.throughput_per_s >= most * (1.0 - PLATEAU_SHARE)).copied().collect()
}

/// VUs at which the time reaches a limit, interpolated between the two levels around it; `None` where no level is above it,
/// or none below.
pub fn crossing(levels: &[Level], limit_s: f64) -> Option<f64> {
    let pair = levels.windows(2).find(|pair| pair[0].time_s <= limit_s && pair[1].time_s > limit_s)?;
    let (low, high) = (pair[0], pair[1]);
    Some(low.vus + (high.vus - low.vus) * (limit_s - low.time_s) / (high.time_s - low.time_s))
}

/// A verdict for each level; levels in ascending order of their VUs.
pub fn verdicts(levels: &[Level], slo_s: Option<f64>) -> Vec<Verdict> {
    let strongest =
        (0..levels.len()).max_by(|a, b| power(levels[*a]).total_cmp(&power(levels[*b]))).unwrap_or(0);
    (0..levels.len()).map(|index| verdict(levels, index, strongest, slo_s)).collect()
}

fn verdict(levels: &[Level], index: usize, strongest: usize, slo_s: Option<f64>) -> Verdict {
    let level = levels[index];
    if is_collapse(levels, index) {
        return Verdict::Collapse;
    }
    if slo_s.is_some_and(|slo_s| level.time_s > slo_s) {
        return Verdict::SloExceeded;
    }
    let Some(before) = index.checked_sub(1).map(|before| levels[before]) else { return Verdict::Baseline };
    let elasticity = (level.throughput_per_s / before.throughput_per_s).ln() / (level.vus / before.vus).ln();
    match index.cmp(&strongest) {
        _ if elasticity < ELASTICITY_SATURATED => Verdict::Saturated,
        std::cmp::Ordering::Less => Verdict::Normal,
        std::cmp::Ordering::Equal => Verdict::Knee,
        std::cmp::Ordering::Greater => Verdict::PastKnee,
    }
}

fn is_collapse(levels: &[Level], index: usize) -> bool {
    let before = levels[..index].iter().map(|level| level.throughput_per_s).fold(0.0, f64::max);
    levels[index].throughput_per_s < before * (1.0 - COLLAPSE_SHARE)
}

/// Everything that a sweep tells, of every table that is one.
pub fn derive(facts: &Facts) -> Vec<Derived> {
    let tables = by_table(&facts.runs, |run| &run.place);
    tables.into_iter().filter_map(|runs| Sweep::of(runs, facts)).flat_map(|sweep| sweep.derive()).collect()
}

/// A table that is a sweep.
struct Sweep<'a> {
    levels: Vec<Level>,
    /// Limits of the time that the sweep is about, ascending.
    slos: Vec<&'a Criterion>,
    /// The time of one piece of work without any waiting, if the stages tell it.
    service_s: Option<f64>,
    place: String,
}

impl<'a> Sweep<'a> {
    /// A table is a sweep if at least three of its rows have VUs, throughput and p95, and no two the same VUs.
    fn of(runs: &[Run], facts: &'a Facts) -> Option<Sweep<'a>> {
        let level = |run: &Run| {
            let level = Level { vus: run.vus?, throughput_per_s: run.throughput?, time_s: run.p95? };
            (level.vus > 0.0 && level.throughput_per_s > 0.0 && level.time_s > 0.0).then_some(level)
        };
        let mut levels: Vec<Level> = runs.iter().filter_map(level).collect();
        levels.sort_by(|a, b| a.vus.total_cmp(&b.vus));
        if levels.len() < ROWS_MIN || levels.windows(2).any(|pair| pair[0].vus == pair[1].vus) {
            return None;
        }
        let metric = runs.iter().find_map(|run| run.metric.as_deref()).unwrap_or_default();
        let is_about = |criterion: &&Criterion| {
            criterion.metric.eq_ignore_ascii_case(metric)
                && criterion.statistic.eq_ignore_ascii_case("p95")
                && criterion.target.family == crate::audit::Family::Time
        };
        let mut slos: Vec<&Criterion> = facts.criteria.iter().filter(is_about).collect();
        slos.sort_by(|a, b| a.target.value.total_cmp(&b.target.value));
        slos.dedup_by(|a, b| a.target.value == b.target.value);
        let service_s: f64 = facts.stages.iter().map(|stage| stage.service).sum();
        let place = super::table_of(&runs.first()?.place).to_owned();
        Some(Sweep { levels, slos, service_s: (service_s > 0.0).then_some(service_s), place })
    }

    fn derive(&self) -> Vec<Derived> {
        let mut derived = Vec::new();
        derived.extend(self.capacity());
        derived.extend(self.slos.iter().filter_map(|slo| self.crossing(slo.target.value)));
        derived.push(self.ladder());
        derived.extend(self.collapse());
        derived
    }

    /// The ceiling from both sets of rows, and the knee that follows from it.
    fn capacity(&self) -> Option<Derived> {
        let plateau = plateau(&self.levels);
        let of_plateau = ceiling(&plateau)?;
        let first = self.levels[0];
        let cycle_s = first.vus / first.throughput_per_s;
        let beyond: Vec<Level> =
            self.levels.iter().filter(|level| level.vus > of_plateau * cycle_s).copied().collect();
        let of_beyond = ceiling(&beyond).unwrap_or(of_plateau);
        let (low, high) = (of_plateau.min(of_beyond), of_plateau.max(of_beyond));
        let measured = |of: fn(f64, f64) -> f64, start: f64| {
            plateau.iter().map(|level| level.throughput_per_s * 60.0).fold(start, of)
        };
        let knee_high = low * cycle_s;
        let knee_low = self.service_s.map_or(knee_high, |service_s| (low * service_s).min(knee_high));
        let figures = vec![
            Figure::new("ceiling from below", low * 60.0, Unit::PerMinute),
            Figure::new("ceiling from above", high * 60.0, Unit::PerMinute),
            Figure::new(
                "least throughput of the plateau",
                measured(f64::min, f64::INFINITY),
                Unit::PerMinute,
            ),
            Figure::new("largest throughput of the plateau", measured(f64::max, 0.0), Unit::PerMinute),
            Figure::new("knee from", knee_low, Unit::Vus),
            Figure::new("knee to", knee_high, Unit::Vus),
        ];
        Some(Derived {
            law: "asymptotic-bounds",
            says: format!(
                "time grows by a constant with each VU, so throughput has a ceiling of {:.0} to {:.0} per minute, and the \
                 knee is at {knee_low:.0} to {knee_high:.0} VUs",
                low * 60.0,
                high * 60.0
            ),
            figures,
            caveats: vec![
                "p95 stands for the mean, whose slope is the law's; under saturation the two grow alike"
                    .to_owned(),
            ],
            place: self.place.clone(),
        })
    }

    fn crossing(&self, limit_s: f64) -> Option<Derived> {
        let vus = crossing(&self.levels, limit_s)?;
        let limit = Figure::new("limit", limit_s, Unit::Seconds);
        Some(Derived {
            law: "slo-crossing",
            says: format!("p95 reaches {} at {vus:.0} VUs", limit.value),
            figures: vec![limit, Figure::new("VUs at the limit", vus, Unit::Vus)],
            caveats: vec!["interpolated between two levels that were measured once each".to_owned()],
            place: self.place.clone(),
        })
    }

    /// Judged by the largest limit: what exceeds even that exceeds every other.
    fn ladder(&self) -> Derived {
        let slo = self.slos.last().map(|slo| slo.target.value);
        let verdicts = verdicts(&self.levels, slo);
        let rows = self.levels.iter().zip(&verdicts);
        let words: Vec<String> =
            rows.map(|(level, verdict)| format!("{} {}", level.vus, verdict.as_str())).collect();
        let powers = self.levels.iter();
        let mut figures: Vec<Figure> = powers
            .map(|level| {
                Figure::new(
                    format!("power at {} VUs, per min per s", level.vus),
                    power(*level) * 60.0,
                    Unit::Count,
                )
            })
            .collect();
        figures.extend(slo.map(|slo| Figure::new("SLO", slo, Unit::Seconds)));
        Derived {
            law: "ladder",
            says: format!("by VUs: {}", words.join(", ")),
            figures,
            caveats: Vec::new(),
            place: self.place.clone(),
        }
    }

    /// The deepest fall.
    fn collapse(&self) -> Option<Derived> {
        let fallen = (0..self.levels.len()).filter(|index| is_collapse(&self.levels, *index));
        let index = fallen
            .min_by(|a, b| self.levels[*a].throughput_per_s.total_cmp(&self.levels[*b].throughput_per_s))?;
        let by_throughput = |a: &&Level, b: &&Level| a.throughput_per_s.total_cmp(&b.throughput_per_s);
        let (best, fallen) = (self.levels[..index].iter().max_by(by_throughput)?, self.levels[index]);
        let share = (1.0 - fallen.throughput_per_s / best.throughput_per_s) * 100.0;
        Some(Derived {
            law: "collapse",
            says: format!(
                "throughput falls from {:.0}/s at {} VUs to {:.0}/s at {} VUs, by {share:.0} %: more load brings less",
                best.throughput_per_s, best.vus, fallen.throughput_per_s, fallen.vus
            ),
            figures: vec![
                Figure::new("best throughput", best.throughput_per_s, Unit::PerSecond),
                Figure::new("at", best.vus, Unit::Vus),
                Figure::new("fallen throughput", fallen.throughput_per_s, Unit::PerSecond),
                Figure::new("at", fallen.vus, Unit::Vus),
                Figure::new("lost", share, Unit::Percent),
            ],
            caveats: vec!["means over whole runs, ramps included".to_owned()],
            place: self.place.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::close;
    use super::*;

    /// Six levels of an ideal closed loop: R = max(R0, N/X − Z) with X = 10/s, R0 = 1 s, Z = 0.
    fn ideal() -> Vec<Level> {
        [5.0, 10.0, 20.0, 40.0, 80.0, 160.0f64]
            .map(|vus| Level { vus, throughput_per_s: vus.min(10.0), time_s: (vus / 10.0).max(1.0) })
            .to_vec()
    }

    #[test]
    fn the_slope_is_the_ceiling() {
        close(ceiling(&plateau(&ideal())).expect("a line"), 10.0, 1e-9);
        assert_eq!(ceiling(&ideal()[..2]), None);
        let falling: Vec<Level> =
            ideal().into_iter().map(|level| Level { time_s: 9.0 - level.vus / 20.0, ..level }).collect();
        assert_eq!(ceiling(&falling), None);
    }

    #[test]
    fn limits_are_crossed_between_levels() {
        for (limit_s, expect) in [(3.0, Some(30.0)), (4.0, Some(40.0)), (16.0, None), (0.5, None)] {
            assert_eq!(crossing(&ideal(), limit_s), expect, "{limit_s}");
        }
    }

    #[test]
    fn the_ladder_names_the_worst_first() {
        use Verdict::{Baseline, Collapse, Knee, Saturated, SloExceeded};
        assert_eq!(
            verdicts(&ideal(), Some(4.0)),
            [Baseline, Knee, Saturated, Saturated, SloExceeded, SloExceeded]
        );
        let mut fallen = ideal();
        fallen[5].throughput_per_s = 8.9;
        assert_eq!(verdicts(&fallen, None)[5], Collapse);
        fallen[5].throughput_per_s = 9.1;
        assert_eq!(verdicts(&fallen, None)[5], Saturated);
        assert_eq!(verdicts(&ideal()[..1], Some(0.5)), [SloExceeded]);
    }
}
