//! The measurement of an objective at one level of load: whether it holds, with what probability, and its distance to the limit.
//!
//! `p(95)<800` holds if at most 5 % of the requests take longer than 800 ms. That share is a sum over seconds, so its
//! uncertainty is that of a mean of dependent seconds ([`stats::long_run`]). The uncertainty of the quantile itself would be dominated
//! by timeouts. Means and rates are sums over seconds, too.

use stats::{long_run, mser, student_cdf};

/// An objective that nothing may break is kept by so many of `n` that did not break it with the certainty n / (n + this): three
/// is the rule of three (B. Jovanovic and P. Levy, 1997).
const RULE_OF_THREE: f64 = 3.0;

/// How sure a statistic is that has no measure of its error: largest values, counts, and what a table states.
const WHOLE_SURE: f64 = 0.9;

/// Half a request on each side: a share of none has a logarithm then, and that of a share of few is right on average instead of too
/// low (J. Haldane, 1956; F. Anscombe, 1956). Of requests that break a limit in bursts it takes half a burst.
const HALF: f64 = 0.5;

/// The probability of what may as well hold as not.
const UNDECIDED: f64 = 0.5;

/// The log odds of a share are taken to lie no farther from the limit than this.
const DISTANCE_MAX: f64 = 8.0;

/// The condition under which an objective holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Of each second what breaks the limit, and how many there were: at most this share of all may.
    Share {
        /// From 0 to 1.
        allowed: f64,
    },
    /// Of each second the sum, and how many there were: the mean is at most this, or at least.
    Mean {
        /// In the unit of the values.
        limit: f64,
        /// Whether it is at most that.
        is_upper: bool,
    },
    /// Decided by all seconds together; its confidence is unknown.
    Whole {
        /// Whether it holds; `None` without a measurement.
        holds: Option<bool>,
    },
    /// A figure from a table of results.
    Stated {
        /// In the unit of the figure.
        limit: f64,
        /// Whether the figure is to be at most that.
        is_upper: bool,
    },
}

/// The measurement of an objective at one level.
#[derive(Clone, Debug, PartialEq)]
pub struct Sight {
    /// The condition under which the objective holds.
    pub rule: Rule,
    /// The statistic over all seconds; `None` without a value.
    pub value: Option<f64>,
    /// Of each second in order, what the rule says.
    pub seconds: Vec<(f64, f64)>,
    /// How much the measurement counts, from 0 (exclusive) to [`WEIGHT_FULL`].
    pub weight: f64,
}

/// The weight of a valid measurement.
pub const WEIGHT_FULL: f64 = 1.0;

/// The weight of a measurement whose fault does not touch the objective: it moves an estimate, and alone is never sure.
pub const WEIGHT_DEGRADED: f64 = 0.5;

/// Distance of a level from an objective's limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// 0 at the limit and positive beyond: of shares the difference of the log odds, of means that of the logarithms, of what was
    /// stated the relative one.
    pub value: f64,
    /// Standard error; 0 if unknown.
    pub error: f64,
}

/// Variance of the sum of requests that break a limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noise {
    /// The variance of the sum.
    pub(super) variance: f64,
    /// The value if each request broke the limit independently.
    pub(super) independent: f64,
    /// The degrees of freedom of the variance.
    pub(super) dof: f64,
}

impl Noise {
    /// So many requests break the limit together: by how much the variance is larger than that of single ones.
    pub(super) fn burst(&self) -> f64 {
        (self.variance / self.independent.max(f64::MIN_POSITIVE)).max(1.0)
    }
}

/// Sums of seconds.
struct Sums {
    of: f64,
    all: f64,
}

impl Sums {
    fn of(seconds: &[(f64, f64)]) -> Sums {
        let sum = |pick: fn(&(f64, f64)) -> f64| seconds.iter().map(pick).sum();
        Sums { of: sum(|second| second.0), all: sum(|second| second.1) }
    }
}

impl Sight {
    /// Returns the probability that the objective holds at this load; `None` without a measurement.
    pub fn holds(&self) -> Option<f64> {
        self.holds_under(1.0)
    }

