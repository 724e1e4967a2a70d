use std::time::Duration;

use bytes::Bytes;
use model::SystemClock;
use tokio::net::TcpListener;

use crate::testing::{Step, client, get, local, ok, outcome, pause_ms, request, send, serve};
use crate::{Body, Exchange, Kind, Stage};

fn assert_adds_up(exchange: &Exchange) {
    let phases = exchange.phases;
    let whole_ns = exchange.finished.as_ns() - exchange.started.as_ns();
    assert_eq!(phases.blocked_ns + phases.duration_ns(), whole_ns, "{phases:?}");
    assert!(phases.looking_up_ns + phases.connecting_ns + phases.tls_ns <= phases.blocked_ns, "{phases:?}");
}

#[test]
fn connections_are_kept_and_everything_is_counted() {
    local(async {
        let (address, seen) = serve(|_| vec![ok()]).await;
        let client = client(|_, _| {});
        let first = get(&client, &format!("http://{address}/a")).await;
        assert_eq!((outcome(&first).as_str(), first.reused, first.remote), ("200 ok", false, Some(address)));
        assert!(first.phases.connecting_ns > 0 && first.tls.is_none());
        assert_adds_up(&first);
        for _ in 0..99 {
            let next = get(&client, &format!("http://{address}/b?c")).await;
            assert_eq!(
                (outcome(&next).as_str(), next.reused, next.phases.connecting_ns),
                ("200 ok", true, 0)
            );
            assert_adds_up(&next);
        }
        assert_eq!((seen.connections.get(), seen.requests()), (1, 100));
        let sent: usize = seen.requests.borrow().iter().map(String::len).sum();
        let received = 100 * "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".len();
        assert_eq!(client.take_bytes(), (sent as u64, received as u64));
        assert_eq!(client.take_bytes(), (0, 0));
        assert_eq!(seen.requests.borrow()[99], format!("GET /b?c HTTP/1.1\r\nHost: {address}\r\n\r\n"));
    });
}

#[test]
fn bodies_that_are_dropped_are_counted() {
    local(async {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", 3 << 20);
        let head_bytes = head.len() as u64;
        let (address, seen) = serve(move |_| vec![send(&head), Step::SendMany(3 << 20)]).await;
        let client = client(|_, _| {});
        let mut discarding = request("GET", &format!("http://{address}/"));
        discarding.keep_body = false;
        for _ in 0..3 {
            let exchange = client.exchange(&discarding).await;
            assert_adds_up(&exchange);
            assert_eq!(exchange.result.unwrap().body.len(), 0);
            assert_eq!(client.take_bytes().1, head_bytes + (3 << 20));
        }
        assert_eq!((seen.connections.get(), seen.requests()), (1, 3));
    });
}

#[test]
fn phases_are_where_the_time_went() {
    local(async {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
        let (address, _) = serve(move |_| vec![pause_ms(60), send(head), pause_ms(300), send("ok")]).await;
        let exchange = get(&client(|_, _| {}), &format!("http://{address}/")).await;
        assert_adds_up(&exchange);
        let about =
            |ns: u64, ms: u64| assert!((ms..ms + 150).contains(&(ns / 1_000_000)), "{ns} ns, {ms} ms");
        about(exchange.phases.waiting_ns, 59);
        about(exchange.phases.receiving_ns, 299);
        about(exchange.phases.sending_ns, 0);
        about(exchange.phases.blocked_ns, 0);
    });
}

#[test]
fn a_busy_thread_is_not_blamed_on_the_server() {
    local(async {
        let (address, _) = serve(|_| vec![ok()]).await;
        let client = client(|_, _| {});
        let url = format!("http://{address}/");
        get(&client, &url).await;
        // A neighbour on this thread computes for 50 ms in the same turn in which the response is seen.
        let neighbour = async {
            loop {
                tokio::task::yield_now().await;
                let until = SystemClock::now() + Duration::from_millis(50);
                while SystemClock::now() < until {}
            }
        };
        // It has its turn first, so that the response always waits for it.
        let exchange = tokio::select! {
            biased;
            () = neighbour => unreachable!(),
            exchange = get(&client, &url) => exchange,
        };
        let whole_ns = SystemClock::now().as_ns() - exchange.started.as_ns();
        assert!(
            exchange.phases.duration_ns() + exchange.late_ns <= whole_ns,
            "the delay is not in the duration"
        );
        assert!(exchange.late_ns >= 40_000_000, "late by {} ns", exchange.late_ns);
        assert_adds_up(&exchange);
    });
}

