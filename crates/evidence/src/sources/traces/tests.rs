//! The sources against responses built from the published APIs.

use std::sync::{Arc, Mutex};

use model::{SpanKind, SystemClock};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use super::*;
use crate::contract::promises;
use crate::stage::{Pages, Reply};

/// Start of the tests' run, nanoseconds since 1970.
const WALL_NS: i64 = 1_769_486_191_700_000_000;

/// Returns a trace with a request of the shop and its database query, in OTLP JSON.
fn spans(trace: u128, fails: bool) -> Value {
    let span = |id: u64, parent: &str, kind: u32, after_ms: i64, took_ms: i64| {
        let start = WALL_NS + after_ms * 1_000_000;
        json!({
            "traceId": format!("{trace:032x}"), "spanId": format!("{id:016x}"), "parentSpanId": parent,
            "name": if kind == 2 { "GET /apps" } else { "SELECT" }, "kind": kind,
            "startTimeUnixNano": start.to_string(), "endTimeUnixNano": (start + took_ms * 1_000_000).to_string(),
            "attributes": [{"key": "http.request.header.cookie", "value": {"stringValue": "t0psecret"}}],
            "status": {"code": if fails { 2 } else { 0 }},
        })
    };
    let parent = format!("{:016x}", 1);
    json!([{
        "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
        "scopeSpans": [{"scope": {}, "spans": [span(2, &parent, 3, 1_010, 20), span(1, "", 2, 1_000, 40)]}],
    }])
}

/// Serves a Jaeger with these traces, and one more that is only found by its id; records the queries.
fn jaeger(traces: &'static [u128]) -> (Pages, Arc<Mutex<Vec<String>>>) {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = asked.clone();
    let answer = move |path: &str| -> Reply {
        log.lock().expect("no thread panicked").push(path.to_owned());
        let found = |spans: Value| (200, json!({ "result": { "resourceSpans": spans } }).to_string());
        let all = |fails: bool| {
            let of_each =
                traces.iter().flat_map(|trace| spans(*trace, fails).as_array().cloned().unwrap_or_default());
            Value::from_iter(of_each)
        };
        match path.split('?').next().unwrap_or_default() {
            "/api/v3/services" => (200, json!({"services": ["shop"]}).to_string()),
            "/api/v3/traces" if path.contains("attributes") => {
                (404, json!({"error": {"httpCode": 404, "message": "No traces found"}}).to_string())
            }
            "/api/v3/traces" => found(all(false)),
            "/api/v3/traces/00000000000000000000000000000009" => found(spans(9, true)),
            _ => (404, String::new()),
        }
    };
    (Pages::start(answer), asked)
}

/// Serves a Tempo whose traces are all empty: their encoding is tested elsewhere.
fn tempo() -> Pages {
    Pages::start(|path| match path.split('?').next().unwrap_or_default() {
        "/api/echo" => (200, "echo".to_owned()),
        "/api/search" => (
            200,
            json!({"traces": [{
                "traceID": "9", "rootServiceName": "shop", "rootTraceName": "GET /apps",
                "startTimeUnixNano": WALL_NS.to_string(), "durationMs": 40}], "metrics": {"totalBlocks": 1}})
            .to_string(),
        ),
        // A message without fields.
        "/api/traces/00000000000000000000000000000009" => (200, String::new()),
        _ => (404, "trace not found".to_owned()),
    })
}

fn source(kind: &str, address: &str) -> Result<Box<dyn Source>, SettingsError> {
    crate::sources::open(&Settings {
        name: "store".to_owned(),
        kind: kind.to_owned(),
        address: address.to_owned(),
        credential: Some("t0psecret".to_owned()),
        ..Settings::default()
    })
}

fn run() -> Period {
    let epoch = Epoch { at: Instant::from_ns(5_000_000_000), wall_unix_ns: WALL_NS };
    let moment = |after_s: u64| Moment::new(Instant::from_ns((5 + after_s) * 1_000_000_000), &epoch);
    Period { from: moment(0), to: moment(60) }
}

#[test]
fn promises_are_kept_with_the_published_apis() {
    let ((jaeger, _), tempo) = (jaeger(&[7]), tempo());
    for (kind, page) in [("jaeger", jaeger), ("tempo", tempo)] {
        let mut source = source(kind, &page.url("")).expect("settings that are right");
        promises::of_a_source(source.as_mut(), Some("t0psecret"));
    }
}

#[test]
fn promises_are_kept_without_a_server() {
    for kind in ["jaeger", "tempo"] {
        promises::of_an_absent_server(source(kind, "http://127.0.0.1:9").expect("right").as_mut());
    }
}

