//! Clients of the page that are silent, slow, too many or malformed.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::*;

/// Size of a long answer, bytes: more than the buffers of a connection.
const LONG: usize = 16 << 20;

/// Time for an answer beside hostile clients. Before the limits it took more than a minute.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Default)]
struct Stub {
    feed: Arc<Feed>,
}

impl Pages for Stub {
    fn answer(&self, question: &Question) -> Result<Arc<str>, PageError> {
        match question.view {
            View::Series => Ok("x".repeat(LONG).into()),
            _ => Ok(format!("{:?}", question.path()).into()),
        }
    }

    fn change(&self, _: &str, _: &Change) -> Result<String, PageError> {
        Ok("{}".into())
    }

    fn report(&self, run: &str, file: ReportFile, lang: &str) -> Result<String, PageError> {
        Ok(format!("{run} {file:?} {lang}"))
    }

    fn feed(&self, run: &str) -> Option<Arc<Feed>> {
        (run == "ab12").then(|| self.feed.clone())
    }

    fn stop(&self, _: &str) -> Result<(), Refusal> {
        Err(Refusal("stop it".into()))
    }
}

fn start() -> (Server, Arc<Stub>) {
    let pages = Arc::new(Stub::default());
    (Server::start_page("localhost:0", None, pages.clone()).expect("a free port"), pages)
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address()).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream
}

/// Sends bytes and returns everything until the end of the connection or of the patience.
fn raw(server: &Server, bytes: &[u8]) -> String {
    println!("tried 1");
    let mut stream = connect(server);
    // A server may close before it has read everything.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn is_served(server: &Server) -> bool {
    let answer = raw(server, b"GET /api/v1/about HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    answer.starts_with("HTTP/1.1 200")
}

/// Opens connections that send bytes and read nothing, and checks that the page is served beside them.
#[track_caller]
fn check_beside(what: &str, count: usize, bytes: &str) -> (Server, Vec<TcpStream>) {
    let (server, _) = start();
    let open = |_| {
        let mut stream = connect(&server);
        let _ = stream.write_all(bytes.as_bytes());
        stream
    };
    let hostile: Vec<TcpStream> = (0..count).map(open).collect();
    println!("tried {count}");
    assert!(is_served(&server) && is_served(&server), "{what}: {:?}", server.closed());
    assert!(server.closed().gave_way > 0, "{what}: {:?}", server.closed());
    assert!(server.closed().causes().iter().any(|cause| cause.contains("gave way")), "{what}");
    (server, hostile)
}

#[test]
fn hostile_clients_that_do_not_read_give_way() {
    let request = "GET /api/v1/runs/ab12/series HTTP/1.1\r\nhost: localhost\r\n\r\n";
    check_beside("no reads", 80, request);
}

#[test]
fn hostile_silent_clients_give_way() {
    check_beside("silent", 100, "");
}

#[test]
fn hostile_slow_heads_give_way() {
    check_beside("slow heads", 100, "GET /api/v1/about HTTP/1.1\r\nhost: loc");
}

#[test]
fn hostile_slow_bodies_give_way() {
    let request = "PUT /api/v1/runs/ab12/note HTTP/1.1\r\nhost: localhost\r\nx-plimsoll: 1\r\n\
        content-length: 1000\r\n\r\n{";
    check_beside("slow bodies", 100, request);
}

#[test]
fn hostile_listeners_give_way_to_new_ones() {
    let (server, pages) = start();
    let request = b"GET /api/v1/runs/ab12/events HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let open = || {
        let mut stream = connect(&server);
        stream.write_all(request).expect("buffers");
        let mut first = [0; 12];
        stream.read_exact(&mut first).expect("an answer");
        (stream, first.ends_with(b"200"))
    };
    let hostile: Vec<_> = (0..crate::feed::LISTENERS_MAX).map(|_| open()).collect();
    let (mut newest, is_heard) = open();
    assert!(is_heard, "the oldest listener gives way");
    pages.feed.push("tick", "7");
    let mut text = String::new();
    while !text.contains("data: 7") {
        let mut bytes = [0; 1024];
        let count = newest.read(&mut bytes).expect("events come");
        assert!(count > 0, "{text}");
        text += &String::from_utf8_lossy(&bytes[..count]);
    }
    assert_eq!(pages.feed.gave_way(), 1);
    drop(hostile);
}

/// Returns the statuses of all responses to raw bytes, and everything that came.
fn statuses(server: &Server, bytes: &[u8]) -> (Vec<u16>, String) {
    let text = raw(server, bytes);
    let lines = text.split("HTTP/1.1 ").skip(1);
    (lines.filter_map(|rest| rest.get(..3)?.parse().ok()).collect(), text)
}

