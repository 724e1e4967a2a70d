//! A sweep of the load: the ceiling, the knee, the load at which an SLO is crossed, and a verdict for each level.
//!
//! Two sets of rows are fitted, those on the plateau of throughput and those beyond the knee, and the two ceilings are reported as
//! a range ([`crate::capacity`] has the arithmetic).

use model::audit::LawClaim;
use model::{Derived, Figure, FigureLabel, Unit};

use super::by_table;
use crate::audit::{Criterion, Facts, Run};
use crate::capacity::ladder::{is_collapse, verdicts};
use crate::capacity::points::{POINTS_MIN, Point, ceilings, crossing, cycle_s, plateau};

/// The derived figures of every table that is a sweep.
pub fn derive(facts: &Facts) -> Vec<Derived> {
    let tables = by_table(&facts.runs, |run| &run.place);
    tables
        .into_iter()
        .filter_map(|runs| Sweep::from_runs(runs, facts))
        .flat_map(|sweep| sweep.derive())
        .collect()
}

/// A table that is a sweep.
struct Sweep<'a> {
    points: Vec<Point>,
    /// The largest throughput of all rows, also of those without a time.
    most_per_s: f64,
    /// Limits of the time that the sweep is about, ascending.
    slos: Vec<&'a Criterion>,
    /// The service time of one piece of work, if the stages are known.
    service_s: Option<f64>,
    place: String,
}

