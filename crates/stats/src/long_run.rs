//! The long-run variance of a series: what its mean's uncertainty is made of when neighbours resemble each other.
//!
//! The variance of the mean of `n` values is the long-run variance divided by `n`. It is the spectral density at
//! frequency 0, here that of an autoregression whose order the data choose (den Haan and Levin, "A Practitioner's Guide to
//! Robust Covariance Matrix Estimation", 1997), which suits latencies: they have a level that wanders and noise on top.

/// Series that are longer are averaged over neighbours until they are not: the long-run variance stays the same.
const LENGTH_MAX: usize = 1200;

/// The highest order of autoregression is this times the decimal logarithm of the length.
const ORDER_FACTOR: f64 = 10.0;

/// The highest order is at most the length divided by this.
const VALUES_PER_COEFFICIENT: usize = 8;

/// By how much choosing the order makes the estimate less certain. Measured: the variance of the estimate over simulated
/// autoregressions with lag-1 correlations of 0.87 and 0.9, against that of the delta method.
const SELECTION_FACTOR: f64 = 1.5;

/// A long-run variance, and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongRun {
    /// The variance of the mean, times the number of values.
    pub variance: f64,
    /// The degrees of freedom of that estimate, for Student's t: from 1.
    pub dof: f64,
    /// The order of the autoregression.
    pub order: usize,
}

/// The long-run variance that several series have in common, each about its own mean.
///
/// Series of fewer than two values say nothing and are left out. Without variation (or values) the variance is 0 with one
/// degree of freedom.
pub fn long_run(series: &[&[f64]]) -> LongRun {
    long_run_about(series, Trend::Level, None)
}

/// The same as far as it may be: where few values do not show how persistent their noise is, it counts as more persistent than it
/// looks. `even` is the share of values that would be worth as much if their variance were even.
pub(crate) fn long_run_cautious(series: &[&[f64]], even: f64) -> LongRun {
    long_run_about(series, Trend::Level, Some(even))
}

/// The same, each about its own straight line, so that a drift is not taken for wandering.
pub fn long_run_about_lines(series: &[&[f64]]) -> LongRun {
    long_run_about(series, Trend::Line, None)
}

/// The same as far as it may be.
pub(crate) fn long_run_cautious_about_lines(series: &[&[f64]], even: f64) -> LongRun {
    long_run_about(series, Trend::Line, Some(even))
}

/// The level or trend from which a series deviates.
#[derive(Clone, Copy, Debug)]
enum Trend {
    Level,
    Line,
}

impl Trend {
    /// How many numbers of it are estimated.
    fn parameters(self) -> f64 {
        match self {
            Trend::Level => 1.0,
            Trend::Line => 2.0,
        }
    }
}

fn long_run_about(series: &[&[f64]], trend: Trend, cautious_of: Option<f64>) -> LongRun {
    let longest = series.iter().map(|series| series.len()).max().unwrap_or(0);
    let bin = longest.div_ceil(LENGTH_MAX).max(1);
    let deviations: Vec<Vec<f64>> =
        series.iter().filter_map(|series| deviations(series, bin, trend)).collect();
    let values: usize = deviations.iter().map(Vec::len).sum();
    let even = cautious_of.unwrap_or(1.0);
    let count = ((values as f64 * even) as usize).clamp(values.min(2), values);
    let shortest = deviations.iter().map(Vec::len).min().unwrap_or(0);
    let order_max = order_max(count).min(shortest.saturating_sub(2));
    let covariances = pooled_covariances(&deviations, order_max);
    if covariances.first().is_none_or(|power| *power <= 0.0) {
        return LongRun { variance: 0.0, dof: 1.0, order: 0 };
    }
    let mut found = best_autoregression(&covariances, count);
    // Deviations from a series' own mean have lost its long-run variance divided by its length, at every lag; those from a
    // line nearly twice that, since a slope moves as slowly as a mean.
    let estimated = trend.parameters() * deviations.len() as f64;
    for _ in 0..2 {
        let lost = (found.variance * estimated / count as f64).min(covariances[0] / 2.0);
        let restored: Vec<f64> = covariances.iter().map(|covariance| covariance + lost).collect();
        found = best_autoregression(&restored, count);
    }
    let dof = degrees_of_freedom(&found, &deviations, covariances[0]);
    let persistent = cautious_of.map_or(0.0, |_| persistent_variance(&covariances, count as f64, estimated));
    LongRun { variance: found.variance.max(persistent) * bin as f64, dof, ..found }
}

