//! A file that says it is an archive of a script.

use archive::{read, write};

/// An archive that was read and can be written is written as one that says the same; nothing in it has a name that leads
/// elsewhere.
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
    if write(&archive, &mut written).is_err() {
        // A module's URL may have `/../` behind its question mark, which the writer refuses to make a path of.
        return;
    }
    let again =
        read(&written[..]).unwrap_or_else(|error| panic!("{archive:?} was written unreadable: {error}"));
    assert_eq!(again, archive);
}
