//! The limits of HTTP/2, by name.

/// Bytes that a server may send before they are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    /// On one stream.
    pub(crate) stream_bytes: u32,
    /// On all streams of one connection.
    pub(crate) connection_bytes: u32,
}

/// Responses that are read as they come. The window of a stream is Go's.
pub(crate) const EXCHANGE_WINDOWS: Windows = Windows { stream_bytes: 4 << 20, connection_bytes: 16 << 20 };

/// Calls whose messages wait for a script: the connection has bytes for the others while 64 of them are not read.
pub(crate) const CALL_WINDOWS: Windows = Windows { stream_bytes: 1 << 20, connection_bytes: 64 << 20 };

/// Bytes that a call takes for sending and that the server does not take yet.
pub(super) const CALL_QUEUE_BYTES_MAX: usize = 64 << 20;
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
