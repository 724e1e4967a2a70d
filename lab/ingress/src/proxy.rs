//! A proxy: it takes its time over each request, and passes it on to the backend.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use lab::Assignment;
use labkit::{Attribute, Control, Log, Metrics, Orders, SpanKind, Timed, Trace, Tracer};
use model::{Instant, SystemClock};
use serde_json::json;
use tokio::sync::Mutex;

use crate::balancer::PROXIES;
use crate::server::{Held, PROXY, WAITED_US, number_text, refusal, serve, text};
use crate::slots::Slots;
use crate::{faults, metrics};

/// The proxy's time for each request; it does one at a time, so its capacity is 312 of them per second.
pub(crate) const TAKES: Duration = Duration::from_micros(3200);

/// One request of so many is not refused by a proxy that refuses.
const TAKEN_OF: u32 = 16;

/// A body that is passed on is no longer than this.
const BODY_BYTES_MAX: usize = 1 << 20;

/// Connections to the backend that wait for a request are closed after so long.
const IDLE: Duration = Duration::from_secs(30);

/// Headers that are the connection's and not the request's (RFC 9110, 7.6.1).
const OF_CONNECTION: [HeaderName; 4] =
    [header::CONNECTION, header::TRANSFER_ENCODING, header::CONTENT_LENGTH, header::HOST];

/// All that requests share.
struct Proxy {
    number: usize,
    backend: String,
    client: Client<HttpConnector, Body>,
    slots: Slots,
    held: Held,
    /// The one connection, while there is one only.
    line: Mutex<()>,
    is_in_line: AtomicBool,
    is_refusing: AtomicBool,
    metrics: Arc<Metrics>,
    tracer: Tracer,
    log: Log,
}

/// Serves one of them until the process is ended.
pub(crate) async fn run(assignment: &Assignment, part: &str) -> Result<(), String> {
    let number = PROXIES.iter().position(|name| *name == part).ok_or_else(|| format!("be {part:?}"))? + 1;
    let metrics = Arc::new(Metrics::new(metrics::PROXY));
    let opened = Control::open(assignment.control_port, metrics.clone());
    let (control, orders) = opened.map_err(|error| format!("listen: {error}"))?;
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let mut client = Client::builder(TokioExecutor::new());
    client.pool_idle_timeout(IDLE).pool_timer(TokioTimer::new());
    let proxy = Arc::new(Proxy {
        number,
        backend: assignment.server("service")?.to_owned(),
        client: client.build(connector),
        slots: Slots::new(1),
        held: Held::default(),
        line: Mutex::new(()),
        is_in_line: AtomicBool::new(false),
        is_refusing: AtomicBool::new(false),
        tracer: Tracer::new(assignment.otlp.as_deref(), "ingress-proxy", metrics.clone()),
        log: Log::create(&assignment.log).map_err(|error| format!("write the log: {error}"))?,
        metrics,
    });
    tokio::spawn(obey(proxy.clone(), orders));
    let router = Router::new().fallback(pass).with_state(proxy);
    serve(assignment.port, router, || control.set_ready()).await
}

async fn obey(proxy: Arc<Proxy>, mut orders: Orders) {
    while let Some(order) = orders.recv().await {
        let switch = match order.name.as_str() {
            faults::REFUSE => Ok(&proxy.is_refusing),
            faults::ONE_CONNECTION => Ok(&proxy.is_in_line),
            other => Err(format!("a proxy knows no fault {other:?}")),
        };
        let done = switch.map(|switch| switch.store(order.is_on, Ordering::Relaxed));
        // The sender of the order may have gone.
        let _ = order.done.send(done);
    }
}

async fn pass(State(proxy): State<Arc<Proxy>>, request: Request) -> Response {
    let mut trace = proxy.tracer.trace(text(request.headers(), "traceparent"));
    let began = SystemClock::now();
    let result = proxy.pass(&mut trace, request).await;
    let ended = SystemClock::now();
    let response = result.unwrap_or_else(|(status, error)| {
        proxy.metrics.add(metrics::REFUSED, "", 1.0);
        refusal(status, error)
    });
    proxy.metrics.add(metrics::REQUESTS, "", 1.0);
    proxy.end(trace, began, ended, response.status());
    response
}