    /// Returns the same with the burst size that neighbouring levels show.
    pub fn holds_under(&self, known: f64) -> Option<f64> {
        let seen = self.seen_to_hold(known)?;
        Some(UNDECIDED + (seen - UNDECIDED) * self.weight)
    }

    /// The probability that the objective holds, if the measurement counts in full.
    fn seen_to_hold(&self, known: f64) -> Option<f64> {
        let sums = self.sums();
        match self.rule {
            Rule::Whole { holds } => holds.map(whole),
            Rule::Stated { .. } => self.distance().map(|distance| whole(distance.value <= 0.0)),
            Rule::Share { .. } | Rule::Mean { .. } if sums.all <= 0.0 => None,
            Rule::Share { allowed } if allowed <= 0.0 => {
                Some(if sums.of > 0.0 { 0.0 } else { sums.all / (sums.all + RULE_OF_THREE) })
            }
            Rule::Share { allowed } => {
                let excess = self.excesses(|of, all| of - allowed * all);
                // A level that happened to see few bursts seems less noisy than it is: at the limit there are as many as are
                // allowed, and they are as large.
                let (own, dof) = self.noise().map_or((1.0, 1.0), |noise| (noise.burst(), noise.dof));
                let dof = if own > known { dof } else { f64::INFINITY };
                Some(negative(&excess, (own.max(known) * allowed * (1.0 - allowed) * sums.all, dof)))
            }
            Rule::Mean { limit, is_upper } => {
                let sign = if is_upper { 1.0 } else { -1.0 };
                Some(negative(&self.excesses(|of, all| sign * (of - limit * all)), (0.0, 1.0)))
            }
        }
    }

    /// How far the level is from the limit; `None` where that has no meaning: nothing was seen, or nothing may break it.
    pub fn distance(&self) -> Option<Distance> {
        let sums = self.sums();
        match self.rule {
            Rule::Whole { .. } => None,
            Rule::Stated { limit, is_upper } => {
                let relative = (self.value? - limit) / limit.abs().max(f64::MIN_POSITIVE);
                Some(Distance { value: if is_upper { relative } else { -relative }, error: 0.0 })
            }
            Rule::Share { .. } => {
                let burst = self.noise()?.burst();
                self.distance_under(burst, self.distance_of_share(&sums, burst)?)
            }
            Rule::Mean { limit, is_upper } => self.distance_of_mean(limit, is_upper),
        }
    }

    /// How noisy the sum of what breaks the limit is; `None` where that is not about a share of requests. The seconds before the level is
    /// steady are excluded: a queue that fills and then stays full is no burst.
    pub(super) fn noise(&self) -> Option<Noise> {
        let is_share = matches!(self.rule, Rule::Share { allowed } if allowed > 0.0 && allowed < 1.0);
        if !is_share {
            return None;
        }
        let whole = residuals(&self.seconds)?;
        let steady = &self.seconds[mser(&whole, 1).values..];
        // A target that stopped answering has a steady end without requests.
        let (steady, residuals) = residuals(steady).map_or((&self.seconds[..], whole), |rest| (steady, rest));
        let Sums { of, all } = Sums::of(steady);
        let share = of / all;
        let spread = long_run(&[&residuals]);
        Some(Noise {
            variance: spread.variance * residuals.len() as f64,
            independent: share * (1.0 - share) * all,
            dof: spread.dof,
        })
    }

    /// How far the level is from the limit, with requests that break it in bursts of this size; its error is that of a level which
    /// is as far from the limit as is `expected`, since a level's own noise depends on what it happened to see. `None` where it is
    /// not about a share of requests.
    pub(super) fn distance_under(&self, burst: f64, expected: f64) -> Option<Distance> {
        let Rule::Share { allowed } = self.rule else { return None };
        let sums = self.sums();
        let value = self.distance_of_share(&sums, burst)?;
        let odds = (expected.clamp(-DISTANCE_MAX, DISTANCE_MAX)).exp() * allowed / (1.0 - allowed);
        let share = odds / (1.0 + odds);
        let variance = burst / (sums.all * share * (1.0 - share));
        Some(Distance { value, error: (variance / self.weight).sqrt() })
    }

