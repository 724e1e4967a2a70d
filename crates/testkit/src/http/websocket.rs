//! The upgrade to WebSocket: `/ws/KIND`.
//!
//! | Kinds | What they are for |
//! |---|---|
//! | `echo?delay=`, `say?text=&binary=&count=&close=`, `count`, `headers`, `fragments`, `ping?count=` | talking |
//! | `close?code=&reason=&delay=`, `cut?delay=`, `reset?delay=`, `silent` | endings |
//! | `bad/KIND`, `endless` | what breaks the protocol |
//!
//! Every kind takes `deflate=1` (accepts compression where offered), `protocol=` (the sub-protocol it chooses; the first
//! one offered by default), `cookie=` (set with the upgrade), `accept=` (another answer to the key).

use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Map, Value};

use super::Route;
use crate::reply::{Reply, ReplyEnd, head};
use crate::request::Request;
use crate::websocket::{Kind, Manner, accept_of};

/// The longest wait a query can ask for.
const MAX_WAIT_MS: u64 = 600_000;

pub(super) const ROUTES: &[Route] = &[Route { segment: "ws", answer: upgrade }];

fn upgrade(request: &Request, rest: &[&str]) -> Reply {
    let is_upgrade = request.header("upgrade").is_some_and(|value| value.eq_ignore_ascii_case("websocket"));
    let Some(key) = request.header("sec-websocket-key").filter(|_| is_upgrade) else {
        return Reply::text(426, "this is for WebSocket clients\n");
    };
    let Some(kind) = kind(request, rest) else { return Reply::text(404, "no such kind\n") };
    let offered = request.header("sec-websocket-extensions").unwrap_or_default();
    let deflate = request.query_value("deflate").is_some() && offered.contains("permessage-deflate");
    let accept = request.query_value("accept").unwrap_or_else(|| accept_of(&key));
    let mut headers = vec![
        ("Upgrade", "websocket".to_owned()),
        ("Connection", "Upgrade".to_owned()),
        ("Sec-WebSocket-Accept", accept),
    ];
    let protocols = request.header("sec-websocket-protocol");
    let first =
        || protocols.as_ref().and_then(|list| list.split(',').next()).map(|name| name.trim().to_owned());
    if let Some(protocol) = request.query_value("protocol").or_else(first) {
        headers.push(("Sec-WebSocket-Protocol", protocol));
    }
    if deflate {
        let extension = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";
        headers.push(("Sec-WebSocket-Extensions", extension.to_owned()));
    }
    if let Some(cookie) = request.query_value("cookie") {
        headers.push(("Set-Cookie", cookie));
    }
    let lines: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut head = head(101, &lines);
    let _ = write!(head, "\r\n");
    let head_bytes = head.len();
    let delay = Duration::from_millis(request.query_number("delay", 0).min(MAX_WAIT_MS));
    let manner = Manner { kind, deflate, delay };
    Reply::raw(101, Bytes::from(head), head_bytes).ending(ReplyEnd::WebSocket(Box::new(manner)))
}

fn kind(request: &Request, rest: &[&str]) -> Option<Kind> {
    let close = request.query_value("code").and_then(|code| code.parse().ok());
    Some(match *rest.first()? {
        "echo" => Kind::Echo,
        "count" => Kind::Count,
        "silent" => Kind::Silent,
        "fragments" => Kind::Fragments,
        "endless" => Kind::Endless,
        "say" => Kind::Say {
            text: request.query_value("text").unwrap_or_else(|| "hello".into()).into_bytes(),
            binary: request.query_value("binary").is_some(),
            count: request.query_number("count", 1),
            close: request.query_value("close").and_then(|code| code.parse().ok()),
        },
        "headers" => Kind::Say { text: headers(request), binary: false, count: 1, close: None },
        "close" => Kind::Close { code: close, reason: request.query_value("reason").unwrap_or_default() },
        "cut" => Kind::Cut { reset: false },
        "reset" => Kind::Cut { reset: true },
        "ping" => Kind::Ping { count: request.query_number("count", 1) },
        "bad" => Kind::Raw(bad(rest.get(1)?)?),
        _ => return None,
    })
}

