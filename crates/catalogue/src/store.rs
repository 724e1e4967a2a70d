//! The catalogue, and what each kind of store must be able to do.

use std::path::{Path, PathBuf};

use crate::bucket::Bucket;
use crate::directory::Directory;
use crate::find::unknown;
use crate::{CatalogueError, FileName, Location, RunReference};

/// Runs that a catalogue may hold. A directory with more is not listed, and the error says so.
pub const LISTED_MAX: usize = 100_000;

/// A run of a catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its file's name.
    pub name: FileName,
    /// Its file's size.
    pub bytes: u64,
    /// Last modification of its file, in nanoseconds since the Unix epoch; 0 where the store does not report it.
    pub(crate) modified_unix_ns: i64,
    /// The store's tag of its content, where it has such a thing.
    pub(crate) version: String,
}

/// A kind of place. Runs are written to a local file first, so that the load never waits for a network.
pub(crate) trait Store: std::fmt::Debug + Send + Sync {
    /// All runs, in order of their start. A place that does not exist yet has none.
    fn list(&self) -> Result<Vec<Entry>, CatalogueError>;

    /// The local file to write a new run to; its directory exists afterwards.
    fn begin(&self, name: &FileName) -> Result<PathBuf, CatalogueError>;

    /// Takes over what [`Store::begin`] led to, complete as it is now. Nothing is visible to others before all of it is.
    fn keep(&self, name: &FileName, path: &Path) -> Result<(), CatalogueError>;

    /// Local files that [`Store::keep`] has not taken over yet, because their run goes on or because it failed.
    fn waiting(&self) -> Vec<PathBuf>;

    /// Where the file is that a process of this machine may still be writing; `None` where all are complete.
    fn local(&self, entry: &Entry) -> Option<PathBuf>;

    /// The run as a local file.
    fn bring(&self, entry: &Entry) -> Result<PathBuf, CatalogueError>;

    /// The run fetched anew; `None` where [`Store::bring`] leads to the run itself and not to a copy.
    fn bring_anew(&self, _entry: &Entry) -> Result<Option<PathBuf>, CatalogueError> {
        Ok(None)
    }

    /// Deletes a run for good.
    fn remove(&self, entry: &Entry) -> Result<(), CatalogueError>;
}

/// Runs, wherever they are kept.
#[derive(Debug)]
pub struct Catalogue {
    location: Location,
    store: Box<dyn Store>,
}

impl Catalogue {
    /// The catalogue at a place. Nothing is made, read or connected to before it is needed. What a bucket's catalogue
    /// needs on this machine is kept below `local`.
    pub fn open(location: Location, local: &Path) -> Catalogue {
        let store: Box<dyn Store> = match &location {
            Location::Directory(path) => Box::new(Directory::new(path.clone())),
            Location::Bucket { bucket, prefix } => Box::new(Bucket::new(bucket, prefix, local)),
        };
        Catalogue { location, store }
    }

    /// The place, in words.
    pub fn place(&self) -> String {
        self.location.to_string()
    }

    /// All runs, in order of their start.
    ///
    /// # Errors
    /// The place cannot be read.
    pub fn list(&self) -> Result<Vec<Entry>, CatalogueError> {
        self.store.list()
    }

    /// Finds the run with this name and returns its file on this machine.
    ///
    /// # Errors
    /// No run has this name, several have, or it cannot be brought here.
    pub fn find(&self, text: &str) -> Result<PathBuf, CatalogueError> {
        let reference = RunReference::parse(text);
        if let RunReference::Path(path) = reference {
            return if path.is_file() { Ok(path) } else { Err(unknown(&path, &self.place())) };
        }
        self.store.bring(&self.choose(&reference)?)
    }

    /// Finds the run that is named in another way than by a path.
    ///
    /// # Errors
    /// The place cannot be read, no run has this name, or several have.
    ///
    /// # Panics
    /// The reference is a path.
    pub fn choose(&self, reference: &RunReference) -> Result<Entry, CatalogueError> {
        reference.choose(&self.list()?, &self.place()).cloned()
    }

    /// A run of [`Catalogue::list`] as a file of this machine.
    ///
    /// # Errors
    /// It cannot be brought here.
    pub fn bring(&self, entry: &Entry) -> Result<PathBuf, CatalogueError> {
        self.store.bring(entry)
    }

    /// A run of [`Catalogue::list`] fetched anew, in place of the copy that [`Catalogue::bring`] leads to; `None` where that is the run
    /// itself.
    ///
    /// # Errors
    /// It cannot be brought here.
    pub fn bring_anew(&self, entry: &Entry) -> Result<Option<PathBuf>, CatalogueError> {
        self.store.bring_anew(entry)
    }

    /// The file of a run that may still be going; `None` where it cannot be, since it was kept elsewhere when it was over.
    pub fn local(&self, entry: &Entry) -> Option<PathBuf> {
        self.store.local(entry)
    }

    /// Where to write a new run.
    ///
    /// # Errors
    /// The directory cannot be created.
    pub fn begin(&self, name: &FileName) -> Result<PathBuf, CatalogueError> {
        self.store.begin(name)
    }

    /// Takes over the file of [`Catalogue::begin`], or the changed file of [`Catalogue::find`].
    ///
    /// # Errors
    /// It cannot be stored; the local file stays.
    pub fn keep(&self, path: &Path) -> Result<(), CatalogueError> {
        let name = path.file_name().and_then(|name| name.to_str()).and_then(FileName::parse);
        // A file under another name was named by its path, and is where it belongs.
        name.map_or(Ok(()), |name| self.store.keep(&name, path))
    }

    /// Files that could not be taken over when their run ended, and those of runs that are still going.
    pub fn waiting(&self) -> Vec<PathBuf> {
        self.store.waiting()
    }

    /// Deletes a run for good.
    ///
    /// # Errors
    /// It cannot be deleted.
    pub fn remove(&self, entry: &Entry) -> Result<(), CatalogueError> {
        self.store.remove(entry)
    }
}

/// Sorts entries by their start. Imported runs can have equal starts, because their source has no finer time: among them the
/// file that was written last is the last run, and what else is equal goes by the id, so that there is one order.
pub(crate) fn in_order(mut entries: Vec<Entry>) -> Vec<Entry> {
    let key = |entry: &Entry| (entry.name.started_unix_ms, entry.modified_unix_ns);
    entries.sort_by(|a, b| key(a).cmp(&key(b)).then_with(|| a.name.id.cmp(&b.name.id)));
    entries
}

#[cfg(test)]
mod tests;