#[test]
fn bodies_are_sent_whole() {
    local(async {
        let (address, seen) = serve(|_| vec![ok()]).await;
        let client = client(|_, _| {});
        for body_bytes in [0, 1, 10_000, 16 << 10, (16 << 10) + 1, 3_000_000] {
            let mut request = request("POST", &format!("http://{address}/"));
            request.body = Body::Bytes(Bytes::from(vec![b'y'; body_bytes]));
            assert_eq!(outcome(&client.exchange(&request).await), "200 ok");
            let requests = seen.requests.borrow();
            let (head, body) = requests.last().unwrap().split_once("\r\n\r\n").unwrap();
            assert!(head.ends_with(&format!("Content-Length: {body_bytes}")), "{head}");
            assert!(body.len() == body_bytes && body.bytes().all(|byte| byte == b'y'));
        }
        assert_eq!((seen.connections.get(), seen.requests()), (1, 6));
    });
}

#[test]
fn large_bodies_stream_through() {
    local(async {
        const BODY_BYTES: u64 = 64 << 20;
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {BODY_BYTES}\r\n\r\n");
        let (address, _) = serve(move |_| vec![send(&head), Step::SendMany(BODY_BYTES)]).await;
        let client = client(|_, _| {});
        for keep_body in [false, true] {
            let mut request = request("GET", &format!("http://{address}/"));
            request.keep_body = keep_body;
            let response = client.exchange(&request).await.result.unwrap();
            let kept_bytes = if keep_body { BODY_BYTES as usize } else { 0 };
            assert_eq!((response.body_bytes, response.body.len()), (BODY_BYTES, kept_bytes));
        }
    });
}

#[test]
fn an_early_answer_to_a_large_body_is_taken() {
    local(async {
        let answer = "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        let (address, seen) = serve(move |_| vec![send(answer), pause_ms(500)]).await;
        let mut request = request("POST", &format!("http://{address}/unread"));
        request.body = Body::Bytes(Bytes::from(vec![b'y'; 20 << 20]));
        let client = client(|_, _| {});
        let exchange = client.exchange(&request).await;
        assert_eq!(outcome(&exchange), "413 ");
        assert_adds_up(&exchange);
        assert_eq!(seen.requests(), 1);
    });
}

#[test]
fn connections_are_closed_when_either_side_says_so() {
    let check = |answer: &'static str, header: Option<&'static str>, connections: usize| {
        local(async move {
            let (address, seen) = serve(move |_| vec![send(answer)]).await;
            let client = client(|_, _| {});
            for _ in 0..3 {
                let mut request = request("GET", &format!("http://{address}/"));
                request.headers.extend(header.map(|value| ("Connection".into(), value.to_owned())));
                assert_eq!(outcome(&client.exchange(&request).await), "200 ok");
            }
            assert_eq!((seen.connections.get(), seen.requests()), (connections, 3), "{answer} {header:?}");
        });
    };
    let plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    check(plain, None, 1);
    check(plain, Some("close"), 3);
    check(plain, Some("keep-alive"), 1);
    check("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", None, 3);
    check("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", None, 3);
    check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok+", None, 3);
}

#[test]
fn options_close_connections() {
    local(async {
        let (address, seen) = serve(|_| vec![ok()]).await;
        let url = format!("http://{address}/");
        let never = client(|http, _| http.no_connection_reuse = true);
        get(&never, &url).await;
        get(&never, &url).await;
        assert_eq!(seen.connections.get(), 2);
        assert!(seen.requests.borrow()[0].contains("\r\nConnection: close\r\n"));
        let kept = client(|_, _| {});
        get(&kept, &url).await;
        kept.close_idle();
        assert!(!get(&kept, &url).await.reused);
        assert_eq!((seen.connections.get(), seen.requests()), (4, 4));
    });
}

#[test]
fn idle_connections_are_limited() {
    local(async {
        let (address, seen) = serve(|_| vec![pause_ms(10), ok()]).await;
        let client = client(|http, _| http.batch_per_host = 2);
        let url = format!("http://{address}/");
        let round = async || {
            let (a, b, c) = tokio::join!(get(&client, &url), get(&client, &url), get(&client, &url));
            [a, b, c].iter().filter(|exchange| exchange.reused).count()
        };
        assert_eq!((round().await, round().await), (0, 2));
        assert_eq!((seen.connections.get(), seen.requests()), (4, 6));
    });
}

