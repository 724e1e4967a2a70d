//! Packets: three bytes of length, a number, and the payload.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, ReadBuf};

use crate::BoxStream;
use crate::sql::SqlError;

/// Bytes of a packet; a longer payload has several.
const PACKET_BYTES_MAX: usize = 0x00ff_ffff;

/// Bytes of a payload that is read or sent. A row is no longer, and the result that it is part of is limited, too.
const PAYLOAD_BYTES_MAX: usize = 64 << 20;

/// Bytes to read at once.
const READ_BYTES: usize = 16 << 10;

/// A payload.
#[derive(Debug)]
pub(super) struct Packet(pub(super) BytesMut);

impl Packet {
    /// # Errors
    /// It is the server's error.
    pub(super) fn check(&self) -> Result<(), SqlError> {
        if self.0.first() != Some(&0xff) {
            return Ok(());
        }
        let mut reader = self.reader();
        reader.skip(1)?;
        let code = reader.u16()?;
        let rest = String::from_utf8_lossy(reader.0).into_owned();
        let text = match rest.strip_prefix('#') {
            Some(rest) if rest.is_char_boundary(5.min(rest.len())) && rest.len() >= 5 => {
                format!("Error {code} ({}): {}", &rest[..5], &rest[5..])
            }
            _ => format!("Error {code}: {rest}"),
        };
        Err(SqlError::Refused(text))
    }

    /// The status, where it is the end of a list.
    pub(super) fn end(&self) -> Option<u16> {
        let is_end = self.0.first() == Some(&0xfe) && self.0.len() < 9;
        is_end.then(|| self.0.get(3..5).map_or(0, |status| u16::from_le_bytes([status[0], status[1]])))
    }

    pub(super) fn reader(&self) -> Reader<'_> {
        Reader(&self.0)
    }
}

/// Reads a payload from its start.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    /// # Errors
    /// Fewer bytes are left.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], SqlError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn skip(&mut self, count: usize) -> Result<(), SqlError> {
        self.take(count).map(drop)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], SqlError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(super) fn u8(&mut self) -> Result<u8, SqlError> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16, SqlError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, SqlError> {
        self.array().map(u32::from_le_bytes)
    }

    /// A number of one to nine bytes.
    pub(super) fn length(&mut self) -> Result<u64, SqlError> {
        Ok(match self.u8()? {
            0xfc => self.u16()?.into(),
            0xfd => {
                let [a, b, c] = self.array()?;
                u32::from_le_bytes([a, b, c, 0]).into()
            }
            0xfe => u64::from_le_bytes(self.array()?),
            small => small.into(),
        })
    }

    /// Bytes behind their length.
    pub(super) fn counted(&mut self) -> Result<&'a [u8], SqlError> {
        let length = usize::try_from(self.length()?).map_err(|_| malformed())?;
        self.take(length)
    }

    /// Bytes up to a zero, or up to the end.
    pub(super) fn terminated(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        let (taken, rest) = self.0.split_at(end);
        self.0 = rest.get(1..).unwrap_or_default();
        taken
    }
}

/// Appends a length and the bytes.
pub(super) fn push_counted(out: &mut Vec<u8>, bytes: &[u8]) {
    match bytes.len() {
        small @ 0..=0xfa => out.push(small as u8),
        middle @ 0xfb..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&(middle as u16).to_le_bytes());
        }
        large => {
            out.push(0xfe);
            out.extend_from_slice(&(large as u64).to_le_bytes());
        }
    }
    out.extend_from_slice(bytes);
}

pub(super) fn malformed() -> SqlError {
    SqlError::Lost("malformed packet: the server does not answer as MySQL does".to_owned())
}

/// A connection.
pub(super) struct Wire {
    stream: BoxStream,
    input: BytesMut,
    /// Number of the next packet, in both directions.
    number: u8,
}

impl Wire {
    pub(super) fn new(stream: BoxStream) -> Wire {
        Wire { stream, input: BytesMut::new(), number: 0 }
    }

    /// The stream, between two packets, so that it can be encrypted.
    pub(super) fn into_parts(self) -> (BoxStream, u8) {
        (self.stream, self.number)
    }

    pub(super) fn from_parts(stream: BoxStream, number: u8) -> Wire {
        Wire { stream, input: BytesMut::new(), number }
    }

    /// Whether an idle connection can be used: it is open, and no bytes came without a command.
    pub(super) async fn is_idle(&mut self) -> bool {
        if !self.input.is_empty() {
            return false;
        }
        let mut byte = [0];
        poll_fn(|cx| {
            let read = Pin::new(&mut self.stream).poll_read(cx, &mut ReadBuf::new(&mut byte));
            Poll::Ready(read.is_pending())
        })
        .await
    }

    /// Sends a command, which begins a conversation.
    pub(super) async fn command(&mut self, code: u8, argument: &[u8]) -> Result<(), SqlError> {
        if argument.len() > PAYLOAD_BYTES_MAX {
            let (has, max) = (argument.len() >> 20, PAYLOAD_BYTES_MAX >> 20);
            return Err(SqlError::Refused(format!(
                "the statement has {has} MiB; at most {max} MiB can be sent"
            )));
        }
        self.number = 0;
        self.send(&[&[code], argument].concat()).await
    }

    /// Sends a payload.
    pub(super) async fn send(&mut self, payload: &[u8]) -> Result<(), SqlError> {
        let mut rest = payload;
        let mut out = Vec::with_capacity(payload.len() + 4);
        loop {
            let (packet, after) = rest.split_at(rest.len().min(PACKET_BYTES_MAX));
            out.extend_from_slice(&(packet.len() as u32).to_le_bytes()[..3]);
            out.push(self.number);
            out.extend_from_slice(packet);
            self.number = self.number.wrapping_add(1);
            rest = after;
            // A full packet is followed by another, if only by an empty one.
            if packet.len() < PACKET_BYTES_MAX {
                break;
            }
        }
        self.stream.write_all(&out).await.map_err(lost)?;
        self.stream.flush().await.map_err(lost)
    }

    /// Receives a payload.
    pub(super) async fn packet(&mut self) -> Result<Packet, SqlError> {
        let mut payload = BytesMut::new();
        loop {
            self.fill(4).await?;
            let length = u32::from_le_bytes([self.input[0], self.input[1], self.input[2], 0]) as usize;
            self.number = self.input[3].wrapping_add(1);
            if payload.len() + length > PAYLOAD_BYTES_MAX {
                return Err(SqlError::TooLarge);
            }
            self.input.advance(4);
            self.fill(length).await?;
            let part = self.input.split_to(length);
            match payload.is_empty() {
                true => payload = part,
                false => payload.extend_from_slice(&part),
            }
            if length < PACKET_BYTES_MAX {
                return Ok(Packet(payload));
            }
        }
    }

    async fn fill(&mut self, bytes: usize) -> Result<(), SqlError> {
        while self.input.len() < bytes {
            self.input.reserve(READ_BYTES);
            if self.stream.read_buf(&mut self.input).await.map_err(lost)? == 0 {
                return Err(SqlError::Lost("invalid connection: the server closed it (EOF)".to_owned()));
            }
        }
        Ok(())
    }
}

fn lost(error: std::io::Error) -> SqlError {
    SqlError::Lost(format!("invalid connection: {error}"))
}
