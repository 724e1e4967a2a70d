//! `k6/net/grpc` against a server that counts.

use std::sync::{Arc, Mutex};

use model::{IterationEnd, Mark, Span, SpanStatus};

use super::{Left, cut, run_against, run_in};

/// Runs a script whose client is connected to the server.
fn run_on(server: &testkit::Server, iterations: u64, init: &str, body: &str) -> Left {
    run_against(&server.url(""), iterations, &source(init, body))
}

fn source(init: &str, body: &str) -> String {
    let folder = testkit::grpc::import_path();
    format!(
        "import grpc, {{ Client, Stream, StatusOK }} from 'k6/net/grpc'; import {{ sleep, group, check }} from 'k6';
         import exec from 'k6/execution';
         const client = new Client();
         client.load([{folder:?}], 'testkit/echo.proto');
         const ADDRESS = __ENV.BASE.replace('http://', '').replace('/', '');
         const attempt = (make) => {{ try {{ return make(); }} catch (error) {{ return String(error); }} }};
         const unary = (request, params) => client.invoke('testkit.Echo/Unary', request, params);
         {init}
         export default async function () {{ client.connect(ADDRESS, {{ plaintext: true }}); {body} }}"
    )
}

#[derive(Default)]
struct Taken(Mutex<Vec<(u128, Span)>>);

impl crate::Spans for Taken {
    fn add(&self, trace: u128, span: Span) {
        self.0.lock().unwrap().push((trace, span));
    }
}

/// Runs a body of which every call is in a trace; the spans that the run makes.
fn run_traced(body: &str) -> (Left, Vec<(u128, Span)>) {
    let server = testkit::http::start();
    let taken = Arc::new(Taken::default());
    let memory = crate::MemoryLimits::resolve(None, None, None);
    let left = run_in(memory, &server.url(""), 1, None, &source("", body), |run| {
        run.traces = crate::TraceSample::from_share(1.0);
        run.spans = Some(taken.clone());
    });
    let spans = std::mem::take(&mut *taken.0.lock().unwrap());
    (left, spans)
}

/// Trace and span of a header.
fn numbers_of(header: &str) -> (u128, u64) {
    let parts: Vec<&str> = header.split('-').collect();
    assert_eq!((parts[0], parts[3]), ("00", "01"), "{header}");
    (u128::from_str_radix(parts[1], 16).unwrap(), u64::from_str_radix(parts[2], 16).unwrap())
}

#[test]
fn calls_and_streams_are_in_traces() {
    let (left, spans) = run_traced(
        "const seen = (message) => console.log(message.metadata.traceparent);
         seen(unary({ withMetadata: true }).message);
         unary({ status: 5, statusMessage: 'no such thing' });
         const stream = new Stream(client, 'testkit.Echo/ServerStream');
         const ended = new Promise((resolve) => stream.on('end', resolve));
         stream.on('data', seen);
         stream.write({ withMetadata: true, count: 1 });
         stream.end();
         await ended;",
    );
    assert_eq!(left.ends, [IterationEnd::Completed], "{:?}", left.logs);
    let [of_call, of_stream] = &left.logs[..] else { panic!("{:?}", left.logs) };
    let known: Vec<_> = spans.iter().map(|(trace, span)| (*trace, span.id)).collect();
    assert_eq!((known.len(), known[0], known[2]), (3, numbers_of(of_call), numbers_of(of_stream)));
    let failed = &spans[1].1;
    assert_eq!((&*failed.operation, failed.status), ("testkit.Echo/Unary", SpanStatus::Error));
    let facts =
        |name: &str| failed.attributes.iter().find(|(key, _)| &**key == name).map(|(_, value)| &**value);
    assert_eq!((facts("rpc.grpc.status_code"), facts("error.message")), (Some("5"), Some("no such thing")));
    assert_eq!(spans[0].1.status, SpanStatus::Unset);
}

#[test]
fn a_trace_of_the_script_is_kept_and_none_is_added_without_a_sample() {
    let own = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let ask = format!(
        "const r = unary({{ withMetadata: true }}, {{ metadata: {{ Traceparent: '{own}' }} }}); console.log(r.message.metadata.traceparent);"
    );
    let (left, spans) = run_traced(&ask);
    assert_eq!(left.logs, [own]);
    assert_eq!((spans[0].0, spans[0].1.id), numbers_of(own));
    check("console.log(unary({ withMetadata: true }).message.metadata.traceparent);", &["undefined"]);
}

