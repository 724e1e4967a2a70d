//! A reply as data: what is written, what is waited for, and how the connection ends.
//!
//! Misbehaviour is a value like any other here, so that a fault is exactly the bytes and the ending that its
//! route names.

use std::fmt::Write;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use crate::websocket::Manner;

/// Everything the server does in answer to one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status that is counted once its bytes go out; 0 when none goes out.
    pub status: u16,
    /// Waited for before the first byte.
    pub wait: Duration,
    /// Written at once: the head and whatever of the body is ready.
    pub bytes: Bytes,
    /// How many of `bytes` are the head: all that a `HEAD` request is answered with. 0 when `bytes` holds no
    /// whole head; `HEAD` is then answered like any other method.
    pub head_bytes: usize,
    /// Played after `bytes`, except for `HEAD`.
    pub then: Vec<Step>,
    /// The connection after the reply.
    pub end: ReplyEnd,
}

/// One step of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Writes these bytes.
    Write(Bytes),
    /// Writes `chunk` over and over until `bytes` bytes are out; nothing more than the chunk is stored.
    Repeat {
        /// The block that is repeated; not empty.
        chunk: Bytes,
        /// Bytes in all.
        bytes: u64,
    },
    /// Writes these bytes as one chunk, framed where the protocol has chunks; none are the last chunk.
    Chunk(Bytes),
    /// Writes `count` chunks of `piece`, in which `{n}` is the number of the chunk, from 0: the n-th one n × `every` after the
    /// step begins.
    Pace {
        /// The text of a chunk.
        piece: String,
        /// How many.
        count: u64,
        /// The time between the beginnings of two.
        every: Duration,
    },
    /// Waits, or gives up when the client goes away.
    Wait(Duration),
    /// Waits until the client goes away.
    Hang,
}

/// The state of a connection after a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyEnd {
    /// It stays open, unless the request asked for its end.
    KeepAlive,
    /// It is closed in order (FIN).
    Close,
    /// It is reset (RST).
    Reset,
    /// It goes on as a WebSocket connection.
    WebSocket(Box<Manner>),
    /// It leads to this port of this machine from now on.
    Tunnel(u16),
    /// Over HTTP/2 the stream is reset for this reason and the connection goes on; otherwise as [`ReplyEnd::Reset`].
    ResetStream(u32),
    /// Over HTTP/2 the connection is ended for this reason; otherwise as [`ReplyEnd::Close`].
    GoAway(u32),
}

impl Reply {
    /// A reply with a body and its length.
    pub fn new(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut head = head(status, headers);
        if !bodiless(status) {
            let _ = write!(head, "content-length: {}\r\n", body.len());
        }
        head.push_str("\r\n");
        let head_bytes = head.len();
        let mut bytes = head.into_bytes();
        if !bodiless(status) {
            bytes.extend_from_slice(body);
        }
        Reply::raw(status, bytes.into(), head_bytes)
    }

    /// A reply of exactly these bytes, the first `head_bytes` of which are the head.
    pub fn raw(status: u16, bytes: Bytes, head_bytes: usize) -> Reply {
        Reply { status, wait: Duration::ZERO, bytes, head_bytes, then: Vec::new(), end: ReplyEnd::KeepAlive }
    }

    /// A reply whose head carries just these headers and whose body is `then`: framing is the caller's.
    pub fn stream(status: u16, headers: &[(&str, &str)], then: Vec<Step>) -> Reply {
        let mut head = head(status, headers);
        head.push_str("\r\n");
        let head_bytes = head.len();
        Reply { then, ..Reply::raw(status, head.into(), head_bytes) }
    }

    /// A reply that is none: no byte, only steps and an ending.
    pub fn silence(then: Vec<Step>, end: ReplyEnd) -> Reply {
        Reply { then, end, ..Reply::raw(0, Bytes::new(), 0) }
    }

    /// A JSON reply.
    pub fn json(status: u16, value: &Value) -> Reply {
        Reply::new(status, &[("content-type", "application/json")], value.to_string().as_bytes())
    }

    /// A plain-text reply.
    pub fn text(status: u16, text: &str) -> Reply {
        Reply::new(status, &[("content-type", "text/plain; charset=utf-8")], text.as_bytes())
    }

    /// The same, after a wait.
    pub fn after(self, wait: Duration) -> Reply {
        Reply { wait, ..self }
    }

    /// The same, with another ending.
    pub fn ending(self, end: ReplyEnd) -> Reply {
        Reply { end, ..self }
    }
}

/// A chunk as HTTP/1.1 frames it (RFC 9112, 7.1).
pub(crate) fn framed(chunk: &[u8]) -> Vec<u8> {
    let mut framed = format!("{:x}\r\n", chunk.len()).into_bytes();
    framed.extend_from_slice(chunk);
    framed.extend_from_slice(b"\r\n");
    framed
}

/// The n-th chunk of a [`Step::Pace`].
pub(crate) fn numbered(piece: &str, n: u64) -> Bytes {
    piece.replace("{n}", &n.to_string()).into()
}

/// A status line and headers, without the empty line. Line breaks in values are dropped: they come from clients.
pub(crate) fn head(status: u16, headers: &[(&str, &str)]) -> String {
    let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    for (name, value) in headers {
        let clean = |text: &str| text.replace(['\r', '\n'], "");
        let _ = write!(head, "{}: {}\r\n", clean(name), clean(value));
    }
    head
}

/// Whether a status forbids a body and its length (RFC 9110, section 6.4.1).
pub(crate) fn bodiless(status: u16) -> bool {
    matches!(status, 100..=199 | 204 | 304)
}

fn reason(status: u16) -> &'static str {
    match status {
        101 => "Switching Protocols",
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        206 => "Partial Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        418 => "I'm a teapot",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Status",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(reply: Reply, expect: &str) {
        assert_eq!(std::str::from_utf8(&reply.bytes), Ok(expect));
    }

    #[test]
    fn bytes_of_replies() {
        check(
            Reply::new(200, &[("a", "b")], b"hi"),
            "HTTP/1.1 200 OK\r\na: b\r\ncontent-length: 2\r\n\r\nhi",
        );
        check(Reply::new(204, &[], b"hi"), "HTTP/1.1 204 No Content\r\n\r\n");
        check(Reply::new(299, &[], b""), "HTTP/1.1 299 Status\r\ncontent-length: 0\r\n\r\n");
        check(Reply::stream(200, &[("a", "b\r\nc: d")], vec![]), "HTTP/1.1 200 OK\r\na: bc: d\r\n\r\n");
        check(Reply::silence(vec![], ReplyEnd::Reset), "");
    }
}