#[test]
fn connections_closed_while_idle_are_not_used() {
    for idle_ms in [0, 30] {
        local(async move {
            // The server closes after every response without having said so.
            let (address, seen) = serve(|_| vec![ok(), Step::Close]).await;
            let client = client(|_, _| {});
            for _ in 0..5 {
                let exchange = get(&client, &format!("http://{address}/")).await;
                assert_eq!((outcome(&exchange).as_str(), exchange.reused), ("200 ok", false));
                tokio::time::sleep(Duration::from_millis(idle_ms)).await;
                // The runtime needs a turn to hear of it, which a busy one gets between two iterations.
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            assert_eq!((seen.connections.get(), seen.requests()), (5, 5));
        });
    }
}

#[test]
fn cuts_are_told_and_not_repeated() {
    let check = |method: &'static str, steps: Vec<Step>, expect: &'static str| {
        local(async move {
            // The first exchange is fine, so that the second one is on a kept connection.
            let (address, seen) =
                serve(move |number| if number == 0 { vec![ok()] } else { steps.clone() }).await;
            let client = client(|_, _| {});
            let url = format!("http://{address}/");
            get(&client, &url).await;
            let exchange = client.exchange(&request(method, &url)).await;
            assert_eq!((outcome(&exchange).as_str(), exchange.reused), (expect, true));
            assert_adds_up(&exchange);
            assert_eq!((seen.requests(), exchange.repeats), (2, 0), "{expect}");
            assert!(!get(&client, &url).await.reused, "a broken connection is not kept");
        });
    };
    let part = send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
    check("POST", vec![Step::Close], "1000 Cut Wait EOF");
    check("POST", vec![Step::Reset], "1220 Cut Wait read: connection reset by peer");
    check("PUT", vec![Step::Close], "1000 Cut Wait EOF");
    check("GET", vec![part.clone(), Step::Close], "1000 Cut Receive unexpected EOF");
    check("GET", vec![part, pause_ms(20), Step::Reset], "1220 Cut Receive read: connection reset by peer");
    check("GET", vec![send("garbage\r\n\r\n")], "1000 Malformed Receive malformed HTTP response \"garbage\"");
}

#[test]
fn what_a_kept_connection_swallows_is_sent_once_more() {
    let check =
        |method: &'static str, key: Option<&'static str>, steps: Vec<Vec<Step>>, expect: &'static str| {
            local(async move {
                let wanted = 1 + steps.len();
                let (address, seen) = serve(move |number| match number {
                    0 => vec![ok()],
                    _ => steps[number - 1].clone(),
                })
                .await;
                let client = client(|_, _| {});
                let url = format!("http://{address}/");
                get(&client, &url).await;
                let mut request = request(method, &url);
                request.headers.extend(key.map(|key| (key.into(), "1".to_owned())));
                let exchange = client.exchange(&request).await;
                assert_eq!((outcome(&exchange).as_str(), exchange.repeats), (expect, 1), "{method}");
                assert!(!exchange.reused, "a repeat has a connection of its own");
                assert_adds_up(&exchange);
                assert_eq!((seen.requests(), seen.connections.get()), (wanted, 2), "{method}");
            });
        };
    check("GET", None, vec![vec![Step::Close], vec![ok()]], "200 ok");
    check("GET", None, vec![vec![Step::Reset], vec![ok()]], "200 ok");
    check("OPTIONS", None, vec![vec![Step::Close], vec![ok()]], "200 ok");
    check("POST", Some("idempotency-key"), vec![vec![Step::Close], vec![ok()]], "200 ok");
    // Once and no more, since the second connection is not a kept one.
    check("GET", None, vec![vec![Step::Close], vec![Step::Close]], "1000 Cut Wait EOF");
}

