//! One request.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use model::Instant;

use crate::error::{Error, ErrorCode, Kind, Stage};
use crate::tap::Tap;
use crate::target::Target;
use crate::token::is_token;

/// One request, complete but for `Host` and the framing headers, which the client writes.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its method.
    pub method: Method,
    /// Where it goes.
    pub target: Target,
    /// Headers, sent in this order with these names. A `Host` replaces the target's authority; `Content-Length`,
    /// `Transfer-Encoding` and `Trailer` are left out, because the client frames the body itself (as Go does).
    pub headers: Vec<(Cow<'static, str>, String)>,
    /// The `User-Agent` where `headers` have none. It is shared, because nearly every request of a run has it.
    pub user_agent: Option<Arc<str>>,
    /// Its body.
    pub body: Body,
    /// When it has to be over: it covers lookup, connecting, TLS, sending, waiting and receiving.
    pub deadline: Instant,
    /// Whether the response's body is kept; otherwise it is read, counted and forgotten.
    pub keep_body: bool,
    /// Takes the body of a successful response while it comes, instead of the response.
    pub tap: Option<Tap>,
}

impl Request {
    /// A request without headers and body whose response is kept.
    pub fn new(method: Method, target: Target, deadline: Instant) -> Request {
        Request {
            method,
            target,
            headers: Vec::new(),
            user_agent: None,
            body: Body::None,
            deadline,
            keep_body: true,
            tap: None,
        }
    }
}

/// A request's body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Body {
    /// None was given.
    #[default]
    None,
    /// These bytes, perhaps zero of them.
    Bytes(Bytes),
}

impl Body {
    /// The bytes; none for no body.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Body::None => &[],
            Body::Bytes(bytes) => bytes,
        }
    }
}

/// A request's method: a token (RFC 9110, 5.6.2), sent as given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Method(Cow<'static, str>);

impl Method {
    /// `GET`
    pub const GET: Method = Method(Cow::Borrowed("GET"));
    /// `HEAD`
    pub const HEAD: Method = Method(Cow::Borrowed("HEAD"));
    /// `POST`
    pub const POST: Method = Method(Cow::Borrowed("POST"));
    /// `PUT`
    pub const PUT: Method = Method(Cow::Borrowed("PUT"));
    /// `PATCH`
    pub const PATCH: Method = Method(Cow::Borrowed("PATCH"));
    /// `DELETE`
    pub const DELETE: Method = Method(Cow::Borrowed("DELETE"));
    /// `OPTIONS`
    pub const OPTIONS: Method = Method(Cow::Borrowed("OPTIONS"));

    /// The method `name`; the well-known ones cost no allocation.
    ///
    /// # Errors
    /// `name` is not a token.
    pub fn parse(name: &str) -> Result<Method, Error> {
        static KNOWN: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
        if let Some(known) = KNOWN.iter().find(|known| **known == name) {
            return Ok(Method(Cow::Borrowed(known)));
        }
        if !is_token(name.as_bytes()) {
            let message = format!("net/http: invalid method {name:?}");
            return Err(Error::new(ErrorCode::OTHER, Stage::Prepare, Kind::Invalid, message));
        }
        Ok(Method(Cow::Owned(name.to_owned())))
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_tokens() {
        for good in ["GET", "get", "PURGE", "M-SEARCH", "x!"] {
            assert_eq!(Method::parse(good).unwrap().as_str(), good);
        }
        for bad in ["", "GET /", "G\r\n", "é", "a:b"] {
            let error = Method::parse(bad).unwrap_err();
            assert_eq!((error.code, error.kind), (ErrorCode::OTHER, Kind::Invalid), "{bad:?}");
        }
    }
}
