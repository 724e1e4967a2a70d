//! Content codings: decoding what a server sent, encoding what a script asked to compress.
//!
//! Decoding follows k6 where k6 reads a body at all and is more tolerant where browsers are: coding names are
//! compared without regard to case, `x-gzip` is gzip and `deflate` without its zlib frame is read (k6 fails the
//! first two silently and the third loudly). Unknown codings are left undecoded, as in k6.

mod layers;
mod turns;

use std::fmt;
use std::io::{BufRead, Read, Write};
use std::time::Duration;

use bytes::Bytes;

pub(crate) use turns::decode_by;

use self::layers::{BARREN_BYTES_MAX, Decoding, Inflater};
use crate::error::{Error, ErrorCode, Kind, Stage};
use crate::headers::Headers;
use crate::limits::DECODED_BYTES_MAX;

/// Codings laid over each other in one body. More than two are never seen outside attacks.
pub const CODINGS_MAX: usize = 5;

/// Binary logarithm of the largest window a zstd frame may ask for: the 8 MiB of RFC 9659.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// Bytes the brotli coder moves at once.
const BROTLI_BUFFER_BYTES: usize = 4096;

/// Quality and binary logarithm of the window with which bodies are compressed with brotli, as k6 does it.
const BROTLI_QUALITY: u32 = 6;
/// See [`BROTLI_QUALITY`].
const BROTLI_WINDOW_LOG: u32 = 22;

/// The decoded body, or `None` where nothing has to be decoded: no coding that is known here was applied, or the
/// body is empty (which k6 calls an error, even in the answer to a `HEAD`). It computes until it is done; clients decode in
/// slices.
///
/// # Errors
/// Code 1701: the body is broken, has more than [`CODINGS_MAX`] codings or takes a mebibyte to give one byte. Code 1710: it
/// gets larger than [`DECODED_BYTES_MAX`]. (k6 has code 1000 for a body that ends too early.)
pub fn decode(headers: &Headers, body: &Bytes) -> Result<Option<Bytes>, Error> {
    decode_bounded(headers, body, DECODED_BYTES_MAX).map_err(Error::from)
}

fn decode_bounded(headers: &Headers, body: &Bytes, bytes_max: u64) -> Result<Option<Bytes>, DecodeError> {
    let Some(mut decoding) = begin(headers, body, bytes_max)? else { return Ok(None) };
    loop {
        if let Some(decoded) = decoding.run(Duration::from_secs(1))? {
            return Ok(Some(decoded.into()));
        }
    }
}

/// The decoding of a body; `None` where nothing has to be decoded.
fn begin(headers: &Headers, body: &Bytes, bytes_max: u64) -> Result<Option<Decoding>, DecodeError> {
    if body.is_empty() {
        return Ok(None);
    }
    let names = headers.get_all("content-encoding").flat_map(|value| value.split(|byte| *byte == b','));
    let mut codings: Vec<Coding> = Vec::new();
    for coding in names.filter_map(|name| Coding::of_header(name.trim_ascii())) {
        if codings.len() == CODINGS_MAX {
            return Err(DecodeError::TooMany);
        }
        codings.push(coding);
    }
    Decoding::new(&codings, body, bytes_max)
}

/// Compresses `body` as the list `codings` (such as `"gzip, br"`) says, first one first; `None` for an empty list.
///
/// # Errors
/// See [`EncodeError`].
pub fn encode(body: &[u8], codings: &str) -> Result<Option<Encoded>, EncodeError> {
    if codings.trim().is_empty() {
        return Ok(None);
    }
    let codings = codings.split(',').map(|name| named(name.trim())).collect::<Result<Vec<_>, _>>()?;
    if codings.len() > CODINGS_MAX {
        return Err(EncodeError::TooMany(codings.len()));
    }
    let mut encoded = None;
    for coding in &codings {
        let input = encoded.as_deref().unwrap_or(body);
        encoded = Some(coding.encode(input).map_err(EncodeError::Io)?);
    }
    let names: Vec<&str> = codings.iter().map(|coding| coding.name()).collect();
    Ok(encoded.map(|body| Encoded { body, content_encoding: names.join(", ") }))
}

