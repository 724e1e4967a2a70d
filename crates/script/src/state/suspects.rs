//! Warnings that a run has given because of values that are missing in URLs.

use std::collections::HashSet;
use std::sync::Mutex;

/// Requests of a run whose URL is looked into. Each costs a stack trace and a search in the script.
const LOOKS_MAX: usize = 100;

/// Places that a run has been warned of.
#[derive(Debug, Default)]
pub(crate) struct Suspects {
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    looks: usize,
    texts: HashSet<String>,
}

impl Suspects {
    /// Counts a look at a URL; returns false after the last one that is allowed.
    pub(crate) fn may_look(&self) -> bool {
        let mut seen = self.seen.lock().expect("no panic inside");
        seen.looks += 1;
        seen.looks <= LOOKS_MAX
    }

    /// Whether the run has not been warned with this text yet.
    pub(crate) fn is_new(&self, text: &str) -> bool {
        self.seen.lock().expect("no panic inside").texts.insert(text.to_owned())
    }
}
