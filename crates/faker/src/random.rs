//! Random numbers as the extension of k6 draws them, so that a seed gives the same values: ChaCha with twelve rounds, and the
//! distributions of Go's `math/rand`.

use chacha20::ChaCha12;
use chacha20::cipher::{KeyIvInit, StreamCipher};

/// Bytes of a ChaCha key.
const KEY_BYTES: usize = 32;

/// Bytes that one key gives before the next is drawn.
const BLOCK_BYTES: usize = 1024;

/// Bytes of a number.
const NUMBER_BYTES: usize = 8;

/// Random numbers, and the time of the call that draws them.
pub(crate) struct Draw {
    /// The next key, then numbers.
    buffer: Box<[u8; KEY_BYTES + BLOCK_BYTES]>,
    /// Position of the next number.
    position: usize,
    /// Seconds since 1970 (UTC).
    pub(crate) now_unix_s: i64,
}

impl Draw {
    pub(crate) fn new(seed: u64) -> Draw {
        let mut key = [0; KEY_BYTES];
        key[..NUMBER_BYTES].copy_from_slice(&seed.to_le_bytes());
        let mut draw =
            Draw { buffer: Box::new([0; KEY_BYTES + BLOCK_BYTES]), position: KEY_BYTES, now_unix_s: 0 };
        draw.fill(&key);
        draw
    }

    fn fill(&mut self, key: &[u8; KEY_BYTES]) {
        ChaCha12::new(key.into(), &[0; 12].into()).apply_keystream(&mut self.buffer[..]);
        self.position = KEY_BYTES;
    }

    fn number(&mut self) -> u64 {
        if self.position == self.buffer.len() {
            let mut key = [0; KEY_BYTES];
            key.copy_from_slice(&self.buffer[..KEY_BYTES]);
            self.fill(&key);
        }
        let mut bytes = [0; NUMBER_BYTES];
        bytes.copy_from_slice(&self.buffer[self.position..self.position + NUMBER_BYTES]);
        // The next key is combined with what stands here.
        self.buffer[self.position..self.position + NUMBER_BYTES].fill(0);
        self.position += NUMBER_BYTES;
        u64::from_le_bytes(bytes)
    }

    fn below_u64(&mut self, bound: u64) -> u64 {
        let end = u64::MAX - u64::MAX % bound;
        loop {
            let number = self.number();
            if number < end {
                return number % bound;
            }
        }
    }

    /// Any 64 bits.
    pub(crate) fn any_u64(&mut self) -> u64 {
        self.below_u64(u64::MAX)
    }

    /// A number from 0 to 2⁶³ − 1.
    pub(crate) fn any_i63(&mut self) -> i64 {
        self.below_u64(1 << 63) as i64
    }

    /// A number from 0 to `bound` − 1.
    fn below_i63(&mut self, bound: i64) -> i64 {
        if bound & (bound - 1) == 0 {
            return self.any_i63() & (bound - 1);
        }
        let last = i64::MAX - ((1_u64 << 63) % bound as u64) as i64;
        loop {
            let number = self.any_i63();
            if number <= last {
                return number % bound;
            }
        }
    }

    fn below_i31(&mut self, bound: i32) -> i32 {
        if bound & (bound - 1) == 0 {
            return (self.any_i63() >> 32) as i32 & (bound - 1);
        }
        let last = i32::MAX - ((1_u32 << 31) % bound as u32) as i32;
        loop {
            let number = (self.any_i63() >> 32) as i32;
            if number <= last {
                return number % bound;
            }
        }
    }

