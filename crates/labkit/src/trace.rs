//! Spans, sent as OpenTelemetry does (OTLP over HTTP, protobuf), in batches by a thread of their own.
//!
//! Without an endpoint of its own, a service sends its spans to the address on which a run on this machine listens. It makes spans only
//! for requests with a sampled `traceparent`, and none while no run listens, so that tracing costs nothing when it is not used.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use model::{Epoch, Instant, SystemClock};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::Link;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status, status};
use prost::Message;

use crate::metrics::Metrics;

/// The default address of a receiver on this machine (OTLP specification, default ports).
const ENDPOINT_DEFAULT: &str = "http://127.0.0.1:4318";

/// Traces that wait to be sent; what comes on top is dropped and counted.
const TRACES_WAITING_MAX: usize = 4096;

/// Spans that go in one request.
const SPANS_PER_BATCH: usize = 512;

/// A span waits no longer than this before it is sent.
const BATCH_PERIOD: Duration = Duration::from_secs(1);

/// A receiver that takes longer gets the batch no more.
const SEND_LIMIT: Duration = Duration::from_secs(5);

/// A receiver that did not take a batch is given no spans for so long. Nothing is sent twice.
const DEAF_PERIOD: Duration = Duration::from_secs(1);

/// Counters of spans by what became of them; the one metric that this crate writes.
pub(crate) const SPANS: &str = "otel_spans_total";
const SENT: &str = "outcome=\"sent\"";
const DROPPED: &str = "outcome=\"dropped\"";
const FAILED: &str = "outcome=\"failed\"";

/// On which side of a call a span is.
pub use opentelemetry_proto::tonic::trace::v1::span::SpanKind;

/// A value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// A text.
    Text(Cow<'static, str>),
    /// A number.
    Number(i64),
}

/// Sends what is traced.
#[derive(Clone, Debug)]
pub struct Tracer {
    sender: Option<SyncSender<Vec<Span>>>,
    /// Whether requests that say nothing of traces get one.
    begins: bool,
    /// Whether the last batch was not taken, until it is tried again.
    is_deaf: Arc<AtomicBool>,
    epoch: Epoch,
    metrics: Arc<Metrics>,
}

/// The spans of one request: the one that answers it, and those below.
#[derive(Debug)]
pub struct Trace {
    tracer: Tracer,
    trace_id: [u8; 16],
    parent_id: Vec<u8>,
    root_id: [u8; 8],
    is_kept: bool,
    links: Vec<Link>,
    spans: Vec<Span>,
}

/// A child span whose context is passed on before it ends.
#[derive(Clone, Copy, Debug)]
pub struct Below([u8; 8]);

/// A span that is over.
#[derive(Clone, Debug)]
pub struct Timed {
    /// The operation: `SELECT app`.
    pub name: Cow<'static, str>,
    /// On which side of a call it is.
    pub kind: SpanKind,
    /// When it began.
    pub began: Instant,
    /// When it ended.
    pub ended: Instant,
    /// Further attributes.
    pub attributes: Vec<(&'static str, Attribute)>,
    /// Whether it failed.
    pub is_error: bool,
}

impl Tracer {
    /// Sends in the name of a service: to this base URL; without one to where a run on this machine listens, and only what
    /// requests ask for.
    pub fn new(endpoint: Option<&str>, service: &'static str, metrics: Arc<Metrics>) -> Tracer {
        let (sender, receiver) = sync_channel(TRACES_WAITING_MAX);
        let is_deaf = Arc::new(AtomicBool::new(false));
        let exporter = Exporter {
            url: format!("{}/v1/traces", endpoint.unwrap_or(ENDPOINT_DEFAULT).trim_end_matches('/')),
            service,
            is_deaf: is_deaf.clone(),
            metrics: metrics.clone(),
        };
        let spawned =
            std::thread::Builder::new().name("spans".to_owned()).spawn(move || exporter.run(&receiver));
        let sender = spawned.is_ok().then_some(sender);
        Tracer { sender, begins: endpoint.is_some(), is_deaf, epoch: Epoch::anchor(&SystemClock), metrics }
    }

