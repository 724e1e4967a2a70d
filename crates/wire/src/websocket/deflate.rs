//! Compressed messages (RFC 7692) without context takeover: each message is compressed by itself, as k6 does it too.

use std::cell::RefCell;

use bytes::Bytes;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

/// The tail of a compressed message that is not sent (RFC 7692, 7.2.1).
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];

/// Bytes by which a buffer grows at least, and at most.
const GROWTH_BYTES: usize = 4096;
/// See [`GROWTH_BYTES`].
const GROWTH_BYTES_MAX: usize = 1 << 20;

thread_local! {
    /// One of each per thread: they are large, and a message at a time needs them.
    static CODERS: RefCell<Option<(Compress, Decompress)>> = const { RefCell::new(None) };
}

fn with_coders<R>(work: impl FnOnce(&mut Compress, &mut Decompress) -> R) -> R {
    CODERS.with_borrow_mut(|coders| {
        let (compress, decompress) =
            coders.get_or_insert_with(|| (Compress::new(Compression::fast(), false), Decompress::new(false)));
        work(compress, decompress)
    })
}

/// Why a message cannot be decompressed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Malformed,
    TooLarge,
}

/// The payload of a message, compressed.
pub(crate) fn deflate(payload: &[u8]) -> Vec<u8> {
    with_coders(|compress, _| {
        compress.reset();
        let mut out = Vec::with_capacity(payload.len() / 2 + 64);
        loop {
            let before = compress.total_in() as usize;
            let status = compress.compress_vec(&payload[before..], &mut out, FlushCompress::Sync);
            // The output is complete when its buffer was not filled.
            if status.is_err()
                || (compress.total_in() as usize == payload.len() && out.len() < out.capacity())
            {
                break;
            }
            out.reserve(GROWTH_BYTES);
        }
        if out.ends_with(&TAIL) {
            out.truncate(out.len() - TAIL.len());
        }
        out
    })
}

/// The payload of a compressed message, at most `bytes_max` long.
pub(super) fn inflate(payload: &[u8], bytes_max: usize) -> Result<Bytes, Fault> {
    with_coders(|_, decompress| {
        decompress.reset(false);
        let mut progress = Progress::new(payload.len());
        while !progress.step(decompress, payload, bytes_max, usize::MAX)? {}
        Ok(progress.out.into())
    })
}

/// A long message that is decompressed in steps.
#[derive(Debug)]
pub(super) struct Inflating {
    decompress: Decompress,
    payload: Bytes,
    bytes_max: usize,
    progress: Progress,
}

impl Inflating {
    pub(super) fn new(payload: Bytes, bytes_max: usize) -> Inflating {
        let progress = Progress::new(payload.len());
        Inflating { decompress: Decompress::new(false), payload, bytes_max, progress }
    }

    /// Decompresses about `step_bytes`; returns the message when it is complete.
    pub(super) fn step(&mut self, step_bytes: usize) -> Result<Option<Bytes>, Fault> {
        let step_end = self.progress.out.len() + step_bytes;
        let is_done = self.progress.step(&mut self.decompress, &self.payload, self.bytes_max, step_end)?;
        Ok(is_done.then(|| std::mem::take(&mut self.progress.out).into()))
    }

    /// Bytes that it takes.
    pub(super) fn held_bytes(&self) -> usize {
        self.payload.len() + self.progress.out.capacity()
    }
}

/// How far a message is decompressed.
#[derive(Debug)]
struct Progress {
    out: Vec<u8>,
    /// Bytes used of the payload, and of the tail behind it.
    used: usize,
    is_in_tail: bool,
}

impl Progress {
    fn new(payload_bytes: usize) -> Progress {
        let out = Vec::with_capacity((payload_bytes * 3).clamp(64, GROWTH_BYTES));
        Progress { out, used: 0, is_in_tail: false }
    }

    /// Goes on until the output has `step_end` bytes; returns whether it is complete.
    fn step(
        &mut self,
        decompress: &mut Decompress,
        payload: &[u8],
        bytes_max: usize,
        step_end: usize,
    ) -> Result<bool, Fault> {
        while self.out.len() < step_end {
            let part = if self.is_in_tail { &TAIL } else { payload };
            let before = decompress.total_in();
            let status = decompress
                .decompress_vec(&part[self.used..], &mut self.out, FlushDecompress::Sync)
                .map_err(|_| Fault::Malformed)?;
            self.used += (decompress.total_in() - before) as usize;
            if self.out.len() > bytes_max {
                return Err(Fault::TooLarge);
            }
            if status == Status::StreamEnd {
                return Ok(true);
            }
            if self.out.len() == self.out.capacity() {
                self.out.reserve_exact(self.out.len().clamp(GROWTH_BYTES, GROWTH_BYTES_MAX));
                continue;
            }
            if self.used < part.len() {
                return Err(Fault::Malformed);
            }
            if self.is_in_tail {
                return Ok(true);
            }
            (self.used, self.is_in_tail) = (0, true);
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let noise: Vec<u8> = (0..100_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for payload in [&b""[..], b"a", b"hello hello hello", &[0; 100_000], &noise] {
            let packed = deflate(payload);
            assert_eq!(inflate(&packed, 1 << 20).expect("its own data"), payload, "{}", payload.len());
        }
    }

    #[test]
    fn long_messages_are_decompressed_in_steps() {
        let payload = vec![7; 10 << 20];
        let mut inflating = Inflating::new(deflate(&payload).into(), 10 << 20);
        let mut steps = 1;
        let whole = loop {
            match inflating.step(1 << 20).expect("its own data") {
                Some(whole) => break whole,
                None => steps += 1,
            }
            assert!(inflating.held_bytes() <= (steps + 2) << 20);
        };
        assert!(whole == payload && (5..=11).contains(&steps), "{steps} steps");
        let mut bomb = Inflating::new(deflate(&payload).into(), 3 << 20);
        assert_eq!(
            std::iter::repeat_with(|| bomb.step(1 << 20)).find_map(Result::err),
            Some(Fault::TooLarge)
        );
    }

    #[test]
    fn bombs_and_noise_are_refused() {
        assert_eq!(inflate(&deflate(&[0; 100_000]), 99_999), Err(Fault::TooLarge));
        assert_eq!(inflate(b"\xff\xff\xff", 1000), Err(Fault::Malformed));
    }
}
