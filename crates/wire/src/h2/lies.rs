//! Servers that break the rules of HTTP/2, frame by frame.

use std::sync::Arc;
use std::time::Duration;

use model::SystemClock;
use model::plan::{HttpOptions, NetworkOptions, TlsOptions};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::spawn_local;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::testing::{local, outcome, request};
use crate::{Client, Shared};

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PUSH_PROMISE: u8 = 5;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
pub(crate) const PREFACE_BYTES: usize = 24;

/// `:status: 200`, from the static table of HPACK.
pub(crate) const STATUS_200: &[u8] = b"\x88";

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// A field of HPACK without compression.
pub(crate) fn field(name: &str, value: &str) -> Vec<u8> {
    let mut field = vec![0, name.len() as u8];
    field.extend(name.as_bytes());
    field.push(value.len() as u8);
    field.extend(value.as_bytes());
    field
}

fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// The behaviour of a server when a request has come.
enum Lie {
    /// Sends this and listens on.
    Say(Vec<u8>),
    /// Sends this and closes.
    SayAndClose(Vec<u8>),
    /// Sends this until the client is gone.
    Flood(Vec<u8>),
}

async fn serve(mut stream: TlsStream<TcpStream>, lie: &Lie) -> std::io::Result<()> {
    let mut preface = [0; PREFACE_BYTES];
    stream.read_exact(&mut preface).await?;
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).await?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let mut payload = vec![0; length];
        stream.read_exact(&mut payload).await?;
        match (head[3], head[4], lie) {
            (SETTINGS, 0, _) => stream.write_all(&frame(SETTINGS, 1, 0, &[])).await?,
            (HEADERS, _, Lie::Say(bytes)) => stream.write_all(bytes).await?,
            (HEADERS, _, Lie::SayAndClose(bytes)) => {
                stream.write_all(bytes).await?;
                return stream.shutdown().await;
            }
            (HEADERS, _, Lie::Flood(bytes)) => loop {
                stream.write_all(bytes).await?;
            },
            _ => {}
        }
        stream.flush().await?;
    }
}

/// The result of a GET, with half a second to go.
async fn ask(lie: Lie) -> String {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config =
        builder.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key).unwrap();
    config.alpn_protocols = vec![crate::tls::HTTP2_ALPN.to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let lie = std::rc::Rc::new(lie);
    let serving = spawn_local(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            let (acceptor, lie) = (acceptor.clone(), lie.clone());
            spawn_local(async move {
                if let Ok(stream) = acceptor.accept(tcp).await {
                    let _ = serve(stream, &lie).await;
                }
            });
        }
    });
    let tls = TlsOptions { insecure_skip_verify: true, ..TlsOptions::default() };
    let shared = Shared::new(&HttpOptions::default(), &NetworkOptions::default(), &tls).unwrap();
    let client = Client::new(Arc::new(shared), 1);
    let mut request = request("GET", &format!("https://{address}/"));
    request.deadline = SystemClock::now() + Duration::from_millis(500);
    let exchange = client.exchange(&request).await;
    serving.abort();
    format!("{}{}", outcome(&exchange), if exchange.repeats > 0 { ", repeated" } else { "" })
}

#[track_caller]
fn check(lie: Lie, expect: &str) {
    local(async move { assert_eq!(ask(lie).await, expect) });
}

fn headers(flags: u8, fields: &[u8]) -> Vec<u8> {
    frame(HEADERS, flags, 1, fields)
}

/// A response whose head is fine, with more behind it.
fn fine_head() -> Vec<u8> {
    headers(END_HEADERS, STATUS_200)
}

fn go_away(last_stream: u32, reason: u32) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &joined(&[&last_stream.to_be_bytes(), &reason.to_be_bytes()]))
}

#[test]
fn what_is_allowed_is_read() {
    let hi = frame(DATA, END_STREAM, 1, b"hi");
    check(Lie::Say(joined(&[&fine_head(), &hi])), "200 hi");
    let hint = headers(END_HEADERS, &field(":status", "103"));
    check(Lie::Say(joined(&[&hint, &hint, &fine_head(), &hi])), "200 hi");
    let trailers = headers(END_HEADERS | END_STREAM, &field("x-trailer", "1"));
    check(Lie::Say(joined(&[&fine_head(), &frame(DATA, 0, 1, b"hi"), &trailers])), "200 hi");
    check(Lie::Say(joined(&[&fine_head(), &hi, &go_away(1, 0)])), "200 hi");
    let split = joined(&[
        &frame(HEADERS, 0, 1, STATUS_200),
        &frame(CONTINUATION, END_HEADERS, 1, &field("a", "b")),
        &hi,
    ]);
    check(Lie::Say(split), "200 hi");
}

