//! The counting server: a route for every behaviour a client must cope with, and a count of what came.
//!
//! | Routes | What they are for |
//! |---|---|
//! | `/`, `/json`, `/html`, `/bytes/N`, `/big?bytes=`, `/status/N`, `/delay/MS`, `/drip?bytes=&ms=` | plain replies |
//! | `/chunked/N`, `/close`, `/http10` | framings |
//! | `/anything`, `/get`, `/post`, `/put`, `/patch`, `/delete`, `/headers`, `/response-headers?` | echoes |
//! | `/redirect/N`, `/redirect-to?url=&status=`, `/redirect-loop` | redirects |
//! | `/cookies`, `/cookies/set?`, `/cookies/set/NAME/VALUE`, `/cookies/set-with?cookie=`, `/cookies/delete?` | cookies |
//! | `/basic-auth/U/P`, `/digest-auth/QOP/U/P[/ALGORITHM]` | authentication |
//! | `/gzip`, `/deflate`, `/brotli`, `/zstd`, `/bad-gzip`, `/bomb?mib=` | content codings |
//! | `/reset`, `/reset-after-head`, `/cut`, `/cut-chunked`, `/empty`, `/early-close-idle?ms=` | connections that end |
//! | `/hang`, `/hang-after-head`, `/slow-head?ms=` | connections that do not |
//! | `/malformed[/KIND]`, `/huge-head?bytes=` | bytes that are no HTTP, or too many of them |
//! | `/submit?ms=`, `/poll/ID?before=&after=` | tasks that are submitted and polled: see `http/tasks.rs` |
//! | `/events?count=&ms=&wait=&end=`, `/lines?`, `/v1/chat/completions?`, `/v1/messages?` | streams at a known pace: see `http/events.rs` |
//! | `/ws/KIND` | WebSocket connections: see `http/websocket.rs` |
//! | `CONNECT tunnel.test:PORT` | a proxy's tunnel to a port of this machine |
//! | `/reset-stream/N`, `/reset-body/N`, `/go-away/N` | endings of HTTP/2, for reason N |
//! | `/_testkit/seen` | the counts as JSON; not counted itself |

mod auth;
mod basics;
mod echo;
mod encodings;
mod events;
mod faults;
mod redirects;
mod streams;
mod tasks;
mod websocket;

use bytes::Bytes;
use serde_json::json;

use crate::connection::Service;
use crate::reply::{Reply, ReplyEnd};
use crate::request::Request;
use crate::server::{Listen, Server, StartError};
use crate::tls::Identity;

/// A route: the first segment of its path, and a function of the request and the segments after it.
struct Route {
    segment: &'static str,
    answer: fn(&Request, &[&str]) -> Reply,
}

/// Every route, by the first segment of its path.
const ROUTES: &[&[Route]] = &[
    basics::ROUTES,
    echo::ROUTES,
    redirects::ROUTES,
    auth::ROUTES,
    encodings::ROUTES,
    faults::ROUTES,
    websocket::ROUTES,
    streams::ROUTES,
    tasks::ROUTES,
    events::ROUTES,
];

/// Segments of a path that a route is given; the last one keeps the rest.
const MAX_SEGMENTS: usize = 8;

/// The service behind [`start`].
#[derive(Debug)]
pub struct Counting {
    home: Reply,
    catch_all: Option<Reply>,
}

impl Counting {
    /// Answers the routes, and 404 to everything else.
    pub fn new() -> Counting {
        Counting { home: home(), catch_all: None }
    }

    /// Answers 200 with a generic JSON body to every method, host and path.
    pub fn catch_all() -> Counting {
        let body = json!({
            "ok": true, "id": 1, "name": "stand-in", "token": "stand-in-token", "accessToken": "stand-in-token",
            "data": [], "items": [], "message": "answered by testkit",
        });
        Counting { home: home(), catch_all: Some(Reply::json(200, &body)) }
    }

