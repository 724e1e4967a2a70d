//! Frames on a stream of bytes: the length (4 bytes, little-endian), then the message.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use prost::Message;

use crate::message::Frame;

/// The largest frame, bytes. Windows, archives and samples are sent in parts far below it.
pub const FRAME_BYTES_MAX: usize = 8 << 20;

/// Bytes of a frame's length.
const LENGTH_BYTES: usize = 4;

/// The error in a stream of frames.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// A frame is larger than any that is sent.
    #[error("a frame of {0} bytes is above the limit of {FRAME_BYTES_MAX}")]
    TooLarge(usize),
    /// The bytes are no frame.
    #[error("a frame is not readable: {0}")]
    Invalid(String),
}

/// Writes a frame.
///
/// # Errors
/// It is larger than [`FRAME_BYTES_MAX`].
pub fn encode(frame: &Frame) -> Result<Bytes, CodecError> {
    let length = frame.encoded_len();
    if length > FRAME_BYTES_MAX {
        return Err(CodecError::TooLarge(length));
    }
    let mut out = BytesMut::with_capacity(LENGTH_BYTES + length);
    out.put_u32_le(length as u32);
    frame.encode_raw(&mut out);
    Ok(out.freeze())
}

/// Takes the first frame off the front; `None` while it is incomplete.
///
/// # Errors
/// The stream is damaged: nothing after it can be read.
pub fn decode(bytes: &mut BytesMut) -> Result<Option<Frame>, CodecError> {
    let Some(length) = bytes.first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
    let length = u32::from_le_bytes(*length) as usize;
    if length > FRAME_BYTES_MAX {
        return Err(CodecError::TooLarge(length));
    }
    if bytes.len() < LENGTH_BYTES + length {
        bytes.reserve(LENGTH_BYTES + length - bytes.len());
        return Ok(None);
    }
    bytes.advance(LENGTH_BYTES);
    let message = bytes.split_to(length).freeze();
    Frame::decode(message).map(Some).map_err(|error| CodecError::Invalid(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Body, Preparing};

    fn frame(number: u64) -> Frame {
        Frame { number, received: 7, body: Some(Body::Preparing(Preparing { ready: 1, planned: 300 })) }
    }

    #[test]
    fn frames_are_read_in_any_pieces() {
        let whole: Vec<u8> = (1..4).flat_map(|number| encode(&frame(number)).expect("small")).collect();
        for piece in 1..whole.len() {
            let (mut bytes, mut read) = (BytesMut::new(), Vec::new());
            for part in whole.chunks(piece) {
                bytes.extend_from_slice(part);
                while let Some(frame) = decode(&mut bytes).expect("intact") {
                    read.push(frame);
                }
            }
            assert_eq!(read, [frame(1), frame(2), frame(3)], "in pieces of {piece}");
        }
    }

    #[test]
    fn damaged_streams_are_refused() {
        let mut endless = BytesMut::from(&[0xff, 0xff, 0xff, 0xff, 1][..]);
        assert_eq!(decode(&mut endless), Err(CodecError::TooLarge(u32::MAX as usize)));
        let mut noise = BytesMut::from(&[2, 0, 0, 0, 0xff, 0xff][..]);
        assert!(matches!(decode(&mut noise), Err(CodecError::Invalid(_))));
    }

    #[test]
    fn no_frame_is_sent_that_no_one_reads() {
        let body = Body::Archive(Bytes::from(vec![0; FRAME_BYTES_MAX + 1]));
        let too_large = Frame { number: 1, received: 0, body: Some(body) };
        assert!(matches!(encode(&too_large), Err(CodecError::TooLarge(_))));
    }
}
