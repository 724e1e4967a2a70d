//! The routes of k6's REST API, version 1.

use std::sync::Arc;

use api::rest::{Document, ErrorDetail, Errors, Resource, SetupData, StatusChange, flatten};
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{get, post};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::Value;

use crate::guard::Guard;
use crate::{Live, Refusal, body};

/// Maximum size of a request body, bytes.
pub const BODY_BYTES_MAX: usize = 64 * 1024;

/// Maximum size of the result of a `setup()` that ran elsewhere, bytes.
pub const SETUP_BYTES_MAX: usize = 16 << 20;

type Shared = Arc<dyn Live>;

pub(crate) fn router(live: Shared, guard: Guard) -> Router {
    Router::new()
        .route("/ping", get(async || "ok"))
        .route("/v1/status", get(status).patch(change_status))
        .route("/v1/metrics", get(metrics))
        .route("/v1/metrics/{id}", get(metric))
        .route("/v1/groups", get(groups))
        .route("/v1/groups/{id}", get(group))
        .route("/v1/setup", get(setup_data).put(set_setup_data).post(run_setup))
        .route("/v1/teardown", post(run_teardown))
        .with_state(live)
        .layer(middleware::from_fn_with_state(guard, admit))
}

/// Admits requests that carry the token, if one is set.
pub(crate) async fn admit(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    match guard.admit(request.headers()) {
        Ok(()) => next.run(request).await,
        Err((status, why)) => error(status, "Not allowed", why),
    }
}

/// Refuses requests that another site makes through the user's browser.
pub(crate) async fn check_place(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    match guard.check_place(request.headers()) {
        Ok(()) => next.run(request).await,
        Err((status, why)) => error(status, "Not allowed", why),
    }
}

async fn status(State(live): State<Shared>) -> Response {
    of_status(&live)
}

fn of_status(live: &Shared) -> Response {
    ok(&Document { data: Resource::<_, ()>::new("status", "default", live.status()) })
}

async fn change_status(State(live): State<Shared>, body: Body) -> Response {
    let bytes = match read(body, BODY_BYTES_MAX).await {
        Ok(bytes) => bytes,
        Err(response) => return *response,
    };
    let change: Document<Resource<StatusChange>> = match serde_json::from_slice(&bytes) {
        Ok(change) => change,
        Err(why) => return error(StatusCode::BAD_REQUEST, "Invalid data", &why.to_string()),
    };
    let change = &change.data.attributes;
    let title = if change.paused.is_some() { "Pause error" } else { "Execution config error" };
    match live.change(change) {
        Ok(()) => of_status(&live),
        Err(why) => refused(title, &why),
    }
}

async fn metrics(State(live): State<Shared>) -> Response {
    ok(&Document { data: live.metrics() })
}

async fn metric(State(live): State<Shared>, Path(id): Path<String>) -> Response {
    match live.metrics().into_iter().find(|metric| metric.id == id) {
        Some(metric) => ok(&Document { data: metric }),
        None => error(StatusCode::NOT_FOUND, "Not Found", "No metric with that ID was found"),
    }
}

async fn groups(State(live): State<Shared>) -> Response {
    ok(&Document { data: flatten(&live.root_group()) })
}

async fn group(State(live): State<Shared>, Path(id): Path<String>) -> Response {
    match flatten(&live.root_group()).into_iter().find(|group| group.id == id) {
        Some(group) => ok(&Document { data: group }),
        None => error(StatusCode::NOT_FOUND, "Not Found", "No group with that ID was found"),
    }
}

async fn setup_data(State(live): State<Shared>) -> Response {
    of_setup(live.setup_data())
}

async fn set_setup_data(State(live): State<Shared>, body: Body) -> Response {
    let bytes = match read(body, SETUP_BYTES_MAX).await {
        Ok(bytes) => bytes,
        Err(response) => return *response,
    };
    let json = match std::str::from_utf8(&bytes) {
        Ok(text) if text.trim().is_empty() => None,
        Ok(text) => match serde_json::from_str::<serde::de::IgnoredAny>(text) {
            Ok(_) => Some(text.to_owned()),
            Err(why) => {
                return error(StatusCode::BAD_REQUEST, "Error parsing request body", &why.to_string());
            }
        },
        Err(why) => return error(StatusCode::BAD_REQUEST, "Error parsing request body", &why.to_string()),
    };
    match blocking(move || live.set_setup_data(json.clone()).map(|()| json)).await {
        Ok(json) => of_setup(json),
        Err(why) => refused("Error setting setup data", &why),
    }
}

async fn run_setup(State(live): State<Shared>) -> Response {
    match blocking(move || live.run_setup()).await {
        Ok(json) => of_setup(json),
        Err(why) => refused("Error executing setup", &why),
    }
}

async fn run_teardown(State(live): State<Shared>) -> Response {
    match blocking(move || live.run_teardown()).await {
        Ok(()) => Response::new(Body::empty()),
        Err(why) => refused("Error executing teardown", &why),
    }
}

fn of_setup(json: Option<String>) -> Response {
    let data = json.and_then(|json| serde_json::from_str::<Value>(&json).ok());
    ok(&Document { data: Resource::<_, ()>::new("setupData", "default", SetupData { data }) })
}

/// Runs a blocking call on a separate thread, so that other requests are answered meanwhile.
async fn blocking<T: Send + 'static>(
    call: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let called = tokio::task::spawn_blocking(call).await;
    called.unwrap_or_else(|_| Err(Refusal("answer: it panicked".into())))
}

async fn read(body: Body, bytes_max: usize) -> Result<Vec<u8>, Box<Response>> {
    let read = body::read(body, bytes_max).await;
    read.map_err(|(status, why)| Box::new(error(status, "Couldn't read request", &why)))
}

fn ok(value: &impl Serialize) -> Response {
    json(StatusCode::OK, value)
}

/// Returns k6's response to an operation that is not possible now: an internal error.
fn refused(title: &str, why: &Refusal) -> Response {
    error(StatusCode::INTERNAL_SERVER_ERROR, title, &format!("failed to {why}"))
}

fn error(status: StatusCode, title: &str, detail: &str) -> Response {
    let detail = ErrorDetail {
        status: status.as_u16().to_string(),
        title: title.to_owned(),
        detail: detail.to_owned(),
    };
    json(status, &Errors { errors: vec![detail] })
}

fn json(status: StatusCode, value: &impl Serialize) -> Response {
    let bytes = serde_json::to_vec(value).expect("names are strings, and numbers that JSON lacks are null");
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
