//! Metrics of this machine as JSON at one path.

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::middleware;
use axum::response::Response;
use axum::routing::get;
use http::{HeaderValue, StatusCode, header};

use crate::guard::Guard;
use crate::rest;

pub(crate) fn router(path: &str, read: fn() -> Option<String>, guard: Guard) -> Router {
    Router::new()
        .route(path, get(answer))
        .with_state(read)
        .layer(middleware::from_fn_with_state(guard, rest::admit))
}

async fn answer(State(read): State<fn() -> Option<String>>) -> Response {
    let (status, text) = match read() {
        Some(text) => (StatusCode::OK, text),
        None => (StatusCode::SERVICE_UNAVAILABLE, "{}".to_owned()),
    };
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
