//! Payloads recorded from the SDKs of Python, Node.js and Go in the applications of `gallery/` are read completely.

use std::io::Read;
use std::path::Path;
use std::time::Duration;

use flate2::read::GzDecoder;
use model::SpanKind::{Client, Internal, Server};
use model::{Epoch, Span, SpanKind, SpanStatus, SystemClock};
use otlp::{Decoder, Pace, Receiver, Settings};
use ureq::Agent;

/// A payload, and its content as another implementation of the protocol reads it.
struct Payload {
    file: &'static str,
    service: &'static str,
    spans: usize,
    traces: usize,
    failed: usize,
    /// Spans that detectors depend on: operation, kind, an attribute.
    examples: &'static [(&'static str, SpanKind, &'static str, &'static str)],
}

const PAYLOADS: &[Payload] = &[
    Payload {
        file: "python-flask.pb.gz",
        service: "flask-shop",
        spans: 84,
        traces: 7,
        failed: 0,
        examples: &[
            ("GET /report", Server, "http.route", "/report"),
            ("connect", Client, "db.system", "postgresql"),
            ("SELECT gallery", Client, "db.name", "gallery"),
            ("GET", Client, "http.url", "http://127.0.0.1:29303/"),
        ],
    },
    Payload {
        file: "node-express.json",
        service: "express-shop",
        spans: 38,
        traces: 7,
        failed: 3,
        examples: &[
            ("GET /report", Server, "http.route", "/report"),
            ("pg-pool.connect", Client, "db.system.name", "postgresql"),
            ("keys", Client, "db.query.text", "keys [1 other arguments]"),
            ("request handler", Internal, "express.type", "request_handler"),
        ],
    },
    Payload {
        file: "node-express.grpc.pb",
        service: "express-shop",
        spans: 38,
        traces: 7,
        failed: 3,
        examples: &[
            ("pg-pool.connect", Client, "db.system.name", "postgresql"),
            ("GET", Client, "url.full", "http://127.0.0.1:29303/"),
        ],
    },
    Payload {
        file: "go-pgx.pb",
        service: "go-shop",
        spans: 19,
        traces: 7,
        failed: 2,
        examples: &[
            ("pool.acquire", Client, "db.system.name", "postgresql"),
            ("SELECT", Client, "db.query.text", "SELECT count(*) FROM stock, pg_sleep(0.04)"),
            ("HTTP GET", Client, "server.address", "127.0.0.1"),
        ],
    },
    Payload {
        file: "go-pgx.grpc.pb",
        service: "go-shop",
        spans: 19,
        traces: 7,
        failed: 2,
        examples: &[("pool.acquire", Client, "user.name", "gallery")],
    },
];

fn recorded(file: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(file);
    std::fs::read(path).expect("a recorded payload")
}

#[track_caller]
fn check(payload: &Payload) {
    let mut body = recorded(payload.file);
    if payload.file.ends_with(".gz") {
        let mut plain = Vec::new();
        GzDecoder::new(&body[..]).read_to_end(&mut plain).expect("gzip");
        body = plain;
    }
    let mut decoder = Decoder::new(Epoch::anchor(&SystemClock));
    let is_json = payload.file.ends_with(".json");
    let decoded = if is_json { decoder.json(&body) } else { decoder.protobuf(&body) }.expect(payload.file);

    assert_eq!((decoded.without_id, decoded.too_large, decoded.cut), (0, 0, 0), "{}", payload.file);
    let mut traces: Vec<u128> = decoded.spans.iter().map(|(trace, _)| *trace).collect();
    traces.sort_unstable();
    traces.dedup();
    let spans: Vec<&Span> = decoded.spans.iter().map(|(_, span)| span).collect();
    let failed = spans.iter().filter(|span| span.status == SpanStatus::Error).count();
    assert_eq!(
        (spans.len(), traces.len(), failed),
        (payload.spans, payload.traces, payload.failed),
        "{}",
        payload.file
    );
    assert!(spans.iter().all(|span| &*span.service == payload.service), "{}", payload.file);
    for (operation, kind, name, value) in payload.examples {
        let is_it = |span: &&&Span| {
            &*span.operation == *operation && span.kind == *kind && span.attribute(name) == Some(value)
        };
        assert!(spans.iter().find(is_it).is_some(), "{}: {operation} with {name} = {value}", payload.file);
    }
    // The request with a `traceparent` belongs to the caller's span.
    let sold = spans.iter().find(|span| &*span.operation == "POST /stock/1").expect("a request");
    assert_eq!(sold.parent, Some(0xb7ad_6b71_6920_3331), "{}", payload.file);
}

#[test]
fn payloads_of_sdks_are_decoded() {
    PAYLOADS.iter().for_each(check);
}

#[test]
fn payloads_over_http_are_received_as_they_were_sent() {
    let pace =
        Pace { began: SystemClock::now(), expected: Duration::from_secs(1), quiet: Duration::from_secs(1) };
    let address = "127.0.0.1:0".parse().expect("an address");
    let settings = Settings { addresses: vec![address], token: None, pace };
    let receiver = Receiver::start(&settings, Epoch::anchor(&SystemClock)).expect("a free port");
    let agent: Agent = Agent::config_builder().http_status_as_error(false).build().into();
    let mut sent = 0;
    for payload in PAYLOADS.iter().filter(|payload| !payload.file.contains(".grpc.")) {
        let is_json = payload.file.ends_with(".json");
        let kind = if is_json { "application/json" } else { "application/x-protobuf" };
        let mut request = agent.post(format!("http://{}/v1/traces", receiver.addresses()[0]));
        request = request.header("content-type", kind);
        if payload.file.ends_with(".gz") {
            request = request.header("content-encoding", "gzip");
        }
        let response = request.send(&recorded(payload.file)[..]).expect("a response");
        assert_eq!(response.status().as_u16(), 200, "{}", payload.file);
        sent += payload.spans as u64;
    }
    assert_eq!(receiver.counts().spans_received, sent);
}
