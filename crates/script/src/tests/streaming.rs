//! `k6/x/sse` and `plimsoll/stream` against a server that sends at a known pace.

use model::{IterationEnd, Mark};

use super::{Left, run_against, run_in};

/// Runs a script against a server.
fn run(server: &testkit::Server, body: &str) -> Left {
    run_against(server.url("").trim_end_matches('/'), 1, &source(body))
}

fn source(body: &str) -> String {
    format!(
        "import sse from 'k6/x/sse'; import stream from 'plimsoll/stream'; import {{ chat }} from 'plimsoll/stream';
         import {{ sleep }} from 'k6'; import http from 'k6/http';
         const BASE = __ENV.BASE; export const options = {{ discardResponseBodies: true }};
         export default function () {{ {body} }}"
    )
}

#[track_caller]
fn check(body: &str, expect: &[&str]) -> (Left, testkit::Seen) {
    let server = testkit::http::start();
    let left = run(&server, body);
    let logs: Vec<&String> = left.logs.iter().filter(|line| !line.starts_with("Request Failed")).collect();
    assert_eq!(logs, expect, "{body}");
    assert_eq!(left.ends, [IterationEnd::Completed], "{body}");
    assert_eq!(left.noted_under_way(), 0, "{body}");
    (left, server.settled())
}

/// Values and marks of a metric.
fn values(left: &Left, metric: &str) -> Vec<(f64, Mark)> {
    left.samples.iter().filter(|sample| sample.0 == metric).map(|sample| (sample.2, sample.3)).collect()
}

/// The only sample of a metric.
#[track_caller]
fn only(left: &Left, metric: &str) -> (f64, Mark) {
    match values(left, metric)[..] {
        [value] => value,
        ref values => panic!("{metric}: {values:?}"),
    }
}

#[test]
fn public_scripts_hear_their_events() {
    let (left, seen) = check(
        "const response = sse.open(BASE + '/events?count=3&ms=10&comment=hello', { tags: { my: 'tag' } }, (client) => {
           client.on('open', () => console.log('open'));
           client.on('event', (e) => console.log(e.id, e.name, e.data, e.comment));
           client.on('error', (e) => console.log('error', e.error()));
         });
         console.log(response.status, response.headers['Content-Type'], response.error === '', response.url === BASE + '/events?count=3&ms=10&comment=hello');",
        &[
            "open",
            "   hello",
            "0 tick 0 ",
            "   hello",
            "1 tick 1 ",
            "   hello",
            "2 tick 2 ",
            "200 text/event-stream true true",
        ],
    );
    // The extension counts comments, too; they say nothing.
    assert_eq!((left.count("sse_event"), left.count("stream_events")), (6, 3));
    assert_eq!((left.count("stream_first_event"), left.count("stream_event_gap")), (1, 2));
    assert_eq!((left.count("http_reqs"), seen.total), (1, 1));
    assert_eq!(only(&left, "http_req_failed").0, 0.0);
    assert!(
        left.tags("sse_event").iter().all(|tags| tags.contains("my=tag")),
        "{:?}",
        left.tags("sse_event")
    );
}

#[test]
fn closing_a_stream_is_no_failure() {
    let (left, _) = check(
        "const response = sse.open(BASE + '/events?count=1000000000&ms=5', (client) => {
           client.on('event', (e) => { if (parseInt(e.id) === 4) client.close(); });
           client.on('error', (e) => console.log('error', e.error()));
         });
         console.log(response.status);
         for (const event of stream.get(BASE + '/events?count=1000000000')) if (event.id === '1000') break;
         const third = stream.get(BASE + '/events?count=1000000000');
         console.log(third.next().data, third.ended); third.close(); console.log(third.ended, third.complete);",
        &["200", "0 false", "true true"],
    );
    assert_eq!(left.count("sse_event"), 5);
    assert_eq!(values(&left, "http_req_failed"), [(0.0, Mark::Measured); 3]);
    assert_eq!(
        left.count("stream_event_gap") + left.count("stream_first_event"),
        left.count("stream_events")
    );
}

#[test]
fn streams_that_fail_call_the_handler_of_errors() {
    let (left, _) = check(
        "const open = (path, params) => {
           const response = sse.open(BASE + path, params, (client) => {
             client.on('open', () => console.log('open'));
             client.on('error', (e) => console.log(e.error()));
           });
           console.log(response.status);
         };
         open('/events?count=2&end=hang', { timeout: '150ms' });
         open('/v1/messages?status=429', { method: 'POST', body: 'x' });
         open('/events?count=2&end=cut', {});",
        &["open", "request timeout", "200", "unexpected status 429", "429", "open", "unexpected EOF", "200"],
    );
    let gaps = values(&left, "stream_event_gap");
    assert!(gaps.iter().any(|(ms, mark)| *mark == Mark::TimedOut && *ms > 50.0), "{gaps:?}");
    assert!(gaps.iter().any(|(_, mark)| *mark == Mark::Cut), "{gaps:?}");
    let firsts = values(&left, "stream_first_event");
    assert_eq!(firsts.iter().filter(|(_, mark)| *mark == Mark::Failed).count(), 1, "the refusal: {firsts:?}");
    let durations = values(&left, "http_req_duration");
    assert_eq!(durations.iter().filter(|(_, mark)| *mark != Mark::Measured).count(), 2, "{durations:?}");
    assert_eq!(values(&left, "http_req_failed").iter().filter(|(failed, _)| *failed == 1.0).count(), 3);
}

