//! Received traces: spans sent during a run are in its file, together with the requests that they belong to.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::PathBuf;

use analysis::traces::{Component, Tree, answer_path, attribute, request, task};
use model::{Datum, RecordKind, Span, SpanStatus, Trace};
use runfile::Reader;

use crate::harness::{Plimsoll, Ran, free_address, plimsoll};

/// Requests a server, and sends the span that an instrumented server would have sent in the same trace.
const SCRIPT: &str = "
import http from 'k6/http';
export const options = { vus: 2, iterations: 40 };
const hex = (size) => Array.from({ length: size }, () => Math.floor(Math.random() * 16).toString(16)).join('');
export default () => {
    const [, trace, parent] = http.get(`${__ENV.URL}/json`).request.headers['Traceparent'][0].split('-');
    const now = BigInt(Date.now()) * 1000000n;
    const span = {
        traceId: trace, parentSpanId: parent, spanId: hex(16), name: 'GET /json', kind: 2,
        startTimeUnixNano: `${now - 20000n}`, endTimeUnixNano: `${now}`,
    };
    const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] };
    const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] });
    http.post(`http://${__ENV.OTLP}/v1/traces`, body, { headers: { 'Content-Type': 'application/json' } });
};";

/// Returns the file of the only stored run.
pub(crate) fn stored_file(ran: &Ran) -> PathBuf {
    let folder = ran.folder().join("plimsoll/runs");
    std::fs::read_dir(folder).expect("a run was stored").next().expect("one").expect("readable").path()
}

/// Returns true if a trace consists of a request to the shop and the shop's spans, and nothing else.
fn has_shop_spans(trace: &Trace) -> bool {
    let tree = Tree::new(trace);
    let Some(root) = tree.root().filter(|_| trace.spans.len() == 2) else { return false };
    let (client, [server]) = (&trace.spans[root], tree.children(root)) else { return false };
    let server = &trace.spans[*server];
    assert_eq!(
        (request(client), client.attribute("http.response.status_code")),
        (Some("measured"), Some("200"))
    );
    assert_eq!((&*server.service, server.parent), ("shop", Some(client.id)));
    assert!(client.operation.ends_with("/json") && client.parent.is_none(), "{client:?}");
    // Phases without duration are not recorded.
    let phase_ms = |name: &str| client.attribute(name).map_or(0.0, |ms| ms.parse::<f64>().expect("a time"));
    let names =
        ["plimsoll.blocked_ms", "plimsoll.sending_ms", "plimsoll.waiting_ms", "plimsoll.receiving_ms"];
    let (phases_ms, all_ms) = (names.map(phase_ms).iter().sum::<f64>(), client.duration.as_secs_f64() * 1e3);
    // The time between two phases is some microseconds.
    assert!((phases_ms - all_ms).abs() <= 0.1 + all_ms * 0.02, "{phases_ms} of {all_ms}");
    let whole = attribute(&tree, &answer_path(&tree), None);
    assert_eq!(u128::from(whole.total_ns()), client.duration.as_nanos(), "the parts are the whole");
    let outside_ns = whole.part_ns(Component::Network) + whole.part_ns(Component::Connecting);
    assert_eq!(outside_ns + whole.part_ns(Component::Target), whole.total_ns());
    true
}

fn listening(address: &str) -> Plimsoll {
    plimsoll(SCRIPT).word(&format!("--otlp={address}")).env("OTLP", address)
}

#[test]
fn spans_are_in_the_file_and_join_with_requests() {
    let server = testkit::http::start();
    let address = free_address();
    let ran = listening(&address).against(&server).flags("--trace-sample 100%").run().exits(0);
    let reader = Reader::open(&stored_file(&ran)).expect("a run");
    let traces = reader.traces().expect("traces");
    let found = traces.iter().filter(|trace| has_shop_spans(trace)).count();
    // The request that carries the spans counts, too.
    assert_eq!((traces.len(), found, server.seen().for_path("/json")), (80, 40, 40));
    let operations = reader.operations().expect("operations");
    let of = |service: &str| {
        let some = operations.iter().filter(|load| &*load.service == service);
        some.map(|load| load.durations.count()).sum::<u64>()
    };
    assert_eq!((of("shop"), of("plimsoll")), (40, 80));
    let records = reader.records().expect("records");
    let record = records.iter().find(|record| record.source == "otlp").expect("what the receiver counted");
    assert_eq!((record.kind, &record.fields["address"]), (RecordKind::Source, &Datum::Text(address)));
    assert_eq!(record.fields["spans_received"], Datum::Number(40.0));
    assert_eq!(record.fields["spans_own"], Datum::Number(80.0));
    assert_eq!(record.fields["own_spans_dropped"], Datum::Number(0.0));

    let kept: BTreeSet<u128> = traces.iter().map(|trace| trace.id).collect();
    let exemplars = reader.exemplars(0..u32::MAX).expect("exemplars").into_iter();
    let of_requests: BTreeSet<u128> = exemplars.filter_map(|exemplar| exemplar.trace_id).collect();
    assert!(kept.intersection(&of_requests).count() > 0, "{of_requests:?}");
}

