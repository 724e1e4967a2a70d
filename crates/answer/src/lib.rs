//! Bodies of answers to the program's own requests, within a limit that counts what they are decompressed to.
//!
//! It knows neither the requests nor the meaning of an answer. The limit of the HTTP client counts bytes of the network: a
//! gzip body of 2 MB would take 2 GB. Therefore `clippy.toml` disallows the client's own ways to read a body.

use std::io::{self, Read};

use ureq::{Body, Error};

/// The bytes of a body, at most `bytes_max` of them, on the network and decompressed.
///
/// # Errors
/// The body is larger ([`Error::BodyExceedsLimit`]), its coding is broken, or the connection is.
pub fn read(body: &mut Body, bytes_max: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    // One more than may come: the client's own limit refuses a body that has just as many.
    let limit = bytes_max.saturating_add(1);
    body.with_config().limit(limit).reader().take(limit).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max { Err(Error::BodyExceedsLimit(bytes_max)) } else { Ok(bytes) }
}

/// The text of a body.
///
/// # Errors
/// Those of [`read`], or it is not UTF-8.
pub fn read_text(body: &mut Body, bytes_max: u64) -> Result<String, Error> {
    let text = String::from_utf8(read(body, bytes_max)?);
    text.map_err(|error| Error::Io(io::Error::new(io::ErrorKind::InvalidData, error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn get(path: &str, bytes_max: u64) -> Result<usize, String> {
        let server = testkit::http::start();
        let mut answer = ureq::get(server.url(path)).call().expect("an answer");
        read(answer.body_mut(), bytes_max).map(|bytes| bytes.len()).map_err(|error| error.to_string())
    }

    #[test]
    fn hostile_bodies_are_read_within_their_limit() {
        let check = |path: &str, bytes_max: u64, expect: Option<u64>| {
            let got = get(path, bytes_max);
            match expect {
                Some(bytes) => assert_eq!(got, Ok(bytes as usize), "{path}"),
                None => assert!(got.is_err_and(|error| error.contains("limit")), "{path}"),
            }
        };
        check("/bytes/1000", 1000, Some(1000));
        check("/bytes/1001", 1000, None);
        check("/bomb?mib=4", 4 * MIB, Some(4 * MIB));
        check("/bomb?mib=5", 4 * MIB, None);
        // A thousandth of a gibibyte on the network.
        check("/bomb?mib=1024", 4 * MIB, None);
        assert!(get("/bad-gzip", MIB).is_err());
    }

    #[test]
    fn texts_are_utf8() {
        let text = |bytes: &[u8]| read_text(&mut Body::builder().data(bytes.to_vec()), 100).ok();
        assert_eq!(text("hé".as_bytes()).as_deref(), Some("hé"));
        assert_eq!(text(b"\xff"), None);
    }
}
