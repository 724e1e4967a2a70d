//! From a request to an open WebSocket (RFC 6455, 4.1).

use std::borrow::Cow;
use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use model::{Clock, Instant, SystemClock};
use sha1::{Digest, Sha1};

use tokio::io::ReadBuf;

use super::frames::FrameDecoder;
use super::socket::WebSocket;
use crate::budget::BodyBudget;
use crate::client::Client;
use crate::connection::Connection;
use crate::cookies::{CookieJar, cookie_header};
use crate::decode::Decoder;
use crate::encode::encode_head;
use crate::error::{Error, ErrorCode, Kind, Stage};
use crate::fault::cut;
use crate::head::parse_head;
use crate::limits::{HEAD_BYTES_MAX, WS_REFUSAL_BYTES_MAX};
use crate::request::Request;
use crate::response::Response;
use crate::system::stream_error;
use crate::tap::Flow;
use crate::timer::Timer;
use crate::tls_facts::TlsFacts;
use crate::token::has_item;
use crate::trace::Trace;

/// The constant that the accepting side adds to the key before hashing it (RFC 6455, 1.3).
const ACCEPT_GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The compression that is offered (RFC 7692, 7.1.1): without a memory of earlier messages, as k6 offers it.
const EXTENSION: &str = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";

/// Bytes asked from a socket at once during the handshake.
const READ_HANDSHAKE_BYTES: usize = 4096;

/// The request.
#[derive(Debug)]
pub struct Upgrade<'a> {
    /// The request with the headers of the script; its method is GET. The headers of the protocol are added to it.
    pub request: Request,
    /// Where cookies come from and go to.
    pub jar: Option<&'a RefCell<CookieJar>>,
    /// Whether compression is offered.
    pub offers_deflate: bool,
    /// Takes what k6 takes: text that is not UTF-8, which otherwise ends the connection (RFC 6455, 8.1), and compression only
    /// where the server, too, says that the client forgets its messages.
    pub mirrors_k6: bool,
}

/// The result.
#[derive(Debug)]
pub struct Upgraded {
    /// When it began.
    pub started: Instant,
    /// When the answer was there, or no answer would come.
    pub finished: Instant,
    /// The peer, where one was dialed.
    pub remote: Option<SocketAddr>,
    /// The agreement on TLS.
    pub tls: Option<Arc<TlsFacts>>,
    /// The answer, whatever it says.
    pub response: Option<Response>,
    /// The open connection.
    pub result: Result<WebSocket, Error>,
}

impl Client {
    /// Opens a WebSocket on a connection of its own. No redirect is followed, as in k6.
    pub async fn upgrade(&self, mut upgrade: Upgrade<'_>) -> Upgraded {
        let trace = Trace::new(SystemClock::now());
        let key = random_key();
        prepare(&mut upgrade, &key);
        let deadline = upgrade.request.deadline;
        let work = Box::pin(attempt(self, &upgrade, &key, &trace));
        let outcome = Timer::default().limit(deadline, pin!(work)).await;
        let (response, result) = match outcome {
            Some((response, result)) => (response, result),
            None => (None, Err(Error::timed_out(trace.stage()))),
        };
        Upgraded {
            started: trace.started,
            finished: SystemClock::now(),
            remote: trace.remote.get(),
            tls: trace.tls.take(),
            response,
            result,
        }
    }
}

fn random_key() -> String {
    let mut key = [0; 16];
    // A key keeps caches from answering and is no secret; zeros would do.
    let _ = getrandom::fill(&mut key);
    STANDARD.encode(key)
}

/// The answer that `key` asks for.
fn accept_of(key: &str) -> String {
    let mut sha1 = Sha1::new();
    sha1.update(key.as_bytes());
    sha1.update(ACCEPT_GUID);
    STANDARD.encode(sha1.finalize())
}

fn prepare(upgrade: &mut Upgrade<'_>, key: &str) {
    let request = &mut upgrade.request;
    request.headers.retain(|(name, _)| !is_ours(name));
    let mut add = |name: &'static str, value: String| request.headers.push((Cow::Borrowed(name), value));
    add("Upgrade", "websocket".to_owned());
    add("Connection", "Upgrade".to_owned());
    add("Sec-WebSocket-Key", key.to_owned());
    add("Sec-WebSocket-Version", "13".to_owned());
    if upgrade.offers_deflate {
        add("Sec-WebSocket-Extensions", EXTENSION.to_owned());
    }
    let Some(jar) = upgrade.jar.map(RefCell::borrow) else { return };
    let now_unix_ms = SystemClock.wall_unix_ns() / 1_000_000;
    let cookies = jar.cookies_for(&request.target, now_unix_ms);
    let own = request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("cookie"));
    if cookies.is_empty() {
        return;
    }
    if let Some(value) = cookie_header(own.map(|(_, value)| value.as_str()), &[], &cookies) {
        request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("cookie"));
        request.headers.push((Cow::Borrowed("Cookie"), value));
    }
}

