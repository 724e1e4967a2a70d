//! Blobs: stored as they are or compressed, whichever is smaller.
//!
//! ```text
//! 00 bytes…                      as they are
//! 01 length (u32, LE) zstd…      compressed; the length is that of the bytes within
//! ```

use super::BLOB_BYTES_MAX;

const PLAIN: u8 = 0;
const ZSTD: u8 = 1;
const LEVEL: i32 = 3;

/// Compresses blobs; keeps zstd's tables between them.
pub(crate) struct Packer(Option<zstd::bulk::Compressor<'static>>);

/// Decompresses blobs; keeps zstd's tables between them.
pub(crate) struct Unpacker(Option<zstd::bulk::Decompressor<'static>>);

impl Packer {
    /// Without zstd where it cannot be had: blobs are then larger.
    pub(crate) fn new() -> Packer {
        Packer(zstd::bulk::Compressor::new(LEVEL).ok())
    }

    /// The blob that holds these bytes; `None` if it would be larger than [`BLOB_BYTES_MAX`].
    pub(crate) fn pack(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        if bytes.len() >= BLOB_BYTES_MAX {
            return None;
        }
        let compressed = self.0.as_mut().and_then(|zstd| zstd.compress(bytes).ok());
        if let Some(compressed) = compressed.filter(|compressed| compressed.len() + 4 < bytes.len()) {
            let length = u32::try_from(bytes.len()).ok()?;
            return Some([&[ZSTD][..], &length.to_le_bytes(), &compressed].concat());
        }
        Some([&[PLAIN][..], bytes].concat())
    }
}

impl Unpacker {
    pub(crate) fn new() -> Unpacker {
        Unpacker(zstd::bulk::Decompressor::new().ok())
    }

    /// The bytes within a blob.
    pub(crate) fn unpack(&mut self, blob: &[u8]) -> Result<Vec<u8>, &'static str> {
        self.unpack_at_most(blob, BLOB_BYTES_MAX)
    }

    /// The bytes within a blob, if they are no more than this.
    pub(crate) fn unpack_at_most(&mut self, blob: &[u8], bytes_max: usize) -> Result<Vec<u8>, &'static str> {
        match blob.split_first() {
            Some((&PLAIN, bytes)) if bytes.len() > bytes_max => Err("a blob is impossibly large"),
            Some((&PLAIN, bytes)) => Ok(bytes.to_vec()),
            Some((&ZSTD, rest)) => self.decompress(rest, bytes_max),
            _ => Err("a blob is of an unknown kind"),
        }
    }

    fn decompress(&mut self, rest: &[u8], bytes_max: usize) -> Result<Vec<u8>, &'static str> {
        let (length, compressed) = rest.split_first_chunk::<4>().ok_or("a blob ends too early")?;
        let length = u32::from_le_bytes(*length) as usize;
        if length > bytes_max {
            return Err("a blob is impossibly large");
        }
        let zstd = self.0.as_mut().ok_or("zstd has no memory")?;
        let bytes = zstd.decompress(compressed, length).map_err(|_| "a blob is not what zstd wrote")?;
        if bytes.len() != length { Err("a blob is not as long as it says") } else { Ok(bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(blob: &[u8], expect: Result<&[u8], &'static str>) {
        assert_eq!(Unpacker::new().unpack(blob).as_deref().map_err(|error| *error), expect, "{blob:?}");
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        for bytes in [vec![], vec![7], vec![7; 5000], (0..=255).collect()] {
            let blob = Packer::new().pack(&bytes).expect("small");
            check(&blob, Ok(&bytes));
        }
        assert!(Packer::new().pack(&[7; 5000]).expect("small").len() < 100);
    }

    #[test]
    fn hostile_blobs_are_refused() {
        check(&[], Err("a blob is of an unknown kind"));
        check(&[2, 1], Err("a blob is of an unknown kind"));
        check(&[1, 1], Err("a blob ends too early"));
        check(&[1, 255, 255, 255, 255], Err("a blob is impossibly large"));
        check(&[1, 4, 0, 0, 0, 1, 2], Err("a blob is not what zstd wrote"));
        let mut longer = Packer::new().pack(&[7; 5000]).expect("small");
        longer[1] += 1;
        check(&longer, Err("a blob is not as long as it says"));
        longer[1] -= 2;
        check(&longer, Err("a blob is not what zstd wrote"));
    }
}
