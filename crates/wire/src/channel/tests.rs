use std::future::poll_fn;
use std::time::Duration;

use bytes::Bytes;
use model::plan::{HttpOptions, NetworkOptions, TlsOptions};
use testkit::http::Counting;
use testkit::{Identity, Listen, Server};

use super::*;
use crate::Shared;
use crate::testing::local;

fn client() -> Rc<Client> {
    let shared = Shared::new(&HttpOptions::default(), &NetworkOptions::default(), &TlsOptions::default());
    Rc::new(Client::new(Arc::new(shared.unwrap()), 1))
}

fn soon() -> Instant {
    SystemClock::now() + Duration::from_secs(10)
}

fn settings(url: &str) -> ChannelSettings {
    ChannelSettings { target: Target::parse(url).unwrap(), authority: None, tls: ChannelTls::default() }
}

fn head(path: &str) -> CallHead {
    let fields = vec![("x-a".to_owned(), "b".to_owned())];
    CallHead {
        path: path.to_owned(),
        content_type: "application/grpc",
        user_agent: Some("ours".into()),
        fields,
    }
}

async fn next(call: &mut Call) -> Result<CallEvent, Error> {
    poll_fn(|cx| {
        call.poll_send(cx);
        call.poll_receive(cx)
    })
    .await
}

/// The events of a call until its end, as text.
async fn events(call: &mut Call) -> String {
    let mut text = String::new();
    loop {
        match next(call).await {
            Ok(CallEvent::Head(status, headers)) => {
                let echoed = headers.get("x-a").map(String::from_utf8_lossy).unwrap_or_default();
                text.push_str(&format!("head {status} {echoed}; "));
            }
            Ok(CallEvent::Data(bytes)) => {
                call.release(bytes.len());
                text.push_str(&format!("data {}; ", bytes.len()));
            }
            Ok(CallEvent::Trailers(trailers)) => {
                let status = trailers.get("grpc-status").map(String::from_utf8_lossy).unwrap_or_default();
                text.push_str(&format!("trailers {status}; "));
            }
            Ok(CallEvent::End) => return text + "end",
            Err(error) => return text + error.story(),
        }
    }
}

/// A message with `text` and `count`, framed.
fn ask(text: &str, count: u8) -> Bytes {
    let message = [&[0x0a, text.len() as u8], text.as_bytes(), &[0x10, count]].concat();
    [&[0, 0, 0, 0, message.len() as u8][..], &message].concat().into()
}

#[test]
fn calls_stream_in_both_directions() {
    local(async {
        let server = testkit::http::start();
        let channel = Channel::connect(&client(), settings(&server.url("")), soon()).await.unwrap();
        let mut call = channel.call(&head("/testkit.Echo/BothStreams"), soon()).await.unwrap();
        assert!(matches!(next(&mut call).await, Ok(CallEvent::Head(200, _))));
        for text in ["a", "bc"] {
            assert!(call.queue(ask(text, 0)));
            assert!(matches!(next(&mut call).await, Ok(CallEvent::Data(_))));
        }
        call.finish();
        assert_eq!(events(&mut call).await, "trailers 0; end");
        assert!(call.received_at() > Instant::ZERO);
        let seen = server.settled();
        assert_eq!((seen.connections, seen.total), (1, 1));
    });
}

#[test]
fn calls_share_a_connection_and_open_it_again() {
    local(async {
        let server = testkit::http::start();
        let channel = Channel::connect(&client(), settings(&server.url("")), soon()).await.unwrap();
        for _ in 0..3 {
            let mut call = channel.call(&head("/testkit.Echo/Unary"), soon()).await.unwrap();
            call.queue(ask("x", 0));
            call.finish();
            assert_eq!(events(&mut call).await, "head 200 b; data 10; trailers 0; end");
        }
        channel.close();
        let mut call = channel.call(&head("/testkit.Echo/Nope"), soon()).await.unwrap();
        call.finish();
        assert_eq!(events(&mut call).await, "head 200 b; end");
        assert_eq!(server.settled().connections, 2);
    });
}

