//! The doors: connections, bounded in number and in what each may ask, that speak HTTP/1.1 or HTTP/2.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use subtle::ConstantTimeEq;
use tokio::sync::Semaphore;

use crate::receiver::ReceiverState;
use crate::{grpc, http};

/// Connections at the same time, over all listeners; others wait for one to be closed.
const CONNECTIONS_MAX: usize = 256;
/// Requests whose bodies are read at the same time; others wait. With the largest body they take 256 MiB.
const REQUESTS_MAX: usize = 8;
/// Requests of one HTTP/2 connection at the same time.
const STREAMS_MAX: u32 = 32;
/// From the first byte of a request to its answer.
const REQUEST_LIMIT: Duration = Duration::from_secs(10);
/// Time after which an idle connection is closed.
const IDLE_LIMIT: Duration = Duration::from_secs(60);
/// Headers of a request.
const HEADERS_BYTES_MAX: u32 = 16 << 10;
/// After an accept that failed, as it does when there are no descriptors left.
const REST_AFTER_FAILURE: Duration = Duration::from_millis(100);

/// The state that all listeners share.
#[derive(Clone)]
struct ServiceState {
    state: Arc<ReceiverState>,
    slots: Arc<Semaphore>,
}

/// Serves until it is dropped.
pub(crate) async fn serve(listeners: Vec<TcpListener>, state: Arc<ReceiverState>) {
    let connections = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let routes = routes(state);
    let mut accepting = tokio::task::JoinSet::new();
    for listener in listeners {
        accepting.spawn(accept(listener, routes.clone(), connections.clone()));
    }
    // None of them ends by itself.
    while accepting.join_next().await.is_some() {}
}

fn routes(state: Arc<ReceiverState>) -> Router {
    let service = ServiceState { state: state.clone(), slots: Arc::new(Semaphore::new(REQUESTS_MAX)) };
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

async fn accept(listener: TcpListener, routes: Router, connections: Arc<Semaphore>) {
    // It was made non-blocking where it was opened, so that this cannot fail while a runtime is there.
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(IDLE_LIMIT);
    let mut http2 = builder.http2();
    http2
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(HEADERS_BYTES_MAX);
    http2.keep_alive_interval(IDLE_LIMIT).keep_alive_timeout(REQUEST_LIMIT);
    loop {
        let Ok(permit) = connections.clone().acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(REST_AFTER_FAILURE).await;
            continue;
        };
        let (builder, service) = (builder.clone(), TowerToHyperService::new(routes.clone()));
        tokio::spawn(async move {
            // How a connection ends is its client's affair; what came on it was counted.
            let _ = builder.serve_connection(TokioIo::new(stream), service).await;
            drop(permit);
        });
    }
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
    let answer = async {
        // The semaphore is never closed.
        let _slot = service.slots.acquire().await;
        next.run(request).await
    };
    match tokio::time::timeout(REQUEST_LIMIT, answer).await {
        Ok(response) => response,
        // Both mean that the same may be sent again.
        Err(_) if is_grpc => grpc::refuse(tonic::Status::unavailable("the request took too long")),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "1")]).into_response(),
    }
}

fn is_allowed(token: Option<&str>, request: &Request) -> bool {
    let Some(token) = token else { return true };
    let shown = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let shown = shown.and_then(|value| value.split_once(' '));
    let shown = shown.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    shown.is_some_and(|(_, shown)| shown.trim().as_bytes().ct_eq(token.as_bytes()).into())
}
