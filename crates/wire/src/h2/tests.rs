use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use model::SystemClock;
use model::plan::{HttpOptions, NetworkOptions, TlsOptions};
use testkit::http::{Counting, start_http2};
use testkit::{Listen, Server};
use tokio::task::JoinSet;

use crate::testing::{get, local, outcome, request};
use crate::{Body, Client, Exchange, Kind, Shared, Stage};

fn client(change: impl FnOnce(&mut HttpOptions)) -> Rc<Client> {
    let mut http = HttpOptions::default();
    change(&mut http);
    let tls = TlsOptions { insecure_skip_verify: true, ..TlsOptions::default() };
    Rc::new(Client::new(Arc::new(Shared::new(&http, &NetworkOptions::default(), &tls).unwrap()), 1))
}

/// As many exchanges at the same time as there are URLs, in the order of the URLs.
async fn together(client: &Rc<Client>, urls: &[String]) -> Vec<Exchange> {
    let mut tasks = JoinSet::new();
    for (index, url) in urls.iter().cloned().enumerate() {
        let client = client.clone();
        tasks.spawn_local(async move { (index, get(&client, &url).await) });
    }
    let mut done = tasks.join_all().await;
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, exchange)| exchange).collect()
}

fn status(exchange: &Exchange) -> u16 {
    exchange.result.as_ref().map_or_else(|error| error.code.0, |response| response.status)
}

#[test]
fn exchanges_share_a_connection() {
    local(async {
        let server = start_http2();
        let client = client(|_| ());
        let first = get(&client, &server.url("/status/201")).await;
        let response = first.result.as_ref().unwrap();
        assert_eq!((response.status, response.proto, response.reason()), (201, "HTTP/2.0", &b"Created"[..]));
        assert!(first.phases.tls_ns > 0 && first.phases.connecting_ns > 0 && !first.reused);
        let all = together(&client, &vec![server.url("/delay/50"); 20]).await;
        for exchange in &all {
            assert_eq!((status(exchange), exchange.reused, exchange.phases.tls_ns), (200, true, 0));
            let (waiting_ms, sending_ms) =
                (exchange.phases.waiting_ns / 1_000_000, exchange.phases.sending_ns / 1_000_000);
            assert!((50..1000).contains(&waiting_ms) && sending_ms < 500, "{:?}", exchange.phases);
            assert!(exchange.tls.is_some() && exchange.remote == Some(server.address()));
        }
        let seen = server.settled();
        assert_eq!((seen.connections, seen.total), (1, 21));
        assert!(seen.in_flight_max > 5, "{}", seen.in_flight_max);
    });
}

#[test]
fn a_first_crowd_ends_on_one_connection() {
    local(async {
        let server = start_http2();
        let client = client(|_| ());
        let all = together(&client, &vec![server.url("/"); 20]).await;
        assert!(all.iter().all(|exchange| status(exchange) == 200));
        let opened = server.seen().connections;
        together(&client, &vec![server.url("/"); 20]).await;
        let seen = server.settled();
        assert_eq!((seen.total, seen.connections), (40, opened));
        // A request that waited for a connection, own or not, was blocked meanwhile, and no server's time is in that.
        assert!(all.iter().all(|exchange| exchange.phases.blocked_ns > 0));
    });
}

#[test]
fn what_was_sent_was_seen() {
    for concurrency in [1, 7, 50] {
        local(async move {
            let server = start_http2();
            let client = client(|_| ());
            let paths = ["/", "/reset-stream/8", "/bytes/70000", "/reset-body/2", "/reset-stream/7", "/hang"];
            let urls: Vec<_> = paths.iter().cycle().take(60).map(|path| server.url(path)).collect();
            let mut sent = 0;
            for urls in urls.chunks(concurrency) {
                let mut tasks = JoinSet::new();
                for url in urls.iter().cloned() {
                    let client = client.clone();
                    tasks.spawn_local(async move {
                        let mut request = request("GET", &url);
                        request.deadline = SystemClock::now()
                            + Duration::from_millis(if url.ends_with("/hang") { 100 } else { 10_000 });
                        (url, client.exchange(&request).await)
                    });
                }
                for (url, exchange) in tasks.join_all().await {
                    sent += 1 + u64::from(exchange.repeats);
                    let expect = match url
                        .rsplit_once(':')
                        .map(|(_, path)| path.split_once('/').unwrap_or_default().1)
                    {
                        Some("reset-stream/8") => 1639,
                        Some("reset-body/2") => 1633,
                        Some("reset-stream/7") => 1638,
                        Some("hang") => 1050,
                        _ => 200,
                    };
                    assert_eq!(
                        status(&exchange),
                        expect,
                        "{url}: {}",
                        outcome(&exchange).get(..80).unwrap_or_default()
                    );
                    let is_refused = url.ends_with("/reset-stream/7");
                    assert_eq!(
                        exchange.repeats,
                        u32::from(is_refused),
                        "what was refused unseen is sent once more"
                    );
                }
            }
            let seen = server.settled();
            assert_eq!((seen.total, seen.rows.values().sum::<u64>()), (sent, sent));
            assert!(seen.connections <= concurrency as u64, "{} connections", seen.connections);
        });
    }
}

