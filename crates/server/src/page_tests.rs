//! A page server at wire level, over a stub that records its questions.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::time::Duration;

use super::*;

#[derive(Default)]
struct Recorded {
    feed: Arc<Feed>,
    changes: Mutex<Vec<(String, Change)>>,
    stopped: Mutex<Vec<String>>,
}

impl Pages for Recorded {
    fn answer(&self, question: &Question) -> Result<Arc<str>, PageError> {
        match question.run.as_str() {
            "dead" => Err(PageError::NotFound("failed to find it".into())),
            "bad0" => Err(PageError::Invalid("failed to read it".into())),
            "b0" => panic!("as if there were a bug"),
            _ => Ok(format!("{:?}", question.path()).into()),
        }
    }

    fn change(&self, run: &str, change: &Change) -> Result<String, PageError> {
        self.changes.lock().expect("no panic inside").push((run.to_owned(), change.clone()));
        Ok("{}".into())
    }

    fn report(&self, run: &str, file: ReportFile, lang: &str) -> Result<String, PageError> {
        Ok(format!("{run} {file:?} {lang}"))
    }

    fn feed(&self, run: &str) -> Option<Arc<Feed>> {
        (run == "ab12").then(|| self.feed.clone())
    }

    fn stop(&self, run: &str) -> Result<(), Refusal> {
        if run != "ab12" {
            return Err(Refusal("stop it".into()));
        }
        self.stopped.lock().expect("no panic inside").push(run.to_owned());
        Ok(())
    }
}

fn start(token: Option<&str>) -> (Server, Arc<Recorded>) {
    let pages = Arc::new(Recorded::default());
    (Server::start_page("localhost:0", token, pages.clone()).expect("a free port"), pages)
}

/// Returns the status, head and body of the response to a request.
fn ask(server: &Server, line: &str, headers: &str, body: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(server.address()).expect("the server listens");
    let host = if headers.contains("host:") { "" } else { "host: localhost\r\n" };
    let length = body.len();
    let request = format!(
        "{line} HTTP/1.1\r\n{host}connection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    );
    // A server may close before it has read everything.
    let _ = stream.write_all(request.as_bytes());
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    let status = answer.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    (status, head.to_ascii_lowercase(), body.to_owned())
}

#[track_caller]
fn check(server: &Server, line: &str, headers: &str, body: &str, status: u16, expect: &str) {
    let (got, _, text) = ask(server, line, headers, body);
    assert_eq!(got, status, "{line}: {text}");
    assert!(text.contains(expect), "{line}: {expect:?} is not in {text}");
}

const WRITE: &str = "x-plimsoll: 1\r\n";

#[test]
fn questions_are_passed_on() {
    let (server, _) = start(None);
    let path = "/api/v1/runs/@last/series?metric=a&to=9";
    check(&server, &format!("GET {path}"), "", "", 200, path);
    check(&server, "GET /api/v1/runs/%40last", "", "", 200, "/api/v1/runs/@last");
    check(&server, "GET /api/v1/runs/dead", "", "", 404, "failed to find it");
    check(&server, "GET /api/v1/runs/bad0", "", "", 400, "failed to read it");
    check(&server, "GET /api/v1/runs/b0", "", "", 500, "this is a bug");
    check(&server, "GET /api/v1/runs/b0", "", "", 500, "this is a bug");
    check(&server, "GET /api/v1/runs/..%2f..%2fetc%2fpasswd", "", "", 404, "no such answer");
    check(&server, "GET /api/v1/nope", "", "", 404, "no such answer");
    check(&server, &format!("GET /api/v1/runs?script={}", "x".repeat(8000)), "", "", 404, "no such answer");
    check(&server, "GET /api/v1/openapi.json", "", "", 200, "\"openapi\"");
    check(&server, "GET /runs/ab12/requests", "", "", 200, "<");
    check(&server, "GET /assets/none.js", "", "", 404, "");
    check(&server, "POST /", WRITE, "", 405, "only be read");
}

#[test]
fn an_answer_that_is_known_is_not_sent_again() {
    let (server, _) = start(None);
    let (_, head, _) = ask(&server, "GET /api/v1/runs", "", "");
    let tag = head.lines().find_map(|line| line.strip_prefix("etag: ")).expect("a tag").to_owned();
    let known = format!("if-none-match: {tag}\r\n");
    let (status, _, body) = ask(&server, "GET /api/v1/runs", &known, "");
    assert_eq!((status, body.as_str()), (304, ""));
    assert_eq!(ask(&server, "GET /api/v1/about", &known, "").0, 200);
}

#[test]
fn reports_are_files_to_keep() {
    let (server, _) = start(None);
    for (name, media_type, body) in [
        ("report.html?lang=ko", "text/html", "ab12 Html ko"),
        ("report.md", "text/markdown", "ab12 Markdown en"),
    ] {
        let (status, head, text) = ask(&server, &format!("GET /api/v1/runs/ab12/{name}"), "", "");
        assert_eq!((status, text.as_str()), (200, body));
        assert!(head.contains(&format!("content-type: {media_type}; charset=utf-8")), "{head}");
        let file = name.split('?').next().unwrap_or_default().replace("report", "plimsoll-ab12");
        assert!(head.contains(&format!("content-disposition: attachment; filename=\"{file}\"")), "{head}");
    }
    check(&server, "GET /api/v1/runs/ab12/report.pdf", "", "", 404, "no such answer");
    check(&server, "GET /api/v1/runs/..%2fab12/report.md", "", "", 404, "no such answer");
    check(&server, "PUT /api/v1/runs/ab12/report.md", WRITE, "", 405, "only be read");
    let (closed, _) = start(Some("a token of some length"));
    check(&closed, "GET /api/v1/runs/ab12/report.md", "", "", 401, "");
}

#[test]
fn every_answer_says_what_may_run() {
    let (server, _) = start(None);
    for path in ["/", "/api/v1/runs", "/api/v1/nope", "/assets/none.js"] {
        let (_, head, _) = ask(&server, &format!("GET {path}"), "", "");
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self';",
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
            "referrer-policy: no-referrer",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(head.contains(header), "{path}: {header} is not in {head}");
        }
    }
}

