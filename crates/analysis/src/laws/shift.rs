//! Whether a mean of autocorrelated one-second means changed between two runs, from a table alone.
//!
//! A table has no series, but a mean, two quantiles and the mean difference of neighbours are enough for a first-order
//! autoregressive model: the quantiles give the spread, and spread and differences the correlation.

use model::audit::{LawClaim, ShiftVerdict};
use model::{Derived, Figure, FigureLabel, Unit};

use super::{dependence, neighbours};
use crate::audit::{Facts, Run};

/// The 95th percentile of the standard normal distribution.
const NORMAL_P95: f64 = 1.645;

/// Beyond this many standard errors a difference is called one, at 5 %.
const Z_MIN: f64 = 1.96;

/// A mean and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean, seconds.
    pub value_s: f64,
    /// Its standard error, seconds.
    pub error_s: f64,
    /// The correlation of neighbours.
    pub lag1: f64,
    /// How many independent values it rests on.
    pub independent: f64,
}

/// The mean of a run with mean, median, p95, number of seconds and mean difference of neighbours.
pub fn mean(run: &Run) -> Option<Mean> {
    let deviation = (run.p95? - run.p50?) / NORMAL_P95;
    let lag1 = dependence::lag1_of_average_difference(run.average_difference?, deviation)?;
    let independent = dependence::independent(run.seconds?, lag1)?;
    (independent >= 2.0).then(|| Mean {
        value_s: run.avg.unwrap_or_default(),
        error_s: deviation / independent.sqrt(),
        lag1,
        independent,
    })
}

/// Each run against the one before it in its table, where both had the same number of VUs.
pub fn derive(facts: &Facts) -> Vec<Derived> {
    neighbours(&facts.runs, of_pair)
}

fn of_pair(before: &Run, after: &Run) -> Option<Derived> {
    if before.vus? != after.vus? || before.avg.is_none() || after.avg.is_none() {
        return None;
    }
    let (a, b) = (mean(before)?, mean(after)?);
    let z = (b.value_s - a.value_s) / a.error_s.hypot(b.error_s);
    let trend = match z {
        z if z <= -Z_MIN => ShiftVerdict::Improved,
        z if z >= Z_MIN => ShiftVerdict::Regressed,
        _ => ShiftVerdict::Inconclusive,
    };
    Some(Derived {
        claim: LawClaim::MeanShift {
            before: before.run.clone(),
            after: after.run.clone(),
            change_percent: (b.value_s / a.value_s - 1.0) * 100.0,
            trend,
        },
        figures: vec![
            Figure::new(FigureLabel::MeanBefore, a.value_s, Unit::Seconds),
            Figure::new(FigureLabel::StandardError, a.error_s, Unit::Seconds),
            Figure::new(FigureLabel::AutocorrelationBefore, a.lag1, Unit::Count),
            Figure::new(FigureLabel::EffectiveSampleSizeBefore, a.independent, Unit::Count),
            Figure::new(FigureLabel::MeanAfter, b.value_s, Unit::Seconds),
            Figure::new(FigureLabel::StandardError, b.error_s, Unit::Seconds),
            Figure::new(FigureLabel::AutocorrelationAfter, b.lag1, Unit::Count),
            Figure::new(FigureLabel::EffectiveSampleSizeAfter, b.independent, Unit::Count),
            Figure::new(FigureLabel::StandardErrors, z, Unit::Count),
        ],
        place: after.place.clone(),
    })
}
