//! Runs in a directory of this machine.

use std::io;
use std::path::{Path, PathBuf};

use crate::store::{Store, in_order};
use crate::{CatalogueError, Entry, FileName, LISTED_MAX};

/// A directory; it is made when the first run is written.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
}

impl Directory {
    pub(crate) fn new(path: PathBuf) -> Directory {
        Directory { path }
    }
}

impl Store for Directory {
    fn list(&self) -> Result<Vec<Entry>, CatalogueError> {
        list(&self.path).map_err(|source| CatalogueError::List {
            place: self.path.display().to_string(),
            source: source.into(),
        })
    }

    fn begin(&self, name: &FileName) -> Result<PathBuf, CatalogueError> {
        make(&self.path)?;
        Ok(self.path.join(name.to_string()))
    }

    fn keep(&self, _: &FileName, _: &Path) -> Result<(), CatalogueError> {
        Ok(())
    }

    fn waiting(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn local(&self, entry: &Entry) -> Option<PathBuf> {
        Some(self.path.join(entry.name.to_string()))
    }

    fn bring(&self, entry: &Entry) -> Result<PathBuf, CatalogueError> {
        Ok(self.path.join(entry.name.to_string()))
    }

    fn remove(&self, entry: &Entry) -> Result<(), CatalogueError> {
        let name = entry.name.to_string();
        remove(&self.path, &name).map_err(|source| CatalogueError::Remove { name, source: source.into() })
    }
}

/// Makes a directory that only its owner can read, as the XDG specification asks: runs hold scripts and their results.
pub(crate) fn make(path: &Path) -> Result<(), CatalogueError> {
    let mut builder = std::fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let made = builder.recursive(true).create(path);
    made.map_err(|source| CatalogueError::Make { path: path.to_owned(), source })
}

/// The runs of a directory; one that is not there has none.
pub(crate) fn list(path: &Path) -> io::Result<Vec<Entry>> {
    let files = match std::fs::read_dir(path) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut entries = Vec::new();
    for file in files {
        let file = file?;
        let name = file.file_name();
        let Some(name) = name.to_str().and_then(FileName::parse) else { continue };
        match file.metadata() {
            Ok(facts) if facts.is_file() => {
                let (bytes, modified_unix_ns) = (facts.len(), modified_unix_ns(&facts));
                entries.push(Entry { name, bytes, modified_unix_ns, version: String::new() })
            }
            Ok(_) => {}
            // It was deleted while the others were listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        if entries.len() > LISTED_MAX {
            return Err(io::Error::other(format!("it holds more than {LISTED_MAX} runs; prune them")));
        }
    }
    Ok(in_order(entries))
}

fn modified_unix_ns(facts: &std::fs::Metadata) -> i64 {
    use std::os::unix::fs::MetadataExt;
    facts.mtime().saturating_mul(1_000_000_000).saturating_add(facts.mtime_nsec())
}

/// Deletes a run's file, and after it what stands beside it under a longer name: the log of a run that was killed.
pub(crate) fn remove(directory: &Path, name: &str) -> io::Result<()> {
    std::fs::remove_file(directory.join(name))?;
    for file in std::fs::read_dir(directory)? {
        let file = file?;
        let is_beside = file.file_name().to_str().is_some_and(|beside| beside.starts_with(name));
        if is_beside && file.file_type()?.is_file() {
            std::fs::remove_file(file.path())?;
        }
    }
    Ok(())
}
