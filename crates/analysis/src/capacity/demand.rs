//! The demand of one piece of work on each resource: U = D · X + U0 over the levels, and the throughput at which the limit is reached.
//!
//! The utilisation law (P. J. Denning and J. P. Buzen, 1978) with a constant share that exists without load. Saturated levels bend
//! the line, and so do the levels of a collapsing system; each demand therefore carries the share of the variance that it explains.

use std::ops::Range;

use model::capacity::{Demand, End, Estimate};
use model::{Instant, Signal, SignalId};
use stats::student_quantile;

/// A line through two levels always fits.
const LEVELS_MIN: usize = 3;

/// Minimum utilisation at the highest level for a resource to count as the limit.
const END_SHARE_MIN: f64 = 0.75;

/// A line that explains less is none.
const FIT_MIN: f64 = 0.5;

/// Maximum number of resources reported, those that saturate first.
const RESOURCES_MAX: usize = 50;

/// The use of one resource at a level.
#[derive(Clone, Debug, PartialEq)]
pub struct Usage {
    /// The resource.
    pub resource: String,
    /// Unit of the use, in UCUM.
    pub unit: String,
    /// How much was used on average.
    pub used: f64,
    /// The limit of the use; `None` if no source reports one.
    pub limit: Option<f64>,
}

/// Signals of the use of resources that work takes its time of.
const USES: &[SignalId] = &[
    SignalId::ActiveSessions,
    SignalId::Connections,
    SignalId::ContainerCpu,
    SignalId::Cpu,
    SignalId::JvmProcessCpu,
    SignalId::MysqlConnections,
    SignalId::NodeCpu,
    SignalId::PgConnections,
    SignalId::PoolActive,
    SignalId::ProcessCpu,
    SignalId::QueueUtilisation,
    SignalId::ServerThreads,
];

/// The unit of shares, whose limit is 1 unless a source reports another.
const SHARE: &str = "1";

/// Returns the use of each resource within a time range: the mean of its points in the range, and its last limit.
///
/// A limit belongs to the same labels, or to an enclosing resource, which has a subset of the labels.
pub fn usages(signals: &[Signal], part: &Range<Instant>) -> Vec<Usage> {
    let inside = |signal: &Signal| -> Vec<f64> {
        let points = signal.points.iter().filter(|point| part.contains(&point.0));
        points.map(|point| point.1).filter(|value| value.is_finite()).collect()
    };
    let limit_of = |signal: &Signal| {
        let is_of = |other: &&Signal| {
            other.source == signal.source
                && other.name.is_limit_of(&signal.name)
                && other.labels.iter().all(|(label, value)| signal.labels.get(label) == Some(value))
        };
        let closest = signals.iter().filter(is_of).max_by_key(|other| other.labels.len())?;
        // Servers write zero for no limit.
        inside(closest).last().copied().filter(|limit| *limit > 0.0)
    };
    let usage = |signal: &Signal| {
        let values = inside(signal);
        let used = values.iter().sum::<f64>() / values.len() as f64;
        let share = (signal.unit == SHARE).then_some(1.0);
        (!values.is_empty()).then(|| Usage {
            resource: resource(signal),
            unit: signal.unit.clone(),
            used,
            limit: limit_of(signal).or(share),
        })
    };
    let is_use = |signal: &&Signal| signal.name.id().is_some_and(|id| USES.contains(&id));
    signals.iter().filter(is_use).filter_map(usage).collect()
}

/// Returns the name of a resource: source, signal and labels.
fn resource(signal: &Signal) -> String {
    let labels = signal.labels.values().filter(|value| !value.is_empty());
    let words = [signal.source.as_str(), signal.name.as_str()].into_iter();
    words.chain(labels.map(String::as_str)).collect::<Vec<_>>().join(" ")
}

/// Returns the demand of every resource that enough levels report and whose use grows with work, the first to saturate first.
/// Each level is its throughput per second and its uses of resources.
pub fn demands(levels: &[(f64, &[Usage])], confidence: f64) -> Vec<Demand> {
    let mut names: Vec<(&str, &str)> =
        levels.iter().flat_map(|level| level.1).map(|usage| (&*usage.resource, &*usage.unit)).collect();
    names.sort_unstable();
    names.dedup();
    let mut demands: Vec<Demand> =
        names.into_iter().filter_map(|(resource, unit)| demand(resource, unit, levels, confidence)).collect();
    let first = |demand: &Demand| demand.ceiling_per_s.map_or(f64::INFINITY, |ceiling| ceiling.value);
    demands.sort_by(|a, b| first(a).total_cmp(&first(b)).then_with(|| a.resource.cmp(&b.resource)));
    demands.truncate(RESOURCES_MAX);
    demands
}