    fn distance_of_share(&self, sums: &Sums, burst: f64) -> Option<f64> {
        if sums.all <= 0.0 {
            return None;
        }
        let Rule::Share { allowed } = self.rule else { return None };
        if !(allowed > 0.0 && allowed < 1.0) {
            return None;
        }
        let half = HALF * burst;
        let odds = (sums.of + half) / (sums.all - sums.of + half);
        Some(odds.ln() - (allowed / (1.0 - allowed)).ln())
    }

    /// How far a mean is from its limit, with the error of its logarithm by the delta method; which is, like that of a share, too low
    /// on average without half its variance.
    fn distance_of_mean(&self, limit: f64, is_upper: bool) -> Option<Distance> {
        let sums = self.sums();
        if limit <= 0.0 || sums.of <= 0.0 || sums.all <= 0.0 {
            return None;
        }
        let mean = sums.of / sums.all;
        let residuals = self.excesses(|of, all| of - mean * all);
        let variance = long_run(&[&residuals]).variance * residuals.len() as f64 / sums.of.powi(2);
        let ratio = (mean / limit).ln() + HALF * variance;
        let error = (variance / self.weight).sqrt();
        Some(Distance { value: if is_upper { ratio } else { -ratio }, error })
    }

    fn sums(&self) -> Sums {
        Sums::of(&self.seconds)
    }

    fn excesses(&self, of: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        self.seconds.iter().map(|second| of(second.0, second.1)).collect()
    }
}

/// By how many requests more or fewer than by the share of all seconds each second breaks the limit; `None` without requests.
fn residuals(seconds: &[(f64, f64)]) -> Option<Vec<f64>> {
    let Sums { of, all } = Sums::of(seconds);
    (all > 0.0).then(|| seconds.iter().map(|second| second.0 - of / all * second.1).collect())
}

/// The probability that what these seconds are of has a sum below 0; their sum has at least this variance, known with so many
/// degrees of freedom.
fn negative(seconds: &[f64], (variance_min, dof_min): (f64, f64)) -> f64 {
    let sum: f64 = seconds.iter().sum();
    let spread = long_run(&[seconds]);
    let seen = spread.variance * seconds.len() as f64;
    let variance = seen.max(variance_min);
    if variance <= 0.0 {
        return whole(sum <= 0.0);
    }
    let dof = if seen < variance_min { dof_min } else { spread.dof };
    student_cdf(-sum / variance.sqrt(), dof.max(1.0))
}

fn whole(holds: bool) -> f64 {
    if holds { WHOLE_SURE } else { 1.0 - WHOLE_SURE }
}

#[cfg(test)]
mod tests {
    use stats::Random;

    use super::*;

    /// A minute with this many requests a second, of which these break the limit.
    fn share(allowed: f64, all: f64, of: impl Fn(usize) -> f64) -> Sight {
        let seconds = (0..60).map(|second| (of(second), all)).collect();
        Sight { rule: Rule::Share { allowed }, value: None, seconds, weight: WEIGHT_FULL }
    }

    /// A step whose queue fills in its first seconds, and one that has as many slow requests in each: no burst in either.
    #[test]
    fn a_queue_that_fills_and_stays_full_is_no_burst() {
        let filling = share(0.05, 190.0, |second| if second < 4 { 0.0 } else { 45.0 + (second % 3) as f64 });
        let full = share(0.05, 190.0, |second| 45.0 + (second % 3) as f64);
        let burst = |sight: &Sight| sight.noise().expect("requests").burst();
        assert!(burst(&filling) < 1.5 * burst(&full), "{} {}", burst(&filling), burst(&full));
        let bad = [8, 9, 21, 40, 41, 42, 55];
        let bursty = share(0.05, 190.0, |second| if bad.contains(&second) { 45.0 } else { 0.0 });
        assert!(burst(&bursty) > 20.0, "{}", burst(&bursty));
        let mut stopped = full;
        stopped.seconds[20..].fill((0.0, 0.0));
        assert!(burst(&stopped) >= 1.0 && stopped.distance().is_some());
    }

