//! WebSocket (RFC 6455): frames that break the rules, and floods of those that do not.

use std::future::poll_fn;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::LazyLock;
use std::task::Poll;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::SystemClock;
use sha1::{Digest, Sha1};

use super::{BODY_KIB, Case, ClientKind, SMALL_KIB, TIMEOUT, check, drip, flood, wait};
use crate::Client;
use crate::testing::request;
use crate::websocket::{Message, Read as Event, Upgrade, WebSocket};

/// Messages that a client takes before others have their turn, as scripts do.
const READS_PER_TURN: usize = 256;

/// The cause that ended a connection, within the timeout.
pub(super) async fn talk(client: &Client, url: &str) -> String {
    let mut request = request("GET", &url.replacen("ws", "http", 1));
    request.deadline = SystemClock::now() + TIMEOUT;
    let upgraded =
        client.upgrade(Upgrade { request, jar: None, offers_deflate: true, mirrors_k6: false }).await;
    match upgraded.result {
        Ok(mut socket) => {
            let ended = tokio::time::timeout(TIMEOUT, listen(&mut socket)).await;
            ended.unwrap_or_else(|_| "open".to_owned())
        }
        Err(error) => format!("{} {:?} {:?} {}", error.code.0, error.kind, error.stage, error.message),
    }
}

/// Reads and answers pings until it is over.
async fn listen(socket: &mut WebSocket) -> String {
    poll_fn(|cx| {
        for _ in 0..READS_PER_TURN {
            if let Poll::Ready(Err(error)) = socket.poll_flush(cx) {
                return Poll::Ready(error.message);
            }
            match socket.poll_read(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Event::Message(Message::Ping(payload))) => {
                    socket.queue_pong(&payload);
                }
                Poll::Ready(Event::Message(Message::Close(code, _))) => {
                    return Poll::Ready(format!("close {code}"));
                }
                Poll::Ready(Event::Message(_)) => {}
                Poll::Ready(Event::End) => return Poll::Ready("end".into()),
                Poll::Ready(Event::Fault(fault)) => return Poll::Ready(fault.to_string()),
                Poll::Ready(Event::Broken(error)) => return Poll::Ready(error.message),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

/// Accepts the upgrade.
fn accept(mut stream: &TcpStream, deflates: bool) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.extend(byte);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let key = head.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: ")).unwrap_or_default();
    let mut sha1 = Sha1::new();
    sha1.update(key.as_bytes());
    sha1.update(b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    let deflate = "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; \
                   client_no_context_takeover\r\n";
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {}\r\n{}\r\n",
        STANDARD.encode(sha1.finalize()),
        if deflates { deflate } else { "" },
    );
    stream.write_all(answer.as_bytes())
}

fn say(mut stream: TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    accept(&stream, false)?;
    stream.write_all(bytes)?;
    wait();
    Ok(())
}

fn say_and_flood(mut stream: TcpStream, start: &[u8], again: &[u8]) -> std::io::Result<()> {
    accept(&stream, false)?;
    stream.write_all(start)?;
    flood(&mut stream, again)
}

/// Messages of 65 MiB of zeros, compressed a thousandfold.
fn bombs(mut stream: TcpStream) -> std::io::Result<()> {
    accept(&stream, true)?;
    flood(&mut stream, &BOMB)
}

/// A frame with a message of 65 MiB.
static BOMB: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let packed = crate::websocket::deflate(&vec![0; 65 << 20]);
    let mut frame = vec![0xc2, 127];
    frame.extend((packed.len() as u64).to_be_bytes());
    frame.extend(packed);
    frame
});

fn talks(
    name: &'static str,
    expect: &'static str,
    peak_kib_max: u64,
    serve: fn(TcpStream) -> std::io::Result<()>,
) -> Case {
    Case { name, serve, prepare: || (), client: ClientKind::Talks, expect, peak_kib_max }
}

fn cases() -> Vec<Case> {
    vec![
        talks("silence before the upgrade", "1050 TimedOut Wait", SMALL_KIB, |_stream| {
            wait();
            Ok(())
        }),
        talks("upgrade that drips", "1050 TimedOut Wait", SMALL_KIB, |mut stream| {
            drip(&mut stream, b"HTTP/1.1 101 Switching Protocols\r\nX: y")
        }),
        talks("upgrade with headers without end", "1000 ", SMALL_KIB, |mut stream| {
            stream.write_all(b"HTTP/1.1 101 Switching Protocols\r\n")?;
            flood(&mut stream, b"X: y\r\n")
        }),
        talks("refusal without end", "1000 ", SMALL_KIB, |mut stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
            flood(&mut stream, b"x")
        }),
        talks("fragments without end", "websocket: message has too many fragments", SMALL_KIB, |stream| {
            say_and_flood(stream, &[0x01, 1, b'x'], &[0x00, 1, b'x'])
        }),
        talks("large fragments without end", "websocket: messages and bodies of all", BODY_KIB, |stream| {
            let piece = [&[0x00, 126, 0xff, 0xff][..], &[b'x'; 0xffff]].concat();
            say_and_flood(stream, &[0x02, 1, b'x'], &piece)
        }),
        talks("message of 2^63 bytes", "websocket: message exceeds", SMALL_KIB, |stream| {
            say_and_flood(stream, &[0x82, 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], b"x")
        }),
        talks("masked frame", "websocket: bad MASK", SMALL_KIB, |stream| {
            say(stream, &[0x81, 0x82, 1, 2, 3, 4, 5, 6])
        }),
        talks("ping of 126 bytes", "websocket: len > 125 for control", SMALL_KIB, |stream| {
            say(stream, &[0x89, 126, 0, 126])
        }),
        talks("ping in fragments", "websocket: FIN not set on control", SMALL_KIB, |stream| {
            say(stream, &[0x09, 1, b'x'])
        }),
        talks("reserved bits", "websocket: bad reserved bits", SMALL_KIB, |stream| say(stream, &[0xf1, 0])),
        talks("unknown opcode", "websocket: bad opcode", SMALL_KIB, |stream| say(stream, &[0x83, 0])),
        talks("close code of 1005", "websocket: bad close code", SMALL_KIB, |stream| {
            say(stream, &[0x88, 2, 0x03, 0xed])
        }),
        talks("pings whose pongs are not read", "open", SMALL_KIB, |stream| {
            let ping = [&[0x89, 125][..], &[b'x'; 125]].concat();
            say_and_flood(stream, b"", &ping)
        }),
        talks("empty messages", "open", SMALL_KIB, |stream| say_and_flood(stream, b"", &[0x81, 0])),
        talks("frame that drips", "open", SMALL_KIB, |mut stream| {
            accept(&stream, false)?;
            drip(&mut stream, &[0x82, 126, 0xff, 0xff])
        }),
        Case {
            prepare: || _ = LazyLock::force(&BOMB),
            ..talks("compressed bombs", "websocket: messages and bodies of all", BODY_KIB, bombs)
        },
        talks("cut", "end", SMALL_KIB, |stream| accept(&stream, false)),
    ]
}

#[test]
fn hostile_websocket_servers() {
    check("hostile::websocket::hostile_websocket_servers", "ws", cases());
}