fn run(body: &str) -> (Left, testkit::Seen) {
    let server = testkit::http::start();
    let left = run_on(&server, 1, "", body);
    (left, server.settled())
}

#[track_caller]
fn check(body: &str, expect: &[&str]) -> (Left, testkit::Seen) {
    let (left, seen) = run(body);
    assert_eq!(left.logs, expect, "{body}");
    assert_eq!(left.ends, [IterationEnd::Completed], "{body}");
    (left, seen)
}

#[test]
fn calls_have_answers_and_samples() {
    let (left, seen) = check(
        "const r = unary({ text: 'hi', all: { int64Field: '9007199254740993', bytesField: 'AAH/' } });
         console.log(r.status === StatusOK, r.message.text, r.message.all.int64Field, r.message.all.bytesField, r.error);
         console.log(JSON.stringify(r.headers), JSON.stringify(Object.keys(r.trailers)));
         group('g', () => unary({}, { tags: { name: 'mine', url: 'mine', more: 'x' } }));",
        &[
            "true hi 9007199254740993 AAH/ null",
            r#"{"content-type":["application/grpc"]} ["x-trailer","x-trailer-bin"]"#,
        ],
    );
    assert_eq!((left.count("grpc_req_duration"), seen.total), (2, 2));
    let tags = left.tags("grpc_req_duration");
    assert!(tags[0].contains("method=Unary name=/testkit.Echo/Unary"), "{tags:?}");
    assert!(tags[0].contains("service=testkit.Echo status=0"), "{tags:?}");
    assert!(tags[0].contains("/testkit.Echo/Unary") && tags[0].contains("url=127.0.0.1:"), "{tags:?}");
    assert!(
        tags[1].contains("group=::g") && tags[1].contains("name=mine") && tags[1].contains("more=x"),
        "{tags:?}"
    );
    assert!(tags[1].contains("url=127.0.0.1:"), "{tags:?}");
    assert_eq!((left.noted_under_way(), left.noted_finished()), (0, 2));
}

#[test]
fn an_answer_is_an_object_like_others() {
    check(
        "const r = unary({ text: 'hi' });
         console.log(Object.keys(r).join(), 'message' in r, 'nope' in r, r.nope, r.message === r.message);
         const { message, status, ...rest } = r;
         console.log(message.text, status, Object.keys(rest).join(), rest.headers === r.headers);
         const copy = JSON.parse(JSON.stringify(r));
         console.log(copy.message.text, copy.error, copy.headers['content-type'][0], copy.trailers['x-trailer'][0], copy.status);
         r.message = 1; r.own = 2; delete r.error;
         console.log(r.message, r.own, r.error, Object.keys(r).join());
         console.log(unary({ text: 'hi' }, { discardResponseMessage: true }).message);",
        &[
            "message,error,headers,trailers,status true false undefined true",
            "hi 0 error,headers,trailers true",
            "hi null application/grpc the end 0",
            "1 2 undefined message,error,headers,trailers,status,own",
            "null",
        ],
    );
}

#[test]
fn failures_are_answers_with_a_status() {
    let (left, _) = check(
        "const r = unary({ status: 5, statusMessage: 'no such 파일', withDetails: true });
         console.log(r.status, r.error.code, r.error.message, r.error.details[0]['@type'], r.error.details[0].text, r.message.text === '');
         for (const ask of [{ reset: 9 }, { reset: 8 }, { httpStatus: 503 }, { payloadBytes: 5000000 }]) {
           const r = unary(ask); console.log(r.status, r.error.message);
         }
         console.log(client.invoke('testkit.Echo/ServerStream', { count: 2 }).error.message);",
        &[
            "5 5 no such 파일 type.googleapis.com/testkit.Answer a detail true",
            "1 stream terminated by RST_STREAM with error code: CANCEL",
            "14 stream terminated by RST_STREAM with error code: REFUSED_STREAM",
            "14 unexpected HTTP status code received from server: 503 (Service Unavailable); transport: received unexpected \
             content-type \"text/plain\"",
            "8 grpc: received message larger than max (5000007 vs. 4194304)",
            "cardinality violation: expected <EOF> for non server-streaming RPCs, but received another message",
        ],
    );
    assert_eq!(left.count("grpc_req_duration"), 6);
    assert_eq!(left.noted_errors(), 6);
}

