//! The format: its numbers, its tables, and the bytes within blobs.

pub(crate) mod blob;
pub(crate) mod block;
pub(crate) mod cell;
pub(crate) mod chunk;
pub(crate) mod points;
pub(crate) mod schema;
pub(crate) mod values;

/// `application_id` of the SQLite file: "Plim" in ASCII.
pub const APPLICATION_ID: i32 = 0x506c_696d;
/// `user_version` of the SQLite file: the newest format this build writes and reads.
pub const FORMAT_VERSION: i64 = 4;
/// The oldest format this build reads.
pub(crate) const FORMAT_OLDEST: i64 = 1;
/// The format whose chunks and roll-ups hold one series each, cell by cell.
pub(crate) const FORMAT_OF_CELLS: i64 = 1;
/// The first format that has evidence: signals of servers, records, gaps and traces.
pub(crate) const FORMAT_OF_EVIDENCE: i64 = 3;
/// The first format with checksums: of each block, and of each page of a finished file.
pub(crate) const FORMAT_OF_CHECKSUMS: i64 = 4;
/// The ending of run files' names.
pub const EXTENSION: &str = "plimsoll";
/// No blob or text is larger, compressed or not; what claims to be is refused.
pub const BLOB_BYTES_MAX: usize = 64 << 20;

/// Series that share a block: enough that what columns cost once is little, few enough that their sums are.
pub(crate) const SERIES_PER_BLOCK: u32 = 128;
/// Windows that share a chunk.
pub(crate) const MINUTE: u32 = 60;
/// Windows that share the finest roll-up; each minute has six of them.
pub(crate) const TEN: u32 = 10;
/// Windows that share a roll-up between the minute's and the ten minutes': it halves what a sum reads at its two ends.
pub(crate) const FIVE_MINUTES: u32 = 300;
/// Windows that share the coarsest roll-up but one.
pub(crate) const TEN_MINUTES: u32 = 600;
/// The roll-up of the whole run has this in the place of its number of windows.
pub(crate) const WHOLE: u32 = 0;
