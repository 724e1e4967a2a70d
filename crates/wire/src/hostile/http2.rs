//! HTTP/2, frame by frame (RFC 9113).

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;

use rustls::{ServerConnection, StreamOwned};

use super::tls::shaken;
use super::{BODY_KIB, Case, ClientKind, SMALL_KIB, TIMEOUT, check, flood, keeps, wait};
use crate::h2::lies::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, PREFACE_BYTES, PUSH_PROMISE,
    RST_STREAM, SETTINGS, STATUS_200, WINDOW_UPDATE, field, frame,
};

const PRIORITY: u8 = 2;
const PADDED: u8 = 8;

type Stream = StreamOwned<ServerConnection, TcpStream>;

/// Shakes hands, sends `settings`, and reads until the request's headers.
fn asked(stream: TcpStream, settings: &[u8]) -> std::io::Result<Stream> {
    let mut stream = shaken(stream, Some(crate::tls::HTTP2_ALPN), 0)?;
    stream.read_exact(&mut [0; PREFACE_BYTES])?;
    stream.write_all(&frame(SETTINGS, 0, 0, settings))?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head)?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        stream.read_exact(&mut vec![0; length])?;
        match (head[3], head[4]) {
            (SETTINGS, 0) => stream.write_all(&frame(SETTINGS, 1, 0, &[]))?,
            (HEADERS, _) => return Ok(stream),
            _ => {}
        }
    }
}

fn say(stream: TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    let mut stream = asked(stream, &[])?;
    stream.write_all(bytes)?;
    wait();
    Ok(())
}

fn say_and_flood(stream: TcpStream, start: &[u8], again: &[u8]) -> std::io::Result<()> {
    let mut stream = asked(stream, &[])?;
    stream.write_all(start)?;
    flood(&mut stream, again)
}

fn ok() -> Vec<u8> {
    frame(HEADERS, END_HEADERS, 1, STATUS_200)
}

/// One long field that is sent once, and named again and again.
fn header_bomb(stream: TcpStream) -> std::io::Result<()> {
    let mut once = vec![0x40, 1, b'x', 0x7f, 0xa1, 0x1e];
    once.extend(b"y".repeat(4000));
    let start = [frame(HEADERS, 0, 1, STATUS_200), frame(CONTINUATION, 0, 1, &once)].concat();
    say_and_flood(stream, &start, &frame(CONTINUATION, 0, 1, &[0xbe; 16_000]))
}

/// A setting (RFC 9113, 6.5.1).
fn setting(id: u16, value: u32) -> Vec<u8> {
    [&id.to_be_bytes()[..], &value.to_be_bytes()].concat()
}

fn drip_data(stream: TcpStream) -> std::io::Result<()> {
    let mut stream = asked(stream, &[])?;
    stream.write_all(&ok())?;
    loop {
        stream.write_all(&frame(DATA, 0, 1, b"x"))?;
        thread::sleep(TIMEOUT / 20);
    }
}

fn cases() -> Vec<Case> {
    let mut cases = floods();
    cases.extend(violations());
    cases
}

