//! Fetches against a server that counts: what it saw is what was observed.

use std::cell::RefCell;
use std::io::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use model::plan::{HttpOptions, NetworkOptions, TlsOptions};
use model::{Instant, SystemClock};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use wire::{
    Auth, Body, Client, CookieJar, ErrorCode, FetchRequest, Fetched, Kind, Method, Request, RequestCookie,
    Shared, Target,
};

/// Answers the head of a request.
type Answer = fn(&str) -> Vec<u8>;

/// A server on the loopback that remembers every request.
struct Server {
    port: u16,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    async fn start(answer: Answer) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = seen.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, answer, log.clone()));
            }
        });
        Server { port, seen }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, answer: Answer, log: Arc<Mutex<Vec<String>>>) -> Option<()> {
    let mut buffer = Vec::new();
    loop {
        while !buffer.windows(4).any(|window| window == b"\r\n\r\n") {
            read(&mut stream, &mut buffer).await?;
        }
        let text = String::from_utf8(buffer.clone()).unwrap();
        let (head, rest) = text.split_once("\r\n\r\n").unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
        let body_bytes = length.map_or(0, |length| length.parse().unwrap());
        let mut body = rest.as_bytes().to_vec();
        while body.len() < body_bytes {
            read(&mut stream, &mut body).await?;
        }
        buffer = body.split_off(body_bytes);
        log.lock().unwrap().push(format!("{head}\n\n{}", String::from_utf8(body).unwrap()));
        if head.contains("/slow") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        stream.write_all(&answer(head)).await.ok()?;
    }
}

async fn read(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<()> {
    let count = stream.read_buf(buffer).await.ok()?;
    (count > 0).then_some(())
}

fn response(status: u16, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut response = Vec::new();
    write!(response, "HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\n\r\n", body.len()).unwrap();
    response.extend_from_slice(body);
    response
}

/// A fetch as a test describes it.
struct Case<'a> {
    request: Request,
    cookies: &'a [RequestCookie<'a>],
    redirects_max: u32,
    auth: Auth,
    jar: RefCell<CookieJar>,
}

/// The result of a fetch: its end, and the observed exchanges.
struct Outcome {
    fetched: Fetched,
    observed: Vec<Result<u16, ErrorCode>>,
    was_borrowed: bool,
}

impl Case<'_> {
    fn new(url: &str) -> Case<'static> {
        let deadline = SystemClock::now() + Duration::from_secs(10);
        Case {
            request: Request::new(Method::GET, Target::parse(url).unwrap(), deadline),
            cookies: &[],
            redirects_max: 10,
            auth: Auth::Basic,
            jar: RefCell::default(),
        }
    }

    async fn fetch(&self) -> Outcome {
        let options = (HttpOptions::default(), NetworkOptions::default(), TlsOptions::default());
        let client = Client::new(Arc::new(Shared::new(&options.0, &options.1, &options.2).unwrap()), 1);
        let mut observed = Vec::new();
        let mut was_borrowed = true;
        let mut observe = |exchange: &wire::Exchange, sent: &Request| {
            was_borrowed &= std::ptr::eq(sent, &self.request);
            let result = exchange.result.as_ref();
            observed.push(result.map(|response| response.status).map_err(|error| error.code));
        };
        let request = FetchRequest {
            request: &self.request,
            cookies: self.cookies,
            redirects_max: self.redirects_max,
            auth: self.auth,
            started: SystemClock::now(),
        };
        let fetched = wire::fetch(&client, request, Some(&self.jar), &mut observe).await;
        Outcome { fetched, observed, was_borrowed }
    }
}

fn body(fetched: &Fetched) -> &[u8] {
    &fetched.exchange.result.as_ref().unwrap().body
}

/// Method, path, and the lines of the head that tests look at.
fn shown(seen: &[String]) -> Vec<String> {
    let line = |head: &str, name: &str| head.lines().find(|line| line.starts_with(name)).map(str::to_owned);
    let shown = seen.iter().map(|head| {
        let start = head.split(" HTTP/").next().unwrap().to_owned();
        let lines = ["Authorization", "Cookie", "Content-Type"].map(|name| line(head, name));
        let lines: Vec<String> = lines.into_iter().flatten().collect();
        let body = head.split("\n\n").nth(1).unwrap_or_default();
        [start, lines.join("; "), body.to_owned()].join(" | ")
    });
    shown.collect()
}

