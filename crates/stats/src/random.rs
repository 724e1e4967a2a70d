//! Numbers that look random and are the same for the same seed on every machine.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A generator: xoshiro256++ (Blackman and Vigna, 2018), whose output the crate promises never to change.
#[derive(Clone, Debug)]
pub struct Random {
    generator: Xoshiro256PlusPlus,
    /// The second of a pair of normal values, not handed out yet.
    spare: Option<f64>,
}

impl Random {
    /// The generator of a seed. Seeds need not look random.
    pub fn new(seed: u64) -> Random {
        Random { generator: Xoshiro256PlusPlus::seed_from_u64(seed), spare: None }
    }

    /// A number from 0, included, to 1, excluded: 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A whole number below `end`, which must not be 0. Its bias is below `end / 2^64`.
    pub fn below(&mut self, end: usize) -> usize {
        debug_assert!(end > 0);
        ((u128::from(self.generator.next_u64()) * end as u128) >> 64) as usize
    }

    /// A standard normal value, by the polar method (Marsaglia and Bray, 1964).
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(y * factor);
                return x * factor;
            }
        }
    }

    /// A whole number with a Poisson distribution of this mean, which must not be negative.
    ///
    /// Means are halved until the product of uniform values (Knuth, *The Art of Computer Programming* 2, 3.4.1) cannot
    /// underflow; sums of Poisson values are Poisson values.
    pub fn poisson(&mut self, mean: f64) -> u64 {
        if mean > POISSON_MEAN_MAX {
            return self.poisson(mean / 2.0) + self.poisson(mean / 2.0);
        }
        let end = (-mean).exp();
        let mut product = self.unit();
        let mut count = 0;
        while product > end {
            product *= self.unit();
            count += 1;
        }
        count
    }
}

/// The largest mean for which uniform values are multiplied.
const POISSON_MEAN_MAX: f64 = 64.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_for_ever() {
        let mut random = Random::new(1);
        assert_eq!(random.generator.next_u64(), 14_971_601_782_005_023_387);
        assert_ne!(Random::new(2).unit(), Random::new(3).unit());
    }

    #[test]
    fn moments_are_as_promised() {
        let mut random = Random::new(5);
        let many = 40_000;
        let moments = |draw: &mut dyn FnMut() -> f64| {
            let values: Vec<f64> = (0..many).map(|_| draw()).collect();
            let mean = values.iter().sum::<f64>() / many as f64;
            (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / many as f64)
        };
        let (mean, variance) = moments(&mut || random.normal());
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
        let (mean, variance) = moments(&mut || random.poisson(150.0) as f64);
        assert!((mean - 150.0).abs() < 0.3 && (variance - 150.0).abs() < 5.0, "{mean} {variance}");
        let (mean, _) = moments(&mut || random.below(3) as f64);
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert_eq!(random.poisson(0.0), 0);
    }
}
