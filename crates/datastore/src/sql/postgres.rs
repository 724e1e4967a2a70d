//! PostgreSQL.

use std::cell::{Cell, RefCell};
use std::error::Error as _;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use futures_util::TryStreamExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::Severity;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage};

use super::dsn::{Encryption, Settings};
use super::postgres_value::{Received, Sent};
use super::{Budget, Executed, Rows, SqlError, Value};
use crate::{BoxStream, Dial, Tls};

/// Timeout of a connection where the data source names none.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Asks a server whether it can encrypt (`SSLRequest`).
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// A handle.
pub(super) struct Postgres {
    settings: Settings,
    dial: Rc<dyn Dial>,
    link: RefCell<Option<Link>>,
    is_closed: Cell<bool>,
}

/// A connection. It ends when this is dropped.
struct Link {
    client: Client,
    driver: AbortHandle,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Postgres {
    pub(super) fn new(settings: Settings, dial: Rc<dyn Dial>) -> Postgres {
        Postgres { settings, dial, link: RefCell::default(), is_closed: Cell::new(false) }
    }

    pub(super) fn secret(&self) -> Option<&str> {
        self.settings.password.as_deref()
    }

    pub(super) fn close(&self) {
        self.is_closed.set(true);
        self.link.borrow_mut().take();
    }

    pub(super) async fn exec(&self, statement: &str, parameters: Vec<Value>) -> Result<Executed, SqlError> {
        let link = self.take_link().await?;
        let affected = if parameters.is_empty() {
            exec_all(&link.client, statement).await
        } else {
            exec_one(&link.client, statement, parameters).await
        };
        let affected = affected.map_err(|error| refused(&error));
        self.put_link(link, &affected);
        Ok(Executed { rows_affected: affected?, last_insert_id: None })
    }

    pub(super) async fn query(&self, statement: &str, parameters: Vec<Value>) -> Result<Rows, SqlError> {
        let link = self.take_link().await?;
        let rows = rows_of(&link.client, statement, parameters).await;
        self.put_link(link, &rows);
        rows
    }

    /// The connection, taken out while it is used: a future that is dropped drops the connection, too.
    async fn take_link(&self) -> Result<Link, SqlError> {
        if self.is_closed.get() {
            return Err(SqlError::Closed);
        }
        let known = self.link.borrow_mut().take().filter(|link| !link.client.is_closed());
        if let Some(link) = known {
            return Ok(link);
        }
        let limit = self.settings.connect_timeout_s.map_or(CONNECT_TIMEOUT, Duration::from_secs);
        timeout(limit, self.connect()).await.unwrap_or_else(|_| {
            let Settings { host, port, .. } = &self.settings;
            Err(SqlError::Dial(format!(
                "dial tcp {host}:{port}: no connection within {limit:?} (i/o timeout)"
            )))
        })
    }

    /// Keeps a connection that can be used again. The rest of a result that is too large would have to be received first.
    fn put_link<T>(&self, link: Link, result: &Result<T, SqlError>) {
        let is_good = !matches!(result, Err(SqlError::Lost(_) | SqlError::TooLarge));
        if is_good && !self.is_closed.get() && !link.client.is_closed() {
            *self.link.borrow_mut() = Some(link);
        }
    }

    async fn connect(&self) -> Result<Link, SqlError> {
        let settings = &self.settings;
        let stream = self.open().await.map_err(SqlError::Dial)?;
        let mut config = Config::new();
        config.user(&settings.user).application_name(&settings.application).ssl_mode(SslMode::Disable);
        if !settings.options.is_empty() {
            config.options(&settings.options);
        }
        if let Some(password) = &settings.password {
            config.password(password);
        }
        if let Some(database) = &settings.database {
            config.dbname(database);
        }
        let connected = config.connect_raw(stream, NoTls).await;
        let (client, connection) = connected.map_err(|error| refused(&error))?;
        let driver = tokio::task::spawn_local(async move {
            // What goes wrong here fails the statement that waits, too.
            let _ = connection.await;
        });
        Ok(Link { client, driver: driver.abort_handle() })
    }

    /// A connection, with TLS where that is asked for.
    async fn open(&self) -> Result<BoxStream, String> {
        let Settings { host, port, encryption, .. } = &self.settings;
        if host.starts_with('/') {
            let path = format!("{host}/.s.PGSQL.{port}");
            let stream = UnixStream::connect(&path).await;
            return Ok(Box::new(stream.map_err(|error| format!("dial unix {path}: {error}"))?));
        }
        let mut stream = self.dial.open(host, *port).await?;
        if *encryption == Encryption::Off {
            return Ok(stream);
        }
        let mut answer = [0];
        let asking = async {
            stream.write_all(&SSL_REQUEST).await?;
            stream.flush().await?;
            stream.read_exact(&mut answer).await
        };
        asking.await.map_err(|error| format!("{host}:{port} does not answer as PostgreSQL does: {error}"))?;
        match (answer[0], encryption) {
            (b'S', encryption) => {
                let accepts_anyone = *encryption != Encryption::Verified;
                self.dial.encrypt(stream, host, &Tls { accepts_anyone, ..Tls::default() }).await
            }
            (_, Encryption::Preferred) => Ok(stream),
            _ => {
                Err("pq: SSL is not enabled on the server; set sslmode=disable to connect without".to_owned())
            }
        }
    }
}

/// Several statements without parameters; the rows of all count.
async fn exec_all(client: &Client, statements: &str) -> Result<u64, tokio_postgres::Error> {
    let mut messages = pin!(client.simple_query_raw(statements).await?);
    let mut affected = 0;
    while let Some(message) = messages.try_next().await? {
        if let SimpleQueryMessage::CommandComplete(rows) = message {
            affected += rows;
        }
    }
    Ok(affected)
}

async fn exec_one(
    client: &Client,
    statement: &str,
    parameters: Vec<Value>,
) -> Result<u64, tokio_postgres::Error> {
    let mut rows = pin!(client.query_typed_raw(statement, typed(parameters)).await?);
    while rows.try_next().await?.is_some() {}
    Ok(rows.rows_affected().unwrap_or(0))
}

async fn rows_of(client: &Client, statement: &str, parameters: Vec<Value>) -> Result<Rows, SqlError> {
    let stream = client.query_typed_raw(statement, typed(parameters)).await;
    let mut stream = pin!(stream.map_err(|error| refused(&error))?);
    let mut rows = Rows::default();
    let mut budget = Budget::new();
    while let Some(row) = stream.try_next().await.map_err(|error| refused(&error))? {
        if rows.columns.is_empty() {
            rows.columns = row.columns().iter().map(|column| column.name().to_owned()).collect();
        }
        let values = (0..row.len()).map(|index| row.try_get::<_, Received>(index).map(|received| received.0));
        let values: Vec<Value> = values.collect::<Result<_, _>>().map_err(|error| refused(&error))?;
        budget.spend(&values)?;
        rows.rows.push(values);
    }
    Ok(rows)
}

/// Parameters whose types the server infers.
fn typed(parameters: Vec<Value>) -> impl ExactSizeIterator<Item = (Sent, Type)> {
    parameters.into_iter().map(|value| (Sent(value), Type::UNKNOWN))
}

/// The server's words, as k6 shows them.
fn refused(error: &tokio_postgres::Error) -> SqlError {
    let Some(words) = error.as_db_error() else {
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        let text = format!("pq: {error}{cause}");
        return if error.is_closed() { SqlError::Lost(text) } else { SqlError::Refused(text) };
    };
    let text = format!("pq: {}", words.message());
    match words.parsed_severity() {
        Some(Severity::Fatal | Severity::Panic) => SqlError::Lost(text),
        _ => SqlError::Refused(text),
    }
}
