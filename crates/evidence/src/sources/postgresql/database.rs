//! The single connection to a database: opened on demand, bounded in time, and read-only.

use std::error::Error as _;
use std::time::Duration;

use model::{Instant, SystemClock};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, Error, NoTls, SimpleQueryMessage, SimpleQueryRow};

use super::tls::Tls;
use crate::answer;
use crate::contract::{CALL_LIMIT, ErrorKind, SourceError};

/// Timeout of connecting.
const CONNECT_LIMIT: Duration = Duration::from_secs(2);

/// Timeout of a query: the server's own limit, plus network time.
const QUESTION_LIMIT: Duration = Duration::from_millis(2_300);

/// Maximum total time of the queries of one call, so that the call ends within [`CALL_LIMIT`].
const QUESTIONS_LIMIT: Duration = Duration::from_secs(6);
const _: () = assert!(CONNECT_LIMIT.as_secs() + QUESTIONS_LIMIT.as_secs() < CALL_LIMIT.as_secs());

/// Options of every session.
const OPTIONS: &str = "-c default_transaction_read_only=on -c statement_timeout=2000 -c lock_timeout=1000";

/// Name of the connection in `pg_stat_activity`.
const APPLICATION_NAME: &str = "plimsoll";

/// A database with its connection.
pub(super) struct Database {
    config: Config,
    /// TLS settings; `None` for unencrypted connections.
    tls: Option<Tls>,
    runtime: Option<Runtime>,
    session: Option<Session>,
    transactions: u64,
    /// Deadline of the call's queries.
    deadline: Instant,
}

/// A connection, and the task that drives it.
struct Session {
    client: Client,
    connection: JoinHandle<Result<(), Error>>,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

impl Database {
    /// Returns an unconnected database.
    pub(super) fn new(mut config: Config, tls: Option<Tls>) -> Database {
        config.application_name(APPLICATION_NAME).options(OPTIONS).connect_timeout(CONNECT_LIMIT);
        Database { config, tls, runtime: None, session: None, transactions: 0, deadline: Instant::ZERO }
    }

    /// Begins a call of the source.
    pub(super) fn begin_call(&mut self) {
        self.deadline = SystemClock::now() + CONNECT_LIMIT + QUESTIONS_LIMIT;
    }

    /// Returns true if it is connected, as far as is known.
    pub(super) fn is_connected(&self) -> bool {
        self.session.as_ref().is_some_and(|session| !session.client.is_closed())
    }

    /// Returns the number of transactions of this source, which the server counts, too.
    pub(super) fn transactions(&self) -> u64 {
        self.transactions
    }

    /// Opens a new connection.
    ///
    /// # Errors
    /// The server is unreachable or refuses the connection.
    pub(super) fn connect(&mut self) -> Result<(), SourceError> {
        self.session = None;
        let runtime = match self.runtime.take() {
            Some(runtime) => runtime,
            None => Builder::new_current_thread()
                .enable_io()
                .enable_time()
                .build()
                .map_err(|error| answer::source_error(&error))?,
        };
        let connected = runtime.block_on(async {
            let session = self.session_of(self.tls.clone());
            timeout(CONNECT_LIMIT, session).await.map_err(|_| late(CONNECT_LIMIT))?
        });

        self.runtime = Some(runtime);
        self.session = Some(connected.map_err(|Failure(error)| error)?);
        Ok(())
    }

    async fn session_of(&self, tls: Option<Tls>) -> Result<Session, Failure> {
        Ok(match tls {
            Some(tls) => {
                let (client, connection) =
                    self.config.connect(tls).await.map_err(|error| self.refused(&error))?;
                Session { client, connection: tokio::spawn(connection) }
            }
            None => {
                let (client, connection) =
                    self.config.connect(NoTls).await.map_err(|error| self.refused(&error))?;
                Session { client, connection: tokio::spawn(connection) }
            }
        })
    }

