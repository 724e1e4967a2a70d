//! Repeated runs of one test: their variation, and the smallest difference that one or several runs can detect.

use stats::student_quantile;

/// Fewer values have no spread.
pub const RUNS_MIN: usize = 2;

/// How often an interval holds what it is of, and how often nothing is found where nothing changed.
const CONFIDENCE: f64 = 0.95;

/// How often a change of the size that is named would be found.
const POWER: f64 = 0.8;

/// How far the values of one figure differ from run to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// How many runs have the figure.
    pub runs: usize,
    /// Their mean.
    pub mean: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// The standard deviation between runs.
    pub deviation: f64,
    /// The mean is within this of what endless runs would give, with 95 % confidence (Student's t).
    pub half_width: f64,
    /// The smallest difference between two sides of as many runs each that would be found four times in five, at a 5 % level.
    ///
    /// (t₀.₉₇₅ + t₀.₈) · s · √(2/n) with 2n − 2 degrees of freedom (Cohen, *Statistical Power Analysis*, 1988, 2.2). It is of
    /// runs compared by this figure alone; `compare` looks inside the runs, too.
    pub detectable: f64,
}

impl Spread {
    /// A number of this spread as a share of the mean; `None` where the mean is zero.
    pub fn relative(&self, value: f64) -> Option<f64> {
        (self.mean != 0.0).then(|| value / self.mean.abs())
    }
}

/// The spread of the values of one figure; `None` for fewer than [`RUNS_MIN`], or where one of them is no number.
pub fn spread(values: &[f64]) -> Option<Spread> {
    if values.len() < RUNS_MIN || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let runs = values.len() as f64;
    let mean = values.iter().sum::<f64>() / runs;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (squares / (runs - 1.0)).sqrt();
    let both = 1.0 - (1.0 - CONFIDENCE) / 2.0;
    let dof = 2.0 * runs - 2.0;
    let units = student_quantile(both, dof) + student_quantile(POWER, dof);
    Some(Spread {
        runs: values.len(),
        mean,
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        deviation,
        half_width: student_quantile(both, runs - 1.0) * deviation / runs.sqrt(),
        detectable: units * deviation * (2.0 / runs).sqrt(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: s = 2 for 8, 10, 12; t₀.₉₇₅ is 4.3027 with 2 degrees of freedom and 2.7764 with 4, t₀.₈ is 0.9410 with 4.
    #[test]
    fn the_spread_is_that_of_the_books() {
        let found = spread(&[8.0, 12.0, 10.0]).expect("three runs");
        let close =
            |found: f64, expect: f64| assert!((found - expect).abs() < 1e-3, "{found} is not {expect}");
        assert_eq!((found.runs, found.min, found.max), (3, 8.0, 12.0));
        close(found.mean, 10.0);
        close(found.deviation, 2.0);
        close(found.half_width, 4.3027 * 2.0 / 3f64.sqrt());
        close(found.detectable, (2.7764 + 0.9410) * 2.0 * (2.0f64 / 3.0).sqrt());
        assert_eq!(found.relative(found.deviation), Some(0.2));
    }

    #[test]
    fn what_has_no_spread_has_none() {
        assert_eq!(spread(&[1.0]), None);
        assert_eq!(spread(&[1.0, f64::NAN]), None);
        let equal = spread(&[0.0, 0.0]).expect("two runs");
        assert_eq!((equal.deviation, equal.detectable, equal.relative(0.0)), (0.0, 0.0, None));
    }
}
