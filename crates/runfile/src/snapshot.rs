//! Copies of runs that may still go on, and remarks on runs that do not.

use std::path::Path;
use std::time::Duration;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, params};

use crate::lock::Lock;
use crate::reader::{Reader, real_file};
use crate::{State, WriteError, seal};

/// Pages copied at once. The writer waits for no more than these.
const PAGES_PER_STEP: i32 = 256;

/// Copies the run at `from` into a new file at `to` that is complete in itself. A live run is not disturbed; its copy ends
/// with the last whole second and is partial.
///
/// # Errors
/// The run cannot be read, or the copy cannot be written.
pub fn snapshot(from: &Path, to: &Path) -> Result<(), WriteError> {
    let reader = Reader::open(from)?;
    reader.check_all()?;
    let created = std::fs::OpenOptions::new().write(true).create_new(true).open(to);
    created.map_err(|source| match source.kind() {
        std::io::ErrorKind::AlreadyExists => WriteError::Exists(to.to_owned()),
        _ => WriteError::Create { path: to.to_owned(), source },
    })?;
    let copied = copy(&reader.connection, to);
    if copied.is_err() {
        // An incomplete copy cannot be read.
        let _ = std::fs::remove_file(to);
    }
    copied.map_err(|source| WriteError::Sqlite { path: to.to_owned(), source })?;
    match reader.seal {
        Some(_) => seal::seal(to).map_err(|source| WriteError::Seal { path: to.to_owned(), source }),
        None => Ok(()),
    }
}

fn copy(from: &Connection, to: &Path) -> rusqlite::Result<()> {
    let mut into = Connection::open_with_flags(to, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let backup = Backup::new(from, &mut into)?;
    loop {
        match backup.step(PAGES_PER_STEP)? {
            StepResult::Done => break,
            StepResult::More => {}
            _ => std::thread::sleep(Duration::from_millis(10)),
        }
    }
    drop(backup);
    into.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))
}

/// Adds a remark to a run that is over.
///
/// # Errors
/// The run still goes on, cannot be read, or cannot be written.
pub fn add_note(path: &Path, wall_unix_ns: i64, text: &str) -> Result<(), WriteError> {
    let reader = Reader::open(path)?;
    change(path, reader, |connection| {
        connection.execute("INSERT INTO note (wall_ns, text) VALUES (?, ?)", params![wall_unix_ns, text])?;
        Ok(())
    })
}

/// Changes a run that is over, and seals it again if it was sealed. Damage that is there already is not sealed.
pub(crate) fn change(
    path: &Path,
    reader: Reader,
    work: impl FnOnce(&mut Connection) -> rusqlite::Result<()>,
) -> Result<(), WriteError> {
    let live = || WriteError::Live(path.to_owned());
    let actual = real_file(path)?;
    // Two changes at once would seal each other's half.
    let lock = Lock::take(&actual).map_err(|error| match error.kind() {
        std::io::ErrorKind::WouldBlock => live(),
        _ => WriteError::Create { path: path.to_owned(), source: error },
    })?;
    if reader.state() == State::Live {
        return Err(live());
    }
    reader.check_all()?;
    let seal = reader.seal.clone();
    drop(reader);
    let sealing = |source| WriteError::Seal { path: path.to_owned(), source };
    if let Some(seal) = &seal {
        seal.remove(&actual).map_err(sealing)?;
    }
    let changed = open_ended(&actual).and_then(|mut connection| work(&mut connection));
    let sealed = seal.map_or(Ok(()), |_| seal::seal(&actual));
    drop(lock);
    changed.map_err(|source| WriteError::Sqlite { path: path.to_owned(), source })?;
    sealed.map_err(sealing)
}

/// Opens a run that is over for adding to it. What writing relies on was checked by its reader.
fn open_ended(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    Ok(connection)
}