#[test]
fn a_timeout_cancels_the_stream_only() {
    local(async {
        let server = start_http2();
        let client = client(|_| ());
        for (path, stage) in [("/hang", Stage::Wait), ("/hang-after-head", Stage::Receive)] {
            let mut request = request("GET", &server.url(path));
            request.deadline = SystemClock::now() + Duration::from_millis(150);
            let exchange = client.exchange(&request).await;
            let error = exchange.result.unwrap_err();
            assert_eq!((error.kind, error.stage), (Kind::TimedOut, stage));
        }
        assert_eq!(status(&get(&client, &server.url("/")).await), 200);
        // The server's streams are over, too: nothing is in flight.
        let seen = server.settled();
        assert_eq!((seen.connections, seen.total, seen.in_flight), (1, 3, 0));
    });
}

#[test]
fn bodies_flow_both_ways() {
    local(async {
        let server = start_http2();
        let client = client(|_| ());
        let mut request = request("POST", &server.url("/anything"));
        request.body = Body::Bytes(Bytes::from(vec![b'x'; 3_000_000]));
        let exchange = client.exchange(&request).await;
        let body = exchange.result.unwrap().body;
        assert!(String::from_utf8_lossy(&body[..40]).contains("\"body_bytes\":3000000"), "{:?}", &body[..40]);
        let all = together(&client, &vec![server.url("/bytes/6000000"); 5]).await;
        assert!(all.iter().all(|exchange| exchange.result.as_ref().unwrap().body.len() == 6_000_000));
        let head = client.exchange(&self::request("HEAD", &server.url("/bytes/10"))).await.result.unwrap();
        assert_eq!((head.body_bytes, head.headers.get("Content-Length")), (0, Some(&b"10"[..])));
        let (sent, received) = client.take_bytes();
        let seen = server.settled();
        assert_eq!(
            (seen.connections, seen.bytes_out),
            (1, received),
            "frames and TLS are counted as they travel"
        );
        assert!(seen.bytes_in <= sent && sent - seen.bytes_in < 200, "{} and {sent}", seen.bytes_in);
    });
}

#[test]
fn a_full_connection_gets_a_neighbour() {
    local(async {
        let listen = Listen { http2_streams_max: 2, ..Listen::http2() };
        let server = Server::start(Counting::new(), listen).unwrap();
        let client = client(|_| ());
        get(&client, &server.url("/")).await;
        let all = together(&client, &vec![server.url("/delay/400"); 6]).await;
        assert!(all.iter().all(|exchange| status(exchange) == 200));
        let seen = server.settled();
        assert!((3..=6).contains(&seen.connections), "{}", seen.connections);
        assert_eq!((seen.total, seen.in_flight_max), (7, 6));
    });
}

#[test]
fn connections_end_as_asked() {
    local(async {
        let check = async |change: fn(&mut HttpOptions), path: &str, header: bool, expect: u64| {
            let server = start_http2();
            let client = client(change);
            for _ in 0..3 {
                let mut request = request("GET", &server.url(path));
                if header {
                    request.headers.push(("Connection".into(), "close".to_owned()));
                }
                assert_eq!(status(&client.exchange(&request).await), 200);
                // The farewell travels on its own.
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            assert_eq!(server.settled().connections, expect, "{path} {header}");
        };
        check(|_| (), "/", false, 1).await;
        check(|http| http.no_connection_reuse = true, "/", false, 3).await;
        check(|_| (), "/", true, 3).await;
        // The server says goodbye with each reply.
        check(|_| (), "/early-close-idle", false, 3).await;
        let server = start_http2();
        let client = client(|_| ());
        get(&client, &server.url("/")).await;
        client.close_idle();
        get(&client, &server.url("/")).await;
        assert_eq!(server.settled().connections, 2);
    });
}
