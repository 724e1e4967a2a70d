//! A column of integers: a token for each, which zstd makes small, and the bits that say the rest.
//!
//! ```text
//! column  n (varint) | n bytes: blob of tokens, one byte each | n (varint) | n bytes of bits, the lowest first
//!
//! token   0 to 3            the integer itself
//!         4 + 4·k + t       a one, the two bits of t, and k more bits of the column: 2^(k+2) to 2^(k+3) − 1
//! ```
//!
//! Times and gaps have few leading bits that repeat and many low ones that do not: only what repeats is given to zstd.

use crate::format::blob::{Packer, Unpacker};
use crate::format::cell::{Flaw, read_bytes, write_bytes};

/// Integers below it are tokens.
const SMALL: u64 = 4;
/// The token of the largest integers, which have 61 bits besides it.
const TOKEN_MAX: u8 = 4 + 4 * 61 + 3;
/// Bits of an integer that its token says, the leading one included.
const TOKEN_BITS: u32 = 3;

/// A column while it is written.
#[derive(Debug, Default)]
pub(crate) struct ColumnWriter {
    tokens: Vec<u8>,
    bits: Vec<u8>,
    /// Bits that fill no byte yet, and how many.
    pending: u128,
    pending_bits: u32,
}

/// A column while it is read.
#[derive(Debug)]
pub(crate) struct ColumnReader<'a> {
    tokens: Vec<u8>,
    /// The next token.
    at: usize,
    bits: &'a [u8],
    /// The next bit.
    at_bit: usize,
}

