//! 20,000 spans a second: how much of a core the receiver takes, and that nothing is lost. Twenty seconds long, so that it runs
//! when it is asked for: `cargo test -p otlp --test load -- --ignored --nocapture`.

use std::time::Duration;

use model::{Epoch, Instant, SystemClock};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use otlp::{Pace, Receiver, Settings};
use prost::Message;

const SPANS_PER_S: u64 = 20_000;
const SPANS_PER_TRACE: u64 = 5;
const SPANS_PER_REQUEST: u64 = 500;
const LENGTH: Duration = Duration::from_secs(20);

#[test]
#[ignore = "takes twenty seconds and a core"]
fn twenty_thousand_spans_a_second_take_less_than_a_core() {
    let epoch = Epoch::anchor(&SystemClock);
    let pace = Pace { began: SystemClock::now(), expected: LENGTH, quiet: Duration::from_secs(10) };
    let addresses = vec!["127.0.0.1:0".parse().expect("an address")];
    let receiver = Receiver::start(&Settings { addresses, token: None, pace }, epoch).expect("a free port");
    let url = format!("http://{}/v1/traces", receiver.addresses()[0]);
    let agent: ureq::Agent = ureq::Agent::config_builder().build().into();
    let began = SystemClock::now();
    let (mut sent, mut taken, mut peak_ms) = (0, 0, 0.0_f64);
    while sent < SPANS_PER_S * LENGTH.as_secs() {
        let due = began + Duration::from_secs_f64(sent as f64 / SPANS_PER_S as f64);
        std::thread::sleep(due.since(SystemClock::now()));
        let body = request(sent, epoch.wall_unix_ns(SystemClock::now())).encode_to_vec();
        agent.post(&url).header("content-type", "application/x-protobuf").send(&body[..]).expect("taken");
        sent += SPANS_PER_REQUEST;
        if sent % SPANS_PER_S == 0 {
            let before = SystemClock::now();
            taken += receiver.take().traces.len();
            peak_ms = peak_ms.max(SystemClock::now().ms_since(before));
        }
    }
    let (elapsed, cpu) = (SystemClock::now().since(began), cpu_of_receiver());
    let (rest, counts) = receiver.finish();
    let cores = cpu.as_secs_f64() / elapsed.as_secs_f64();
    let per_s = sent as f64 / elapsed.as_secs_f64();
    println!("{per_s:.0} spans/s: {cores:.3} cores; taking took at most {peak_ms:.1} ms; {counts:?}");
    assert_eq!((counts.spans_received, counts.losses().len()), (sent, 0), "{counts:?}");
    assert_eq!((taken + rest.traces.len()) as u64, counts.traces_kept);
    assert!(counts.spans_kept <= 50_000 && counts.spans_kept > 10_000, "{counts:?}");
    assert!(per_s > 0.95 * SPANS_PER_S as f64 && cores < 1.0, "{per_s} spans/s on {cores} cores");
}

fn request(first: u64, now_ns: i64) -> ExportTraceServiceRequest {
    let spans = (first..first + SPANS_PER_REQUEST).map(|number| span(number, now_ns)).collect();
    let resource =
        Some(Resource { attributes: vec![attribute("service.name", "shop")], ..Resource::default() });
    let scope_spans = vec![ScopeSpans { spans, ..ScopeSpans::default() }];
    ExportTraceServiceRequest {
        resource_spans: vec![ResourceSpans { resource, scope_spans, ..ResourceSpans::default() }],
    }
}

/// A span as instrumented servers send it, with eight attributes.
fn span(number: u64, now_ns: i64) -> Span {
    let (trace, index) = (number / SPANS_PER_TRACE + 1, number % SPANS_PER_TRACE);
    let id = |index: u64| (index + 1).to_be_bytes().to_vec();
    let duration_ns = 1_000_000 + trace % 997 * 10_000;
    Span {
        trace_id: (u128::from(trace) << 64 | u128::from(trace)).to_be_bytes().to_vec(),
        span_id: id(index),
        parent_span_id: if index == 0 { Vec::new() } else { id(0) },
        name: if index == 0 { format!("GET /apps/{}", trace % 20) } else { "SELECT app".to_owned() },
        kind: if index == 0 { 2 } else { 3 },
        start_time_unix_nano: now_ns as u64 - duration_ns,
        end_time_unix_nano: now_ns as u64,
        attributes: vec![
            attribute("http.request.method", "GET"),
            attribute("http.route", "/apps/{category}"),
            attribute("http.response.status_code", "200"),
            attribute("url.path", "/apps/games?page=3"),
            attribute("server.address", "127.0.0.1"),
            attribute("db.system.name", "postgresql"),
            attribute(
                "db.query.text",
                "SELECT id, name, rating FROM app WHERE category = $1 ORDER BY rating LIMIT 20",
            ),
            attribute("thread.name", &format!("worker-{}", number % 16)),
        ],
        ..Span::default()
    }
}

fn attribute(key: &str, text: &str) -> KeyValue {
    let value = Some(AnyValue { value: Some(Value::StringValue(text.to_owned())) });
    KeyValue { key: key.to_owned(), value, ..KeyValue::default() }
}

/// The time that the receiver's thread was on a core (proc(5), schedstat).
fn cpu_of_receiver() -> Duration {
    let tasks = std::fs::read_dir("/proc/self/task").expect("threads").flatten().map(|task| task.path());
    let read = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    let mut receivers = tasks.filter(|task| read(task.join("comm")).trim() == "otlp");
    let stat = read(receivers.next().expect("the receiver's thread").join("schedstat"));
    let ns = stat.split(' ').next().and_then(|ns| ns.parse().ok()).expect("nanoseconds");
    Instant::from_ns(ns).since(Instant::ZERO)
}
