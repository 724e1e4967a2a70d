//! The format: its numbers, its tables, and the bytes within blobs.

/// `application_id` of the SQLite file: "Plim" in ASCII.
pub const APPLICATION_ID: i32 = 0x506c_696d;
/// `user_version` of the SQLite file: the newest format this build writes and reads.
pub const FORMAT_VERSION: i64 = 1;
/// What the names of run files end in.
pub const EXTENSION: &str = "plimsoll";
/// No blob or text is larger, compressed or not; what claims to be is refused.
pub const BLOB_BYTES_MAX: usize = 64 << 20;
