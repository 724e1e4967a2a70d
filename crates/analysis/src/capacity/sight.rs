//! What was seen of an objective at a level of load: whether it holds, how surely, and how far the level is from the limit.
//!
//! `p(95)<800` holds while no more than a twentieth of the requests take longer than 800 ms. That share is a sum over seconds,
//! and so its uncertainty is that of a mean of dependent seconds ([`stats::long_run`]); a quantile's own would be undone by what
//! timed out. Means and rates are sums over seconds, too.

use stats::{Random, long_run, normal_quantile, student_cdf, student_quantile};

/// An objective that nothing may break is kept by so many of `n` that did not break it with the certainty n / (n + this): three
/// is the rule of three (B. Jovanovic and P. Levy, 1997).
const RULE_OF_THREE: f64 = 3.0;

/// How sure a statistic is that has no measure of its error: largest values, counts, and what a table states.
const WHOLE_SURE: f64 = 0.9;

/// Half a request on each side, so that a share of none has a logarithm (J. Haldane, 1956; F. Anscombe, 1956).
const HALF: f64 = 0.5;

/// Blocks of a replicate at least; shorter blocks are better than fewer.
const BLOCKS_MIN: usize = 5;

/// What makes an objective hold.
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
    /// Decided by all seconds together; nobody knows how surely.
    Whole {
        /// Whether it holds; `None` where nothing was seen.
        holds: Option<bool>,
    },
    /// A figure that somebody wrote down.
    Stated {
        /// In the unit of the figure.
        limit: f64,
        /// Whether the figure is to be at most that.
        is_upper: bool,
    },
}

/// What was seen of an objective at a level.
#[derive(Clone, Debug, PartialEq)]
pub struct Sight {
    /// What makes it hold.
    pub rule: Rule,
    /// The statistic, over all seconds; `None` where it has none.
    pub value: Option<f64>,
    /// Of each second in order, what the rule says.
    pub seconds: Vec<(f64, f64)>,
}

/// How far a level is from an objective's limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// 0 at the limit and positive beyond: of shares the difference of the log odds, of means that of the logarithms, of what was
    /// stated the relative one.
    pub value: f64,
    /// Its standard error; 0 where it has none.
    pub error: f64,
}

/// A level as it could have been.
pub(super) struct Draws<'a> {
    sight: &'a Sight,
    /// How far it is.
    pub(super) distance: Distance,
    /// The length of a block, in seconds; `None` where blocks cannot tell, since so few requests broke the limit.
    block: Option<usize>,
}

impl Draws<'_> {
    /// How far the level would be had its seconds come in other blocks: a replicate of the circular block bootstrap (Politis
    /// and Romano, 1992). Where blocks cannot tell, a draw from its own error.
    pub(super) fn draw(&self, random: &mut Random) -> f64 {
        let Distance { value, error } = self.distance;
        let Some(block) = self.block else { return value + error * random.normal() };
        let seconds = &self.sight.seconds;
        let blocks = seconds.len().div_ceil(block);
        let mut sums = Sums { of: 0.0, all: 0.0 };
        for _ in 0..blocks {
            let start = random.below(seconds.len());
            for place in start..start + block {
                let (of, all) = seconds[place % seconds.len()];
                (sums.of, sums.all) = (sums.of + of, sums.all + all);
            }
        }
        // Few blocks vary less than what they stand for, by as much as Student's quantile is above the normal one.
        let stretch = student_quantile(0.975, (blocks - 1) as f64) / normal_quantile(0.975);
        self.sight.distance_of(&sums).map_or(value, |drawn| value + (drawn - value) * stretch)
    }
}

/// Sums of seconds.
struct Sums {
    of: f64,
    all: f64,
}

