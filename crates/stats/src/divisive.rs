//! Change points of a sequence of independent values, such as one figure of many runs: E-divisive.
//!
//! Matteson and James, "A Nonparametric Approach for Multiple Change Point Analysis of Multivariate Data" (2014), for one
//! dimension and the exponent 1. Values within one run are not independent: use [`crate::level_shift`] there.

use crate::Random;

/// How to look for change points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DivisiveOptions {
    /// The fewest values between two changes, from 2.
    pub segment_min: usize,
    /// Permutations per test, up to [`PERMUTATIONS_MAX`]; the smallest p-value is one of one more.
    pub permutations: usize,
    /// A change has a p-value of at most this.
    pub significance: f64,
    /// The seed of the permutations.
    pub seed: u64,
}

impl Default for DivisiveOptions {
    fn default() -> DivisiveOptions {
        DivisiveOptions { segment_min: 4, permutations: 499, significance: 0.01, seed: 1 }
    }
}

/// The most permutations.
const PERMUTATIONS_MAX: usize = 9_999;

/// The most values that are looked at: the last ones. Time grows with their square.
const VALUES_MAX: usize = 500;

/// A change between two neighbouring values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The first value after it.
    pub at: usize,
    /// The probability of values without a change looking so.
    pub p_value: f64,
    /// The mean of the segment that ends here.
    pub before: f64,
    /// The mean of the segment that begins here.
    pub after: f64,
}

/// The change points of a sequence, in order. Non-finite values make an empty answer.
///
/// The best split of any segment is tested against permutations within the segments; while it is significant, it is kept
/// and the search goes on. Of more than 500 values the last 500 are looked at.
pub fn change_points(values: &[f64], options: &DivisiveOptions) -> Vec<ChangePoint> {
    let skipped = values.len().saturating_sub(VALUES_MAX);
    let looked_at = &values[skipped..];
    if looked_at.iter().any(|value| !value.is_finite()) {
        return Vec::new();
    }
    let segment_min = options.segment_min.max(2);
    let mut random = Random::new(options.seed);
    let mut bounds = vec![0, looked_at.len()];
    let mut found: Vec<(usize, f64)> = Vec::new();
    while let Some(split) = best_of_all(looked_at, &bounds, segment_min) {
        let p_value = permuted(looked_at, &bounds, segment_min, split.strength, options, &mut random);
        if p_value > options.significance {
            break;
        }
        found.push((split.at, p_value));
        bounds.push(split.at);
        bounds.sort_unstable();
    }
    found.sort_unstable_by_key(|(at, _)| *at);
    let mean = |from: usize, to: usize| looked_at[from..to].iter().sum::<f64>() / (to - from) as f64;
    let described = found.into_iter().map(|(at, p_value)| {
        let place = bounds.partition_point(|bound| *bound < at);
        let (before, after) = (mean(bounds[place - 1], at), mean(at, bounds[place + 1]));
        ChangePoint { at: at + skipped, p_value, before, after }
    });
    described.collect()
}

#[derive(Clone, Copy, Debug)]
struct Split {
    at: usize,
    strength: f64,
}

fn best_of_all(values: &[f64], bounds: &[usize], segment_min: usize) -> Option<Split> {
    let splits = bounds.windows(2).filter_map(|ends| {
        let split = best_split(&values[ends[0]..ends[1]], segment_min)?;
        Some(Split { at: split.at + ends[0], ..split })
    });
    splits.max_by(|a, b| a.strength.total_cmp(&b.strength))
}