/// The long-run variance if the noise of few values is as persistent as it may well be; 0 where there are enough.
///
/// The lag-1 correlation of `n` values is seen `(1 + 4 ρ) / n` too low (Kendall, 1954), and varies by `√((1 - ρ²) / n)`. A pair of
/// 30 s of a ramp, whose first seconds add nothing, counts as 5 to 10 of them. How much caution is measured: by false changes and by
/// the share of pairs with a factor of 2 that is seen.
fn persistent_variance(covariances: &[f64], count: f64, estimated: f64) -> f64 {
    if count >= VALUES_ENOUGH {
        return 0.0;
    }
    let errors = CAUTION_MAX * (1.0 - count / VALUES_ENOUGH);
    let rho = match covariances.get(1) {
        Some(next) if count >= VALUES_CORRELATED_MIN => {
            let rho = ((next / covariances[0] * count + 1.0) / (count - 4.0)).clamp(-1.0, 1.0);
            (rho + errors * ((1.0 - rho * rho) / count).sqrt()).clamp(0.0, CORRELATION_MAX)
        }
        _ => CORRELATION_MAX,
    };
    let share = mean_variance(count, rho);
    // Deviations from the mean have lost its variance.
    let power = covariances[0] / (1.0 - estimated * share).max(POWER_LEFT_MIN);
    power * share * count
}

/// So many values show how persistent their noise is.
const VALUES_ENOUGH: f64 = 100.0;

/// Fewer values show no correlation at all.
const VALUES_CORRELATED_MIN: f64 = 8.0;

/// By how many standard errors the correlation of the fewest values may be higher than it looks.
const CAUTION_MAX: f64 = 5.0;

/// Noise that is more persistent than this is a drift.
const CORRELATION_MAX: f64 = 0.95;

/// Deviations are not believed to have lost more than three quarters of their variance.
const POWER_LEFT_MIN: f64 = 0.25;

/// The variance of the mean of so many values with a lag-1 correlation, of which each has the variance 1.
pub(crate) fn mean_variance(count: f64, rho: f64) -> f64 {
    let sum = (1.0 + rho) / (1.0 - rho) - 2.0 * rho * (1.0 - rho.powf(count)) / (count * (1.0 - rho).powi(2));
    sum / count
}

/// The degrees of freedom after what the delta method does not know: that the order was chosen by the same data, and that
/// the series may be made of rare bursts, whose number is what is really uncertain.
///
/// A variance estimated from `n` independent blocks has the relative variance `(2 + excess kurtosis) / n`; blocks as long as
/// the correlation reaches are nearly independent.
fn degrees_of_freedom(found: &LongRun, deviations: &[Vec<f64>], power: f64) -> f64 {
    let shortest = deviations.iter().map(Vec::len).min().unwrap_or(1);
    let reach = (found.variance / power).round().max(1.0) as usize;
    let block = reach.min((shortest / VALUES_PER_COEFFICIENT).max(1));
    let sums: Vec<f64> =
        deviations.iter().flat_map(|values| values.chunks_exact(block)).map(|v| v.iter().sum()).collect();
    let count = sums.len() as f64;
    let mean = sums.iter().sum::<f64>() / count;
    let moment = |power| sums.iter().map(|sum| (sum - mean).powi(power)).sum::<f64>() / count;
    let excess = (moment(4) / moment(2).powi(2) - 3.0).max(0.0);
    let relative_variance = SELECTION_FACTOR * 2.0 / found.dof + excess / count;
    // A block's sums that do not vary have no kurtosis, which `max` has turned into none.
    (2.0 / relative_variance).max(1.0)
}

fn order_max(count: usize) -> usize {
    let by_length = ORDER_FACTOR * (count.max(1) as f64).log10();
    (by_length as usize).min(count / VALUES_PER_COEFFICIENT)
}

/// Deviations from the mean or the line, of averages over `bin` neighbours; values that do not fill the last bin are left
/// out.
fn deviations(series: &[f64], bin: usize, trend: Trend) -> Option<Vec<f64>> {
    let binned: Vec<f64> = match bin {
        1 => series.to_vec(),
        _ => series.chunks_exact(bin).map(|values| values.iter().sum::<f64>() / bin as f64).collect(),
    };
    if binned.len() < 2 {
        return None;
    }
    let mean = binned.iter().sum::<f64>() / binned.len() as f64;
    let slope = match trend {
        Trend::Level => 0.0,
        Trend::Line => slope(&binned, mean),
    };
    let middle = (binned.len() - 1) as f64 / 2.0;
    let deviation = |(at, value): (usize, &f64)| value - mean - slope * (at as f64 - middle);
    Some(binned.iter().enumerate().map(deviation).collect())
}

