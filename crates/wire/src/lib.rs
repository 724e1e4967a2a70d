//! Bytes and times: one HTTP/1.1 or HTTP/2 request goes out, one response comes back, and every phase is stamped.
//!
//! The room knows neither JavaScript nor metrics and has no opinion about what it sees: a refused connection, a cut
//! body and a certificate of the wrong name are values ([`Error`]), told apart by [`Kind`] and by the [`Stage`] they
//! happened in, so that the caller can decide what to count.
//!
//! * A [`Target`] is a checked absolute URL, a [`Request`] one request to it.
//! * [`Shared`] exists once per process: options, address rules, name cache, TLS configurations.
//! * A [`Client`] exists once per VU: its idle connections, its TLS sessions, its byte counters. It lives on one
//!   thread. [`Client::exchange`] does *one* request and gives *one* [`Exchange`]: no redirects, no cookies, no
//!   credentials, no decompression, and no hidden retry (what the server saw is what the caller counts).
//! * [`fetch`] is what a script's request means: exchanges with a [`CookieJar`], redirects, [`Auth`] and decoding,
//!   each exchange shown to the caller.
//! * [`Client::upgrade`] opens a [`WebSocket`]: messages in, messages out.

mod auth;
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
mod exchange;
mod fetch;
mod form;
mod h2;
mod head;
mod headers;
mod idle;
mod keep;
mod limits;
mod proxy;
mod random;
mod recorded;
mod redirect;
mod repeat;
mod request;
mod response;
mod rules;
mod set_cookie;
mod shared;
mod staple;
mod status;
mod system;
mod target;
mod timer;
mod tls;
mod trace;
mod trusted;
mod verify;
mod watch;
mod websocket;

#[cfg(test)]
mod testing;

pub use auth::{Auth, basic};
pub use client::{Abandoned, Client};
pub use coding::{CODINGS_MAX, DECODED_BYTES_MAX, EncodeError, Encoded, decode, encode};
pub use cookies::{CookieAttributes, CookieJar, RequestCookie};
pub use error::{Error, ErrorCode, Kind, Stage};
pub use exchange::{Exchange, Phases};
pub use fetch::{FetchRequest, Fetched, Observer, fetch};
pub use form::{FORM_CONTENT_TYPE, Multipart, Part, encode_form, encode_multipart};
pub use headers::{Headers, canonical_name};
pub use recorded::{Recorded, read_response};
pub use request::{Body, Method, Request};
pub use response::Response;
pub use set_cookie::{SetCookie, parse_expires};
pub use shared::{SetupError, Shared};
pub use staple::{CertStatus, Staple};
pub use status::status_text;
pub use target::Target;
pub use tls::TlsFacts;
pub use websocket::{
    FrameDecoder, FrameFault, Message, MessageKind, Read, Upgrade, Upgraded, WebSocket, encode_frame,
};