#[test]
fn endings_are_told_apart() {
    let reset = |reason: u32| frame(RST_STREAM, 0, 1, &reason.to_be_bytes());
    check(Lie::Say(reset(2)), "1633 GivenUp Wait http2: stream error with http2 ErrCode INTERNAL_ERROR");
    // The server refuses the first stream only, and the repeat is another.
    check(Lie::Say(reset(7)), "1050 TimedOut Wait request timeout, repeated");
    check(
        Lie::Say(reset(99)),
        "1630 GivenUp Wait http2: stream error with http2 ErrCode unknown error code 0x63",
    );
    let late = joined(&[&fine_head(), &reset(8)]);
    check(Lie::Say(late), "1639 GivenUp Receive http2: stream error with http2 ErrCode CANCEL");
    let farewell = "http2: received GoAway with http2 ErrCode ";
    check(Lie::SayAndClose(go_away(0, 11)), &format!("1622 GivenUp Wait {farewell}ENHANCE_YOUR_CALM"));
    check(Lie::SayAndClose(go_away(0, 0)), &format!("1611 GivenUp Wait {farewell}NO_ERROR, repeated"));
    // The request may have been looked at, so that it is not sent again.
    check(Lie::SayAndClose(go_away(1, 11)), &format!("1622 GivenUp Wait {farewell}ENHANCE_YOUR_CALM"));
    check(Lie::SayAndClose(go_away(1, 0)), &format!("1611 GivenUp Wait {farewell}NO_ERROR"));
    check(Lie::SayAndClose(vec![]), "1000 Cut Wait unexpected EOF");
    check(Lie::SayAndClose(fine_head()), "1000 Cut Receive unexpected EOF");
}

#[test]
fn broken_rules_are_named() {
    let connection = |reason: &str, number: u16| {
        format!("{number} Malformed Wait http2: connection error with http2 ErrCode {reason}")
    };
    check(Lie::Say(frame(PING, 0, 0, b"xx")), &connection("PROTOCOL_ERROR", 1652));
    check(Lie::Say(headers(5, b"\xff\xff\xff\xff\xff\xff")), &connection("PROTOCOL_ERROR", 1652));
    check(Lie::Say(frame(WINDOW_UPDATE, 0, 0, &[0; 4])), &connection("PROTOCOL_ERROR", 1652));
    check(Lie::Say(frame(DATA, 0, 5, b"hi")), &connection("PROTOCOL_ERROR", 1652));
    let promise = frame(PUSH_PROMISE, END_HEADERS, 1, &joined(&[&2_u32.to_be_bytes(), b"\x82\x87\x84"]));
    check(Lie::Say(promise), &connection("PROTOCOL_ERROR", 1652));
    check(Lie::Say(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()), &connection("FRAME_SIZE_ERROR", 1657));
    let stream = |reason: &str, number: u16, stage: &str| {
        format!("{number} Malformed {stage} http2: stream error with http2 ErrCode {reason}")
    };
    check(Lie::Say(headers(5, &field("x", "1"))), &stream("PROTOCOL_ERROR", 1632, "Wait"));
    check(
        Lie::Say(headers(5, &joined(&[STATUS_200, &field("X-A", "1")]))),
        &connection("PROTOCOL_ERROR", 1652),
    );
    let length = headers(END_HEADERS, &joined(&[STATUS_200, &field("content-length", "10")]));
    check(
        Lie::Say(joined(&[&length, &frame(DATA, END_STREAM, 1, b"hi")])),
        &stream("PROTOCOL_ERROR", 1632, "Receive"),
    );
}

#[test]
fn floods_are_dammed() {
    // Headers without end, in the open and behind references to one long field that is sent once.
    let head = frame(HEADERS, 0, 1, STATUS_200);
    let many = frame(CONTINUATION, 0, 1, &field("x", &"y".repeat(100)).repeat(100));
    let calm = "1662 Malformed Wait http2: connection error with http2 ErrCode ENHANCE_YOUR_CALM";
    check(Lie::Say(joined(&[&head, &many.repeat(1000)])), calm);
    let mut indexed = vec![0x40, 1, b'x', 0x7f, 0xa1, 0x1e];
    indexed.extend(b"y".repeat(4000));
    let references = frame(CONTINUATION, 0, 1, &[0xbe; 16_000]);
    let bomb = joined(&[&head, &frame(CONTINUATION, 0, 1, &indexed), &references.repeat(10)]);
    local(async move {
        let message = ask(Lie::Say(bomb)).await;
        assert!(message.contains("http2") || message.contains("1050"), "{message}");
    });
    // An endless response is left to the deadline, and the exchange does end there.
    let timeout = "1050 TimedOut Wait request timeout";
    check(Lie::Flood(frame(PING, 0, 0, b"12345678").repeat(100)), timeout);
    check(Lie::Flood(headers(END_HEADERS, &field(":status", "103"))), timeout);
    check(Lie::Flood(frame(SETTINGS, 0, 0, &[]).repeat(100)), timeout);
}
