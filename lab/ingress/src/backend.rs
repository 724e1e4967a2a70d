//! The backend that all proxies share: eight slots, and behind them a service that may have a limit of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use lab::Assignment;
use labkit::{Attribute, Control, Log, Metrics, SpanKind, Timed, Trace, Tracer};
use model::{Instant, SystemClock};
use serde_json::json;
use tokio::time::Instant as Moment;

use crate::balance::Balance;
use crate::balancer::PROXIES;
use crate::limiter::{Limiter, TRIES_MAX, backoff};
use crate::server::{BURN_MS, BURNT_MS, Held, PROXY, WAITED_US, number, number_text, refusal, serve, text};
use crate::slots::Slots;
use crate::{faults, metrics};

/// Requests that it works on at a time.
pub(crate) const SLOTS: usize = 8;

/// Processing time of a request: for the messages of a chat, and for all of them in a file. One of twenty is a file in the scripts, which makes
/// 19.2 ms on average: the backend's capacity is 417 requests per second.
pub(crate) const MESSAGES: Duration = Duration::from_millis(16);
pub(crate) const EXPORT: Duration = Duration::from_millis(80);

/// Number of chats, from 0.
const ROOMS: usize = 100;

/// How long the generator is asked to burn its core for each answer while it is limited.
const BURN_MS_ASKED: u64 = 10;

/// The largest delay that a header may ask for.
const WAITED_US_MAX: u64 = 120_000_000;
const BURNT_MS_MAX: u64 = 1_000;

/// All that requests share.
#[derive(Debug)]
pub(crate) struct Backend {
    slots: Slots,
    held: Held,
    balance: Balance,
    pub(crate) limiter: Limiter,
    /// Whether answers ask the generator to burn its core.
    pub(crate) is_generator_limited: AtomicBool,
    metrics: Arc<Metrics>,
    tracer: Tracer,
    log: Log,
}

/// Serves it until the process is ended.
pub(crate) async fn run(assignment: &Assignment) -> Result<(), String> {
    let metrics = Arc::new(Metrics::new(metrics::BACKEND));
    let opened = Control::open(assignment.control_port, metrics.clone());
    let (control, orders) = opened.map_err(|error| format!("listen: {error}"))?;
    let proxies: Vec<String> =
        PROXIES.iter().filter_map(|name| assignment.servers.get(*name)).cloned().collect();
    let backend = Arc::new(Backend {
        slots: Slots::new(SLOTS),
        held: Held::default(),
        balance: Balance::new(proxies.len()),
        limiter: Limiter::new(),
        is_generator_limited: AtomicBool::new(false),
        tracer: Tracer::new(assignment.otlp.as_deref(), "ingress-backend", metrics.clone()),
        log: Log::create(&assignment.log).map_err(|error| format!("write the log: {error}"))?,
        metrics,
    });
    tokio::spawn(faults::obey(backend.clone(), proxies, orders));
    let router = Router::new().fallback(answer).with_state(backend);
    serve(assignment.port, router, || control.set_ready()).await
}

/// The routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Messages(usize),
    Export(usize),
}

impl Route {
    /// The route of a request.
    pub(crate) fn parse(method: &Method, path: &str) -> Option<Route> {
        let room = |text: &str| text.parse::<usize>().ok().filter(|room| *room < ROOMS);
        let parts: Vec<&str> = path.split('/').skip(1).collect();
        match (method, &parts[..]) {
            (&Method::GET, ["rooms", id, "messages"]) => room(id).map(Route::Messages),
            (&Method::GET, ["rooms", id, "export"]) => room(id).map(Route::Export),
            _ => None,
        }
    }

    /// Its name in traces, its labels in metrics, and how long it takes.
    fn facts(self) -> (&'static str, &'static str, Duration) {
        match self {
            Route::Messages(_) => ("GET /rooms/{id}/messages", "route=\"/rooms/{id}/messages\"", MESSAGES),
            Route::Export(_) => ("GET /rooms/{id}/export", "route=\"/rooms/{id}/export\"", EXPORT),
        }
    }
}

