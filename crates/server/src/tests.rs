//! A server over a stub run that records its calls.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;

use api::Group;
use api::rest::{Metric, MetricAttributes, Resource, Status, StatusChange};

use super::*;

#[derive(Default)]
struct Recorded {
    changes: Mutex<Vec<StatusChange>>,
    setup: Mutex<Option<String>>,
}

impl Live for Recorded {
    fn status(&self) -> Status {
        Status { status: 7, vus: 3, running: true, ..Status::default() }
    }

    fn change(&self, change: &StatusChange) -> Result<(), Refusal> {
        if change.vus.is_some() {
            return Err(Refusal("change the VUs".into()));
        }
        self.changes.lock().expect("no panic inside").push(*change);
        Ok(())
    }

    fn metrics(&self) -> Vec<Metric> {
        let sample = [("rate".to_owned(), Some(api::Number(0.5)))].into();
        let attributes =
            MetricAttributes { kind: "rate".into(), contains: "default".into(), tainted: None, sample };
        vec![Resource::new("metrics", "checks{a:b c}", attributes)]
    }

    fn root_group(&self) -> Group {
        Group { id: api::path_id(""), ..Group::default() }
    }

    fn setup_data(&self) -> Option<String> {
        self.setup.lock().expect("no panic inside").clone()
    }

    fn set_setup_data(&self, json: Option<String>) -> Result<(), Refusal> {
        *self.setup.lock().expect("no panic inside") = json;
        Ok(())
    }

    fn run_setup(&self) -> Result<Option<String>, Refusal> {
        Ok(Some("{\"ran\":true}".into()))
    }

    fn run_teardown(&self) -> Result<(), Refusal> {
        panic!("as if there were a bug")
    }
}

fn start() -> (Server, Arc<Recorded>) {
    let live = Arc::new(Recorded::default());
    (Server::start("localhost:0", None, live.clone()).expect("a free port"), live)
}

/// Returns the status and body of the response to a raw request.
fn raw(server: &Server, request: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(server.address()).expect("the server listens");
    // A server may close before it has read everything.
    let _ = stream.write_all(request.as_bytes());
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    let status = answer.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
    (status, answer.split_once("\r\n\r\n").map_or("", |(_, body)| body).to_owned())
}

#[track_caller]
fn check(server: &Server, line: &str, body: &str, status: u16, expect: &str) {
    let length = body.len();
    let head = format!("{line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}");
    let (got, text) = raw(server, &format!("{head}\r\n\r\n{body}"));
    assert_eq!((got, text.as_str()), (status, expect), "{line}");
}

#[test]
fn the_routes_answer_as_those_of_k6() {
    let (server, live) = start();
    let of_status = r#"{"data":{"type":"status","id":"default","attributes":{"status":7,"paused":false,"vus":3,"vus-max":0,"stopped":false,"running":true,"tainted":false}}}"#;
    check(&server, "GET /ping", "", 200, "ok");
    check(&server, "GET /v1/status", "", 200, of_status);
    let stop = r#"{"data":{"type":"status","id":"default","attributes":{"stopped":true}}}"#;
    check(&server, "PATCH /v1/status", stop, 200, of_status);
    let changes = live.changes.lock().expect("no panic inside").clone();
    assert_eq!(changes, [StatusChange { stopped: Some(true), ..StatusChange::default() }]);
    check(
        &server,
        "PATCH /v1/status",
        r#"{"data":{"attributes":{"vus":3}}}"#,
        500,
        r#"{"errors":[{"status":"500","title":"Execution config error","detail":"failed to change the VUs"}]}"#,
    );
    let metric = r#"{"type":"metrics","id":"checks{a:b c}","attributes":{"type":"rate","contains":"default","tainted":null,"sample":{"rate":0.5}}}"#;
    check(&server, "GET /v1/metrics", "", 200, &format!("{{\"data\":[{metric}]}}"));
    check(&server, "GET /v1/metrics/checks%7Ba:b%20c%7D", "", 200, &format!("{{\"data\":{metric}}}"));
    let missing =
        r#"{"errors":[{"status":"404","title":"Not Found","detail":"No metric with that ID was found"}]}"#;
    check(&server, "GET /v1/metrics/nope", "", 404, missing);
    let root = r#"{"type":"groups","id":"d41d8cd98f00b204e9800998ecf8427e","attributes":{"path":"","name":"","checks":null},"relationships":{"groups":{"data":[]},"parent":{"data":null}}}"#;
    check(&server, "GET /v1/groups", "", 200, &format!("{{\"data\":[{root}]}}"));
    let nothing = r#"{"data":{"type":"setupData","id":"default","attributes":{}}}"#;
    check(&server, "GET /v1/setup", "", 200, nothing);
    let some = r#"{"data":{"type":"setupData","id":"default","attributes":{"data":{"z":1}}}}"#;
    check(&server, "PUT /v1/setup", "{\"z\":1}", 200, some);
    check(&server, "GET /v1/setup", "", 200, some);
    let ran = r#"{"data":{"type":"setupData","id":"default","attributes":{"data":{"ran":true}}}}"#;
    check(&server, "POST /v1/setup", "", 200, ran);
}

