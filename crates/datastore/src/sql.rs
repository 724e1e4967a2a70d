//! SQL databases: statements and their rows, over one connection per handle that is opened when it is first used.

mod dsn;
mod mysql;
mod numeric;
mod postgres;
mod postgres_value;
mod sqlite;

use std::rc::Rc;

pub use self::mysql::CUSTOM_TLS;
use crate::{Dial, Tls};

/// Bytes of one result, with 32 for each of its values. A script that reads more asks for it in parts.
const RESULT_BYTES_MAX: usize = 64 << 20;

/// Cost of a value in memory, beside its bytes.
const VALUE_BYTES: usize = 32;

/// Names of drivers.
pub const DRIVERS: &[&str] = &["mysql", "postgres", "sqlite3"];

/// A value in a row, or a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `NULL`
    Null,
    /// A boolean.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Another number.
    Float(f64),
    /// A text; also decimals, UUIDs, JSON, intervals and times of the day.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Bytes of a database that does not separate texts from them.
    Octets(Vec<u8>),
    /// A date or a time, in milliseconds since 1970 (UTC).
    Time(f64),
    /// An array.
    List(Vec<Value>),
}

impl Value {
    fn bytes(&self) -> usize {
        VALUE_BYTES
            + match self {
                Value::Text(text) => text.len(),
                Value::Bytes(bytes) | Value::Octets(bytes) => bytes.len(),
                Value::List(values) => values.iter().map(Value::bytes).sum(),
                _ => 0,
            }
    }
}

/// Result of a statement without rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executed {
    /// Rows that were inserted, changed or deleted.
    pub rows_affected: u64,
    /// Number of the row inserted last, where the database reports it.
    pub last_insert_id: Option<i64>,
}

/// Result of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Names of the columns; none where there are no rows.
    pub columns: Vec<String>,
    /// One value per column each.
    pub rows: Vec<Vec<Value>>,
}

/// A statement without a result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SqlError {
    /// There is no such driver.
    #[error("unknown driver {0:?}; use mysql, postgres or sqlite3")]
    Driver(String),
    /// The data source name is none. It is not shown, because it may hold a password.
    #[error("invalid data source name: {0}")]
    Dsn(String),
    /// No connection.
    #[error("{0}")]
    Dial(String),
    /// The database's own words, after its driver's prefix.
    #[error("{0}")]
    Refused(String),
    /// The connection ended.
    #[error("{0}")]
    Lost(String),
    /// The result is too large.
    #[error("the result exceeds {} MiB; select fewer rows, with LIMIT", RESULT_BYTES_MAX >> 20)]
    TooLarge,
    /// The handle was closed.
    #[error("sql: database is closed")]
    Closed,
}

/// A handle of a database.
pub struct Database(Kind);

enum Kind {
    Mysql(Box<mysql::Mysql>),
    Postgres(Box<postgres::Postgres>),
    Sqlite(sqlite::Sqlite),
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database").field("is_local", &self.is_local()).finish_non_exhaustive()
    }
}

impl Database {
    /// A handle that connects when it is first used. `tls` are the settings that a data source of MySQL names [`CUSTOM_TLS`].
    ///
    /// # Errors
    /// The driver is unknown, or the name of the data source is none.
    pub fn open(
        driver: &str,
        data_source: &str,
        tls: Option<&Tls>,
        dial: Rc<dyn Dial>,
    ) -> Result<Database, SqlError> {
        let kind = match driver {
            "mysql" => {
                let settings = mysql::Settings::parse(data_source, tls).map_err(SqlError::Dsn)?;
                Kind::Mysql(Box::new(mysql::Mysql::new(settings, dial)))
            }
            "postgres" => {
                let settings = dsn::Settings::parse(data_source).map_err(SqlError::Dsn)?;
                Kind::Postgres(Box::new(postgres::Postgres::new(settings, dial)))
            }
            "sqlite3" => Kind::Sqlite(sqlite::Sqlite::new(data_source)?),
            other => return Err(SqlError::Driver(other.to_owned())),
        };
        Ok(Database(kind))
    }

    /// Whether it needs no connection to a server.
    pub fn is_local(&self) -> bool {
        matches!(self.0, Kind::Sqlite(_))
    }

    /// Whether a date is [`Value::Time`] as a parameter; otherwise it is a text of ISO 8601.
    pub fn takes_times(&self) -> bool {
        matches!(self.0, Kind::Mysql(_))
    }

    /// The password, which logs and run files must not show.
    pub fn secret(&self) -> Option<&str> {
        match &self.0 {
            Kind::Mysql(database) => database.secret(),
            Kind::Postgres(database) => database.secret(),
            Kind::Sqlite(_) => None,
        }
    }

    /// Executes statements that return no rows. Where there are no parameters, there may be several statements.
    ///
    /// A future that is dropped ends the statement and, with a server, the connection.
    ///
    /// # Errors
    /// See [`SqlError`].
    pub async fn exec(&self, statement: &str, parameters: Vec<Value>) -> Result<Executed, SqlError> {
        match &self.0 {
            Kind::Mysql(database) => database.exec(statement, parameters).await,
            Kind::Postgres(database) => database.exec(statement, parameters).await,
            Kind::Sqlite(database) => database.exec(statement, parameters).await,
        }
    }

    /// Executes a query.
    ///
    /// A future that is dropped ends the query and, with a server, the connection.
    ///
    /// # Errors
    /// See [`SqlError`].
    pub async fn query(&self, statement: &str, parameters: Vec<Value>) -> Result<Rows, SqlError> {
        match &self.0 {
            Kind::Mysql(database) => database.query(statement, parameters).await,
            Kind::Postgres(database) => database.query(statement, parameters).await,
            Kind::Sqlite(database) => database.query(statement, parameters).await,
        }
    }

    /// Closes it; later statements fail.
    pub fn close(&self) {
        match &self.0 {
            Kind::Mysql(database) => database.close(),
            Kind::Postgres(database) => database.close(),
            Kind::Sqlite(database) => database.close(),
        }
    }
}

/// Counts what a result takes.
struct Budget(usize);

impl Budget {
    fn new() -> Budget {
        Budget(RESULT_BYTES_MAX)
    }

    fn spend(&mut self, row: &[Value]) -> Result<(), SqlError> {
        let bytes = row.iter().map(Value::bytes).sum();
        self.0 = self.0.checked_sub(bytes).ok_or(SqlError::TooLarge)?;
        Ok(())
    }
}
