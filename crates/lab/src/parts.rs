//! The processes that a system's service asks for beside itself: workers that come and go, and whatever must be able to end
//! alone. The service writes down their names; the supervisor starts what is new and ends what is no longer there.

use std::path::Path;

use crate::error::LabError;
use crate::state;

/// The file within a lab's directory that names them.
const FILE: &str = "parts.json";

/// A system has no more of them; names beyond are not read.
const PARTS_MAX: usize = 32;

/// The longest name, in bytes.
const NAME_BYTES_MAX: usize = 32;

/// Replaces the list of requested parts, atomically.
pub(crate) fn ask(directory: &Path, names: &[&str]) -> Result<(), LabError> {
    let text = serde_json::to_vec(names).map_err(|error| LabError::Other(error.to_string()))?;
    let (path, next) = (directory.join(FILE), directory.join(".parts.json.next"));
    state::write_privately(&next, &text)?;
    std::fs::rename(&next, &path).map_err(|error| LabError::file("write", &path, error))
}

/// The request; `None` where there is none.
pub(crate) fn asked(directory: &Path) -> Option<Vec<String>> {
    let names: Vec<String> = serde_json::from_slice(&std::fs::read(directory.join(FILE)).ok()?).ok()?;
    Some(names.into_iter().filter(|name| is_name(name)).take(PARTS_MAX).collect())
}

/// A name becomes a file's and an argument.
fn is_name(name: &str) -> bool {
    let is_plain = name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
    is_plain && (1..=NAME_BYTES_MAX).contains(&name.len()) && !name.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_last_is_read_and_odd_names_are_not() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(asked(folder.path()), None);
        ask(folder.path(), &["worker-1"]).expect("it is written");
        let long = "x".repeat(NAME_BYTES_MAX + 1);
        ask(folder.path(), &["worker-1", "canary", "", "../up", "-x", "A", &long]).expect("it is written");
        assert_eq!(asked(folder.path()), Some(vec!["worker-1".to_owned(), "canary".to_owned()]));
        std::fs::write(folder.path().join(FILE), "[\"torn").expect("a file");
        assert_eq!(asked(folder.path()), None);
    }
}
