//! Connections to the database: a pool of them, and the session that a request holds.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use labkit::{Attribute, Metrics, SpanKind, Timed, Trace, of_database};
use model::{Instant, SystemClock};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, NoTls, Row, Statement};

use crate::metrics;

/// Connections of the pool.
pub(crate) const CONNECTIONS_MAX: usize = 8;

/// The connections that requests share.
#[derive(Debug)]
pub(crate) struct Pool {
    url: String,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
    used: AtomicUsize,
    pending: AtomicUsize,
    /// The round trip to the database beyond this machine's own.
    round_trip: Duration,
    metrics: Arc<Metrics>,
}

#[derive(Debug)]
struct Connection {
    client: Client,
    statements: HashMap<String, Statement>,
}

/// A connection that one request holds to its end, with the spans and counts of what it asks.
pub(crate) struct Session<'a> {
    pool: &'a Pool,
    /// There until it is given back.
    connection: Option<Connection>,
    trace: &'a mut Trace,
    _permit: OwnedSemaphorePermit,
}

/// A connection of one's own, outside the pool.
///
/// # Errors
/// The database does not take it.
pub(crate) async fn connect(url: &str) -> Result<Client, Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    // It moves the bytes of the client and ends with it; its errors reach the client's queries.
    tokio::spawn(connection);
    Ok(client)
}

impl Pool {
    pub(crate) fn new(url: &str, round_trip: Duration, metrics: Arc<Metrics>) -> Pool {
        metrics.set(metrics::POOL_MAX, "", CONNECTIONS_MAX as f64);
        Pool {
            url: url.to_owned(),
            idle: Mutex::default(),
            permits: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
            used: AtomicUsize::new(0),
            pending: AtomicUsize::new(0),
            round_trip,
            metrics,
        }
    }

    /// Where connections are counted out.
    pub(crate) fn permits(&self) -> &Arc<Semaphore> {
        &self.permits
    }

    /// A connection, as soon as one is free.
    ///
    /// # Errors
    /// The database does not take a new one.
    pub(crate) async fn session<'a>(&'a self, trace: &'a mut Trace) -> Result<Session<'a>, Error> {
        let permit = self.permit(trace).await;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle.filter(|connection| !connection.client.is_closed()) {
            Some(connection) => connection,
            None => Connection { client: connect(&self.url).await?, statements: HashMap::new() },
        };
        self.gauge(metrics::POOL_USED, self.used.fetch_add(1, Ordering::Relaxed) + 1);
        Ok(Session { pool: self, connection: Some(connection), trace, _permit: permit })
    }

    async fn permit(&self, trace: &mut Trace) -> OwnedSemaphorePermit {
        if let Ok(permit) = self.permits.clone().try_acquire_owned() {
            return permit;
        }
        let began = SystemClock::now();
        self.gauge(metrics::POOL_PENDING, self.pending.fetch_add(1, Ordering::Relaxed) + 1);
        let permit = self.permits.clone().acquire_owned().await.expect("the pool stays open");
        self.gauge(metrics::POOL_PENDING, self.pending.fetch_sub(1, Ordering::Relaxed) - 1);
        let ended = SystemClock::now();
        self.metrics.add(metrics::POOL_WAIT_SECONDS, "", ended.since(began).as_secs_f64());
        let (name, attributes) = ("wait for a connection".into(), Vec::new());
        trace.add(Timed { name, kind: SpanKind::Internal, began, ended, attributes, is_error: false });
        permit
    }

    fn gauge(&self, name: &'static str, value: usize) {
        self.metrics.set(name, "", value as f64);
    }
}

impl Session<'_> {
    /// Asks the database. `name` says what for, in traces.
    ///
    /// # Errors
    /// The database refuses or is gone.
    pub(crate) async fn query(
        &mut self,
        name: &'static str,
        sql: &str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        let began = SystemClock::now();
        if !self.pool.round_trip.is_zero() {
            tokio::time::sleep(self.pool.round_trip).await;
        }
        let answer = match &mut self.connection {
            Some(connection) => connection.query(sql, parameters).await,
            None => Ok(Vec::new()),
        };
        let (metrics, ended) = (&self.pool.metrics, SystemClock::now());
        metrics.add(metrics::QUERIES, "", 1.0);
        metrics.add(metrics::QUERY_SECONDS, "", ended.since(began).as_secs_f64());
        self.trace.add(span(name, sql, began, ended, answer.as_ref().ok().map(Vec::len)));
        answer
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        self.pool.gauge(metrics::POOL_USED, self.pool.used.fetch_sub(1, Ordering::Relaxed) - 1);
        let mut idle = self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // There are never more than permits.
        idle.extend(self.connection.take());
    }
}

impl Connection {
    async fn query(&mut self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Error> {
        // As many as there are texts, which does not depend on requests.
        let statement = match self.statements.get(sql) {
            Some(statement) => statement.clone(),
            None => {
                let statement = self.client.prepare(sql).await?;
                self.statements.insert(sql.to_owned(), statement.clone());
                statement
            }
        };
        self.client.query(&statement, parameters).await
    }
}

fn span(name: &'static str, sql: &str, began: Instant, ended: Instant, rows: Option<usize>) -> Timed {
    let mut attributes = of_database("postgresql", sql.to_owned());
    attributes.push(("db.query.summary", Attribute::Text(name.into())));
    let rows_count = rows.and_then(|rows| i64::try_from(rows).ok());
    attributes.extend(rows_count.map(|count| ("db.response.returned_rows", Attribute::Number(count))));
    Timed { name: name.into(), kind: SpanKind::Client, began, ended, attributes, is_error: rows.is_none() }
}
