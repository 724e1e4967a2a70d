//! HTTP/1.1.

use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::LazyLock;
use std::time::Duration;

use bytes::Bytes;
use model::SystemClock;
use socket2::SockRef;

use super::{BODY_KIB, Case, ClientKind, SMALL_KIB, TIMEOUT, check, drip, flood, keeps, wait};
use crate::testing::{outcome, request};
use crate::{Auth, Body, CookieJar, FetchRequest, encode};

/// Bytes of the body of a POST: more than the kernel's buffers take.
const POSTED_BYTES: usize = 16 << 20;

/// The result of a request with its redirects, cookies and decoding.
pub(super) async fn fetch(url: &str, kind: ClientKind) -> String {
    let method = if kind == ClientKind::Posts { "POST" } else { "GET" };
    let mut request = request(method, url);
    let started = SystemClock::now();
    request.deadline = started + TIMEOUT;
    request.keep_body = kind != ClientKind::Discards;
    if kind == ClientKind::Posts {
        request.body = Body::Bytes(Bytes::from(vec![b'x'; POSTED_BYTES]));
    }
    let jar = RefCell::new(CookieJar::default());
    let fetch =
        FetchRequest { request: &request, cookies: &[], redirects_max: 10, auth: Auth::Basic, started };
    let client = super::client();
    let mut ignore = |_: &crate::Exchange, _: &crate::Request| {};
    let fetched = crate::fetch(&client, fetch, Some(&jar), &mut ignore).await;
    outcome(&fetched.exchange)
}

/// Reads a request's head.
fn listen(mut stream: &TcpStream) -> std::io::Result<()> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.extend(byte);
    }
    Ok(())
}

/// Sends `bytes` and waits.
fn say(mut stream: TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    listen(&stream)?;
    stream.write_all(bytes)?;
    wait();
    Ok(())
}

/// Sends `bytes` and closes.
fn say_and_close(mut stream: TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    listen(&stream)?;
    stream.write_all(bytes)
}

/// Sends `start`, then `again` without end.
fn say_and_flood(mut stream: TcpStream, start: &[u8], again: &[u8]) -> std::io::Result<()> {
    listen(&stream)?;
    stream.write_all(start)?;
    flood(&mut stream, again)
}

fn say_and_drip(mut stream: TcpStream, start: &[u8], slowly: &[u8]) -> std::io::Result<()> {
    listen(&stream)?;
    stream.write_all(start)?;
    drip(&mut stream, slowly)
}

/// The result of a body that is larger than any that is kept.
const TOO_LARGE: &str = "1710 TooLarge Receive";

const OK: &[u8] = b"HTTP/1.1 200 OK\r\n";
const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const UNFRAMED: &[u8] = b"HTTP/1.1 200 OK\r\n\r\n";

/// A response whose body is coded as `codings` says.
fn coded(stream: TcpStream, codings: &str, body: &[u8]) -> std::io::Result<()> {
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: {codings}\r\nContent-Length: {}\r\n\r\n", body.len());
    say(stream, &[head.as_bytes(), body].concat())
}

fn pack(body: &[u8], codings: &str) -> Vec<u8> {
    encode(body, codings).ok().flatten().map(|encoded| encoded.body).unwrap_or_default()
}

/// Layers of empty members, and no data.
static BARREN: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let many = pack(&pack(b"", "gzip").repeat(50_000), "gzip");
    pack(&pack(&many.repeat(300), "gzip").repeat(300), "zstd")
});
static GZIP: LazyLock<Vec<u8>> = LazyLock::new(|| bomb("gzip"));
static BROTLI: LazyLock<Vec<u8>> = LazyLock::new(|| bomb("br"));
static ZSTD: LazyLock<Vec<u8>> = LazyLock::new(|| bomb("zstd"));
static NESTED: LazyLock<Vec<u8>> = LazyLock::new(|| bomb("deflate, zstd"));

/// 64 MiB of zeros.
fn bomb(codings: &str) -> Vec<u8> {
    pack(&vec![0; 64 << 20], codings)
}

/// Resets the connection when a request comes.
fn reset(stream: TcpStream) -> std::io::Result<()> {
    listen(&stream)?;
    SockRef::from(&stream).set_linger(Some(Duration::ZERO))
}

fn cases() -> Vec<Case> {
    let mut cases = framing();
    cases.extend(floods());
    cases.extend(slow());
    cases
}

