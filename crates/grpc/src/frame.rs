//! Messages on an HTTP/2 stream: a flag, a length, the bytes (gRPC over HTTP/2, "Length-Prefixed-Message").

use bytes::{Buf, BufMut, Bytes, BytesMut};

/// Bytes before each message.
const PREFIX_BYTES: usize = 5;

/// A message as it is sent.
pub fn frame(message: &[u8]) -> Bytes {
    let mut framed = BytesMut::with_capacity(PREFIX_BYTES + message.len());
    framed.put_u8(0);
    framed.put_u32(message.len() as u32);
    framed.put_slice(message);
    framed.freeze()
}

/// Why what comes is no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// It is larger than the client takes.
    #[error("grpc: received message larger than max ({message_bytes} vs. {bytes_max})")]
    TooLarge {
        /// Bytes of the message.
        message_bytes: usize,
        /// The limit.
        bytes_max: usize,
    },
    /// It is compressed, which was not offered.
    #[error("grpc: compressed flag set with identity or empty encoding")]
    Compressed,
    /// The flag is neither set nor not set.
    #[error("grpc: received unexpected payload format {0}")]
    Format(u8),
}

/// Takes messages out of the bytes that come.
#[derive(Debug)]
pub struct Deframer {
    buffer: BytesMut,
    bytes_max: usize,
}

impl Deframer {
    /// For messages of at most so many bytes.
    pub fn new(bytes_max: usize) -> Deframer {
        Deframer { buffer: BytesMut::new(), bytes_max }
    }

    /// Takes bytes in.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole message.
    ///
    /// # Errors
    /// What comes is no message, or one that is not taken. It is known before its bytes are here, so that they are never
    /// held.
    pub fn next_message(&mut self) -> Result<Option<Bytes>, FrameError> {
        let Some(prefix) = self.buffer.first_chunk::<PREFIX_BYTES>() else { return Ok(None) };
        let [flag, length @ ..] = *prefix;
        let message_bytes = u32::from_be_bytes(length) as usize;
        match flag {
            0 => {}
            1 => return Err(FrameError::Compressed),
            other => return Err(FrameError::Format(other)),
        }
        if message_bytes > self.bytes_max {
            return Err(FrameError::TooLarge { message_bytes, bytes_max: self.bytes_max });
        }
        if self.buffer.len() < PREFIX_BYTES + message_bytes {
            return Ok(None);
        }
        self.buffer.advance(PREFIX_BYTES);
        Ok(Some(self.buffer.split_to(message_bytes).freeze()))
    }

    /// Whether a message has begun and not ended.
    pub fn is_within(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// Bytes that wait for the rest of their message.
    pub fn held_bytes(&self) -> usize {
        self.buffer.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_whole_however_they_are_cut() {
        let sent: Vec<&[u8]> = vec![b"", b"a", b"hello", &[7; 1000]];
        let bytes: Vec<u8> = sent.iter().flat_map(|message| frame(message)).collect();
        for piece_bytes in [1, 2, 5, 7, 2000] {
            let (mut deframer, mut got) = (Deframer::new(1000), Vec::new());
            for piece in bytes.chunks(piece_bytes) {
                deframer.feed(piece);
                while let Some(message) = deframer.next_message().unwrap() {
                    got.push(message);
                }
            }
            assert_eq!(got, sent);
            assert!(!deframer.is_within());
        }
    }

    #[test]
    fn what_is_not_taken_is_known_by_its_prefix() {
        let check = |bytes: &[u8], expect: FrameError| {
            let mut deframer = Deframer::new(10);
            deframer.feed(bytes);
            assert_eq!(deframer.next_message(), Err(expect));
        };
        check(&[0, 0, 0, 0, 11], FrameError::TooLarge { message_bytes: 11, bytes_max: 10 });
        check(&[1, 0, 0, 0, 1, 0], FrameError::Compressed);
        check(&[9, 0, 0, 0, 1, 0], FrameError::Format(9));
    }
}
