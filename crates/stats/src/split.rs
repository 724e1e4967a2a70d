//! The ratio of two quantiles that lie far apart, by the values between them.
//!
//! The interval of a quantile takes the noise of the share above it from the seconds at the quantile itself. A burst of a few
//! seconds makes that noise large, and the interval endless, although no second has anything at the other side's quantile. The
//! test is then inverted value by value: a quantile lies below a value if significantly more than its share of the population
//! does, with the noise of that share at that value. Since nothing is seen of noise where no value lies, the blocks of both sides
//! at equal elapsed time are compared by their signs, too.

use crate::paired::about_plan;
use crate::{Estimate, Interval, PlanStrata, RatioEstimate, SheetPart, beta_cdf, student_cdf};

/// Steps of a bisection: a bound is found to a 256th of the distance on the logarithm's scale.
const BISECTION_STEPS: usize = 8;

/// Two sides that went through the same plan.
pub struct Split<'a> {
    /// The quantile.
    pub quantile: f64,
    /// The parts of the plan.
    pub strata: &'a PlanStrata,
    /// Seconds of a block: within it, seconds may resemble each other.
    pub block_s: usize,
    /// The probability that the interval holds the ratio.
    pub confidence: f64,
}

/// A side's population and its quantile.
type Side<'a> = (&'a SheetPart<'a>, &'a Estimate);

impl Split<'_> {
    /// The ratio `b / a`, if a value between the two quantiles separates them at the confidence.
    pub fn ratio(&self, a: Side, b: Side) -> Option<RatioEstimate> {
        let (value_a, value_b) = (a.1.value, b.1.value);
        let (low, high) = if value_a < value_b { (a, b) } else { (b, a) };
        let between = (value_a * value_b).sqrt();
        let p_values = [
            2.0 * self.p_value(low.0, between, Lies::Below)?,
            2.0 * self.p_value(high.0, between, Lies::Above)?,
            self.sign_p_value(low.0, high.0, between),
        ];
        let p_value = p_values.into_iter().fold(0.0, f64::max);
        if p_value >= 1.0 - self.confidence {
            return None;
        }
        let of_low = Interval {
            lower: self.bound(low, Lies::Above, None),
            upper: self.bound(low, Lies::Below, Some(between)),
        };
        let of_high = Interval {
            lower: self.bound(high, Lies::Above, Some(between)),
            upper: self.bound(high, Lies::Below, None),
        };
        let (of_a, of_b) = if value_a < value_b { (of_low, of_high) } else { (of_high, of_low) };
        let interval = recovered((value_a, of_a), (value_b, of_b));
        Some(RatioEstimate {
            ratio: value_b / value_a,
            interval,
            equivalence_interval: interval,
            p_value,
            dof: a.1.dof().min(b.1.dof()),
        })
    }

    /// The one-sided p-value of the claim that the quantile lies on this side of the value.
    fn p_value(&self, part: &SheetPart, value: f64, lies: Lies) -> Option<f64> {
        let at = about_plan(&part.at_value(value)?, self.strata);
        let excess = match lies {
            Lies::Below => at.share()? - self.quantile,
            Lies::Above => self.quantile - at.share()?,
        };
        Some(match at.error() {
            error if error > 0.0 => student_cdf(-excess / error, at.dof()),
            _ if excess > 0.0 => 0.0,
            _ => 1.0,
        })
    }

    /// The p-value of the one-sided sign test, whose direction the quantiles give: of the blocks in which either side has more than
    /// the quantile's share beyond the value, how many have more on the higher side.
    fn sign_p_value(&self, low: &SheetPart, high: &SheetPart, value: f64) -> f64 {
        let seconds = self.strata.seconds();
        let (low, high) =
            (low.shares_above(value, seconds, self.block_s), high.shares_above(value, seconds, self.block_s));
        let with_tail = low.zip(high).filter(|(low, high)| low.max(*high) > 1.0 - self.quantile);
        let signs: Vec<bool> = with_tail.map(|(low, high)| high > low).collect();
        let (all, apart) = (signs.len() as f64, signs.iter().filter(|is_apart| **is_apart).count() as f64);
        if apart == 0.0 {
            return 1.0;
        }
        // So many or more of as many blocks, each as likely as not: the binomial distribution's upper tail.
        beta_cdf(0.5, apart, all - apart + 1.0)
    }

    /// The value closest to the quantile that the quantile certainly lies on this side of. Without a known one, the search starts
    /// at the last value there is.
    fn bound(&self, (part, estimate): Side, lies: Lies, known: Option<f64>) -> f64 {
        let (lowest, highest) = part.range();
        let (last, none) = match lies {
            Lies::Below => (highest, f64::INFINITY),
            Lies::Above => (lowest, 0.0),
        };
        let error = (1.0 - self.confidence) / 2.0;
        let holds = |value: f64| self.p_value(part, value, lies).is_some_and(|p_value| p_value < error);
        let mut far = match known {
            Some(known) => known,
            None if holds(last) => last,
            None => return none,
        };
        let mut near = estimate.value;
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

/// Where a quantile lies, seen from a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lies {
    Below,
    Above,
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
        let strata = PlanStrata::new(&[0], 30);
        let split = Split { quantile: 0.95, strata: &strata, block_s: 3, confidence: 0.95 };
        split.ratio((&a, &of_a), (&b, &of_b))
    }

    #[test]
    fn sides_that_do_not_overlap_are_apart() {
        let (before, after) = (sheet(1, 150.0), sheet(2, 20.0));
        let found = ratio(&before, &after).expect("they are apart");
        let Interval { lower, upper } = found.interval;
        assert!((0.1..found.ratio).contains(&lower) && (found.ratio..0.2).contains(&upper), "{found:?}");
        assert!(found.p_value < 0.003, "{found:?}");
        let turned = ratio(&after, &before).expect("they are apart").interval;
        assert!((turned.lower * upper - 1.0).abs() < 0.01 && (turned.upper * lower - 1.0).abs() < 0.01);
    }

    #[test]
    fn sides_that_overlap_are_not() {
        assert!(ratio(&sheet(1, 20.0), &sheet(2, 20.0)).is_none());
        assert!(ratio(&sheet(1, 20.0), &sheet(2, 20.1)).is_none());
    }
}
