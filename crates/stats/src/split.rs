//! The ratio of two quantiles that lie far apart, by the values between them.
//!
//! The interval of a quantile takes the noise of the share above it from the seconds at the quantile itself. A burst of a few
//! seconds makes that noise large, and the interval endless, although no second has anything at the other side's quantile. The
//! test is then inverted value by value: a quantile lies below a value if significantly more than its share of the population
//! does, with the noise of that share at that value.

use crate::{Estimate, Interval, RatioEstimate, SheetPart, student_cdf};

/// Steps of a bisection: a bound is found to a 256th of the distance on the logarithm's scale.
const BISECTION_STEPS: usize = 8;

/// One side: its population, the quantile's estimate, and the noise that its seconds have.
pub struct SplitSide<'a> {
    /// The population.
    pub part: &'a SheetPart<'a>,
    /// The quantile with its error.
    pub estimate: &'a Estimate,
    /// The same estimate with the error that the plan leaves to it.
    pub with_noise: &'a (dyn Fn(Estimate) -> Estimate + 'a),
}

/// The ratio `b / a` of a quantile, if a value between the two separates them at the confidence.
pub fn split_ratio(a: &SplitSide, b: &SplitSide, quantile: f64, confidence: f64) -> Option<RatioEstimate> {
    let (value_a, value_b) = (a.estimate.value, b.estimate.value);
    let (low, high) = if value_a < value_b { (a, b) } else { (b, a) };
    let between = (value_a * value_b).sqrt();
    let p_below = low.p_value(quantile, between, Side::Below)?;
    let p_above = high.p_value(quantile, between, Side::Above)?;
    let (p_value, error) = (2.0 * p_below.max(p_above), 1.0 - confidence);
    if p_value >= error {
        return None;
    }
    let bounds = |side: &SplitSide, inner: Side| Interval {
        lower: side.bound(quantile, Side::Above, (inner == Side::Above).then_some(between), error / 2.0),
        upper: side.bound(quantile, Side::Below, (inner == Side::Below).then_some(between), error / 2.0),
    };
    let of_low = bounds(low, Side::Below);
    let of_high = bounds(high, Side::Above);
    let (of_a, of_b) = if value_a < value_b { (of_low, of_high) } else { (of_high, of_low) };
    let interval = recovered((value_a, of_a), (value_b, of_b));
    Some(RatioEstimate {
        ratio: value_b / value_a,
        interval,
        equivalence_interval: interval,
        p_value,
        dof: a.estimate.dof().min(b.estimate.dof()),
    })
}

/// Where a quantile lies, seen from a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Below,
    Above,
}

impl SplitSide<'_> {
    /// The one-sided p-value of the claim that the quantile lies on this side of the value.
    fn p_value(&self, quantile: f64, value: f64, side: Side) -> Option<f64> {
        let at = (self.with_noise)(self.part.at_value(value)?);
        let excess = match side {
            Side::Below => at.share()? - quantile,
            Side::Above => quantile - at.share()?,
        };
        let by_noise = match at.error() {
            error if error > 0.0 => student_cdf(-excess / error, at.dof()),
            _ if excess > 0.0 => 0.0,
            _ => 1.0,
        };
        // Where no second has a value beyond, the seconds show no noise, and the number of independent samples counts.
        let by_number = match side {
            Side::Below => quantile.powf(self.estimate.effective_number),
            Side::Above => (1.0 - quantile).powf(self.estimate.effective_number),
        };
        Some(by_noise.max(by_number))
    }

    /// The value closest to the quantile on the other side of which the quantile does not lie; without a known one, the search
    /// starts at the last value there is.
    fn bound(&self, quantile: f64, side: Side, known: Option<f64>, error: f64) -> f64 {
        let (lowest, highest) = self.part.range();
        let (last, none) = match side {
            Side::Below => (highest, f64::INFINITY),
            Side::Above => (lowest, 0.0),
        };
        let holds = |value: f64| self.p_value(quantile, value, side).is_some_and(|p_value| p_value < error);
        let mut far = match known {
            Some(known) => known,
            None if holds(last) => last,
            None => return none,
        };
        let mut near = self.estimate.value;
        for _ in 0..BISECTION_STEPS {
            let middle = (near * far).sqrt();
            if holds(middle) {
                far = middle;
            } else {
                near = middle;
            }
        }
        far
    }
}

/// The interval of a ratio from those of its parts, on the logarithm's scale (Zou and Donner, 2008).
fn recovered((a, of_a): (f64, Interval), (b, of_b): (f64, Interval)) -> Interval {
    let ratio = (b / a).ln();
    Interval {
        lower: (ratio - (b / of_b.lower).ln().hypot((of_a.upper / a).ln())).exp(),
        upper: (ratio + (of_b.upper / b).ln().hypot((a / of_a.lower).ln())).exp(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Random, Sheet};

    /// Seconds with 100 values around a median; in every sixth second every tenth is slower.
    fn sheet(seed: u64, median: f64) -> Sheet {
        let mut random = Random::new(seed);
        let mut sheet = Sheet::new();
        for second in 0..30 {
            let mut histogram = histo::Histogram::default();
            for at in 0..100 {
                let factor = if second % 6 == 0 && at % 10 == 0 { 2.0 } else { 1.0 };
                histogram.record(median * factor * (0.02 * random.normal()).exp());
            }
            sheet.push(&histogram, 100.0 * median, 0);
        }
        sheet
    }

    fn ratio(a: &Sheet, b: &Sheet) -> Option<RatioEstimate> {
        let (a, b) = (SheetPart::new(&[(a, 0..30)]), SheetPart::new(&[(b, 0..30)]));
        let [of_a, of_b] = [&a, &b].map(|part| part.quantiles(&[0.95]).remove(0).estimate.expect("a value"));
        let same = |estimate: Estimate| estimate;
        let side = |part, estimate| SplitSide { part, estimate, with_noise: &same };
        split_ratio(&side(&a, &of_a), &side(&b, &of_b), 0.95, 0.95)
    }

    #[test]
    fn sides_that_do_not_overlap_are_apart() {
        let (before, after) = (sheet(1, 150.0), sheet(2, 20.0));
        let found = ratio(&before, &after).expect("they are apart");
        let Interval { lower, upper } = found.interval;
        assert!((0.1..found.ratio).contains(&lower) && (found.ratio..0.2).contains(&upper), "{found:?}");
        assert!(found.p_value < 0.001, "{found:?}");
        let turned = ratio(&after, &before).expect("they are apart").interval;
        assert!((turned.lower * upper - 1.0).abs() < 0.01 && (turned.upper * lower - 1.0).abs() < 0.01);
    }

    #[test]
    fn sides_that_overlap_are_not() {
        assert!(ratio(&sheet(1, 20.0), &sheet(2, 20.0)).is_none());
        assert!(ratio(&sheet(1, 20.0), &sheet(2, 20.1)).is_none());
    }
}
