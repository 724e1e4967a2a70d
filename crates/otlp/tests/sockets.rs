//! A receiver over its sockets: valid requests arrive, invalid ones are refused, and both are counted.

// The servers are the test's own.
#![allow(clippy::disallowed_methods)]

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use model::{Epoch, SpanKind, SpanStatus, SystemClock, Trace};
use otlp::{Counts, Pace, Receiver, Settings, StartError, Taken};
use serde_json::{Value, json};
use ureq::Agent;

fn settings(addresses: &[&str], token: Option<&str>) -> Settings {
    let addresses = addresses.iter().map(|address| address.parse().expect("an address")).collect();
    let pace =
        Pace { began: SystemClock::now(), expected: Duration::from_secs(1), quiet: Duration::from_secs(10) };
    Settings { addresses, token: token.map(str::to_owned), pace }
}

fn start(token: Option<&str>) -> Receiver {
    let settings = settings(&["127.0.0.1:0", "127.0.0.1:0"], token);
    Receiver::start(&settings, Epoch::anchor(&SystemClock)).expect("free ports")
}

/// A request with a span of each trace.
fn request(traces: &[u32]) -> Value {
    let now_ns = Epoch::anchor(&SystemClock).wall_unix_ns;
    let span = |trace: &u32| {
        json!({
            "traceId": format!("{trace:032x}"), "spanId": "00000000000000ab", "name": "GET /", "kind": 2,
            "startTimeUnixNano": (now_ns - 1_000_000).to_string(), "endTimeUnixNano": now_ns.to_string(),
        })
    };
    let spans: Vec<Value> = traces.iter().map(span).collect();
    let attributes = json!([{"key": "service.name", "value": {"stringValue": "shop"}}]);
    json!({"resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": [{"spans": spans}]}]})
}

/// Sends a body and gives the status and the answer.
fn post(receiver: &Receiver, path: &str, headers: &[(&str, &str)], body: &[u8]) -> (u16, String) {
    let agent: Agent = Agent::config_builder().http_status_as_error(false).build().into();
    let mut request = agent.post(format!("http://{}{path}", receiver.addresses()[0]));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut answer = request.send(body).expect("an answer");
    let body = answer.body_mut().read_to_vec().expect("a body");
    (answer.status().as_u16(), String::from_utf8_lossy(&body).into_owned())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

const JSON: (&str, &str) = ("content-type", "application/json");
const PROTOBUF: (&str, &str) = ("content-type", "application/x-protobuf");
const GZIP: (&str, &str) = ("content-encoding", "gzip");

#[test]
fn spans_arrive_plain_and_in_gzip_and_partly() {
    let receiver = start(None);
    let body = request(&[1, 2]).to_string();
    assert_eq!(post(&receiver, "/v1/traces", &[JSON], body.as_bytes()), (200, "{}".to_owned()));
    let body = request(&[3]).to_string();
    assert_eq!(post(&receiver, "/v1/traces", &[JSON, GZIP], &gzip(body.as_bytes())).0, 200);
    let (status, answer) = post(&receiver, "/v1/traces", &[JSON], request(&[4, 0]).to_string().as_bytes());
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!((status, &answer["partialSuccess"]["rejectedSpans"]), (200, &json!("1")));
    assert_eq!(post(&receiver, "/v1/traces", &[PROTOBUF], b""), (200, String::new()));

    assert_eq!(receiver.addresses().len(), 2);
    assert!(receiver.last_received().is_some());
    let (Taken { traces, operations }, counts) = receiver.finish();
    let mut ids: Vec<u128> = traces.iter().map(|trace| trace.id).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3, 4]);
    assert_eq!(operations.iter().map(|load| load.durations.count()).sum::<u64>(), 4);
    let expect = Counts {
        requests: 4,
        spans_received: 4,
        spans_without_id: 1,
        traces_kept: 4,
        spans_kept: 4,
        ..Counts::default()
    };
    assert_eq!(counts, expect);
    assert_eq!(counts.losses(), ["1 spans without valid numbers"]);
}