/// Three tasks whose headers the script inspects, and a request without a task.
const TASKS: &str = "
import http from 'k6/http';
import flow from 'plimsoll/flow';
export const options = { vus: 1, iterations: 3 };
const context = (answer) => answer.request.headers['Traceparent']?.[0].split('-') ?? [];
export default () => {
    let submitted, polled;
    flow.task({
        name: 'scan', interval: '5ms',
        submit: () => { submitted = http.post(`${__ENV.URL}/submit?ms=20`); return submitted.json('id') },
        poll: (id) => { polled = http.get(`${__ENV.URL}/poll/${id}`); return polled },
        done: (answer) => answer.json('state') === 'done',
    });
    const [own, other, beside] = [context(submitted), context(polled), context(http.get(`${__ENV.URL}/json`))];
    const same = own[1] === other[1] && own[2] !== other[2] && own[3] === '01' && other[3] === '00';
    if (!same || beside[1] === own[1] || beside[3] !== '01') throw new Error([own, other, beside].join(' '));
};";

#[test]
fn a_task_is_one_trace_with_a_span_of_its_own() {
    let server = testkit::http::start();
    let address = free_address();
    let flags = format!("--otlp={address} --trace-sample 100%");
    let ran = plimsoll(TASKS).against(&server).flags(&flags).run().exits(0);
    let traces = Reader::open(&stored_file(&ran)).and_then(|reader| reader.traces()).expect("traces");
    let (tasks, beside): (Vec<_>, Vec<_>) =
        traces.iter().partition(|trace| trace.root().is_some_and(|root| task(root).is_some()));
    assert_eq!((tasks.len(), beside.len()), (3, 3), "{traces:?}");
    for trace in tasks {
        let span = trace.root().expect("spans");
        let said = (&*span.service, &*span.operation, span.attribute("plimsoll.task"));
        assert_eq!(said, ("plimsoll", "task scan", Some("finished")));
        assert!(span.parent.is_none() && span.duration.as_millis() >= 20, "{span:?}");
        let [submission] = &trace.spans[1..] else { panic!("a task and what sent it in: {trace:?}") };
        assert_eq!((request(submission), submission.parent), (Some("measured"), Some(span.id)));
    }
    // Without tracing there are no headers.
    let wrong = "!same || beside[1] === own[1] || beside[3] !== '01'";
    let untraced = TASKS.replace(wrong, "own.length + other.length + beside.length > 0");
    plimsoll(&untraced).against(&server).run().exits(0);
}

/// A failed request is a span, too, and keeps its trace; a request with its own trace header uses that.
const FAILURES: &str = "
import http from 'k6/http';
export const options = { vus: 1, iterations: 1, throw: false };
export default () => {
    http.get(`${__ENV.URL}/status/503`, { tags: { name: 'refused' } });
    http.get('http://127.0.0.1:1/', { tags: { name: 'unreachable' } });
    http.get(`${__ENV.URL}/delay/900`, { timeout: '50ms', tags: { name: 'too late' } });
    http.get(`${__ENV.URL}/redirect/2`, { tags: { name: 'led on' } });
    const headers = { traceparent: '00-000000000000000000000000000000aa-00000000000000bb-01' };
    http.get(`${__ENV.URL}/json`, { headers, tags: { name: 'mine' } });
};";

