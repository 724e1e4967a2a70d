//! Hodges and Lehmann's estimates of a centre and of a shift, which a few wild values do not move.
//!
//! Hodges and Lehmann, "Estimates of Location Based on Rank Tests" (1963).

/// More values than this are thinned evenly, so that the pairs stay countable.
const VALUES_MAX: usize = 1000;

/// The median of the means of all pairs of values, each value paired with itself too. `None` without values.
pub fn hodges_lehmann(values: &[f64]) -> Option<f64> {
    let values = thinned(values);
    let pairs = values.iter().enumerate().flat_map(|(at, a)| values[at..].iter().map(move |b| (a + b) / 2.0));
    median(pairs.collect())
}

/// The median of all differences of a value of `b` from a value of `a`. `None` if a side has none.
pub fn hodges_lehmann_shift(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (thinned(a), thinned(b));
    median(a.iter().flat_map(|from| b.iter().map(move |to| to - from)).collect())
}

fn thinned(values: &[f64]) -> Vec<f64> {
    let step = values.len().div_ceil(VALUES_MAX).max(1);
    values.iter().copied().step_by(step).collect()
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    let middle = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let even = values.len().is_multiple_of(2);
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = below.iter().copied().max_by(f64::total_cmp).filter(|_| even).unwrap_or(upper);
    Some((lower + upper) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn centres_are_medians_of_pairs() {
        assert_eq!(hodges_lehmann(&[]), None);
        assert_eq!(hodges_lehmann(&[3.0]), Some(3.0));
        assert_eq!(hodges_lehmann(&[1.0, 2.0, 9.0]), Some(3.5));
        assert_eq!(hodges_lehmann(&[1.0, 2.0, 900.0]), Some(226.25));
    }

    #[test]
    fn shifts_are_medians_of_differences() {
        assert_eq!(hodges_lehmann_shift(&[], &[1.0]), None);
        assert_eq!(hodges_lehmann_shift(&[1.0, 2.0, 3.0], &[11.0, 12.0, 13.0]), Some(10.0));
        assert_eq!(hodges_lehmann_shift(&[1.0, 2.0, 3.0], &[11.0, 12.0, 1300.0]), Some(10.0));
        let many: Vec<f64> = (0..5000).map(f64::from).collect();
        assert_eq!(hodges_lehmann_shift(&many, &many), Some(0.0));
    }
}
