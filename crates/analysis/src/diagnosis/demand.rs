//! The demand of one request on a resource: the slope of its use over throughput (utilisation law, U = X·D + U0; Denning and
//! Buzen, "The Operational Analysis of Queueing Network Models", 1978).

use super::thresholds::demand::{POINTS_MIN, SPREAD_MIN};
use model::diagnosis::{DemandLine, ResourceKind};
use stats::student_quantile;

/// Maximum number of points of a chart.
const DRAWN_MAX: usize = 200;

/// The regression line of use over throughput.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Demand {
    /// Use per request or task, in units of the resource times seconds.
    pub(super) slope: f64,
    /// 95 % confidence interval of the slope.
    pub(super) interval: (f64, f64),
    /// Use without load.
    pub(super) intercept: f64,
    /// Whether throughput varied enough, and use with it. Otherwise the line passes the origin and the mean, and the slope is an
    /// upper bound.
    pub(super) is_fitted: bool,
    /// The points.
    pub(super) points: Vec<(f64, f64)>,
}

/// Fits a line to throughput and use; `None` without load.
pub(super) fn fit(points: Vec<(f64, f64)>) -> Option<Demand> {
    let count = points.len() as f64;
    let mean_of = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    if points.is_empty() {
        return None;
    }
    let (mean_x, mean_y) = (mean_of(|point| point.0), mean_of(|point| point.1));
    if mean_x <= 0.0 || mean_y <= 0.0 {
        return None;
    }
    let sum_of =
        |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|(x, y)| of(x - mean_x, y - mean_y)).sum::<f64>();
    let (xx, xy) = (sum_of(&|x, _| x * x), sum_of(&|x, y| x * y));
    let spread = (xx / count).sqrt() / mean_x;
    let slope = if xx > 0.0 { xy / xx } else { 0.0 };
    if points.len() < POINTS_MIN || spread < SPREAD_MIN || slope <= 0.0 {
        return Some(through_nothing(points, mean_x, mean_y));
    }
    let residual = sum_of(&|x, y| (y - slope * x).powi(2));
    let dof = count - 2.0;
    let half = student_quantile(0.975, dof) * (residual / dof / xx).sqrt();
    // A slope whose interval contains zero shows no demand and has no ceiling.
    if half >= slope {
        return Some(through_nothing(points, mean_x, mean_y));
    }
    let interval = (slope - half, slope + half);
    Some(Demand { slope, interval, intercept: mean_y - slope * mean_x, is_fitted: true, points })
}

/// Returns the slope through the origin with the interval of the points' own slopes.
fn through_nothing(points: Vec<(f64, f64)>, mean_x: f64, mean_y: f64) -> Demand {
    let count = points.len() as f64;
    let slope = mean_y / mean_x;
    let apart: f64 = points.iter().map(|(x, y)| (y - slope * x).powi(2)).sum::<f64>() / count.max(2.0);
    let half = student_quantile(0.975, (count - 1.0).max(1.0)) * (apart / count).sqrt() / mean_x;
    Demand {
        slope,
        interval: ((slope - half).max(0.0), slope + half),
        intercept: 0.0,
        is_fitted: false,
        points,
    }
}

impl Demand {
    /// Returns the throughput at which use reaches a limit.
    pub(super) fn ceiling(&self, limit: f64) -> Option<f64> {
        let room = limit - self.intercept;
        (self.slope > 0.0 && room > 0.0).then(|| room / self.slope)
    }

    /// Returns the interval of the ceiling, from the interval of the slope with the line turned about its mean.
    pub(super) fn ceiling_interval(&self, limit: f64) -> Option<(f64, f64)> {
        let count = self.points.len() as f64;
        let mean_x = self.points.iter().map(|point| point.0).sum::<f64>() / count;
        let mean_y = self.points.iter().map(|point| point.1).sum::<f64>() / count;
        let at = |slope: f64| (slope > 0.0).then(|| mean_x + (limit - mean_y) / slope);
        let (a, b) = (at(self.interval.0), at(self.interval.1)?);
        // A slope that may be zero has no upper ceiling.
        let a = a.unwrap_or(f64::INFINITY);
        Some((a.min(b).max(0.0), a.max(b)))
    }

    /// Returns the line for a chart.
    pub(super) fn line(&self, resource: ResourceKind, limit: Option<f64>) -> DemandLine {
        let each = self.points.len().div_ceil(DRAWN_MAX).max(1);
        DemandLine {
            resource,
            points: self.points.iter().step_by(each).copied().collect(),
            slope: self.slope,
            slope_interval: self.interval,
            intercept: self.intercept,
            limit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_again() {
        let points: Vec<(f64, f64)> = (1..=30).map(|x| (f64::from(x), 0.2 + 0.05 * f64::from(x))).collect();
        let demand = fit(points).expect("a load");
        assert!(demand.is_fitted);
        assert!((demand.slope - 0.05).abs() < 1e-12 && (demand.intercept - 0.2).abs() < 1e-12);
        assert!((demand.ceiling(1.2).expect("a ceiling") - 20.0).abs() < 1e-9);
        assert_eq!(demand.ceiling(0.1), None);
        assert_eq!(demand.line(ResourceKind::Cpu, None).points.len(), 30);
    }

    #[test]
    fn a_load_that_stays_has_a_slope_through_nothing() {
        let demand = fit(vec![(100.0, 0.5); 20]).expect("a load");
        assert!(!demand.is_fitted);
        assert_eq!((demand.slope, demand.ceiling(1.0)), (0.005, Some(200.0)));
        assert_eq!(fit(Vec::new()), None);
        assert_eq!(fit(vec![(0.0, 0.5)]), None);
    }

    /// The utilisation law on a seed's own figures: database demand 15.6, 6.1 and 4.5 ms, ceilings 128, 326, 444 per second.
    #[test]
    fn the_seeds_ceilings_come_out() {
        for (throughput, busy, ceiling) in [(100.0, 0.78, 128.0), (150.0, 0.46, 326.0), (400.0, 0.90, 444.0)]
        {
            let demand = fit(vec![(throughput, busy); 3]).expect("a load");
            let found = demand.ceiling(1.0).expect("a ceiling");
            assert!((found - ceiling).abs() < 1.0, "{found} is not {ceiling}");
        }
    }

    #[test]
    fn a_slope_that_may_be_nothing_is_none() {
        // Use is at the limit at any throughput.
        let points: Vec<(f64, f64)> = (0..20)
            .map(|at| (240.0 + f64::from(at * 7 % 13) * 8.0, 0.985 + f64::from(at % 3) * 0.005))
            .collect();
        let demand = fit(points).expect("a load");
        assert!(!demand.is_fitted);
        let ceiling = demand.ceiling(1.0).expect("a ceiling");
        assert!((285.0..300.0).contains(&ceiling), "{ceiling}");
    }

    #[test]
    fn noise_makes_the_interval_wider() {
        let noisy = |size: f64| {
            let wave = |x: i32| f64::from(x * 7 % 5 - 2) * size;
            fit((1..=40).map(|x| (f64::from(x), 1.0 + 0.1 * f64::from(x) + wave(x))).collect())
                .expect("a load")
        };
        let width = |demand: Demand| demand.interval.1 - demand.interval.0;
        assert!(width(noisy(0.2)) > 3.0 * width(noisy(0.02)));
    }
}