/// The slope of the straight line through values at 0, 1, 2, … by least squares.
fn slope(values: &[f64], mean: f64) -> f64 {
    let middle = (values.len() - 1) as f64 / 2.0;
    let (mut products, mut squares) = (0.0, 0.0);
    for (at, value) in values.iter().enumerate() {
        let distance = at as f64 - middle;
        products += distance * (value - mean);
        squares += distance * distance;
    }
    products / squares
}

/// Covariances at lags 0 to `lag_max`, averaged over all pairs of all series.
fn pooled_covariances(deviations: &[Vec<f64>], lag_max: usize) -> Vec<f64> {
    let at = |lag: usize| {
        let products = deviations.iter().map(|values| products(values, lag)).sum::<f64>();
        let pairs: usize = deviations.iter().map(|values| values.len().saturating_sub(lag)).sum();
        products / pairs.max(1) as f64
    };
    if deviations.is_empty() { Vec::new() } else { (0..=lag_max).map(at).collect() }
}

/// The sum of products of values that are `lag` apart, in four lanes that a processor adds at once.
fn products(values: &[f64], lag: usize) -> f64 {
    let (left, right) = (&values[..values.len() - lag], &values[lag..]);
    let (left_fours, left_rest) = left.as_chunks::<4>();
    let (right_fours, right_rest) = right.as_chunks::<4>();
    let mut lanes = [0.0; 4];
    for (a, b) in left_fours.iter().zip(right_fours) {
        lanes.iter_mut().zip(a).zip(b).for_each(|((lane, a), b)| *lane += a * b);
    }
    let rest: f64 = left_rest.iter().zip(right_rest).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<f64>() + rest
}

/// The autoregression with the least corrected Akaike criterion (Hurvich and Tsai, 1989), by the recursion of Levinson and
/// Durbin, which visits every order on its way to the highest.
fn best_autoregression(covariances: &[f64], count: usize) -> LongRun {
    let count = count as f64;
    let mut error_variance = covariances[0];
    let mut coefficients: Vec<f64> = Vec::with_capacity(covariances.len());
    // The solution of Γ x = 1, whose sum gives the variance of the sum of the coefficients.
    let mut solution: Vec<f64> = Vec::with_capacity(covariances.len());
    let mut best = (f64::INFINITY, LongRun { variance: covariances[0], dof: 1.0, order: 0 });
    for order in 0..covariances.len() {
        let penalty = 2.0 * (order as f64 + 1.0) * count / (count - order as f64 - 2.0).max(1.0);
        let criterion = count * error_variance.ln() + penalty;
        if criterion < best.0 {
            best = (criterion, judged(error_variance, &coefficients, &solution, covariances[0], count));
        }
        let Some(&next) = covariances.get(order + 1) else { break };
        let predicted: f64 =
            coefficients.iter().zip(covariances[1..=order].iter().rev()).map(|(a, b)| a * b).sum();
        let reflection = (next - predicted) / error_variance;
        if reflection.abs() >= 1.0 {
            break;
        }
        extend_solution(&mut solution, &coefficients, covariances, error_variance);
        extend_coefficients(&mut coefficients, reflection);
        error_variance *= 1.0 - reflection * reflection;
    }
    best.1
}

fn extend_solution(solution: &mut Vec<f64>, coefficients: &[f64], covariances: &[f64], error_variance: f64) {
    let order = solution.len();
    let reached: f64 = solution.iter().zip(covariances[1..=order].iter().rev()).map(|(a, b)| a * b).sum();
    let last = (1.0 - reached) / error_variance;
    for (value, coefficient) in solution.iter_mut().zip(coefficients.iter().rev()) {
        *value -= last * coefficient;
    }
    solution.push(last);
}

fn extend_coefficients(coefficients: &mut Vec<f64>, reflection: f64) {
    let order = coefficients.len();
    for left in 0..order.div_ceil(2) {
        let right = order - 1 - left;
        let (a, b) = (coefficients[left], coefficients[right]);
        coefficients[left] = a - reflection * b;
        coefficients[right] = b - reflection * a;
    }
    coefficients.push(reflection);
}