#[test]
fn hostile_hosts_and_origins_are_refused() {
    let (server, _) = start();
    let port = server.address().port();
    let check = |headers: &str, expect: &[u16]| {
        for line in
            ["GET /", "GET /api/v1/runs", "GET /api/v1/runs/ab12/events", "PUT /api/v1/runs/ab12/note"]
        {
            let request = format!("{line} HTTP/1.1\r\n{headers}x-plimsoll: 1\r\nconnection: close\r\n\r\n");
            let (got, text) = statuses(&server, request.as_bytes());
            assert_eq!(got.len(), 1, "{line} {headers}: {text}");
            assert!(expect.contains(&got[0]), "{line} {headers}: {text}");
        }
    };
    for host in [
        "",
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "127.0.0.1@evil.example",
        "localhost:80@evil.example",
        "evil.example@localhost",
        "localhost:80:evil.example",
        "localhost evil.example",
        "[::1]evil.example",
        "[::1]:80@evil.example",
        "[::ffff:192.0.2.1]",
        "0.0.0.0",
        "2130706433",
        "0x7f000001",
        "localhost/",
        "localhost#",
        "localhost\\evil.example",
    ] {
        check(&format!("host: {host}\r\n"), &[400, 403]);
    }
    check("", &[400, 403]);
    check("host: localhost\r\nhost: evil.example\r\n", &[400, 403]);
    check("host: evil.example\r\nhost: localhost\r\n", &[400, 403]);
    let own = format!("host: localhost:{port}\r\n");
    for origin in [
        "",
        "null",
        "http://evil.example",
        "http://localhost",
        "http://localhost:1",
        &format!("http://localhost:{port}.evil.example"),
        &format!("http://localhost:{port}@evil.example"),
        &format!("http://evil.example#localhost:{port}"),
        &format!("ftp://localhost:{port}"),
        &format!("chrome-extension://localhost:{port}"),
        &format!("http://localhost:{port}/"),
    ] {
        check(&format!("{own}origin: {origin}\r\n"), &[403]);
    }
    let foreign = format!("{own}origin: http://localhost:{port}\r\norigin: http://evil.example\r\n");
    check(&foreign, &[400, 403]);
}

#[test]
fn hostile_paths_reach_no_file() {
    let (server, _) = start();
    let parts = [
        "../../../../etc/passwd",
        "..%2f..%2f..%2fetc%2fpasswd",
        "%2e%2e/%2e%2e/etc/passwd",
        "..%252f..%252fetc%252fpasswd",
        "....//....//etc/passwd",
        "..\\..\\etc\\passwd",
        "..%5c..%5cetc%5cpasswd",
        "/etc/passwd",
        "//etc/passwd",
        "%00",
        "passwd%00.html",
        "%c0%ae%c0%ae/etc/passwd",
        "%u002e%u002e/etc/passwd",
        "~root/.ssh/id_rsa",
        "proc/self/environ",
        "C:/windows/win.ini",
        ";/../etc/passwd",
        "ab12/../../../etc/passwd",
        "file:///etc/passwd",
        "%ff%fe",
    ];
    let routes = [
        "/*",
        "/assets/*",
        "/runs/*",
        "/api/*",
        "/api/v1/*",
        "/api/v1/runs/*",
        "/api/v1/runs/*/series",
        "/api/v1/runs/*/events",
        "/api/v1/runs/ab12/*",
        "/api/v1/runs/ab12/traces/*",
        "/api/v1/history?script=*",
    ];
    for route in routes {
        for part in parts {
            let path = route.replace('*', part);
            let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
            let (got, text) = statuses(&server, request.as_bytes());
            assert!(matches!(got[..], [200 | 400 | 404]), "{path}: {text}");
            assert!(!text.contains("root:") && !text.contains("PATH="), "{path}: {text}");
            let is_page = text.contains("<!doctype html>") || text.contains("\"/api/v1/history");
            assert!(got[0] != 200 || is_page, "{path}: {text}");
        }
    }
}

#[test]
fn hostile_heads_are_refused() {
    let (server, _) = start();
    let many: String = (0..5_000).map(|number| format!("x{number}: y\r\n")).collect();
    let check = |what: &str, request: String, expect: &[u16]| {
        let (got, text) = statuses(&server, request.as_bytes());
        let first = got.first().copied().unwrap_or(0);
        assert!(expect.contains(&first), "{what}: {}", text.get(..200).unwrap_or(&text));
        assert!(got.len() <= 1, "{what}: {got:?}");
    };
    let head = "GET /api/v1/runs HTTP/1.1\r\nhost: localhost\r\n";
    // A refused head may be cut before its answer arrives: 0.
    let refused = [0, 400, 414, 431];
    check("a header of 1 MB", format!("{head}x: {}\r\n\r\n", "y".repeat(1 << 20)), &refused);
    check("5,000 headers", format!("{head}{many}\r\n"), &refused);
    check(
        "a path of 1 MB",
        format!("GET /{} HTTP/1.1\r\nhost: localhost\r\n\r\n", "a".repeat(1 << 20)),
        &refused,
    );
    check("a name of 100 KB", format!("{head}{}: y\r\n\r\n", "x".repeat(100_000)), &refused);
    check("a method of 100 KB", format!("{} / HTTP/1.1\r\n\r\n", "G".repeat(100_000)), &refused);
    check("no HTTP", "\x16\x03\x01\x02\0\x01\0".into(), &refused);
    check("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".into(), &[0, 400, 505]);
    check("a zero byte", format!("{head}x: a\0b\r\n\r\n"), &refused);
    check("a version of the future", "GET / HTTP/9.9\r\nhost: localhost\r\n\r\n".into(), &[0, 400, 505]);
    check(
        "a foreign CONNECT",
        "CONNECT evil.example:443 HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".into(),
        &[400, 403, 404, 405],
    );
    assert!(is_served(&server));
}

