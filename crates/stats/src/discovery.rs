//! Many tests at once: how many of the findings are false.

/// The p-values adjusted so that those below `q` have a share of at most `q` false ones, in the order given.
///
/// Benjamini and Hochberg (1995). NaN is no test: it stays NaN and is not counted.
pub fn adjusted_p_values(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).filter(|index| !p_values[*index].is_nan()).collect();
    order.sort_by(|a, b| p_values[*b].total_cmp(&p_values[*a]));
    let count = order.len() as f64;
    let mut adjusted = vec![f64::NAN; p_values.len()];
    let mut smallest = 1.0f64;
    for (from_the_largest, index) in order.into_iter().enumerate() {
        let rank = count - from_the_largest as f64;
        smallest = smallest.min(p_values[index] * count / rank);
        adjusted[index] = smallest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(p_values: &[f64], expect: &[f64]) {
        let found = adjusted_p_values(p_values);
        let same = found.iter().zip(expect).all(|(a, b)| (a - b).abs() < 1e-12 || a.is_nan() && b.is_nan());
        assert!(same && found.len() == expect.len(), "{found:?} instead of {expect:?}");
    }

    #[test]
    fn p_values_grow_with_their_number() {
        check(&[], &[]);
        check(&[0.04], &[0.04]);
        check(&[0.01, 0.04, 0.03], &[0.03, 0.04, 0.04]);
        check(&[0.5, f64::NAN, 0.01], &[0.5, f64::NAN, 0.02]);
        check(&[0.9, 1.0], &[1.0, 1.0]);
    }
}