/// The spectral density at 0, with degrees of freedom from the delta method.
fn judged(error_variance: f64, coefficients: &[f64], solution: &[f64], power: f64, count: f64) -> LongRun {
    // A mean cannot be less certain than a single value.
    let variance_max = power * count;
    let gap = 1.0 - coefficients.iter().sum::<f64>();
    let gap = gap.max((error_variance / variance_max).sqrt());
    let variance_of_sum = error_variance * solution.iter().sum::<f64>() / count;
    let relative_variance = 2.0 / count + 4.0 * variance_of_sum / (gap * gap);
    LongRun {
        variance: error_variance / (gap * gap),
        dof: (2.0 / relative_variance).max(1.0),
        order: coefficients.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    fn autoregressive(rho: f64, length: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        let mut level = random.normal() / (1.0 - rho * rho).sqrt();
        let next = |_| {
            level = rho * level + random.normal();
            level
        };
        (0..length).map(next).collect()
    }

    #[track_caller]
    fn check(rho: f64, length: usize, tolerance: f64) {
        let mean: f64 =
            (0..100).map(|seed| long_run(&[&autoregressive(rho, length, seed)]).variance).sum::<f64>()
                / 100.0;
        let expect = 1.0 / (1.0 - rho).powi(2);
        assert!((mean / expect - 1.0).abs() < tolerance, "{rho} {length}: {mean} instead of {expect}");
    }

    #[test]
    fn the_variance_of_an_autoregression_is_found() {
        check(0.0, 600, 0.1);
        check(0.5, 600, 0.1);
        check(0.9, 600, 0.2);
        check(0.9, 5000, 0.1);
        check(-0.5, 600, 0.1);
    }

    #[test]
    fn a_drift_is_not_taken_for_wandering() {
        let drifting: Vec<f64> = autoregressive(0.8, 600, 5)
            .iter()
            .zip(0..)
            .map(|(value, at)| value + f64::from(at) / 30.0)
            .collect();
        let (about_level, about_line) = (long_run(&[&drifting]), long_run_about_lines(&[&drifting]));
        assert!((15.0..40.0).contains(&about_line.variance), "25 was put in: {about_line:?}");
        assert!(about_level.variance > 4.0 * about_line.variance, "{about_level:?}");
    }

    #[test]
    fn more_series_make_it_surer() {
        let one = autoregressive(0.8, 300, 1);
        let two = autoregressive(0.8, 300, 2);
        assert!(long_run(&[&one, &two]).dof > long_run(&[&one]).dof);
    }

    #[test]
    fn few_values_may_be_more_persistent_than_they_look() {
        let few = autoregressive(0.0, 30, 1);
        let (seen, cautious) = (long_run(&[&few]).variance, long_run_cautious(&[&few], 1.0).variance);
        assert!((3.0..15.0).contains(&(cautious / seen)), "{seen} {cautious}");
        let many = autoregressive(0.0, 120, 1);
        assert_eq!(long_run_cautious(&[&many], 1.0), long_run(&[&many]));
        let worth_few = long_run_cautious(&[&many], 0.05).variance;
        assert!(worth_few > 5.0 * long_run(&[&many]).variance, "{worth_few}");
    }

    #[test]
    fn the_mean_of_correlated_values_varies_as_they_do() {
        let check = |count: f64, rho: f64, expect: f64| {
            assert!((mean_variance(count, rho) - expect).abs() < 1e-9, "{count} {rho}");
        };
        check(10.0, 0.0, 0.1);
        check(2.0, 0.5, 0.75);
        check(3.0, 0.5, (3.0 + 2.0 * (2.0 * 0.5 + 0.25)) / 9.0);
    }

    #[test]
    fn nothing_is_known_without_variation() {
        let nothing = LongRun { variance: 0.0, dof: 1.0, order: 0 };
        assert_eq!(long_run(&[]), nothing);
        assert_eq!(long_run(&[&[], &[3.0]]), nothing);
        assert_eq!(long_run(&[&[3.0; 50]]), nothing);
    }

    #[test]
    fn a_drift_is_bounded() {
        let drift: Vec<f64> = (0..500).map(f64::from).collect();
        let found = long_run(&[&drift]);
        assert!(found.variance.is_finite() && found.variance > 0.0 && found.dof >= 1.0, "{found:?}");
    }
}