#[test]
fn foreign_pages_and_names_are_turned_away() {
    let (server, pages) = start(None);
    for line in ["GET /", "GET /api/v1/runs", "GET /api/v1/runs/ab12/events", "POST /api/v1/runs/ab12/stop"] {
        check(&server, line, "host: evil.example\r\n", "", 403, "another machine");
        check(&server, line, "origin: http://evil.example\r\nx-plimsoll: 1\r\n", "", 403, "another site");
        check(&server, line, "origin: null\r\nx-plimsoll: 1\r\n", "", 403, "another site");
    }
    assert!(pages.stopped.lock().expect("no panic inside").is_empty());
}

#[test]
fn writing_takes_the_header_and_bodies_are_bounded() {
    let (server, pages) = start(None);
    let note = "PUT /api/v1/runs/ab12/note";
    check(&server, note, "", "{\"note\":\"x\"}", 403, "X-Plimsoll");
    check(&server, note, WRITE, "{\"note\":\"x\"}", 200, "{}");
    check(&server, note, WRITE, "garbage", 400, "Invalid data");
    let long = format!("{{\"note\":\"{}\"}}", "x".repeat(70_000));
    check(&server, note, WRITE, &long, 400, "longer than 65536 bytes");
    check(&server, "PUT /api/v1/runs/ab12/baseline", WRITE, "{\"isBaseline\":true}", 200, "{}");
    check(&server, "POST /api/v1/runs/ab12/stop", "", "", 403, "X-Plimsoll");
    check(&server, "POST /api/v1/runs/ab12/stop", WRITE, "", 202, "{}");
    check(&server, "POST /api/v1/runs/cd34/stop", WRITE, "", 409, "failed to stop it");
    check(&server, "DELETE /api/v1/runs/ab12", WRITE, "", 405, "only be read");
    let changes = pages.changes.lock().expect("no panic inside").clone();
    let expect = [Change::Note("x".into()), Change::Baseline(true)].map(|change| ("ab12".to_owned(), change));
    assert_eq!(changes, expect);
    assert_eq!(*pages.stopped.lock().expect("no panic inside"), ["ab12"]);
}

