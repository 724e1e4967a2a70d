//! Connections, bounded in number, time and memory, that speak HTTP/1.1 or HTTP/2.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use listen::{Intake, Limits};
use subtle::ConstantTimeEq;

use crate::bodies::Bodies;
use crate::receiver::ReceiverState;
use crate::{grpc, http};

/// Limits of connections, over all listeners.
pub(crate) const LIMITS: Limits = Limits {
    connections_max: 256,
    peer_share: 64,
    first_byte: Duration::from_secs(5),
    head: Duration::from_secs(10),
    idle: Duration::from_secs(60),
    write: Duration::from_secs(10),
};
/// Requests of one HTTP/2 connection at the same time.
const STREAMS_MAX: u32 = 32;
/// From the first byte of a request to its answer.
const REQUEST_LIMIT: Duration = Duration::from_secs(10);
/// Headers of a request.
const HEADERS_BYTES_MAX: u32 = 16 << 10;

/// The state that all listeners share.
#[derive(Clone)]
struct ServiceState {
    state: Arc<ReceiverState>,
    bodies: Arc<Bodies>,
}

/// Serves until it is dropped.
pub(crate) async fn serve(listeners: Vec<TcpListener>, state: Arc<ReceiverState>) {
    let intake = state.intake.clone();
    let routes = routes(state);
    let mut accepting = tokio::task::JoinSet::new();
    for listener in listeners {
        accepting.spawn(accept(listener, routes.clone(), intake.clone()));
    }
    // None of them ends by itself.
    while accepting.join_next().await.is_some() {}
}

fn routes(state: Arc<ReceiverState>) -> Router {
    let service = ServiceState { state: state.clone(), bodies: Arc::default() };
    Router::new()
        .route("/v1/traces", post(http::traces))
        .route("/v1/metrics", post(http::ignored))
        .route("/v1/logs", post(http::ignored))
        .route(grpc::TRACES, post(grpc::traces))
        .route(grpc::METRICS, post(grpc::ignored))
        .route(grpc::LOGS, post(grpc::ignored))
        .layer(from_fn_with_state(service, admit))
        .with_state(state)
}

async fn accept(listener: TcpListener, routes: Router, intake: Arc<Intake>) {
    let mut builder = Builder::new(TokioExecutor::new());
    // The intake has shorter limits for silent and slow clients.
    builder.http1().timer(TokioTimer::new()).header_read_timeout(LIMITS.idle);
    let mut http2 = builder.http2();
    http2
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(HEADERS_BYTES_MAX);
    http2.keep_alive_interval(LIMITS.idle).keep_alive_timeout(REQUEST_LIMIT);
    let builder = Arc::new(builder);
    let serve = move |stream, activity| {
        let service = listen::Reporting::new(TowerToHyperService::new(routes.clone()), activity);
        let builder = builder.clone();
        async move {
            // How a connection ends is its client's affair; what came on it was counted.
            let _ = builder.serve_connection(TokioIo::new(stream), service).await;
        }
    };
    listen::accept(listener, intake, serve).await;
}

/// Lets in who may come, one request after the other, and none for ever.
async fn admit(State(service): State<ServiceState>, request: Request, next: Next) -> Response {
    let is_grpc = grpc::is_grpc(request.headers());
    if !is_allowed(service.state.token.as_deref(), &request) {
        service.state.refused();
        return match is_grpc {
            true => grpc::refuse(tonic::Status::unauthenticated("the token is missing or wrong")),
            false => (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")]).into_response(),
        };
    }
    let held = service.bodies.hold();
    let request = request.map(|body| Body::new(held.body(body)));
    let answered = tokio::select! {
        answered = tokio::time::timeout(REQUEST_LIMIT, next.run(request)) => answered.ok(),
        () = held.gave_way() => None,
    };
    match answered {
        Some(response) => response,
        None => {
            service.state.slow();
            // Both mean that the same may be sent again.
            match is_grpc {
                true => grpc::refuse(tonic::Status::unavailable("the request took too long")),
                false => (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "1")]).into_response(),
            }
        }
    }
}

fn is_allowed(token: Option<&str>, request: &Request) -> bool {
    let Some(token) = token else { return true };
    let shown = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let shown = shown.and_then(|value| value.split_once(' '));
    let shown = shown.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    shown.is_some_and(|(_, shown)| shown.trim().as_bytes().ct_eq(token.as_bytes()).into())
}
