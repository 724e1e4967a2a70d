//! Writing a request's head.

use std::io::Write as _;

use crate::error::{Error, ErrorCode, Kind, Stage};
use crate::headers::canonical_name;
use crate::proxy::Proxy;
use crate::request::{Body, Request};
use crate::token::{has_item, is_token};

impl Request {
    /// Its head as HTTP/1.1 text, for people to read.
    ///
    /// # Errors
    /// A header's name or value is invalid.
    pub fn head(&self) -> Result<Vec<u8>, Error> {
        let mut head = Vec::new();
        encode_head(self, None, false, &mut head)?;
        Ok(head)
    }
}

/// Writes the head of `request` to the end of `buffer`; with `close`, it asks the server to close the connection.
/// A `proxy` that is to read it learns where it goes (RFC 9112, 3.2.2) and who asks.
///
/// # Errors
/// A header's name is no token, or its value could break out of its line.
pub(crate) fn encode_head(
    request: &Request,
    proxy: Option<&Proxy>,
    close: bool,
    buffer: &mut Vec<u8>,
) -> Result<(), Error> {
    let mut host = request.target.authority();
    let mut has_connection = false;
    let mut user_agent = request.user_agent.as_deref();
    for (name, value) in &request.headers {
        check_header(name, value)?;
        if name.eq_ignore_ascii_case("user-agent") {
            user_agent = None;
        }
        has_connection |= name.eq_ignore_ascii_case("connection");
        if name.eq_ignore_ascii_case("host") {
            host = value;
        }
    }
    buffer.extend_from_slice(request.method.as_str().as_bytes());
    buffer.push(b' ');
    if proxy.is_some() {
        buffer.extend_from_slice(request.target.origin().as_bytes());
    }
    buffer.extend_from_slice(request.target.path_and_query().as_bytes());
    buffer.extend_from_slice(b" HTTP/1.1\r\nHost: ");
    buffer.extend_from_slice(host.as_bytes());
    buffer.extend_from_slice(b"\r\n");
    if let Some(user_agent) = user_agent {
        check_value("User-Agent", user_agent)?;
        push_header(buffer, "User-Agent", user_agent);
    }
    for (name, value) in &request.headers {
        if !is_ours(name) {
            push_header(buffer, name, value);
        }
    }
    if let Some(authorization) = proxy.and_then(Proxy::authorization) {
        push_header(buffer, "Proxy-Authorization", authorization);
    }
    if close && !has_connection {
        buffer.extend_from_slice(b"Connection: close\r\n");
    }
    if let Some(body_bytes) = content_length(request) {
        // Writing to a `Vec` cannot fail.
        let _ = write!(buffer, "Content-Length: {body_bytes}\r\n");
    }
    buffer.extend_from_slice(b"\r\n");
    Ok(())
}

fn push_header(buffer: &mut Vec<u8>, name: &str, value: &str) {
    buffer.extend_from_slice(name.as_bytes());
    buffer.extend_from_slice(b": ");
    buffer.extend_from_slice(value.as_bytes());
    buffer.extend_from_slice(b"\r\n");
}

/// Whether the request itself asks for the connection to be closed.
pub(crate) fn asks_to_close(request: &Request) -> bool {
    let mut values = request.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("connection"));
    values.any(|(_, value)| has_item(value.as_bytes(), b"close"))
}

/// Headers that the client writes itself.
pub(crate) fn is_ours(name: &str) -> bool {
    // The lengths rule out nearly every header without looking at its letters.
    match name.len() {
        4 => name.eq_ignore_ascii_case("host"),
        7 => name.eq_ignore_ascii_case("trailer"),
        14 => name.eq_ignore_ascii_case("content-length"),
        17 => name.eq_ignore_ascii_case("transfer-encoding"),
        _ => false,
    }
}

/// Control characters but the tab. Asked of all bytes without stopping at the first, which the compiler turns into a few
/// wide instructions.
fn breaks_line(byte: u8) -> bool {
    (byte < b' ' && byte != b'\t') || byte == 0x7f
}

