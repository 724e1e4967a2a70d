//! Levels as points of a curve: throughput and time over load, and the bounds that operational laws put on them.
//!
//! In a closed loop that is saturated, N = X·(R + Z) with X constant, so R grows by 1/X with each VU: the slope of time over
//! VUs is the ceiling (asymptotic bounds, P. J. Denning and J. P. Buzen, 1978).

/// Levels below the largest throughput by no more than this are its plateau.
const PLATEAU_SHARE: f64 = 0.1;

/// A straight line needs more points than the two that it always fits.
pub(crate) const POINTS_MIN: usize = 3;

/// Minimum share of the variance that a line must explain.
const FIT_MIN: f64 = 0.99;

/// One level of load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The load.
    pub load: f64,
    /// Throughput, per second.
    pub throughput_per_s: f64,
    /// The time that an objective is about, seconds.
    pub time_s: f64,
}

impl Point {
    /// Throughput ÷ time (L. Kleinrock, 1979).
    pub fn power(self) -> f64 {
        self.throughput_per_s / self.time_s
    }
}

/// The ceiling of throughput from the slope of time over VUs, per second; `None` where the points lie on no rising line.
pub fn ceiling(points: &[Point]) -> Option<f64> {
    if points.len() < POINTS_MIN {
        return None;
    }
    let count = points.len() as f64;
    let mean = |of: fn(&Point) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (load, time) = (mean(|point| point.load), mean(|point| point.time_s));
    let sum = |of: &dyn Fn(&Point) -> f64| points.iter().map(of).sum::<f64>();
    let across = sum(&|point| (point.load - load) * (point.time_s - time));
    let (along, up) =
        (sum(&|point| (point.load - load).powi(2)), sum(&|point| (point.time_s - time).powi(2)));
    let is_line = across > 0.0 && across * across >= FIT_MIN * along * up;
    is_line.then(|| along / across)
}

/// The ceilings of a closed loop, the lower first: from the points on the plateau, and from those beyond the knee that follows
/// from these. `None` where the plateau's points lie on no rising line, or where that line has another cause than the ceiling:
/// its slope stands for less than every point of the plateau got done. Points in ascending order of their load.
pub fn ceilings(points: &[Point]) -> Option<(f64, f64)> {
    let plateau = plateau(points);
    let least = plateau.iter().map(|point| point.throughput_per_s).fold(f64::INFINITY, f64::min);
    let is_possible = |ceiling: &f64| *ceiling >= least;
    let of_plateau = ceiling(&plateau).filter(is_possible)?;
    let knee = of_plateau * cycle_s(points)?;
    let beyond: Vec<Point> = points.iter().filter(|point| point.load > knee).copied().collect();
    let of_beyond = ceiling(&beyond).filter(is_possible).unwrap_or(of_plateau);
    Some((of_plateau.min(of_beyond), of_plateau.max(of_beyond)))
}

/// Returns the time of one piece of work in a VU without queueing, think time included: load ÷ throughput of the lowest level, seconds.
pub fn cycle_s(points: &[Point]) -> Option<f64> {
    let first = points.first().filter(|point| point.throughput_per_s > 0.0)?;
    Some(first.load / first.throughput_per_s)
}

/// The points whose throughput is that of the plateau.
pub fn plateau(points: &[Point]) -> Vec<Point> {
    let most = points.iter().map(|point| point.throughput_per_s).fold(0.0, f64::max);
    points.iter().filter(|point| point.throughput_per_s >= most * (1.0 - PLATEAU_SHARE)).copied().collect()
}

/// The load at which a figure that grows with it reaches a limit, interpolated between the two levels around it: pairs of load
/// and figure in ascending order of the load. `None` where no level is above the limit, or none below.
pub fn crossing(levels: &[(f64, f64)], limit: f64) -> Option<f64> {
    let pair = levels.windows(2).find(|pair| pair[0].1 <= limit && pair[1].1 > limit)?;
    let (low, high) = (pair[0], pair[1]);
    Some(low.0 + (high.0 - low.0) * (limit - low.1) / (high.1 - low.1))
}