    /// Converts a failure to connect. If a server requires a password and none is set, the client library fails by itself, without
    /// an error of the server or the network.
    fn refused(&self, error: &Error) -> Failure {
        let is_of_network = error.source().is_some_and(|cause| cause.is::<std::io::Error>());
        let kind = match error.as_db_error() {
            Some(error) => kind_of(error.code(), error.routine()),
            None if self.config.get_password().is_none() && !is_of_network && !error.is_closed() => {
                ErrorKind::Unauthenticated
            }
            None => ErrorKind::Other,
        };
        Failure(SourceError { kind, ..answer::source_error(error) })
    }

    /// Returns the rows of a query.
    ///
    /// # Errors
    /// The server does not respond in time, refuses the query, or closed the connection.
    pub(super) fn rows(&mut self, sql: &str) -> Result<Vec<SimpleQueryRow>, SourceError> {
        Ok(self.sets(sql)?.into_iter().next().unwrap_or_default())
    }

    /// Returns the rows of several queries sent at once.
    ///
    /// # Errors
    /// As of [`Database::rows`].
    pub(super) fn sets(&mut self, sql: &str) -> Result<Vec<Vec<SimpleQueryRow>>, SourceError> {
        let (Some(runtime), Some(session)) = (&self.runtime, &self.session) else {
            return Err(SourceError::new("not connected to the database"));
        };
        self.transactions += 1;
        let limit = self.deadline.since(SystemClock::now()).min(QUESTION_LIMIT);
        let asked = runtime.block_on(async {
            let answer = session.client.simple_query(sql);
            Ok::<_, Failure>(timeout(limit, answer).await.map_err(|_| late(limit))??)
        });
        let messages = asked.map_err(|Failure(error)| {
            // Otherwise the late response would be taken for that of the next query.
            self.session = None;
            error
        })?;
        let mut sets = vec![Vec::new()];
        for message in messages {
            match message {
                SimpleQueryMessage::Row(row) => {
                    if let Some(set) = sets.last_mut() {
                        set.push(row);
                    }
                }
                SimpleQueryMessage::CommandComplete(_) => sets.push(Vec::new()),
                _ => {}
            }
        }
        Ok(sets)
    }
}

/// A failure, from errors of the client library and timeouts.
struct Failure(SourceError);

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure(answer::source_error(&error))
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Failure {
        Failure(error)
    }
}

/// Returns the class of a refusal (PostgreSQL, appendix A: class 28). The server has one SQLSTATE for roles that do not exist and
/// for hosts that no line of `pg_hba.conf` admits; the routine distinguishes them.
fn kind_of(code: &SqlState, routine: Option<&str>) -> ErrorKind {
    match routine {
        Some("ClientAuthentication") if *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            ErrorKind::HostRefused
        }
        _ if [SqlState::INVALID_PASSWORD, SqlState::INVALID_AUTHORIZATION_SPECIFICATION].contains(code) => {
            ErrorKind::Unauthenticated
        }
        _ => ErrorKind::Other,
    }
}

fn late(limit: Duration) -> Failure {
    Failure(SourceError::new(format!("the database did not respond within {:.1} s", limit.as_secs_f64())))
}

/// Returns the text in a column; empty if it is NULL.
pub(super) fn text(row: &SimpleQueryRow, column: usize) -> &str {
    row.try_get(column).ok().flatten().unwrap_or_default()
}

/// Returns the number in a column, if there is one.
pub(super) fn number(row: &SimpleQueryRow, column: usize) -> Option<f64> {
    text(row, column).parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_classified_by_sqlstate_and_routine() {
        let check = |code: &SqlState, routine: &str, expect: ErrorKind| {
            assert_eq!(kind_of(code, Some(routine)), expect, "{code:?} {routine}");
        };
        check(&SqlState::INVALID_PASSWORD, "auth_failed", ErrorKind::Unauthenticated);
        let refused = SqlState::INVALID_AUTHORIZATION_SPECIFICATION;
        check(&refused, "InitializeSessionUserId", ErrorKind::Unauthenticated);
        check(&refused, "ClientAuthentication", ErrorKind::HostRefused);
        check(&SqlState::TOO_MANY_CONNECTIONS, "InitProcess", ErrorKind::Other);
    }
}