#[test]
fn traces_are_found_by_their_numbers_and_by_a_search() {
    let (jaeger, asked) = jaeger(&[7, 8]);
    let mut source = source("jaeger", &jaeger.url("")).expect("settings that are right");
    source.look_for(&[9, 8, 77]);
    let evidence = source.look_back(&run()).expect("it is there");
    let kept: Vec<(u128, &str)> =
        evidence.traces.iter().map(|trace| (trace.id, trace.kept.as_str())).collect();
    assert_eq!(kept, [(7, "found"), (8, "found"), (9, "error")]);
    let [request, question] = &evidence.traces[0].spans[..] else { panic!("two spans: {evidence:?}") };
    assert_eq!((request.kind, &*request.service, request.parent), (SpanKind::Server, "shop", None));
    assert_eq!((request.start_ns, question.start_ns), (6_000_000_000, 6_010_000_000), "on the run's clock");
    let [warning] = &evidence.records[..] else { panic!("a warning: {evidence:?}") };
    assert_eq!(crate::lines::shown(warning), "warning traces are incomplete: traces_not_there=1");

    let asked = asked.lock().expect("no thread panicked");
    let search = asked.iter().find(|path| path.contains("query.")).expect("a search");
    for part in ["query.service_name=shop", "start_time_min=2026-01-27T03%3A56%3A31.7", "search_depth=100"] {
        assert!(search.contains(part), "{part} is not in {search}");
    }
    let fetched: Vec<&String> = asked.iter().filter(|path| path.starts_with("/api/v3/traces/")).collect();
    assert_eq!(fetched.len(), 2, "those that the search gave are there already: {fetched:?}");
}

proptest! {
    #[test]
    fn an_answer_of_a_jaeger_is_refused_or_bounded(
        bytes in prop::collection::vec(any::<u8>(), 0..500),
        traces in prop::collection::vec((1..5_u128, any::<bool>()), 0..6),
        changes in prop::collection::vec((any::<Index>(), prop::collection::vec(any::<u8>(), 0..4)), 0..6),
    ) {
        super::jaeger::assert_bounded(&bytes);
        let all: Vec<Value> =
            traces.iter().flat_map(|(trace, fails)| spans(*trace, *fails).as_array().cloned().unwrap_or_default()).collect();
        let mut answer = json!({ "result": { "resourceSpans": all } }).to_string().into_bytes();
        super::jaeger::assert_bounded(&answer);
        for (place, other) in changes {
            let place = place.index(answer.len());
            answer.splice(place..=place, other);
        }
        super::jaeger::assert_bounded(&answer);
    }

    #[test]
    fn numbers_of_a_tempo_are_read_or_left_out(text in ".{0,40}") {
        let read = super::tempo::number(&json!({ "traceID": text }));
        prop_assert!(read.is_none_or(|number| number != 0 && u128::from_str_radix(&text, 16).ok() == Some(number)));
    }
}

#[test]
fn what_is_too_much_is_left_out_and_counted() {
    let mut gathering = Gathering::default();
    let decoded = Decoder::new(Epoch::anchor(&SystemClock))
        .json(json!({ "resourceSpans": spans(1, false) }).to_string().as_bytes())
        .expect("spans");
    let span = decoded.spans[0].1.clone();
    let of_one = (1..).take(SPANS_OF_TRACE_MAX + 3).map(|id| (1, Span { id, ..span.clone() }));
    gathering.take(of_one.collect());
    assert_eq!((gathering.spans, gathering.spans_left_out), (SPANS_OF_TRACE_MAX, 3));
    gathering.take((1..).take(TRACES_MAX + 2).map(|trace| (trace, span.clone())).collect());
    // The first trace has this span already, or has reached its limit.
    assert_eq!(gathering.traces.len(), TRACES_MAX);
    assert!(gathering.spans_left_out >= 5, "{}", gathering.spans_left_out);
}

#[test]
fn what_is_no_answer_is_trouble() {
    for body in ["", "[]", "{\"result\":7}", "<html>"] {
        let page = Pages::start(move |_| (200, body.to_owned()));
        let mut source = source("jaeger", &page.url("")).expect("settings that are right");
        source.look_for(&[1]);
        let evidence = source.look_back(&run());
        let is_told = evidence
            .as_ref()
            .map_or(true, |evidence| evidence.traces.is_empty() && !evidence.records.is_empty());
        assert!(is_told, "{body}: {evidence:?}");
    }
}
