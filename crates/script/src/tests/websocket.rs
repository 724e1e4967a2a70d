//! `k6/ws` and `k6/websockets` against a server that counts.

use model::Mark;

use super::{Left, cut, run_against, run_in};
use model::IterationEnd;

/// Runs a script with `__ENV.BASE` being the server's `ws://` address.
fn run(server: &testkit::Server, body: &str) -> Left {
    run_against(&server.url("").replacen("http", "ws", 1), 1, &source(body))
}

/// The same with `--compat strict`.
fn run_strict(server: &testkit::Server, body: &str) -> Left {
    let memory = crate::MemoryLimits::resolve(None, None, None);
    run_in(memory, &server.url("").replacen("http", "ws", 1), 1, None, &source(body), |run| {
        let mut plan = (*run.plan).clone();
        plan.compat = model::plan::Compat::Strict;
        run.plan = std::sync::Arc::new(plan);
    })
}

fn source(body: &str) -> String {
    format!(
        "import ws from 'k6/ws'; import {{ WebSocket, Blob }} from 'k6/websockets'; import {{ sleep }} from 'k6'; import http from 'k6/http';
         export default function () {{ {body} }}"
    )
}

#[track_caller]
fn check(body: &str, expect: &[&str]) -> (Left, testkit::Seen) {
    let server = testkit::http::start();
    let left = run(&server, body);
    assert_eq!(left.logs, expect, "{body}");
    assert_eq!(left.ends, [IterationEnd::Completed], "{body}");
    let mut seen = server.settled();
    // What a script sends last may come after it has ended.
    for _ in 0..200 {
        if seen.websocket.closes_in == seen.websocket.sessions {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
        seen = server.seen();
    }
    (left, seen)
}

#[test]
fn what_is_counted_is_what_the_server_saw() {
    let (left, seen) = check(
        "ws.connect(__ENV.BASE + '/ws/echo', {}, (s) => {
           s.on('open', () => { for (let i = 0; i < 1000; i++) s.send('message ' + i); s.ping(); });
           let n = 0; const came = () => { if (++n === 1001) s.close(); };
           s.on('message', came); s.on('pong', came);
         });
         for (let k = 0; k < 5; k++) {
           const s = new WebSocket(__ENV.BASE + '/ws/echo'); let n = 0;
           s.onopen = () => { for (let i = 0; i < 100; i++) s.send(new Uint8Array(200)); };
           s.onmessage = () => { if (++n === 100) s.close(); };
         }",
        &[],
    );
    let seen = seen.websocket;
    assert_eq!((seen.sessions, left.count("ws_sessions")), (6, 6));
    assert_eq!((seen.messages_in, left.count("ws_msgs_sent")), (1500, 1500));
    assert_eq!((seen.messages_out, left.count("ws_msgs_received")), (1500, 1500));
    assert_eq!((seen.pings_in, left.count("ws_ping")), (1, 1));
    assert_eq!((seen.closes_in, seen.malformed, left.count("ws_session_duration")), (6, 0, 6));
}

#[test]
fn k6_counts_pings_and_closes_of_sockets_as_messages() {
    let body = "const socket = new WebSocket(__ENV.BASE + '/ws/echo');
        socket.onopen = () => { socket.send('a'); socket.ping(); socket.close(); socket.close(); };";
    let server = testkit::http::start();
    assert_eq!(run(&server, body).count("ws_msgs_sent"), 1);
    assert_eq!(run_strict(&server, body).count("ws_msgs_sent"), 3);
}

#[test]
fn text_that_is_not_utf8_ends_the_session_as_the_protocol_asks() {
    let body = "ws.connect(__ENV.BASE + '/ws/bad/utf8', {}, (s) => {
        s.on('message', (text) => { console.log('message', text); s.close(); });
        s.on('error', (e) => console.log(e.error()));
    });";
    let server = testkit::http::start();
    let left = run(&server, body);
    assert_eq!(left.logs.len(), 1, "{:?}", left.logs);
    assert!(left.logs[0].contains("invalid UTF-8 in text message"), "{:?}", left.logs);
    assert_eq!(run_strict(&server, body).logs, ["message \u{fffd}("]);
}