#[test]
fn a_call_that_takes_too_long_is_a_lower_bound() {
    let (left, _) = check(
        "const r = unary({ delayMs: 5000 }, { timeout: '50ms' });
         console.log(r.status, r.error.message);",
        &["4 context deadline exceeded"],
    );
    let (_, _, ms, mark) = left.samples.iter().find(|(metric, ..)| metric == "grpc_req_duration").unwrap();
    assert_eq!((*mark, *ms >= 50.0), (Mark::TimedOut, true));
}

#[test]
fn a_call_is_cut_at_the_deadline() {
    let (left, seen) = cut(|| run("unary({ delayMs: 60000 });"));
    assert_eq!(left.ends, [IterationEnd::Interrupted]);
    let mark = left.samples.iter().find(|(metric, ..)| metric == "grpc_req_duration").map(|sample| sample.3);
    assert_eq!((mark, seen.total), (Some(Mark::Cut), 1));
    assert_eq!(left.noted_under_way(), 0);
}

#[test]
fn metadata_goes_both_ways() {
    check(
        "const r = unary({ withMetadata: true }, { metadata: { 'X-One': 'a', 'x-two-bin': new Uint8Array([0, 1, 255]) } });
         console.log(r.message.metadata['x-one'], r.message.metadata['x-two-bin'], r.headers['x-one'], r.headers['x-two-bin'][0].length);
         for (const metadata of [5, { 'x-a': 5 }, { 'x a': 'b' }, { 'x-a': 'b\\nc' }]) console.log(attempt(() => unary({}, { metadata })));",
        &[
            "a AAH/ [ \"a\" ] 3",
            "GoError: invalid GRPC's client.invoke() parameters: invalid metadata param: must be an object with key-value pairs",
            "GoError: invalid GRPC's client.invoke() parameters: invalid metadata param: \"x-a\" value must be a string",
            "GoError: invalid GRPC's client.invoke() parameters: invalid metadata param: header key \"x a\" contains illegal \
             characters not in [0-9a-z-_.]",
            "GoError: invalid GRPC's client.invoke() parameters: invalid metadata param: header key \"x-a\" contains value with \
             non-printable ASCII characters; binary values need a key that ends in \"-bin\"",
        ],
    );
}

#[test]
fn wrong_calls_are_exceptions() {
    check(
        "const name = 'testkit.Echo/Unary';
         for (const wrong of [() => client.invoke(name), () => unary(null), () => client.invoke('', {}), () => client.invoke('nope', {}),
                              () => unary({ nope: 1 }), () => unary({ count: 'x' }), () => unary([]), () => unary({}, { nope: 1 }),
                              () => unary({}, { timeout: 'abc' }), () => client.load([], 'x.proto'),
                              () => client.connect(ADDRESS, { nope: 1 }), () => client.connect('nonsense', { plaintext: true }),
                              () => client.connect('127.0.0.1:1', { plaintext: true }), () => unary({})]) console.log(attempt(wrong));",
        &[
            "GoError: request cannot be nil",
            "TypeError: Cannot convert undefined or null to object",
            "GoError: method to invoke cannot be empty",
            "GoError: method \"/nope\" not found in file descriptors",
            "GoError: unable to serialise request object to protocol buffer: proto: (line 1:2): unknown field \"nope\"",
            "GoError: unable to serialise request object to protocol buffer: proto: (line 1:10): invalid value for int32 field \
             count: \"x\"",
            "GoError: unable to serialise request object to protocol buffer: proto: syntax error (line 1:1): unexpected token [",
            "GoError: invalid GRPC's client.invoke() parameters: unknown param: \"nope\"",
            "GoError: invalid GRPC's client.invoke() parameters: invalid timeout value: \"abc\"; give milliseconds or a text like \
             \"30s\"",
            "GoError: load must be called in the init context",
            "GoError: invalid grpc.connect() parameters: unknown connect param: \"nope\"",
            "GoError: connection error: desc = \"transport: error while dialing: address nonsense: missing port in address; \
             write HOST:PORT\"",
            "GoError: connection error: desc = \"transport: error while dialing: dial tcp 127.0.0.1:1: connect: connection \
             refused\"",
            "GoError: no gRPC connection, you must call connect first",
        ],
    );
}