/// Headers that belong to the protocol and that no script sets.
fn is_ours(name: &str) -> bool {
    const OURS: [&str; 5] =
        ["upgrade", "connection", "sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions"];
    OURS.iter().any(|ours| name.eq_ignore_ascii_case(ours))
}

async fn attempt(
    client: &Client,
    upgrade: &Upgrade<'_>,
    key: &str,
    trace: &Trace,
) -> (Option<Response>, Result<WebSocket, Error>) {
    let shaken = shake(client, upgrade, trace).await;
    let (mut response, connection, rest) = match shaken {
        Ok(shaken) => shaken,
        Err(error) => return (None, Err(error)),
    };
    if let Some(jar) = upgrade.jar.filter(|_| response.headers.noted().sets_cookies) {
        let now_unix_ms = SystemClock.wall_unix_ns() / 1_000_000;
        jar.borrow_mut().absorb(&upgrade.request.target, &response.headers, now_unix_ms);
    }
    let result = match check(&response, key, upgrade) {
        Ok(deflates) => {
            let decoder = FrameDecoder::new(deflates);
            let decoder = if upgrade.mirrors_k6 { decoder.without_text_check() } else { decoder };
            Ok(WebSocket::new(connection, &rest, deflates, decoder, client.bodies().clone()))
        }
        Err(what) => {
            response.body.truncate(WS_REFUSAL_BYTES_MAX);
            connection.close();
            Err(refused(what))
        }
    };
    (Some(response), result)
}

/// Sends the request; gives the answer, its connection and what came behind the answer.
async fn shake(
    client: &Client,
    upgrade: &Upgrade<'_>,
    trace: &Trace,
) -> Result<(Response, Box<Connection>, Vec<u8>), Error> {
    let request = &upgrade.request;
    let mut head = Vec::new();
    encode_head(request, None, false, &mut head)?;
    let mut connection = client.dial_single(&request.target, trace).await?;
    trace.enter(Stage::Send, SystemClock::now());
    let mut sent_bytes = 0;
    while sent_bytes < head.len() {
        let written = poll_fn(|cx| connection.poll_write(cx, &head[sent_bytes..], &[])).await;
        sent_bytes += written.map_err(|error| broken(&connection, &error, "write"))?;
    }
    let flushed = poll_fn(|cx| connection.poll_flush(cx)).await;
    flushed.map_err(|error| broken(&connection, &error, "write"))?;
    trace.enter(Stage::Wait, SystemClock::now());
    let mut input = Vec::new();
    let head = loop {
        if let Some(head) = parse_head(&input, false).map_err(|fault| *fault)? {
            break head;
        }
        if input.len() > HEAD_BYTES_MAX {
            return Err(refused("response head is too long"));
        }
        if receive(&mut connection, &mut input).await? == 0 {
            return Err(*cut(if input.is_empty() { "EOF" } else { "unexpected EOF" }));
        }
    };
    if head.status == 101 {
        let rest = input.split_off(head.bytes);
        let (status, proto, headers) = (head.status, head.proto, head.headers);
        let response = Response { status, proto, headers, body: Bytes::new(), body_bytes: 0 };
        return Ok((response, connection, rest));
    }
    let response = refusal(&mut connection, input, client.bodies()).await?;
    Ok((response, connection, Vec::new()))
}

/// An answer that opens nothing, with its body.
async fn refusal(
    connection: &mut Connection,
    mut input: Vec<u8>,
    budget: &Arc<BodyBudget>,
) -> Result<Response, Error> {
    let mut decoder = Decoder::new(false, true, budget, Flow::default());
    let mut fed_bytes = 0;
    loop {
        decoder.feed(&input).map_err(|fault| *fault)?;
        fed_bytes += input.len();
        if decoder.is_done() {
            break;
        }
        if fed_bytes > HEAD_BYTES_MAX {
            return Err(refused("response to the handshake is too long"));
        }
        input.clear();
        if receive(connection, &mut input).await? == 0 {
            decoder.end().map_err(|fault| *fault)?;
            break;
        }
    }
    decoder.into_response()
}

