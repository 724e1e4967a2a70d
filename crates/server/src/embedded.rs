//! Files that the build has embedded as gzip.

use std::io::Read;

/// Returns the contents of an embedded file.
pub(crate) fn decompressed(compressed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Reading from memory fails only for bytes that the build has not written.
    let read = flate2::read::GzDecoder::new(compressed).read_to_end(&mut bytes);
    debug_assert!(read.is_ok(), "{read:?}");
    bytes
}