async fn answer(State(backend): State<Arc<Backend>>, request: Request) -> Response {
    let Some(route) = Route::parse(request.method(), request.uri().path()) else {
        return refusal(StatusCode::NOT_FOUND, "there is no such thing");
    };
    let began = SystemClock::now();
    backend.note(request.headers());
    let mut trace = backend.tracer.trace(text(request.headers(), "traceparent"));
    let mut response = match backend.work(&mut trace, route).await {
        Ok(()) => page(route),
        Err(error) => {
            backend.metrics.add(metrics::REFUSED, "", 1.0);
            refusal(StatusCode::SERVICE_UNAVAILABLE, error)
        }
    };
    if backend.is_generator_limited.load(Ordering::Relaxed) {
        response.headers_mut().insert(BURN_MS, number_text(BURN_MS_ASKED));
    }
    backend.end(trace, began, route, response.status());
    response
}

fn page(route: Route) -> Response {
    let (Route::Messages(room) | Route::Export(room)) = route;
    let messages: Vec<String> = (0..10).map(|number| format!("message {number} of room {room}")).collect();
    let mut response = Response::new(Body::from(json!({ "room": room, "messages": messages }).to_string()));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

impl Backend {
    /// Notes what the proxies and the generator say of themselves.
    fn note(&self, headers: &HeaderMap) {
        let proxy = usize::try_from(number(headers, PROXY, u64::MAX)).unwrap_or_default();
        if let Some(labels) = proxy.checked_sub(1).and_then(|index| metrics::PROXY_LABELS.get(index)) {
            self.metrics.add(metrics::BY_PROXY, labels, 1.0);
            let uneven = f64::from(u8::from(self.balance.is_uneven(proxy)));
            self.metrics.add(metrics::UNEVEN, "", uneven);
        }
        let waited_us = number(headers, WAITED_US, WAITED_US_MAX);
        self.metrics.add(metrics::LINE_WAIT_SECONDS, "", waited_us as f64 / 1e6);
        let burnt_ms = number(headers, BURNT_MS, BURNT_MS_MAX);
        self.metrics.add(metrics::BURNT_SECONDS, "", burnt_ms as f64 / 1e3);
    }

    async fn work(&self, trace: &mut Trace, route: Route) -> Result<(), &'static str> {
        let _held = self.held.enter().ok_or("too many requests are here")?;
        let began = SystemClock::now();
        self.ask_downstream().await?;
        let asked = SystemClock::now();
        trace.add(span("ask downstream", SpanKind::Client, began, asked));
        let (_, _, takes) = route.facts();
        let came = Moment::now();
        let done_at = self.slots.reserve(came, takes);
        let waited = done_at.saturating_duration_since(came).saturating_sub(takes);
        self.metrics.add(metrics::SLOT_WAIT_SECONDS, "", waited.as_secs_f64());
        tokio::time::sleep_until(done_at).await;
        trace.add(span("work in a slot", SpanKind::Internal, asked, SystemClock::now()));
        Ok(())
    }

    /// Asks again while it is refused, later each time.
    async fn ask_downstream(&self) -> Result<(), &'static str> {
        for refusals in 1..=TRIES_MAX {
            if self.limiter.takes(Moment::now()) {
                return Ok(());
            }
            self.metrics.add(metrics::RATE_LIMITED, "", 1.0);
            tokio::time::sleep(backoff(refusals)).await;
        }
        Err("the service downstream refuses every try")
    }

    /// Counts and logs what became of a request, and ends its trace.
    fn end(&self, trace: Trace, began: Instant, route: Route, status: StatusCode) {
        let ((name, labels, _), ended) = (route.facts(), SystemClock::now());
        self.metrics.add(metrics::REQUESTS, "", 1.0);
        self.metrics.observe(metrics::REQUEST_SECONDS, labels, ended.since(began).as_secs_f64());
        let fields = json!({
            "trace_id": trace.id(),
            "route": name,
            "status": status.as_u16(),
            "duration_ms": ended.ms_since(began),
        });
        self.log.line(if status.is_server_error() { "error" } else { "info" }, "request", fields);
        trace.end(Timed {
            attributes: vec![
                ("http.route", Attribute::Text(name.into())),
                ("http.response.status_code", Attribute::Number(status.as_u16().into())),
            ],
            is_error: status.is_server_error(),
            ..span(name, SpanKind::Server, began, ended)
        });
    }
}

fn span(name: &'static str, kind: SpanKind, began: Instant, ended: Instant) -> Timed {
    Timed { name: name.into(), kind, began, ended, attributes: Vec::new(), is_error: false }
}
