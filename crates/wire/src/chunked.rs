//! The chunked transfer coding (RFC 9112, 7.1).

use std::ops::Range;

use memchr::memchr;

use crate::fault::{Fault, malformed_body, too_large};
use crate::limits::{CHUNK_LINE_BYTES_MAX, TRAILER_BYTES_MAX};

/// Reads chunks, however they are cut into pieces.
#[derive(Default)]
pub(crate) struct Chunked {
    state: State,
    /// The size of the chunk whose line is being read.
    size: u64,
    digits: u32,
    /// Bytes of the line, or of all trailers, so far.
    line_bytes: usize,
    /// Whether the trailer line being read has anything in it.
    has_trailer: bool,
}

#[derive(Default)]
enum State {
    /// The size of a chunk.
    #[default]
    Size,
    /// White space behind the size.
    Space,
    /// An extension, which means nothing to us.
    Extension,
    /// The data of a chunk.
    Data { left: u64 },
    /// The end of the line behind the data.
    DataEnd,
    /// Trailers, which are skipped.
    Trailer,
}

/// The result of a step.
pub(crate) struct Piece {
    /// Bytes that belong to the coding.
    pub(crate) used: usize,
    /// Which of them are data.
    pub(crate) data: Range<usize>,
    /// Whether that was the end.
    pub(crate) is_done: bool,
}

impl Piece {
    fn used(used: usize) -> Result<Piece, Fault> {
        Ok(Piece { used, data: 0..0, is_done: false })
    }
}

impl Chunked {
    /// Takes at least one of `bytes`, which are not none.
    pub(crate) fn step(&mut self, bytes: &[u8]) -> Result<Piece, Fault> {
        match self.state {
            State::Size | State::Space => self.step_size(bytes[0]),
            State::Extension => self.step_extension(bytes),
            State::Data { left } => self.step_data(left, bytes),
            State::DataEnd => self.step_data_end(bytes[0]),
            State::Trailer => self.step_trailer(bytes),
        }
    }

    fn step_size(&mut self, byte: u8) -> Result<Piece, Fault> {
        self.count_line(1)?;
        match byte {
            b'\n' => self.end_line()?,
            b' ' | b'\t' | b'\r' => self.state = State::Space,
            b';' => self.state = State::Extension,
            _ => self.push_digit(byte)?,
        }
        Piece::used(1)
    }

    fn push_digit(&mut self, byte: u8) -> Result<(), Fault> {
        let digit = char::from(byte).to_digit(16).filter(|_| matches!(self.state, State::Size));
        let digit = digit.ok_or_else(|| malformed_body("invalid byte in chunk length"))?;
        self.digits += 1;
        if self.digits > 16 {
            return Err(malformed_body("http chunk length too large"));
        }
        self.size = self.size << 4 | u64::from(digit);
        Ok(())
    }

    fn step_extension(&mut self, bytes: &[u8]) -> Result<Piece, Fault> {
        let end = memchr(b'\n', bytes);
        let used = end.map_or(bytes.len(), |end| end + 1);
        self.count_line(used)?;
        if end.is_some() {
            self.end_line()?;
        }
        Piece::used(used)
    }

    fn count_line(&mut self, bytes: usize) -> Result<(), Fault> {
        self.line_bytes += bytes;
        if self.line_bytes > CHUNK_LINE_BYTES_MAX {
            return Err(too_large(format!("http: chunk line longer than {CHUNK_LINE_BYTES_MAX} bytes")));
        }
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), Fault> {
        if self.digits == 0 {
            return Err(malformed_body("empty chunk length"));
        }
        self.state = if self.size == 0 { State::Trailer } else { State::Data { left: self.size } };
        (self.size, self.digits, self.line_bytes) = (0, 0, 0);
        Ok(())
    }

    fn step_data(&mut self, left: u64, bytes: &[u8]) -> Result<Piece, Fault> {
        let take = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        let left = left - take as u64;
        self.state = if left == 0 { State::DataEnd } else { State::Data { left } };
        Ok(Piece { used: take, data: 0..take, is_done: false })
    }

    fn step_data_end(&mut self, byte: u8) -> Result<Piece, Fault> {
        self.line_bytes += 1;
        match byte {
            b'\r' if self.line_bytes == 1 => {}
            b'\n' => {
                self.line_bytes = 0;
                self.state = State::Size;
            }
            _ => return Err(malformed_body("malformed chunked encoding")),
        }
        Piece::used(1)
    }

    fn step_trailer(&mut self, bytes: &[u8]) -> Result<Piece, Fault> {
        let end = memchr(b'\n', bytes);
        let used = end.map_or(bytes.len(), |end| end + 1);
        self.line_bytes += used;
        if self.line_bytes > TRAILER_BYTES_MAX {
            return Err(too_large(format!("http: trailers longer than {TRAILER_BYTES_MAX} bytes")));
        }
        self.has_trailer |= bytes[..used].iter().any(|byte| !matches!(byte, b'\r' | b'\n'));
        if end.is_none() {
            return Piece::used(used);
        }
        let is_done = !self.has_trailer;
        self.has_trailer = false;
        Ok(Piece { used, data: 0..0, is_done })
    }
}
