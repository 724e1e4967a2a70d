//! Whether a series changes its level somewhere inside, when neighbours resemble each other.

use crate::long_run_about_lines;

/// Where a series most looks like changing its level, and whether it does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelShift {
    /// The first value of the new level.
    pub at: usize,
    /// The mean before.
    pub before: f64,
    /// The mean from there on.
    pub after: f64,
    /// The probability of a series without a change looking so.
    pub p_value: f64,
}

/// The fewest values on either side of a change.
const SIDE_MIN: usize = 5;

/// The strongest change of level in a series; `None` if it is too short.
///
/// The largest distance of the cumulative sums from the straight line, divided by the long-run standard deviation, has
/// Kolmogorov's distribution where nothing changes (Ploberger and Krämer, "The CUSUM Test with OLS Residuals", 1992). The
/// long-run variance is that of the residuals about a line on either side, so that neither a large change nor a drift can
/// hide in it. It is an estimate with few degrees of freedom where neighbours resemble each other, which the p-value
/// accounts for: see [`studentised_kolmogorov_tail`].
pub fn level_shift(series: &[f64]) -> Option<LevelShift> {
    if series.len() < 4 * SIDE_MIN {
        return None;
    }
    let length = series.len() as f64;
    let total: f64 = series.iter().sum();
    let mut sum = 0.0;
    let mut strongest = (0.0, 0, 0.0);
    for (index, value) in series.iter().enumerate().take(series.len() - SIDE_MIN) {
        sum += value;
        let distance = (sum - total * (index as f64 + 1.0) / length).abs();
        if index + 1 >= SIDE_MIN && distance >= strongest.0 {
            strongest = (distance, index + 1, sum);
        }
    }
    let (distance, at, sum) = strongest;
    let (before, after) = (sum / at as f64, (total - sum) / (length - at as f64));
    let spread = long_run_about_lines(&[&series[..at], &series[at..]]);
    let p_value = match (spread.variance > 0.0, distance > 0.0) {
        (true, _) => studentised_kolmogorov_tail(distance / (spread.variance * length).sqrt(), spread.dof),
        (false, true) => 0.0,
        (false, false) => 1.0,
    };
    Some(LevelShift { at, before, after, p_value })
}

/// The probability that the largest distance of a Brownian bridge from 0 exceeds `x` (Kolmogorov, 1933).
pub fn kolmogorov_tail(x: f64) -> f64 {
    // Below, the alternating series converges slowly, and the answer is 1 to nine digits.
    if x < 0.3 {
        return 1.0;
    }
    let term = |k: i32| {
        let sign = if k % 2 == 1 { 2.0 } else { -2.0 };
        sign * (-2.0 * f64::from(k * k) * x * x).exp()
    };
    (1..=20).map(term).sum::<f64>().clamp(0.0, 1.0)
}

/// Terms of the sum below; the mean of its last two partial sums is then within 1e-7 of its limit.
const TERMS: i32 = 500;

/// The same where the distance was divided by a standard deviation that is estimated with so many degrees of freedom: what
/// Student's t is to the normal distribution.
///
/// With `w` a χ² of `dof` degrees divided by them, it is the mean of Kolmogorov's tail at `x √w`, and the mean of each of its
/// terms `exp(−2 k² x² w)` is the moment generating function of `w`: `(1 + 4 k² x² / dof)^(−dof / 2)`.
pub fn studentised_kolmogorov_tail(x: f64, dof: f64) -> f64 {
    // Below, the sum converges slowly, and the answer is no reason to believe anything.
    if x < 0.3 || x.is_nan() {
        return 1.0;
    }
    let dof = dof.max(1.0);
    let term = |k: i32| {
        let sign = if k % 2 == 1 { 2.0 } else { -2.0 };
        sign * (-dof / 2.0 * (4.0 * f64::from(k * k) * x * x / dof).ln_1p()).exp()
    };
    let sum: f64 = (1..TERMS).map(term).sum();
    (sum + term(TERMS) / 2.0).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    fn wandering(seed: u64, length: usize, rho: f64) -> Vec<f64> {
        let mut random = Random::new(seed);
        let mut level = random.normal() / (1.0 - rho * rho).sqrt();
        let next = |_| {
            level = rho * level + random.normal();
            level
        };
        (0..length).map(next).collect()
    }

    #[test]
    fn a_shift_is_found_where_it_is() {
        let mut series = wandering(1, 600, 0.7);
        series[200..].iter_mut().for_each(|value| *value += 8.0);
        let found = level_shift(&series).expect("long enough");
        assert!(found.p_value < 1e-6 && (195..=205).contains(&found.at), "{found:?}");
    }

    #[test]
    fn wandering_is_seldom_taken_for_a_shift() {
        let check = |length: usize, rho: f64| {
            let wrong = (0..400).filter(|seed| {
                level_shift(&wandering(*seed, length, rho)).is_some_and(|found| found.p_value < 0.001)
            });
            let wrong = wrong.count();
            assert!(wrong <= 3, "{wrong} of 400 with {length} values at {rho}");
        };
        check(600, 0.87);
        check(300, 0.87);
        check(300, 0.9);
        check(300, 0.0);
    }

    #[test]
    fn a_drift_is_a_change_of_level() {
        let mut series = wandering(3, 600, 0.7);
        series.iter_mut().enumerate().for_each(|(at, value)| *value += at as f64 / 30.0);
        let found = level_shift(&series).expect("long enough");
        assert!(found.p_value < 1e-6 && (200..400).contains(&found.at), "{found:?}");
    }

    #[test]
    fn many_degrees_of_freedom_are_kolmogorovs_and_few_are_careful() {
        for x in [0.5, 1.0, 1.36, 1.95, 2.5] {
            let (known, many) = (kolmogorov_tail(x), studentised_kolmogorov_tail(x, 1e7));
            assert!((known - many).abs() < 1e-6, "{x}: {known} {many}");
        }
        for x in [1.36, 1.95, 2.5] {
            assert!(studentised_kolmogorov_tail(x, 8.0) > kolmogorov_tail(x), "{x}");
        }
        assert_eq!(studentised_kolmogorov_tail(f64::NAN, 3.0), 1.0);
        assert_eq!(studentised_kolmogorov_tail(0.1, 3.0), 1.0);
    }

    #[test]
    fn hostile_series_have_answers() {
        assert_eq!(level_shift(&[1.0; 10]), None);
        assert_eq!(level_shift(&[1.0; 50]).map(|found| found.p_value), Some(1.0));
        assert_eq!(level_shift(&[[1.0; 50], [2.0; 50]].concat()).map(|found| found.p_value), Some(0.0));
    }
}
