//! A run's file, opened for reading. Nothing in it is trusted.

use std::cell::RefCell;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use model::{MetricId, MetricKind, MetricRegistry, SeriesKey, TagInterner, TagSet, TagSetId, ValueKind};
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use serde_json::{Map, Value};

use crate::beside::{self, JOURNAL, LOG, beside, has_content};
use crate::format::blob::Unpacker;
use crate::format::{APPLICATION_ID, BLOB_BYTES_MAX, FORMAT_OLDEST, FORMAT_VERSION, schema};
use crate::header::{EnvVar, Module};
use crate::lock::Lock;
use crate::redo::Pending;
use crate::seal::{Seal, Tail};
use crate::{Ending, Header, ReadError};

/// Whether a run is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It goes on, and the file grows.
    Live,
    /// Its process ended without saying how: the last second may be missing, and so is everything about its end.
    Partial,
    /// It ended and said how.
    Complete,
}

/// A run's file, opened for reading.
pub struct Reader {
    pub(crate) path: PathBuf,
    pub(crate) connection: Connection,
    pub(crate) unpacker: RefCell<Unpacker>,
    /// Which of the known formats it has.
    pub(crate) format: i64,
    header: Header,
    ending: Option<Ending>,
    state: State,
    registry: Arc<MetricRegistry>,
    tags: Arc<TagInterner>,
    /// By the file's numbers: what they are in `registry` and `tags`.
    metrics: Vec<(MetricId, MetricKind)>,
    tag_sets: Vec<TagSetId>,
    series: Vec<(SeriesKey, MetricKind)>,
    /// The checksums of a finished file; `None` where there are none.
    pub(crate) seal: Option<Arc<Seal>>,
    /// Where a file was copied to because it could not be read in place; deleted with the reader.
    _copy: Option<tempfile::TempDir>,
}

/// The damage of a file that has a seal which cannot be read.
pub(crate) const BROKEN_SEAL: &str =
    "its list of checksums is damaged, so that no number in it can be verified; copy the file again";

/// A metric, a tag set or a series that a file refers to and does not have.
pub(crate) const UNKNOWN_NUMBER: &str = "a row refers to something that is not there";

/// The largest index of a window that is believed: fifteen months of seconds.
pub(crate) const WINDOW_INDEX_MAX: u32 = 40_000_000;

