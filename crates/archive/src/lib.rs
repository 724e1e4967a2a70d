//! k6's archives: a script with everything it loads, in one tar file.
//!
//! ```text
//! metadata.json        options, environment, the script's URL
//! data                 the script itself
//! file/srv/x/lib.js    what was read from disk, by absolute path
//! https/host/lib.js    remote modules, by URL
//! ```
//!
//! The member `packages` of `metadata.json` maps imports of packages from `node_modules` to their modules; k6 skips it.
//!
//! k6 writes the script under `file/` once more, as a hard link to `data`. An archive is read whole into memory and nothing
//! of it is ever unpacked to disk, so a name in it can lead nowhere; what it may hold is limited all the same.

mod error;
mod metadata;
mod names;
mod read;
mod write;

use std::collections::BTreeMap;

pub use error::ArchiveError;
pub use metadata::{Metadata, PackageImport};
pub use names::anonymous;
pub use read::{ARCHIVE_BYTES_MAX, ENTRIES_MAX, is_archive, read};
pub use write::write;

/// A script with everything it loads.
#[derive(Clone, Debug, PartialEq)]
pub struct Archive {
    /// Options, environment, and the script's own URL.
    pub metadata: Metadata,
    /// The script.
    pub script: Vec<u8>,
    /// Everything it loads, by URL: `file:///…`, its path as it is, or `https://…`. Without the script itself.
    pub files: BTreeMap<String, Vec<u8>>,
}