    /// A number from 0 to `bound` − 1. A bound of 0 gives 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        match i32::try_from(bound) {
            Ok(0) => 0,
            Ok(bound) => self.below_i31(bound) as usize,
            Err(_) => self.below_i63(bound as i64) as usize,
        }
    }

    /// A number from the lesser to the greater, both included.
    pub(crate) fn between(&mut self, one: i64, other: i64) -> i64 {
        let (min, max) = (one.min(other), one.max(other));
        if min == max {
            return min;
        }
        let count = max.wrapping_sub(min).wrapping_add(1);
        if count > 0 {
            return min.wrapping_add(self.below_i63(count));
        }
        loop {
            let number = self.any_u64() as i64;
            if (min..=max).contains(&number) {
                return number;
            }
        }
    }

    /// As [`Draw::between`].
    pub(crate) fn between_unsigned(&mut self, one: u64, other: u64) -> u64 {
        let (min, max) = (one.min(other), one.max(other));
        if min == max {
            return min;
        }
        let count = (max as i64).wrapping_sub(min as i64).wrapping_add(1);
        if count > 0 {
            return (self.below(count as usize) as i64).wrapping_add(min as i64) as u64;
        }
        loop {
            let number = self.any_u64();
            if (min..=max).contains(&number) {
                return number;
            }
        }
    }

    /// A number from 0 to less than 1.
    pub(crate) fn unit(&mut self) -> f64 {
        const END: f64 = (1_u64 << 63) as f64;
        loop {
            // Rounding can reach the end.
            let number = self.any_i63() as f64 / END;
            if number < 1.0 {
                return number;
            }
        }
    }

    /// As [`Draw::unit`].
    pub(crate) fn unit_f32(&mut self) -> f32 {
        loop {
            let number = self.unit() as f32;
            if number < 1.0 {
                return number;
            }
        }
    }

    pub(crate) fn float(&mut self, min: f64, max: f64) -> f64 {
        if min == max { min } else { self.unit() * (max - min) + min }
    }

    pub(crate) fn float_f32(&mut self, min: f32, max: f32) -> f32 {
        if min == max { min } else { self.unit_f32() * (max - min) + min }
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.between(0, 1) == 1
    }

    /// One of the items; a single one costs no number. There is at least one.
    pub(crate) fn one_of<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        match items {
            [only] => only,
            items => items[self.below(items.len())],
        }
    }

    /// Position of an item, by the items' weights.
    pub(crate) fn weighted(&mut self, weights: &[f32]) -> usize {
        if weights.len() <= 1 {
            return 0;
        }
        let mut sum = 0.0;
        let sums: Vec<f32> = weights
            .iter()
            .map(|weight| {
                sum += weight;
                sum
            })
            .collect();
        let drawn = self.unit_f32() * sum;
        sums.iter().position(|sum| drawn <= *sum).unwrap_or(weights.len() - 1)
    }

    /// Shuffles by swapping each item with one before it.
    pub(crate) fn shuffle_forwards<T>(&mut self, items: &mut [T]) {
        for index in 0..items.len() {
            let other = self.below(index + 1);
            items.swap(index, other);
        }
    }

    /// Shuffles from the last item down, as Fisher and Yates.
    pub(crate) fn shuffle_backwards<T>(&mut self, items: &mut [T]) {
        for index in (1..items.len()).rev() {
            let other = self.below(index + 1);
            items.swap(index, other);
        }
    }

    /// The text with a digit for each `#`; it does not begin with 0.
    pub(crate) fn digits(&mut self, pattern: &str) -> String {
        let mut bytes = pattern.as_bytes().to_vec();
        for byte in bytes.iter_mut().filter(|byte| **byte == b'#') {
            *byte = b'0' + self.below(10) as u8;
        }
        if bytes.first() == Some(&b'0') {
            bytes[0] = b'1' + self.below(8) as u8;
        }
        // Only ASCII letters were replaced by others.
        String::from_utf8(bytes).unwrap_or_default()
    }

    /// The text with a letter for each `?`.
    pub(crate) fn letters(&mut self, pattern: &str) -> String {
        pattern.chars().map(|letter| if letter == '?' { self.letter() } else { letter }).collect()
    }

    pub(crate) fn letter(&mut self) -> char {
        const LETTERS: &[u8; 52] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        char::from(LETTERS[self.below(LETTERS.len())])
    }

    pub(crate) fn digit(&mut self) -> char {
        char::from(b'0' + self.below(10) as u8)
    }

    /// A letter of an ASCII text.
    pub(crate) fn letter_of(&mut self, letters: &str) -> char {
        let index = self.any_i63() % letters.len() as i64;
        char::from(letters.as_bytes()[index as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers that the extension's generator gives for seed 11.
    #[test]
    fn numbers_of_a_seed() {
        let mut draw = Draw::new(11);
        let numbers: Vec<(u64, i64)> = (0..4).map(|_| (draw.any_u64(), draw.any_i63())).collect();
        let expect = [
            (5_195_529_898_953_698_829, 6_088_566_988_699_118_742),
            (7_815_778_011_677_985_679, 6_286_317_731_558_821_916),
            (13_246_208_622_872_563_965, 2_805_188_346_791_201_134),
            (13_002_909_825_101_687_826, 7_245_892_046_171_178_755),
        ];
        assert_eq!(numbers, expect);
    }

    #[test]
    fn bounds_hold() {
        let mut draw = Draw::new(1);
        for _ in 0..2000 {
            assert!(draw.below(3) < 3);
            assert!((-5..=5).contains(&draw.between(5, -5)));
            assert!(draw.between(i64::MIN, i64::MAX) != 0);
            assert!((7..=u64::MAX).contains(&draw.between_unsigned(u64::MAX, 7)));
            assert!(draw.unit() < 1.0 && draw.unit_f32() < 1.0);
            assert!(draw.weighted(&[1.0, 2.0]) < 2);
            assert!(!draw.digits("##").starts_with('0'));
        }
    }
}
