//! A compressed body. The first line names its codings; where it is empty, the rest is compressed and read back.

use wire::{CODINGS_MAX, DECODED_BYTES_MAX, decode, encode, read_response};

/// Whatever came, what is decoded stays within its limit; what was encoded is decoded to itself.
pub fn check(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (codings, body) = (&bytes[..end], bytes.get(end + 1..).unwrap_or_default());
    if codings.is_empty() {
        return round_trip(body);
    }
    let Ok(recorded) = read_response([&head(codings), body], false) else { return };
    if let Ok(Some(decoded)) = decode(&recorded.response.headers, &recorded.response.body) {
        assert!(decoded.len() as u64 <= DECODED_BYTES_MAX);
    }
}

fn round_trip(body: &[u8]) {
    const CODINGS: [&str; 5] = ["gzip", "deflate", "br", "zstd", "br, gzip, zstd, deflate, gzip"];
    let codings = CODINGS[body.len() % CODINGS.len()];
    assert!(codings.split(',').count() <= CODINGS_MAX);
    let encoded = encode(body, codings).expect("bytes in memory are compressed").expect("there are codings");
    let head = head(encoded.content_encoding.as_bytes());
    let recorded = read_response([&head, &encoded.body[..]], false).expect("the head is one");
    let decoded =
        decode(&recorded.response.headers, &recorded.response.body).expect("what was encoded is decoded");
    assert_eq!(decoded.as_deref(), Some(body), "{codings}");
}

fn head(codings: &[u8]) -> Vec<u8> {
    [b"HTTP/1.1 200 OK\r\nContent-Encoding: ", codings, b"\r\n\r\n"].concat()
}