/// A figure at a load, interpolated between the levels around it, and beyond them that of the nearest; `None` without levels.
pub fn interpolated(levels: &[(f64, f64)], load: f64) -> Option<f64> {
    let (first, last) = (levels.first()?, levels.last()?);
    if load <= first.0 {
        return Some(first.1);
    }
    let pair = levels.windows(2).find(|pair| pair[0].0 <= load && load <= pair[1].0 && pair[0].0 < pair[1].0);
    let Some([low, high]) = pair else { return Some(last.1) };
    Some(low.1 + (high.1 - low.1) * (load - low.0) / (high.0 - low.0))
}

/// The figures that only rise with the load and come nearest to those given, in the sense of least squares: neighbours that
/// fall are pooled (isotonic regression by pool adjacent violators; M. Ayer et al., 1955).
pub fn isotonic(figures: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for figure in figures {
        let mut pool = (*figure, 1);
        while let Some((sum, count)) =
            pools.pop_if(|(sum, count)| *sum / *count as f64 >= pool.0 / pool.1 as f64)
        {
            pool = (pool.0 + sum, pool.1 + count);
        }
        pools.push(pool);
    }
    pools.into_iter().flat_map(|(sum, count)| std::iter::repeat_n(sum / count as f64, count)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::laws::testing::close;

    /// Six levels of an ideal closed loop: R = max(R0, N/X − Z) with X = 10/s, R0 = 1 s, Z = 0.
    pub(crate) fn ideal() -> Vec<Point> {
        [5.0, 10.0, 20.0, 40.0, 80.0, 160.0f64]
            .map(|load| Point { load, throughput_per_s: load.min(10.0), time_s: (load / 10.0).max(1.0) })
            .to_vec()
    }

    #[test]
    fn the_slope_is_the_ceiling() {
        close(ceiling(&plateau(&ideal())).expect("a line"), 10.0, 1e-9);
        let (low, high) = ceilings(&ideal()).expect("a line");
        close(low, 10.0, 1e-9);
        close(high, 10.0, 1e-9);
        assert_eq!(ceiling(&ideal()[..2]), None);
        let falling: Vec<Point> =
            ideal().into_iter().map(|point| Point { time_s: 9.0 - point.load / 20.0, ..point }).collect();
        assert_eq!(ceiling(&falling), None);
    }

    /// The p95 of a lock that each VU waits for in turn grows by the time of the slowest, not of the mean.
    #[test]
    fn a_slope_below_the_throughput_is_no_ceiling() {
        let points: Vec<Point> = [(10.0, 205.0), (20.0, 208.0), (40.0, 211.0)]
            .map(|(load, throughput_per_s)| Point { load, throughput_per_s, time_s: load / 84.0 })
            .to_vec();
        close(ceiling(&points).expect("a line"), 84.0, 1e-9);
        assert_eq!(ceilings(&points), None);
    }

    #[test]
    fn limits_are_crossed_between_levels() {
        let times: Vec<(f64, f64)> = ideal().iter().map(|point| (point.load, point.time_s)).collect();
        for (limit_s, expect) in [(3.0, Some(30.0)), (4.0, Some(40.0)), (16.0, None), (0.5, None)] {
            assert_eq!(crossing(&times, limit_s), expect, "{limit_s}");
        }
    }

    #[test]
    fn figures_between_levels_lie_on_a_line() {
        let levels = [(10.0, 100.0), (20.0, 200.0), (20.0, 220.0), (40.0, 240.0)];
        for (load, expect) in [(5.0, 100.0), (15.0, 150.0), (20.0, 200.0), (30.0, 230.0), (99.0, 240.0)] {
            assert_eq!(interpolated(&levels, load), Some(expect), "{load}");
        }
        assert_eq!(interpolated(&[], 1.0), None);
    }

    #[test]
    fn what_falls_is_pooled() {
        let check = |figures: &[f64], expect: &[f64]| assert_eq!(isotonic(figures), expect, "{figures:?}");
        check(&[], &[]);
        check(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]);
        check(&[1.0, 3.0, 2.0, 4.0], &[1.0, 2.5, 2.5, 4.0]);
        check(&[3.0, 2.0, 1.0], &[2.0, 2.0, 2.0]);
        check(&[1.0, 5.0, 3.0, 1.0, 9.0], &[1.0, 3.0, 3.0, 3.0, 9.0]);
    }
}