#[test]
fn a_handler_that_throws_ends_its_stream() {
    let server = testkit::http::start();
    let left = run(
        &server,
        "sse.open(BASE + '/events?count=1000000000&ms=1', (client) => client.on('event', () => { throw new Error('mine'); }));",
    );
    assert_eq!(left.ends, [IterationEnd::Failed]);
    assert!(left.logs.iter().any(|line| line.contains("mine")), "{:?}", left.logs);
    assert_eq!((left.noted_under_way(), left.count("http_reqs")), (0, 1));
}

/// The server sends a token each 10 ms, from 60 ms on. Bounds above are those of the same request's own duration, because the
/// machine may be busy; no bound below can be missed by that.
#[test]
fn tokens_are_measured_at_the_pace_of_the_server() {
    let (left, _) = check(
        "const reply = chat(BASE + '/v1/chat/completions?count=41&ms=10&wait=60', { model: 'm', messages: [] });
         console.log(reply.complete, reply.tokens, reply.error, reply.text.slice(0, 6), reply.firstToken > 59);",
        &["true 41  t0 t1  true"],
    );
    let gaps = values(&left, "llm_token_gap");
    assert_eq!((gaps.len(), left.count("llm_first_token"), left.count("llm_tokens")), (40, 1, 41));
    assert!(gaps.iter().all(|(_, mark)| *mark == Mark::Measured));
    let total_ms: f64 = gaps.iter().map(|(ms, _)| ms).sum();
    let (first_ms, duration_ms) = (only(&left, "llm_first_token").0, only(&left, "http_req_duration").0);
    // Were the first token late, the others would be nearer to it: by no more than it was late.
    assert!(total_ms + (first_ms - 60.0) >= 399.0, "{total_ms} after {first_ms}");
    assert!(
        first_ms >= 59.9 && first_ms + total_ms <= duration_ms + 0.01,
        "{first_ms} {total_ms} {duration_ms}"
    );
    let mut sorted: Vec<f64> = gaps.iter().map(|(ms, _)| *ms).collect();
    sorted.sort_by(f64::total_cmp);
    let control = (duration_ms - first_ms) / 40.0;
    assert!((sorted[20] - 10.0).abs() <= 1.0 || control > 11.0, "median {} of {control}", sorted[20]);
    let rate = only(&left, "llm_tokens_per_second").0;
    assert!((rate - 40_000.0 / total_ms).abs() < 0.5, "{rate}");
    assert_eq!(only(&left, "llm_complete").0, 1.0);
    assert!(left.tags("llm_first_token")[0].contains("model=m"), "{:?}", left.tags("llm_first_token"));
    assert_eq!(left.count("stream_events"), 44);
}

#[test]
fn answers_without_their_end_are_failures() {
    let (left, _) = check(
        "const ask = (path, params) => {
           const { status, complete, tokens, error, body } = chat(BASE + path, { messages: [] }, params);
           console.log(status, complete, tokens, error, body ?? '');
         };
         ask('/v1/chat/completions?count=3&end=cut');
         ask('/v1/chat/completions?count=3&end=short');
         ask('/v1/chat/completions?status=429');
         ask('/v1/chat/completions?count=3&wait=5000', { timeout: '100ms' });
         ask('/v1/messages?count=3&ms=5');",
        &[
            "200 false 3 unexpected EOF ",
            "200 false 3 the answer has no end: the stream ended before it ",
            "429 false 0  {\"error\":{\"message\":\"slow down\"}}",
            "0 false 0 request timeout ",
            "200 true 3  ",
        ],
    );
    assert_eq!(
        values(&left, "llm_complete").iter().map(|(value, _)| *value as u32).collect::<Vec<_>>(),
        [0, 0, 0, 0, 1]
    );
    let marks: Vec<Mark> = values(&left, "llm_first_token").iter().map(|(_, mark)| *mark).collect();
    assert_eq!(marks, [Mark::Measured, Mark::Measured, Mark::Failed, Mark::TimedOut, Mark::Measured]);
    let cut = values(&left, "llm_token_gap").iter().filter(|(_, mark)| *mark == Mark::Cut).count();
    assert_eq!((cut, left.count("llm_tokens_per_second")), (2, 1));
}