/// A compressed body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// Its bytes.
    pub body: Vec<u8>,
    /// The `Content-Encoding` that says how to read it.
    pub content_encoding: String,
}

/// Why a body was not compressed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The script named a coding that does not exist; the words are k6's.
    #[error("unknown compression algorithm {0}, supported algorithms are [gzip deflate zstd br]")]
    Unknown(String),
    /// The script asked for more codings than anybody decodes.
    #[error("compress a body {0} times, the limit is {max}", max = CODINGS_MAX)]
    TooMany(usize),
    /// The compressor itself failed.
    #[error("compress a body: {0}")]
    Io(#[source] std::io::Error),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// The coding a script names; k6 wants the exact spelling.
fn named(name: &str) -> Result<Coding, EncodeError> {
    let all = [Coding::Gzip, Coding::Deflate, Coding::Zstd, Coding::Brotli];
    let found = all.into_iter().find(|coding| coding.name() == name);
    found.ok_or_else(|| EncodeError::Unknown(name.to_owned()))
}

impl Coding {
    /// The coding a server names (RFC 9110, 8.4.1).
    fn of_header(name: &[u8]) -> Option<Coding> {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        match name.len() {
            2 if is("br") => Some(Coding::Brotli),
            4 if is("gzip") => Some(Coding::Gzip),
            4 if is("zstd") => Some(Coding::Zstd),
            6 if is("x-gzip") => Some(Coding::Gzip),
            7 if is("deflate") => Some(Coding::Deflate),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Coding::Gzip => "gzip",
            Coding::Deflate => "deflate",
            Coding::Brotli => "br",
            Coding::Zstd => "zstd",
        }
    }

    /// A reader of what `coded` decodes to.
    fn decoder(self, coded: Box<dyn BufRead>) -> std::io::Result<Box<dyn Read>> {
        Ok(match self {
            Coding::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(coded)),
            Coding::Deflate => Box::new(Inflater::new(coded)),
            Coding::Brotli => Box::new(brotli::Decompressor::new(coded, BROTLI_BUFFER_BYTES)),
            Coding::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(coded)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                Box::new(decoder)
            }
        })
    }

    fn encode(self, body: &[u8]) -> std::io::Result<Vec<u8>> {
        let level = flate2::Compression::default();
        match self {
            Coding::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
                encoder.write_all(body)?;
                encoder.finish()
            }
            Coding::Deflate => {
                let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
                encoder.write_all(body)?;
                encoder.finish()
            }
            Coding::Brotli => {
                let mut encoder = brotli::CompressorWriter::new(
                    Vec::new(),
                    BROTLI_BUFFER_BYTES,
                    BROTLI_QUALITY,
                    BROTLI_WINDOW_LOG,
                );
                encoder.write_all(body)?;
                Ok(encoder.into_inner())
            }
            Coding::Zstd => zstd::stream::encode_all(body, zstd::DEFAULT_COMPRESSION_LEVEL),
        }
    }
}

