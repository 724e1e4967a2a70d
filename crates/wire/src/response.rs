//! One response.

use bytes::Bytes;

use crate::headers::Headers;

/// One response, as it came.
#[derive(Clone, Debug)]
pub struct Response {
    /// Its status code.
    pub status: u16,
    /// `HTTP/1.0`, `HTTP/1.1` or `HTTP/2.0`.
    pub proto: &'static str,
    /// Status line and headers.
    pub headers: Headers,
    /// Its body without its framing; empty where it was not kept.
    pub body: Bytes,
    /// Bytes of the body without its framing, kept or not.
    pub body_bytes: u64,
}

impl Response {
    /// The reason phrase of the status line; perhaps empty, perhaps not UTF-8.
    pub fn reason(&self) -> &[u8] {
        self.headers.reason()
    }
}