#[test]
fn a_server_that_is_not_read_waits() {
    local(async {
        let server = testkit::http::start();
        let channel = Channel::connect(&client(), settings(&server.url("")), soon()).await.unwrap();
        let mut call = channel.call(&head("/testkit.Echo/ServerStream"), soon()).await.unwrap();
        // Answers without an end, of 1,000 bytes each.
        let mut endless = vec![0, 0, 0, 0, 14, 0x10];
        endless.extend_from_slice(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0x38, 0xe8, 7]);
        call.queue(endless.into());
        call.finish();
        let mut unread = 0;
        while let Ok(Ok(event)) = tokio::time::timeout(Duration::from_millis(300), next(&mut call)).await {
            if let CallEvent::Data(bytes) = event {
                unread += bytes.len();
            }
        }
        assert_eq!(unread, 1 << 20);
        call.release(unread);
        assert!(matches!(next(&mut call).await, Ok(CallEvent::Data(_))));
        // Another call is not held up.
        let mut beside = channel.call(&head("/testkit.Echo/Unary"), soon()).await.unwrap();
        beside.queue(ask("x", 0));
        beside.finish();
        assert_eq!(events(&mut beside).await, "head 200 b; data 10; trailers 0; end");
    });
}

#[test]
fn certificates_of_its_own() {
    local(async {
        let server = Server::start(
            Counting::new(),
            Listen { tls: Some(Identity::ClientCertificate), ..Listen::http2() },
        )
        .unwrap();
        let files = server.tls_files().unwrap();
        let read = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap();
        let own = ChannelTls {
            certificate: Some(ClientCertificate {
                domains: Vec::new(),
                cert: read(files.client_certificate()),
                key: read(files.client_key()),
                password: None,
            }),
            authorities: vec![read(files.ca())],
        };
        let with = |tls: ChannelTls| ChannelSettings { tls, ..settings(&server.url("")) };
        let channel = Channel::connect(&client(), with(own.clone()), soon()).await.unwrap();
        let mut call = channel.call(&head("/testkit.Echo/Unary"), soon()).await.unwrap();
        call.queue(ask("x", 0));
        call.finish();
        assert_eq!(events(&mut call).await, "head 200 b; data 10; trailers 0; end");
        let check = async |tls: ChannelTls, expect: &str| {
            let story = match Channel::connect(&client(), with(tls), soon()).await {
                Ok(channel) => match channel.call(&head("/testkit.Echo/Unary"), soon()).await {
                    Ok(mut call) => events(&mut call).await,
                    Err(error) => error.story().to_owned(),
                },
                Err(error) => error.story().to_owned(),
            };
            assert!(story.contains(expect) && !story.contains("trailers"), "{story}");
        };
        check(ChannelTls::default(), "unknown authority").await;
        // TLS 1.3 lets a client begin before the server has looked for its certificate.
        check(ChannelTls { certificate: None, ..own.clone() }, "").await;
        check(ChannelTls { authorities: vec!["none".into()], ..own.clone() }, "ca certificate [0]").await;
        let broken = ClientCertificate { cert: "x".into(), ..own.certificate.clone().unwrap() };
        check(ChannelTls { certificate: Some(broken), ..own }, "`cert` has no PEM certificate").await;
    });
}

#[test]
fn what_is_no_http2_is_an_error() {
    local(async {
        let server = Server::start(Counting::new(), Listen::tls(Identity::Valid)).unwrap();
        let ca = std::fs::read_to_string(server.tls_files().unwrap().ca()).unwrap();
        let tls = ChannelTls { authorities: vec![ca], certificate: None };
        let settings = ChannelSettings { tls, ..settings(&server.url("")) };
        let error = Channel::connect(&client(), settings, soon()).await.unwrap_err();
        assert_eq!(error.stage, Stage::Tls);
        let refused = self::settings("http://127.0.0.1:1");
        let error = Channel::connect(&client(), refused, soon()).await.unwrap_err();
        assert_eq!(error.kind, Kind::Refused);
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let silent = self::settings(&format!("https://localhost:{}", silent.local_addr().unwrap().port()));
        let deadline = SystemClock::now() + Duration::from_millis(50);
        let error = Channel::connect(&client(), silent, deadline).await.unwrap_err();
        assert_eq!(error.kind, Kind::TimedOut);
    });
}