#[test]
fn pings_are_answered_while_the_script_sleeps() {
    let (left, seen) = check(
        "ws.connect(__ENV.BASE + '/ws/ping?count=3', {}, (s) => {
           s.on('open', () => {
             sleep(0.2);
             console.log(http.get(__ENV.BASE.replace('ws', 'http') + '/_testkit/seen').json('websocket.pongs_in'));
           });
           let n = 0; s.on('message', (m) => { n++; console.log(m); if (n === 3) s.close(); });
         })",
        &["3", "pong ping 0", "pong ping 1", "pong ping 2"],
    );
    assert_eq!((seen.websocket.pongs_in, left.count("ws_msgs_received")), (3, 3));
}

#[test]
fn compressed_messages_go_there_and_back() {
    let (_, seen) = check(
        "const text = 'again and '.repeat(20000);
         ws.connect(__ENV.BASE + '/ws/echo?deflate=1', { compression: 'deflate' }, (s) => {
           s.on('open', () => s.send(text));
           s.on('message', (m) => { console.log(m === text); s.close(); });
         })",
        &["true"],
    );
    assert_eq!((seen.websocket.messages_in, seen.websocket.message_bytes_in), (1, 200_000));
    assert!(seen.bytes_in < 20_000, "{} bytes", seen.bytes_in);
}

#[test]
fn blobs_are_sent() {
    check(
        "const s = new WebSocket(__ENV.BASE + '/ws/echo');
         s.onopen = () => s.send(new Blob(['a', 'bc']));
         s.onmessage = async (e) => { console.log(e.data instanceof Blob, await e.data.text()); s.close(); };",
        &["true abc"],
    );
}

#[test]
fn messages_are_events_of_plain_properties() {
    check(
        "const s = new WebSocket(__ENV.BASE + '/ws/echo'); s.binaryType = 'arraybuffer'; let events = [];
         s.onopen = () => { s.send('a'); s.send(new Uint8Array([1, 2])); };
         s.onmessage = function (e) {
           events.push(e);
           if (events.length === 1) return;
           const [first, second] = events;
           console.log(Object.keys(first).join(), first.type, first.data, first.origin === s.url, this === s, first.target === s);
           console.log(second.data.byteLength, second.timestamp >= first.timestamp, first !== second);
           s.close();
         };
         s.onclose = (e) => console.log(JSON.stringify({ ...e, target: 0, timestamp: 0 }));",
        &[
            "type,target,timestamp,data,origin message a true true true",
            "2 true true",
            "{\"type\":\"close\",\"target\":0,\"timestamp\":0,\"code\":1000,\"reason\":\"\"}",
        ],
    );
}

#[test]
fn listeners_come_and_go_while_an_event_is_passed_on() {
    check(
        "const s = new WebSocket(__ENV.BASE + '/ws/echo'); const log = (name) => () => console.log(name);
         const late = log('late'), once = () => { console.log('once'); s.removeEventListener('message', once); };
         s.onopen = () => { s.send('1'); s.send('2'); };
         s.addEventListener('message', once);
         s.addEventListener('message', () => s.addEventListener('message', late));
         s.addEventListener('message', (e) => { if (e.data === '2') s.close(); });
         s.addEventListener('nothing', log('never')); s.removeEventListener('nothing', late);
         s.onmessage = (e) => console.log('handler', e.data);",
        &["can't add event handler: unknown event type: nothing", "handler 1", "once", "handler 2", "late"],
    );
}

#[test]
fn servers_that_break_the_protocol_end_the_session() {
    for kind in
        ["masked", "reserved-bits", "compressed", "opcode", "length", "negative-length", "continuation"]
    {
        let body = format!(
            "const s = new WebSocket(__ENV.BASE + '/ws/bad/{kind}');
             s.onerror = (e) => console.log(e.error.startsWith('websocket: '));
             s.onclose = (e) => console.log(e.code, s.readyState);"
        );
        check(&body, &["true", "undefined 3"]);
    }
    let body =
        "ws.connect(__ENV.BASE + '/ws/endless', {}, (s) => s.on('error', (e) => console.log(e.error())))";
    let server = testkit::http::start();
    let left = run(&server, body);
    assert_eq!(left.logs, ["websocket: message exceeds the limit of 64 MiB"]);
}