    /// Begins the spans of a request, which belong to the trace of its `traceparent` header where it has one (W3C Trace
    /// Context, 3.2).
    pub fn trace(&self, traceparent: Option<&str>) -> Trace {
        let parent = traceparent.and_then(parse_traceparent);
        let (trace_id, parent_id, is_sampled) = match parent {
            Some((trace_id, parent_id, is_sampled)) => (trace_id, parent_id.to_vec(), is_sampled),
            None => (fastrand::u128(1..).to_be_bytes(), Vec::new(), self.begins),
        };
        let is_wanted = is_sampled && self.sender.is_some();
        let is_deaf = self.is_deaf.load(Ordering::Relaxed);
        if is_wanted && is_deaf {
            // Its spans are not even made, and count as one.
            self.metrics.add(SPANS, DROPPED, 1.0);
        }
        Trace {
            tracer: self.clone(),
            trace_id,
            parent_id,
            root_id: fastrand::u64(1..).to_be_bytes(),
            is_kept: is_wanted && !is_deaf,
            links: Vec::new(),
            spans: Vec::new(),
        }
    }
}

impl Trace {
    /// Its number, as it is written in logs.
    pub fn id(&self) -> String {
        self.trace_id.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The `traceparent` of what is called or sent on its way (W3C Trace Context, 3.2): below the span that answers.
    pub fn traceparent(&self) -> String {
        self.traceparent_below(Below(self.root_id))
    }

    /// Begins a span below the one that answers: a call whose answer, or a message whose work, is to stand below it.
    pub fn below(&self) -> Below {
        Below(fastrand::u64(1..).to_be_bytes())
    }

    /// The `traceparent` of what is called or sent by that span.
    pub fn traceparent_below(&self, below: Below) -> String {
        let span = u64::from_be_bytes(below.0);
        format!("00-{}-{span:016x}-{:02x}", self.id(), u8::from(self.is_kept))
    }

    /// Has the span that answers point at what caused it, by the `traceparent` that came with that (OpenTelemetry, "Links
    /// between spans").
    pub fn link(&mut self, traceparent: &str) {
        if let Some((trace_id, span_id, _)) = parse_traceparent(traceparent) {
            let link = Link { trace_id: trace_id.to_vec(), span_id: span_id.to_vec(), ..Link::default() };
            self.links.push(link);
        }
    }

    /// Adds a span below the one that answers.
    pub fn add(&mut self, timed: Timed) {
        self.end_below(self.below(), timed);
    }

    /// Ends a span that was begun below the one that answers.
    pub fn end_below(&mut self, below: Below, timed: Timed) {
        if self.is_kept {
            let span = self.span(timed, below.0.to_vec(), self.root_id.to_vec());
            self.spans.push(span);
        }
    }

    /// Ends with the span that answers, and has all of them sent.
    pub fn end(mut self, timed: Timed) {
        if !self.is_kept {
            return;
        }
        let root = self.span(timed, self.root_id.to_vec(), self.parent_id.clone());
        self.spans.push(Span { links: std::mem::take(&mut self.links), ..root });
        let count = self.spans.len();
        let Some(sender) = &self.tracer.sender else { return };
        if sender.try_send(self.spans).is_err() {
            self.tracer.metrics.add(SPANS, DROPPED, count as f64);
        }
    }

    fn span(&self, timed: Timed, span_id: Vec<u8>, parent_span_id: Vec<u8>) -> Span {
        let unix_ns = |at: Instant| u64::try_from(self.tracer.epoch.wall_unix_ns(at)).unwrap_or_default();
        let attributes = timed.attributes.into_iter().map(|(key, value)| key_value(key, value)).collect();
        let code = if timed.is_error { status::StatusCode::Error } else { status::StatusCode::Unset };
        Span {
            trace_id: self.trace_id.to_vec(),
            span_id,
            parent_span_id,
            name: timed.name.into_owned(),
            kind: timed.kind.into(),
            start_time_unix_nano: unix_ns(timed.began),
            end_time_unix_nano: unix_ns(timed.ended),
            attributes,
            status: Some(Status { message: String::new(), code: code.into() }),
            ..Span::default()
        }
    }
}

/// Attributes of a database call (OpenTelemetry, "Database client spans"); the lab's databases are all on this machine.
pub fn of_database(
    system: &'static str,
    text: impl Into<Cow<'static, str>>,
) -> Vec<(&'static str, Attribute)> {
    vec![
        ("db.system.name", Attribute::Text(system.into())),
        ("db.query.text", Attribute::Text(text.into())),
        ("server.address", Attribute::Text("127.0.0.1".into())),
    ]
}

struct Exporter {
    url: String,
    service: &'static str,
    is_deaf: Arc<AtomicBool>,
    metrics: Arc<Metrics>,
}

impl Exporter {
    fn run(&self, receiver: &Receiver<Vec<Span>>) {
        let config = ureq::Agent::config_builder().timeout_global(Some(SEND_LIMIT)).proxy(None);
        let agent = config.build().new_agent();
        let mut tries_at = Instant::ZERO;
        loop {
            let began = SystemClock::now();
            if began >= tries_at {
                self.is_deaf.store(false, Ordering::Relaxed);
            }
            let mut batch = Vec::new();
            while batch.len() < SPANS_PER_BATCH {
                let left = BATCH_PERIOD.saturating_sub(SystemClock::now().since(began));
                match receiver.recv_timeout(left) {
                    Ok(spans) => batch.extend(spans),
                    Err(RecvTimeoutError::Timeout) => break,
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
            if self.is_deaf.load(Ordering::Relaxed) {
                // What was begun before that was known.
                self.metrics.add(SPANS, DROPPED, batch.len() as f64);
            } else if !batch.is_empty() && !self.send(&agent, batch) {
                tries_at = SystemClock::now() + DEAF_PERIOD;
                self.is_deaf.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Sends a batch once; whether it was taken.
    fn send(&self, agent: &ureq::Agent, spans: Vec<Span>) -> bool {
        let count = spans.len();
        let body = self.request(spans).encode_to_vec();
        let sent = agent.post(&self.url).header("content-type", "application/x-protobuf").send(&body[..]);
        self.metrics.add(SPANS, if sent.is_ok() { SENT } else { FAILED }, count as f64);
        sent.is_ok()
    }

    fn request(&self, spans: Vec<Span>) -> ExportTraceServiceRequest {
        let name = key_value("service.name", Attribute::Text(self.service.into()));
        let scope = InstrumentationScope { name: "plimsoll-lab".to_owned(), ..Default::default() };
        let scope_spans = vec![ScopeSpans { scope: Some(scope), spans, ..Default::default() }];
        let resource = Resource { attributes: vec![name], ..Default::default() };
        let resource_spans =
            vec![ResourceSpans { resource: Some(resource), scope_spans, ..Default::default() }];
        ExportTraceServiceRequest { resource_spans }
    }
}

fn key_value(key: &str, value: Attribute) -> KeyValue {
    let value = match value {
        Attribute::Text(text) => Value::StringValue(text.into_owned()),
        Attribute::Number(number) => Value::IntValue(number),
    };
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..Default::default() }
}

/// The trace, the caller's span, and whether the caller keeps the trace.
fn parse_traceparent(text: &str) -> Option<([u8; 16], [u8; 8], bool)> {
    let mut parts = text.trim().split('-');
    let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_plain = [(version, 2), (trace, 32), (parent, 16), (flags, 2)].iter().all(|(part, length)| {
        part.len() == *length && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    });
    if !is_plain || version == "ff" || version == "00" && parts.next().is_some() {
        return None;
    }
    let trace = u128::from_str_radix(trace, 16).ok().filter(|trace| *trace != 0)?;
    let parent = u64::from_str_radix(parent, 16).ok().filter(|parent| *parent != 0)?;
    let flags = u8::from_str_radix(flags, 16).ok()?;
    Some((trace.to_be_bytes(), parent.to_be_bytes(), flags & 1 == 1))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpListener;

    use super::*;
    use crate::metrics::Definition;

    /// Takes one request, answers it and gives its body.
    fn receive(listener: &TcpListener) -> Vec<u8> {
        let (stream, _) = listener.accept().expect("a connection");
        let mut reader = BufReader::new(stream);
        let (mut line, mut length) = (String::new(), 0);
        while reader.read_line(&mut line).expect("a head") > 2 {
            let header = line.to_lowercase();
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a number");
            }
            line.clear();
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).expect("a body");
        reader.get_mut().write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").expect("an answer");
        body
    }

    const DEFINITIONS: &[Definition] =
        &[Definition { name: SPANS, help: "Spans.", kind: crate::metrics::Kind::Counter }];

    fn wait_for(metrics: &Metrics, line: &str) {
        while !metrics.render().contains(line) {
            std::thread::yield_now();
        }
    }

    #[test]
    fn while_nobody_listens_no_spans_are_made() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("it is bound");
        drop(listener);
        let metrics = Arc::new(Metrics::new(DEFINITIONS));
        let tracer = Tracer::new(Some(&format!("http://{address}")), "shop", metrics.clone());
        let timed = Timed {
            name: "GET /".into(),
            kind: SpanKind::Server,
            began: SystemClock::now(),
            ended: SystemClock::now(),
            attributes: Vec::new(),
            is_error: false,
        };
        tracer.trace(None).end(timed.clone());
        wait_for(&metrics, "otel_spans_total{outcome=\"failed\"} 1");
        while !tracer.is_deaf.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        assert!(!tracer.trace(None).is_kept);
        wait_for(&metrics, "otel_spans_total{outcome=\"dropped\"} 1");
        // It is tried again.
        while !tracer.trace(None).is_kept {
            std::thread::yield_now();
        }
    }

    #[test]
    fn who_was_not_told_where_to_sends_what_is_asked_for() {
        let tracer = Tracer::new(None, "shop", Arc::new(Metrics::new(DEFINITIONS)));
        assert!(!tracer.trace(None).is_kept);
        let asked = |flags| format!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-{flags}");
        assert!(tracer.trace(Some(&asked("01"))).is_kept);
        assert!(!tracer.trace(Some(&asked("00"))).is_kept);
    }

    #[test]
    fn spans_arrive_below_the_one_that_answers() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/", listener.local_addr().expect("it is bound"));
        let metrics = Arc::new(Metrics::new(DEFINITIONS));
        let tracer = Tracer::new(Some(&url), "shop", metrics.clone());
        let timed = |name: &'static str, kind| Timed {
            name: name.into(),
            kind,
            began: SystemClock::now(),
            ended: SystemClock::now() + Duration::from_millis(5),
            attributes: vec![("rows", Attribute::Number(3))],
            is_error: false,
        };
        tracer
            .trace(Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"))
            .end(timed("not kept", SpanKind::Server));
        let mut trace = tracer.trace(Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
        let below = trace.below();
        let forwarded = trace.traceparent_below(below);
        trace.end_below(below, timed("SELECT", SpanKind::Client));
        trace.link("00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01");
        trace.link("nothing");
        let (trace_id, parent_id, is_kept) = parse_traceparent(&trace.traceparent()).expect("it can be read");
        assert_eq!((trace_id, parent_id, is_kept), (trace.trace_id, trace.root_id, true));
        assert_eq!(trace.id(), "0af7651916cd43dd8448eb211c80319c");
        trace.end(timed("GET /", SpanKind::Server));
        let request = ExportTraceServiceRequest::decode(&receive(&listener)[..]).expect("protobuf");
        let spans = &request.resource_spans[0].scope_spans[0].spans;
        let [child, root] = &spans[..] else { panic!("two spans: {spans:?}") };
        assert_eq!((child.name.as_str(), root.name.as_str()), ("SELECT", "GET /"));
        assert_eq!(child.parent_span_id, root.span_id);
        assert_eq!(
            parse_traceparent(&forwarded).map(|parsed| parsed.1.to_vec()).as_ref(),
            Some(&child.span_id)
        );
        assert_eq!(
            root.links.iter().map(|link| &link.span_id[..]).collect::<Vec<_>>(),
            [0x00f0_67aa_0ba9_02b7_u64.to_be_bytes()]
        );
        assert_eq!(root.parent_span_id, 0xb7ad_6b71_6920_3331_u64.to_be_bytes());
        assert!(spans.iter().all(|span| span.trace_id == root.trace_id));
        assert!(root.end_time_unix_nano >= root.start_time_unix_nano + 5_000_000);
        wait_for(&metrics, "otel_spans_total{outcome=\"sent\"} 2");
    }

    #[test]
    fn a_traceparent_is_read_as_w3c_says() {
        let check = |text: &str, expect: Option<(u128, u64, bool)>| {
            let read = parse_traceparent(text);
            let read = read
                .map(|(trace, parent, kept)| (u128::from_be_bytes(trace), u64::from_be_bytes(parent), kept));
            assert_eq!(read, expect, "{text}");
        };
        let (trace, parent) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
        let numbers = (0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c, 0xb7ad_6b71_6920_3331);
        check(&format!("00-{trace}-{parent}-01"), Some((numbers.0, numbers.1, true)));
        check(&format!("00-{trace}-{parent}-00"), Some((numbers.0, numbers.1, false)));
        check(&format!("01-{trace}-{parent}-01-more"), Some((numbers.0, numbers.1, true)));
        for bad in [
            String::new(),
            format!("00-{trace}-{parent}"),
            format!("00-{trace}-{parent}-01-more"),
            format!("ff-{trace}-{parent}-01"),
            format!("00-{}-{parent}-01", "0".repeat(32)),
            format!("00-{}-{parent}-01", trace.to_uppercase()),
            format!("00-+{}-{parent}-01", &trace[1..]),
        ] {
            check(&bad, None);
        }
    }
}