#[test]
fn what_is_no_request_is_refused_and_counted() {
    let receiver = start(None);
    let mut refused = 0;
    let mut check = |headers: &[(&str, &str)], body: &[u8], expect: u16| {
        let (status, answer) = post(&receiver, "/v1/traces", headers, body);
        assert_eq!(status, expect, "{headers:?}: {answer}");
        refused += 1;
        assert_eq!(receiver.counts().requests_refused, refused, "{headers:?}");
    };
    check(&[JSON], b"{", 400);
    check(&[PROTOBUF], b"\x0a\x05", 400);
    check(&[JSON, GZIP], b"no gzip", 400);
    check(&[("content-type", "text/plain")], b"{}", 415);
    check(&[], b"{}", 415);
    check(&[JSON, ("content-encoding", "br")], b"{}", 415);
    check(&[JSON], &vec![b' '; 5 << 20], 413);
    check(&[PROTOBUF, GZIP], &gzip(&vec![0; 33 << 20]), 413);
    assert_eq!(post(&receiver, "/v2/traces", &[JSON], b"{}").0, 404);
    let error: Value =
        serde_json::from_str(&post(&receiver, "/v1/traces", &[JSON], b"{").1).expect("a status in JSON");
    assert_eq!(error["code"], json!(3));
    assert_eq!(receiver.finish().1.spans_received, 0);
}

#[test]
fn metrics_and_logs_are_answered_and_counted() {
    let receiver = start(None);
    for path in ["/v1/metrics", "/v1/logs"] {
        let (status, answer) = post(&receiver, path, &[JSON], b"{}");
        assert_eq!(status, 200);
        assert!(answer.contains("keeps traces") && !answer.contains("rejected"), "{answer}");
    }
    let (_, counts) = receiver.finish();
    assert_eq!((counts.requests_ignored, counts.losses().len()), (2, 0));
}

#[test]
fn others_need_the_token() {
    let receiver = start(Some("s3cret"));
    let body = request(&[1]).to_string();
    let send = |header: Option<&str>| {
        let headers = [Some(JSON), header.map(|value| ("authorization", value))];
        let headers: Vec<(&str, &str)> = headers.into_iter().flatten().collect();
        post(&receiver, "/v1/traces", &headers, body.as_bytes()).0
    };
    for wrong in [None, Some("Bearer s3cre"), Some("Bearer s3crets"), Some("Basic s3cret"), Some("s3cret")] {
        assert_eq!(send(wrong), 401, "{wrong:?}");
    }
    assert_eq!((send(Some("Bearer s3cret")), send(Some("bearer s3cret"))), (200, 200));
    let (_, counts) = receiver.finish();
    assert_eq!((counts.requests_refused, counts.spans_received), (5, 2));
}

#[test]
fn an_address_beyond_this_machine_needs_a_token_and_a_taken_one_is_an_error() {
    let epoch = Epoch::anchor(&SystemClock);
    let open = Receiver::start(&settings(&["0.0.0.0:0"], None), epoch).err().expect("open to all");
    assert!(matches!(open, StartError::Open(_)), "{open}");
    let first = start(None);
    let taken = first.addresses()[0].to_string();
    let error = Receiver::start(&settings(&[&taken], None), epoch).err().expect("it is taken");
    assert!(matches!(error, StartError::Listen { .. }), "{error}");
}

/// Spans made and sent by the OpenTelemetry SDK for Python: a request with a call within it that fails.
const SENDER: &str = r#"
import sys
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
door, address, coding, count = sys.argv[1:5]
if door == "grpc":
    from grpc import Compression
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
    coding = Compression.Gzip if coding == "gzip" else Compression.NoCompression
    exporter = OTLPSpanExporter(endpoint=address, insecure=True, compression=coding, headers=(("authorization", "Bearer s3cret"),))
else:
    from opentelemetry.exporter.otlp.proto.http import Compression
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    coding = Compression.Gzip if coding == "gzip" else Compression.NoCompression
    exporter = OTLPSpanExporter(endpoint=f"http://{address}/v1/traces", compression=coding, headers={"authorization": "Bearer s3cret"})
