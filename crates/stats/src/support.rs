//! Which quantiles a number of samples can say anything about.

/// How certain a bound must be.
const CONFIDENCE: f64 = 0.95;

/// The fewest independent samples with which a quantile has a finite nonparametric bound on its far side.
///
/// The largest of `n` samples is above the quantile `q` with probability `1 − q^n`; below the median the smallest counts
/// (Wilks, 1941; Conover, *Practical Nonparametric Statistics*, 3.3). 59 for p95, 299 for p99, 2,995 for p99.9. Quantiles
/// outside 0 to 1 never have one.
pub fn independent_samples_min(quantile: f64) -> u64 {
    let far = quantile.max(1.0 - quantile);
    if !(0.5..1.0).contains(&far) {
        return u64::MAX;
    }
    ((1.0 - CONFIDENCE).ln() / far.ln()).ceil() as u64
}

/// Whether so many independent samples support a quantile.
pub fn is_supported(quantile: f64, independent_samples: f64) -> bool {
    independent_samples >= independent_samples_min(quantile) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_quantiles_need_many_samples() {
        let check = |quantile: f64, expect: u64| assert_eq!(independent_samples_min(quantile), expect);
        check(0.5, 5);
        check(0.9, 29);
        check(0.95, 59);
        check(0.99, 299);
        check(0.999, 2995);
        check(0.05, 59);
        check(1.0, u64::MAX);
        check(f64::NAN, u64::MAX);
        assert!(is_supported(0.95, 59.0) && !is_supported(0.95, 58.9));
    }
}
