//! Who writes. A file beside the run's, locked while its writer lives: the kernel takes the lock away from a dead process,
//! so that no heartbeat can lie, and `flock` does not meet the locks that SQLite takes on its own files.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Held while a run is written.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Takes the lock of a run's file.
    pub(crate) fn take(run: &Path) -> io::Result<Lock> {
        let path = path_of(run);
        refuse_other_than_file(&path)?;
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
        match file.try_lock() {
            Ok(()) => Ok(Lock { path, _file: file }),
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Whether a writer holds the lock of a run's file.
    pub(crate) fn is_held(run: &Path) -> bool {
        let path = path_of(run);
        if refuse_other_than_file(&path).is_err() {
            return false;
        }
        let Ok(file) = File::open(path) else { return false };
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Left behind, it only says "not live" to everybody who looks.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Opening a pipe would wait for its other end.
fn refuse_other_than_file(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(facts) if !facts.is_file() => Err(io::Error::other("its lock is not a regular file")),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn path_of(run: &Path) -> PathBuf {
    let mut path = run.as_os_str().to_owned();
    path.push("-lock");
    path.into()
}
