//! Servers with known behaviour, for tests, for the bench and for `plimsoll demo`.
//!
//! Every server runs in a thread of its own on loopback, counts exactly what it sees and stops when it is dropped,
//! so that tests without an async runtime can use it:
//!
//! `let server = testkit::http::start();` … `server.url("/status/503")` … `server.seen().total`

#[cfg(test)]
mod client;
mod connection;
pub mod grpc;
pub mod hold;
pub mod http;
mod http2;
pub mod portal;
pub mod queues;
pub mod reply;
pub mod request;
pub mod seen;
mod server;
pub mod shop;
pub mod stall;
mod timer;
pub mod tls;
pub mod websocket;

pub use connection::Service;
pub use seen::Seen;
pub use server::{HTTP2_STREAMS_MAX, Listen, Server, StartError};
pub use shop::{Shop, ShopConfig};
pub use stall::StallConfig;
pub use tls::Identity;
