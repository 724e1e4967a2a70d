//! Clients of databases and message brokers as load tests need them: one connection per client, no hidden retries, every answer
//! bounded.
//!
//! The crate knows neither JavaScript, metrics, rules for addresses nor how connections are made: a [`Dial`] makes them.
//!
//! * [`amqp`]: brokers of AMQP 0-9-1.
//! * [`mqtt`]: brokers of MQTT 3.1.1.
//! * [`redis`]: Redis 5 and later, alone, behind sentinels or as a cluster.
//! * [`sql`]: MySQL, PostgreSQL and SQLite, with rows as plain [`sql::Value`]s.

pub mod amqp;
pub mod mqtt;
pub mod redis;
pub mod sql;

use futures_util::future::LocalBoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};

/// A connection, with or without TLS around it.
pub trait Stream: AsyncRead + AsyncWrite + Unpin {}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream for S {}

/// Any connection.
pub type BoxStream = Box<dyn Stream>;

/// TLS of one connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tls {
    /// Certificates of trusted authorities, PEM; none means the usual ones.
    pub authorities: Vec<String>,
    /// The client's certificate and its key, PEM.
    pub identity: Option<(String, String)>,
    /// Whether any server is accepted, whatever its certificate.
    pub accepts_anyone: bool,
}

/// Makes connections.
pub trait Dial {
    /// A connection to a host and port.
    ///
    /// The error is a text for the user.
    fn open<'a>(&'a self, host: &'a str, port: u16) -> LocalBoxFuture<'a, Result<BoxStream, String>>;

    /// TLS over a connection to a server called `host`.
    ///
    /// The error is a text for the user.
    fn encrypt<'a>(
        &'a self,
        stream: BoxStream,
        host: &'a str,
        tls: &'a Tls,
    ) -> LocalBoxFuture<'a, Result<BoxStream, String>>;
}
