//! The wire format of protobuf: tags and values, without their meaning.

use crate::error::DecodeError;

/// Groups inside of each other that are skipped.
const GROUP_DEPTH_MAX: u32 = crate::limits::MESSAGE_DEPTH_MAX;

/// One value as it stands in the bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Raw<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    /// A text, bytes, a message or packed numbers.
    Bytes(&'a [u8]),
    /// The fields of a group, without its end.
    Group(&'a [u8]),
}

/// Reads the fields of one message.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes }
    }

    /// The next field's number and value; `None` at the end.
    pub(crate) fn next_field(&mut self) -> Result<Option<(u32, Raw<'a>)>, DecodeError> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let (number, wire_type) = self.tag()?;
        self.value(number, wire_type, 0).map(|raw| Some((number, raw)))
    }

    /// The next number of a packed list; `None` at the end.
    pub(crate) fn next_packed(&mut self, like: Packed) -> Result<Option<Raw<'a>>, DecodeError> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        Ok(Some(match like {
            Packed::Varint => Raw::Varint(self.varint()?),
            Packed::Fixed32 => Raw::Fixed32(u32::from_le_bytes(self.array()?)),
            Packed::Fixed64 => Raw::Fixed64(u64::from_le_bytes(self.array()?)),
        }))
    }

    fn tag(&mut self) -> Result<(u32, u8), DecodeError> {
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).ok().filter(|number| (1..1 << 29).contains(number));
        let number = number.ok_or_else(|| malformed("invalid field number"))?;
        Ok((number, (tag & 7) as u8))
    }

    fn value(&mut self, number: u32, wire_type: u8, depth: u32) -> Result<Raw<'a>, DecodeError> {
        Ok(match wire_type {
            0 => Raw::Varint(self.varint()?),
            1 => Raw::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| cut())?;
                Raw::Bytes(self.take(length)?)
            }
            3 => Raw::Group(self.group(number, depth)?),
            5 => Raw::Fixed32(u32::from_le_bytes(self.array()?)),
            4 => return Err(malformed("mismatching end group marker")),
            _ => return Err(malformed("invalid wire type")),
        })
    }

    fn group(&mut self, number: u32, depth: u32) -> Result<&'a [u8], DecodeError> {
        const END_GROUP: u8 = 4;
        if depth >= GROUP_DEPTH_MAX {
            return Err(malformed("exceeded maximum recursion depth"));
        }
        let whole = self.bytes;
        loop {
            let read_bytes = whole.len() - self.bytes.len();
            let (inner, wire_type) = self.tag()?;
            if wire_type != END_GROUP {
                self.value(inner, wire_type, depth + 1)?;
            } else if inner == number {
                return Ok(&whole[..read_bytes]);
            } else {
                return Err(malformed("mismatching end group marker"));
            }
        }
    }

    fn varint(&mut self) -> Result<u64, DecodeError> {
        let mut value = 0_u64;
        for (index, byte) in self.bytes.iter().enumerate() {
            // The tenth byte holds the last bit.
            if index == 9 && *byte > 1 {
                return Err(malformed("variable length integer overflow"));
            }
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte & 0x80 == 0 {
                self.bytes = &self.bytes[index + 1..];
                return Ok(value);
            }
        }
        Err(cut())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (first, rest) = self.bytes.split_first_chunk().ok_or_else(cut)?;
        self.bytes = rest;
        Ok(*first)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], DecodeError> {
        let (first, rest) = self.bytes.split_at_checked(length).ok_or_else(cut)?;
        self.bytes = rest;
        Ok(first)
    }
}

/// How the numbers of a packed list are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packed {
    Varint,
    Fixed32,
    Fixed64,
}

fn malformed(what: &str) -> DecodeError {
    DecodeError::bytes(format!("proto: cannot parse invalid wire-format data: {what}"))
}

fn cut() -> DecodeError {
    DecodeError::bytes("proto: cannot parse invalid wire-format data: unexpected EOF")
}

/// Writes a variable-length number.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Writes a field's number and how its value is written.
pub(crate) fn put_tag(out: &mut Vec<u8>, number: u32, wire_type: u8) {
    put_varint(out, u64::from(number) << 3 | u64::from(wire_type));
}

/// Writes a text, bytes or a message.
pub(crate) fn put_bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_tag(out, number, 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Zigzag: small negative numbers are short.
pub(crate) const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

pub(crate) const fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Vec<(u32, Raw<'_>)>, DecodeError> {
        let mut reader = Reader::new(bytes);
        let mut fields = Vec::new();
        while let Some(field) = reader.next_field()? {
            fields.push(field);
        }
        Ok(fields)
    }

    #[test]
    fn fields_are_read() {
        let check = |bytes: &[u8], expect: &[(u32, Raw<'_>)]| assert_eq!(read(bytes).unwrap(), expect);
        check(&[], &[]);
        check(&[0x08, 0x96, 0x01], &[(1, Raw::Varint(150))]);
        check(&[0x12, 2, b'h', b'i'], &[(2, Raw::Bytes(b"hi"))]);
        check(&[0x0d, 1, 0, 0, 0], &[(1, Raw::Fixed32(1))]);
        check(&[0x09, 1, 0, 0, 0, 0, 0, 0, 0], &[(1, Raw::Fixed64(1))]);
        check(&[0x0b, 0x10, 5, 0x13, 0x14, 0x0c], &[(1, Raw::Group(&[0x10, 5, 0x13, 0x14]))]);
        let full = [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        check(&full, &[(1, Raw::Varint(u64::MAX))]);
    }

    #[test]
    fn broken_bytes_are_errors() {
        let check = |bytes: &[u8], expect: &str| {
            let error = read(bytes).unwrap_err().to_string();
            assert!(error.ends_with(expect), "{bytes:?}: {error}");
        };
        check(&[0x08], "unexpected EOF");
        check(&[0x12, 3, b'h'], "unexpected EOF");
        check(&[0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], "unexpected EOF");
        check(&[0x00], "invalid field number");
        check(&[0x0c], "mismatching end group marker");
        check(&[0x0b, 0x14], "mismatching end group marker");
        check(&[0x0f, 1], "invalid wire type");
        check(&[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2], "integer overflow");
        check(&[0x0b; 500], "maximum recursion depth");
    }

    #[test]
    fn zigzag_round_trips() {
        for value in [0, 1, -1, 2, -2, i64::MAX, i64::MIN] {
            assert_eq!(unzigzag(zigzag(value)), value);
        }
        assert_eq!((zigzag(-1), zigzag(1)), (1, 2));
    }
}