fn framing() -> Vec<Case> {
    vec![
        keeps("body cut", "1000 Cut Receive unexpected EOF", SMALL_KIB, |stream| {
            say_and_close(stream, b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        }),
        keeps("head cut", "1000 Cut Receive unexpected EOF", SMALL_KIB, |stream| {
            say_and_close(stream, b"HTTP/1.1 200 OK\r\nContent-Le")
        }),
        keeps("nothing", "1000 Cut Wait EOF", SMALL_KIB, |stream| say_and_close(stream, b"")),
        keeps("reset", "1220 Cut", SMALL_KIB, reset),
        keeps(
            "Content-Length below zero",
            "1000 Malformed Receive bad Content-Length",
            SMALL_KIB,
            |stream| say(stream, b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nbody"),
        ),
        keeps("two Content-Lengths", "1000 Malformed Receive", SMALL_KIB, |stream| {
            say(stream, b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nbody")
        }),
        keeps("Content-Length of 2^63", TOO_LARGE, SMALL_KIB, |stream| {
            say(stream, b"HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\nbody")
        }),
        keeps("chunk of 2^60 bytes", TOO_LARGE, BODY_KIB, |stream| {
            say_and_flood(stream, &[CHUNKED, b"FFFFFFFFFFFFFFF\r\n"].concat(), b"x")
        }),
        keeps(
            "chunk size of 2^68",
            "1000 Malformed Receive http chunk length too large",
            SMALL_KIB,
            |stream| say(stream, &[CHUNKED, b"11111111111111111\r\n"].concat()),
        ),
        keeps("status 101", "1000 Malformed Receive unsupported response status", SMALL_KIB, |stream| {
            say(stream, b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n")
        }),
    ]
}

fn floods() -> Vec<Case> {
    vec![
        keeps("headers without end", "1000 TooLarge", SMALL_KIB, |stream| {
            say_and_flood(stream, OK, b"X-Header: a value that is repeated\r\n")
        }),
        keeps("one header without end", "1000 TooLarge", SMALL_KIB, |stream| {
            say_and_flood(stream, &[OK, b"X: "].concat(), b"x")
        }),
        keeps("bytes without a line", "1000", SMALL_KIB, |stream| say_and_flood(stream, b"", b"x")),
        keeps("empty lines", "1000 Malformed", SMALL_KIB, |stream| say_and_flood(stream, b"", b"\r\n")),
        keeps("interim responses", "1000 Malformed Receive net/http: too many 1xx", SMALL_KIB, |stream| {
            say_and_flood(stream, b"", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
        }),
        keeps("body without end", "1710 TooLarge Receive response body exceeds", BODY_KIB, |stream| {
            say_and_flood(stream, UNFRAMED, b"x")
        }),
        Case {
            client: ClientKind::Discards,
            ..keeps("discarded body without end", "1050 TimedOut Receive", SMALL_KIB, |stream| {
                say_and_flood(stream, UNFRAMED, b"x")
            })
        },
        Case {
            client: ClientKind::Discards,
            ..keeps("chunks of one byte", "1050 TimedOut Receive", SMALL_KIB, |stream| {
                say_and_flood(stream, CHUNKED, b"1\r\nx\r\n")
            })
        },
        keeps("chunk extension without end", "1000 TooLarge Receive http: chunk line", SMALL_KIB, |stream| {
            say_and_flood(stream, &[CHUNKED, b"1;"].concat(), b"x")
        }),
        keeps("chunk extensions of 4 KB", "1050 TimedOut Receive", SMALL_KIB, |stream| {
            let chunk = [b"1;", &[b'x'; 4000][..], b"\r\nx\r\n"].concat();
            say_and_flood(stream, CHUNKED, &chunk)
        }),
        keeps("trailers without end", "1000 TooLarge Receive http: trailers", SMALL_KIB, |stream| {
            say_and_flood(stream, &[CHUNKED, b"0\r\n"].concat(), b"X: y\r\n")
        }),
        Case {
            prepare: || _ = LazyLock::force(&BARREN),
            ..keeps("empty layers of gzip", "1701 Coding Receive", BODY_KIB, |stream| {
                coded(stream, "gzip, gzip, gzip, zstd", &BARREN)
            })
        },
        Case {
            prepare: || _ = LazyLock::force(&GZIP),
            ..keeps("bomb of gzip", TOO_LARGE, BODY_KIB, |stream| coded(stream, "gzip", &GZIP))
        },
        Case {
            prepare: || _ = LazyLock::force(&BROTLI),
            ..keeps("bomb of br", TOO_LARGE, BODY_KIB, |stream| coded(stream, "br", &BROTLI))
        },
        Case {
            prepare: || _ = LazyLock::force(&ZSTD),
            ..keeps("bomb of zstd", TOO_LARGE, BODY_KIB, |stream| coded(stream, "zstd", &ZSTD))
        },
        Case {
            prepare: || _ = LazyLock::force(&NESTED),
            ..keeps("bomb of deflate in zstd", TOO_LARGE, BODY_KIB, |stream| {
                coded(stream, "deflate, zstd", &NESTED)
            })
        },
        keeps("redirects without end", "302", SMALL_KIB, |stream| {
            let redirect =
                b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            say_and_close(stream, redirect)
        }),
        keeps("200 cookies of 1 KB", "200", SMALL_KIB, |stream| {
            let cookies: Vec<String> =
                (0..200).map(|n| format!("Set-Cookie: c{n}={}\r\n", "x".repeat(1000))).collect();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n{}\r\n", cookies.concat());
            say(stream, head.as_bytes())
        }),
    ]
}

fn slow() -> Vec<Case> {
    vec![
        keeps("silence", "1050 TimedOut Wait", SMALL_KIB, |stream| say(stream, b"")),
        keeps("head that drips", "1050 TimedOut Receive", SMALL_KIB, |stream| {
            say_and_drip(stream, b"", b"HTTP/1.1 200 OK\r\nX: y")
        }),
        keeps("body that drips", "1050 TimedOut Receive", SMALL_KIB, |stream| {
            say_and_drip(stream, b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b"x")
        }),
        keeps("chunk size that drips", "1050 TimedOut Receive", SMALL_KIB, |stream| {
            say_and_drip(stream, CHUNKED, b"1;x")
        }),
        Case {
            client: ClientKind::Posts,
            ..keeps("request that is not read", "1050 TimedOut Send", BODY_KIB, |_stream| {
                wait();
                Ok(())
            })
        },
    ]
}

#[test]
fn hostile_http1_servers() {
    check("hostile::http1::hostile_http1_servers", "http", cases());
}
