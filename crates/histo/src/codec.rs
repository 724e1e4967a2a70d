//! The compact encoding: little-endian floats, LEB128 integers, a version in front.

/// Why bytes are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The first byte names a version this build does not know.
    #[error("decode values: version {0} is not known")]
    Version(u8),
    /// The bytes end too early.
    #[error("decode values: the bytes end too early")]
    Truncated,
    /// Bytes are left over.
    #[error("decode values: bytes are left over")]
    TrailingBytes,
    /// A field holds something that no encoder writes.
    #[error("decode values: {0}")]
    Invalid(&'static str),
}

/// The largest count of values that is accepted: more than any run can have, and far from overflowing.
pub(crate) const COUNT_MAX: u64 = 1 << 56;

pub(crate) fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl Reader<'_> {
    pub(crate) fn byte(&mut self) -> Result<u8, DecodeError> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (head, rest) = self.0.split_first_chunk::<N>().ok_or(DecodeError::Truncated)?;
        self.0 = rest;
        Ok(*head)
    }

    pub(crate) fn varint(&mut self) -> Result<u64, DecodeError> {
        let mut value = 0u64;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if part << shift >> shift != part || (byte == 0 && shift > 0) {
                return Err(DecodeError::Invalid("an integer is not in its shortest form"));
            }
            value |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(DecodeError::Invalid("an integer is longer than ten bytes"))
    }

    /// A number of values, at most [`COUNT_MAX`].
    pub(crate) fn count(&mut self) -> Result<u64, DecodeError> {
        let count = self.varint()?;
        if count > COUNT_MAX {
            return Err(DecodeError::Invalid("a count is impossibly large"));
        }
        Ok(count)
    }

    /// A float that is neither infinite nor NaN nor negative zero.
    pub(crate) fn float(&mut self) -> Result<f64, DecodeError> {
        let value = f64::from_le_bytes(self.array()?);
        if !value.is_finite() || (value == 0.0 && value.is_sign_negative()) {
            return Err(DecodeError::Invalid("a float is not finite, or is negative zero"));
        }
        Ok(value)
    }

    pub(crate) fn version(&mut self, known: u8) -> Result<(), DecodeError> {
        match self.byte()? {
            version if version == known => Ok(()),
            version => Err(DecodeError::Version(version)),
        }
    }

    pub(crate) fn end(self) -> Result<(), DecodeError> {
        if self.0.is_empty() { Ok(()) } else { Err(DecodeError::TrailingBytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expect: Result<u64, DecodeError>) {
        assert_eq!(Reader(bytes).varint(), expect, "{bytes:x?}");
    }

    #[test]
    fn varints_have_one_form() {
        check(&[0], Ok(0));
        check(&[0x7f], Ok(127));
        check(&[0x80, 1], Ok(128));
        check(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], Ok(u64::MAX));
        check(&[], Err(DecodeError::Truncated));
        check(&[0x80], Err(DecodeError::Truncated));
        check(&[0x80, 0], Err(DecodeError::Invalid("an integer is not in its shortest form")));
        check(
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2],
            Err(DecodeError::Invalid("an integer is not in its shortest form")),
        );
    }
}
