//! SQLite. Its calls block, so each handle that is used has a thread.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use rusqlite::types::{Value as Own, ValueRef};
use rusqlite::{Connection, InterruptHandle, OpenFlags, params_from_iter};
use tokio::sync::oneshot;

use super::{Budget, Executed, Rows, SqlError, Value};

/// How long a statement waits for another connection's lock, as k6's driver does.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Statements that wait for the thread: a script waits for each.
const QUEUE_MAX: usize = 4;

/// A handle.
pub(super) struct Sqlite {
    file: String,
    /// `PRAGMA name = value` of each.
    pragmas: Vec<(&'static str, String)>,
    worker: RefCell<Option<Worker>>,
    is_closed: Cell<bool>,
}

type Work = Box<dyn FnOnce(&mut Connection) + Send>;

/// The thread of a handle; it ends when this is dropped.
#[derive(Clone)]
struct Worker {
    work: mpsc::SyncSender<Work>,
    interrupt: Arc<InterruptHandle>,
}

/// Settings behind a file's name, as k6's driver spells them.
const PRAGMAS: &[(&str, &str)] = &[
    ("_busy_timeout", "busy_timeout"),
    ("_timeout", "busy_timeout"),
    ("_foreign_keys", "foreign_keys"),
    ("_fk", "foreign_keys"),
    ("_journal_mode", "journal_mode"),
    ("_journal", "journal_mode"),
    ("_synchronous", "synchronous"),
    ("_sync", "synchronous"),
    ("_cache_size", "cache_size"),
    ("_query_only", "query_only"),
];

impl Sqlite {
    /// # Errors
    /// A setting behind the file's name is unknown.
    pub(super) fn new(data_source: &str) -> Result<Sqlite, SqlError> {
        let (file, settings) = data_source.split_once('?').unwrap_or((data_source, ""));
        let mut pragmas = Vec::new();
        let mut others = Vec::new();
        for setting in settings.split('&').filter(|setting| !setting.is_empty()) {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            match PRAGMAS.iter().find(|(known, _)| *known == name) {
                Some((_, pragma))
                    if value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') =>
                {
                    pragmas.push((*pragma, value.to_owned()));
                }
                Some(_) => return Err(SqlError::Dsn(format!("invalid value of {name}: {value:?}"))),
                None if name.starts_with('_') => {
                    return Err(SqlError::Dsn(format!("{name} is not supported; use PRAGMA in exec()")));
                }
                None => others.push(setting),
            }
        }
        // SQLite itself reads the settings of a `file:` name.
        let is_uri = file.starts_with("file:") && !others.is_empty();
        let file = if is_uri { format!("{file}?{}", others.join("&")) } else { file.to_owned() };
        Ok(Sqlite { file, pragmas, worker: RefCell::default(), is_closed: Cell::new(false) })
    }

    pub(super) fn close(&self) {
        self.is_closed.set(true);
        self.worker.borrow_mut().take();
    }

    pub(super) async fn exec(&self, statement: &str, parameters: Vec<Value>) -> Result<Executed, SqlError> {
        let statement = statement.to_owned();
        self.run(move |connection| {
            let before = connection.total_changes();
            if parameters.is_empty() {
                connection.execute_batch(&statement).map_err(refused)?;
            } else {
                let parameters = own(parameters)?;
                connection.execute(&statement, params_from_iter(parameters)).map_err(refused)?;
            }
            let rows_affected = connection.total_changes() - before;
            Ok(Executed { rows_affected, last_insert_id: Some(connection.last_insert_rowid()) })
        })
        .await
    }

    pub(super) async fn query(&self, statement: &str, parameters: Vec<Value>) -> Result<Rows, SqlError> {
        let statement = statement.to_owned();
        self.run(move |connection| rows_of(connection, &statement, parameters)).await
    }

    /// Does work on the handle's thread. A future that is dropped interrupts it.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<T, SqlError> {
        let worker = self.worker().await?;
        let (sender, receiver) = oneshot::channel();
        let guard =
            Guard { interrupt: worker.interrupt.clone(), is_given_up: Arc::default(), is_done: false };
        let is_given_up = guard.is_given_up.clone();
        let task: Work = Box::new(move |connection| {
            if !is_given_up.load(Ordering::Acquire) {
                // The receiver is gone where the script was cut off.
                let _ = sender.send(work(connection));
            }
        });
        worker.work.send(task).map_err(|_| SqlError::Closed)?;
        let mut guard = guard;
        let result = receiver.await;
        guard.is_done = true;
        result.unwrap_or(Err(SqlError::Closed))
    }

