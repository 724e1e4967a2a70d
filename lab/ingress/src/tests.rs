//! The ingress' promises, in simulated time.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, Method};
use tokio::time::Instant;

use crate::backend::{EXPORT, MESSAGES, Route, SLOTS};
use crate::balance::Balance;
use crate::limiter::{Limiter, RATE, backoff};
use crate::proxy::TAKES;
use crate::server::number;
use crate::slots::Slots;

/// Requests per second of 300 people who never pause, through so many proxies in turn.
async fn throughput(proxies: usize) -> f64 {
    const PEOPLE: usize = 300;
    const LASTS: Duration = Duration::from_secs(30);
    let (now, mut count) = (Instant::now(), 0);
    let (ingress, backend) = ((0..proxies).map(|_| Slots::new(1)).collect::<Vec<_>>(), Slots::new(SLOTS));
    let mut people: Vec<Instant> = vec![now; PEOPLE];
    for request in 0.. {
        let first = people.iter_mut().min().expect("there are people");
        if *first - now > LASTS {
            break;
        }
        let passed = ingress[request % proxies].reserve(*first, TAKES);
        *first = backend.reserve(passed, if request % 20 == 0 { EXPORT } else { MESSAGES });
        count = request + 1;
    }
    count as f64 / LASTS.as_secs_f64()
}

#[tokio::test(start_paused = true)]
async fn the_third_proxy_is_of_no_use() {
    let (one, two, three) = (throughput(1).await, throughput(2).await, throughput(3).await);
    eprintln!("one {one:.0}, two {two:.0}, three {three:.0} requests/s");
    assert!(two > 1.25 * one && three > 0.95 * two && three < 1.1 * two);
}

#[tokio::test(start_paused = true)]
async fn slots_are_taken_in_order_and_make_up_for_what_is_late() {
    let (slots, now) = (Slots::new(2), Instant::now());
    let ms = Duration::from_millis;
    let done_after = |at: u64, takes: u64| slots.reserve(now + ms(at), ms(takes)) - now;
    assert_eq!(done_after(0, 10), ms(10));
    assert_eq!(done_after(0, 30), ms(30));
    assert_eq!(done_after(5, 10), ms(20), "behind the first");
    assert_eq!(done_after(50, 10), ms(60), "both were free");
}

#[tokio::test(start_paused = true)]
async fn a_limit_takes_its_rate_and_no_more() {
    let (limiter, now) = (Limiter::new(), Instant::now());
    assert!((0..1000).all(|_| limiter.takes(now)), "it is off");
    limiter.set(true);
    let taken = (0..10_000).filter(|call| limiter.takes(now + Duration::from_millis(*call))).count();
    let expected = 10.0 * RATE;
    assert!((taken as f64 - expected).abs() < 0.02 * expected + 10.0, "{taken} of {expected}");
    assert_eq!(
        (backoff(1), backoff(2), backoff(u32::MAX)),
        (Duration::from_millis(50), Duration::from_millis(100), Duration::from_millis(800),)
    );
}

#[test]
fn a_proxy_with_more_than_its_share_is_seen() {
    let uneven = |proxies: usize, sent: &dyn Fn(usize) -> usize| {
        let balance = Balance::new(proxies);
        (0..1000).filter(|request| balance.is_uneven(sent(*request))).count()
    };
    assert_eq!(uneven(3, &|request| request % 3), 0);
    assert_eq!(uneven(1, &|_| 1), 0);
    assert_eq!(uneven(2, &|_| 1), 955, "all but those that fill the window");
    assert!(uneven(3, &|request| if request % 10 == 0 { 2 } else { 1 }) > 800);
}

#[test]
fn a_request_says_what_it_wants() {
    let check = |method: Method, path: &str, expect: Option<Route>| {
        assert_eq!(Route::parse(&method, path), expect, "{method} {path}");
    };
    check(Method::GET, "/rooms/0/messages", Some(Route::Messages(0)));
    check(Method::GET, "/rooms/99/export", Some(Route::Export(99)));
    check(Method::POST, "/rooms/0/messages", None);
    check(Method::GET, "/rooms/100/messages", None);
    check(Method::GET, "/rooms/-1/messages", None);
    check(Method::GET, "/rooms", None);
    check(Method::GET, "", None);
}

#[test]
fn a_header_holds_no_more_than_is_believed() {
    let check = |value: &'static str, expect: u64| {
        let headers = HeaderMap::from_iter([(axum::http::header::AGE, HeaderValue::from_static(value))]);
        assert_eq!(number(&headers, "age", 50), expect, "{value:?}");
    };
    check("7", 7);
    check("51", 50);
    check("-1", 0);
    check("", 0);
    check("99999999999999999999999999", 0);
    assert_eq!(number(&HeaderMap::new(), "age", 50), 0);
}