#[test]
fn promises_and_health() {
    let (left, _) = check(
        "const [a, b] = await Promise.all([client.asyncInvoke('testkit.Echo/Unary', { text: 'a', delayMs: 30 }), client.asyncInvoke('testkit.Echo/Unary', { text: 'b' })]);
         console.log(a.message.text, b.message.text);
         await client.asyncInvoke('testkit.Echo/Nope', {}).catch((error) => console.log(String(error)));
         console.log(client.healthCheck().status === grpc.HealthCheckServing, client.healthCheck('down').status === grpc.HealthCheckNotServing);
         console.log(attempt(() => client.healthCheck('other')));",
        &[
            "a b",
            "GoError: method \"/testkit.Echo/Nope\" not found in file descriptors",
            "true true",
            "GoError: rpc error: code = NotFound desc = unknown service",
        ],
    );
    assert_eq!(left.count("grpc_req_duration"), 5);
}

#[test]
fn reflection_gives_types() {
    let server = testkit::http::start();
    let left = run_on(
        &server,
        1,
        "const other = new Client();",
        "for (const version of ['v1', 'v1alpha', 'none', 'empty']) {
           const connected = attempt(() => other.connect(ADDRESS, { plaintext: true, reflect: true, reflectMetadata: { 'x-reflection': version } }));
           console.log(connected, connected === true && other.invoke('testkit.Echo/Unary', { text: version }).message.text);
         }",
    );
    assert_eq!(
        left.logs,
        [
            "true v1",
            "true v1alpha",
            "GoError: can't list services: rpc error: code = Unimplemented desc = unknown service; the server has no reflection: \
             load its .proto files in the init context false",
            "GoError: the server's reflection, asked for the list of services: the response has no answer to that false",
        ]
    );
    // Two calls and three refusals; useless answers are none.
    assert_eq!(left.count("grpc_req_duration"), 5);
}

#[test]
fn streams_deliver_what_comes() {
    let (left, seen) = check(
        "const open = (method, params) => {
           const stream = new Stream(client, method, params);
           stream.on('data', (message) => console.log(method.slice(13), message.text, message.index, message.received));
           stream.on('error', (error) => console.log('error', error.code, error.message, error.details.length));
           stream.on('end', () => console.log('end'));
           return stream;
         };
         const done = (stream) => new Promise((resolve) => stream.on('end', resolve));
         let stream = open('testkit.Echo/ServerStream'); stream.write({ text: 's', count: 2 }); await done(stream);
         stream = open('testkit.Echo/ClientStream'); stream.write({ text: 'a' }); stream.write({ text: 'b' }); stream.end(); await done(stream);
         stream = open('testkit.Echo/BothStreams'); stream.write({ text: 'a' }); stream.write({ text: 'b' }); stream.end(); await done(stream);
         stream = open('testkit.Echo/ServerStream'); stream.write({ text: 'e', count: 1, status: 5, statusMessage: 'gone', withDetails: true }); await done(stream);
         stream = open('testkit.Echo/BothStreams', { timeout: 50 }); stream.write({ text: 't' }); await done(stream);
         stream = open('testkit.Echo/BothStreams'); stream.write({ nope: 1 }); await done(stream);
         stream = open('testkit.Echo/BothStreams'); client.close(); await done(stream);",
        &[
            "ServerStream s 0 1",
            "ServerStream s 1 1",
            "end",
            "ClientStream a,b 0 2",
            "end",
            "BothStreams a 0 1",
            "BothStreams b 1 2",
            "end",
            "ServerStream e 0 1",
            "error 5 gone 1",
            "end",
            "BothStreams t 0 1",
            "error 4 context deadline exceeded 0",
            "end",
            "error 2 can't serialise request object to protocol buffer: proto: (line 1:2): unknown field \"nope\" 0",
            "end",
            "error 2 canceled by client (k6) 0",
            "end",
        ],
    );
    let counts =
        ["grpc_streams", "grpc_streams_msgs_sent", "grpc_streams_msgs_received", "grpc_req_duration"];
    assert_eq!(counts.map(|metric| left.count(metric)), [7, 7, 7, 7]);
    assert!(seen.total >= 5, "{}", seen.total);
    assert_eq!(left.noted_under_way(), 0);
}

