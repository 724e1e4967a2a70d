//! Calls of the command that started a hub in a cluster: bytes in, bytes out, over TLS, at one path.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use http::{HeaderMap, StatusCode};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

use crate::{body, guard};

/// Maximum size of a call, bytes.
pub const CALL_BYTES_MAX: usize = 8 << 20;

/// Connections at a time.
const CONNECTIONS_MAX: usize = 32;

/// Time for a connection to become encrypted.
const GREETING_MAX: Duration = Duration::from_secs(5);

/// Time for the head of a request, and between two requests of a connection.
const HEAD_MAX: Duration = Duration::from_secs(60);

/// Pause after a failed accept, for example without free file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The receiver of calls.
pub trait Calls: Send + Sync {
    /// Answers a call. It may block for some seconds.
    ///
    /// # Errors
    /// The call is invalid, or cannot be carried out: the reason, for people.
    fn call(&self, call: Vec<u8>) -> Result<Vec<u8>, String>;
}

/// The receiver, and the token that calls carry in this header.
#[derive(Clone)]
struct Desk {
    calls: Arc<dyn Calls>,
    header: &'static str,
    token: Arc<str>,
}

pub(crate) fn router(calls: Arc<dyn Calls>, header: &'static str, token: &str) -> Router {
    let desk = Desk { calls, header, token: token.into() };
    Router::new().route("/call", post(answer)).with_state(desk)
}

/// Accepts connections for ever.
pub(crate) async fn accept(listener: std::net::TcpListener, acceptor: TlsAcceptor, router: Router) {
    // It was made non-blocking where it was opened, so that this cannot fail while a runtime is there.
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_MAX);
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let (acceptor, builder) = (acceptor.clone(), builder.clone());
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let greeted = tokio::time::timeout(GREETING_MAX, acceptor.accept(stream)).await;
            if let Ok(Ok(stream)) = greeted {
                // Errors of a single connection affect only its client.
                let _ = builder.serve_connection(TokioIo::new(stream), service).await;
            }
            drop(place);
        });
    }
}

async fn answer(State(desk): State<Desk>, headers: HeaderMap, call: Body) -> Response {
    let given = headers.get(desk.header).map(|value| value.as_bytes()).unwrap_or_default();
    if !guard::is_same(given, desk.token.as_bytes()) {
        return refusal(StatusCode::UNAUTHORIZED, "the token is not that of this hub");
    }
    let call = match body::read(call, CALL_BYTES_MAX).await {
        Ok(call) => call,
        Err((status, why)) => return refusal(status, why),
    };
    // Some calls wait for news of the test.
    match tokio::task::spawn_blocking(move || desk.calls.call(call)).await {
        Ok(Ok(bytes)) => Response::new(Body::from(bytes)),
        Ok(Err(why)) => refusal(StatusCode::CONFLICT, why),
        Err(_) => refusal(StatusCode::INTERNAL_SERVER_ERROR, "the hub failed; its log has the reason"),
    }
}

fn refusal(status: StatusCode, why: impl Into<Body>) -> Response {
    let mut response = Response::new(why.into());
    *response.status_mut() = status;
    response
}
