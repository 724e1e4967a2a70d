//! The backend: who is logged in reads pages and likes posts, and one worker does all of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use lab::Assignment;
use labkit::{Attribute, Control, Log, Metrics, SpanKind, Timed, Trace, Tracer, of_database};
use model::{Instant, SystemClock};
use serde_json::json;

use crate::cache::Cache;
use crate::data::{FEEDS, POSTS, Page};
use crate::door::Door;
use crate::downstream::{Downstream, Takes};
use crate::keys::Keys;
use crate::link::{self, Link};
use crate::sessions::{COOKIE, Sessions};
use crate::state::Feed;
use crate::worker::{Turn, Worker};
use crate::{faults, metrics};

/// The worker's time for each request.
pub(crate) const REQUEST: Duration = Duration::from_micros(1600);

/// The additional time for a page that comes from the store.
pub(crate) const STORE_READ: Duration = Duration::from_micros(1900);

/// How often the counters of the kernel and of the cache are read.
const SAMPLE_PERIOD: Duration = Duration::from_millis(25);

/// Serves the feed until the process is ended.
pub(crate) fn serve(assignment: &Assignment) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| format!("start: {error}"))?.block_on(run(assignment))
}

async fn run(assignment: &Assignment) -> Result<(), String> {
    allow_files();
    let metrics = Arc::new(Metrics::new(metrics::ALL));
    let listen = |error: std::io::Error| format!("listen: {error}");
    let (control, orders) = Control::open(assignment.control_port, metrics.clone()).map_err(listen)?;
    let cache = match assignment.variant.as_str() {
        "cached" => {
            let cache = Cache::connect(assignment.server("redis")?).await;
            Some(cache.map_err(|error| format!("use the cache: {error}"))?)
        }
        _ => None,
    };
    let feed = Arc::new(Feed {
        worker: Worker::new(),
        door: Door::open(assignment.port).map_err(listen)?,
        link: Link::new(),
        keys: Keys::new(),
        downstream: Downstream::default(),
        sessions: Sessions::default(),
        cache,
        is_churning: AtomicBool::new(false),
        tracer: Tracer::new(assignment.otlp.as_deref(), "feed", metrics.clone()),
        log: Log::create(&assignment.log).map_err(|error| format!("write the log: {error}"))?,
        metrics,
    });
    let listener = Door::listener(feed.clone()).map_err(listen)?;
    tokio::spawn(sample(feed.clone()));
    tokio::spawn(faults::obey(feed.clone(), orders));
    control.set_ready();
    let router = Router::new().fallback(answer).with_state(feed);
    axum::serve(listener, router).await.map_err(|error| format!("serve: {error}"))
}

/// Each connection is a file, and by default there are few.
fn allow_files() {
    let files = rustix::process::Resource::Nofile;
    let mut limit = rustix::process::getrlimit(files);
    limit.current = limit.maximum;
    // With fewer it refuses connections earlier.
    let _ = rustix::process::setrlimit(files, limit);
}

/// Looks how full the queue of connections is, and how many pages the cache has dropped.
async fn sample(feed: Arc<Feed>) {
    let mut evicted_before = 0;
    loop {
        tokio::time::sleep(SAMPLE_PERIOD).await;
        if feed.door.is_full() {
            feed.metrics.add(metrics::QUEUE_FULL_SECONDS, "", SAMPLE_PERIOD.as_secs_f64());
        }
        feed.metrics.set(metrics::IN_FLIGHT, "", feed.worker.in_flight() as f64);
        feed.metrics.set(metrics::LOG_LINES_LOST, "", feed.log.lines_lost() as f64);
        let Some(cache) = &feed.cache else { continue };
        let Ok(evicted) = cache.evicted().await else { continue };
        feed.metrics.add(metrics::CACHE_EVICTIONS, "", evicted.saturating_sub(evicted_before) as f64);
        evicted_before = evicted;
    }
}

/// The routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Login,
    Feed,
    Post(usize),
    Comments(usize),
    Like(usize),
}

