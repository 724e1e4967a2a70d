//! MQTT 3.1.1: one connection per client, no reconnection of its own, bounded messages and queues.
//!
//! Source: OASIS Standard "MQTT Version 3.1.1".

mod packet;
mod session;

pub use packet::{Settings, Will};
pub use session::{Event, Session};

/// A client could not do something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MqttError {
    /// The server refuses the connection, with a return code (3.2.2.3).
    #[error("{}", packet::refusal(*.0))]
    Refused(u8),
    /// The connection ended.
    #[error("{0}")]
    Lost(String),
    /// The server sends what is no packet, or one that is too large.
    #[error("{0}")]
    Malformed(&'static str),
    /// An argument cannot be sent.
    #[error("{0}")]
    Invalid(String),
    /// The server refuses a subscription.
    #[error("the server refuses the subscription to {0:?}")]
    NotSubscribed(String),
    /// Too much waits for the server.
    #[error("too much waits to be sent: the server does not read as fast as the script publishes")]
    Full,
    /// There is no connection.
    #[error("not connected")]
    Closed,
}
