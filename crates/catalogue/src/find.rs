//! How people name a run, and which one they mean.

use std::path::{Path, PathBuf};

use crate::file_name::could_begin_an_id;
use crate::{CatalogueError, Entry, SUFFIX};

/// Candidates that are listed when an id is not written far enough.
const CANDIDATES_MAX: usize = 8;

/// A run as the user named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunReference {
    /// `@last`: the run that started last.
    Last,
    /// `@prev`: the one before it.
    Previous,
    /// The beginning of an id.
    Prefix(String),
    /// A file, whether it is in the catalogue or not.
    Path(PathBuf),
}

impl RunReference {
    /// Reads a name. What looks like an id is one; `./ab12` is a file of that name.
    pub fn parse(text: &str) -> RunReference {
        match text {
            "@last" => RunReference::Last,
            "@prev" => RunReference::Previous,
            _ if !text.ends_with(SUFFIX) && could_begin_an_id(text) => {
                RunReference::Prefix(text.to_ascii_lowercase())
            }
            _ => RunReference::Path(text.into()),
        }
    }

    /// The entry that is meant among these, which are in order of their start.
    ///
    /// # Errors
    /// There is none, or there are several.
    ///
    /// # Panics
    /// The reference is a path.
    pub(crate) fn choose<'a>(&self, entries: &'a [Entry], place: &str) -> Result<&'a Entry, CatalogueError> {
        let from_end = |back: usize, text: &str| {
            let position = entries.len().checked_sub(back);
            position.map(|position| &entries[position]).ok_or_else(|| CatalogueError::TooFew {
                text: text.into(),
                place: place.into(),
                count: if entries.is_empty() { "no runs" } else { "only one run" },
            })
        };
        match self {
            RunReference::Last => from_end(1, "@last"),
            RunReference::Previous => from_end(2, "@prev"),
            RunReference::Prefix(prefix) => by_prefix(prefix, entries, place),
            RunReference::Path(path) => unreachable!("{} needs no catalogue", path.display()),
        }
    }
}

fn by_prefix<'a>(prefix: &str, entries: &'a [Entry], place: &str) -> Result<&'a Entry, CatalogueError> {
    let matching: Vec<&Entry> =
        entries.iter().filter(|entry| entry.name.id.as_str().starts_with(prefix)).collect();
    match matching[..] {
        [] => Err(unknown(Path::new(prefix), place)),
        [one] => Ok(one),
        _ => {
            let ids: Vec<&str> =
                matching.iter().rev().take(CANDIDATES_MAX).map(|entry| entry.name.id.as_str()).collect();
            let more = if matching.len() > ids.len() { ", …" } else { "" };
            Err(CatalogueError::Ambiguous {
                text: prefix.into(),
                count: matching.len(),
                candidates: format!("{}{more}", ids.join(", ")),
            })
        }
    }
}

pub(crate) fn unknown(text: &Path, place: &str) -> CatalogueError {
    CatalogueError::Unknown { text: text.display().to_string(), place: place.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FileName, RunId};

    fn entries(ids: &[&str]) -> Vec<Entry> {
        let entry = |(number, id): (usize, &&str)| Entry {
            name: FileName::new(number as i64 * 1_000_000_000, RunId::parse(id).expect("an id")),
            bytes: 1,
            modified_unix_ns: 0,
            version: String::new(),
        };
        ids.iter().enumerate().map(entry).collect()
    }

    #[track_caller]
    fn check(text: &str, ids: &[&str], expect: Result<&str, &str>) {
        let entries = entries(ids);
        let chosen = RunReference::parse(text).choose(&entries, "the shelf");
        let actual = chosen.map(|entry| entry.name.id.to_string()).map_err(|error| error.to_string());
        match expect {
            Ok(id) => assert_eq!(actual.as_deref(), Ok(id), "{text}"),
            Err(part) => {
                assert!(actual.as_ref().is_err_and(|text| text.contains(part)), "{text}: {actual:?}")
            }
        }
    }

    #[test]
    fn runs_are_found_by_age_and_by_the_beginning_of_their_id() {
        let ids = ["ab12cd34", "ab99ffff", "00000000"];
        check("@last", &ids, Ok("00000000"));
        check("@prev", &ids, Ok("ab99ffff"));
        check("ab1", &ids, Ok("ab12cd34"));
        check("AB12CD34", &ids, Ok("ab12cd34"));
        check("0", &ids, Ok("00000000"));
        check("ab", &ids, Err("choose among 2 runs that begin with \"ab\": ab99ffff, ab12cd34;"));
        check("f", &ids, Err("no run in the shelf begins with it"));
        check("@last", &[], Err("no runs"));
        check("@prev", &ids[..1], Err("only one run"));
    }

    #[test]
    fn what_is_no_id_is_a_path() {
        for text in ["./ab12", "x.plimsoll", "ab12cd34ab12cd345", "runs/ab12", "", "@later", "été"] {
            assert_eq!(RunReference::parse(text), RunReference::Path(text.into()));
        }
    }
}
