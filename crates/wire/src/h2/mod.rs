//! HTTP/2 (RFC 9113) on connections whose TLS handshake chose it (ALPN). Requests have no HTTP/2 without TLS, as in k6;
//! the calls of a [`Channel`](crate::Channel) may have it by prior knowledge.
//!
//! The frames are the work of the `h2` crate. Here is what a load generator adds: one [`Link`] per origin and client
//! that many exchanges share, the same phases as HTTP/1.1, and errors in k6's words.

mod call;
mod converse;
mod decode;
mod encode;
mod error;
mod limits;
mod link;
mod links;
mod meter;

pub use call::{Call, CallEvent};
pub(crate) use converse::converse;
pub(crate) use encode::encode;
pub(crate) use limits::{CALL_WINDOWS, EXCHANGE_WINDOWS};
pub(crate) use link::{Link, Slot};
pub(crate) use links::Links;

#[cfg(test)]
pub(crate) mod lies;
#[cfg(test)]
mod tests;