enum DecodeError {
    TooMany,
    TooLarge(u64),
    /// A layer took [`BARREN_BYTES_MAX`] and gave nothing.
    Barren,
    Broken(&'static str, std::io::Error),
}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Error {
        let message = format!("error decompressing response body ({error})");
        let (code, kind) = match error {
            DecodeError::TooLarge(_) => (ErrorCode::BODY_TOO_LARGE, Kind::TooLarge),
            _ => (ErrorCode::DECOMPRESSION, Kind::Coding),
        };
        Error::new(code, Stage::Receive, kind, message)
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::TooMany => write!(f, "more than {CODINGS_MAX} content codings"),
            DecodeError::TooLarge(bytes_max) => write!(f, "decoded body is larger than {bytes_max} bytes"),
            DecodeError::Barren => write!(f, "no data in {BARREN_BYTES_MAX} bytes of coded input"),
            DecodeError::Broken(_, error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                f.write_str("unexpected EOF")
            }
            DecodeError::Broken(coding, error) => write!(f, "{coding}: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &[u8] = b"hello world hello world hello world ";

    fn headers(content_encoding: &str) -> Headers {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {content_encoding}\r\n\r\n");
        Headers::new(head.into(), Default::default())
    }

    fn coded(codings: &str) -> Bytes {
        encode(TEXT, codings).unwrap().unwrap().body.into()
    }

    fn raw_deflate() -> Bytes {
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(TEXT).unwrap();
        encoder.finish().unwrap().into()
    }

    #[test]
    fn bodies_are_decoded() {
        let check = |content_encoding: &str, body: Bytes| {
            let decoded = decode(&headers(content_encoding), &body).unwrap().unwrap();
            assert_eq!(decoded, TEXT, "{content_encoding}");
        };
        for coding in ["gzip", "deflate", "br", "zstd", "gzip, gzip", "deflate, gzip, br, zstd"] {
            check(coding, coded(coding));
        }
        check("GZIP", coded("gzip"));
        check("x-gzip", coded("gzip"));
        check("deflate", raw_deflate());
        check("foo, gzip", coded("gzip"));
        check("gzip , foo", coded("gzip"));
        check("gzip\r\nContent-Encoding: br", coded("gzip, br"));
    }

    #[test]
    fn members_of_a_gzip_body_are_joined() {
        let twice = [&coded("gzip")[..], &coded("gzip")[..]].concat();
        let decoded = decode(&headers("gzip"), &twice.into()).unwrap().unwrap();
        assert_eq!(decoded, TEXT.repeat(2));
    }

    #[test]
    fn what_is_not_coded_is_left_alone() {
        let check = |content_encoding: &str, body: &'static [u8]| {
            let decoded = decode(&headers(content_encoding), &Bytes::from_static(body)).unwrap();
            assert_eq!(decoded, None, "{content_encoding}");
        };
        check("", TEXT);
        check("identity", TEXT);
        check("foo", TEXT);
        check("gzip", b"");
    }

    #[test]
    fn broken_bodies_are_errors() {
        let check = |content_encoding: &str, body: &[u8], expect: &str| {
            let error = decode(&headers(content_encoding), &Bytes::copy_from_slice(body)).unwrap_err();
            assert_eq!((error.code, error.kind), (ErrorCode::DECOMPRESSION, Kind::Coding));
            assert!(error.message.contains(expect), "{content_encoding}: {error}");
        };
        let cut = "error decompressing response body (unexpected EOF)";
        for (coding, expect) in [("gzip", cut), ("deflate", cut), ("zstd", cut), ("br", "(br: Invalid Data)")]
        {
            let whole = coded(coding);
            check(coding, &whole[..whole.len() - 3], expect);
        }
        check("gzip", b"plain text", "(gzip: ");
        check("zstd", b"plain text", "(zstd: ");
        check("br", b"plain text", "(br: ");
        check("gzip", &[&coded("gzip")[..], b"trailing junk"].concat(), "(");
        check("gzip,gzip,gzip,gzip,gzip,gzip", b"x", "more than 5 content codings");
        let mut bad_sum = coded("gzip").to_vec();
        let sum_at = bad_sum.len() - 6;
        bad_sum[sum_at] ^= 1;
        check("gzip", &bad_sum, "(gzip: ");
    }

    #[test]
    fn bombs_are_stopped() {
        let zeros = vec![0; 4 << 20];
        for coding in ["gzip", "deflate", "br", "zstd", "gzip, gzip"] {
            let bomb: Bytes = encode(&zeros, coding).unwrap().unwrap().body.into();
            let bounded = |bytes_max| decode_bounded(&headers(coding), &bomb, bytes_max);
            assert!(matches!(bounded((4 << 20) - 1), Err(DecodeError::TooLarge(_))), "{coding}");
            assert!(matches!(bounded(4 << 20), Ok(Some(_))), "{coding}: the limit itself is allowed");
        }
    }

    #[test]
    fn zstd_windows_are_bounded() {
        // A frame header that asks for a window of 1 GiB: magic, descriptor, window descriptor (exponent 20).
        let frame = Bytes::from_static(b"\x28\xb5\x2f\xfd\x00\xa0\x01\x00\x00");
        assert!(decode(&headers("zstd"), &frame).is_err());
    }

    #[test]
    fn lists_are_named_as_k6_names_them() {
        let check = |codings: &str, expect: &str| {
            assert_eq!(encode(TEXT, codings).unwrap().unwrap().content_encoding, expect);
        };
        check("gzip", "gzip");
        check(" gzip,br ", "gzip, br");
        assert_eq!(encode(TEXT, "").unwrap(), None);
        let unknown = |codings: &str| encode(TEXT, codings).unwrap_err().to_string();
        let words = "supported algorithms are [gzip deflate zstd br]";
        assert_eq!(unknown("gzip, foo"), format!("unknown compression algorithm foo, {words}"));
        assert_eq!(unknown("GZIP"), format!("unknown compression algorithm GZIP, {words}"));
        assert!(matches!(encode(TEXT, "br,br,br,br,br,br"), Err(EncodeError::TooMany(6))));
    }

    /// 30 KB that hold tens of thousands of millions of empty members.
    pub(super) fn barren() -> (Headers, Bytes) {
        let pack = |body: &[u8], coding: &str| encode(body, coding).unwrap().unwrap().body;
        let empty = pack(b"", "gzip");
        let many = pack(&empty.repeat(50_000), "gzip");
        let more = pack(&many.repeat(300), "gzip");
        let body = pack(&more.repeat(300), "zstd");
        assert!(body.len() < 64_000, "{} bytes", body.len());
        (headers("gzip, gzip, gzip, zstd"), body.into())
    }

    #[test]
    fn barren_layers_are_refused() {
        let (headers, body) = barren();
        let error = decode(&headers, &body).unwrap_err();
        assert_eq!((error.code, error.kind), (ErrorCode::DECOMPRESSION, Kind::Coding));
        assert!(error.message.contains("no data in 1048576 bytes of coded input"), "{error}");
    }

    #[test]
    fn a_layer_between_two_is_bounded_as_the_result_is() {
        // Members of one byte each: the layer between is twenty times as large as the result.
        let inner = encode(b"x", "gzip").unwrap().unwrap().body.repeat(10_000);
        let body: Bytes = encode(&inner, "zstd").unwrap().unwrap().body.into();
        let bounded = |bytes_max| decode_bounded(&headers("gzip, zstd"), &body, bytes_max);
        let bytes_max = inner.len() as u64;
        assert!(matches!(bounded(bytes_max), Ok(Some(decoded)) if decoded.len() == 10_000));
        assert!(matches!(bounded(bytes_max - 1), Err(DecodeError::TooLarge(_))));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
        /// A layer that is stopped anywhere goes on there.
        #[test]
        fn slices_change_nothing(
            codings in proptest::sample::select(vec!["gzip", "deflate", "br", "zstd", "br, gzip, zstd, deflate"]),
            seed: u64,
            bytes in 0..300_000_usize,
        ) {
            let mut state = seed | 1;
            let noise = std::iter::repeat_with(|| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 60) as u8
            });
            let body: Vec<u8> = noise.take(bytes).collect();
            let encoded = encode(&body, codings).unwrap().unwrap();
            let encoded = (headers(&encoded.content_encoding), Bytes::from(encoded.body));
            let mut decoding = begin(&encoded.0, &encoded.1, 1 << 20).ok().flatten().expect("a coding");
            let mut slices = 0_u64;
            let decoded = loop {
                // Slices too short for a single step alternate with longer ones.
                let slice = Duration::from_micros(1 << (slices % 12));
                slices += 1;
                match decoding.run(slice) {
                    Ok(Some(decoded)) => break decoded,
                    Ok(None) => {}
                    Err(error) => panic!("{error}"),
                }
            };
            prop_assert!(decoded == body, "{codings} in {slices} slices");
        }
    }

    proptest! {
        #[test]
        fn hostile_bodies_never_panic(coding in 0..4_usize, body: Vec<u8>) {
            let coding = ["gzip", "deflate", "br", "zstd"][coding];
            let _ = decode(&headers(coding), &body.into());
        }

        #[test]
        fn what_was_encoded_is_decoded(body: Vec<u8>, codings in 0..4_usize) {
            let codings = ["gzip", "deflate, br", "zstd", "br, gzip, zstd"][codings];
            let body = Bytes::from(body);
            let encoded = encode(&body, codings).unwrap().unwrap();
            let decoded = decode(&headers(&encoded.content_encoding), &encoded.body.into()).unwrap();
            prop_assert_eq!(decoded, Some(body));
        }
    }
}