/// The request's headers as JSON, names in lower case.
fn headers(request: &Request) -> Vec<u8> {
    let headers: Map<String, Value> = request
        .headers()
        .map(|(name, value)| (name.to_ascii_lowercase(), Value::String(value.into_owned())))
        .collect();
    Value::Object(headers).to_string().into_bytes()
}

/// Bytes that no client may take for a message.
fn bad(kind: &str) -> Option<Vec<u8>> {
    Some(match kind {
        "masked" => b"\x81\x82abcd\x09\x0b".to_vec(),
        "reserved-bits" => b"\x91\x02hi".to_vec(),
        "compressed" => b"\xc1\x02hi".to_vec(),
        "opcode" => b"\x83\x02hi".to_vec(),
        "length" => b"\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff".to_vec(),
        "negative-length" => b"\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff".to_vec(),
        "utf8" => b"\x81\x02\xc3\x28".to_vec(),
        "continuation" => b"\x80\x02hi".to_vec(),
        "two-starts" => b"\x01\x02hi\x81\x02hi".to_vec(),
        "long-ping" => [b"\x89\x7e\x00\x80".to_vec(), vec![b'x'; 128]].concat(),
        "split-ping" => b"\x09\x02hi".to_vec(),
        "close-one-byte" => b"\x88\x01\x03".to_vec(),
        "close-code" => b"\x88\x02\x03\xed".to_vec(),
        "close-utf8" => b"\x88\x04\x03\xe8\xc3\x28".to_vec(),
        "half" => b"\x81\x05hi".to_vec(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::client::{Client, Ending};
    use crate::http::start;

    const UPGRADE: &str = "HTTP/1.1\r\nupgrade: websocket\r\nconnection: upgrade\r\n\
        sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

    #[track_caller]
    fn check(target: &str, more: &str, sent: &str, expect: &str) {
        let server = start();
        let mut client = Client::new(&server);
        let head = client.request(&format!("GET {target} {UPGRADE}{more}\r\n"));
        assert_eq!(head.status, 101, "{head:?}");
        assert_eq!(head.header("sec-websocket-accept"), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
        client.write(sent);
        let (bytes, ending) = client.rest();
        let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
        assert_eq!((text.as_str(), ending), (expect, Ending::Closed), "{target}");
    }

    /// A close frame without a code, masked with zeros.
    const CLOSE: &str = "\u{8}\u{0}";

    #[test]
    fn only_masked_frames_are_taken() {
        // Text can hold no byte above 127, so that the client's own frames cannot be written here; a frame without a
        // mask is refused.
        let server = start();
        let mut client = Client::new(&server);
        client.request(&format!("GET /ws/echo {UPGRADE}\r\n"));
        client.write(CLOSE);
        assert_eq!(client.rest().1, Ending::Closed);
        assert_eq!((server.settled().websocket.sessions, server.seen().websocket.malformed), (1, 1));
    }

    #[test]
    fn talkers_talk() {
        check("/ws/cut", "", "", "");
        check(
            "/ws/say?text=hi&count=2&close=1000",
            "",
            CLOSE,
            "\u{81}\u{2}hi\u{81}\u{2}hi\u{88}\u{2}\u{3}\u{e8}",
        );
        check("/ws/close?code=1001&reason=bye", "", CLOSE, "\u{88}\u{5}\u{3}\u{e9}bye");
    }

    #[test]
    fn what_is_no_upgrade_is_told_so() {
        let server = start();
        assert_eq!(Client::new(&server).get("/ws/echo").status, 426);
        let unknown = Client::new(&server).request(&format!("GET /ws/nothing {UPGRADE}\r\n"));
        assert_eq!(unknown.status, 404);
    }
}
