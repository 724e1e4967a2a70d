//! The server's side of WebSocket frames.

use std::io::{self, Read as _, Write as _};

use bytes::{Buf, BytesMut};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::connection::Transport;

pub(super) const TEXT: u8 = 1;
pub(super) const BINARY: u8 = 2;
pub(super) const CLOSE: u8 = 8;
pub(super) const PING: u8 = 9;
pub(super) const PONG: u8 = 10;

/// The tail of a compressed message that is not sent (RFC 7692, 7.2.1).
const DEFLATE_TAIL: [u8; 4] = [0, 0, 0xff, 0xff];

/// Bytes that a connection reads at a time.
const READ_BYTES: usize = 16 * 1024;

/// A whole message or a control frame.
pub(super) struct Message {
    pub(super) opcode: u8,
    pub(super) payload: Vec<u8>,
}

/// A frame as a server sends it: not masked.
pub(super) fn frame(opcode: u8, is_last: bool, is_compressed: bool, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![opcode | u8::from(is_last) << 7 | u8::from(is_compressed) << 6];
    match payload.len() {
        length @ 0..126 => bytes.push(length as u8),
        length @ 126..65_536 => {
            bytes.push(126);
            bytes.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            bytes.push(127);
            bytes.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    bytes.extend_from_slice(payload);
    bytes
}

/// A payload compressed by itself, as a message's is sent.
pub(super) fn deflated(payload: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    // Writing to a vector cannot fail; flushing ends the data with the tail.
    let _ = encoder.write_all(payload).and_then(|()| encoder.flush());
    let mut bytes = encoder.get_ref().clone();
    if bytes.ends_with(&DEFLATE_TAIL) {
        bytes.truncate(bytes.len() - DEFLATE_TAIL.len());
    }
    bytes
}

fn inflated(payload: &[u8], max_bytes: usize) -> io::Result<Vec<u8>> {
    // The final block lets the decoder see an end.
    let data = [payload, &DEFLATE_TAIL, &[1, 0, 0, 0xff, 0xff]].concat();
    let mut bytes = Vec::new();
    DeflateDecoder::new(&data[..]).take(max_bytes as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > max_bytes { Err(invalid("a message is too long")) } else { Ok(bytes) }
}

/// A stream of frames.
pub(super) struct Frames<T> {
    io: T,
    input: BytesMut,
}

impl<T: Transport> Frames<T> {
    pub(super) fn new(io: T, input: BytesMut) -> Frames<T> {
        Frames { io, input }
    }

    pub(super) fn into_io(self) -> T {
        self.io
    }

    pub(super) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.io.write_all(bytes).await?;
        self.io.flush().await
    }

    /// The next message or control frame; `None` at the end of the stream.
    ///
    /// # Errors
    /// The stream breaks, or `InvalidData` where the client breaks the protocol.
    pub(super) async fn read(&mut self, max_bytes: usize) -> io::Result<Option<Message>> {
        let mut message: Option<(Message, bool)> = None;
        loop {
            if !self.fill(2).await? {
                return Ok(None);
            }
            let (first, second) = (self.input[0], self.input[1]);
            let (opcode, is_last, is_compressed) = (first & 15, first & 0x80 != 0, first & 0x40 != 0);
            if second & 0x80 == 0 {
                return Err(invalid("a client's frame is not masked"));
            }
            let extra_bytes = match second & 127 {
                126 => 2,
                127 => 8,
                _ => 0,
            };
            self.need(2 + extra_bytes + 4).await?;
            let payload_bytes = match extra_bytes {
                0 => u64::from(second & 127),
                _ => self.input[2..2 + extra_bytes].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
            };
            if payload_bytes > max_bytes as u64 {
                return Err(invalid("a frame is too long"));
            }
            self.input.advance(2 + extra_bytes);
            let mut mask = [0; 4];
            self.input.copy_to_slice(&mut mask);
            let payload_bytes = payload_bytes as usize;
            self.need(payload_bytes).await?;
            let mut payload = self.input.split_to(payload_bytes).to_vec();
            for (index, byte) in payload.iter_mut().enumerate() {
                *byte ^= mask[index % 4];
            }
            if opcode >= 8 {
                if !is_last || payload.len() > 125 || is_compressed {
                    return Err(invalid("a control frame is malformed"));
                }
                return Ok(Some(Message { opcode, payload }));
            }
            match (&mut message, opcode) {
                (Some((whole, _)), 0) => whole.payload.extend_from_slice(&payload),
                (None, TEXT | BINARY) => message = Some((Message { opcode, payload }, is_compressed)),
                _ => return Err(invalid("a frame is out of order")),
            }
            if let Some((whole, is_compressed)) =
                message.take_if(|(whole, _)| is_last || whole.payload.len() > max_bytes)
            {
                return finish(whole, is_compressed, max_bytes).map(Some);
            }
        }
    }

    async fn need(&mut self, bytes: usize) -> io::Result<()> {
        if self.fill(bytes).await? { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    async fn fill(&mut self, bytes: usize) -> io::Result<bool> {
        while self.input.len() < bytes {
            self.input.reserve(READ_BYTES);
            if self.io.read_buf(&mut self.input).await? == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn finish(mut message: Message, is_compressed: bool, max_bytes: usize) -> io::Result<Message> {
    if message.payload.len() > max_bytes {
        return Err(invalid("a message is too long"));
    }
    if is_compressed {
        message.payload = inflated(&message.payload, max_bytes)?;
    }
    if message.opcode == TEXT && std::str::from_utf8(&message.payload).is_err() {
        return Err(invalid("a text is not UTF-8"));
    }
    Ok(message)
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deflate_goes_there_and_back() {
        for text in ["", "hello", &"long ".repeat(10_000)] {
            assert_eq!(inflated(&deflated(text.as_bytes()), 1 << 20).expect("inflate"), text.as_bytes());
        }
        assert!(inflated(&deflated(&[0; 5000]), 4999).is_err());
    }
}