impl Sight {
    /// The probability that the objective holds at this load; `None` where nothing was seen.
    pub fn holds(&self) -> Option<f64> {
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
                Some(negative(&excess, allowed * (1.0 - allowed) * sums.all))
            }
            Rule::Mean { limit, is_upper } => {
                let sign = if is_upper { 1.0 } else { -1.0 };
                Some(negative(&self.excesses(|of, all| sign * (of - limit * all)), 0.0))
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
            _ => {
                let value = self.distance_of(&sums)?;
                Some(Distance { value, error: self.error(&sums) })
            }
        }
    }

    /// What replicates of the level are drawn from; `None` where it has no distance.
    pub(super) fn draws(&self) -> Option<Draws<'_>> {
        let distance = self.distance()?;
        let is_long = self.seconds.len() >= 2 * BLOCKS_MIN;
        let block = (is_long && self.is_told_by_blocks()).then(|| self.block());
        Some(Draws { sight: self, distance, block })
    }

    /// The length of a block, in seconds.
    fn block(&self) -> usize {
        let series = match self.rule {
            Rule::Mean { limit, .. } => self.excesses(|of, all| of - limit * all),
            _ => {
                let Sums { of, all } = self.sums();
                self.excesses(|broke, there| broke - of / all.max(1.0) * there)
            }
        };
        (stats::block_length(&series).ceil() as usize).clamp(1, self.seconds.len() / BLOCKS_MIN)
    }

    /// Whether enough of both sides was seen for blocks to differ.
    fn is_told_by_blocks(&self) -> bool {
        let Sums { of, all } = self.sums();
        match self.rule {
            Rule::Share { .. } => of.min(all - of) >= BLOCKS_MIN as f64,
            _ => true,
        }
    }

    fn distance_of(&self, sums: &Sums) -> Option<f64> {
        if sums.all <= 0.0 {
            return None;
        }
        match self.rule {
            Rule::Share { allowed } if allowed > 0.0 && allowed < 1.0 => {
                let odds = (sums.of + HALF) / (sums.all - sums.of + HALF);
                Some(odds.ln() - (allowed / (1.0 - allowed)).ln())
            }
            Rule::Mean { limit, is_upper } if limit > 0.0 && sums.of > 0.0 => {
                let ratio = (sums.of / sums.all / limit).ln();
                Some(if is_upper { ratio } else { -ratio })
            }
            _ => None,
        }
    }

    /// The standard error of the distance, by the delta method.
    fn error(&self, sums: &Sums) -> f64 {
        let share = sums.of / sums.all;
        let residuals = self.excesses(|of, all| of - share * all);
        let variance = long_run(&[&residuals]).variance * residuals.len() as f64;
        match self.rule {
            Rule::Share { .. } => {
                let (of, rest) = (sums.of + HALF, sums.all - sums.of + HALF);
                let independent = of * rest / sums.all;
                variance.max(independent).sqrt() * sums.all / (of * rest)
            }
            _ => variance.sqrt() / sums.of,
        }
    }

    fn sums(&self) -> Sums {
        let sum = |pick: fn(&(f64, f64)) -> f64| self.seconds.iter().map(pick).sum();
        Sums { of: sum(|second| second.0), all: sum(|second| second.1) }
    }

    fn excesses(&self, of: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        self.seconds.iter().map(|second| of(second.0, second.1)).collect()
    }
}

/// The probability that what these seconds are of has a sum below 0; `variance_min` is the least that their sum can have.
fn negative(seconds: &[f64], variance_min: f64) -> f64 {
    let sum: f64 = seconds.iter().sum();
    let spread = long_run(&[seconds]);
    let seen = spread.variance * seconds.len() as f64;
    let variance = seen.max(variance_min);
    if variance <= 0.0 {
        return whole(sum <= 0.0);
    }
    // The least variance is known, and not estimated of the few seconds there are.
    let dof = if seen < variance_min { f64::INFINITY } else { spread.dof.max(1.0) };
    student_cdf(-sum / variance.sqrt(), dof)
}

fn whole(holds: bool) -> f64 {
    if holds { WHOLE_SURE } else { 1.0 - WHOLE_SURE }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A minute with this many requests a second, of which these break the limit.
    fn share(allowed: f64, all: f64, of: impl Fn(usize) -> f64) -> Sight {
        let seconds = (0..60).map(|second| (of(second), all)).collect();
        Sight { rule: Rule::Share { allowed }, value: None, seconds }
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
        };
        assert_eq!(stated(60.0, true).distance(), Some(Distance { value: 1.0, error: 0.0 }));
        assert_eq!(stated(60.0, false).distance(), Some(Distance { value: -1.0, error: 0.0 }));
        assert_eq!(stated(60.0, true).holds(), Some(1.0 - WHOLE_SURE));
    }

    #[test]
    fn replicates_spread_like_the_error() {
        let mut random = Random::new(4);
        let mut draw = Random::new(5);
        let sight = share(0.05, 100.0, |_| 0.0);
        let noisy = Sight { seconds: (0..200).map(|_| (draw.poisson(5.0) as f64, 100.0)).collect(), ..sight };
        let draws = noisy.draws().expect("a share");
        let error = draws.distance.error;
        let values: Vec<f64> = (0..500).map(|_| draws.draw(&mut random)).collect();
        let mean = values.iter().sum::<f64>() / 500.0;
        let spread = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 500.0).sqrt();
        assert!((0.7..1.5).contains(&(spread / error)), "{spread} for {error}");
    }
}