/// Returns the limiting resource: among those near saturation at the highest level, the first to saturate.
pub fn end(demands: &[Demand]) -> Option<End> {
    let ends = |demand: &&Demand| demand.used_share.is_some_and(|share| share >= END_SHARE_MIN);
    let demand = demands.iter().find(ends)?;
    Some(End {
        resource: demand.resource.clone(),
        ceiling_per_s: demand.ceiling_per_s?,
        used_share: demand.used_share?,
    })
}

fn demand(resource: &str, unit: &str, levels: &[(f64, &[Usage])], confidence: f64) -> Option<Demand> {
    let of = |level: &(f64, &[Usage])| {
        let usage = level.1.iter().find(|usage| usage.resource == resource && usage.unit == unit)?;
        Some((level.0, usage.used, usage.limit))
    };
    let points: Vec<(f64, f64, Option<f64>)> = levels.iter().filter_map(of).collect();
    let line = Line::through(&points, confidence)?;
    // The last word counts where limits were changed between levels.
    let limit = points.iter().rev().find_map(|point| point.2).filter(|limit| *limit > 0.0);
    let busiest = points.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(Demand {
        resource: resource.to_owned(),
        unit: unit.to_owned(),
        per_work: line.slope,
        idle: line.idle,
        limit,
        ceiling_per_s: limit.map(|limit| line.reaches(limit)),
        levels: points.len(),
        fit: line.fit,
        used_share: limit.map(|limit| busiest.1 / limit),
    })
}

/// A straight line with what is known of its error.
struct Line {
    slope: Estimate,
    idle: f64,
    fit: f64,
    count: f64,
    mean: f64,
    along: f64,
    /// Student's quantile times the standard error of a level.
    reach: f64,
}