impl Reader {
    /// Opens a run for reading. Works on files and folders that cannot be written, and on what a killed process left. Of a
    /// finished file every table is checked against the checksums of its pages before it is read.
    ///
    /// # Errors
    /// There is no such file, or it is foreign, newer than this build, or damaged.
    pub fn open(path: &Path) -> Result<Reader, ReadError> {
        let actual = real_file(path)?;
        beside::check(&actual)?;
        // Looked at before the ending is: a run that ends between the two is not taken for a dead one.
        let is_locked = Lock::is_held(&actual);
        let open = Opening { path, actual: &actual, is_locked };
        if is_locked || has_content(&actual, LOG) || has_content(&actual, JOURNAL) {
            return match open.open(&actual, OpenFlags::SQLITE_OPEN_READ_ONLY, None, None) {
                Err(ReadError::Sqlite { source, .. }) if cannot_write_beside(&source) => open.copied(),
                opened => opened,
            };
        }
        let failed = |source| ReadError::Open { path: path.to_owned(), source };
        match Tail::read(&actual).map_err(failed)? {
            Tail::None => open.alone(None),
            Tail::Seal(seal) => open.alone(Some(Arc::from(seal))),
            Tail::Pending(pending) => open.redone(pending),
            Tail::Broken => Err(damaged(path, BROKEN_SEAL)),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The facts known when the run began.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How it ended; `None` unless it is [`State::Complete`].
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// Whether it is over, as of opening.
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether its process ended without saying how.
    pub fn is_partial(&self) -> bool {
        self.state == State::Partial
    }

    /// The metrics, with the numbers that the windows use.
    pub fn registry(&self) -> &Arc<MetricRegistry> {
        &self.registry
    }

    /// Whether the file has a series of this metric.
    pub fn has_series(&self, metric: MetricId) -> bool {
        self.series.iter().any(|(key, _)| key.metric == metric)
    }

    /// The tag sets, with the numbers that the windows use; in order of first sight.
    pub fn tags(&self) -> &Arc<TagInterner> {
        &self.tags
    }

    /// The indexes of all windows; empty if there are none.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn range(&self) -> Result<Range<u32>, ReadError> {
        let ends: (Option<u32>, Option<u32>) = self
            .connection
            .query_row("SELECT min(id), max(id) FROM windows", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(|error| self.error(error))?;
        match ends {
            (Some(first), Some(last)) if last <= WINDOW_INDEX_MAX => Ok(first..last + 1),
            (None, None) => Ok(0..0),
            _ => Err(self.corrupt("a window's index is impossibly large")),
        }
    }

    /// The indexes of the windows that begin from `from` until before `to`, both from the run's first window.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn range_between(&self, from: Duration, to: Duration) -> Result<Range<u32>, ReadError> {
        let ns = |duration: Duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
        let ends: (Option<u32>, Option<u32>) = self
            .connection
            .query_row(
                "WITH zero(ns) AS (SELECT start_ns FROM windows ORDER BY id LIMIT 1)
                 SELECT min(id), max(id) FROM windows, zero WHERE start_ns - ns >= ? AND start_ns - ns < ?",
                [ns(from), ns(to)],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .map_err(|error| self.error(error))?;
        match ends {
            (Some(first), Some(last)) => Ok(first..last.saturating_add(1)),
            _ => Ok(0..0),
        }
    }

    /// A row of ours as the file's error.
    pub(crate) fn error(&self, error: rusqlite::Error) -> ReadError {
        let is_denied = error.sqlite_error_code() == Some(ErrorCode::AuthorizationForStatementDenied);
        match self.seal.as_ref().filter(|_| is_denied).and_then(|seal| seal.take_denied()) {
            Some(denied) => denied.of_file(&self.path),
            None => error_of(&self.path, error),
        }
    }

    pub(crate) fn corrupt(&self, what: impl Into<String>) -> ReadError {
        ReadError::Corrupt { path: self.path.clone(), what: what.into() }
    }

    /// All rows of a query, each made a value by `make`.
    pub(crate) fn rows<T>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
        mut make: impl FnMut(&rusqlite::Row<'_>) -> Result<T, RowError>,
    ) -> Result<Vec<T>, ReadError> {
        let mut statement = self.connection.prepare_cached(sql).map_err(|error| self.error(error))?;
        let mut rows = statement.query(params).map_err(|error| self.error(error))?;
        let mut made = Vec::new();
        while let Some(row) = rows.next().map_err(|error| self.error(error))? {
            made.push(make(row).map_err(|error| self.row_error(error))?);
        }
        Ok(made)
    }

    pub(crate) fn row_error(&self, error: RowError) -> ReadError {
        match error {
            RowError::Sqlite(error) => self.error(error),
            RowError::Flaw(what) => self.corrupt(what),
            RowError::Damage(what) => self.corrupt(what),
        }
    }

    /// A metric by the file's number.
    pub(crate) fn metric(&self, number: u32) -> Result<MetricId, RowError> {
        self.metrics.get(number as usize).map(|metric| metric.0).ok_or(RowError::Flaw(UNKNOWN_NUMBER))
    }

    /// A tag set by the file's number.
    pub(crate) fn tag_set(&self, number: u32) -> Result<TagSetId, RowError> {
        self.tag_sets.get(number as usize).copied().ok_or(RowError::Flaw(UNKNOWN_NUMBER))
    }

    /// A series by the file's number.
    pub(crate) fn series(&self, number: u32) -> Result<(SeriesKey, MetricKind), RowError> {
        self.series.get(number as usize).copied().ok_or(RowError::Flaw(UNKNOWN_NUMBER))
    }

    /// All series by the file's numbers.
    pub(crate) fn all_series(&self) -> &[(SeriesKey, MetricKind)] {
        &self.series
    }

    pub(crate) fn unpack(&self, row: &rusqlite::Row<'_>, column: usize) -> Result<Vec<u8>, RowError> {
        let blob = row.get_ref(column)?.as_blob().map_err(|_| RowError::Flaw("a blob is none"))?;
        self.unpacker.borrow_mut().unpack(blob).map_err(RowError::Flaw)
    }

    fn read_facts(&mut self) -> Result<(), ReadError> {
        let run = self.facts("run")?;
        self.header =
            serde_json::from_value(Value::Object(run)).map_err(|error| self.corrupt(error.to_string()))?;
        let ending = self.facts("ending")?;
        if !ending.is_empty() {
            let ending = serde_json::from_value(Value::Object(ending))
                .map_err(|error| self.corrupt(error.to_string()))?;
            self.ending = Some(ending);
        }
        self.header.modules = self.rows("SELECT path, sha256, text FROM module ORDER BY id", [], |row| {
            let text = String::from_utf8(self.unpack(row, 2)?).map_err(|_| "a module is no text")?;
            Ok(Module { path: row.get(0)?, sha256: row.get(1)?, text })
        })?;
        self.header.environment =
            self.rows("SELECT name, value FROM environment ORDER BY id", [], |row| {
                Ok(EnvVar { name: row.get(0)?, value: row.get(1)? })
            })?;
        Ok(())
    }

    fn facts(&self, table: &str) -> Result<Map<String, Value>, ReadError> {
        let rows = self.rows(&format!("SELECT key, value FROM {table}"), [], |row| {
            let value: String = row.get(1)?;
            let value = serde_json::from_str(&value).map_err(|_| "a fact is no JSON")?;
            Ok((row.get::<_, String>(0)?, value))
        })?;
        Ok(rows.into_iter().collect())
    }

    /// Numbers are given anew, since a later build knows more built-in metrics than the one that wrote the file.
    fn read_names(&mut self) -> Result<(), ReadError> {
        self.metrics = self
            .rows("SELECT id, name, kind, contains FROM metric ORDER BY id", [], |row| {
                let (name, kind, contains): (String, String, String) =
                    (row.get(1)?, row.get(2)?, row.get(3)?);
                let kind = kind_named(&kind).ok_or("a metric is of an unknown kind")?;
                let contains = contents_named(&contains).ok_or("a metric is of an unknown unit")?;
                let id =
                    self.registry.register(&name, kind, contains).map_err(|_| "a metric is of two kinds")?;
                Ok((row.get::<_, u32>(0)?, (id, kind)))
            })
            .and_then(|rows| self.dense(rows))?;
        self.tag_sets = self
            .rows("SELECT id, tags FROM tag_set ORDER BY id", [], |row| {
                let tags: String = row.get(1)?;
                let tags: Vec<(String, String)> =
                    serde_json::from_str(&tags).map_err(|_| "a tag set is no list of pairs")?;
                let tags = tags.into_iter().map(|(name, value)| (name.into(), value.into()));
                Ok((row.get::<_, u32>(0)?, self.tags.intern(TagSet::new(tags))))
            })
            .and_then(|rows| self.dense(rows))?;
        self.series = self
            .rows("SELECT id, metric, tag_set FROM series ORDER BY id", [], |row| {
                let number: usize = row.get(1)?;
                let (metric, kind) = *self.metrics.get(number).ok_or(UNKNOWN_NUMBER)?;
                Ok((row.get::<_, u32>(0)?, (SeriesKey { metric, tags: self.tag_set(row.get(2)?)? }, kind)))
            })
            .and_then(|rows| self.dense(rows))?;
        Ok(())
    }

    /// Rows whose numbers are 0, 1, 2, … without a gap, as their writer left them.
    fn dense<T>(&self, rows: Vec<(u32, T)>) -> Result<Vec<T>, ReadError> {
        if rows.iter().enumerate().any(|(place, (number, _))| place != *number as usize) {
            return Err(self.corrupt("numbers have gaps"));
        }
        Ok(rows.into_iter().map(|row| row.1).collect())
    }
}

/// A file that is being opened.
pub(crate) struct Opening<'a> {
    /// As it was named.
    pub(crate) path: &'a Path,
    /// Where it is.
    pub(crate) actual: &'a Path,
    pub(crate) is_locked: bool,
}

impl Opening<'_> {
    /// Opens a file that is all there is, without looking for a log and without writing beside it.
    fn alone(&self, seal: Option<Arc<Seal>>) -> Result<Reader, ReadError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        self.open(&immutable_uri(self.actual), flags, None, seal)
    }

    /// Opens a copy of a file whose process was killed while it brought pages into it.
    fn redone(&self, pending: Pending) -> Result<Reader, ReadError> {
        let failed = |source| ReadError::Open { path: self.path.to_owned(), source };
        let folder = tempfile::tempdir().map_err(failed)?;
        let copy = folder.path().join("run.plimsoll");
        std::fs::copy(self.actual, &copy).and_then(|_| pending.apply(&copy)).map_err(failed)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        self.open(&immutable_uri(&copy), flags, Some(folder), None)
    }

    /// Opens a file whose log or journal needs something beside it that cannot be written there: all are copied to where they
    /// can be read.
    pub(crate) fn copied(&self) -> Result<Reader, ReadError> {
        let others = [LOG, JOURNAL].map(|suffix| (suffix, has_content(self.actual, suffix)));
        if others.iter().all(|(_, has_content)| !has_content) {
            return self.alone(None);
        }
        let open = |source| ReadError::Open { path: self.path.to_owned(), source };
        let folder = tempfile::tempdir().map_err(open)?;
        let copy = folder.path().join("run.plimsoll");
        std::fs::copy(self.actual, &copy).map_err(open)?;
        for (suffix, _) in others.into_iter().filter(|(_, has_content)| *has_content) {
            std::fs::copy(beside(self.actual, suffix), beside(&copy, suffix)).map_err(open)?;
        }
        self.open(&copy, OpenFlags::SQLITE_OPEN_READ_WRITE, Some(folder), None)
    }

    fn open(
        &self,
        actual: &Path,
        flags: OpenFlags,
        copy: Option<tempfile::TempDir>,
        seal: Option<Arc<Seal>>,
    ) -> Result<Reader, ReadError> {
        let path = self.path;
        let failed = |error| error_of(path, error);
        if let Some(seal) = &seal {
            seal.check_schema().map_err(|denied| denied.of_file(path))?;
        }
        let mut connection = Connection::open_with_flags(actual, flags).map_err(failed)?;
        defend(&connection).map_err(failed)?;
        let format = identify(&connection, path)?;
        if let Some(seal) = &seal {
            admit_checked(&mut connection, seal.clone()).map_err(failed)?;
        }
        if self.is_locked {
            // One moment of a growing file, for as long as this reader lives.
            connection.execute_batch("BEGIN").map_err(failed)?;
        }
        let mut reader = Reader {
            path: path.to_owned(),
            connection,
            unpacker: RefCell::new(Unpacker::new()),
            format,
            header: Header::default(),
            ending: None,
            state: State::Partial,
            registry: Arc::default(),
            tags: Arc::default(),
            metrics: Vec::new(),
            tag_sets: Vec::new(),
            series: Vec::new(),
            seal,
            _copy: copy,
        };
        reader.read_facts()?;
        reader.state = match (&reader.ending, self.is_locked) {
            (Some(_), _) => State::Complete,
            (None, true) => State::Live,
            (None, false) => State::Partial,
        };
        reader.read_names()?;
        Ok(reader)
    }
}