impl Route {
    /// The route of a request.
    pub(crate) fn parse(method: &Method, path: &str) -> Option<Route> {
        let post = |text: &str| text.parse::<usize>().ok().filter(|post| *post < POSTS);
        let parts: Vec<&str> = path.split('/').skip(1).collect();
        match (method, &parts[..]) {
            (&Method::POST, ["login"]) => Some(Route::Login),
            (&Method::GET, ["feed"]) => Some(Route::Feed),
            (&Method::GET, ["posts", id]) => post(id).map(Route::Post),
            (&Method::GET, ["posts", id, "comments"]) => post(id).map(Route::Comments),
            (&Method::POST, ["posts", id, "likes"]) => post(id).map(Route::Like),
            _ => None,
        }
    }

    /// Its name in traces, and its labels in metrics.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Route::Login => ("POST /login", "route=\"/login\""),
            Route::Feed => ("GET /feed", "route=\"/feed\""),
            Route::Post(_) => ("GET /posts/{id}", "route=\"/posts/{id}\""),
            Route::Comments(_) => ("GET /posts/{id}/comments", "route=\"/posts/{id}/comments\""),
            Route::Like(_) => ("POST /posts/{id}/likes", "route=\"/posts/{id}/likes\""),
        }
    }
}

/// The answer.
struct Reply {
    status: StatusCode,
    body: Bytes,
    cookie: Option<String>,
}

impl Reply {
    fn page(body: Bytes) -> Reply {
        Reply { status: StatusCode::OK, body, cookie: None }
    }

    fn error(status: StatusCode, error: &str) -> Reply {
        Reply { status, body: json!({ "error": error }).to_string().into(), cookie: None }
    }
}

