//! The feed's promises, in simulated time.

use std::time::Duration;

use axum::http::Method;
use tokio::time::Instant;

use crate::data::Page;
use crate::downstream::{Downstream, Takes};
use crate::service::{REQUEST, Route, STORE_READ};
use crate::sessions::Sessions;
use crate::worker::{IN_FLIGHT_MAX, Worker};

/// Requests per second of so many people who think for a second after each answer, once they have settled.
async fn throughput(people: usize, store_read: Duration) -> f64 {
    let worker = &*Box::leak(Box::new(Worker::new()));
    let answered = &*Box::leak(Box::new(std::sync::atomic::AtomicUsize::new(0)));
    let tasks: Vec<_> = (0..people)
        .map(|person| {
            tokio::spawn(async move {
                // Not all at once.
                tokio::time::sleep(Duration::from_secs(1) * person as u32 / people as u32).await;
                loop {
                    let in_flight = worker.enter().expect("fewer than there may be");
                    let mut turn = worker.turn().await;
                    turn.begin(REQUEST).await;
                    turn.work(store_read).await;
                    drop((turn, in_flight));
                    answered.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_secs(20)).await;
    let (began, before) = (Instant::now(), answered.load(std::sync::atomic::Ordering::Relaxed));
    tokio::time::sleep(Duration::from_secs(20)).await;
    let grown = answered.load(std::sync::atomic::Ordering::Relaxed) - before;
    tasks.iter().for_each(tokio::task::JoinHandle::abort);
    grown as f64 / began.elapsed().as_secs_f64()
}

/// Time from a request to its answer of people who think for a second (Little's law).
fn response_s(people: usize, throughput: f64) -> f64 {
    people as f64 / throughput - 1.0
}

#[tokio::test(start_paused = true)]
async fn it_collapses_and_the_cache_helps_less_the_higher_the_load() {
    let (mut plain, mut cached, mut gains) = (Vec::new(), Vec::new(), Vec::new());
    for people in [300, 1200, 4200] {
        plain.push(throughput(people, STORE_READ).await);
        cached.push(throughput(people, Duration::ZERO).await);
        let at = plain.len() - 1;
        gains.push(1.0 - response_s(people, cached[at]) / response_s(people, plain[at]));
    }
    eprintln!("plain {plain:.0?}, cached {cached:.0?} requests/s; the cache takes off {gains:.2?}");
    assert!(cached[1] > cached[0] && plain[1] > 0.7 * plain[0], "1200 people are not yet too many");
    assert!(cached[1] > 1.5 * cached[2], "4200 people get less than 1200 do");
    assert!(plain[1] > 1.4 * plain[2], "without a cache too");
    assert!(gains[0] > 1.3 * gains[1] && gains[1] > 1.3 * gains[2]);
}

#[tokio::test(start_paused = true)]
async fn the_worker_makes_up_for_what_a_timer_is_late() {
    let (worker, began) = (std::sync::Arc::new(Worker::new()), Instant::now());
    let requests = (0..1000).map(|_| {
        let worker = worker.clone();
        // No timer ends between two milliseconds.
        tokio::spawn(async move { worker.turn().await.work(Duration::from_micros(1500)).await })
    });
    for request in requests.collect::<Vec<_>>() {
        request.await.expect("it is answered");
    }
    let took = began.elapsed().as_secs_f64();
    assert!((1.4..1.7).contains(&took), "{took} s for what takes 1.5 s");
}

#[test]
fn a_request_too_many_is_refused() {
    let worker = Worker::new();
    let mut entered: Vec<_> = (0..IN_FLIGHT_MAX).map(|_| worker.enter().expect("it may")).collect();
    assert!(worker.enter().is_none());
    assert_eq!(worker.in_flight(), IN_FLIGHT_MAX, "the refused one does not count");
    entered.pop();
    assert!(worker.enter().is_some());
}

#[test]
fn a_request_says_what_it_wants() {
    let check = |method: Method, path: &str, expect: Option<Route>| {
        assert_eq!(Route::parse(&method, path), expect, "{method} {path}");
    };
    check(Method::POST, "/login", Some(Route::Login));
    check(Method::GET, "/feed", Some(Route::Feed));
    check(Method::GET, "/posts/99", Some(Route::Post(99)));
    check(Method::GET, "/posts/0/comments", Some(Route::Comments(0)));
    check(Method::POST, "/posts/7/likes", Some(Route::Like(7)));
    for (method, path) in [
        (Method::GET, "/login"),
        (Method::GET, "/posts/100"),
        (Method::GET, "/posts/-1"),
        (Method::GET, "/posts/99999999999999999999999"),
        (Method::GET, "/posts/1/likes"),
        (Method::GET, "/feed/"),
        (Method::GET, "*"),
        (Method::GET, ""),
    ] {
        check(method, path, None);
    }
}

#[test]
fn a_session_is_known_by_its_cookie() {
    let sessions = Sessions::default();
    let (first, second) = (sessions.begin(), sessions.begin());
    let check =
        |cookies: &str, expect: Option<usize>| assert_eq!(sessions.user(cookies), expect, "{cookies}");
    check(&format!("session={first}"), Some(1));
    check(&format!("a=b; session={second}; c"), Some(2));
    check(&format!("xsession={first}"), None);
    check("session=", None);
    check("", None);
}

#[test]
fn the_oldest_session_makes_room() {
    let sessions = Sessions::default();
    let first = sessions.begin();
    for _ in 0..9_999 {
        sessions.begin();
    }
    assert_eq!(sessions.user(&format!("session={first}")), Some(1));
    sessions.begin();
    assert_eq!(sessions.user(&format!("session={first}")), None);
}

#[test]
fn pages_differ_and_have_their_size() {
    let mut keys = std::collections::BTreeSet::new();
    let mut bytes = 0;
    for page in Page::all() {
        assert!(keys.insert(page.key()), "{page:?}");
        bytes += page.render().len();
    }
    // Five times what the cache may hold while its memory is limited.
    assert!((900_000..1_200_000).contains(&bytes), "{bytes}");
}

#[tokio::test(start_paused = true)]
async fn what_was_looked_up_is_believed_for_a_while() {
    let downstream = Downstream::default();
    let lookup_ms = |takes: Takes| takes.lookup.as_millis();
    assert_eq!(lookup_ms(downstream.call(Instant::now())), 1);
    assert_eq!(lookup_ms(downstream.call(Instant::now())), 0);
    tokio::time::advance(Duration::from_secs(31)).await;
    assert_eq!(lookup_ms(downstream.call(Instant::now())), 1);
    downstream.is_lookup_slow.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(lookup_ms(downstream.call(Instant::now())), 40);
    assert_eq!(lookup_ms(downstream.call(Instant::now())), 40, "it is not to be believed");
}