#[test]
fn messages_are_read_while_the_script_sleeps_and_the_server_waits_for_a_slow_one() {
    check(
        "const stream = new Stream(client, 'testkit.Echo/ServerStream');
         let count = 0;
         stream.on('data', () => { if (++count === 3) client.close(); });
         stream.on('error', (error) => console.log(error.message));
         stream.write({ count: -1, payloadBytes: 100000 });
         sleep(0.2);
         // A call on the same connection is not held up by what is not read.
         console.log(unary({ text: 'beside' }).message.text);
         await new Promise((resolve) => stream.on('end', resolve));
         console.log(count >= 3 && count < 40);",
        &["beside", "canceled by client (k6)", "true"],
    );
}

#[test]
fn a_handler_that_throws_fails_the_iteration() {
    let (left, _) = run("const stream = new Stream(client, 'testkit.Echo/ServerStream');
         stream.on('data', () => { throw new Error('boom'); });
         stream.on('error', (error) => console.log('error', error.message));
         stream.on('end', () => console.log('end'));
         stream.write({ count: 2 });");
    assert_eq!(left.ends, [IterationEnd::Failed]);
    assert_eq!(left.logs[..2], ["error Error: boom", "end"]);
}

#[test]
fn a_stream_without_an_end_is_cut_at_the_deadline() {
    let body = "const stream = new Stream(client, 'testkit.Echo/ServerStream');
         stream.on('data', () => {});
         stream.write({ count: -1 });";
    let (left, _) = cut(|| run(body));
    assert_eq!(left.ends, [IterationEnd::Interrupted]);
    assert!(left.count("grpc_streams_msgs_received") > 100);
}

#[test]
fn wrong_streams_are_exceptions() {
    check(
        "for (const wrong of [() => new Stream(), () => new Stream(5, 'x'), () => new Stream(client, 'nope'),
                              () => new Stream(client, 'testkit.Echo/BothStreams', { nope: 1 })]) console.log(attempt(wrong));
         const stream = new Stream(client, 'testkit.Echo/BothStreams');
         stream.on('nope', () => {}); stream.write(null); stream.end(); stream.write({}); stream.end();",
        &[
            "GoError: invalid GRPC Stream's client: empty gRPC client",
            "GoError: invalid GRPC Stream's client: not a gRPC client",
            "GoError: invalid GRPC Stream's method: method \"/nope\" not found in file descriptors",
            "GoError: invalid GRPC Stream's parameters: unknown param: \"nope\"",
            "can't register nope event handler: unknown GRPC stream's event type: nope",
            "can't send empty message",
        ],
    );
}

#[test]
fn a_connection_lasts_over_iterations_and_is_opened_again() {
    let server = testkit::http::start();
    let left = run_on(
        &server,
        3,
        "let kept; ",
        "if (!kept) { kept = new Client(); kept.connect(ADDRESS, { plaintext: true, reflect: true }); }
         console.log(kept.invoke('testkit.Echo/Unary', { text: 'x' }).status); client.close();",
    );
    assert_eq!(left.logs, ["0", "0", "0"]);
    assert_eq!(server.settled().connections, 4);
}

#[test]
fn types_are_loaded_in_init() {
    let load = |call: &str| {
        let folder = testkit::grpc::import_path();
        let source = format!(
            "import grpc from 'k6/net/grpc'; const client = new grpc.Client(); const F = {folder:?};
             try {{ console.log(JSON.stringify({call})); }} catch (error) {{ console.log(String(error)); }}
             export default function () {{}}"
        );
        run_against("", 1, &source).logs[0].clone()
    };
    let info = r#"[{"package":"testkit","service":"Echo","full_method":"/testkit.Echo/Unary","name":"Unary","is_client_stream":false,"is_server_stream":false},"#;
    assert!(load("client.load([F], 'testkit/echo.proto')").starts_with(info));
    assert!(load("client.loadProtoset(F + '/testkit.binpb')").starts_with(info));
    assert_eq!(
        load("client.load([F], 'nope.proto')"),
        "GoError: \"nope.proto\" not found; check the path and the import paths"
    );
    assert!(
        load("client.load([F + '/testkit'], 'echo.proto')")
            .contains("import \"testkit/kinds.proto\" not found")
    );
    assert!(load("client.loadProtoset(F + '/testkit/echo.proto')").contains("couldn't load protoset"));
    assert!(load("client.connect('127.0.0.1:1')").contains("in the init context is not supported"));
    assert!(load("client.invoke('a/b', {})").contains("in the init context is not supported"));
}