#[test]
fn a_token_is_shown_once_and_a_cookie_after_that() {
    let (server, _) = start(Some("s3cret"));
    let get = "GET /api/v1/runs";
    check(&server, get, "", "", 401, "the token");
    check(&server, get, "authorization: Bearer s3cre\r\n", "", 401, "the token");
    check(&server, get, "authorization: Bearer s3cret\r\n", "", 200, "/api/v1/runs");
    // The page itself is public, since it must load before it can send the token.
    check(&server, "GET /runs", "", "", 200, "<");
    let session = "POST /api/v1/session";
    check(&server, session, "authorization: Bearer s3cret\r\n", "", 403, "X-Plimsoll");
    check(&server, session, "x-plimsoll: 1\r\nauthorization: Bearer wrong\r\n", "", 401, "the token");
    let (status, head, _) = ask(&server, session, "x-plimsoll: 1\r\nauthorization: Bearer s3cret\r\n", "");
    assert_eq!(status, 204);
    let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
    assert!(cookie.contains("; httponly; samesite=strict"), "{cookie}");
    let pair = cookie.split(';').next().expect("a pair");
    check(&server, get, &format!("cookie: {pair}\r\n"), "", 200, "/api/v1/runs");
    check(
        &server,
        get,
        &format!("cookie: {pair}\r\norigin: http://evil.example\r\n"),
        "",
        403,
        "another site",
    );
    let live = format!("cookie: {pair}\r\n");
    check(&server, "GET /api/v1/runs/cd34/events", &live, "", 204, "");
    let error =
        Server::start_page(":0", None, Arc::new(Recorded::default())).expect_err("anybody could read");
    assert!(matches!(error, ServerError::Exposed(_)), "{error}");
}

/// Opens a stream of events and reads until a text arrives.
fn listen(server: &Server, headers: &str, until: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(server.address()).expect("the server listens");
    let request = format!("GET /api/v1/runs/ab12/events HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).expect("it reads");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    let text = read(&mut stream, until);
    (stream, text)
}

/// Reads until a text arrives.
fn read(stream: &mut TcpStream, until: &str) -> String {
    let (mut text, mut bytes) = (String::new(), [0; 4096]);
    while !text.contains(until) {
        let count = stream.read(&mut bytes).expect("events come");
        assert!(count > 0, "{until:?} never came: {text}");
        text += &String::from_utf8_lossy(&bytes[..count]);
    }
    text
}

#[test]
fn events_are_resumed_where_they_broke_off() {
    let (server, pages) = start(None);
    (1..=3).for_each(|number: u32| pages.feed.push("tick", &number.to_string()));
    let (_, text) = listen(&server, "last-event-id: 1\r\n", "data: 3");
    assert!(text.contains("content-type: text/event-stream") && text.contains("retry: "), "{text}");
    assert!(text.contains("id: 2\nevent: tick\ndata: 2\n\n") && !text.contains("data: 1\n"), "{text}");
    let (_, text) = listen(&server, "last-event-id: 99\r\n", "event: reset");
    assert!(text.contains("id: 3\nevent: reset\n"), "{text}");
    check(&server, "GET /api/v1/runs/cd34/events", "", "", 204, "");
    // A new listener receives the next events, and the end of the feed ends the response.
    let (mut stream, before) = listen(&server, "", "retry: ");
    assert!(pages.feed.is_wanted());
    pages.feed.push("ended", "{}");
    pages.feed.close();
    let text = read(&mut stream, "event: ended");
    assert!(!format!("{before}{text}").contains("event: tick"), "{before}{text}");
}

#[test]
fn listeners_are_bounded_and_do_not_delay_the_end() {
    let (server, pages) = start(None);
    let open = |_| {
        let mut stream = TcpStream::connect(server.address()).expect("the server listens");
        let request = "GET /api/v1/runs/ab12/events HTTP/1.1\r\nhost: localhost\r\n\r\n";
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut first = [0; 12];
        stream.read_exact(&mut first).expect("it answers");
        (stream, String::from_utf8_lossy(&first).into_owned())
    };
    let streams: Vec<_> = (0..=feed::LISTENERS_MAX).map(open).collect();
    assert!(streams.iter().all(|(_, first)| first.ends_with("200")));
    assert_eq!(pages.feed.gave_way(), 1);
    pages.feed.push("tick", "{}");
    // This would block forever if dropping waited for listeners.
    drop(server);
}
