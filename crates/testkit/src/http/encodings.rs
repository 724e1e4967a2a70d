//! Compressed bodies, and one that is a bomb.

use std::io::Write;
use std::sync::OnceLock;

use bytes::Bytes;
use flate2::{Compress, Compression, Crc, FlushCompress};

use super::{Route, echo};
use crate::reply::{Reply, Step};
use crate::request::Request;

pub(super) const ROUTES: &[Route] = &[
    Route { segment: "gzip", answer: |request, _| encoded(request, "gzip", gzip) },
    Route { segment: "deflate", answer: |request, _| encoded(request, "deflate", deflate) },
    Route { segment: "brotli", answer: |request, _| encoded(request, "br", brotli) },
    Route { segment: "zstd", answer: |request, _| encoded(request, "zstd", zstd) },
    Route {
        segment: "bad-gzip",
        answer: |_, _| Reply::new(200, &[("content-encoding", "gzip")], b"no gzip at all"),
    },
    Route { segment: "bomb", answer: bomb },
];

/// The size that `/bomb` unpacks to by default: 1 GiB, from about 1 MB.
const BOMB_BYTES: u64 = 1 << 30;

/// The bomb's zeros are packed once in this size and repeated.
const BOMB_CHUNK_BYTES: usize = 1 << 20;

/// A bomb of 16 GiB is large enough, and its checksum is still quick to combine.
const MAX_BOMB_CHUNKS: u64 = 16 * 1024;

/// The request's echo, compressed whatever the client accepts.
fn encoded(request: &Request, name: &str, encode: fn(&[u8]) -> std::io::Result<Vec<u8>>) -> Reply {
    let headers = [("content-type", "application/json"), ("content-encoding", name)];
    match encode(echo::echo(request).to_string().as_bytes()) {
        Ok(body) => Reply::new(200, &headers, &body),
        Err(error) => Reply::text(500, &format!("failed to compress: {error}\n")),
    }
}

fn gzip(body: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body)?;
    encoder.finish()
}

/// The `deflate` coding is zlib's format (RFC 9110, section 8.4.1.2).
fn deflate(body: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body)?;
    encoder.finish()
}

fn brotli(body: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut packed = Vec::new();
    brotli::BrotliCompress(&mut &*body, &mut packed, &brotli::enc::BrotliEncoderParams::default())?;
    Ok(packed)
}

fn zstd(body: &[u8]) -> std::io::Result<Vec<u8>> {
    zstd::bulk::compress(body, 3)
}

/// `/bomb?mib=N`: a valid gzip body of N MiB of zeros (1024 by default), a thousandth of that on the wire.
fn bomb(request: &Request, _: &[&str]) -> Reply {
    let chunks = request.query_number("mib", BOMB_BYTES / BOMB_CHUNK_BYTES as u64).clamp(1, MAX_BOMB_CHUNKS);
    let (chunk, chunk_crc) = packed_zeros();
    let mut crc = Crc::new();
    for _ in 0..chunks {
        crc.combine(chunk_crc);
    }
    let deflated_bytes = chunk.len() as u64 * chunks;
    // A gzip header without options (RFC 1952), and an empty last block (RFC 1951) before the trailer.
    let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut tail = vec![0x03, 0x00];
    tail.extend(crc.sum().to_le_bytes());
    tail.extend(((chunks * BOMB_CHUNK_BYTES as u64) as u32).to_le_bytes());
    let length = head.len() as u64 + deflated_bytes + tail.len() as u64;
    let headers = [
        ("content-type", "application/octet-stream"),
        ("content-encoding", "gzip"),
        ("content-length", &length.to_string()),
    ];
    let body = Step::Repeat { chunk: chunk.clone(), bytes: deflated_bytes };
    Reply::stream(
        200,
        &headers,
        vec![Step::Write(Bytes::copy_from_slice(&head)), body, Step::Write(tail.into())],
    )
}

/// One chunk of zeros as deflate blocks, and its checksum. A full flush ends it on a byte and forgets the window,
/// so that it may be repeated.
fn packed_zeros() -> &'static (Bytes, Crc) {
    static PACKED: OnceLock<(Bytes, Crc)> = OnceLock::new();
    PACKED.get_or_init(|| {
        let zeros = vec![0; BOMB_CHUNK_BYTES];
        let mut crc = Crc::new();
        crc.update(&zeros);
        let mut packed = Vec::with_capacity(BOMB_CHUNK_BYTES);
        Compress::new(Compression::best(), false)
            .compress_vec(&zeros, &mut packed, FlushCompress::Full)
            .expect("zeros fit into as many bytes");
        (packed.into(), crc)
    })
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use crate::client::get;
    use crate::http::start;

    #[track_caller]
    fn check(target: &str, encoding: &str, decode: fn(&[u8]) -> Vec<u8>) {
        let response = get(&start(), target);
        assert_eq!(response.header("content-encoding"), Some(encoding));
        let body: serde_json::Value = serde_json::from_slice(&decode(&response.body)).expect("JSON");
        assert_eq!(body["method"], "GET");
    }

    fn all(mut reader: impl Read) -> Vec<u8> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).expect("decode");
        bytes
    }

    #[test]
    fn bodies_decode() {
        check("/gzip", "gzip", |body| all(flate2::read::GzDecoder::new(body)));
        check("/deflate", "deflate", |body| all(flate2::read::ZlibDecoder::new(body)));
        check("/brotli", "br", |body| all(brotli::Decompressor::new(body, 4096)));
        check("/zstd", "zstd", |body| zstd::stream::decode_all(body).expect("decode"));
    }

    #[test]
    fn the_bomb_is_small_and_valid() {
        let response = get(&start(), "/bomb?mib=3");
        assert!(response.body.len() < 10_000, "{} bytes", response.body.len());
        // The decoder checks length and checksum.
        let unpacked = all(flate2::read::GzDecoder::new(&*response.body));
        assert_eq!(unpacked.len(), 3 << 20);
        assert!(unpacked.iter().all(|&byte| byte == 0));
    }
}
