//! The limits of HTTP/2, by name.

/// Bytes that a server may send on one stream before they are read; Go's.
pub(super) const STREAM_WINDOW_BYTES: u32 = 4 << 20;
/// Bytes that a server may send on all streams of one connection before they are read.
pub(super) const CONNECTION_WINDOW_BYTES: u32 = 16 << 20;
/// Bytes of all headers of one response, as HTTP/2 counts them; the same as in HTTP/1.1.
pub(super) const HEADERS_BYTES_MAX: u32 = crate::limits::HEAD_BYTES_MAX as u32;
/// Connections that a client keeps; more are used once and closed.
pub(super) const LINKS_MAX: usize = 100;
