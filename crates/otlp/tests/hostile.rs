//! Senders that are silent, slow or too many do not keep others out, and are counted.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use model::{Epoch, SystemClock};
use otlp::{Pace, Receiver, Settings};

/// Time for an answer beside hostile senders. Before the limits it took 10 s and more.
const PATIENCE: Duration = Duration::from_secs(4);

fn start() -> Receiver {
    let addresses = vec!["127.0.0.1:0".parse().expect("an address")];
    let pace =
        Pace { began: SystemClock::now(), expected: Duration::from_secs(1), quiet: Duration::from_secs(10) };
    let settings = Settings { addresses, token: None, pace };
    Receiver::start(&settings, Epoch::anchor(&SystemClock)).expect("a free port")
}

fn connect(receiver: &Receiver) -> TcpStream {
    let stream = TcpStream::connect(receiver.addresses()[0]).expect("the receiver listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream
}

const HEAD: &str = "POST /v1/traces HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";

/// A request with one span.
fn export(number: u64) -> String {
    let body = format!(
        "{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{{\"traceId\":\"{number:032x}\",\
         \"spanId\":\"{number:016x}\",\"name\":\"GET /\",\"startTimeUnixNano\":\"1\",\
         \"endTimeUnixNano\":\"2\"}}]}}]}}]}}"
    );
    format!("{HEAD}content-length: {}\r\n\r\n{body}", body.len())
}

/// Sends one span and returns the status; `None` without an answer in time.
fn send(receiver: &Receiver, number: u64) -> Option<u16> {
    let mut stream = connect(receiver);
    stream.write_all(export(number).as_bytes()).ok()?;
    let mut head = [0; 12];
    stream.read_exact(&mut head).ok()?;
    std::str::from_utf8(&head[9..]).ok()?.parse().ok()
}

/// Opens connections that send `bytes` and nothing more, and checks that spans arrive beside them. `gave_way` is the least number
/// of connections that are closed for it.
#[track_caller]
fn check(what: &str, count: usize, bytes: &str, gave_way: u64) {
    let receiver = start();
    let open = |_| {
        let mut stream = connect(&receiver);
        stream.write_all(bytes.as_bytes()).expect("buffers");
        stream
    };
    let hostile: Vec<TcpStream> = (0..count).map(open).collect();
    println!("tried {count}");
    for number in 1..=3 {
        assert_eq!(send(&receiver, number), Some(200), "{what}: {:?}", receiver.counts());
    }
    let counts = receiver.counts();
    assert_eq!(counts.spans_received, 3, "{what}");
    assert!(counts.connections_gave_way >= gave_way, "{what}: {counts:?}");
    let shown = counts.losses().iter().any(|loss| loss.ends_with("connections that gave way to new ones"));
    assert_eq!(shown, gave_way > 0, "{what}: {:?}", counts.losses());
    drop(hostile);
}

#[test]
fn hostile_silent_connections_give_way() {
    check("silent", 300, "", 45);
}

#[test]
fn hostile_slow_heads_give_way() {
    check("slow heads", 300, "POST /v1/traces HTTP/1.1\r\nhost: lo", 45);
}

#[test]
fn hostile_slow_bodies_hold_no_place() {
    check("slow bodies", 32, &format!("{HEAD}content-length: 1000000\r\n\r\n{{"), 0);
}

#[test]
fn hostile_slow_bodies_on_all_connections_give_way() {
    check("slow bodies", 300, &format!("{HEAD}content-length: 1000000\r\n\r\n{{"), 45);
}

#[test]
fn hostile_http2_connections_without_requests_give_way() {
    let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    check("HTTP/2", 300, preface, 45);
}

#[test]
#[ignore = "takes the time limits: eleven seconds"]
fn hostile_silent_connections_are_closed_in_time_and_counted() {
    let receiver = start();
    let (mut silent, mut slow) = (connect(&receiver), connect(&receiver));
    slow.write_all(b"POST").expect("buffers");
    for (stream, limit) in [(&mut silent, 8), (&mut slow, 14)] {
        stream.set_read_timeout(Some(Duration::from_secs(limit))).expect("a timeout");
        assert!(stream.read(&mut [0; 64]).is_ok(), "it is closed");
    }
    assert_eq!(receiver.counts().connections_silent, 2);
    assert!(receiver.counts().losses()[0].starts_with("2 connections without a whole request"));
}

/// Sends raw bytes and returns the status; `None` without an answer.
fn status(receiver: &Receiver, bytes: &[u8]) -> Option<u16> {
    println!("tried 1");
    let mut stream = connect(receiver);
    // The receiver may close before it has read everything.
    let _ = stream.write_all(bytes);
    let mut head = [0; 12];
    stream.read_exact(&mut head).ok()?;
    std::str::from_utf8(&head[9..]).ok()?.parse().ok()
}

#[test]
fn hostile_payloads_are_refused_and_counted() {
    let receiver = start();
    let post = |kind: &str, coding: &str, body: &[u8]| {
        let head = format!(
            "POST /v1/traces HTTP/1.1\r\nhost: localhost\r\ncontent-type: {kind}\r\n{coding}content-length: {}\r\n\r\n",
            body.len()
        );
        status(&receiver, &[head.as_bytes(), body].concat())
    };
    let (json, protobuf, gzip) = ("application/json", "application/x-protobuf", "content-encoding: gzip\r\n");
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let refused: [(&str, &str, &[u8], &[u16]); 12] = [
        (json, "", b"garbage", &[400]),
        (json, "", b"{\"resourceSpans\":7}", &[400]),
        (json, "", b"\xff\xfe\0", &[400]),
        (json, "", nested.as_bytes(), &[400]),
        (json, gzip, b"no gzip", &[400]),
        (json, "content-encoding: br\r\n", b"", &[415]),
        (json, "content-encoding: gzip, gzip\r\n", b"", &[415]),
        (protobuf, "", b"\x0a\xff\xff\xff\xff\x0f", &[400]),
        (protobuf, "", b"\x0b\x0b\x0b\x0b", &[400]),
        (protobuf, "", &[0xff; 1000], &[400]),
        ("text/html", "", b"<script>", &[415]),
        ("", "", b"", &[415]),
    ];
    for (kind, coding, body, expect) in refused {
        let got = post(kind, coding, body).expect("an answer");
        let shown = String::from_utf8_lossy(&body[..body.len().min(20)]);
        assert!(expect.contains(&got), "{kind} {coding}{shown}: {got}");
    }
    assert_eq!(receiver.counts().requests_refused, refused.len() as u64);
    for framing in [
        "content-length: 3\r\ntransfer-encoding: chunked",
        "content-length: 0\r\ncontent-length: 3",
        "content-length: -1",
        "transfer-encoding: xchunked",
    ] {
        let got = status(&receiver, format!("{HEAD}{framing}\r\n\r\n0\r\n\r\n").as_bytes());
        assert!(got.is_none_or(|status| status >= 400), "{framing}: {got:?}");
    }
    let long = format!("{HEAD}x: {}\r\n\r\n", "y".repeat(1 << 20));
    assert!(status(&receiver, long.as_bytes()).is_none_or(|status| status >= 400));
    assert_eq!(send(&receiver, 1), Some(200));
    assert_eq!(receiver.counts().spans_received, 1);
}

/// Spans of a request of a flood.
const SPANS: u64 = 500;

/// Floods a receiver over several connections and checks that it counted every span that it accepted.
fn flood(requests: u64) {
    const SENDERS: u64 = 4;
    let receiver = start();
    let body = |first: u64| {
        let span = |number: u64| {
            format!(
                "{{\"traceId\":\"{number:032x}\",\"spanId\":\"{number:016x}\",\"name\":\"GET /\",\
                 \"startTimeUnixNano\":\"1\",\"endTimeUnixNano\":\"2\"}}"
            )
        };
        let spans: Vec<String> = (first..first + SPANS).map(span).collect();
        format!("{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{}]}}]}}]}}", spans.join(","))
    };
    let send = |sender: u64| {
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let url = format!("http://{}/v1/traces", receiver.addresses()[0]);
        let accepted = (0..requests).filter(|request| {
            let body = body(1 + (sender * requests + request) * SPANS);
            let answer = agent.post(&url).header("content-type", "application/json").send(body.as_bytes());
            answer.is_ok_and(|answer| answer.status() == 200)
        });
        accepted.count() as u64
    };
    let accepted: u64 = std::thread::scope(|scope| {
        let senders: Vec<_> = (0..SENDERS)
            .map(|sender| {
                scope.spawn({
                    let send = &send;
                    move || send(sender)
                })
            })
            .collect();
        senders.into_iter().map(|sender| sender.join().expect("no panic")).sum()
    });
    assert_eq!(accepted, SENDERS * requests, "{:?}", receiver.counts());
    assert_eq!(receiver.counts().spans_received, accepted * SPANS);
    let (taken, counts) = receiver.finish();
    let kept: usize = taken.traces.iter().map(|trace| trace.spans.len()).sum();
    assert_eq!((counts.spans_received, counts.spans_kept), (accepted * SPANS, kept as u64), "{counts:?}");
    println!("tried {}", accepted * SPANS);
}

#[test]
fn hostile_floods_are_counted_whole() {
    flood(5);
}

#[test]
#[ignore = "takes a minute: 750,000 spans"]
fn hostile_floods_of_750_000_spans_are_counted_whole() {
    flood(375);
}
