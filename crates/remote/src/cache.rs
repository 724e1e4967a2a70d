//! Modules on disk, named by their content; and which content each URL had last.
//!
//! ```text
//! content/<SHA-256 of the bytes>    the bytes
//! urls/<SHA-256 of the URL>         SHA-256 of the bytes, a line break, the URL
//! ```
//!
//! Files appear under their names when they are whole, so any number of processes may share a cache. What is read is hashed
//! again: a damaged file is as good as none.

use std::io;
use std::path::{Path, PathBuf};

use crate::{Hash, MODULE_BYTES_MAX};

/// The cache is held to so many contents; the ones written longest ago go first.
const CONTENTS_MAX: usize = 4_000;

/// The largest entry of a URL: a hash and the URL.
const ENTRY_BYTES_MAX: u64 = 1 << 20;

pub(crate) struct Cache {
    folder: PathBuf,
}

impl Cache {
    pub(crate) fn new(folder: PathBuf) -> Cache {
        Cache { folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The bytes with this hash.
    pub(crate) fn content(&self, hash: &Hash) -> Option<Vec<u8>> {
        let path = self.folder.join("content").join(hash.as_str());
        let bytes = files::read_regular(&path, MODULE_BYTES_MAX).ok()?;
        (Hash::digest(&bytes) == *hash).then_some(bytes)
    }

    /// Returns the module that a URL gave last.
    pub(crate) fn module(&self, url: &str) -> Option<Vec<u8>> {
        let text = String::from_utf8(files::read_regular(&self.url_path(url), ENTRY_BYTES_MAX).ok()?).ok()?;
        let (hash, of) = text.split_once('\n')?;
        (of == url).then(|| self.content(&Hash::parse(hash)?)).flatten()
    }

    /// Keeps what a URL gave.
    pub(crate) fn keep(&self, url: &str, bytes: &[u8]) -> io::Result<()> {
        let hash = Hash::digest(bytes);
        let folder = self.folder.join("content");
        let path = folder.join(hash.as_str());
        if !path.exists() {
            write_whole(&path, bytes)?;
            trim(&folder, CONTENTS_MAX)?;
        }
        write_whole(&self.url_path(url), format!("{hash}\n{url}").as_bytes())
    }

    fn url_path(&self, url: &str) -> PathBuf {
        self.folder.join("urls").join(Hash::digest(url.as_bytes()).as_str())
    }
}

fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut partial = path.as_os_str().to_owned();
    partial.push(format!(".{}.part", std::process::id()));
    let written = std::fs::write(&partial, bytes).and_then(|()| std::fs::rename(&partial, path));
    written.inspect_err(|_| {
        // It is of no use to anybody.
        let _ = std::fs::remove_file(&partial);
    })
}

/// Removes the oldest files beyond `count_max`. One that another process has removed meanwhile is gone, which is what was
/// wanted.
fn trim(folder: &Path, count_max: usize) -> io::Result<()> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if let Ok(modified) = entry.metadata().and_then(|metadata| metadata.modified()) {
            files.push((modified, entry.path()));
        }
    }
    files.sort();
    for (_, path) in &files[..files.len().saturating_sub(count_max)] {
        let _ = std::fs::remove_file(path);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://x.example/a.js";

    #[test]
    fn what_was_kept_is_found_by_url_and_by_hash() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::new(folder.path().join("deep/er"));
        assert_eq!(cache.module(URL), None);
        cache.keep(URL, b"one").expect("it is kept");
        cache.keep(URL, b"two").expect("it is kept");
        assert_eq!(cache.module(URL).as_deref(), Some(&b"two"[..]));
        assert_eq!(cache.content(&Hash::digest(b"one")).as_deref(), Some(&b"one"[..]));
        assert_eq!(cache.module("https://x.example/b.js"), None);
    }

    #[test]
    fn a_damaged_file_is_as_good_as_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::new(folder.path().to_owned());
        cache.keep(URL, b"one").expect("it is kept");
        std::fs::write(folder.path().join("content").join(Hash::digest(b"one").as_str()), "ONE")
            .expect("damaged");
        assert_eq!(cache.module(URL), None);
    }

    #[test]
    fn the_oldest_go_first() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["a", "b", "c"] {
            std::fs::write(folder.path().join(name), name).expect("written");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        trim(folder.path(), 1).expect("trimmed");
        let left: Vec<_> = std::fs::read_dir(folder.path()).expect("listed").flatten().collect();
        assert_eq!(left.iter().map(|it| it.file_name()).collect::<Vec<_>>(), ["c"]);
    }
}
