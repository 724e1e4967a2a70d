//! Statistics over rounds.
//!
//! Two clients are compared round by round, since neighbouring runs share the machine's mood. The logarithms of the
//! rounds' ratios are averaged, and the bound is Student's one-sided 95 % interval for that average.

/// Student's t, one-sided 95 %, for 1 to 30 degrees of freedom (any table of the t distribution).
const T95: [f64; 30] = [
    6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753,
    1.746, 1.740, 1.734, 1.729, 1.725, 1.721, 1.717, 1.714, 1.711, 1.708, 1.706, 1.703, 1.701, 1.699, 1.697,
];

/// An estimate of a positive figure and its one-sided 95 % bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    /// The geometric mean.
    pub(super) mean: f64,
    /// With 95 % confidence the true figure is not below.
    pub(super) lower: f64,
    /// With 95 % confidence the true figure is not above.
    pub(super) upper: f64,
}

/// The figure behind positive values of several rounds; without values there is none, and one value bounds nothing.
pub(super) fn estimate(values: &[f64]) -> Option<Estimate> {
    if values.is_empty() || values.iter().any(|value| !value.is_finite() || *value <= 0.0) {
        return None;
    }
    let count = values.len() as f64;
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let mean = logs.iter().sum::<f64>() / count;
    if values.len() == 1 {
        return Some(Estimate { mean: mean.exp(), lower: 0.0, upper: f64::INFINITY });
    }
    let half = half_width(&logs, mean);
    Some(Estimate { mean: mean.exp(), lower: (mean - half).exp(), upper: (mean + half).exp() })
}

/// The ratio of two figures that were measured in the same rounds.
pub(super) fn ratio(of: &[f64], to: &[f64]) -> Option<Estimate> {
    let ratios: Vec<f64> = of.iter().zip(to).map(|(of, to)| of / to).collect();
    estimate(&ratios)
}

/// How much larger one figure is than another that was measured in the same rounds, on average; `None` for one round, which
/// bounds nothing.
pub(super) fn difference(of: &[f64], to: &[f64]) -> Option<Estimate> {
    let differences: Vec<f64> = of.iter().zip(to).map(|(of, to)| of - to).collect();
    if differences.len() < 2 || differences.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let count = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / count;
    let half = half_width(&differences, mean);
    Some(Estimate { mean, lower: mean - half, upper: mean + half })
}

/// Half of Student's interval around the mean of at least two values.
fn half_width(values: &[f64], mean: f64) -> f64 {
    let count = values.len() as f64;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let t = T95[(values.len() - 2).min(T95.len() - 1)];
    t * (variance / count).sqrt()
}

/// The middle value; `NaN` without values.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[count / 2],
        count => f64::midpoint(sorted[count / 2 - 1], sorted[count / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        let check = |values: &[f64], expect: f64| assert_eq!(median(values), expect, "{values:?}");
        check(&[3.0, 1.0, 2.0], 2.0);
        check(&[4.0, 1.0, 2.0, 3.0], 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn equal_rounds_bound_themselves() {
        let found = ratio(&[6.0, 12.0, 3.0], &[2.0, 4.0, 1.0]).expect("an estimate");
        assert!((found.mean - 3.0).abs() < 1e-12 && (found.lower - 3.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn differences_may_be_negative() {
        let found = difference(&[1.0, 2.0], &[2.0, 5.0]).expect("an estimate");
        // Differences −1 and −3: mean −2, deviation √2, half width 6.314 · √2 / √2.
        assert!((found.mean + 2.0).abs() < 1e-12 && (found.upper - 4.314).abs() < 1e-9, "{found:?}");
        assert_eq!(difference(&[1.0], &[2.0]), None);
    }

    #[test]
    fn the_bound_is_students() {
        // Logs 0 and 2: mean 1, deviation √2, t(1) = 6.314, half width 6.314 · √2 / √2.
        let found = estimate(&[1.0, 2f64.exp()]).expect("an estimate");
        assert!((found.lower.ln() - (1.0 - 6.314)).abs() < 1e-9, "{found:?}");
        assert!((found.upper.ln() - (1.0 + 6.314)).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn one_round_bounds_nothing_and_nonsense_gives_nothing() {
        assert_eq!(estimate(&[2.0]).map(|found| found.lower), Some(0.0));
        assert_eq!(estimate(&[]), None);
        assert_eq!(estimate(&[1.0, 0.0]), None);
    }
}