#[test]
fn each_request_of_the_sample_is_one_span_however_it_ends() {
    let server = testkit::http::start();
    let flags = format!("--otlp={} --trace-sample 100%", free_address());
    let ran = plimsoll(FAILURES).against(&server).flags(&flags).run().exits(0);
    let reader = Reader::open(&stored_file(&ran)).expect("a run");
    let spans: Vec<Span> =
        reader.traces().expect("traces").into_iter().flat_map(|trace| trace.spans).collect();
    let mut found: Vec<_> = spans
        .iter()
        .map(|span| {
            let of = |name: &str| span.attribute(name).unwrap_or("-").to_owned();
            let is_error = span.status == SpanStatus::Error;
            (
                &*span.operation,
                is_error,
                of("plimsoll.request"),
                of("http.response.status_code"),
                of("plimsoll.exchanges"),
            )
        })
        .collect();
    found.sort();
    let expect = [
        ("led on", false, "measured", "200", "3"),
        ("mine", false, "measured", "200", "-"),
        ("refused", true, "measured", "503", "-"),
        ("too late", true, "timed_out", "-", "-"),
        ("unreachable", true, "failed", "-", "-"),
    ];
    let expect = expect.map(|(name, fails, how, status, exchanges)| {
        (name, fails, how.to_owned(), status.to_owned(), exchanges.to_owned())
    });
    assert_eq!(found, expect);
    assert!(spans.iter().any(|span| (span.id, &*span.operation) == (0xbb, "mine")));
    let traced = stored_report(&ran);
    let failed =
        traced["exemplars"].as_array().expect("exemplars").iter().filter(|one| one["kind"] == "failed");
    assert!(failed.clone().count() == 3 && failed.clone().all(|one| one["isTraceKept"] == true), "{traced}");
}

#[test]
fn a_request_that_is_given_up_is_a_span_of_what_was_seen_of_it() {
    let server = testkit::http::start();
    let script = "
        import http from 'k6/http';
        export const options = { scenarios: { cut: {
            executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s',
        } } };
        export default () => http.get(__ENV.URL + '/delay/9000');";
    let flags = format!("--otlp={} --trace-sample 100%", free_address());
    let ran = plimsoll(script).against(&server).flags(&flags).run().exits(0);
    let traces = Reader::open(&stored_file(&ran)).and_then(|reader| reader.traces()).expect("traces");
    let spans: Vec<&Span> = traces.iter().flat_map(|trace| &trace.spans).collect();
    let [span] = spans[..] else { panic!("one span: {spans:?}") };
    assert_eq!((request(span), span.status), (Some("cut"), SpanStatus::Error), "{span:?}");
    assert!(span.duration.as_millis() >= 500, "{span:?}");
}

/// Returns the run as `plimsoll report` prints it.
fn stored_report(ran: &Ran) -> serde_json::Value {
    serde_json::from_str(&ran.and("report @last --format json").run().exits(0).out).expect("JSON")
}

#[test]
fn without_a_sample_nothing_is_kept_and_nothing_is_sent() {
    let server = testkit::http::start();
    let script = "
        import http from 'k6/http';
        export const options = { iterations: 20 };
        export default () => {
            if ('Traceparent' in http.get(__ENV.URL + '/json').request.headers) { throw new Error('traced') }
        }";
    let flags = format!("--otlp={} --trace-sample 0", free_address());
    let ran = plimsoll(script).against(&server).flags(&flags).run().exits(0);
    let reader = Reader::open(&stored_file(&ran)).expect("a run");
    assert_eq!(
        (reader.traces().expect("traces").len(), reader.operations().expect("operations").len()),
        (0, 0)
    );
    let records = reader.records().expect("records");
    let record = records.iter().find(|record| record.source == "otlp").expect("what the receiver counted");
    assert_eq!(
        (&record.fields["spans_received"], &record.fields["spans_own"]),
        (&Datum::Number(0.0), &Datum::Number(0.0))
    );
}

#[test]
fn without_a_share_no_request_has_a_trace() {
    let server = testkit::http::start();
    let script = "
        import http from 'k6/http';
        export default () => {
            if ('Traceparent' in http.get(__ENV.URL + '/json').request.headers) { throw new Error('traced') }
        }";
    plimsoll(script).against(&server).run().exits(0);
    plimsoll(script).against(&server).flags("--trace-sample 0").run().exits(0);
    plimsoll(script).against(&server).flags("--trace-sample 1").run().exits(107);
}

#[test]
fn what_cannot_be_listened_at_is_an_error_before_anything_runs() {
    let check = |words: &str, code: i32, expect: &str| {
        plimsoll("export default () => {}").flags(words).run().exits(code).says(expect);
    };
    check("--otlp=0.0.0.0:0", 106, "PLIMSOLL_OTLP_TOKEN");
    check("--otlp=localhost", 104, "127.0.0.1:4317");
    check("--trace-sample 2", 104, "invalid share");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    check(
        &format!("--otlp={}", taken.local_addr().expect("its address")),
        106,
        "failed to receive traces at",
    );
}
