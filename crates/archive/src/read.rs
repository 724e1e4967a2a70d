//! From a tar file to an archive.

use std::collections::BTreeMap;
use std::io::Read;

use tar::EntryType;

use crate::names::{name_of, unescaped, url_of};
use crate::{Archive, ArchiveError, Metadata};

/// An archive may hold this much in all.
pub const ARCHIVE_BYTES_MAX: u64 = 2 << 30;

/// An archive may hold so many entries.
pub const ENTRIES_MAX: usize = 100_000;

/// The largest `metadata.json`.
const METADATA_BYTES_MAX: u64 = 64 << 20;

/// Whether a file's first bytes are a tar file's: the magic of its first header (POSIX.1-1988, `ustar`).
pub fn is_archive(start: &[u8]) -> bool {
    start.get(257..262) == Some(b"ustar")
}

/// Reads an archive that this program or k6 has made.
///
/// # Errors
/// It is none, is damaged, too large, or of a kind that is no longer made.
pub fn read(from: impl Read) -> Result<Archive, ArchiveError> {
    let mut reader = tar::Archive::new(from.take(ARCHIVE_BYTES_MAX));
    let (mut metadata, mut script, mut files) = (None, None, BTreeMap::new());
    let mut bytes_left = ARCHIVE_BYTES_MAX;
    for (count, entry) in reader.entries().map_err(ArchiveError::Read)?.enumerate() {
        let mut entry = entry.map_err(ArchiveError::Read)?;
        if count >= ENTRIES_MAX || entry.size() > bytes_left {
            return Err(ArchiveError::TooLarge);
        }
        bytes_left -= entry.size();
        // A link can only be the script's own to `data`, and that is known from the metadata.
        if !matches!(entry.header().entry_type(), EntryType::Regular | EntryType::Continuous) {
            continue;
        }
        let name = String::from_utf8(entry.path_bytes().into_owned())
            .map_err(|error| ArchiveError::Name(String::from_utf8_lossy(error.as_bytes()).into_owned()))?;
        match name.strip_prefix("./").unwrap_or(&name) {
            "metadata.json" if entry.size() > METADATA_BYTES_MAX => return Err(ArchiveError::TooLarge),
            "metadata.json" => metadata = Some(Metadata::parse(&bytes(&mut entry)?)?),
            "data" => script = Some(bytes(&mut entry)?),
            name => {
                if let Some(url) = url_of(name)? {
                    files.insert(url, bytes(&mut entry)?);
                }
            }
        }
    }
    let mut metadata = metadata.ok_or(ArchiveError::Lacks("metadata.json"))?;
    metadata.filename = unescaped(&metadata.filename);
    metadata.pwd = unescaped(&metadata.pwd);
    // The script is a file like the others, so that its name has to be one, too.
    if let Some(name) = name_of(&metadata.filename)
        && url_of(&name)?.is_none_or(|url| url != metadata.filename)
    {
        return Err(ArchiveError::Name(name.chars().take(200).collect()));
    }
    files.remove(&metadata.filename);
    Ok(Archive { metadata, script: script.ok_or(ArchiveError::Lacks("data"))?, files })
}

/// The size in a header is a claim: memory is taken as bytes come.
fn bytes(entry: &mut impl Read) -> Result<Vec<u8>, ArchiveError> {
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes).map_err(ArchiveError::Read)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tar(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, bytes) in entries {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            // Not through `set_path`, which refuses what is to be tested.
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            builder.append(&header, *bytes).expect("memory takes it");
        }
        builder.into_inner().expect("memory takes it")
    }

    const METADATA: &[u8] = br#"{"type":"js","options":{"vus":2},"filename":"file:///a/s.js","future":[1]}"#;

    #[test]
    fn an_archive_made_by_other_hands() {
        let bytes = tar(&[
            ("./data", b"export default 1"),
            ("file/a/s.js", b"export default 1"),
            ("file/a/b.txt", b"B"),
            ("https/x.example/c.js", b"C"),
            ("./metadata.json", METADATA),
        ]);
        assert!(is_archive(&bytes));
        let archive = read(&bytes[..]).expect("it is one");
        assert_eq!(archive.script, b"export default 1");
        assert_eq!(archive.metadata.options_json, r#"{"vus":2}"#);
        let names: Vec<&String> = archive.files.keys().collect();
        assert_eq!(names, ["file:///a/b.txt", "https://x.example/c.js"]);
    }

    #[track_caller]
    fn check(bytes: &[u8], expect: &str) {
        let error = read(bytes).expect_err("it is no archive").to_string();
        assert!(error.contains(expect), "{error}");
    }

    #[test]
    fn what_is_no_archive_is_said() {
        let whole = tar(&[("metadata.json", METADATA), ("data", &[b'x'; 2000])]);
        check(b"export default function () {}", "read the archive");
        check(b"", "metadata.json");
        check(&whole[..whole.len() - 2500], "read the archive");
        check(&tar(&[("metadata.json", METADATA)]), "no data");
        check(&tar(&[("data", b"")]), "no metadata.json");
        check(&tar(&[("metadata.json", b"{}")]), "type");
        check(&tar(&[("metadata.json", br#"{"type":"wasm","filename":"x","options":{}}"#)]), "wasm");
        check(&tar(&[("metadata.json", METADATA), ("data", b""), ("file/../x", b"")]), "no name");
        check(&tar(&[("scripts/_/s.js", b"")]), "very old");
        for filename in ["file:///../s.js", "file:///a//s.js", "file:///", "https://"] {
            let metadata = format!(r#"{{"type":"js","filename":"{filename}"}}"#);
            check(&tar(&[("metadata.json", metadata.as_bytes()), ("data", b"")]), "no name");
        }
    }

    #[test]
    fn a_size_that_is_a_lie_takes_no_memory() {
        let mut header = tar::Header::new_gnu();
        header.set_path("data").expect("a name");
        header.set_size(ARCHIVE_BYTES_MAX + 1);
        header.set_cksum();
        check(header.as_bytes(), "more than");
        header.set_size(ARCHIVE_BYTES_MAX - 1);
        header.set_cksum();
        check(header.as_bytes(), "read the archive");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(start in prop::collection::vec(any::<u8>(), 0..1500), at in 0usize..1500) {
            let mut bytes = tar(&[("metadata.json", METADATA), ("data", b"x"), ("file/a/b", b"y")]);
            let at = at.min(bytes.len());
            let end = (at + start.len()).min(bytes.len());
            bytes[at..end].copy_from_slice(&start[..end - at]);
            let _ = read(&bytes[..]);
        }
    }
}
