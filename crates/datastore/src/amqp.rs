//! AMQP 0-9-1: one connection, a channel per call, bounded messages.
//!
//! Source: AMQP Working Group, "Advanced Message Queuing Protocol Specification, Version 0-9-1", with RabbitMQ's bindings between
//! exchanges.

mod connection;
mod frame;
mod method;
mod settings;

pub use connection::{Connection, Delivery};
pub use method::{Field, Fields, Method, Publication, Reply};
pub use settings::Settings;

/// A call did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AmqpError {
    /// The name of the connection is none. It is not shown, because it may hold a password.
    #[error("{0}")]
    Url(String),
    /// No connection.
    #[error("{0}")]
    Dial(String),
    /// The broker's refusal, in the words of k6's library.
    #[error("Exception ({code}) Reason: {text:?}")]
    Refused {
        /// The reply code.
        code: u16,
        /// The reply text.
        text: String,
        /// Whether the connection is over, too.
        is_over: bool,
    },
    /// The connection ended.
    #[error("{0}")]
    Lost(String),
    /// An argument cannot be sent.
    #[error("{0}")]
    Invalid(String),
}
