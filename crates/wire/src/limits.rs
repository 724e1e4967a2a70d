//! The limits, by name. Whatever a server does, no exchange takes more than these.

/// Bytes of one response head (status line and headers), as Go counts them.
pub(crate) const HEAD_BYTES_MAX: usize = 1 << 20;
/// Headers in one response.
pub(crate) const HEADERS_MAX: usize = 1024;
/// Bytes of a body that is kept, where the machine has the memory for it. A body that is not kept may be of any size: it is
/// counted and forgotten.
pub(crate) const BODY_BYTES_MAX: u64 = 256 << 20;
/// Bytes a body may have once decoded. A body that would get larger is an error, found while decoding, so that a
/// few kilobytes of hostile input cannot fill the memory.
pub const DECODED_BYTES_MAX: u64 = 128 << 20;
/// Bytes of a body that take nothing of the budget of all bodies, so that threads do not meet there for small ones: those
/// that may come with one read.
pub(crate) const BODY_FREE_BYTES: u64 = READ_BYTES as u64;
/// Capacity from which the buffer of a body grows by a half instead of twofold.
pub(crate) const BODY_DOUBLED_BYTES_MAX: usize = 4 << 20;
/// Bytes reserved for a body on the word of its `Content-Length` alone.
pub(crate) const BODY_RESERVE_BYTES_MAX: u64 = 1 << 20;
/// Bytes of one chunk-size line with its extensions.
pub(crate) const CHUNK_LINE_BYTES_MAX: usize = 4096;
/// Bytes of the trailers behind the last chunk.
pub(crate) const TRAILER_BYTES_MAX: usize = 64 << 10;
/// Interim (1xx) responses before the final one; Go has the same limit.
pub(crate) const INTERIM_MAX: u32 = 5;
/// Bytes asked from a socket at once.
pub(crate) const READ_BYTES: usize = 64 << 10;
/// Unwanted bytes of a body that are taken off a socket at once.
pub(crate) const SKIPPED_BYTES_MAX: usize = 256 << 10;
/// Reads of one exchange before its neighbours on the thread have their turn: about a third of a millisecond's work.
pub(crate) const READS_PER_TURN_MAX: usize = 16;
/// Bodies up to this size are sent in one buffer with the head.
pub(crate) const INLINE_BODY_BYTES_MAX: usize = 16 << 10;
/// Write buffers kept per thread, and the capacity above which one is not kept.
pub(crate) const SPARE_BUFFERS_MAX: usize = 16;
/// See [`SPARE_BUFFERS_MAX`].
pub(crate) const SPARE_BUFFER_BYTES_MAX: usize = 64 << 10;
/// Bytes of memory that a thread keeps of large bodies that are gone, for the next ones.
pub(crate) const SPARE_BODIES_BYTES_MAX: usize = 16 << 20;
/// Bytes of a body still to come from which the socket is read straight into it. For fewer, one read that may take more than
/// the body costs less.
pub(crate) const DIRECT_BYTES_MIN: u64 = 8 << 10;
/// Names in the lookup cache; when it is full, it is emptied.
pub(crate) const NAMES_MAX: usize = 10_000;
/// TLS sessions a client remembers.
pub(crate) const TLS_SESSIONS_MAX: usize = 8;
/// Bytes of one WebSocket message, decompressed.
pub(crate) const WS_MESSAGE_BYTES_MAX: usize = 64 << 20;
/// Bytes of a compressed WebSocket message that are decompressed at once. They give 2 MiB at most (RFC 1951, 3.2.5).
pub(crate) const WS_INFLATED_AT_ONCE_BYTES_MAX: usize = 2 << 10;
/// Bytes of a larger one that are taken before the neighbours on the thread have their turn: about a millisecond's work.
pub(crate) const WS_INFLATED_PER_TURN_BYTES_MAX: usize = 1 << 20;
/// Fragments of one WebSocket message.
pub(crate) const WS_PIECES_MAX: u32 = 100_000;
/// Bytes that wait to be sent on one WebSocket.
pub(crate) const WS_SEND_QUEUE_BYTES_MAX: usize = 64 << 20;
/// Bytes that wait to be sent on one WebSocket while pings are answered. A server that does not read its pongs gets no more.
pub(crate) const WS_PONGS_QUEUED_BYTES_MAX: usize = 64 << 10;
/// Bytes of a buffer that a silent WebSocket keeps.
pub(crate) const WS_BUFFER_KEPT_BYTES_MAX: usize = 4 << 10;
/// Bytes that are kept of an answer which refuses a WebSocket; k6 keeps as many.
pub(crate) const WS_REFUSAL_BYTES_MAX: usize = 1024;
