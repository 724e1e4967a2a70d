//! Frames, and the values in them.

use bytes::{Buf, Bytes, BytesMut};

use super::AmqpError;
use super::method::{Field, Fields};

/// Bytes of a frame that is received.
pub(super) const FRAME_BYTES_MAX: usize = 1 << 20;

/// Ends every frame.
pub(super) const FRAME_END: u8 = 0xce;

/// Kinds of frames.
pub(super) const METHOD: u8 = 1;
pub(super) const HEADER: u8 = 2;
pub(super) const BODY: u8 = 3;
pub(super) const HEARTBEAT: u8 = 8;

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) kind: u8,
    pub(super) channel: u16,
    pub(super) payload: Bytes,
}

/// Takes the next frame out of what has come; `None` where it is not whole yet.
pub(super) fn take(input: &mut BytesMut) -> Result<Option<Frame>, AmqpError> {
    if input.len() < 7 {
        return match input.first() {
            // A broker of another version answers with the name of the protocol.
            Some(b'A') => Err(malformed()),
            _ => Ok(None),
        };
    }
    let (kind, channel) = (input[0], u16::from_be_bytes([input[1], input[2]]));
    let length = u32::from_be_bytes([input[3], input[4], input[5], input[6]]) as usize;
    if !matches!(kind, METHOD | HEADER | BODY | HEARTBEAT) || length > FRAME_BYTES_MAX {
        return Err(malformed());
    }
    if input.len() < length + 8 {
        return Ok(None);
    }
    input.advance(7);
    let payload = input.split_to(length).freeze();
    match input.get_u8() {
        FRAME_END => Ok(Some(Frame { kind, channel, payload })),
        _ => Err(malformed()),
    }
}

pub(super) fn malformed() -> AmqpError {
    AmqpError::Lost("malformed frame: the server does not answer as AMQP 0-9-1 does".to_owned())
}

/// Appends a frame.
pub(super) fn push(out: &mut Vec<u8>, kind: u8, channel: u16, payload: &[u8]) {
    out.push(kind);
    out.extend_from_slice(&channel.to_be_bytes());
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes());
    out.extend_from_slice(payload);
    out.push(FRAME_END);
}

/// Reads values.
pub(super) struct Reader(pub(super) Bytes);

impl Reader {
    pub(super) fn u8(&mut self) -> Result<u8, AmqpError> {
        self.0.try_get_u8().map_err(|_| malformed())
    }

    pub(super) fn u16(&mut self) -> Result<u16, AmqpError> {
        self.0.try_get_u16().map_err(|_| malformed())
    }

    pub(super) fn u32(&mut self) -> Result<u32, AmqpError> {
        self.0.try_get_u32().map_err(|_| malformed())
    }

    pub(super) fn u64(&mut self) -> Result<u64, AmqpError> {
        self.0.try_get_u64().map_err(|_| malformed())
    }

    pub(super) fn bytes(&mut self, length: usize) -> Result<Bytes, AmqpError> {
        if length > self.0.len() { Err(malformed()) } else { Ok(self.0.split_to(length)) }
    }

    /// A text of up to 255 bytes.
    pub(super) fn text(&mut self) -> Result<String, AmqpError> {
        let length = self.u8()?.into();
        Ok(String::from_utf8_lossy(&self.bytes(length)?).into_owned())
    }
}

/// Appends a text of up to 255 bytes.
pub(super) fn push_text(out: &mut Vec<u8>, text: &str) -> Result<(), AmqpError> {
    let too_long =
        |_| AmqpError::Invalid(format!("a name has {} bytes; at most 255 can be sent", text.len()));
    out.push(u8::try_from(text.len()).map_err(too_long)?);
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

pub(super) fn push_long(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// Appends a table.
pub(super) fn push_fields(out: &mut Vec<u8>, fields: &Fields) -> Result<(), AmqpError> {
    let mut table = Vec::new();
    for (name, field) in fields {
        push_text(&mut table, name)?;
        push_field(&mut table, field)?;
    }
    push_long(out, &table);
    Ok(())
}

fn push_field(out: &mut Vec<u8>, field: &Field) -> Result<(), AmqpError> {
    match field {
        Field::Nothing => out.push(b'V'),
        Field::Flag(flag) => out.extend_from_slice(&[b't', u8::from(*flag)]),
        Field::Integer(number) => {
            out.push(b'l');
            out.extend_from_slice(&number.to_be_bytes());
        }
        Field::Float(bits) => {
            out.push(b'd');
            out.extend_from_slice(&bits.to_be_bytes());
        }
        Field::Text(text) => {
            out.push(b'S');
            push_long(out, text.as_bytes());
        }
        Field::List(fields) => {
            out.push(b'A');
            let mut list = Vec::new();
            for field in fields {
                push_field(&mut list, field)?;
            }
            push_long(out, &list);
        }
        Field::Table(fields) => {
            out.push(b'F');
            push_fields(out, fields)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_in_pieces() {
        let mut whole = Vec::new();
        push(&mut whole, METHOD, 1, b"\0\x0a\0\x1f");
        for length in 0..whole.len() {
            assert_eq!(take(&mut BytesMut::from(&whole[..length])), Ok(None), "{length}");
        }
        let frame = Frame { kind: METHOD, channel: 1, payload: Bytes::from_static(b"\0\x0a\0\x1f") };
        assert_eq!(take(&mut BytesMut::from(&whole[..])), Ok(Some(frame)));
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        for bytes in [
            &b"AMQP\0\0\x09\x01"[..],
            b"A",
            b"HTTP/1.1",
            b"\x01\0\x01\xff\xff\xff\xff",
            b"\x01\0\x01\0\0\0\0\x00",
        ] {
            assert!(take(&mut BytesMut::from(bytes)).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn tables() {
        let mut out = Vec::new();
        let fields = vec![
            ("a".to_owned(), Field::Text("x".to_owned())),
            ("n".to_owned(), Field::Integer(5)),
            ("f".to_owned(), Field::Flag(true)),
        ];
        push_fields(&mut out, &fields).expect("they fit");
        assert_eq!(out, b"\0\0\0\x17\x01aS\0\0\0\x01x\x01nl\0\0\0\0\0\0\0\x05\x01ft\x01");
        assert!(push_text(&mut out, &"x".repeat(256)).is_err());
    }
}
