//! Compressed messages (RFC 7692) without context takeover: each message is compressed by itself, as k6 does it too.

use std::cell::RefCell;

use bytes::Bytes;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

/// The tail of a compressed message that is not sent (RFC 7692, 7.2.1).
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];

/// Bytes by which a buffer grows at least.
const GROWTH_BYTES: usize = 4096;

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
        let mut out = Vec::with_capacity((payload.len() * 3).clamp(64, GROWTH_BYTES));
        for part in [payload, &TAIL] {
            let mut used = 0;
            loop {
                let before = decompress.total_in();
                let status = decompress
                    .decompress_vec(&part[used..], &mut out, FlushDecompress::Sync)
                    .map_err(|_| Fault::Malformed)?;
                used += (decompress.total_in() - before) as usize;
                if out.len() > bytes_max {
                    return Err(Fault::TooLarge);
                }
                if status == Status::StreamEnd {
                    return Ok(out.into());
                }
                if out.len() < out.capacity() {
                    if used < part.len() {
                        return Err(Fault::Malformed);
                    }
                    break;
                }
                out.reserve(out.len().max(GROWTH_BYTES));
            }
        }
        Ok(out.into())
    })
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
    fn bombs_and_noise_are_refused() {
        assert_eq!(inflate(&deflate(&[0; 100_000]), 99_999), Err(Fault::TooLarge));
        assert_eq!(inflate(b"\xff\xff\xff", 1000), Err(Fault::Malformed));
    }
}
