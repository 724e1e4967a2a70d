//! Errors of a peer that breaks HTTP/1.1 or a limit.

use memchr::memchr;

use crate::error::{Error, ErrorCode, Kind, Stage};

/// An error found while reading a response. It is boxed because errors are rare and large.
pub(crate) type Fault = Box<Error>;

/// An error in a body, or in its meaning.
pub(crate) fn malformed_body(message: impl Into<String>) -> Fault {
    Box::new(Error::new(ErrorCode::OTHER, Stage::Receive, Kind::Malformed, message))
}

/// An error in a head.
pub(crate) fn malformed(message: impl Into<String>) -> Fault {
    let message = message.into();
    let detail = format!("net/http: HTTP/1.x transport connection broken: {message}");
    let error = Error::new(ErrorCode::OTHER, Stage::Receive, Kind::Malformed, message).with_detail(detail);
    Box::new(error)
}

/// A response beyond one of the limits in `limits.rs`.
pub(crate) fn too_large(message: impl Into<String>) -> Fault {
    Box::new(Error::new(ErrorCode::OTHER, Stage::Receive, Kind::TooLarge, message))
}

/// A connection that the peer closed too early.
pub(crate) fn cut(message: impl Into<String>) -> Fault {
    Box::new(Error::new(ErrorCode::OTHER, Stage::Receive, Kind::Cut, message))
}

/// The first line of `bytes`, shortened for a message.
pub(crate) fn first_line(bytes: &[u8]) -> String {
    const SHOWN_BYTES_MAX: usize = 64;
    let line = &bytes[..memchr(b'\n', bytes).unwrap_or(bytes.len())];
    let line = line.trim_ascii_end();
    String::from_utf8_lossy(&line[..line.len().min(SHOWN_BYTES_MAX)]).into_owned()
}
