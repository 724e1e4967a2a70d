//! How long the blocks of a circular block bootstrap should be.

/// Correlations below this times `sqrt(log10 n / n)` count as none (Politis and White's `c`).
const NEGLIGIBLE: f64 = 2.0;

/// So many negligible correlations in a row end the search for the last one that matters, at least.
const NEGLIGIBLE_IN_A_ROW: usize = 5;

/// The best block length for the mean of a series under the circular block bootstrap, from 1.
///
/// Politis and White, "Automatic Block-Length Selection for the Dependent Bootstrap" (2004), with the correction of Patton,
/// Politis and White (2009): the flat-top lag window, and at most the smaller of `3 √n` and `n / 3`. Series that are too
/// short, or without variation, have blocks of 1.
pub fn block_length(series: &[f64]) -> f64 {
    let count = series.len();
    if count < 2 * NEGLIGIBLE_IN_A_ROW {
        return 1.0;
    }
    let length = count as f64;
    let lag_max = ((length.sqrt().ceil() as usize) + NEGLIGIBLE_IN_A_ROW).min(count - 2);
    let covariances = covariances(series, lag_max);
    if covariances[0] <= 0.0 {
        return 1.0;
    }
    let window = 2 * last_that_matters(series, lag_max).unwrap_or(lag_max).max(1);
    let window = window.min(lag_max);
    let mut weighted_lags = 0.0;
    let mut spectrum = covariances[0];
    for (lag, covariance) in covariances.iter().enumerate().take(window + 1).skip(1) {
        let weight = (2.0 * (1.0 - lag as f64 / window as f64)).min(1.0);
        weighted_lags += 2.0 * weight * lag as f64 * covariance;
        spectrum += 2.0 * weight * covariance;
    }
    let variance_factor = 4.0 / 3.0 * spectrum * spectrum;
    let longest = (3.0 * length.sqrt()).min(length / 3.0).ceil();
    let best = (2.0 * weighted_lags * weighted_lags / variance_factor * length).cbrt();
    // Where the spectrum vanishes, no length is best; the longest is the safe answer.
    if best.is_finite() { best.clamp(1.0, longest) } else { longest }
}

fn covariances(series: &[f64], lag_max: usize) -> Vec<f64> {
    let deviations = deviations(series);
    let at = |lag: usize| deviations.iter().zip(&deviations[lag..]).map(|(a, b)| a * b).sum::<f64>();
    (0..=lag_max).map(|lag| at(lag) / series.len() as f64).collect()
}

fn deviations(series: &[f64]) -> Vec<f64> {
    let mean = series.iter().sum::<f64>() / series.len() as f64;
    series.iter().map(|value| value - mean).collect()
}

/// The last lag before a row of negligible correlations; `None` if there is no such row.
fn last_that_matters(series: &[f64], lag_max: usize) -> Option<usize> {
    let length = series.len() as f64;
    let negligible = NEGLIGIBLE * (length.log10() / length).sqrt();
    let deviations = deviations(series);
    let power: f64 = deviations.iter().map(|value| value * value).sum();
    let correlation =
        |lag: usize| deviations.iter().zip(&deviations[lag..]).map(|(a, b)| a * b).sum::<f64>().abs() / power;
    let mut in_a_row = 0;
    for lag in 1..=lag_max {
        in_a_row = if correlation(lag) < negligible { in_a_row + 1 } else { 0 };
        if in_a_row == NEGLIGIBLE_IN_A_ROW {
            return Some(lag - NEGLIGIBLE_IN_A_ROW);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn short_and_constant_series_have_blocks_of_one() {
        assert_eq!(block_length(&[]), 1.0);
        assert_eq!(block_length(&[1.0, 2.0, 3.0]), 1.0);
        assert_eq!(block_length(&[4.0; 100]), 1.0);
    }

    #[test]
    fn correlation_makes_blocks_longer() {
        let length = |rho: f64| {
            let mut random = Random::new(3);
            let mut level = 0.0;
            let next = |_| {
                level = rho * level + random.normal();
                level
            };
            block_length(&(0..600).map(next).collect::<Vec<f64>>())
        };
        let lengths = [length(0.0), length(0.5), length(0.9)];
        assert!(lengths.is_sorted() && lengths[2] > 15.0, "{lengths:?}");
    }
}
