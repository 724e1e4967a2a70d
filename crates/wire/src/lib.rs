//! HTTP/1.1 and HTTP/2 client that sends one request, receives one response, and time-stamps every phase.
//!
//! The crate knows neither JavaScript nor metrics. A refused connection, a cut body and a certificate for another name
//! are values ([`Error`]) with a [`Kind`] and the [`Stage`] they happened in, so that the caller decides how to count them.
//!
//! * A [`Target`] is a checked absolute URL, a [`Request`] one request to it.
//! * [`Shared`] exists once per process: options, address rules, name cache, TLS configurations.
//! * A [`Client`] exists once per VU: its idle connections, its TLS sessions, its byte counters. It lives on one
//!   thread. [`Client::exchange`] performs *one* request and returns *one* [`Exchange`]: no redirects, no cookies, no
//!   credentials and no decompression. Like Go's transport it retries once where that is safe: the server closed a
//!   reused connection before the first byte of the response, or refused the request unprocessed (HTTP/2). Each retry
//!   is counted in [`Exchange::repeats`], so that requests and retries add up to the requests that the server received.
//! * [`fetch`] performs a script's request: exchanges with a [`CookieJar`], redirects, [`Auth`] and decoding, each
//!   exchange reported to the caller.
//! * [`Client::upgrade`] opens a [`WebSocket`].
//! * A [`Tap`] takes the body of a response while it comes; an [`EventStream`] finds server-sent events in it.
//! * [`Client::open_stream`] opens a connection for another protocol, [`Client::encrypt`] begins TLS over one.
//! * A [`Channel`] is an HTTP/2 connection for calls that stream in both directions and end with trailers, as gRPC's do.

mod arrival;
mod auth;
mod budget;
mod buffers;
mod channel;
mod channel_tls;
mod chunked;
mod client;
mod client_key;
mod coding;
mod connection;
mod converse;
mod cookies;
mod decode;
mod dial;
mod digest;
mod dns;
mod encode;
mod error;
mod escape;
mod event_stream;
mod exchange;
mod fault;
mod fetch;
mod form;
mod h2;
mod head;
mod headers;
mod idle;
mod keep;
mod limits;
mod outbox;
mod proxy;
mod query;
mod random;
mod recorded;
mod redirect;
mod repeat;
mod request;
mod response;
mod rules;
mod set_cookie;
mod setup_error;
mod shared;
mod skip;
mod staple;
mod status;
mod stream;
mod system;
mod tap;
mod target;
mod timer;
mod tls;
mod tls_facts;
mod token;
mod trace;
mod trusted;
mod verify;
mod watch;
mod websocket;

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod testing;

pub use auth::{Auth, basic};
pub use budget::BodyBudget;
pub use channel::{Call, CallEvent, CallHead, Channel, ChannelSettings, ChannelTls, Fields};
pub use client::{Abandoned, Client};
pub use coding::{CODINGS_MAX, EncodeError, Encoded, decode, encode};
pub use cookies::{CookieAttributes, CookieJar, RequestCookie};
pub use error::{Error, ErrorCode, Kind, Stage};
pub use event_stream::{EventStream, ServerEvent, StreamFault};
pub use exchange::{Exchange, Phases};
pub use fetch::{FetchRequest, Fetched, Observer, fetch};
pub use form::{FORM_CONTENT_TYPE, FormPart, Multipart, encode_form, encode_multipart};
pub use headers::{Headers, canonical_name};
pub use limits::DECODED_BYTES_MAX;
pub use query::{QueryError, RecordType};
pub use recorded::{Recorded, read_response};
pub use request::{Body, Method, Request};
pub use response::Response;
pub use set_cookie::{SetCookie, parse_expires};
pub use setup_error::SetupError;
pub use shared::Shared;
pub use staple::{CertStatus, Staple};
pub use status::status_text;
pub use stream::ByteStream;
pub use tap::{BodyTap, Tap, TapHead};
pub use target::Target;
pub use tls::StreamTls;
pub use tls_facts::TlsFacts;
pub use websocket::{
    FrameDecoder, FrameFault, Message, MessageKind, Read, Upgrade, Upgraded, WebSocket, encode_frame,
};
