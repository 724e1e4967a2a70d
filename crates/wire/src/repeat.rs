//! The retry of a request whose reused connection was closed by the server as the request went out.
//!
//! A server may close a connection at the very moment the next request goes out on it, and neither side is at fault.
//! RFC 9112, 9.3.1, lets a client repeat such a request where that can do no harm. Go's transport, and so k6, does this
//! silently. Here a request is repeated once at most, within its deadline, and each repeat is counted in
//! [`Exchange::repeats`](crate::Exchange::repeats).

use crate::error::{Error, Kind, Stage};
use crate::request::Request;
use crate::trace::Trace;

/// Whether `request`, which failed with `error`, is to be sent again on a new connection: it went out on a connection
/// that had carried an exchange before, that connection ended before the first byte of a response, and the request
/// may be repeated. A request that an HTTP/2 server refused unprocessed may always be repeated.
pub(crate) fn is_due(error: &Error, request: &Request, trace: &Trace) -> bool {
    if error.kind == Kind::GivenUp {
        return trace.unprocessed.get();
    }
    error.kind == Kind::Cut
        && trace.reused.get()
        && matches!(trace.stage(), Stage::Send | Stage::Wait)
        && is_replayable(request)
}

/// The rule of Go's `net/http` (documentation of `Transport`): a method that changes nothing, or a key by which the
/// server knows a repeat. PUT and DELETE are idempotent in RFC 9110, but k6 does not repeat them.
fn is_replayable(request: &Request) -> bool {
    const METHODS: [&str; 4] = ["GET", "HEAD", "OPTIONS", "TRACE"];
    const KEYS: [&str; 2] = ["Idempotency-Key", "X-Idempotency-Key"];
    METHODS.contains(&request.method.as_str())
        || request.headers.iter().any(|(name, _)| KEYS.iter().any(|key| name.eq_ignore_ascii_case(key)))
}