#[tokio::test]
async fn a_plain_fetch_borrows_its_request() {
    let server = Server::start(|_| response(200, "", b"ok")).await;
    let outcome = Case::new(&server.url("/")).fetch().await;
    assert_eq!(body(&outcome.fetched), b"ok");
    assert_eq!(outcome.observed, [Ok(200)]);
    assert!(outcome.was_borrowed);
    assert_eq!((outcome.fetched.redirects, outcome.fetched.redirect_limit_reached), (0, false));
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn redirects_are_followed_and_cookies_travel() {
    let server = Server::start(|head| match head.split(' ').nth(1).unwrap() {
        "/1" => response(302, "Location: /2\r\nSet-Cookie: a=1; Path=/\r\n", b"moved"),
        "/2" => response(
            307,
            "Location: 3?q\r\nSet-Cookie: b=2; Path=/3\r\nSet-Cookie: a=; Max-Age=0; Path=/\r\n",
            b"",
        ),
        _ => response(200, "", b"end"),
    })
    .await;
    let mut case = Case::new(&server.url("/1"));
    case.request.method = Method::POST;
    case.request.body = Body::Bytes(Bytes::from_static(b"body"));
    case.request.headers = vec![
        ("Content-Type".into(), "text/plain".into()),
        ("Authorization".into(), "x".into()),
        ("Cookie".into(), "raw=1".into()),
    ];
    let own = [RequestCookie { name: "a", value: "own", replace: true }];
    case.cookies = &own;
    let outcome = case.fetch().await;
    assert_eq!(outcome.observed, [Ok(302), Ok(307), Ok(200)]);
    assert_eq!(outcome.fetched.redirects, 2);
    assert_eq!(outcome.fetched.target.as_str(), server.url("/3?q"));
    assert_eq!(body(&outcome.fetched), b"end");
    assert_eq!(
        shown(&server.seen()),
        [
            "POST /1 | Authorization: x; Cookie: raw=1; a=own; Content-Type: text/plain | body",
            "GET /2 | Authorization: x; Cookie: a=own | ",
            "GET /3?q | Authorization: x; Cookie: a=own; b=2 | ",
        ]
    );
}

#[tokio::test]
async fn endless_redirects_end_at_the_limit() {
    let server = Server::start(|_| response(308, "Location: /\r\n", b"again")).await;
    for (redirects_max, exchanges) in [(0, 1), (3, 4)] {
        let before = server.seen().len();
        let mut case = Case::new(&server.url("/"));
        case.redirects_max = redirects_max;
        let outcome = case.fetch().await;
        assert!(outcome.fetched.redirect_limit_reached);
        assert_eq!(outcome.fetched.redirects, redirects_max);
        assert_eq!(outcome.observed, vec![Ok(308); exchanges]);
        assert_eq!(server.seen().len() - before, exchanges);
        assert_eq!(body(&outcome.fetched), b"again");
    }
}

#[tokio::test]
async fn the_deadline_is_that_of_the_whole_chain() {
    let server = Server::start(|_| response(302, "Location: /slow\r\n", b"")).await;
    let mut case = Case::new(&server.url("/slow"));
    case.redirects_max = u32::MAX;
    let started = SystemClock::now();
    case.request.deadline = started + Duration::from_millis(150);
    let outcome = case.fetch().await;
    assert_eq!(outcome.fetched.exchange.result.unwrap_err().code, ErrorCode::REQUEST_TIMEOUT);
    let passed = SystemClock::now().since(started);
    assert!(passed >= Duration::from_millis(150) && passed < Duration::from_secs(2), "{passed:?}");
    assert!(outcome.observed.len() > 1);
    assert_eq!(outcome.observed.len(), server.seen().len());
}

#[tokio::test]
async fn a_bad_location_is_an_error_after_an_exchange() {
    let server = Server::start(|head| {
        let location = head.split("to=").nth(1).unwrap().split(' ').next().unwrap();
        response(302, &format!("Location: {location}\r\n"), b"")
    })
    .await;
    for (location, expect) in
        [("ftp://h/x", "unsupported protocol scheme"), ("http://[::1/", "parse Location")]
    {
        let before = server.seen().len();
        let outcome = Case::new(&server.url(&format!("/?to={location}"))).fetch().await;
        let error = outcome.fetched.exchange.result.unwrap_err();
        assert_eq!((error.code, error.kind), (ErrorCode::OTHER, Kind::Invalid));
        assert!(error.message.contains(expect), "{error}");
        assert_eq!(outcome.observed, [Ok(302)]);
        assert_eq!(server.seen().len() - before, 1);
    }
}

#[tokio::test]
async fn another_host_sees_no_credentials() {
    let server = Server::start(|head| {
        let port = head.split("Host: 127.0.0.1:").nth(1).map(|rest| rest.lines().next().unwrap());
        match port {
            Some(port) => response(302, &format!("Location: http://localhost:{port}/\r\n"), b""),
            None => response(200, "", b""),
        }
    })
    .await;
    let mut case = Case::new(&server.url("/").replace("//", "//user:pass@"));
    case.request.headers = vec![("X-Other".into(), "1".into())];
    let outcome = case.fetch().await;
    assert_eq!(outcome.observed, [Ok(302), Ok(200)]);
    assert_eq!(shown(&server.seen()), ["GET / | Authorization: Basic dXNlcjpwYXNz | ", "GET / |  | "]);
    assert!(server.seen()[1].contains("Referer: http://127.0.0.1:"));
}

#[tokio::test]
async fn a_digest_challenge_is_answered_once() {
    let server = Server::start(|head| {
        let is_answer = head.contains("Authorization: Digest username=\"user\", realm=\"r\", nonce=\"n\"");
        match is_answer && !head.contains("/never") {
            true => response(200, "", b"in"),
            false => {
                response(401, "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n", b"out")
            }
        }
    })
    .await;
    for (path, expect) in [("/", [Ok(401), Ok(200)]), ("/never", [Ok(401), Ok(401)])] {
        let before = server.seen().len();
        let mut case = Case::new(&server.url(path).replace("//", "//user:pass@"));
        case.auth = Auth::Digest;
        let outcome = case.fetch().await;
        assert_eq!(outcome.observed, expect);
        let seen = server.seen();
        assert_eq!(seen.len() - before, 2);
        assert!(
            !seen[before].contains("Authorization"),
            "no password before the challenge: {}",
            seen[before]
        );
    }
}

#[tokio::test]
async fn a_challenge_that_cannot_be_answered_is_the_response() {
    let server = Server::start(|_| response(401, "WWW-Authenticate: Basic realm=\"r\"\r\n", b"out")).await;
    let mut case = Case::new(&server.url("/").replace("//", "//user:pass@"));
    case.auth = Auth::Digest;
    let outcome = case.fetch().await;
    assert_eq!(outcome.observed, [Ok(401)]);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn bodies_are_decoded_once_at_the_end() {
    let server = Server::start(|head| {
        let coded = wire::encode(b"text", "gzip").unwrap().unwrap().body;
        match head.split(' ').nth(1).unwrap() {
            "/gzip" => response(200, "Content-Encoding: gzip\r\n", &coded),
            "/broken" => response(200, "Content-Encoding: gzip\r\n", b"plain"),
            "/moved" => response(302, "Location: /gzip\r\nContent-Encoding: gzip\r\n", b"plain"),
            _ => response(200, "Content-Encoding: gzip\r\n", b""),
        }
    })
    .await;
    let check = async |path: &str, keep_body: bool, expect: &[Result<u16, ErrorCode>], text: &[u8]| {
        let mut case = Case::new(&server.url(path));
        case.request.keep_body = keep_body;
        let outcome = case.fetch().await;
        assert_eq!(outcome.observed, expect, "{path}");
        if let Ok(response) = outcome.fetched.exchange.result {
            assert_eq!(response.body, text, "{path}");
        }
    };
    check("/gzip", true, &[Ok(200)], b"text").await;
    check("/moved", true, &[Ok(302), Ok(200)], b"text").await;
    check("/empty", true, &[Ok(200)], b"").await;
    check("/broken", true, &[Err(ErrorCode::DECOMPRESSION)], b"").await;
    check("/broken", false, &[Ok(200)], b"").await;
}

#[tokio::test]
async fn a_full_jar_changes_nothing_for_other_hosts() {
    let server = Server::start(|_| response(200, "Set-Cookie: a=1\r\n", b"")).await;
    let case = Case::new(&server.url("/"));
    let other = Target::parse("http://other.example/").unwrap();
    case.jar.borrow_mut().set(&other, "x", "1", &wire::CookieAttributes::default(), 0);
    let outcome = case.fetch().await;
    assert!(outcome.was_borrowed);
    assert_eq!(shown(&server.seen()), ["GET / |  | "]);
    let again = case.fetch().await;
    assert!(!again.was_borrowed);
    assert_eq!(shown(&server.seen())[1], "GET / | Cookie: a=1 | ");
}

#[tokio::test]
async fn a_refused_connection_is_observed_once() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let outcome = Case::new(&format!("http://127.0.0.1:{port}/")).fetch().await;
    assert_eq!(outcome.observed, [Err(ErrorCode::DIAL_REFUSED)]);
}

/// The future of a fetch lives on a VU's stack, ten thousand times.
#[tokio::test]
async fn the_future_of_a_fetch_is_small() {
    const FETCH_BYTES_MAX: usize = 4096;
    let options = (HttpOptions::default(), NetworkOptions::default(), TlsOptions::default());
    let client = Client::new(Arc::new(Shared::new(&options.0, &options.1, &options.2).unwrap()), 1);
    let request = Request::new(Method::GET, Target::parse("http://h/").unwrap(), Instant::MAX);
    let fetch = FetchRequest {
        request: &request,
        cookies: &[],
        redirects_max: 10,
        auth: Auth::Basic,
        started: SystemClock::now(),
    };
    let mut observe = |_: &wire::Exchange, _: &Request| {};
    let future = wire::fetch(&client, fetch, None, &mut observe);
    let bytes = size_of_val(&future);
    assert!(bytes <= FETCH_BYTES_MAX, "{bytes} bytes");
}