    fn reply(&self, request: &Request) -> Reply {
        if let Some(reply) = &self.catch_all {
            return reply.clone();
        }
        let path = request.path();
        if request.method() == "CONNECT" {
            return tunnel(path);
        }
        if path == "/" {
            return self.home.clone();
        }
        let mut segments = path.trim_start_matches('/').splitn(MAX_SEGMENTS, '/');
        let first = segments.next().unwrap_or("");
        let rest: Vec<&str> = segments.collect();
        match ROUTES.iter().copied().flatten().find(|route| route.segment == first) {
            Some(route) => (route.answer)(request, &rest),
            None => Reply::text(404, "no such route\n"),
        }
    }
}

impl Default for Counting {
    fn default() -> Counting {
        Counting::new()
    }
}

impl Service for Counting {
    async fn answer(&self, request: &Request) -> Reply {
        self.reply(request)
    }
}

/// Starts the counting server on a free port.
///
/// # Panics
/// When the machine has no free port or thread: a test can do nothing about it.
pub fn start() -> Server {
    try_start(Listen::default()).expect("start the counting server")
}

/// Starts the counting server with TLS on a free port.
///
/// # Panics
/// As [`start`] does.
pub fn start_tls(identity: Identity) -> Server {
    try_start(Listen::tls(identity)).expect("start the counting server")
}

/// Starts the counting server with TLS and HTTP/2 on a free port.
///
/// # Panics
/// As [`start`] does.
pub fn start_http2() -> Server {
    try_start(Listen::http2()).expect("start the counting server")
}

/// Starts the counting server with these settings.
pub fn try_start(listen: Listen) -> Result<Server, StartError> {
    Server::start(Counting::new(), listen)
}

/// As a proxy, leads to the ports of this machine under one name; other names are none that it knows.
fn tunnel(authority: &str) -> Reply {
    match authority.strip_prefix("tunnel.test:").map(str::parse) {
        Some(Ok(port)) => {
            let head = b"HTTP/1.1 200 OK\r\n\r\n";
            Reply::raw(200, Bytes::from_static(head), head.len()).ending(ReplyEnd::Tunnel(port))
        }
        _ => Reply::text(404, "no such route\n"),
    }
}

/// About 1.2 KB of JSON, the same for every request: what most APIs answer with.
fn home() -> Reply {
    let items: Vec<_> = (1..=13)
        .map(|id| json!({"id": id, "name": format!("item number {id:02}"), "price_cents": 1000 + 99 * id, "tags": ["red", "small"], "stock": 17}))
        .collect();
    Reply::json(200, &json!({"ok": true, "page": 1, "pages": 42, "next": "/?page=2", "items": items}))
}

