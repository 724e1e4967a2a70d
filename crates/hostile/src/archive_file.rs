//! A file that says it is an archive of a script.

use archive::{ArchiveError, read, write};

/// An archive that was read is written as an archive that says the same; nothing in it has a name that leads elsewhere.
pub fn check(bytes: &[u8]) {
    let archive = match read(bytes) {
        Ok(archive) => archive,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let held: usize = archive.files.values().map(Vec::len).sum::<usize>() + archive.script.len();
    assert!(held <= bytes.len(), "more came out than went in");
    for url in archive.files.keys() {
        let path =
            url.strip_prefix("file:///").or_else(|| url.strip_prefix("https://")).expect("a URL of ours");
        let path = path.split(['?', '#']).next().unwrap_or_default();
        assert!(path.split('/').all(|part| !["", ".", ".."].contains(&part)), "{url:?} leads elsewhere");
    }
    let mut written = Vec::new();
    match write(&archive, &mut written) {
        Ok(()) => {}
        // Options are kept as they came; a metadata file cannot hold what is no JSON.
        Err(ArchiveError::Metadata(_)) => return,
        Err(error) => panic!("{error}"),
    }
    let again =
        read(&written[..]).unwrap_or_else(|error| panic!("{archive:?} was written unreadable: {error}"));
    assert_eq!(again, archive);
}
