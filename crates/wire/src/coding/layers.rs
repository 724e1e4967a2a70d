//! Codings laid over each other, decoded in slices and within limits that count at every layer.
//!
//! Each layer pulls from the one around it. A [`Gate`] between two layers counts what passes and stops the chain when the
//! slice's time is over: every layer keeps its state at `WouldBlock`, and the next slice goes on there.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use model::{Instant, SystemClock};

use super::{Coding, DecodeError};

/// Bytes that a layer may take in without giving one out. The largest header of a gzip member has 192 KiB; a body that needs
/// more is a bomb of empty members, which costs time and yields nothing.
pub(super) const BARREN_BYTES_MAX: u64 = 1 << 20;

/// Bytes that pass a gate at once: some 30 µs of work in the slowest layer.
const GATE_BYTES: usize = 8 << 10;

/// How much larger a body usually gets, and the bytes that are reserved at most on that guess.
const DECODED_GROWTH: usize = 4;
/// See [`DECODED_GROWTH`].
const DECODED_RESERVE_BYTES_MAX: usize = 256 << 10;

/// State that the layers of one body share.
struct Pace {
    slice_end: Cell<Instant>,
    bytes_max: u64,
    /// Why the chain stopped for good. It is kept here, because a layer may replace the error of the one around it.
    fault: Cell<Option<Limit>>,
}

/// A limit that a layer reached.
#[derive(Clone, Copy)]
enum Limit {
    Bytes,
    Barren,
}

impl Pace {
    /// Lets a layer go on.
    fn check(&self) -> io::Result<()> {
        if self.fault.get().is_some() {
            return Err(io::ErrorKind::Other.into());
        }
        if SystemClock::now() >= self.slice_end.get() {
            Err(io::ErrorKind::WouldBlock.into())
        } else {
            Ok(())
        }
    }

    fn stop(&self, limit: Limit) -> io::Error {
        self.fault.set(Some(limit));
        io::ErrorKind::Other.into()
    }
}

/// Bytes that pass from one layer to the next.
struct Gate {
    inner: Box<dyn Read>,
    pace: Rc<Pace>,
    bytes: u64,
    /// Bytes that the layer before this gate took since it gave one out; the body itself takes none.
    taken_before: Option<Barren>,
    /// The same of the layer behind this gate; nothing is behind the last one.
    taken_behind: Option<Barren>,
}

/// Bytes that a layer took since it gave one out.
type Barren = Rc<Cell<u64>>;

impl Read for Gate {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pace.check()?;
        let room = buffer.len().min(GATE_BYTES);
        let bytes = self.inner.read(&mut buffer[..room])?;
        self.bytes += bytes as u64;
        if self.bytes > self.pace.bytes_max {
            return Err(self.pace.stop(Limit::Bytes));
        }
        if let Some(taken) = self.taken_before.as_ref().filter(|_| bytes > 0) {
            taken.set(0);
        }
        if let Some(taken) = &self.taken_behind {
            taken.set(taken.get() + bytes as u64);
            if taken.get() > BARREN_BYTES_MAX {
                return Err(self.pace.stop(Limit::Barren));
            }
        }
        Ok(bytes)
    }
}

/// The body as it came.
struct Source {
    body: Bytes,
    used: usize,
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = (&self.body[self.used..]).read(buffer)?;
        self.used += bytes;
        Ok(bytes)
    }
}

/// `deflate` means a zlib frame, but some servers leave the frame out; its two bytes show which it is (RFC 1950, 2.2).
pub(super) struct Inflater {
    coded: Option<Box<dyn BufRead>>,
    start: Vec<u8>,
    decoder: Option<Box<dyn Read>>,
}

impl Inflater {
    pub(super) fn new(coded: Box<dyn BufRead>) -> Inflater {
        Inflater { coded: Some(coded), start: Vec::new(), decoder: None }
    }

