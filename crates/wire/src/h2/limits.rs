//! The limits of HTTP/2, by name.

/// Bytes that a server may send on one stream before they are read; Go's.
pub(super) const STREAM_WINDOW_BYTES: u32 = 4 << 20;
/// Bytes that a server may send on all streams of one connection before they are read.
pub(super) const CONNECTION_WINDOW_BYTES: u32 = 16 << 20;
/// Bytes of all headers of one response, as HTTP/2 counts them; the same as in HTTP/1.1.
pub(super) const HEADERS_BYTES_MAX: u32 = crate::limits::HEAD_BYTES_MAX as u32;
/// Reads of one connection before its neighbours on the thread have their turn. A read has up to 16 KiB, which may hold a
/// thousand frames.
pub(super) const READS_PER_TURN_MAX: u32 = 4;
/// Bytes of one frame that a server may send; the least that HTTP/2 allows, and the most that is held before it is whole.
pub(super) const FRAME_BYTES_MAX: u32 = 16 << 10;
/// Streams of one connection that are remembered after they were reset, because frames may still come for them.
pub(super) const RESET_STREAMS_MAX: usize = 32;
/// Streams of one connection that we reset because the server broke a rule, before the connection ends.
pub(super) const FAULTY_STREAMS_MAX: usize = 1024;
/// Connections that a client keeps; more are used once and closed.
pub(super) const LINKS_MAX: usize = 100;
