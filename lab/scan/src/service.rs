//! The service: it accepts scans, and answers polls with their state.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use axum::Router;
use axum::extract::{MatchedPath, Path, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use lab::Assignment;
use labkit::{Attribute, Control, Log, Metrics, SpanKind, Timed, Trace, Tracer};
use model::{Instant, SystemClock};
use serde_json::json;

use crate::broker::{Broker, Message};
use crate::scaler::Scaler;
use crate::seed::{REPLICAS_MAX, TIME_SCALE};
use crate::stage::Stage;
use crate::store::Store;
use crate::variant::Variant;
use crate::{faults, metrics, monitor};

/// Processes that have not reported themselves by then have failed to start.
const PARTS_LIMIT: Duration = Duration::from_secs(20);

/// How often is looked whether they have.
const PERIOD: Duration = Duration::from_millis(20);

/// State shared by requests, the monitor and faults.
pub(crate) struct Scan {
    pub(crate) store: Store,
    pub(crate) broker: Broker,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) log: Log,
    tracer: Tracer,
    /// Workers that the autoscaler may start.
    pub(crate) ceiling: AtomicUsize,
    /// Workers that it has decided on.
    pub(crate) replicas: AtomicUsize,
}

/// Serves until the process is ended.
pub(crate) async fn run(assignment: &Assignment) -> Result<(), String> {
    let variant =
        Variant::from_name(&assignment.variant).ok_or_else(|| format!("be {:?}", assignment.variant))?;
    let metrics = Arc::new(Metrics::new(metrics::ALL));
    let listen = |error: std::io::Error| format!("listen: {error}");
    let (control, orders) = Control::open(assignment.control_port, metrics.clone()).map_err(listen)?;
    let scan = Arc::new(Scan {
        broker: Broker::connect(assignment.server("rabbitmq")?, &assignment.system).await?,
        store: Store::connect(assignment.server("redis")?).await?,
        tracer: Tracer::new(assignment.otlp.as_deref(), "scan-api", metrics.clone()),
        log: Log::create(&assignment.log).map_err(|error| format!("write the log: {error}"))?,
        ceiling: AtomicUsize::new(REPLICAS_MAX),
        replicas: AtomicUsize::new(variant.replicas_min),
        metrics,
    });
    let parts = monitor::parts(variant.replicas_min);
    assignment.ask_for(&parts)?;
    wait_for(&scan.store, &parts).await?;
    tokio::spawn(monitor::run(scan.clone(), assignment.clone(), Scaler::new(variant.replicas_min)));
    tokio::spawn(faults::obey(scan.clone(), orders));
    let address = (Ipv4Addr::LOCALHOST, assignment.port);
    let listener = tokio::net::TcpListener::bind(address).await.map_err(listen)?;
    // An answer must not wait for the acknowledgement of the one before.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    control.set_ready();
    axum::serve(listener, router(scan)).await.map_err(|error| format!("serve: {error}"))
}

async fn wait_for(store: &Store, parts: &[&str]) -> Result<(), String> {
    let asked = SystemClock::now();
    loop {
        let beats = store.beats(parts).await?;
        let Some(missing) = beats.iter().position(Option::is_none) else { return Ok(()) };
        if SystemClock::now().since(asked) > PARTS_LIMIT {
            return Err(format!("start {}: it does not report", parts[missing]));
        }
        tokio::time::sleep(PERIOD).await;
    }
}

fn router(scan: Arc<Scan>) -> Router {
    Router::new()
        .route("/", get(about))
        .route("/api/v1/scan", post(submit))
        .route("/api/v1/scan/{id}", get(poll))
        .route_layer(middleware::from_fn_with_state(scan.clone(), observe))
        .with_state(scan)
}

type Shared = State<Arc<Scan>>;

/// Data that a script needs before it begins.
async fn about() -> Response {
    answer(StatusCode::OK, &json!({ "timeScale": TIME_SCALE }))
}

async fn submit(State(scan): Shared, request: Request) -> Response {
    let mut call = Call::begin(scan, &request);
    let id = format!("{:032x}", fastrand::u128(..));
    let message = Message { id: id.clone(), traceparent: call.trace.traceparent(), ..Message::default() };
    let taken = match call.scan.store.set_state(&id, Stage::Vision.name()).await {
        Ok(()) => call.scan.broker.publish(Stage::Vision, message, &mut call.trace).await,
        Err(why) => Err(why),
    };
    if taken.is_ok() {
        call.scan.metrics.add(metrics::SUBMITTED, "", 1.0);
    }
    call.end("POST /api/v1/scan", taken.map(|()| Some((StatusCode::ACCEPTED, json!({ "id": id })))))
}

async fn poll(State(scan): Shared, Path(id): Path<String>, request: Request) -> Response {
    let call = Call::begin(scan, &request);
    let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let state = if is_id { call.scan.store.state(&id).await } else { Ok(None) };
    let found = state.map(|state| state.map(|state| (StatusCode::OK, json!({ "id": id, "state": state }))));
    call.end("GET /api/v1/scan/{id}", found)
}

/// A request on its way.
struct Call {
    scan: Arc<Scan>,
    trace: Trace,
    began: Instant,
}

impl Call {
    fn begin(scan: Arc<Scan>, request: &Request) -> Call {
        let traceparent = request.headers().get("traceparent").and_then(|value| value.to_str().ok());
        let trace = scan.tracer.trace(traceparent);
        Call { scan, trace, began: SystemClock::now() }
    }

    /// Answers with what there is, logs what went wrong, and ends its trace.
    fn end(
        self,
        route: &'static str,
        found: Result<Option<(StatusCode, serde_json::Value)>, String>,
    ) -> Response {
        let (status, body) = match found {
            Ok(Some(found)) => found,
            Ok(None) => (StatusCode::NOT_FOUND, json!({ "error": "there is no such scan" })),
            Err(why) => {
                let error = format!("failed to {why}");
                let fields = json!({ "trace_id": self.trace.id(), "route": route, "error": error });
                self.scan.log.line("error", "request", fields);
                (StatusCode::SERVICE_UNAVAILABLE, json!({ "error": error }))
            }
        };
        self.trace.end(Timed {
            name: route.into(),
            kind: SpanKind::Server,
            began: self.began,
            ended: SystemClock::now(),
            attributes: vec![
                ("http.route", Attribute::Text(route.into())),
                ("http.response.status_code", Attribute::Number(status.as_u16().into())),
            ],
            is_error: status.is_server_error(),
        });
        answer(status, &body)
    }
}

fn answer(status: StatusCode, body: &serde_json::Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

/// Counts and times every answer.
async fn observe(State(scan): Shared, request: Request, next: Next) -> Response {
    let began = SystemClock::now();
    let labels = match request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str) {
        "/api/v1/scan" => "route=\"/api/v1/scan\"",
        "/api/v1/scan/{id}" => "route=\"/api/v1/scan/{id}\"",
        _ => "route=\"/\"",
    };
    let response = next.run(request).await;
    scan.metrics.add(metrics::REQUESTS, "", 1.0);
    scan.metrics.observe(metrics::REQUEST_SECONDS, labels, SystemClock::now().since(began).as_secs_f64());
    response
}