/// The file that a path leads to, if it is one.
pub(crate) fn real_file(path: &Path) -> Result<PathBuf, ReadError> {
    let open = |source| ReadError::Open { path: path.to_owned(), source };
    let actual = path.canonicalize().map_err(open)?;
    match std::fs::metadata(&actual).map_err(open)?.is_file() {
        true => Ok(actual),
        false => Err(ReadError::Foreign(path.to_owned())),
    }
}

/// Lets statements read those tables only whose pages match their checksums.
fn admit_checked(connection: &mut Connection, seal: Arc<Seal>) -> rusqlite::Result<()> {
    connection.authorizer(Some(move |context: AuthContext<'_>| match context.action {
        AuthAction::Read { table_name, .. } if !seal.admits(table_name) => Authorization::Deny,
        _ => Authorization::Allow,
    }))
}

fn damaged(path: &Path, what: impl Into<String>) -> ReadError {
    ReadError::Corrupt { path: path.to_owned(), what: what.into() }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Reader")
            .field("path", &self.path)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

/// The error in a row.
#[derive(Debug)]
pub(crate) enum RowError {
    Sqlite(rusqlite::Error),
    Flaw(&'static str),
    /// It does not match its checksum.
    Damage(String),
}

impl From<rusqlite::Error> for RowError {
    fn from(error: rusqlite::Error) -> RowError {
        RowError::Sqlite(error)
    }
}

impl From<&'static str> for RowError {
    fn from(flaw: &'static str) -> RowError {
        RowError::Flaw(flaw)
    }
}

/// Takes away what a hostile file could use: functions in its schema, pages that lie about their cells, huge values.
/// See <https://www.sqlite.org/security.html>.
fn defend(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    let bytes_max = i32::try_from(BLOB_BYTES_MAX).unwrap_or(i32::MAX);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, bytes_max)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.execute_batch("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA query_only = ON;")
}