impl<'a> Sweep<'a> {
    /// A table is a sweep if at least three of its rows have VUs, throughput and p95, and no two the same VUs.
    fn from_runs(runs: &[Run], facts: &'a Facts) -> Option<Sweep<'a>> {
        let mut points: Vec<Point> = runs.iter().filter_map(point).collect();
        points.sort_by(|a, b| a.load.total_cmp(&b.load));
        if points.len() < POINTS_MIN || points.windows(2).any(|pair| pair[0].load == pair[1].load) {
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
        let most_per_s = runs.iter().filter_map(|run| run.throughput).fold(0.0, f64::max);
        Some(Sweep { points, most_per_s, slos, service_s: (service_s > 0.0).then_some(service_s), place })
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
        let (low, high) = ceilings(&self.points)?;
        let plateau = plateau(&self.points);
        let cycle_s = cycle_s(&self.points)?;
        let measured = |of: fn(f64, f64) -> f64, start: f64| {
            plateau.iter().map(|point| point.throughput_per_s * 60.0).fold(start, of)
        };
        let knee_high = low * cycle_s;
        let knee_low = self.service_s.map_or(knee_high, |service_s| (low * service_s).min(knee_high));
        // A row may do a little more than the slope of the others stands for, and was seen to.
        let high = high.max(self.most_per_s);
        let figures = vec![
            Figure::new(FigureLabel::CeilingFromBelow, low * 60.0, Unit::PerMinute),
            Figure::new(FigureLabel::CeilingFromAbove, high * 60.0, Unit::PerMinute),
            Figure::new(
                FigureLabel::MinimumPlateauThroughput,
                measured(f64::min, f64::INFINITY),
                Unit::PerMinute,
            ),
            Figure::new(FigureLabel::MaximumPlateauThroughput, measured(f64::max, 0.0), Unit::PerMinute),
            Figure::new(FigureLabel::KneeFrom, knee_low, Unit::Vus),
            Figure::new(FigureLabel::KneeTo, knee_high, Unit::Vus),
        ];
        Some(Derived {
            claim: LawClaim::Saturation {
                low_per_min: low * 60.0,
                high_per_min: high * 60.0,
                knee_low,
                knee_high,
            },
            figures,
            place: self.place.clone(),
        })
    }

    fn crossing(&self, limit_s: f64) -> Option<Derived> {
        let times: Vec<(f64, f64)> = self.points.iter().map(|point| (point.load, point.time_s)).collect();
        let vus = crossing(&times, limit_s)?;
        Some(Derived {
            claim: LawClaim::Crossing { limit_s, vus },
            figures: vec![
                Figure::new(FigureLabel::Limit, limit_s, Unit::Seconds),
                Figure::new(FigureLabel::VusAtLimit, vus, Unit::Vus),
            ],
            place: self.place.clone(),
        })
    }

    /// Judged by the largest limit: what exceeds even that exceeds every other.
    fn ladder(&self) -> Derived {
        let slo = self.slos.last().map(|slo| slo.target.value);
        let is_broken = |point: &Point| slo.is_some_and(|slo_s| point.time_s > slo_s);
        let verdicts = verdicts(&self.points, &self.points.iter().map(is_broken).collect::<Vec<bool>>());
        let rows = self.points.iter().zip(&verdicts);
        let steps = rows.map(|(point, verdict)| (point.load, *verdict)).collect();
        let power =
            |point: &Point| Figure::new(FigureLabel::PowerAt(point.load), point.power() * 60.0, Unit::Count);
        let mut figures: Vec<Figure> = self.points.iter().map(power).collect();
        figures.extend(slo.map(|slo| Figure::new(FigureLabel::Slo, slo, Unit::Seconds)));
        Derived { claim: LawClaim::Steps { steps }, figures, place: self.place.clone() }
    }

    /// The deepest fall.
    fn collapse(&self) -> Option<Derived> {
        let fallen = (0..self.points.len()).filter(|index| is_collapse(&self.points, *index));
        let index = fallen
            .min_by(|a, b| self.points[*a].throughput_per_s.total_cmp(&self.points[*b].throughput_per_s))?;
        let by_throughput = |a: &&Point, b: &&Point| a.throughput_per_s.total_cmp(&b.throughput_per_s);
        let (best, fallen) = (self.points[..index].iter().max_by(by_throughput)?, self.points[index]);
        let share = (1.0 - fallen.throughput_per_s / best.throughput_per_s) * 100.0;
        Some(Derived {
            claim: LawClaim::Collapse {
                best_per_s: best.throughput_per_s,
                best_vus: best.load,
                fallen_per_s: fallen.throughput_per_s,
                fallen_vus: fallen.load,
                lost_percent: share,
            },
            figures: vec![
                Figure::new(FigureLabel::BestThroughput, best.throughput_per_s, Unit::PerSecond),
                Figure::new(FigureLabel::AtLoad, best.load, Unit::Vus),
                Figure::new(FigureLabel::FallenThroughput, fallen.throughput_per_s, Unit::PerSecond),
                Figure::new(FigureLabel::AtLoad, fallen.load, Unit::Vus),
                Figure::new(FigureLabel::LostThroughput, share, Unit::Percent),
            ],
            place: self.place.clone(),
        })
    }
}

fn point(run: &Run) -> Option<Point> {
    let point = Point { load: run.vus?, throughput_per_s: run.throughput?, time_s: run.p95? };
    (point.load > 0.0 && point.throughput_per_s > 0.0 && point.time_s > 0.0).then_some(point)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row((vus, per_s, p95_s): (f64, f64, Option<f64>)) -> Run {
        let place = format!("runs.csv, row {vus}");
        Run { place, vus: Some(vus), throughput: Some(per_s), p95: p95_s, ..Run::default() }
    }

    fn ceiling(rows: &[(f64, f64, Option<f64>)]) -> Option<(f64, f64)> {
        let facts = Facts { runs: rows.iter().copied().map(row).collect(), ..Facts::default() };
        derive(&facts).iter().find_map(|derived| match derived.claim {
            LawClaim::Saturation { low_per_min, high_per_min, .. } => Some((low_per_min, high_per_min)),
            _ => None,
        })
    }

    /// The p95 grows as if 84/s were the most, while 211/s are done: it grows for another reason.
    #[test]
    fn no_ceiling_is_below_what_a_row_did() {
        let rows = [(10.0, 205.0, 0.12), (20.0, 208.0, 0.24), (40.0, 211.0, 0.48)];
        assert_eq!(ceiling(&rows.map(|(vus, per_s, p95_s)| (vus, per_s, Some(p95_s)))), None);
        let ideal = [(5.0, 5.0, 1.0), (20.0, 10.0, 2.0), (40.0, 10.0, 4.0), (80.0, 10.0, 8.0)];
        let mut ideal = ideal.map(|(vus, per_s, p95_s)| (vus, per_s, Some(p95_s))).to_vec();
        ideal.push((160.0, 10.5, None));
        let (low, high) = ceiling(&ideal).expect("a ceiling");
        assert!((low - 600.0).abs() < 1e-6 && (high - 630.0).abs() < 1e-6, "{low} {high}");
    }

    proptest! {
        #[test]
        fn ceilings_of_random_tables_are_not_below_their_rows(
            rates in prop::collection::vec((1.0..100.0f64, prop::option::weighted(0.9, 0.01..10.0f64)), 3..9), slope in 0.001..1.0f64,
        ) {
            let row = |(at, (per_s, p95_s)): (usize, (f64, Option<f64>))| {
                let vus = 10.0 * (at + 1) as f64;
                // Mostly on a line, or no table has a ceiling.
                (vus, per_s, p95_s.map(|noise_s| vus * slope + noise_s * slope))
            };
            let rows: Vec<(f64, f64, Option<f64>)> = rates.into_iter().enumerate().map(row).collect();
            let most = rows.iter().map(|row| row.1).fold(0.0, f64::max);
            if let Some((low, high)) = ceiling(&rows) {
                prop_assert!(low <= high && high >= most * 60.0 - 1e-6, "{low} {high} {most}");
            }
        }
    }
}
