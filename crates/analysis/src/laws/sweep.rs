//! A sweep of the load: the ceiling, the knee, the load at which an SLO is crossed, and a verdict for each level.
//!
//! Two sets of rows are fitted, those on the plateau of throughput and those beyond the knee, and the two ceilings are reported as
//! a range ([`crate::capacity`] has the arithmetic).

use model::{Derived, Figure, Unit};

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
        Some(Sweep { points, slos, service_s: (service_s > 0.0).then_some(service_s), place })
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
        let figures = vec![
            Figure::new("ceiling from below", low * 60.0, Unit::PerMinute),
            Figure::new("ceiling from above", high * 60.0, Unit::PerMinute),
            Figure::new("minimum plateau throughput", measured(f64::min, f64::INFINITY), Unit::PerMinute),
            Figure::new("maximum plateau throughput", measured(f64::max, 0.0), Unit::PerMinute),
            Figure::new("knee from", knee_low, Unit::Vus),
            Figure::new("knee to", knee_high, Unit::Vus),
        ];
        Some(Derived {
            law: "asymptotic-bounds",
            says: format!(
                "response time grows linearly with VUs: throughput saturates at {:.0} to {:.0}/min, with the knee at {knee_low:.0} to {knee_high:.0} VUs",
                low * 60.0,
                high * 60.0
            ),
            figures,
            caveats: vec![
                "p95 is used instead of the mean; under saturation both grow at the same rate".to_owned(),
            ],
            place: self.place.clone(),
        })
    }

    fn crossing(&self, limit_s: f64) -> Option<Derived> {
        let times: Vec<(f64, f64)> = self.points.iter().map(|point| (point.load, point.time_s)).collect();
        let vus = crossing(&times, limit_s)?;
        let limit = Figure::new("limit", limit_s, Unit::Seconds);
        Some(Derived {
            law: "slo-crossing",
            says: format!("p95 reaches {} at {vus:.0} VUs", limit.value),
            figures: vec![limit, Figure::new("VUs at the limit", vus, Unit::Vus)],
            caveats: vec!["interpolated between two load steps measured once each".to_owned()],
            place: self.place.clone(),
        })
    }

    /// Judged by the largest limit: what exceeds even that exceeds every other.
    fn ladder(&self) -> Derived {
        let slo = self.slos.last().map(|slo| slo.target.value);
        let is_broken = |point: &Point| slo.is_some_and(|slo_s| point.time_s > slo_s);
        let verdicts = verdicts(&self.points, &self.points.iter().map(is_broken).collect::<Vec<bool>>());
        let rows = self.points.iter().zip(&verdicts);
        let words: Vec<String> =
            rows.map(|(point, verdict)| format!("{} {}", point.load, verdict.as_str())).collect();
        let power = |point: &Point| {
            let name = format!("power at {} VUs, per min per s", point.load);
            Figure::new(name, point.power() * 60.0, Unit::Count)
        };
        let mut figures: Vec<Figure> = self.points.iter().map(power).collect();
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
        let fallen = (0..self.points.len()).filter(|index| is_collapse(&self.points, *index));
        let index = fallen
            .min_by(|a, b| self.points[*a].throughput_per_s.total_cmp(&self.points[*b].throughput_per_s))?;
        let by_throughput = |a: &&Point, b: &&Point| a.throughput_per_s.total_cmp(&b.throughput_per_s);
        let (best, fallen) = (self.points[..index].iter().max_by(by_throughput)?, self.points[index]);
        let share = (1.0 - fallen.throughput_per_s / best.throughput_per_s) * 100.0;
        Some(Derived {
            law: "collapse",
            says: format!(
                "throughput falls from {:.0}/s at {} VUs to {:.0}/s at {} VUs, by {share:.0} %: congestion collapse",
                best.throughput_per_s, best.load, fallen.throughput_per_s, fallen.load
            ),
            figures: vec![
                Figure::new("best throughput", best.throughput_per_s, Unit::PerSecond),
                Figure::new("at", best.load, Unit::Vus),
                Figure::new("fallen throughput", fallen.throughput_per_s, Unit::PerSecond),
                Figure::new("at", fallen.load, Unit::Vus),
                Figure::new("lost", share, Unit::Percent),
            ],
            caveats: vec!["means over whole runs, including ramps".to_owned()],
            place: self.place.clone(),
        })
    }
}

fn point(run: &Run) -> Option<Point> {
    let point = Point { load: run.vus?, throughput_per_s: run.throughput?, time_s: run.p95? };
    (point.load > 0.0 && point.throughput_per_s > 0.0 && point.time_s > 0.0).then_some(point)
}