impl ColumnWriter {
    pub(crate) fn push(&mut self, value: u64) {
        if value < SMALL {
            self.tokens.push(value as u8);
            return;
        }
        let more = u64::BITS - value.leading_zeros() - TOKEN_BITS;
        let top = (value >> more) & 3;
        self.tokens.push((SMALL + 4 * u64::from(more) + top) as u8);
        self.pending |= u128::from(value & ((1 << more) - 1)) << self.pending_bits;
        self.pending_bits += more;
        while self.pending_bits >= 8 {
            self.bits.push(self.pending as u8);
            self.pending >>= 8;
            self.pending_bits -= 8;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Appends the column and empties it; `None` if it is larger than any blob may be.
    pub(crate) fn take(&mut self, packer: &mut Packer, out: &mut Vec<u8>) -> Option<()> {
        if self.pending_bits > 0 {
            self.bits.push(self.pending as u8);
        }
        write_bytes(out, &packer.pack(&self.tokens)?);
        write_bytes(out, &self.bits);
        self.tokens.clear();
        self.bits.clear();
        (self.pending, self.pending_bits) = (0, 0);
        Some(())
    }
}

impl<'a> ColumnReader<'a> {
    /// Takes a column off the front; takes its integers off `left`, how many more may come.
    pub(crate) fn read(
        bytes: &mut &'a [u8],
        unpacker: &mut Unpacker,
        left: &mut usize,
    ) -> Result<ColumnReader<'a>, Flaw> {
        let tokens = unpacker.unpack_at_most(read_bytes(bytes)?, *left)?;
        *left -= tokens.len();
        Ok(ColumnReader { tokens, at: 0, bits: read_bytes(bytes)?, at_bit: 0 })
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Result<u64, Flaw> {
        let token = *self.tokens.get(self.at).ok_or(TOO_SHORT)?;
        self.at += 1;
        if u64::from(token) < SMALL {
            return Ok(token.into());
        }
        let more = more_bits(token)?;
        Ok((4 | u64::from(token) & 3) << more | self.take_bits(more)?)
    }

    /// Goes past integers without looking at more than their tokens; gives how many of them are 0.
    pub(crate) fn skip(&mut self, count: u64) -> Result<u64, Flaw> {
        let count = usize::try_from(count).map_err(|_| TOO_SHORT)?;
        let skipped = self.tokens.get(self.at..).and_then(|rest| rest.get(..count)).ok_or(TOO_SHORT)?;
        let (mut zeros, mut bits) = (0, 0);
        for token in skipped {
            if u64::from(*token) < SMALL {
                zeros += u64::from(*token == 0);
            } else {
                bits += more_bits(*token)? as usize;
            }
        }
        self.at += count;
        self.at_bit += bits;
        if self.at_bit > self.bits.len() * 8 { Err(TOO_SHORT) } else { Ok(zeros) }
    }

    /// Nothing may be left over.
    pub(crate) fn end(&self) -> Result<(), Flaw> {
        let unused = (self.bits.len() * 8).saturating_sub(self.at_bit);
        let is_padding = match self.bits.last() {
            Some(last) if unused > 0 => unused < 8 && last >> (8 - unused) == 0,
            _ => true,
        };
        if self.at == self.tokens.len() && is_padding {
            return Ok(());
        }
        Err("a column is longer than its cells")
    }

    #[inline]
    fn take_bits(&mut self, count: u32) -> Result<u64, Flaw> {
        let (byte, shift) = (self.at_bit / 8, self.at_bit % 8);
        let word = match self.bits.get(byte..).and_then(|rest| rest.first_chunk::<8>()) {
            // The shift leaves 57 of them, which is nearly always enough.
            Some(word) if count <= 57 => u64::from_le_bytes(*word) >> shift,
            _ => self.slow_word(byte, shift),
        };
        self.at_bit += count as usize;
        if self.at_bit > self.bits.len() * 8 {
            return Err(TOO_SHORT);
        }
        Ok(word & ((1 << count) - 1))
    }

    /// The next 64 bits, zeros after the last one.
    #[cold]
    fn slow_word(&self, byte: usize, shift: usize) -> u64 {
        let mut bytes = [0; 16];
        let rest = self.bits.get(byte..).unwrap_or_default();
        bytes.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        (u128::from_le_bytes(bytes) >> shift) as u64
    }
}

const TOO_SHORT: Flaw = "a column ends too early";

/// How many bits of the column belong to a token that is no integer itself.
#[inline]
fn more_bits(token: u8) -> Result<u32, Flaw> {
    if token > TOKEN_MAX {
        return Err("a column has an unknown token");
    }
    Ok(u32::from(token - SMALL as u8) / 4)
}

/// Signed integers near zero as small ones: 0, −1, 1, −2, …
pub(crate) fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// The inverse of [`zigzag`].
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(values: &[u64]) -> Vec<u8> {
        let mut column = ColumnWriter::default();
        values.iter().for_each(|value| column.push(*value));
        let mut bytes = Vec::new();
        column.take(&mut Packer::new(), &mut bytes).expect("small");
        bytes
    }

    fn read(bytes: &[u8], count: usize) -> Result<Vec<u64>, Flaw> {
        let mut rest = bytes;
        let mut column = ColumnReader::read(&mut rest, &mut Unpacker::new(), &mut 1000)?;
        let values = (0..count).map(|_| column.next()).collect::<Result<_, _>>()?;
        column.end()?;
        if rest.is_empty() { Ok(values) } else { Err("the column took too few bytes") }
    }

    #[test]
    fn the_ends_of_the_range_come_back() {
        for value in [0, 1, 3, 4, 5, 7, 8, 255, 256, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
            assert_eq!(read(&written(&[value, value]), 2), Ok(vec![value, value]));
        }
        for value in [0, -1, 1, i64::MIN, i64::MAX] {
            assert_eq!(unzigzag(zigzag(value)), value);
        }
        assert!(zigzag(-3) < 8 && zigzag(3) < 8);
    }

    #[test]
    fn hostile_columns_are_refused() {
        let good = written(&[1, 1000, 70_000]);
        assert_eq!(read(&good, 2), Err("a column is longer than its cells"));
        assert_eq!(read(&good, 4), Err("a column ends too early"));
        // Two bytes are lengths, one says that the tokens are as they are.
        assert_eq!(read(&[2, 0, 252, 0], 1), Err("a column has an unknown token"));
        assert_eq!(read(&[2, 0, 44, 1, 0], 1), Err("a column ends too early"));
        assert_eq!(read(&[2, 0, 1, 1, 1], 1), Err("a column is longer than its cells"));
        assert_eq!(read(&written(&[0; 1001]), 1001), Err("a blob is impossibly large"));
    }

    proptest! {
        #[test]
        fn what_is_skipped_leads_to_the_same_place(
            values in prop::collection::vec((any::<u64>(), 0u32..64), 0..100),
            from in 0usize..100,
            count in 0usize..100,
        ) {
            let values: Vec<u64> = values.into_iter().map(|(value, shift)| value >> shift).collect();
            let bytes = written(&values);
            let mut rest = &bytes[..];
            let mut column = ColumnReader::read(&mut rest, &mut Unpacker::new(), &mut 1000).expect("a column");
            let from = from.min(values.len());
            let end = (from + count).min(values.len());
            for value in &values[..from] {
                prop_assert_eq!(column.next(), Ok(*value));
            }
            let zeros = values[from..end].iter().filter(|value| **value == 0).count() as u64;
            prop_assert_eq!(column.skip((end - from) as u64), Ok(zeros));
            for value in &values[end..] {
                prop_assert_eq!(column.next(), Ok(*value));
            }
            prop_assert_eq!(column.end(), Ok(()));
            prop_assert!(column.skip(1).is_err() && column.next().is_err());
        }

        #[test]
        fn every_integer_comes_back(values in prop::collection::vec((any::<u64>(), 0u32..64), 0..200)) {
            let values: Vec<u64> = values.into_iter().map(|(value, shift)| value >> shift).collect();
            let bytes = written(&values);
            prop_assert_eq!(read(&bytes, values.len()), Ok(values));
            for end in 0..bytes.len() {
                prop_assert!(read(&bytes[..end], 1).is_err());
            }
        }
    }
}