#[test]
fn deadlines_cover_every_stage() {
    local(async {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
        let (address, seen) = serve(move |number| match number {
            0 => vec![pause_ms(2000), ok()],
            _ => vec![send(head), pause_ms(2000)],
        })
        .await;
        let client = client(|_, _| {});
        let check = async |path: &str, stage: Stage| {
            let mut request = request("GET", &format!("http://{address}{path}"));
            request.deadline = SystemClock::now() + Duration::from_millis(80);
            let exchange = client.exchange(&request).await;
            assert_eq!(outcome(&exchange), format!("1050 TimedOut {stage:?} request timeout"));
            let took_ms = exchange.finished.since(exchange.started).as_millis();
            assert!((80..1000).contains(&took_ms), "{took_ms} ms");
            assert_adds_up(&exchange);
        };
        check("/wait", Stage::Wait).await;
        check("/receive", Stage::Receive).await;
        assert_eq!(seen.requests(), 2);
    });
}

#[test]
fn failures_before_a_connection_are_told_apart() {
    local(async {
        let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let client = client(|_, network| {
            network.blacklist_ips = vec!["10.0.0.0/8".to_owned()];
            network.block_hostnames = vec!["*.blocked.test".to_owned()];
        });
        let check = async |url: &str, kind, code, story: &str| {
            let exchange = get(&client, url).await;
            assert_adds_up(&exchange);
            let error = exchange.result.unwrap_err();
            assert_eq!((error.kind, error.code.0, error.story()), (kind, code, story));
            assert!(error.is_unconnected());
        };
        let refused = format!("dial tcp {closed}: connect: connection refused");
        check(&format!("http://{closed}/"), Kind::Refused, 1212, &refused).await;
        let blacklisted = "IP (10.1.2.3) is in a blacklisted range (10.0.0.0/8)";
        check("http://10.1.2.3/", Kind::Blocked, 1110, blacklisted).await;
        let blocked = "hostname (a.blocked.test) is in a blocked pattern (*.blocked.test)";
        check("http://a.blocked.test/", Kind::Blocked, 1111, blocked).await;
        let mut bad = request("GET", "http://127.0.0.1:1/");
        bad.headers.push(("a b".into(), String::new()));
        let error = client.exchange(&bad).await.result.unwrap_err();
        assert_eq!((error.kind, error.stage), (Kind::Invalid, Stage::Prepare));
        assert_eq!(client.take_bytes(), (0, 0));
    });
}

#[test]
fn hosts_and_local_addresses_are_honoured() {
    local(async {
        let (address, seen) = serve(|_| vec![ok()]).await;
        let client = client(|_, network| {
            network.hosts = vec![("shop.test".to_owned(), address.to_string())];
            network.local_ips = vec!["127.0.0.9".parse().unwrap()];
        });
        let exchange = get(&client, "http://shop.test/x").await;
        assert_eq!((outcome(&exchange).as_str(), exchange.remote), ("200 ok", Some(address)));
        assert!(seen.requests.borrow()[0].contains("Host: shop.test\r\n"));
        assert_eq!(seen.peers.borrow()[0].ip().to_string(), "127.0.0.9");
    });
}

#[test]
fn a_local_address_that_is_none_of_ours_is_named() {
    local(async {
        let (address, seen) = serve(|_| vec![ok()]).await;
        // From the block that documents use (RFC 5737).
        let client = client(|_, network| network.local_ips = vec!["192.0.2.7".parse().unwrap()]);
        let error = get(&client, &format!("http://{address}/")).await.result.unwrap_err();
        assert!(error.is_unconnected() && error.message.contains("192.0.2.7"), "{error}");
        assert_eq!(seen.connections.get(), 0);
    });
}

#[test]
fn a_name_is_looked_up() {
    local(async {
        let (address, _) = serve(|_| vec![ok()]).await;
        let client = client(|_, _| {});
        let exchange = get(&client, &format!("http://localhost:{}/", address.port())).await;
        assert_eq!(outcome(&exchange), "200 ok");
        assert!(exchange.phases.looking_up_ns > 0);
        assert_adds_up(&exchange);
    });
}

#[test]
fn a_dropped_exchange_closes_its_connection() {
    local(async {
        let (address, seen) = serve(|_| vec![pause_ms(100), ok()]).await;
        let client = client(|_, _| {});
        let url = format!("http://{address}/");
        let dropped = tokio::time::timeout(Duration::from_millis(20), get(&client, &url)).await;
        assert!(dropped.is_err());
        assert!(!get(&client, &url).await.reused);
        assert_eq!((seen.connections.get(), seen.requests()), (2, 2));
    });
}
