//! The lock file: which bytes each URL stood for when it was written. The shape of the part `remote` is Deno's.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Hash, RemoteError};

/// The file's name; it lies beside the script.
pub const LOCK_NAME: &str = "plimsoll.lock";

/// The version of the file's format.
const VERSION: u32 = 1;

/// The largest lock file that is read.
const LOCK_BYTES_MAX: u64 = 16 << 20;

/// Hashes by URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock(BTreeMap<String, Hash>);

#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    #[serde(default)]
    remote: BTreeMap<String, String>,
}

impl Lock {
    /// Reads a lock file; `None` when there is none.
    ///
    /// # Errors
    /// There is one, and it cannot be read or understood.
    pub fn read(path: &Path) -> Result<Option<Lock>, RemoteError> {
        let bad = |why: String| RemoteError::BadLock { path: path.to_owned(), why };
        let bytes = match files::read_regular(path, LOCK_BYTES_MAX) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| bad(error.to_string()))?,
        };
        Lock::parse(&bytes).map(Some).map_err(bad)
    }

    fn parse(bytes: &[u8]) -> Result<Lock, String> {
        let file: File = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if file.version != VERSION {
            return Err(format!("it has version {}, and this program reads version {VERSION}", file.version));
        }
        let entry = |(url, hash): (String, String)| match Hash::parse(&hash) {
            Some(hash) => Ok((url, hash)),
            None => Err(format!("the entry of {url} is not a SHA-256 hash")),
        };
        file.remote.into_iter().map(entry).collect::<Result<_, _>>().map(Lock)
    }

    /// Writes it. It is seen under its name when all of it is there.
    ///
    /// # Errors
    /// The system refuses.
    pub fn write(&self, path: &Path) -> Result<(), RemoteError> {
        let failed = |source| RemoteError::WriteLock { path: path.to_owned(), source };
        let mut partial = path.as_os_str().to_owned();
        partial.push(".part");
        std::fs::write(&partial, self.text()).map_err(failed)?;
        std::fs::rename(&partial, path).map_err(failed)
    }

    fn text(&self) -> String {
        let remote = self.0.iter().map(|(url, hash)| (url.clone(), hash.to_string())).collect();
        let file = File { version: VERSION, remote };
        let text = serde_json::to_string_pretty(&file).expect("the file is texts and a number");
        format!("{text}\n")
    }

    /// The hash of a URL.
    pub fn get(&self, url: &str) -> Option<&Hash> {
        self.0.get(url)
    }

    /// Sets the hash of a URL.
    pub fn set(&mut self, url: &str, hash: Hash) {
        self.0.insert(url.to_owned(), hash);
    }

    /// All of it, and over it all of another.
    pub fn with(&self, other: &Lock) -> Lock {
        let mut both = self.0.clone();
        both.extend(other.0.clone());
        Lock(both)
    }

    /// The URLs in it.
    pub fn urls(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// How many URLs are in it.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut lock = Lock::default();
        lock.set("https://x.example/b.js", Hash::digest(b"b"));
        lock.set("https://x.example/a.js?v=1", Hash::digest(b"a"));
        assert_eq!(Lock::parse(lock.text().as_bytes()), Ok(lock.clone()));
        let at = |part: &str| lock.text().find(part);
        assert!(at("a.js") < at("b.js"), "in order, so that a change is one line of a diff");
    }

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let error = Lock::parse(text.as_bytes()).expect_err("it is no lock file");
        assert!(error.contains(expect), "{error}");
    }

    #[test]
    fn what_is_no_lock_file_is_said() {
        check("", "EOF");
        check("{}", "version");
        check(r#"{"version": 2}"#, "version 2");
        check(r#"{"version": 1, "remote": {"https://x/": "sha"}}"#, "https://x/");
    }
}