async fn answer(State(feed): State<Arc<Feed>>, request: Request) -> Response {
    let Some(route) = Route::parse(request.method(), request.uri().path()) else {
        let reply = Reply::error(StatusCode::NOT_FOUND, "there is no such thing");
        return response(&feed, reply);
    };
    let headers = request.headers();
    let trace = feed.tracer.trace(text(headers, "traceparent"));
    let user = feed.sessions.user(text(headers, "cookie").unwrap_or_default());
    let mut call = Call { feed: feed.clone(), trace, began: SystemClock::now() };
    let reply = call.reply(route, user).await;
    call.end(route, &reply);
    response(&feed, reply)
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn response(feed: &Arc<Feed>, reply: Reply) -> Response {
    let length = reply.body.len();
    let mut response = Response::new(Body::empty());
    *response.status_mut() = reply.status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    if let Some(Ok(cookie)) = reply.cookie.map(HeaderValue::try_from) {
        headers.insert(header::SET_COOKIE, cookie);
    }
    if feed.is_churning.load(Ordering::Relaxed) {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    *response.body_mut() = link::body(feed.clone(), reply.body);
    response
}

/// A request on its way.
struct Call {
    feed: Arc<Feed>,
    trace: Trace,
    began: Instant,
}

impl Call {
    async fn reply(&mut self, route: Route, user: Option<usize>) -> Reply {
        let feed = self.feed.clone();
        let Some(_in_flight) = feed.worker.enter() else {
            feed.metrics.add(metrics::REFUSED, "", 1.0);
            return Reply::error(StatusCode::SERVICE_UNAVAILABLE, "too many requests are in flight");
        };
        let mut turn = feed.worker.turn().await;
        let waited = SystemClock::now().since(self.began);
        feed.metrics.add(metrics::WORKER_WAIT_SECONDS, "", waited.as_secs_f64());
        self.span("wait for the worker", self.began);
        turn.begin(REQUEST).await;
        let user = match (route, user) {
            (Route::Login, _) => return self.login(),
            (_, None) => return Reply::error(StatusCode::UNAUTHORIZED, "log in first"),
            (_, Some(user)) => user,
        };
        match route {
            Route::Login | Route::Feed => self.page(&mut turn, Page::Feed(user % FEEDS)).await,
            Route::Post(post) => self.page(&mut turn, Page::Post(post)).await,
            Route::Comments(post) => self.page(&mut turn, Page::Comments(post)).await,
            Route::Like(post) => {
                self.notify(&mut turn).await;
                // The counter is somewhere else: the worker goes on meanwhile.
                drop(turn);
                self.like(post).await
            }
        }
    }

    fn login(&self) -> Reply {
        let cookie = format!("{COOKIE}={}; Path=/; HttpOnly", self.feed.sessions.begin());
        Reply { cookie: Some(cookie), ..Reply::page(Bytes::from_static(b"{}")) }
    }

    /// A page from the cache where there is one and has it, and from the store otherwise.
    async fn page(&mut self, turn: &mut Turn<'_>, page: Page) -> Reply {
        let feed = self.feed.clone();
        let Some(cache) = &feed.cache else { return Reply::page(self.read(turn, page).await) };
        let (key, began) = (page.key(), SystemClock::now());
        let found = cache.get(&key).await;
        self.call("GET", began, of_database("redis", "GET page:?"));
        let outcome = match &found {
            Ok(Some(_)) => metrics::HIT,
            Ok(None) => metrics::MISS,
            Err(_) => metrics::ERROR,
        };
        feed.metrics.add(metrics::CACHE_READS, outcome, 1.0);
        match found {
            Ok(Some(page)) => return Reply::page(page),
            Ok(None) => {}
            Err(error) => {
                feed.log.line("error", "cache", json!({ "error": error.to_string() }));
            }
        }
        let page = self.read(turn, page).await;
        let began = SystemClock::now();
        let kept = cache.set(&key, &page).await;
        self.call("SET", began, of_database("redis", "SET page:? ? EX ?"));
        // A page that is not kept is read again.
        if let Err(error) = kept {
            feed.log.line("error", "cache", json!({ "error": error.to_string() }));
        }
        Reply::page(page)
    }

    async fn read(&mut self, turn: &mut Turn<'_>, page: Page) -> Bytes {
        let began = SystemClock::now();
        turn.work(STORE_READ).await;
        self.feed.metrics.add(metrics::STORE_READS, "", 1.0);
        // The store stands for a database, so its time is one's.
        self.call("read from the store", began, of_database("store", "read page"));
        page.render()
    }

    /// Notifies people of a like.
    async fn notify(&mut self, turn: &mut Turn<'_>) {
        let began = SystemClock::now();
        let Takes { lookup, call } = self.feed.downstream.call(tokio::time::Instant::now());
        turn.work(lookup).await;
        self.span("dns.lookup", began);
        let found = SystemClock::now();
        turn.work(call).await;
        self.call("call the notifier", found, vec![("peer.service", Attribute::Text("notifier".into()))]);
        let metrics = &self.feed.metrics;
        metrics.add(metrics::CALLS, "", 1.0);
        metrics.add(metrics::LOOKUP_SECONDS, "", lookup.as_secs_f64());
        metrics.add(metrics::CALL_SECONDS, "", call.as_secs_f64());
    }

    async fn like(&mut self, post: usize) -> Reply {
        let began = SystemClock::now();
        let (likes, waited) = self.feed.keys.like(post).await;
        self.feed.metrics.add(metrics::KEY_WAIT_SECONDS, "", waited.as_secs_f64());
        self.span("count the like", began);
        Reply::page(json!({ "likes": likes }).to_string().into())
    }

    fn span(&mut self, name: &'static str, began: Instant) {
        self.timed(name, SpanKind::Internal, began, Vec::new());
    }

    /// A downstream call that has ended.
    fn call(&mut self, name: &'static str, began: Instant, attributes: Vec<(&'static str, Attribute)>) {
        self.timed(name, SpanKind::Client, began, attributes);
    }

    fn timed(
        &mut self,
        name: &'static str,
        kind: SpanKind,
        began: Instant,
        attributes: Vec<(&'static str, Attribute)>,
    ) {
        let (name, ended) = (name.into(), SystemClock::now());
        self.trace.add(Timed { name, kind, began, ended, attributes, is_error: false });
    }

    /// Counts and logs what became of it, and ends its trace.
    fn end(self, route: Route, reply: &Reply) {
        let (name, labels) = route.names();
        let (ended, status) = (SystemClock::now(), reply.status);
        let metrics = &self.feed.metrics;
        metrics.add(metrics::REQUESTS, "", 1.0);
        metrics.observe(metrics::REQUEST_SECONDS, labels, ended.since(self.began).as_secs_f64());
        let fields = json!({
            "trace_id": self.trace.id(),
            "route": name,
            "status": status.as_u16(),
            "duration_ms": ended.ms_since(self.began),
        });
        self.feed.log.line(if status.is_server_error() { "error" } else { "info" }, "request", fields);
        self.trace.end(Timed {
            name: name.into(),
            kind: SpanKind::Server,
            began: self.began,
            ended,
            attributes: vec![
                ("http.route", Attribute::Text(name.into())),
                ("http.response.status_code", Attribute::Number(status.as_u16().into())),
            ],
            is_error: status.is_server_error(),
        });
    }
}
