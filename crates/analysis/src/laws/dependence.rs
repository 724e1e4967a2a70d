//! The effective size of autocorrelated samples, and the number that a percentile needs.

use std::f64::consts::PI;

/// The error of the bounds that quantiles are held to.
const ERROR_MAX: f64 = 0.05;

/// How many independent values `samples` values are worth whose neighbours correlate by `lag1`: n(1 − ρ)/(1 + ρ), for a
/// first-order autoregressive series (G. V. Bayley and J. M. Hammersley, 1946).
///
/// `None` where the correlation is none. Negative correlations are taken for none at all, which errs on the safe side.
pub fn independent(samples: f64, lag1: f64) -> Option<f64> {
    let lag1 = lag1.max(0.0);
    (lag1 < 1.0 && samples >= 0.0).then(|| samples * (1.0 - lag1) / (1.0 + lag1))
}

/// The least number of independent values whose largest is above the quantile `q` with 95 % confidence: ln 0.05 / ln q
/// (S. S. Wilks, 1941). `None` unless 0 < q < 1.
pub fn samples_for_quantile(q: f64) -> Option<f64> {
    // A hair off a whole number is rounding of floats, and no further sample.
    (q > 0.0 && q < 1.0).then(|| (ERROR_MAX.ln() / q.ln() - 1e-9).ceil())
}

/// Returns the lag-1 autocorrelation from the mean difference of neighbours, for a normal first-order autoregressive series:
/// E|xᵢ − xᵢ₋₁| = 2σ·√((1 − ρ)/π).
///
/// `None` where the figures belong to no such series.
pub fn lag1_of_average_difference(average_difference: f64, deviation: f64) -> Option<f64> {
    if deviation <= 0.0 || average_difference <= 0.0 {
        return None;
    }
    let lag1 = 1.0 - PI * (average_difference / (2.0 * deviation)).powi(2);
    (0.0..1.0).contains(&lag1).then_some(lag1)
}

#[cfg(test)]
mod tests {
    use super::super::testing::close;
    use super::*;

    #[test]
    fn dependent_values_are_worth_less() {
        close(independent(586.0, 0.87).expect("a correlation"), 40.7, 0.05);
        close(independent(100.0, 0.0).expect("a correlation"), 100.0, 0.0);
        close(independent(100.0, -0.5).expect("a correlation"), 100.0, 0.0);
        assert_eq!(independent(100.0, 1.0), None);
    }

    #[test]
    fn quantiles_need_as_many_as_in_the_books() {
        for (q, expect) in
            [(0.95, Some(59.0)), (0.99, Some(299.0)), (0.999, Some(2995.0)), (0.5, Some(5.0)), (1.0, None)]
        {
            assert_eq!(samples_for_quantile(q), expect, "{q}");
        }
    }

    /// A series with a known correlation, from a generator that needs no library.
    #[test]
    fn the_correlation_is_found_again() {
        let mut state = 1u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        for lag1 in [0.3, 0.7, 0.9f64] {
            let mut last = 0.0;
            let series: Vec<f64> = (0..200_000)
                .map(|_| {
                    let normal = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
                    last = lag1 * last + (1.0 - lag1 * lag1).sqrt() * normal;
                    last
                })
                .collect();
            let difference = series.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum::<f64>()
                / (series.len() - 1) as f64;
            close(lag1_of_average_difference(difference, 1.0).expect("such a series"), lag1, 0.02);
        }
        assert_eq!(lag1_of_average_difference(10.0, 1.0), None);
        assert_eq!(lag1_of_average_difference(0.0, 1.0), None);
    }
}
