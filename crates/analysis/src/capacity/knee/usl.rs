//! The universal scalability law: X = λN / (1 + σ(N − 1) + κN(N − 1)), whose largest throughput is at N = √((1 − σ)/κ).
//!
//! N. J. Gunther, *Guerrilla Capacity Planning* (2007): N/X is a parabola in N, and so a matter of linear least squares; each level
//! is weighted so that relative errors of throughput count alike.

use model::capacity::{Estimate, LoadUnit};

use crate::capacity::points::Point;
use crate::capacity::squares;

/// Three numbers are fitted, and the contention shows at low loads only.
const LEVELS_MIN: usize = 6;

/// A largest throughput that lies this many times beyond the highest level was not seen, but made up.
const BEYOND_MAX: f64 = 3.0;

/// The law's numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Law {
    /// Throughput of one VU alone, per second.
    pub(super) lambda: f64,
    /// Contention.
    pub(super) sigma: f64,
    /// Coherency.
    pub(super) kappa: f64,
}

pub(super) fn knee(points: &[Point], unit: LoadUnit) -> Result<Estimate, &'static str> {
    if unit == LoadUnit::PerSecond {
        return Err("the law is about closed loops");
    }
    if points.len() < LEVELS_MIN {
        return Err("there are fewer than 6 levels");
    }
    let law = fit(points).ok_or("the law does not fit the levels")?;
    if law.kappa <= 0.0 || law.sigma >= 1.0 {
        return Err("throughput of the fit never falls");
    }
    let load = ((1.0 - law.sigma) / law.kappa).sqrt();
    let most = points.iter().map(|point| point.load).fold(0.0, f64::max);
    if load > BEYOND_MAX * most {
        return Err("the fit's largest throughput is far beyond the levels");
    }
    Ok(Estimate { value: load, lower: 0.0, upper: f64::INFINITY })
}

pub(super) fn fit(points: &[Point]) -> Option<Law> {
    let rows: Vec<[f64; 3]> =
        points.iter().map(|point| [1.0, point.load - 1.0, point.load * (point.load - 1.0)]).collect();
    let inverse: Vec<f64> = points.iter().map(|point| point.load / point.throughput_per_s).collect();
    let weights: Vec<f64> = inverse.iter().map(|inverse| inverse.powi(-2)).collect();
    let [level, linear, square] = squares::solve(&rows, &inverse, &weights)?;
    (level > 0.0).then(|| Law { lambda: level.recip(), sigma: linear / level, kappa: square / level })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::testing::close;

    fn points(law: Law) -> Vec<Point> {
        let rate = |load: f64| {
            law.lambda * load / (1.0 + law.sigma * (load - 1.0) + law.kappa * load * (load - 1.0))
        };
        let loads = [1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 80.0];
        loads.map(|load| Point { load, throughput_per_s: rate(load), time_s: 1.0 }).to_vec()
    }

    #[test]
    fn the_laws_own_levels_give_its_numbers() {
        let law = Law { lambda: 40.0, sigma: 0.05, kappa: 0.001 };
        let found = fit(&points(law)).expect("a fit");
        close(found.lambda, 40.0, 1e-6);
        close(found.sigma, 0.05, 1e-9);
        close(found.kappa, 0.001, 1e-11);
        close(knee(&points(law), LoadUnit::Vus).expect("a knee").value, 0.95e3f64.sqrt(), 1e-6);
    }

    #[test]
    fn without_coherency_there_is_no_largest_throughput() {
        let law = Law { lambda: 40.0, sigma: 0.05, kappa: -1e-6 };
        assert_eq!(knee(&points(law), LoadUnit::Vus), Err("throughput of the fit never falls"));
        assert!(knee(&points(law), LoadUnit::PerSecond).is_err());
        assert!(knee(&points(law)[..5], LoadUnit::Vus).is_err());
    }
}