    fn open(&mut self) -> io::Result<()> {
        let Some(coded) = &mut self.coded else { return Ok(()) };
        while self.start.len() < 2 {
            let Some(byte) = coded.fill_buf()?.first().copied() else { break };
            self.start.push(byte);
            coded.consume(1);
        }
        let is_framed = matches!(self.start[..], [method, flags]
            if method & 0x0f == 8 && (u16::from(method) << 8 | u16::from(flags)).is_multiple_of(31));
        let Some(coded) = self.coded.take() else { return Ok(()) };
        let whole = io::Cursor::new(std::mem::take(&mut self.start)).chain(coded);
        self.decoder = Some(if is_framed {
            Box::new(flate2::bufread::ZlibDecoder::new(whole))
        } else {
            Box::new(flate2::bufread::DeflateDecoder::new(whole))
        });
        Ok(())
    }
}

impl Read for Inflater {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.open()?;
        self.decoder.as_mut().map_or(Ok(0), |decoder| decoder.read(buffer))
    }
}

/// A body that is being decoded.
pub(super) struct Decoding {
    reader: Gate,
    pace: Rc<Pace>,
    first: Coding,
    has_long_steps: bool,
    decoded: Vec<u8>,
}

impl Decoding {
    /// Prepares to decode `body`, to which `codings` were applied in this order; `None` for no coding. Nothing that passes
    /// from one layer to the next, nor the result, may have more than `bytes_max`.
    ///
    /// # Errors
    /// A decoder could not be made.
    pub(super) fn new(
        codings: &[Coding],
        body: &Bytes,
        bytes_max: u64,
    ) -> Result<Option<Decoding>, DecodeError> {
        let Some(first) = codings.first().copied() else { return Ok(None) };
        // Nothing is read before the first slice, not even a header.
        let slice_end = Cell::new(Instant::ZERO);
        let pace = Rc::new(Pace { slice_end, bytes_max, fault: Cell::default() });
        let mut inner: Box<dyn Read> = Box::new(Source { body: body.clone(), used: 0 });
        let mut taken_before = None;
        for coding in codings.iter().rev() {
            let taken = Barren::default();
            let taken_behind = Some(taken.clone());
            let gate = Gate { inner, pace: pace.clone(), bytes: 0, taken_before, taken_behind };
            let coded = Box::new(BufReader::with_capacity(GATE_BYTES, gate));
            inner = coding.decoder(coded).map_err(|error| DecodeError::Broken(coding.name(), error))?;
            taken_before = Some(taken);
        }
        let reader = Gate { inner, pace: pace.clone(), bytes: 0, taken_before, taken_behind: None };
        let reserve_bytes = body.len().saturating_mul(DECODED_GROWTH).min(DECODED_RESERVE_BYTES_MAX);
        let has_long_steps = codings.contains(&Coding::Brotli);
        let decoded = Vec::with_capacity(reserve_bytes);
        Ok(Some(Decoding { reader, pace, first, has_long_steps, decoded }))
    }

    /// Decodes for so long at most; returns the result where it is complete.
    pub(super) fn run(&mut self, slice: Duration) -> Result<Option<Vec<u8>>, DecodeError> {
        self.pace.slice_end.set(SystemClock::now() + slice);
        // What was read before an error is kept.
        match self.reader.read_to_end(&mut self.decoded) {
            Ok(_) => Ok(Some(std::mem::take(&mut self.decoded))),
            Err(error) => match self.pace.fault.get() {
                Some(Limit::Bytes) => Err(DecodeError::TooLarge(self.pace.bytes_max)),
                Some(Limit::Barren) => Err(DecodeError::Barren),
                None if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
                None => Err(DecodeError::Broken(self.first.name(), error)),
            },
        }
    }

    /// Whether a step of one of its decoders may take much longer than what passes a gate at once.
    pub(super) fn has_long_steps(&self) -> bool {
        self.has_long_steps
    }

    /// Bytes that the result takes so far.
    pub(super) fn held_bytes(&self) -> u64 {
        self.decoded.capacity() as u64
    }
}