/// Appends what comes; gives how many bytes that were, zero at the end.
async fn receive(connection: &mut Connection, input: &mut Vec<u8>) -> Result<usize, Error> {
    let mut room = [0; READ_HANDSHAKE_BYTES];
    let read = poll_fn(|cx| {
        let mut buffer = ReadBuf::new(&mut room);
        connection.poll_read(cx, &mut buffer).map_ok(|()| buffer.filled().len())
    });
    let bytes = read.await.map_err(|error| broken(connection, &error, "read"))?;
    input.extend_from_slice(&room[..bytes]);
    Ok(bytes)
}

fn broken(connection: &Connection, error: &io::Error, verb: &str) -> Error {
    stream_error(error, verb, connection.local(), connection.remote)
}

/// Whether the answer opens a WebSocket, and whether its messages may be compressed (RFC 6455, 4.1).
fn check(response: &Response, key: &str, upgrade: &Upgrade<'_>) -> Result<bool, &'static str> {
    let headers = &response.headers;
    let has = |name: &str, item: &[u8]| headers.get_all(name).any(|value| has_item(value, item));
    let accept = headers.get("Sec-WebSocket-Accept");
    let is_good = response.status == 101
        && has("Upgrade", b"websocket")
        && has("Connection", b"upgrade")
        && accept == Some(accept_of(key).as_bytes());
    if !is_good {
        return Err("bad handshake");
    }
    let Some(extensions) = headers.get("Sec-WebSocket-Extensions") else { return Ok(false) };
    let mut parts = extensions.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    if parts.next() != Some(b"permessage-deflate") {
        return Ok(false);
    }
    let parts: Vec<&[u8]> = parts.collect();
    let is_as_offered = upgrade.offers_deflate && agrees(&parts, upgrade.mirrors_k6);
    if is_as_offered { Ok(true) } else { Err("invalid compression negotiation") }
}

/// Whether the server's parameters of compression answer the offer (RFC 7692, 7.1). Without the first the server remembers
/// earlier messages, which was not offered. The second is a hint to the server, which need not repeat it: this client
/// forgets its messages anyway. The size of the server's window does not matter, and the client's was not offered.
fn agrees(parts: &[&[u8]], mirrors_k6: bool) -> bool {
    const SERVER: &[u8] = b"server_no_context_takeover";
    const CLIENT: &[u8] = b"client_no_context_takeover";
    if mirrors_k6 {
        return parts.contains(&SERVER) && parts.contains(&CLIENT);
    }
    let is_known = |part: &&[u8]| {
        let bits =
            part.strip_prefix(b"server_max_window_bits=").and_then(|bits| std::str::from_utf8(bits).ok());
        [SERVER, CLIENT].contains(part) || matches!(bits.map(str::parse::<u8>), Some(Ok(8..=15)))
    };
    let is_single = |(at, part): (usize, &&[u8])| !parts[..at].contains(part);
    parts.contains(&SERVER) && parts.iter().all(is_known) && parts.iter().enumerate().all(is_single)
}

fn refused(what: &str) -> Error {
    Error::new(ErrorCode::OTHER, Stage::Receive, Kind::Malformed, format!("websocket: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compression_is_agreed_on_as_it_was_offered() {
        let check = |text: &str, ours: bool, k6: bool| {
            let parts: Vec<&[u8]> = text.split(';').map(|part| part.trim().as_bytes()).collect();
            assert_eq!((agrees(&parts, false), agrees(&parts, true)), (ours, k6), "{text}");
        };
        check("server_no_context_takeover; client_no_context_takeover", true, true);
        check("server_no_context_takeover", true, false);
        check("server_no_context_takeover; server_max_window_bits=9", true, false);
        check("client_no_context_takeover", false, false);
        check("server_no_context_takeover; server_max_window_bits=7", false, false);
        check("server_no_context_takeover; client_max_window_bits=9", false, false);
        check("server_no_context_takeover; server_no_context_takeover", false, false);
        check("server_no_context_takeover; client_no_context_takeover; more", false, true);
    }

    #[test]
    fn the_key_is_answered() {
        // The example of RFC 6455, 1.3.
        assert_eq!(accept_of("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }
}
