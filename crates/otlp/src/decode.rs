//! From what is sent to spans: numbers checked, texts cut, the wall clock translated.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use model::{Epoch, Span, SpanKind, SpanStatus};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1 as proto;
use serde_json::Value as Json;

use crate::walk::{self, Visitor};

/// Spans of one request; exporters send 512 at a time.
const SPANS_PER_REQUEST_MAX: usize = 100_000;
/// Attributes of a span; SDKs keep 128.
const ATTRIBUTES_MAX: usize = 128;
/// Links of a span.
const LINKS_MAX: usize = 32;
/// Names of services, operations and attributes.
const NAME_BYTES_MAX: usize = 256;
/// Values of attributes: a statement of SQL.
const VALUE_BYTES_MAX: usize = 4096;
/// Names that are held once.
const NAMES_MAX: usize = 20_000;

/// Service name of a resource without one (OpenTelemetry, resource semantic conventions).
const UNKNOWN_SERVICE: &str = "unknown_service";
/// Attributes of the resource that each of its spans has.
const OF_RESOURCE: [&str; 2] = ["service.instance.id", "service.version"];
/// Attributes of an exception's event.
const OF_EXCEPTION: [&str; 2] = ["exception.type", "exception.message"];
/// Where the text of a status goes (OpenTelemetry, mapping to formats that have none).
const STATUS_TEXT: &str = "otel.status_description";

/// Endings of the last component of an attribute's name whose value is secret and replaced.
const SECRET_ENDINGS: [&str; 8] =
    ["authorization", "cookie", "password", "passwd", "secret", "token", "api_key", "apikey"];
const HIDDEN: &str = "(hidden)";

/// The request is not valid OTLP. Reads after "failed to".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read the request: {0}")]
pub struct Malformed(pub(crate) String);

/// The contents of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded {
    /// Spans with the numbers of their traces.
    pub spans: Vec<(u128, Span)>,
    /// Spans without valid numbers.
    pub without_id: u64,
    /// Spans that are too large, or too many for one request.
    pub too_large: u64,
    /// Names and values that were cut, and attributes and links that were left out.
    pub cut: u64,
}

/// Turns requests into spans. Names are held once, however often they come.
#[derive(Debug)]
pub struct Decoder {
    epoch: Epoch,
    names: HashSet<Arc<str>>,
}

impl Decoder {
    /// One that translates the wall clock by this anchor.
    pub fn new(epoch: Epoch) -> Decoder {
        Decoder { epoch, names: HashSet::new() }
    }

    /// Reads a request in protobuf.
    ///
    /// # Errors
    /// It is none.
    pub fn protobuf(&mut self, request: &[u8]) -> Result<Decoded, Malformed> {
        let mut reading = Reading::new(self);
        walk::request(request, &mut reading)?;
        Ok(reading.decoded)
    }

    /// Reads a request in JSON.
    ///
    /// # Errors
    /// It is none.
    pub fn json(&mut self, request: &[u8]) -> Result<Decoded, Malformed> {
        let request: ExportTraceServiceRequest =
            serde_json::from_slice(request).map_err(|error| Malformed(error.to_string()))?;
        let mut reading = Reading::new(self);
        for resource_spans in request.resource_spans {
            reading.resource(Some(resource_spans.resource.unwrap_or_default()));
            let spans = resource_spans.scope_spans.into_iter().flat_map(|scope| scope.spans);
            spans.for_each(|span| reading.span(Some(span)));
        }
        Ok(reading.decoded)
    }

    fn name(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let name: Arc<str> = name.into();
        if self.names.len() < NAMES_MAX {
            self.names.insert(name.clone());
        }
        name
    }
}

/// A request on its way.
struct Reading<'a> {
    decoder: &'a mut Decoder,
    decoded: Decoded,
    service: Arc<str>,
    of_resource: Vec<(Arc<str>, String)>,
}

