//! Which part of a run is steady: after its warm-up, and without a change of level.

use std::ops::Range;

use stats::{LevelShift, level_shift, mser5};

/// The fewest seconds that are worth judging.
pub const STEADY_SECONDS_MIN: usize = 20;

/// Maximum p-value of the difference between the cut proposed by MSER-5 and the rest. On autocorrelated
/// seconds MSER-5 would otherwise cut random drift.
const WARM_UP_SIGNIFICANCE: f64 = 0.05;

/// A change of level inside is believed below this p-value.
const SHIFT_SIGNIFICANCE: f64 = 0.001;

/// A smaller change of level, relative to the level before, is no reason not to judge.
const SHIFT_MIN: f64 = 0.05;

/// The steady part of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Steady {
    /// These seconds of the run.
    Seconds(Range<usize>),
    /// There is no steady part, and why.
    Never(Unsteady),
}

/// Why a run has no steady part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unsteady {
    /// It has fewer than [`STEADY_SECONDS_MIN`] seconds, or fewer after its warm-up.
    TooShort {
        /// How many there are.
        seconds: usize,
    },
    /// The level was still changing in the middle of the run.
    StillWarmingUp,
    /// The level changed inside the steady part.
    LevelShift {
        /// The first second of the new level.
        at_s: usize,
        /// The level before.
        before: f64,
        /// The level from there on.
        after: f64,
    },
}

impl Steady {
    /// The steady seconds, if there are any.
    pub fn seconds(&self) -> Option<Range<usize>> {
        match self {
            Steady::Seconds(seconds) => Some(seconds.clone()),
            Steady::Never(_) => None,
        }
    }
}

/// The steady part of a run, by one positive level per second, such as the mean latency.
///
/// The warm-up is what MSER-5 cuts, if it really differs from the rest; if the best cut is in the middle and the level really
/// changes, the run never settled. What remains must not change its level. Levels are looked at as logarithms, so that one
/// slow second does not decide.
pub fn steady_part(levels: &[f64]) -> Steady {
    let logarithms: Vec<f64> = levels.iter().map(|level| level.max(f64::MIN_POSITIVE).ln()).collect();
    if logarithms.len() < STEADY_SECONDS_MIN {
        return Steady::Never(Unsteady::TooShort { seconds: logarithms.len() });
    }
    let cut = mser5(&logarithms);
    // What wanders often has its best cut in the middle. Only a change of level says that the run never settled.
    let is_real = cut.values > 0 && differs(&logarithms, cut.values);
    let warm_up = if is_real && !cut.at_bound { cut.values } else { 0 };
    let rest = &logarithms[warm_up..];
    if rest.len() < STEADY_SECONDS_MIN {
        return Steady::Never(Unsteady::TooShort { seconds: rest.len() });
    }
    match level_shift(rest).filter(is_material) {
        Some(_) if is_real && cut.at_bound => Steady::Never(Unsteady::StillWarmingUp),
        Some(shift) => Steady::Never(Unsteady::LevelShift {
            at_s: warm_up + shift.at,
            before: shift.before.exp(),
            after: shift.after.exp(),
        }),
        None => Steady::Seconds(warm_up..logarithms.len()),
    }
}

/// Whether the level before a cut differs from that after it.
fn differs(logarithms: &[f64], cut: usize) -> bool {
    let (before, after) = logarithms.split_at(cut);
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let spread = stats::long_run(&[after]);
    let error = (spread.variance * (1.0 / before.len() as f64 + 1.0 / after.len() as f64)).sqrt();
    let distance = (mean(before) - mean(after)).abs();
    match error > 0.0 {
        // Leaving a steady start out costs little, and keeping a drift costs much: no credit for few degrees of freedom.
        true => 2.0 * stats::normal_cdf(-distance / error) < WARM_UP_SIGNIFICANCE,
        false => distance > 0.0,
    }
}

fn is_material(shift: &LevelShift) -> bool {
    shift.p_value < SHIFT_SIGNIFICANCE && (shift.after - shift.before).abs() > (1.0 + SHIFT_MIN).ln()
}

#[cfg(test)]
mod tests {
    use stats::Random;

    use super::*;

    /// Levels around 100 ms that wander by 10 %.
    fn levels(seed: u64, length: usize, rho: f64) -> Vec<f64> {
        let mut random = Random::new(seed);
        let mut level = random.normal();
        let next = |_| {
            level = rho * level + (1.0 - rho * rho).sqrt() * random.normal();
            100.0 * (0.1 * level).exp()
        };
        (0..length).map(next).collect()
    }

    #[test]
    fn a_steady_run_is_kept_whole() {
        let kept = (0..50).filter(|seed| {
            steady_part(&levels(*seed, 600, 0.5)).seconds().is_some_and(|seconds| seconds.len() >= 500)
        });
        assert!(kept.count() >= 48);
    }

    #[test]
    fn a_warm_up_is_cut() {
        let mut levels = levels(1, 600, 0.5);
        levels.iter_mut().take(60).enumerate().for_each(|(at, level)| *level *= 4.0 - at as f64 / 20.0);
        let seconds = steady_part(&levels).seconds().expect("a steady part");
        assert!((40..=80).contains(&seconds.start) && seconds.end == 600, "{seconds:?}");
    }

    #[test]
    fn what_never_settles_is_named() {
        let mut stepped = levels(1, 600, 0.5);
        stepped[450..].iter_mut().for_each(|level| *level *= 2.0);
        let Steady::Never(Unsteady::LevelShift { at_s, before, after }) = steady_part(&stepped) else {
            panic!("a step is a level shift: {:?}", steady_part(&stepped))
        };
        assert!((445..=455).contains(&at_s) && after / before > 1.8);
        let mut drift = levels(2, 600, 0.5);
        drift.iter_mut().enumerate().for_each(|(at, level)| *level *= 1.0 + at as f64 / 100.0);
        assert!(steady_part(&drift).seconds().is_none(), "{:?}", steady_part(&drift));
        assert_eq!(steady_part(&[1.0; 5]), Steady::Never(Unsteady::TooShort { seconds: 5 }));
    }

    #[test]
    fn constant_and_empty_seconds_are_steady() {
        assert_eq!(steady_part(&[3.0; 60]).seconds(), Some(0..60));
        assert_eq!(steady_part(&[0.0; 60]).seconds(), Some(0..60));
    }
}