type Refusal = (StatusCode, &'static str);

impl Proxy {
    async fn pass(&self, trace: &mut Trace, request: Request) -> Result<Response, Refusal> {
        let many = (StatusCode::SERVICE_UNAVAILABLE, "too many requests are here");
        let _held = self.held.enter().ok_or(many)?;
        if self.is_refusing.load(Ordering::Relaxed) && fastrand::u32(..TAKEN_OF) != 0 {
            return Err((StatusCode::BAD_GATEWAY, "this proxy takes hardly anything"));
        }
        let came = tokio::time::Instant::now();
        let done_at = self.slots.reserve(came, TAKES);
        let waited = done_at.saturating_duration_since(came).saturating_sub(TAKES);
        self.metrics.add(metrics::SLOT_WAIT_SECONDS, "", waited.as_secs_f64());
        tokio::time::sleep_until(done_at).await;
        let began = SystemClock::now();
        let is_in_line = self.is_in_line.load(Ordering::Relaxed);
        let _line = if is_in_line { Some(self.line.lock().await) } else { None };
        let found = SystemClock::now();
        let waited = found.since(began);
        self.metrics.add(metrics::LINE_WAIT_SECONDS, "", waited.as_secs_f64());
        trace.add(span("wait for the connection", SpanKind::Internal, began, found));
        let answered = self.call(trace, request, waited).await;
        trace.add(span("call the backend", SpanKind::Client, found, SystemClock::now()));
        answered
    }

    /// The backend's answer, whole.
    async fn call(&self, trace: &Trace, request: Request, waited: Duration) -> Result<Response, Refusal> {
        let bad = (StatusCode::BAD_REQUEST, "the request is too long");
        let (head, body) = request.into_parts();
        let body = to_bytes(body, BODY_BYTES_MAX).await.map_err(|_| bad)?;
        let path = head.uri.path_and_query().map_or("/", PathAndQuery::as_str);
        let mut onward = Request::builder().method(head.method).uri(format!("{}{path}", self.backend));
        if let Some(headers) = onward.headers_mut() {
            headers.extend(without_connection(head.headers));
            headers.insert(PROXY, number_text(self.number));
            headers.insert(WAITED_US, number_text(waited.as_micros()));
            if let Ok(parent) = HeaderValue::try_from(trace.traceparent()) {
                headers.insert("traceparent", parent);
            }
        }
        let onward =
            onward.body(Body::from(body)).map_err(|_| (StatusCode::BAD_REQUEST, "it cannot be asked"))?;
        let lost = |error: String| {
            self.metrics.add(metrics::UPSTREAM_ERRORS, "", 1.0);
            self.log.line("error", "backend", json!({ "error": error }));
            (StatusCode::GATEWAY_TIMEOUT, "the backend does not answer")
        };
        let answer = self.client.request(onward).await.map_err(|error| lost(error.to_string()))?;
        let (head, body) = answer.into_parts();
        let body =
            to_bytes(Body::new(body), BODY_BYTES_MAX).await.map_err(|error| lost(error.to_string()))?;
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = head.status;
        response.headers_mut().extend(without_connection(head.headers));
        Ok(response)
    }

    /// Logs what became of a request, and ends its trace.
    fn end(&self, trace: Trace, began: Instant, ended: Instant, status: StatusCode) {
        let fields = json!({
            "trace_id": trace.id(),
            "status": status.as_u16(),
            "duration_ms": ended.ms_since(began),
        });
        self.log.line(if status.is_server_error() { "error" } else { "info" }, "request", fields);
        let proxy = PROXIES[self.number - 1];
        trace.end(Timed {
            attributes: vec![
                ("service.instance.id", Attribute::Text(proxy.into())),
                ("http.response.status_code", Attribute::Number(status.as_u16().into())),
            ],
            is_error: status.is_server_error(),
            ..span("pass on", SpanKind::Server, began, ended)
        });
    }
}

fn span(name: &'static str, kind: SpanKind, began: Instant, ended: Instant) -> Timed {
    Timed { name: name.into(), kind, began, ended, attributes: Vec::new(), is_error: false }
}

fn without_connection(headers: HeaderMap) -> HeaderMap {
    let mut headers = headers;
    for name in OF_CONNECTION {
        headers.remove(name);
    }
    headers
}
