//! Traces through the front door: what is sent while a run goes on is in its file, beside the requests that it belongs to.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::PathBuf;

use model::{Datum, RecordKind};
use runfile::Reader;

use crate::harness::{Plimsoll, Ran, plimsoll};

/// Asks a server, and tells what the server would have told, had it been instrumented: a span of the trace that it was asked
/// in.
const SCRIPT: &str = "
import http from 'k6/http';
export const options = { vus: 2, iterations: 40 };
const hex = (size) => Array.from({ length: size }, () => Math.floor(Math.random() * 16).toString(16)).join('');
export default () => {
    const [, trace, parent] = http.get(`${__ENV.URL}/json`).request.headers['Traceparent'][0].split('-');
    const now = BigInt(Date.now()) * 1000000n;
    const span = {
        traceId: trace, parentSpanId: parent, spanId: hex(16), name: 'GET /json', kind: 2,
        startTimeUnixNano: `${now - 1000000n}`, endTimeUnixNano: `${now}`,
    };
    const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] };
    const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] });
    http.post(`http://${__ENV.OTLP}/v1/traces`, body, { headers: { 'Content-Type': 'application/json' } });
};";

/// An address that nobody listens at. Somebody else might take it in the meantime, which no test here does.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").to_string()
}

/// The file of the one run that is stored.
fn stored_file(ran: &Ran) -> PathBuf {
    let folder = ran.folder().join("plimsoll/runs");
    std::fs::read_dir(folder).expect("a run was stored").next().expect("one").expect("readable").path()
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
    assert_eq!(traces.len(), 40);
    assert!(traces.iter().all(|trace| trace.spans.len() == 1 && &*trace.spans[0].service == "shop"));

    let operations = reader.operations().expect("operations");
    assert_eq!(operations.iter().map(|load| load.durations.count()).sum::<u64>(), 40);
    let records = reader.records().expect("records");
    let record = records.iter().find(|record| record.source == "otlp").expect("what the receiver counted");
    assert_eq!((record.kind, &record.fields["address"]), (RecordKind::Source, &Datum::Text(address)));
    assert_eq!(record.fields["spans_received"], Datum::Number(40.0));

    let kept: BTreeSet<u128> = traces.iter().map(|trace| trace.id).collect();
    let exemplars = reader.exemplars(0..u32::MAX).expect("exemplars").into_iter();
    let of_requests: BTreeSet<u128> = exemplars.filter_map(|exemplar| exemplar.trace_id).collect();
    assert!(kept.intersection(&of_requests).count() > 0, "{of_requests:?}");
}

/// Three tasks, of which the script looks at the headers, and a request beside them.
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
    const same = own[1] === other[1] && own[2] === other[2] && own[3] === '01' && other[3] === '00';
    if (!same || beside[1] === own[1] || beside[3] !== '01') throw new Error([own, other, beside].join(' '));
};";

#[test]
fn a_task_is_one_trace_with_a_span_of_its_own() {
    let server = testkit::http::start();
    let address = free_address();
    let flags = format!("--otlp={address} --trace-sample 100%");
    let ran = plimsoll(TASKS).against(&server).flags(&flags).run().exits(0);
    let traces = Reader::open(&stored_file(&ran)).and_then(|reader| reader.traces()).expect("traces");
    assert_eq!(traces.len(), 3, "{traces:?}");
    for trace in &traces {
        let [span] = &trace.spans[..] else { panic!("one span: {trace:?}") };
        let said = (&*span.service, &*span.operation, span.attribute("plimsoll.task"));
        assert_eq!(said, ("plimsoll", "task scan", Some("finished")));
        assert!(span.parent.is_none() && span.duration.as_millis() >= 20, "{span:?}");
    }
    // Whoever does not trace has none.
    let wrong = "!same || beside[1] === own[1] || beside[3] !== '01'";
    let untraced = TASKS.replace(wrong, "own.length + other.length + beside.length > 0");
    plimsoll(&untraced).against(&server).run().exits(0);
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
    check("--trace-sample 2", 104, "is no share");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    check(
        &format!("--otlp={}", taken.local_addr().expect("its address")),
        106,
        "failed to receive traces at",
    );
}
