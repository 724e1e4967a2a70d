//! How much neighbours in a series resemble each other, and how many independent values that leaves.

use crate::long_run;

/// The autocorrelations of a series at the lags 0 to `lag_max`, 0 first.
///
/// The covariances are divided by the length of the series and not by the number of pairs, as usual, so that the sequence
/// is positive semidefinite (Box, Jenkins and Reinsel, *Time Series Analysis*, 2.1.5). A series that does not vary has
/// no correlations: zeros, after the one at lag 0. Lags that the series is too short for are left out.
pub fn autocorrelation(series: &[f64], lag_max: usize) -> Vec<f64> {
    let Some(last) = series.len().checked_sub(1) else { return Vec::new() };
    let mean = series.iter().sum::<f64>() / series.len() as f64;
    let deviations: Vec<f64> = series.iter().map(|value| value - mean).collect();
    let at = |lag: usize| deviations.iter().zip(&deviations[lag..]).map(|(a, b)| a * b).sum::<f64>();
    let power = at(0);
    (0..=lag_max.min(last))
        .map(|lag| match lag {
            0 => 1.0,
            _ if power > 0.0 => at(lag) / power,
            _ => 0.0,
        })
        .collect()
}

/// How many independent values would give a mean as certain as the mean of this series, from 1 to twice its length.
///
/// The variance of the series divided by the long-run variance per value (see [`long_run`]): for a series with lag-1
/// correlation ρ, about `n (1 − ρ) / (1 + ρ)`. Alternating series are worth more than their length.
pub fn effective_sample_number(series: &[f64]) -> f64 {
    let length = series.len() as f64;
    if series.len() < 2 {
        return length;
    }
    let mean = series.iter().sum::<f64>() / length;
    let variance = series.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (length - 1.0);
    let spread = long_run(&[series]).variance;
    if spread <= 0.0 { length } else { (length * variance / spread).clamp(1.0, 2.0 * length) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn short_and_constant_series_have_no_correlation() {
        assert_eq!(autocorrelation(&[], 3), []);
        assert_eq!(autocorrelation(&[1.0], 3), [1.0]);
        assert_eq!(autocorrelation(&[2.0; 4], 2), [1.0, 0.0, 0.0]);
    }

    #[test]
    fn an_alternating_series_is_anticorrelated() {
        let found = autocorrelation(&[1.0, -1.0, 1.0, -1.0], 2);
        assert_eq!(found, [1.0, -0.75, 0.5]);
    }

    #[test]
    fn correlation_costs_samples() {
        let worth = |rho: f64| {
            let mut random = Random::new(7);
            let mut level = 0.0;
            let next = |_| {
                level = rho * level + random.normal();
                level
            };
            effective_sample_number(&(0..4000).map(next).collect::<Vec<f64>>())
        };
        let free = worth(0.0);
        assert!((3200.0..=4800.0).contains(&free), "{free}");
        let bound = worth(0.9);
        assert!((4000.0 / 19.0 * 0.6..4000.0 / 19.0 * 1.7).contains(&bound), "{bound}");
        assert_eq!(effective_sample_number(&[5.0; 9]), 9.0);
    }
}