pub(crate) fn check_header(name: &str, value: &str) -> Result<(), Error> {
    if !is_token(name.as_bytes()) {
        return Err(invalid(format!("net/http: invalid header field name {name:?}")));
    }
    check_value(name, value)
}

fn check_value(name: &str, value: &str) -> Result<(), Error> {
    if value.bytes().fold(false, |found, byte| found | breaks_line(byte)) {
        let name = canonical_name(name);
        return Err(invalid(format!("net/http: invalid header field value for {name:?}")));
    }
    Ok(())
}

fn invalid(message: String) -> Error {
    Error::new(ErrorCode::OTHER, Stage::Prepare, Kind::Invalid, message)
}

/// As Go: a body always has its length; without one, only the methods that are expected to carry one say so.
pub(crate) fn content_length(request: &Request) -> Option<usize> {
    let is_expected = matches!(request.method.as_str(), "POST" | "PUT" | "PATCH");
    match &request.body {
        Body::Bytes(bytes) if !bytes.is_empty() => Some(bytes.len()),
        _ => is_expected.then_some(0),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use model::Instant;

    use super::*;
    use crate::request::Method;
    use crate::target::Target;

    fn request(method: &str, headers: &[(&'static str, &str)], body: Option<&'static str>) -> Request {
        let target = Target::parse("http://h:81/p?q").unwrap();
        let mut request = Request::new(Method::parse(method).unwrap(), target, Instant::MAX);
        request.headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).to_owned())).collect();
        request.body = body.map_or(Body::None, |body| Body::Bytes(Bytes::from_static(body.as_bytes())));
        request
    }

    #[test]
    fn heads_are_framed_as_go_does() {
        let check = |method, headers: &[(&'static str, &str)], body, close, expect: &str| {
            let mut buffer = Vec::new();
            encode_head(&request(method, headers, body), None, close, &mut buffer).unwrap();
            assert_eq!(String::from_utf8(buffer).unwrap(), expect);
        };
        check("GET", &[], None, false, "GET /p?q HTTP/1.1\r\nHost: h:81\r\n\r\n");
        check("GET", &[], Some(""), false, "GET /p?q HTTP/1.1\r\nHost: h:81\r\n\r\n");
        check("POST", &[], None, false, "POST /p?q HTTP/1.1\r\nHost: h:81\r\nContent-Length: 0\r\n\r\n");
        check(
            "DELETE",
            &[],
            Some("ab"),
            false,
            "DELETE /p?q HTTP/1.1\r\nHost: h:81\r\nContent-Length: 2\r\n\r\n",
        );
        check("GET", &[], None, true, "GET /p?q HTTP/1.1\r\nHost: h:81\r\nConnection: close\r\n\r\n");
        let headers = [
            ("b", "1"),
            ("A", "é"),
            ("hOst", "x"),
            ("content-length", "99"),
            ("Transfer-Encoding", "chunked"),
        ];
        check("GET", &headers, None, false, "GET /p?q HTTP/1.1\r\nHost: x\r\nb: 1\r\nA: é\r\n\r\n");
        check(
            "GET",
            &[("Connection", "x")],
            None,
            true,
            "GET /p?q HTTP/1.1\r\nHost: h:81\r\nConnection: x\r\n\r\n",
        );
    }

    #[test]
    fn headers_cannot_break_out() {
        let check = |headers: &[(&'static str, &str)], expect: &str| {
            let mut buffer = Vec::new();
            let error = encode_head(&request("GET", headers, None), None, false, &mut buffer).unwrap_err();
            assert_eq!((error.message.as_str(), error.kind), (expect, Kind::Invalid));
            assert!(buffer.is_empty());
        };
        check(&[("a b", "x")], "net/http: invalid header field name \"a b\"");
        check(&[("", "x")], "net/http: invalid header field name \"\"");
        check(&[("x-a", "x\r\ny")], "net/http: invalid header field value for \"X-A\"");
        check(&[("Host", "x\ny")], "net/http: invalid header field value for \"Host\"");
        check(&[("a", "\0")], "net/http: invalid header field value for \"A\"");
    }
}