#[test]
fn lines_and_pieces_are_read_as_they_come() {
    check(
        "const items = stream.get(BASE + '/lines?count=2&ms=20');
         const got = []; for (const { data, at } of items) got.push([data, at >= 0]);
         console.log(JSON.stringify(got), items.complete, items.events, items.status);
         let bytes = 0; for (const { data } of stream.get(BASE + '/bytes/100000')) bytes += data.byteLength;
         console.log(bytes);
         const forced = stream.request('POST', BASE + '/events?count=1', 'body', { format: 'lines' });
         console.log([...forced].map((item) => item.data).join('|'));
         const measured = stream.get(BASE + '/events?count=5', { responseType: 'none' });
         console.log([...measured].length, measured.events, measured.drain().timings.firstEvent >= 0);
         try { stream.get(BASE, { format: 'xml' }); } catch (error) { console.log(error.message); }
         console.log(stream.get(BASE + '/redirect/1').status);",
        &[
            "[[\"{\\\"n\\\":0}\",true],[\"{\\\"n\\\":1}\",true],[\"{\\\"last\\\":true}\",true]] true 3 200",
            "100000",
            "id: 0|event: tick|data: 0",
            "0 5 true",
            "invalid format \"xml\": use \"events\", \"lines\" or \"pieces\"",
            "200",
        ],
    );
}

#[test]
fn a_script_that_does_not_read_makes_the_server_wait() {
    let server = testkit::http::start();
    let left = run(
        &server,
        "const events = stream.get(BASE + '/events?count=200000&bytes=1000');
         events.next(); sleep(0.4);
         const sent = http.get(BASE + '/_testkit/seen', { responseType: 'text' }).json('bytes_out');
         console.log(sent < 40000000);
         for (const event of events) if (Number(event.id) > 30000) break;",
    );
    assert_eq!(
        (left.logs.as_slice(), left.ends.as_slice()),
        (&["true".to_owned()][..], &[IterationEnd::Completed][..])
    );
    assert!(left.count("stream_gaps_unmeasured") > 0);
}

#[test]
fn what_the_end_of_the_iteration_cuts_is_a_lower_bound() {
    let (left, _) = check(
        "stream.get(BASE + '/events?count=1&end=hang').next(); stream.get(BASE + '/events?count=0&end=hang'); sleep(0.05);",
        &[],
    );
    let (ms, mark) = only(&left, "stream_event_gap");
    assert!(mark == Mark::Cut && ms >= 49.0, "{ms} {mark:?}");
    let firsts: Vec<Mark> = values(&left, "stream_first_event").iter().map(|(_, mark)| *mark).collect();
    assert_eq!(firsts, [Mark::Measured, Mark::Cut]);
    assert_eq!((left.count("http_reqs"), left.noted_finished()), (2, 2));
}

#[test]
fn streams_need_a_running_vu() {
    let error = super::load_error(
        "import stream from 'plimsoll/stream'; stream.get('http://127.0.0.1:1/');\nexport default () => {}",
    );
    assert!(error.contains("init context"), "{error}");
    let error = super::load_error(
        "import 'plimsoll/stream'; import { Trend } from 'k6/metrics'; new Trend('llm_tokens');\nexport default () => {}",
    );
    assert!(error.contains("llm_tokens"), "{error}");
}

#[test]
fn strict_samples_are_those_of_the_extension() {
    let server = testkit::http::start();
    let base = server.url("");
    let base = base.trim_end_matches('/');
    let body = "sse.open(BASE + '/events?count=2&ms=1', { tags: { my: 'tag', name: 'n' } }, () => {});";
    let memory = crate::MemoryLimits::resolve(None, None, None);
    let left = run_in(memory, base, 1, None, &source(body), |run| {
        let mut plan = (*run.plan).clone();
        plan.compat = model::plan::Compat::Strict;
        run.plan = std::sync::Arc::new(plan);
    });
    assert_eq!(left.ends, [IterationEnd::Completed], "{:?}", left.logs);
    let names = left.samples.iter().map(|sample| sample.0.as_str());
    let mut seen: Vec<&str> = names.filter(|name| !name.starts_with("data_")).collect();
    seen.sort_unstable();
    assert_eq!(seen, ["http_req_duration", "http_req_sending", "http_reqs", "sse_event", "sse_event"]);
    for metric in ["http_reqs", "sse_event"] {
        let tags = left.tags(metric)[0];
        let url = format!("url={base}/events?count=2&ms=1");
        for tag in [url.as_str(), "status=200", "my=tag", "name=n"] {
            assert!(tags.contains(tag), "{metric}: {tags}");
        }
        assert!(!tags.contains("method=") && !tags.contains("proto="), "{metric}: {tags}");
    }
}
