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