/// A body of `bytes` repeated letters.
fn letters(bytes: usize) -> Bytes {
    b"abcdefghijklmnopqrstuvwxyz0123456789".iter().copied().cycle().take(bytes).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::client::{Client, Ending, get};

    #[test]
    fn home_is_small_json_on_a_kept_connection() {
        let server = start();
        let mut client = Client::new(&server);
        for _ in 0..3 {
            let response = client.get("/");
            assert_eq!((response.status, response.json()["ok"].as_bool()), (200, Some(true)));
            assert!((1000..1400).contains(&response.body.len()), "{} bytes", response.body.len());
        }
        let seen = server.settled();
        assert_eq!((seen.total, seen.connections, seen.count("GET", "/", 200)), (3, 1, 3));
    }

    #[test]
    fn every_request_is_counted_by_method_path_and_status() {
        let server = start();
        let mut client = Client::new(&server);
        client.get("/status/201?ignored");
        client.request("DELETE /status/404 HTTP/1.1\r\n\r\n");
        client.get("/nowhere");
        let seen = server.settled();
        assert_eq!(seen.count("GET", "/status/201", 201), 1);
        assert_eq!(seen.count("DELETE", "/status/404", 404), 1);
        assert_eq!(seen.count("GET", "/nowhere", 404), 1);
        assert_eq!(seen.with_status(404), 2);
        assert_eq!(seen.rows.values().sum::<u64>(), seen.total);
    }

    #[test]
    fn requests_of_clients_that_reset_are_counted() {
        let server = start();
        for _ in 0..20 {
            let mut client = Client::new(&server);
            client.write("GET /delay/20 HTTP/1.1\r\n\r\n");
            client.reset();
        }
        for _ in 0..200 {
            if server.seen().rows.values().sum::<u64>() == 20 {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let seen = server.settled();
        assert_eq!(seen.rows.values().sum::<u64>(), seen.total);
        assert_eq!(seen.for_path("/delay/20"), seen.total);
        assert_eq!(seen.connections, 20);
    }

    #[test]
    fn bytes_are_counted_on_both_sides() {
        let server = start();
        let mut client = Client::new(&server);
        let response = client.request("GET /bytes/1000 HTTP/1.1\r\n\r\n");
        let seen = server.settled();
        assert_eq!(seen.bytes_in, "GET /bytes/1000 HTTP/1.1\r\n\r\n".len() as u64);
        assert_eq!(seen.bytes_out, (response.head.len() + response.body.len()) as u64);
    }

    #[test]
    fn pipelined_requests_are_answered_in_order() {
        let server = start();
        let mut client = Client::new(&server);
        client.write(
            "GET /status/201 HTTP/1.1\r\n\r\nGET /delay/5 HTTP/1.1\r\n\r\nGET /status/203 HTTP/1.1\r\n\r\n",
        );
        let statuses: Vec<u16> = (0..3).map(|_| client.response().status).collect();
        assert_eq!(statuses, [201, 200, 203]);
    }

    #[test]
    fn the_most_in_flight_is_kept() {
        let server = start();
        let mut clients: Vec<Client> = (0..5).map(|_| Client::new(&server)).collect();
        for client in &mut clients {
            client.write("GET /delay/200 HTTP/1.1\r\n\r\n");
        }
        for client in &mut clients {
            assert_eq!(client.response().status, 200);
        }
        assert_eq!(server.settled().in_flight_max, 5);
    }

    #[test]
    fn bad_requests_are_refused_and_told_apart() {
        let server = start();
        for (input, expect) in [
            ("\x16\x03\x01\x02\r\n\r\n".to_owned(), 400),
            ("POST / HTTP/1.1\r\ncontent-length: many\r\n\r\n".to_owned(), 400),
            ("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n".to_owned(), 400),
            (format!("GET / HTTP/1.1\r\nlong: {}\r\n", "x".repeat(300 * 1024)), 431),
        ] {
            let mut client = Client::new(&server);
            assert_eq!(client.request(&input).status, expect, "{:.40}", input);
            client.rest();
        }
        assert_eq!((server.settled().malformed, server.seen().total), (4, 0));
    }

    #[test]
    fn the_connection_closes_when_the_request_says_so() {
        let server = start();
        for request in ["GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nConnection: Close\r\n\r\n"] {
            let mut client = Client::new(&server);
            assert_eq!(client.request(request).status, 200);
            assert_eq!(client.rest(), (vec![], Ending::Closed));
        }
    }

    #[test]
    fn counts_are_read_over_http_without_being_counted() {
        let server = start();
        get(&server, "/status/204");
        let seen = get(&server, "/_testkit/seen").json();
        assert_eq!(seen["total"], 1);
        assert_eq!(
            seen["rows"][0],
            json!({"method": "GET", "path": "/status/204", "status": 204, "count": 1})
        );
    }

    #[test]
    fn catch_all_answers_everything() {
        let server = Server::start(Counting::catch_all(), Listen::default()).expect("start");
        let mut client = Client::new(&server);
        for request in ["PUT /any/where?x HTTP/1.1\r\nhost: elsewhere\r\n\r\n", "PATCH / HTTP/1.1\r\n\r\n"] {
            assert_eq!(client.request(request).status, 200);
        }
        assert_eq!(server.settled().total, 2);
    }

    #[test]
    fn dropping_frees_the_port() {
        let server = start();
        let port = server.address().port();
        let mut client = Client::new(&server);
        client.get("/");
        drop(server);
        assert!(matches!(client.rest(), (bytes, _) if bytes.is_empty()));
        drop(try_start(Listen { port, ..Listen::default() }).expect("start again on the same port"));
    }
}