/// The split of a segment in two with the largest energy distance, scaled by `n m / (n + m)`.
fn best_split(values: &[f64], segment_min: usize) -> Option<Split> {
    let count = values.len();
    if count < 2 * segment_min {
        return None;
    }
    let distances = |of: f64, among: &[f64]| among.iter().map(|other| (of - other).abs()).sum::<f64>();
    // Each value moves from the right part to the left one, with its distances.
    let mut within_left = 0.0;
    let mut within_right: f64 = (0..count).map(|at| distances(values[at], &values[at + 1..])).sum();
    let mut between = 0.0;
    let mut best: Option<Split> = None;
    for at in 1..=count - segment_min {
        let moved = values[at - 1];
        let (to_left, to_right) = (distances(moved, &values[..at - 1]), distances(moved, &values[at..]));
        within_left += to_left;
        within_right -= to_right;
        between += to_right - to_left;
        if at < segment_min {
            continue;
        }
        let (left, right) = (at as f64, (count - at) as f64);
        let energy = 2.0 * between / (left * right)
            - 2.0 * within_left / (left * (left - 1.0))
            - 2.0 * within_right / (right * (right - 1.0));
        let strength = left * right / (left + right) * energy;
        if best.is_none_or(|best| strength > best.strength) {
            best = Some(Split { at, strength });
        }
    }
    best
}

/// The share of permutations within the segments whose best split is as strong.
fn permuted(
    values: &[f64],
    bounds: &[usize],
    segment_min: usize,
    strength: f64,
    options: &DivisiveOptions,
    random: &mut Random,
) -> f64 {
    let permutations = options.permutations.clamp(1, PERMUTATIONS_MAX);
    let mut shuffled = values.to_vec();
    // Once so many are as strong, the answer cannot be significant any more, and the rest need not be drawn.
    let enough = (options.significance * (permutations as f64 + 1.0)).ceil() as usize + 1;
    let mut as_strong = 0;
    for drawn in 1..=permutations {
        bounds.windows(2).for_each(|ends| shuffle(&mut shuffled[ends[0]..ends[1]], random));
        let best = best_of_all(&shuffled, bounds, segment_min);
        as_strong += usize::from(best.is_some_and(|best| best.strength >= strength));
        if as_strong >= enough {
            return (as_strong as f64 + 1.0) / (drawn as f64 + 1.0);
        }
    }
    (as_strong as f64 + 1.0) / (permutations as f64 + 1.0)
}

/// Fisher and Yates' shuffle.
fn shuffle(values: &mut [f64], random: &mut Random) {
    for last in (1..values.len()).rev() {
        values.swap(last, random.below(last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(length: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..length).map(|_| random.normal()).collect()
    }

    fn places(values: &[f64]) -> Vec<usize> {
        change_points(values, &DivisiveOptions::default()).iter().map(|change| change.at).collect()
    }

    #[test]
    fn two_changes_are_found() {
        let mut values = noise(60, 1);
        values[20..].iter_mut().for_each(|value| *value += 8.0);
        values[45..].iter_mut().for_each(|value| *value -= 5.0);
        assert_eq!(places(&values), [20, 45]);
        let first = change_points(&values, &DivisiveOptions::default())[0];
        assert!((first.after - first.before - 8.0).abs() < 1.0 && first.p_value <= 0.01, "{first:?}");
    }

    #[test]
    fn noise_seldom_has_any() {
        let wrong = (0..100).filter(|seed| !places(&noise(30, *seed)).is_empty()).count();
        assert!(wrong <= 4, "{wrong}");
    }

    #[test]
    fn hostile_sequences_have_none() {
        assert_eq!(places(&[]), []);
        assert_eq!(places(&[1.0, 2.0]), []);
        assert_eq!(places(&[3.0; 40]), []);
        assert_eq!(places(&[f64::NAN; 40]), []);
    }

    #[test]
    fn only_the_last_of_many_are_looked_at() {
        let mut values = noise(VALUES_MAX + 100, 2);
        values[VALUES_MAX..].iter_mut().for_each(|value| *value += 9.0);
        let options = DivisiveOptions { permutations: 99, ..DivisiveOptions::default() };
        assert!(change_points(&values, &options).iter().any(|change| change.at == VALUES_MAX));
    }
}