fn floods() -> Vec<Case> {
    vec![
        keeps("data that ignores the windows", "1", BODY_KIB, |stream| {
            say_and_flood(stream, &ok(), &frame(DATA, 0, 1, &[b'x'; 16_000]))
        }),
        Case {
            client: ClientKind::Discards,
            ..keeps("discarded data that ignores the windows", "1", BODY_KIB, |stream| {
                say_and_flood(stream, &ok(), &frame(DATA, 0, 1, &[b'x'; 16_000]))
            })
        },
        keeps("empty data", "1662 Malformed", SMALL_KIB, |stream| {
            say_and_flood(stream, &ok(), &frame(DATA, 0, 1, b""))
        }),
        keeps("pings", "1050 TimedOut Wait", SMALL_KIB, |stream| {
            say_and_flood(stream, b"", &frame(PING, 0, 0, b"12345678"))
        }),
        keeps("settings", "1050 TimedOut Wait", SMALL_KIB, |stream| {
            say_and_flood(stream, b"", &frame(SETTINGS, 0, 0, &setting(4, 65_535)))
        }),
        keeps("window updates", "1", SMALL_KIB, |stream| {
            say_and_flood(stream, b"", &frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]))
        }),
        keeps("priorities", "1050 TimedOut Wait", SMALL_KIB, |stream| {
            say_and_flood(stream, b"", &frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 1]))
        }),
        keeps("resets", "1", SMALL_KIB, |stream| {
            say_and_flood(stream, b"", &frame(RST_STREAM, 0, 1, &8_u32.to_be_bytes()))
        }),
        keeps("refusals", "1638 GivenUp Wait", SMALL_KIB, |stream| {
            let mut stream = asked(stream, &[])?;
            let refuse = |id: u32| frame(RST_STREAM, 0, id, &7_u32.to_be_bytes());
            stream.write_all(&refuse(1))?;
            thread::sleep(TIMEOUT / 10);
            stream.write_all(&refuse(3))?;
            wait();
            Ok(())
        }),
        keeps("farewells", "1", SMALL_KIB, |stream| {
            say_and_flood(stream, b"", &frame(GOAWAY, 0, 0, &[0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0]))
        }),
        keeps("interim responses", "1050 TimedOut Wait", SMALL_KIB, |stream| {
            say_and_flood(stream, b"", &frame(HEADERS, END_HEADERS, 1, &field(":status", "103")))
        }),
        keeps("header fields without end", "1662 Malformed", SMALL_KIB, |stream| {
            let fields = field("x", &"y".repeat(100)).repeat(100);
            say_and_flood(stream, &frame(HEADERS, 0, 1, STATUS_200), &frame(CONTINUATION, 0, 1, &fields))
        }),
        keeps("bomb of header fields", "1", SMALL_KIB, header_bomb),
        keeps("unknown frames", "1050 TimedOut Wait", SMALL_KIB, |stream| {
            say_and_flood(stream, b"", &frame(0xbb, 0, 0, &[0; 1000]))
        }),
        keeps("body that drips", "1050 TimedOut Receive", SMALL_KIB, drip_data),
    ]
}

fn violations() -> Vec<Case> {
    vec![
        keeps("silence", "1050 TimedOut Wait", SMALL_KIB, |stream| say(stream, b"")),
        keeps("no settings", "1050 TimedOut", SMALL_KIB, |stream| {
            let _stream = shaken(stream, Some(crate::tls::HTTP2_ALPN), 0)?;
            wait();
            Ok(())
        }),
        keeps("no streams allowed", "1", SMALL_KIB, |stream| {
            let _stream = asked(stream, &setting(3, 0))?;
            wait();
            Ok(())
        }),
        keeps("windows of nothing", "1050 TimedOut", SMALL_KIB, |stream| {
            let _stream = asked(stream, &setting(4, 0))?;
            wait();
            Ok(())
        }),
        keeps("window of 2^32", "165", SMALL_KIB, |stream| {
            let _stream = asked(stream, &setting(4, u32::MAX))?;
            wait();
            Ok(())
        }),
        keeps("frame of 16 MB", "1657 Malformed", SMALL_KIB, |stream| {
            say(stream, &[0xff, 0xff, 0xff, DATA, 0, 0, 0, 0, 1])
        }),
        keeps("data of no stream", "1652 Malformed", SMALL_KIB, |stream| {
            say(stream, &frame(DATA, 0, 7, b"x"))
        }),
        keeps("promise", "1652 Malformed", SMALL_KIB, |stream| {
            let promise = [&2_u32.to_be_bytes()[..], b"\x82\x87\x84"].concat();
            say(stream, &frame(PUSH_PROMISE, END_HEADERS, 1, &promise))
        }),
        keeps("more padding than frame", "1", SMALL_KIB, |stream| {
            say(stream, &[ok(), frame(DATA, PADDED, 1, &[200, 1, 2])].concat())
        }),
        keeps("data behind the end", "200", SMALL_KIB, |stream| {
            say(stream, &[ok(), frame(DATA, END_STREAM, 1, b"hi"), frame(DATA, 0, 1, b"more")].concat())
        }),
        keeps("plain HTTP", "165", SMALL_KIB, |stream| say(stream, b"HTTP/1.1 200 OK\r\n\r\n")),
        keeps("close", "1", SMALL_KIB, |stream| asked(stream, &[]).map(drop)),
    ]
}

#[test]
fn hostile_http2_servers() {
    check("hostile::http2::hostile_http2_servers", "https", cases());
}