provider = TracerProvider(resource=Resource.create({"service.name": "shop", "service.version": "7"}))
provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=1 << 16))
tracer = provider.get_tracer("test")
for number in range(int(count)):
    with tracer.start_as_current_span("GET /apps", kind=trace.SpanKind.SERVER, attributes={"http.route": "/apps", "n": number}):
        try:
            with tracer.start_as_current_span("SELECT", kind=trace.SpanKind.CLIENT, attributes={"db.query.text": "select 1"}):
                raise ValueError("no such table")
        except ValueError:
            pass
provider.shutdown()
"#;

#[test]
fn the_sdk_for_python_sends_through_all_doors() {
    const EACH: usize = 300;
    let Some(python) = python() else { return };
    let receiver = start(Some("s3cret"));
    let mut sent = 0;
    for (door, coding) in [("grpc", ""), ("grpc", "gzip"), ("http", ""), ("http", "gzip")] {
        // Both addresses understand both.
        for address in receiver.addresses() {
            send(&python, door, *address, coding, EACH);
            sent += EACH as u64;
        }
        assert_eq!(receiver.counts().spans_received, 2 * sent, "{door} {coding}: {:?}", receiver.counts());
    }
    let (Taken { traces, operations }, counts) = receiver.finish();
    assert_eq!(counts.losses(), [""; 0], "{counts:?}");
    assert_eq!((traces.len() as u64, counts.traces_kept), (sent, sent));
    traces.iter().for_each(is_whole);
    let of_root = operations.iter().filter(|load| &*load.operation == "GET /apps");
    assert_eq!(of_root.map(|load| load.durations.count()).sum::<u64>(), sent);
}

fn send(python: &Path, door: &str, address: SocketAddr, coding: &str, count: usize) {
    let words = ["-c", SENDER, door, &address.to_string(), coding, &count.to_string()];
    let output = Command::new(python).args(words).output().expect("python starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("Failed"), "{door} {coding}: {said}");
}

fn is_whole(trace: &Trace) {
    let root = trace.root().expect("a root");
    assert_eq!((&*root.service, &*root.operation, root.kind), ("shop", "GET /apps", SpanKind::Server));
    assert_eq!(root.attribute("service.version"), Some("7"));
    let [call] = &trace.spans.iter().filter(|span| span.id != root.id).collect::<Vec<_>>()[..] else {
        panic!("two spans: {trace:?}")
    };
    assert_eq!((call.parent, call.kind, call.status), (Some(root.id), SpanKind::Client, SpanStatus::Error));
    assert_eq!(call.attribute("db.query.text"), Some("select 1"));
    assert_eq!(call.attribute("exception.type"), Some("ValueError"));
    assert!(root.start_ns <= call.start_ns && call.end_ns() <= root.end_ns(), "{trace:?}");
}

/// A Python with the exporters, in a folder of its own that is made once; `None` where none can be had.
fn python() -> Option<std::path::PathBuf> {
    let folder = std::env::temp_dir().join("plimsoll-otlp-exporters");
    let python = folder.join("bin/python");
    let has_exporters = |python: &Path| {
        let words =
            ["-c", "import opentelemetry.exporter.otlp.proto.grpc, opentelemetry.exporter.otlp.proto.http"];
        Command::new(python).args(words).output().is_ok_and(|output| output.status.success())
    };
    let make = |program: &Path, words: &[&str]| {
        Command::new(program).args(words).output().is_ok_and(|output| output.status.success())
    };
    let packages = ["opentelemetry-exporter-otlp-proto-grpc", "opentelemetry-exporter-otlp-proto-http"];
    let is_there = has_exporters(&python)
        || make(Path::new("python3"), &["-m", "venv", &folder.display().to_string()])
            && make(&python, &[&["-m", "pip", "install", "-q"][..], &packages].concat())
            && has_exporters(&python);
    if !is_there {
        assert!(std::env::var_os("PLIMSOLL_TESTS").is_none(), "the exporters cannot be installed");
        eprintln!("skipped: the exporters of OpenTelemetry cannot be installed");
    }
    is_there.then_some(python)
}