/// The format of a run that this build knows and that has exactly the tables of that format.
fn identify(connection: &Connection, path: &Path) -> Result<i64, ReadError> {
    let pragma = |name: &str| {
        let value: rusqlite::Result<i64> =
            connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0));
        value.map_err(|error| error_of(path, error))
    };
    if pragma("application_id")? != i64::from(APPLICATION_ID) {
        return Err(ReadError::Foreign(path.to_owned()));
    }
    let found = pragma("user_version")?;
    if found > FORMAT_VERSION {
        return Err(ReadError::Newer { path: path.to_owned(), found, known: FORMAT_VERSION });
    }
    let sqlite = |error| error_of(path, error);
    let has_tables =
        schema::definitions(connection).map_err(sqlite)? == schema::expected(found).map_err(sqlite)?;
    if found < FORMAT_OLDEST || !has_tables {
        let what = "its tables are not those of its format".into();
        return Err(ReadError::Corrupt { path: path.to_owned(), what });
    }
    Ok(found)
}

fn error_of(path: &Path, error: rusqlite::Error) -> ReadError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => ReadError::Foreign(path),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::TooBig | ErrorCode::TypeMismatch) => {
            ReadError::Corrupt { path, what: error.to_string() }
        }
        None => ReadError::Corrupt { path, what: error.to_string() },
        Some(_) => ReadError::Sqlite { path, source: error },
    }
}

/// SQLite's ways to say that it wanted to write beside a file and could not.
fn cannot_write_beside(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

/// A URI that makes SQLite expect no log and write nothing. See <https://www.sqlite.org/uri.html>.
fn immutable_uri(path: &Path) -> PathBuf {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte))
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri.push_str("?immutable=1");
    uri.into()
}

fn kind_named(name: &str) -> Option<MetricKind> {
    [MetricKind::Counter, MetricKind::Gauge, MetricKind::Rate, MetricKind::Trend]
        .into_iter()
        .find(|kind| kind.as_str() == name)
}

fn contents_named(name: &str) -> Option<ValueKind> {
    [ValueKind::Default, ValueKind::Time, ValueKind::Data].into_iter().find(|kind| kind.as_str() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_a_uri() {
        let uri = immutable_uri(Path::new("/a b/ä?x%#.plimsoll"));
        assert_eq!(uri, Path::new("file:/a%20b/%C3%A4%3Fx%25%23.plimsoll?immutable=1"));
    }
}