    async fn worker(&self) -> Result<Worker, SqlError> {
        if self.is_closed.get() {
            return Err(SqlError::Closed);
        }
        if let Some(worker) = self.worker.borrow().clone() {
            return Ok(worker);
        }
        let (file, pragmas) = (self.file.clone(), self.pragmas.clone());
        let (sender, receiver) = oneshot::channel();
        let (work, queue) = mpsc::sync_channel::<Work>(QUEUE_MAX);
        let thread = std::thread::Builder::new().name("sqlite".into());
        let spawned = thread.spawn(move || match open(&file, &pragmas) {
            Ok(mut connection) => {
                let _ = sender.send(Ok(connection.get_interrupt_handle()));
                queue.into_iter().for_each(|work| work(&mut connection));
            }
            Err(error) => {
                let _ = sender.send(Err(error));
            }
        });
        spawned.map_err(|error| SqlError::Dial(format!("start a thread for SQLite: {error}")))?;
        let interrupt = receiver.await.unwrap_or(Err(SqlError::Closed))?;
        let worker = Worker { work, interrupt: Arc::new(interrupt) };
        *self.worker.borrow_mut() = Some(worker.clone());
        Ok(worker)
    }
}

/// Interrupts a statement unless it is done.
struct Guard {
    interrupt: Arc<InterruptHandle>,
    is_given_up: Arc<AtomicBool>,
    is_done: bool,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.is_done {
            self.is_given_up.store(true, Ordering::Release);
            self.interrupt.interrupt();
        }
    }
}

fn open(file: &str, pragmas: &[(&'static str, String)]) -> Result<Connection, SqlError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags).map_err(refused)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(refused)?;
    for (name, value) in pragmas {
        connection.pragma_update(None, name, value).map_err(refused)?;
    }
    Ok(connection)
}

fn rows_of(connection: &Connection, statement: &str, parameters: Vec<Value>) -> Result<Rows, SqlError> {
    let mut statement = connection.prepare(statement).map_err(refused)?;
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let is_flag: Vec<bool> =
        statement.columns().map(|column| column.decl_type().is_some_and(is_boolean)).collect();
    let mut found = statement.query(params_from_iter(own(parameters)?)).map_err(refused)?;
    let mut rows = Vec::new();
    let mut budget = Budget::new();
    while let Some(row) = found.next().map_err(refused)? {
        let values = is_flag.iter().enumerate().map(|(index, is_flag)| {
            Ok(match row.get_ref(index).map_err(refused)? {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(number) if *is_flag => Value::Bool(number != 0),
                ValueRef::Integer(number) => Value::Integer(number),
                ValueRef::Real(number) => Value::Float(number),
                ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
                ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
            })
        });
        let values: Vec<Value> = values.collect::<Result<_, SqlError>>()?;
        budget.spend(&values)?;
        rows.push(values);
    }
    Ok(Rows { columns, rows })
}

fn is_boolean(declared: &str) -> bool {
    declared.eq_ignore_ascii_case("boolean") || declared.eq_ignore_ascii_case("bool")
}

fn own(parameters: Vec<Value>) -> Result<Vec<Own>, SqlError> {
    let own = parameters.into_iter().map(|value| {
        Ok(match value {
            Value::Null => Own::Null,
            Value::Bool(flag) => Own::Integer(flag.into()),
            Value::Integer(number) => Own::Integer(number),
            Value::Float(number) => Own::Real(number),
            Value::Text(text) => Own::Text(text),
            Value::Bytes(bytes) | Value::Octets(bytes) => Own::Blob(bytes),
            Value::Time(_) | Value::List(_) => {
                return Err(SqlError::Refused("a parameter is a text, number, boolean or bytes".to_owned()));
            }
        })
    });
    own.collect()
}

fn refused(error: rusqlite::Error) -> SqlError {
    SqlError::Refused(match error {
        rusqlite::Error::SqliteFailure(_, Some(words))
        | rusqlite::Error::SqlInputError { msg: words, .. } => words,
        other => other.to_string(),
    })
}
