//! The client against a server that speaks HTTP/2.

use std::sync::mpsc::{Receiver, channel};

use super::*;

/// The server's view of a call.
#[derive(Debug, PartialEq)]
pub(crate) struct SeenCall {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// How the server answers: the status of HTTP, and of gRPC in the trailers or, without an answer, in the head.
#[derive(Clone, Copy)]
pub(crate) struct Reply {
    status: u16,
    grpc: &'static [(&'static str, &'static str)],
    has_body: bool,
}

pub(crate) const FINE: Reply = Reply { status: 200, grpc: &[("grpc-status", "0")], has_body: true };

/// A server of so many calls as there are replies.
pub(crate) fn serve(replies: Vec<Reply>) -> (String, Receiver<SeenCall>) {
    let (seen, calls) = channel();
    let (ready, address) = channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
            ready.send(listener.local_addr().expect("it is bound").to_string()).expect("the test waits");
            for reply in replies {
                let (stream, _) = listener.accept().await.expect("a client");
                let mut connection = h2::server::handshake(stream).await.expect("HTTP/2");
                while let Some(Ok((request, respond))) = connection.accept().await {
                    let seen = seen.clone();
                    tokio::spawn(async move { seen.send(take(request, respond, reply).await) });
                }
            }
        });
    });
    (address.recv().expect("it listens"), calls)
}

async fn take(
    request: http::Request<h2::RecvStream>,
    mut respond: h2::server::SendResponse<Bytes>,
    reply: Reply,
) -> SeenCall {
    let (head, mut stream) = request.into_parts();
    let mut body = Vec::new();
    while let Some(chunk) = stream.data().await {
        let chunk = chunk.expect("bytes");
        stream.flow_control().release_capacity(chunk.len()).expect("they were received");
        body.extend_from_slice(&chunk);
    }
    let mut status = HeaderMap::new();
    for (name, value) in reply.grpc {
        status.insert(*name, value.parse().expect("a value"));
    }
    let mut response = http::Response::builder().status(reply.status).body(()).expect("a head");
    if reply.has_body {
        let mut send = respond.send_response(response, false).expect("the client waits");
        send.send_data(frame(b"", false), false).expect("the client waits");
        send.send_trailers(status).expect("the client waits");
    } else {
        *response.headers_mut() = status;
        respond.send_response(response, true).expect("the client waits");
    }
    SeenCall { path: head.uri.path().to_owned(), headers: head.headers, body }
}

const WITHIN: Duration = Duration::from_secs(5);

#[track_caller]
fn check(reply: Reply, expect: Result<(), SendError>) {
    let (address, calls) = serve(vec![reply]);
    let client = GrpcClient::new(&address, true, &HttpSettings::default()).expect("an address");
    let headers = [("x-a".to_owned(), "b".to_owned())];
    // More than the window that a connection begins with, so that the call has to wait for the window to open.
    let message = vec![7; 200_000];
    let call = Call { path: "/p.S/M", headers: &headers, message: &message, is_compressed: false };
    assert_eq!(client.call(&call, WITHIN), expect);
    let seen = calls.recv().expect("a call");
    assert_eq!(seen.path, "/p.S/M");
    assert_eq!(seen.headers["te"], "trailers");
    assert_eq!(seen.headers["content-type"], "application/grpc+proto");
    assert_eq!(seen.headers["x-a"], "b");
    assert_eq!(
        (seen.body[0], &seen.body[1..5], seen.body.len()),
        (0, &200_000u32.to_be_bytes()[..], 200_005)
    );
}

#[test]
fn the_status_decides_whether_to_try_again() {
    let refused = |why: &str| Err(SendError::Refused { why: why.into(), lost: None });
    check(FINE, Ok(()));
    let grpc = &[("grpc-status", "14"), ("grpc-message", "too%20busy")];
    check(
        Reply { grpc, has_body: false, ..FINE },
        Err(retry("the endpoint answered gRPC 14 too busy".into())),
    );
    check(Reply { grpc: &[("grpc-status", "3")], ..FINE }, refused("the endpoint answered gRPC 3"));
    let grpc = &[("grpc-status", "16"), ("grpc-message", "%1b[31m")];
    check(Reply { grpc, ..FINE }, refused(r"the endpoint answered gRPC 16 \u{1b}[31m"));
    check(Reply { grpc: &[], ..FINE }, Err(retry("the endpoint's answer has no status of gRPC".into())));
    check(Reply { status: 404, ..FINE }, refused("the endpoint answered 404"));
    check(Reply { status: 503, ..FINE }, Err(retry("the endpoint answered 503".into())));
}

#[test]
fn who_is_not_there_may_come() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it is bound").to_string();
    drop(listener);
    let client = GrpcClient::new(&address, true, &HttpSettings::default()).expect("an address");
    let call = Call { path: "/p.S/M", headers: &[], message: b"", is_compressed: false };
    assert!(matches!(client.call(&call, WITHIN), Err(SendError::Retry { .. })));
    // It accepts and says nothing.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it is bound").to_string();
    let client = GrpcClient::new(&address, false, &HttpSettings::default()).expect("an address");
    let short = Duration::from_millis(100);
    assert_eq!(client.call(&call, short), Err(retry("no answer within 100ms".into())));
}

#[test]
fn addresses_are_hosts_with_ports() {
    for (address, is_plain, expect) in [
        ("localhost:4317", true, true),
        ("[::1]:4317", false, true),
        ("localhost", true, false),
        (":4317", true, false),
        ("localhost:x", true, false),
        ("a b:1", false, false),
    ] {
        let client = GrpcClient::new(address, is_plain, &HttpSettings::default());
        assert_eq!(client.is_ok(), expect, "{address}");
    }
}