    #[track_caller]
    fn check(sight: &Sight, expect: std::ops::RangeInclusive<f64>) {
        let holds = sight.holds().expect("something was seen");
        assert!(expect.contains(&holds), "{holds} is not in {expect:?}");
    }

    #[test]
    fn what_is_far_from_its_limit_is_sure() {
        check(&share(0.05, 100.0, |second| (second % 3) as f64), 0.999..=1.0);
        check(&share(0.05, 100.0, |second| 8.0 + (second % 3) as f64), 0.0..=0.001);
        check(&share(0.05, 100.0, |second| 4.0 + (second % 3) as f64), 0.4..=0.6);
        check(&share(0.05, 4.0, |_| 0.0), 0.99..=1.0);
        assert_eq!(share(0.05, 0.0, |_| 0.0).holds(), None);
    }

    #[test]
    fn what_nothing_may_break_is_broken_by_one() {
        check(&share(0.0, 10.0, |second| f64::from(u8::from(second == 7))), 0.0..=0.0);
        check(&share(0.0, 10.0, |_| 0.0), 0.99..=0.996);
        check(&share(0.0, 0.1, |_| 0.0), 0.6..=0.7);
        assert_eq!(share(0.0, 10.0, |_| 0.0).distance(), None);
    }

    #[test]
    fn means_are_held_to_both_sides() {
        let mean = |limit, is_upper| Sight {
            rule: Rule::Mean { limit, is_upper },
            value: None,
            seconds: (0..60).map(|second| (95.0 + (second % 11) as f64, 1.0)).collect(),
            weight: WEIGHT_FULL,
        };
        check(&mean(120.0, true), 0.999..=1.0);
        check(&mean(80.0, true), 0.0..=0.001);
        check(&mean(80.0, false), 0.999..=1.0);
        let distance = mean(100.0, true).distance().expect("a mean");
        assert!(distance.value.abs() < 0.01 && distance.error > 0.0, "{distance:?}");
    }

    #[test]
    fn the_distance_is_nought_at_the_limit() {
        let at = share(0.05, 100.0, |_| 5.0).distance().expect("a share");
        assert!(at.value.abs() < 0.01, "{at:?}");
        let none = share(0.05, 100.0, |_| 0.0).distance().expect("a share");
        assert!(none.value < -4.0 && none.error > 1.0, "{none:?}");
        let stated = |value, is_upper| Sight {
            rule: Rule::Stated { limit: 30.0, is_upper },
            value: Some(value),
            seconds: Vec::new(),
            weight: WEIGHT_FULL,
        };
        assert_eq!(stated(60.0, true).distance(), Some(Distance { value: 1.0, error: 0.0 }));
        assert_eq!(stated(60.0, false).distance(), Some(Distance { value: -1.0, error: 0.0 }));
        assert_eq!(stated(60.0, true).holds(), Some(1.0 - WHOLE_SURE));
    }

    #[test]
    fn the_distance_of_bursts_is_right_on_average() {
        let mut random = Random::new(5);
        // Bursts of six requests, of which half a one comes in each second: 3 % of the requests.
        let mut drawn = || {
            let seconds = (0..60).map(|_| (6.0 * random.poisson(0.05) as f64, 10.0)).collect();
            Sight { rule: Rule::Share { allowed: 0.03 }, value: None, seconds, weight: WEIGHT_FULL }
        };
        let sights: Vec<Sight> = (0..2_000).map(|_| drawn()).collect();
        let mean = |burst: f64| {
            let of = |sight: &Sight| sight.distance_under(burst, 0.0).expect("a share").value;
            sights.iter().map(of).sum::<f64>() / sights.len() as f64
        };
        assert!(mean(1.0) < -0.15, "{}", mean(1.0));
        assert!(mean(6.0).abs() < 0.05, "{}", mean(6.0));
    }
}