#[test]
fn hostile_framings_smuggle_no_request() {
    let (server, _) = start();
    let smuggled = "GET /api/v1/runs/beef HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let check = |what: &str, headers: &str, body: &str| {
        let line = "PUT /api/v1/runs/ab12/note HTTP/1.1\r\nhost: localhost\r\nx-plimsoll: 1";
        let request = format!("{line}\r\n{headers}\r\n\r\n{body}{smuggled}");
        let (got, text) = statuses(&server, request.as_bytes());
        assert!(!text.contains("beef"), "{what}: {text}");
        assert!(got.len() <= 1 && got.iter().all(|status| *status >= 400), "{what}: {got:?} {text}");
    };
    let chunked = "0\r\n\r\n";
    check("both lengths", "content-length: 3\r\ntransfer-encoding: chunked", chunked);
    check("both, the other way round", "transfer-encoding: chunked\r\ncontent-length: 3", chunked);
    check("two lengths", "content-length: 0\r\ncontent-length: 3", "");
    check("a list of lengths", "content-length: 0, 3", "");
    check("a signed length", "content-length: +0", "");
    check("a hexadecimal length", "content-length: 0x0", "");
    check("a negative length", "content-length: -1", "");
    check("a huge length", "content-length: 99999999999999999999", "");
    check("a space before the colon", "transfer-encoding : chunked", chunked);
    check("an unknown coding", "transfer-encoding: xchunked", chunked);
    check("chunked not last", "transfer-encoding: chunked, identity", chunked);
    check("a signed chunk", "transfer-encoding: chunked", "-1\r\n\r\n");
    check("a huge chunk", "transfer-encoding: chunked", "ffffffffffffffffff\r\n\r\n");
    check("a chunk that is no number", "transfer-encoding: chunked", "zz\r\n\r\n");
    assert!(is_served(&server));
}

#[test]
fn hostile_upgrades_are_not_made() {
    let (server, _) = start();
    for path in ["/", "/api/v1/runs", "/api/v1/runs/cd34/events"] {
        for upgrade in ["websocket", "h2c", "TLS/1.2"] {
            let request = format!(
                "GET {path} HTTP/1.1\r\nhost: localhost\r\nupgrade: {upgrade}\r\nconnection: Upgrade\r\n\
                 sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
            );
            let mut stream = connect(&server);
            stream.write_all(request.as_bytes()).expect("buffers");
            let mut head = [0; 12];
            stream.read_exact(&mut head).expect("an answer");
            assert!(!head.ends_with(b"101"), "{path}: {upgrade}");
        }
    }
}

#[test]
fn hostile_floods_of_listeners_and_upgrades_give_way() {
    let events = "GET /api/v1/runs/ab12/events HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let upgrade = "GET /api/v1/runs HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\n\
        connection: Upgrade\r\n\r\n";
    check_beside("upgrades", 200, upgrade);
    let (server, _) = start();
    let open = |_| {
        let mut stream = connect(&server);
        let _ = stream.write_all(events.as_bytes());
        stream
    };
    let hostile: Vec<TcpStream> = (0..200).map(open).collect();
    assert!(is_served(&server), "{:?}", server.closed());
    drop(hostile);
}

#[test]
#[ignore = "takes the time limits: half a minute"]
fn hostile_clients_are_closed_in_time_and_counted() {
    let (server, _) = start();
    let request = b"GET /api/v1/runs/ab12/series HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let (mut silent, mut slow, mut unread) = (connect(&server), connect(&server), connect(&server));
    slow.write_all(b"GET").expect("buffers");
    unread.write_all(request).expect("buffers");
    for stream in [&mut silent, &mut slow] {
        stream.set_read_timeout(Some(Duration::from_secs(14))).expect("a timeout");
        assert!(stream.read(&mut [0; 64]).is_ok(), "it is closed");
    }
    std::thread::sleep(Duration::from_secs(10));
    let closed = server.closed();
    assert_eq!((closed.silent, closed.unread), (2, 1), "{closed:?}");
    let mut text = Vec::new();
    let _ = unread.read_to_end(&mut text);
    assert!(text.len() < LONG, "the rest was not sent");
}