impl Visitor for Reading<'_> {
    fn resource(&mut self, resource: Option<Resource>) {
        let mut service = String::new();
        self.of_resource.clear();
        for attribute in resource.unwrap_or_default().attributes {
            match attribute.key.as_str() {
                "service.name" => service = text_of(attribute.value),
                // A resource may name the same twice, or a million times.
                key if OF_RESOURCE.contains(&key) && self.of_resource.len() < OF_RESOURCE.len() => {
                    let attribute = self.attribute(attribute);
                    self.of_resource.push(attribute);
                }
                _ => {}
            }
        }
        self.service = self.name(if service.is_empty() { UNKNOWN_SERVICE } else { &service });
    }

    fn span(&mut self, span: Option<proto::Span>) {
        let Some(span) = span.filter(|_| self.decoded.spans.len() < SPANS_PER_REQUEST_MAX) else {
            self.decoded.too_large += 1;
            return;
        };
        let (Some(trace), Some(id)) = (trace_id(&span.trace_id), span_id(&span.span_id)) else {
            self.decoded.without_id += 1;
            return;
        };
        let span = self.translate(id, span);
        self.decoded.spans.push((trace, span));
    }
}

impl<'a> Reading<'a> {
    fn new(decoder: &'a mut Decoder) -> Reading<'a> {
        let service = decoder.name(UNKNOWN_SERVICE);
        Reading { decoder, decoded: Decoded::default(), service, of_resource: Vec::new() }
    }

    fn translate(&mut self, id: u64, span: proto::Span) -> Span {
        let kind = kind(span.kind);
        let status = span.status.unwrap_or_default();
        let mut attributes = self.of_resource.clone();
        let remaining = ATTRIBUTES_MAX - attributes.len();
        self.decoded.cut += span.attributes.len().saturating_sub(remaining) as u64;
        attributes
            .extend(span.attributes.into_iter().take(remaining).map(|attribute| self.attribute(attribute)));
        let exception = span.events.into_iter().find(|event| event.name == "exception");
        for attribute in exception.map(|event| event.attributes).unwrap_or_default() {
            if OF_EXCEPTION.contains(&attribute.key.as_str()) {
                attributes.push(self.attribute(attribute));
            }
        }
        if !status.message.is_empty() {
            attributes.push((self.name(STATUS_TEXT), self.cut(status.message.clone(), VALUE_BYTES_MAX)));
        }
        let links = span.links.iter().filter_map(|link| trace_id(&link.trace_id).zip(span_id(&link.span_id)));
        let links: Vec<(u128, u64)> = links.take(LINKS_MAX).collect();
        self.decoded.cut += span.links.len().saturating_sub(LINKS_MAX) as u64;
        Span {
            id,
            parent: span_id(&span.parent_span_id),
            kind,
            service: self.service.clone(),
            operation: self.name(&span.name),
            start_ns: self.instant_ns(span.start_time_unix_nano),
            duration: Duration::from_nanos(span.end_time_unix_nano.saturating_sub(span.start_time_unix_nano)),
            status: match status.code() {
                proto::status::StatusCode::Unset => SpanStatus::Unset,
                proto::status::StatusCode::Ok => SpanStatus::Ok,
                proto::status::StatusCode::Error => SpanStatus::Error,
            },
            attributes,
            links,
        }
    }

    /// A time of the wall clock on the run's clock. It may be before that clock's origin.
    fn instant_ns(&self, unix_ns: u64) -> i64 {
        let epoch = &self.decoder.epoch;
        let ns = i128::from(unix_ns) - i128::from(epoch.wall_unix_ns) + i128::from(epoch.at.as_ns());
        ns.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    fn attribute(&mut self, attribute: KeyValue) -> (Arc<str>, String) {
        let value = match is_secret(&attribute.key) {
            true => HIDDEN.to_owned(),
            false => self.cut(text_of(attribute.value), VALUE_BYTES_MAX),
        };
        (self.name(&attribute.key), value)
    }

    fn name(&mut self, name: &str) -> Arc<str> {
        let cut = &name[..name.floor_char_boundary(NAME_BYTES_MAX)];
        self.decoded.cut += u64::from(cut.len() < name.len());
        self.decoder.name(cut)
    }

    fn cut(&mut self, mut text: String, bytes_max: usize) -> String {
        if text.len() > bytes_max {
            self.decoded.cut += 1;
            text.truncate(text.floor_char_boundary(bytes_max));
            text.shrink_to_fit();
        }
        text
    }
}

fn is_secret(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase().replace('-', "_");
    SECRET_ENDINGS.iter().any(|ending| last.ends_with(ending))
}

/// The number of a trace: sixteen bytes that are not all zero (W3C Trace Context, 3.2.2.3).
fn trace_id(bytes: &[u8]) -> Option<u128> {
    bytes.try_into().ok().map(u128::from_be_bytes).filter(|id| *id != 0)
}

/// The number of a span: eight bytes that are not all zero (W3C Trace Context, 3.2.2.4).
fn span_id(bytes: &[u8]) -> Option<u64> {
    bytes.try_into().ok().map(u64::from_be_bytes).filter(|id| *id != 0)
}

fn kind(number: i32) -> SpanKind {
    use proto::span::SpanKind as Sent;
    match Sent::try_from(number).unwrap_or_default() {
        Sent::Unspecified | Sent::Internal => SpanKind::Internal,
        Sent::Server => SpanKind::Server,
        Sent::Client => SpanKind::Client,
        Sent::Producer => SpanKind::Producer,
        Sent::Consumer => SpanKind::Consumer,
    }
}

fn text_of(value: Option<AnyValue>) -> String {
    match json_of(value.and_then(|value| value.value)) {
        Json::String(text) => text,
        Json::Null => String::new(),
        json => json.to_string(),
    }
}

/// Converts an attribute's value to JSON. The parser bounds its depth.
fn json_of(value: Option<Value>) -> Json {
    let inner = |value: AnyValue| json_of(value.value);
    match value {
        Some(Value::StringValue(text)) => text.into(),
        Some(Value::BoolValue(truth)) => truth.into(),
        Some(Value::IntValue(number)) => number.into(),
        Some(Value::DoubleValue(number)) if number.is_finite() => number.into(),
        Some(Value::DoubleValue(number)) => number.to_string().into(),
        Some(Value::ArrayValue(array)) => array.values.into_iter().map(inner).collect(),
        Some(Value::KvlistValue(list)) => {
            list.values.into_iter().map(|pair| (pair.key, pair.value.map_or(Json::Null, inner))).collect()
        }
        Some(Value::BytesValue(bytes)) => format!("{} bytes", bytes.len()).into(),
        // It points into a table that traces do not have.
        Some(Value::StringValueStrindex(_)) | None => Json::Null,
    }
}

#[cfg(test)]
mod tests {
    use model::Instant;
    use opentelemetry_proto::tonic::common::v1::{ArrayValue, KeyValueList};
    use opentelemetry_proto::tonic::trace::v1::span::{Event, Link};
    use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Status};
    use prost::Message;

    use super::*;

    const WALL_NS: i64 = 1_700_000_000_000_000_000;

    fn decoder() -> Decoder {
        Decoder::new(Epoch { at: Instant::from_ns(5_000), wall_unix_ns: WALL_NS })
    }

    fn value(value: Value) -> Option<AnyValue> {
        Some(AnyValue { value: Some(value) })
    }

    fn attribute(key: &str, text: &str) -> KeyValue {
        let value = value(Value::StringValue(text.to_owned()));
        KeyValue { key: key.to_owned(), value, ..KeyValue::default() }
    }

    fn sent(trace: u8, span: u8) -> proto::Span {
        proto::Span {
            trace_id: vec![trace; 16],
            span_id: vec![span; 8],
            name: "GET /".to_owned(),
            kind: 2,
            start_time_unix_nano: WALL_NS as u64 + 10,
            end_time_unix_nano: WALL_NS as u64 + 30,
            ..proto::Span::default()
        }
    }

    fn request(attributes: Vec<KeyValue>, spans: Vec<proto::Span>) -> ExportTraceServiceRequest {
        let resource = Some(Resource { attributes, ..Resource::default() });
        let scope_spans = vec![ScopeSpans { spans, ..ScopeSpans::default() }];
        let resource_spans = vec![ResourceSpans { resource, scope_spans, ..ResourceSpans::default() }];
        ExportTraceServiceRequest { resource_spans }
    }

    /// Both ways give the same.
    fn decode(request: &ExportTraceServiceRequest) -> Decoded {
        let decoded = decoder().protobuf(&request.encode_to_vec()).expect("protobuf");
        let json = serde_json::to_vec(request).expect("JSON");
        assert_eq!(decoder().json(&json).expect("JSON"), decoded);
        decoded
    }

    fn decode_one(span: proto::Span) -> Span {
        let mut decoded = decode(&request(vec![attribute("service.name", "shop")], vec![span]));
        assert_eq!(decoded.spans.len(), 1);
        decoded.spans.remove(0).1
    }

    #[test]
    fn a_span_arrives_whole() {
        let sent = proto::Span {
            parent_span_id: vec![9; 8],
            attributes: vec![attribute("http.route", "/")],
            links: vec![Link { trace_id: vec![7; 16], span_id: vec![8; 8], ..Link::default() }],
            status: Some(Status { message: "boom".to_owned(), code: 2 }),
            events: vec![Event {
                name: "exception".to_owned(),
                attributes: vec![
                    attribute("exception.type", "KeyError"),
                    attribute("exception.stacktrace", "x"),
                ],
                ..Event::default()
            }],
            ..sent(1, 2)
        };
        let resource = vec![
            attribute("service.name", "shop"),
            attribute("service.version", "3"),
            attribute("host.name", "h"),
        ];
        let decoded = decode(&request(resource, vec![sent]));
        let expect = Span {
            id: u64::from_be_bytes([2; 8]),
            parent: Some(u64::from_be_bytes([9; 8])),
            kind: SpanKind::Server,
            service: "shop".into(),
            operation: "GET /".into(),
            start_ns: 5_010,
            duration: Duration::from_nanos(20),
            status: SpanStatus::Error,
            attributes: vec![
                ("service.version".into(), "3".to_owned()),
                ("http.route".into(), "/".to_owned()),
                ("exception.type".into(), "KeyError".to_owned()),
                (STATUS_TEXT.into(), "boom".to_owned()),
            ],
            links: vec![(u128::from_be_bytes([7; 16]), u64::from_be_bytes([8; 8]))],
        };
        assert_eq!(decoded.spans, [(u128::from_be_bytes([1; 16]), expect)]);
        assert_eq!((decoded.without_id, decoded.too_large, decoded.cut), (0, 0, 0));
    }

    #[test]
    fn spans_without_numbers_are_refused_and_counted() {
        let short = proto::Span { trace_id: vec![1; 15], ..sent(1, 1) };
        let spans = vec![sent(0, 1), sent(1, 0), short, sent(1, 1)];
        let decoded = decode(&request(Vec::new(), spans));
        assert_eq!((decoded.spans.len(), decoded.without_id), (1, 3));
        assert_eq!(&*decoded.spans[0].1.service, UNKNOWN_SERVICE);
        assert_eq!(decoded.spans[0].1.parent, None);
    }

    #[test]
    fn more_spans_than_a_request_may_have_are_refused() {
        let spans = vec![sent(1, 1); SPANS_PER_REQUEST_MAX + 2];
        let decoded = decoder().protobuf(&request(Vec::new(), spans).encode_to_vec()).expect("sound");
        assert_eq!((decoded.spans.len(), decoded.too_large), (SPANS_PER_REQUEST_MAX, 2));
    }

    #[test]
    fn values_become_texts() {
        let check = |value: Option<Value>, expect: &str| {
            assert_eq!(text_of(Some(AnyValue { value })), expect);
        };
        let list = |values: Vec<Option<AnyValue>>| {
            Some(Value::ArrayValue(ArrayValue { values: values.into_iter().flatten().collect() }))
        };
        check(None, "");
        check(Some(Value::BoolValue(true)), "true");
        check(Some(Value::IntValue(-3)), "-3");
        check(Some(Value::DoubleValue(0.5)), "0.5");
        check(Some(Value::DoubleValue(f64::NAN)), "NaN");
        check(Some(Value::BytesValue(vec![1, 2])), "2 bytes");
        check(list(vec![value(Value::IntValue(1)), value(Value::StringValue("a".into()))]), r#"[1,"a"]"#);
        let pairs = KeyValueList { values: vec![attribute("k", "v")] };
        check(Some(Value::KvlistValue(pairs)), r#"{"k":"v"}"#);
    }

    #[test]
    fn long_texts_are_cut_between_characters_and_many_attributes_left_out() {
        let long = "ü".repeat(VALUE_BYTES_MAX);
        let mut attributes = vec![attribute(&long, &long)];
        attributes.extend((0..ATTRIBUTES_MAX).map(|index| attribute(&index.to_string(), "")));
        let span = proto::Span { name: long.clone(), attributes, ..sent(1, 1) };
        let decoded = decode(&request(Vec::new(), vec![span]));
        let (_, span) = &decoded.spans[0];
        assert_eq!((span.operation.len(), span.attributes.len()), (NAME_BYTES_MAX, ATTRIBUTES_MAX));
        assert_eq!(
            (span.attributes[0].0.len(), span.attributes[0].1.len()),
            (NAME_BYTES_MAX, VALUE_BYTES_MAX)
        );
        assert_eq!(decoded.cut, 4);
    }

    #[test]
    fn a_resource_that_repeats_itself_leaves_room_for_the_span() {
        let resource = vec![attribute("service.version", "1"); 2 * ATTRIBUTES_MAX];
        let span = proto::Span { attributes: vec![attribute("a", "b")], ..sent(1, 1) };
        let decoded = decode(&request(resource, vec![span]));
        assert_eq!(decoded.spans[0].1.attributes.len(), OF_RESOURCE.len() + 1);
    }

    #[test]
    fn what_sounds_like_a_secret_is_hidden() {
        let check = |name: &str, expect: bool| assert_eq!(is_secret(name), expect, "{name}");
        check("http.request.header.authorization", true);
        check("http.request.header.set-cookie", true);
        check("http.request.header.X-API-Key", true);
        check("db.password", true);
        check("gen_ai.usage.input_tokens", false);
        check("messaging.rabbitmq.destination.routing_key", false);
        let span =
            decode_one(proto::Span { attributes: vec![attribute("db.password", "hunter2")], ..sent(1, 1) });
        assert_eq!(span.attribute("db.password"), Some(HIDDEN));
    }

    #[test]
    fn clocks_that_are_far_off_stay_within_the_numbers() {
        let early =
            decode_one(proto::Span { start_time_unix_nano: 0, end_time_unix_nano: u64::MAX, ..sent(1, 1) });
        assert_eq!(early.start_ns, 5_000 - WALL_NS);
        let late = decode_one(proto::Span { start_time_unix_nano: u64::MAX, ..sent(1, 1) });
        assert_eq!((late.start_ns, late.duration), (i64::MAX, Duration::ZERO));
    }

    #[test]
    fn what_is_no_request_is_an_error() {
        assert!(decoder().protobuf(b"\x0a\x05\x12").is_err());
        assert!(decoder().json(b"{\"resourceSpans\": 5}").is_err());
        assert!(decoder().json("[".repeat(10_000).as_bytes()).is_err());
        assert_eq!(decoder().json(b"{}").expect("an empty one"), Decoded::default());
    }

    #[test]
    fn names_are_held_once() {
        let mut decoder = decoder();
        let bytes = request(Vec::new(), vec![sent(1, 1), sent(1, 2)]).encode_to_vec();
        let first = decoder.protobuf(&bytes).expect("sound").spans;
        let second = decoder.protobuf(&bytes).expect("sound").spans;
        assert!(Arc::ptr_eq(&first[0].1.operation, &second[1].1.operation));
        (0..2 * NAMES_MAX).for_each(|index| drop(decoder.name(&index.to_string())));
        assert_eq!(decoder.names.len(), NAMES_MAX);
    }
}
