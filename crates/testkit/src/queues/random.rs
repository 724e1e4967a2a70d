//! Random times, the same for the same seed on every machine.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// How long something takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Times {
    /// Always as long.
    Fixed {
        /// Seconds.
        s: f64,
    },
    /// Exponential: however long it has taken, the rest is as long as the whole.
    Exponential {
        /// Seconds.
        mean_s: f64,
    },
    /// Log-normal: mostly short and now and then long, as times of real services are.
    LogNormal {
        /// Seconds.
        mean_s: f64,
        /// Standard deviation over mean.
        variation: f64,
    },
}

impl Times {
    /// The mean in seconds.
    pub fn mean_s(self) -> f64 {
        match self {
            Times::Fixed { s } => s,
            Times::Exponential { mean_s } | Times::LogNormal { mean_s, .. } => mean_s,
        }
    }

    /// Standard deviation over mean.
    pub fn variation(self) -> f64 {
        match self {
            Times::Fixed { .. } => 0.0,
            Times::Exponential { .. } => 1.0,
            Times::LogNormal { variation, .. } => variation,
        }
    }

    pub(super) fn is_fine(self) -> bool {
        [self.mean_s(), self.variation()].iter().all(|value| value.is_finite() && *value >= 0.0)
    }
}

/// A generator: xoshiro256++ (Blackman and Vigna, 2018), whose output the crate promises never to change.
#[derive(Clone, Debug)]
pub(super) struct Random {
    generator: Xoshiro256PlusPlus,
}

impl Random {
    /// `N` generators of one seed that share no number within 2^128 of them, so that arrivals stay the same when only the
    /// service changes.
    pub(super) fn streams<const N: usize>(seed: u64) -> [Random; N] {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        std::array::from_fn(|_| {
            let stream = Random { generator: generator.clone() };
            generator.jump();
            stream
        })
    }

    /// From 0, included, to 1, excluded: 53 random bits.
    pub(super) fn unit(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// An exponential value of this mean, by inversion.
    pub(super) fn exponential(&mut self, mean: f64) -> f64 {
        // 1 − u is never 0.
        -mean * (1.0 - self.unit()).ln()
    }

    /// Seconds that something takes.
    pub(super) fn time_s(&mut self, times: Times) -> f64 {
        match times {
            Times::Fixed { s } => s,
            Times::Exponential { mean_s } => self.exponential(mean_s),
            Times::LogNormal { mean_s, variation } => {
                let variance = (variation * variation).ln_1p();
                mean_s * (variance.sqrt() * self.normal() - variance / 2.0).exp()
            }
        }
    }

    /// A standard normal value, by the polar method (Marsaglia and Bray, 1964); the second of each pair is not used.
    fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * (-2.0 * square.ln() / square).sqrt();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_their_mean_and_variation() {
        let check = |times: Times| {
            let [mut random] = Random::streams(3);
            let values: Vec<f64> = (0..200_000).map(|_| random.time_s(times)).collect();
            let count = values.len() as f64;
            let mean = values.iter().sum::<f64>() / count;
            let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
            assert!((mean / times.mean_s() - 1.0).abs() < 0.01, "{times:?}: {mean}");
            assert!((variance.sqrt() / mean - times.variation()).abs() < 0.02, "{times:?}: {variance}");
        };
        check(Times::Fixed { s: 0.02 });
        check(Times::Exponential { mean_s: 3.0 });
        check(Times::LogNormal { mean_s: 0.5, variation: 0.7 });
    }

    #[test]
    fn streams_differ() {
        let [mut a, mut b] = Random::streams(1);
        let [mut again] = Random::streams(1);
        let (first, second) = (a.unit(), b.unit());
        assert_ne!(first, second);
        assert_eq!(first, again.unit());
    }
}
