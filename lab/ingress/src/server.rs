//! Code that backend and proxies share: how they listen, and the messages between them.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::serve::ListenerExt;
use serde_json::json;

/// Which proxy a request came through, by its number from 1.
pub(crate) const PROXY: &str = "x-ingress-proxy";

/// How long it waited there for the connection to the backend, in microseconds.
pub(crate) const WAITED_US: &str = "x-ingress-waited-us";

/// How long the generator is asked to burn its core, and how long it says that it has, in milliseconds.
pub(crate) const BURN_MS: &str = "x-lab-burn-ms";
pub(crate) const BURNT_MS: &str = "x-lab-burnt-ms";

/// Requests that a process holds at a time; a further one is refused.
const HELD_MAX: usize = 4096;

/// Answers at a loopback port until the process is ended.
pub(crate) async fn serve(port: u16, router: Router, set_ready: impl FnOnce()) -> Result<(), String> {
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
    let listener = listener.map_err(|error| format!("listen: {error}"))?;
    // An answer must not wait for the acknowledgement of the one before.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    set_ready();
    axum::serve(listener, router).await.map_err(|error| format!("serve: {error}"))
}

/// The body of a refusal.
pub(crate) fn refusal(status: StatusCode, error: &str) -> Response {
    let mut response = Response::new(Body::from(json!({ "error": error }).to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// A number that a header holds, no larger than `most`; zero where it holds none.
pub(crate) fn number(headers: &HeaderMap, name: &str, most: u64) -> u64 {
    text(headers, name).and_then(|text| text.parse().ok()).unwrap_or(0).min(most)
}

/// A number as a header holds it.
pub(crate) fn number_text(number: impl std::fmt::Display) -> HeaderValue {
    // Digits can always be sent.
    HeaderValue::try_from(number.to_string()).unwrap_or(HeaderValue::from_static("0"))
}

/// How many requests there are.
#[derive(Debug, Default)]
pub(crate) struct Held(AtomicUsize);

/// One of them, as long as this lives.
#[derive(Debug)]
pub(crate) struct Hold<'a>(&'a AtomicUsize);

impl Held {
    /// Counts one; `None` where there are too many.
    pub(crate) fn enter(&self) -> Option<Hold<'_>> {
        // Given back at once where it is refused.
        let entered = Hold(&self.0);
        let before = self.0.fetch_add(1, Ordering::Relaxed);
        (before < HELD_MAX).then_some(entered)
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