impl Line {
    /// `None` for too few levels, and where usage does not grow with work along a line.
    fn through(points: &[(f64, f64, Option<f64>)], confidence: f64) -> Option<Line> {
        if points.len() < LEVELS_MIN {
            return None;
        }
        let count = points.len() as f64;
        let mean = |of: fn(&(f64, f64, Option<f64>)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (work, used) = (mean(|point| point.0), mean(|point| point.1));
        let along: f64 = points.iter().map(|point| (point.0 - work).powi(2)).sum();
        let across: f64 = points.iter().map(|point| (point.0 - work) * (point.1 - used)).sum();
        let up: f64 = points.iter().map(|point| (point.1 - used).powi(2)).sum();
        if along <= 0.0 || across <= 0.0 || up <= 0.0 {
            return None;
        }
        let (slope, fit) = (across / along, across * across / (along * up));
        let dof = count - 2.0;
        let error = ((up - slope * across).max(0.0) / dof).sqrt();
        let reach = student_quantile(0.5 + confidence / 2.0, dof) * error;
        let half = reach / along.sqrt();
        (fit >= FIT_MIN).then_some(Line {
            slope: Estimate { value: slope, lower: slope - half, upper: slope + half },
            idle: used - slope * work,
            fit,
            count,
            mean: work,
            along,
            reach,
        })
    }

    /// The work at which usage reaches a limit. Its error is that of the line there, seen along the work (delta method).
    fn reaches(&self, limit: f64) -> Estimate {
        let value = ((limit - self.idle) / self.slope.value).max(0.0);
        let error = (self.count.recip() + (value - self.mean).powi(2) / self.along).sqrt();
        let half = self.reach * error / self.slope.value;
        Estimate { value, lower: (value - half).max(0.0), upper: value + half }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::testing::close;

    fn usage(resource: &str, used: f64, limit: Option<f64>) -> Usage {
        Usage { resource: resource.to_owned(), unit: "{core}".to_owned(), used, limit }
    }

    /// Demands from the usage of two resources at some throughputs.
    fn fitted(of_worker: impl Fn(f64) -> f64, of_database: impl Fn(f64) -> f64) -> Vec<Demand> {
        let levels: Vec<(f64, Vec<Usage>)> = [10.0, 20.0, 40.0, 60.0]
            .map(|work| {
                let usages = vec![
                    usage("worker", of_worker(work), Some(1.0)),
                    usage("database", of_database(work), None),
                ];
                (work, usages)
            })
            .to_vec();
        let levels: Vec<(f64, &[Usage])> = levels.iter().map(|(work, usages)| (*work, &**usages)).collect();
        demands(&levels, 0.95)
    }

    #[test]
    fn demand_and_what_is_there_without_load_are_told_apart() {
        let found = fitted(|work| 0.1 + 0.014 * work, |work| 0.002 * work);
        let worker = &found[0];
        assert_eq!((worker.resource.as_str(), worker.levels), ("worker", 4));
        close(worker.per_work.value, 0.014, 1e-12);
        close(worker.idle, 0.1, 1e-12);
        close(worker.ceiling_per_s.expect("it has a limit").value, 0.9 / 0.014, 1e-9);
        close(worker.used_share.expect("it has a limit"), 0.94, 1e-9);
        assert_eq!(found[1].ceiling_per_s, None);
        assert_eq!(end(&found).expect("an end").resource, "worker");
    }

    /// Slope and standard error by the formulas of a textbook, worked out elsewhere; 4.302653 is Student's quantile for two degrees
    /// of freedom.
    #[test]
    fn noise_gives_intervals() {
        let mut noise = [0.02, -0.03, 0.01, 0.02].into_iter();
        let noisy: Vec<f64> =
            [10.0, 20.0, 40.0, 60.0].map(|work| 0.1 + 0.014 * work + noise.next().unwrap_or(0.0)).to_vec();
        let found = fitted(
            |work| noisy[[10.0, 20.0, 40.0, 60.0].iter().position(|it| *it == work).unwrap_or(0)],
            |_| 1.0,
        );
        assert_eq!(found.len(), 1, "what does not grow with work has no demand");
        let slope = found[0].per_work;
        close(slope.value, 0.014372881355932203, 1e-9);
        close((slope.upper - slope.lower) / 2.0 / 4.302653, 0.0007118644067796613, 1e-9);
        let ceiling = found[0].ceiling_per_s.expect("it has a limit");
        assert!(ceiling.lower < 0.9 / 0.014 && 0.9 / 0.014 < ceiling.upper, "{ceiling:?}");
    }

    #[test]
    fn usage_is_the_mean_inside_and_limits_are_joined() {
        let at = |second: u64| Instant::from_ns(second * 1_000_000_000);
        let signal = |name: &str, labels: &[(&str, &str)], unit: &str, points: &[(u64, f64)]| Signal {
            source: "prometheus".to_owned(),
            name: name.into(),
            labels: labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            unit: unit.to_owned(),
            query: String::new(),
            step: std::time::Duration::from_secs(5),
            points: points.iter().map(|(second, value)| (at(*second), *value)).collect(),
        };
        let pod = [("container", "worker"), ("pod", "a")];
        let signals = [
            signal("container_cpu", &pod, "{cpu}", &[(1, 9.0), (10, 0.8), (15, 0.9), (99, 9.0)]),
            signal("container_cpu_limit", &[("pod", "a")], "{cpu}", &[(10, 1.0), (15, 1.0)]),
            signal("container_cpu_limit", &[("pod", "b")], "{cpu}", &[(10, 7.0)]),
            signal("queue_utilisation", &[], "1", &[(10, 0.5)]),
            signal("queue_ready", &[], "", &[(10, 5.0)]),
        ];
        let found = usages(&signals, &(at(5)..at(20)));
        let shown: Vec<(&str, f64, Option<f64>)> =
            found.iter().map(|usage| (usage.resource.as_str(), usage.used, usage.limit)).collect();
        let worker = "prometheus container_cpu worker a";
        assert_eq!(shown[0].0, worker);
        close(shown[0].1, 0.85, 1e-12);
        assert_eq!((shown[0].2, shown[1]), (Some(1.0), ("prometheus queue_utilisation", 0.5, Some(1.0))));
        assert_eq!(shown.len(), 2);
    }

    #[test]
    fn idle_resources_end_nothing() {
        assert_eq!(end(&fitted(|work| 0.01 * work, |work| work)), None);
        assert_eq!(end(&[]), None);
        assert_eq!(demands(&[(1.0, &[usage("a", 1.0, None)]), (2.0, &[usage("a", 2.0, None)])], 0.95), []);
    }
}