/// `/ws/silent` takes everything and answers nothing.
#[test]
fn a_server_that_does_not_answer_a_close_frame_ends_the_session() {
    let (left, _) = check(
        "const s = new WebSocket(__ENV.BASE + '/ws/silent');
         s.onopen = () => s.close(3001, 'done');
         s.onerror = (e) => console.log(e.error);
         s.onclose = (e) => console.log('closed', e.code, s.readyState);",
        &[
            "websocket: close 1006 (abnormal closure): no close frame from the server in 300 ms",
            "closed 1006 3",
        ],
    );
    assert_eq!(left.count("ws_session_duration"), 1);
    check(
        "ws.connect(__ENV.BASE + '/ws/silent', {}, (s) => {
           s.on('open', () => s.close());
           s.on('close', (code) => console.log('closed', code));
         })",
        &["closed 1001"],
    );
    // One that answers in time is not given up, and one that was closed twice ends once.
    check(
        "const s = new WebSocket(__ENV.BASE + '/ws/echo');
         s.onopen = () => { s.close(); s.close(); };
         s.onclose = (e) => console.log('closed', e.code);
         setTimeout(() => console.log('later'), 400);",
        &["closed 1000", "later"],
    );
}

#[test]
fn an_exception_in_a_handler_ends_the_iteration() {
    let server = testkit::http::start();
    let left = run(
        &server,
        "const s = new WebSocket(__ENV.BASE + '/ws/echo'); s.onopen = () => { throw new Error('boom') };
         s.onclose = () => console.log('closed');",
    );
    assert_eq!(left.ends, [IterationEnd::Failed]);
    assert!(left.logs[0] == "closed" && left.logs[1].contains("boom"), "{:?}", left.logs);
}

/// A session has a duration when it came to an end, also by an exception in a `k6/ws` handler; not when it ended with its
/// iteration.
#[test]
fn what_is_cut_off_has_no_duration() {
    let check = |body: &str, end: IterationEnd, durations: usize| {
        let server = testkit::http::start();
        let left = cut(|| run(&server, body));
        assert_eq!(left.ends, [end], "{body}");
        assert!(!left.logs.iter().any(|line| line == "never"), "{body}: {:?}", left.logs);
        assert_eq!((left.count("ws_sessions"), left.count("ws_session_duration")), (1, durations), "{body}");
        assert_eq!(server.settled().websocket.sessions, 1, "{body}");
    };
    let legacy = |does: &str| {
        format!("ws.connect(__ENV.BASE + '/ws/silent', {{}}, (s) => {{ {does} }}); console.log('never');")
    };
    let browser = |does: &str| {
        format!("const s = new WebSocket(__ENV.BASE + '/ws/silent'); s.onopen = () => {{ {does} }};")
    };
    let cases = [
        (legacy(""), IterationEnd::Interrupted, 0),
        (legacy("s.on('open', () => sleep(60));"), IterationEnd::Interrupted, 0),
        (legacy("s.on('open', () => { throw new Error('boom') });"), IterationEnd::Failed, 1),
        (legacy("s.setTimeout(() => { throw new Error('boom') }, 5);"), IterationEnd::Failed, 1),
        (browser(""), IterationEnd::Interrupted, 0),
        (browser("for (;;);"), IterationEnd::Interrupted, 0),
        (browser("setTimeout(() => { throw new Error('boom') }, 5);"), IterationEnd::Failed, 0),
    ];
    // Side by side: each that is cut off takes the seconds until it is.
    std::thread::scope(|scope| {
        for (body, end, durations) in &cases {
            scope.spawn(move || check(body, *end, *durations));
        }
    });
}

#[test]
fn a_refused_connection_has_no_time() {
    let (left, _) = check("console.log(ws.connect('ws://127.0.0.1:1/', {}, () => {}).status)", &["0"]);
    let marks: Vec<Mark> =
        left.samples.iter().filter(|sample| sample.0 == "ws_connecting").map(|sample| sample.3).collect();
    assert_eq!(marks, [Mark::Failed]);
}