#[test]
fn what_cannot_be_read_is_refused() {
    let (server, _) = start();
    let long = "x".repeat(BODY_BYTES_MAX + 1);
    let bodies = [("PATCH /v1/status", "garbage"), ("PATCH /v1/status", &long), ("PUT /v1/setup", "{")];
    for (line, body) in bodies {
        let head = format!("{line} HTTP/1.1\r\nhost: localhost\r\nconnection: close");
        let (status, _) = raw(&server, &format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()));
        assert_eq!(status, 400, "{line}");
    }
    let head = format!("GET /v1/status HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "y".repeat(100_000));
    assert_eq!(raw(&server, &head).0, 431);
    let (status, text) =
        raw(&server, "POST /v1/teardown HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    assert_eq!(status, 500, "a panic ends one answer and not the server: {text}");
    let (status, _) =
        raw(&server, "GET /v1/status HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n");
    assert_eq!(status, 403);
}

#[test]
fn the_client_speaks_with_the_server() {
    let (server, live) = start();
    let client = Client::new(&server.address().to_string(), None);
    assert_eq!(client.status().expect("it is served").vus, 3);
    assert_eq!(client.metrics().expect("it is served")[0].id, "checks{a:b c}");
    let pause = StatusChange { paused: Some(true), ..StatusChange::default() };
    client.change(&pause).expect("it does that");
    assert_eq!(*live.changes.lock().expect("no panic inside"), [pause]);
    let scale = StatusChange { vus: Some(1), ..StatusChange::default() };
    let refused = client.change(&scale).expect_err("it does not do that").to_string();
    assert!(refused.ends_with("failed to change the VUs"), "{refused}");
    let address = server.address().to_string();
    drop(server);
    let gone = Client::new(&address, None).status().expect_err("it is gone").to_string();
    assert!(gone.starts_with(&format!("connect to a test at {address}: ")), "{gone}");
}

#[test]
fn others_than_this_machine_need_a_token() {
    let live = Arc::new(Recorded::default());
    let error = Server::start(":0", None, live.clone()).expect_err("anybody could end the test");
    assert!(matches!(error, ServerError::Exposed(_)), "{error}");
    let server = Server::start("127.0.0.1:0", Some("s3cret"), live).expect("a free port");
    let address = server.address().to_string();
    assert!(Client::new(&address, None).status().is_err());
    assert_eq!(Client::new(&address, Some("s3cret")).status().expect("it is allowed").vus, 3);
}

#[test]
fn a_taken_port_is_an_error() {
    let (server, live) = start();
    let error = Server::start(&server.address().to_string(), None, live).expect_err("it is taken");
    assert!(matches!(error, ServerError::Listen { .. }), "{error}");
}
