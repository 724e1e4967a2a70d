//! Quantiles and tails of the distributions that intervals are made of.
//!
//! Probabilities are kept away from 0 and 1, and degrees of freedom within what the series behind them converge for, so
//! that every answer is finite.

use statrs::distribution::{Beta, ContinuousCDF, FisherSnedecor, Normal, StudentsT};

/// The smallest probability that is distinguished from 0, and 1 minus the largest.
const PROBABILITY_MIN: f64 = 1e-12;

/// More degrees of freedom are treated as infinitely many.
const DOF_MAX: f64 = 1e6;

/// Fewer give intervals that say nothing.
const DOF_MIN: f64 = 0.5;

/// The standard normal quantile of a probability.
pub fn normal_quantile(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(inside(probability))
}

/// The probability that a standard normal value is at most `x`.
pub fn normal_cdf(x: f64) -> f64 {
    Normal::standard().cdf(x)
}

/// The quantile of Student's t distribution.
pub fn student_quantile(probability: f64, dof: f64) -> f64 {
    let probability = inside(probability);
    if dof >= DOF_MAX {
        return normal_quantile(probability);
    }
    StudentsT::new(0.0, 1.0, dof.max(DOF_MIN)).map_or(0.0, |student| student.inverse_cdf(probability))
}

/// The probability that a value of Student's t distribution is at most `t`.
pub fn student_cdf(t: f64, dof: f64) -> f64 {
    if dof >= DOF_MAX {
        return normal_cdf(t);
    }
    StudentsT::new(0.0, 1.0, dof.max(DOF_MIN)).map_or(0.5, |student| student.cdf(t))
}

/// The probability that a value of the F distribution exceeds `f`.
pub fn f_tail(f: f64, dof_above: f64, dof_below: f64) -> f64 {
    let (above, below) = (dof_above.clamp(DOF_MIN, DOF_MAX), dof_below.clamp(DOF_MIN, DOF_MAX));
    FisherSnedecor::new(above, below).map_or(1.0, |fisher| fisher.sf(f.max(0.0)))
}

/// The quantile of the beta distribution; both shapes are kept above 1e-9.
pub fn beta_quantile(probability: f64, shape_a: f64, shape_b: f64) -> f64 {
    let probability = inside(probability);
    Beta::new(shape_a.max(1e-9), shape_b.max(1e-9)).map_or(0.5, |beta| beta.inverse_cdf(probability))
}

/// The probability that a value of the beta distribution is at most `x`.
pub(crate) fn beta_cdf(x: f64, shape_a: f64, shape_b: f64) -> f64 {
    Beta::new(shape_a.max(1e-9), shape_b.max(1e-9)).map_or(0.5, |beta| beta.cdf(x.clamp(0.0, 1.0)))
}

/// A probability that is neither 0 nor 1; NaN becomes a half, which claims nothing.
fn inside(probability: f64) -> f64 {
    if probability.is_nan() { 0.5 } else { probability.clamp(PROBABILITY_MIN, 1.0 - PROBABILITY_MIN) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_arguments_have_finite_answers() {
        for probability in [f64::NAN, -1.0, 0.0, 1.0, 2.0] {
            for dof in [0.0, 1e-9, 1e9, f64::INFINITY] {
                assert!(student_quantile(probability, dof).is_finite(), "{probability} {dof}");
            }
            assert!(normal_quantile(probability).is_finite());
            assert!(beta_quantile(probability, 0.0, 3.0).is_finite());
        }
        assert!(f_tail(-1.0, 0.0, 1e9).is_finite());
    }

    #[test]
    fn many_degrees_of_freedom_are_normal() {
        assert_eq!(student_quantile(0.975, 2e6), normal_quantile(0.975));
        assert!((student_quantile(0.975, 9e5) - normal_quantile(0.975)).abs() < 1e-5);
    }
}
